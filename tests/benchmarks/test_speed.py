"""How long things take. Measured, never asserted: `make bench` prints the table.

Goals, on one core of a present-day server: the import 150 ms; `analyze` of a small kernel as a whole process
1 s from the cache, 2.5 s with the compiler.
"""

import os
import subprocess
import sys
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpbound
from support.paths import EXAMPLES
from warpbound.latency import memory_latency, waits
from warpbound.machine import clock
from warpbound.program.cubin import read_cubin
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.nvdisasm import disassemble
from warpbound.program.nvdisasm_listing import read_listing
from warpbound.schedule import schedule

LONG = EXAMPLES / "black_scholes.cu"
LAUNCH = ("--gpu", "h200", "--grid", "65536", "--block", "256")
SAXPY = ("analyze", str(EXAMPLES / "saxpy.cu"), *LAUNCH)
STREAM = 100_000  # instructions
ROUNDS = 5


def process(*words: str, cache: Path | None = None) -> None:
    """A whole process of this Python, to its end."""
    env = os.environ | ({"XDG_CACHE_HOME": str(cache)} if cache else {})
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def command(*words: str, cache: Path) -> None:
    process("-c", "from warpbound.cli import main; main()", *words, cache=cache)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that knows saxpy and holds the compiler's headers."""
    folder = tmp_path_factory.mktemp("warm")
    command(*SAXPY, cache=folder)
    return folder


def test_python_alone(benchmark: Any) -> None:
    benchmark.pedantic(process, ("-c", "pass"), rounds=2 * ROUNDS)


def test_import(benchmark: Any) -> None:
    benchmark.pedantic(process, ("-c", "import warpbound"), rounds=2 * ROUNDS)


def test_help(benchmark: Any, tmp_path: Path) -> None:
    benchmark.pedantic(command, ("--help",), {"cache": tmp_path}, rounds=ROUNDS)


@pytest.mark.cuda
def test_analyze_from_the_cache(benchmark: Any, warm: Path) -> None:
    benchmark.pedantic(command, SAXPY, {"cache": warm}, rounds=ROUNDS)


@pytest.mark.cuda
def test_analyze_with_compiling(benchmark: Any, warm: Path, tmp_path: Path) -> None:
    """A kernel that was never seen, as after every edit."""
    text, numbers = (EXAMPLES / "saxpy.cu").read_text("utf-8"), count()

    def edited() -> Any:
        file = tmp_path / f"edit{next(numbers)}.cu"
        file.write_text(text.replace("saxpy", file.stem))
        return ("analyze", str(file), *LAUNCH), {"cache": warm}

    benchmark.pedantic(command, setup=edited, rounds=ROUNDS)


@pytest.mark.cuda
def test_analyze_the_very_first_time(benchmark: Any, tmp_path: Path) -> None:
    """On an empty cache: the compiler's headers are unpacked too."""
    numbers = count()
    benchmark.pedantic(command, setup=lambda: (SAXPY, {"cache": tmp_path / str(next(numbers))}), rounds=ROUNDS)


@pytest.fixture(scope="module")
def listing() -> str:
    """The listing of a kernel of several hundred instructions."""
    image = compile_cuda(LONG.read_text("utf-8"), LONG.name, 90, Options()).cubin
    return disassemble(image, LONG.name)


@pytest.mark.cuda
def test_reading_a_listing(benchmark: Any, listing: str) -> None:
    found = benchmark(read_listing, listing, "listing")
    benchmark.extra_info["instructions"] = sum(len(section.instructions) for section in found.sections)


@pytest.mark.cuda
def test_reading_a_cubin(benchmark: Any) -> None:
    image = compile_cuda(LONG.read_text("utf-8"), LONG.name, 90, Options()).cubin
    benchmark(read_cubin, image, LONG.name)


@pytest.mark.cuda
def test_schedule_of_100k_instructions(benchmark: Any) -> None:
    program, board = warpbound.compile(LONG, "h200"), warpbound.gpu("h200")
    known = waits(program.instructions, memory_latency(board, clock(board, "boost")))
    stream = list(islice(cycle(range(len(program.instructions))), STREAM))
    found = benchmark.pedantic(schedule, (stream, program.instructions, known), rounds=ROUNDS)
    assert len(found.stream) == STREAM


def test_occupancy_of_250k_launches(benchmark: Any) -> None:
    threads, registers, shared = np.arange(32, 1025, 32), np.arange(16, 256, 2), np.arange(0, 64) * 1024
    asked = ("h200", threads[:, None, None], registers[:, None], shared)
    found = benchmark.pedantic(warpbound.occupancy, asked, rounds=ROUNDS)
    assert found.warps_per_sm.size == 32 * 120 * 64
