"""Machine, launch, workload and CSV files, options, expressions: read or refused in our words, whatever they hold."""

import random
import tomllib
from collections.abc import Callable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest

from support.paths import ROOT
from support.random_programs.damage import FULL_PART, altered, damaged, new_ones, numbered, shuffled, soup, tried
from support.toml_text import toml
from warpbound.analysis.index_expression import Access, answer
from warpbound.analysis.workload_prediction import predictions
from warpbound.cli.catalogue import numbers
from warpbound.errors import WarpboundError
from warpbound.kernel_argument import parse_argument
from warpbound.kernel_launch import check, launch, parse_dim
from warpbound.machine import catalogue, gpu, load
from warpbound.memory.address_registers import Threads
from warpbound.memory.expressions import parse
from warpbound.model_inputs import partition_runs
from warpbound.report.board_check import findings
from warpbound.residency import occupancy
from warpbound.synthetic_family.comparison import measured
from warpbound.workload.files.reading import read, shipped

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
BOARDS = [(files("warpbound") / "gpus" / f"{key}.toml").read_text("utf-8") for key in catalogue()]
WORKLOADS = [(files("warpbound") / "workloads" / f"{name}.toml").read_text("utf-8") for name in shipped()]
RUNS = (files("warpbound") / "partition_benchmarks" / "gtx280.csv").read_text("utf-8")[:4000]
SAMPLES = "alpha,warps_per_sm,accesses_per_cycle_per_sm\n1,1,0.1\n1,2,0.2\n2,4,0.3\n2,8,0.3\n"
LAUNCHES = [path.read_text("utf-8") for path in EXAMPLES]


def some_toml(texts: list[str], source: random.Random) -> str:
    """A document with values of other kinds, or with its text damaged."""
    text = source.choice(texts)
    if source.random() < 0.6:
        return toml(altered(tomllib.loads(text), source))
    return shuffled(text, source) if source.random() < 0.7 else damaged(text.encode(), source).decode("latin-1")


def a_machine(source: random.Random) -> None:
    board = load(some_toml(BOARDS, source), "fuzzed", "fuzzed.toml")
    findings(board)
    occupancy(board, 128, 32, 1024, None)
    assert all(quantity.source.strip() for quantity in board.parameters.values())


def at(folder: Path, name: str, contents: str | bytes) -> Path:
    raw = contents if isinstance(contents, bytes) else contents.encode("utf-8", "surrogateescape")
    path = folder / name
    path.write_bytes(raw)
    return path


def a_machine_file(folder: Path, source: random.Random) -> None:
    raw = source.choice(BOARDS).encode()
    gpu(at(folder, "m.toml", damaged(raw, source) if source.random() < 0.8 else source.randbytes(300)))


def a_launch_file(folder: Path, source: random.Random) -> None:
    text = some_toml(LAUNCHES, source) if source.random() < 0.9 else source.randbytes(200).decode("latin-1")
    check(launch(at(folder, "l.toml", text)))


def a_workload_file(folder: Path, source: random.Random) -> None:
    path = at(folder, "w.toml", some_toml(WORKLOADS, source))
    read(path)
    if source.random() < 0.3:
        predictions(str(path), source.choice(("h200", "gtx280", "sm_90")))


def benchmark_runs(folder: Path, source: random.Random) -> None:
    partition_runs.read(at(folder, "runs.csv", some_csv(RUNS, source)))


def samples(folder: Path, source: random.Random) -> None:
    measured(at(folder, "samples.csv", some_csv(SAMPLES, source)))


def some_csv(text: str, source: random.Random) -> str | bytes:
    return shuffled(text, source, CSV_WORDS) if source.random() < 0.6 else damaged(text.encode(), source)


CSV_WORDS = (",", '"', "nan", "-1", "1e999", "\u00e9", "\0", " ", "0")
WORDS = (
    "n", "=", "x", "f32", "[", "]", "4096", ",", ":iota", ":", "rand", "@", "w.npy", "-1", "1e9", "0x10", "nan", "i8",
    "true", " ", "\0", "é", "99999999999999999999", "0", "bytes", "{", "}", "(", ")", "/", "%", "threadIdx.x", "*", "+",
    "blockIdx.y", "<<", "a[", "min(", "^", "~",
)  # fmt: skip


def an_option(source: random.Random) -> None:
    word = soup(WORDS, source)
    readers: tuple[Callable[[str], object], ...] = (
        parse_argument, parse_dim, lambda text: numbers("--block", text), gpu, parse,
    )  # fmt: skip
    for reader in readers:
        with suppress(WarpboundError):
            reader(word)


def an_expression(source: random.Random) -> None:
    text = f"a[{soup(WORDS[20:], source)}]" if source.random() < 0.5 else soup(WORDS, source)
    values = {"n": source.choice((0, 1, 7, 1 << 30)), "x": -1}
    answer(Access(parse(text), source.choice((1, 4, 16)), Threads((32, 2, 1)), values))


READERS: dict[str, tuple[Callable[[Path, random.Random], object], int]] = {  # questions: about a second of them
    "machine": (lambda _, source: a_machine(source), 700),
    "machine-file": (a_machine_file, 1000),
    "launch": (a_launch_file, 1500),
    "workload": (a_workload_file, 700),
    "option": (lambda _, source: an_option(source), 3000),
    "benchmark-runs": (benchmark_runs, 1000),
    "samples": (samples, 3000),
    "expression": (lambda _, source: an_expression(source), 10_000),
}


@pytest.mark.parametrize("name", READERS)
def test_reader(name: str, tmp_path: Path) -> None:
    one, count = READERS[name]
    tried(numbered(1, count), lambda source: one(tmp_path, source))


@pytest.mark.full
@pytest.mark.parametrize("name", READERS)
def test_reader_for_long(name: str, tmp_path: Path) -> None:
    one, _ = READERS[name]
    tried(new_ones(FULL_PART), lambda source: one(tmp_path, source))
