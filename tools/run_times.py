"""Times whole processes of `warpbound analyze` from a warm cache; writes the tables of docs/speed.md.

    python tools/run_times.py measure OUT.json [--programs FOLDER] [--every N]
    python tools/run_times.py scaling OUT.json
    python tools/run_times.py table OUT.json SCALING.json

Cases: every example, one launch of every kernel of the corpora (the longest), and the launch files of FOLDER/launches,
which `warpbound launches FILE.cu --examples -o launches/NAME.toml` writes in FOLDER; their first line names FILE.cu.
Each case runs once to fill the cache, then twice without its kept answer, then once with it; of the two the lesser time
counts. Time is that of the processor (user and
system; of user alone, too), which depends little on what else the machine does. Examples for boards for which no
compiler is installed are named on standard error and left out of the table.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np

from warpbound import disk_cache
from warpbound.analysis import answer_cache
from warpbound.errors import WarpboundError
from warpbound.size_expressions import number, parts
from warpbound.validate.corpus import Corpus, Row, corpus, shipped

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "speed.md"
ANALYZE = (sys.executable, "-m", "warpbound", "analyze")
SETTINGS = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
KIB = 1024  # bytes; the system counts memory in KiB
ROUNDS = 2
BLOCK = 256
POWERS = (10, 16, 22, 28, 34)  # of two: elements of the addition
SOURCE = """__global__ void add(const float* a, const float* b, float* c, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
"""
LAUNCHED = re.compile(r"launched in (.+), line \d+$", re.M)
Case = tuple[str, list[str]]  # name, words of the command line


def examples() -> Iterator[Case]:
    for launch in sorted((ROOT / "examples").rglob("*.toml")):
        if launch.with_suffix(".cu").exists():
            yield f"example {launch.stem}", [str(launch.with_suffix(".cu")), "--launch", str(launch)]


def corpora() -> Iterator[Case]:
    """The longest launch of each kernel of the corpora that have sources."""
    for name in shipped():
        one = corpus(name)
        longest: dict[str, Row] = {}
        for row in one.rows if one.shared.source else ():
            longest[row.kernel] = max(longest.get(row.kernel, row), row, key=lambda each: each.seconds)
        for kernel, row in longest.items():
            with suppress(WarpboundError):  # a row of which only its variants have all columns
                yield f"corpus {name} {kernel}", _words(one, row)


def _words(one: Corpus, row: Row) -> list[str]:
    shared = one.shared
    words = [str(one.folder / shared.source), "--gpu", row.gpu, "--cache", shared.cache]
    words += ["--kernel", row.kernel] if row.kernel else []
    for option, template in (("--grid", shared.grid), ("--block", shared.block)):
        words += [option, ",".join(str(number(part, {})) for part in parts(one.filled(template, row)))]
    words += ["--smem", str(shared.smem)] if shared.smem else []
    words += [word for template in shared.defines for word in ("--define", one.filled(template, row))]
    more = (shared.measured.between or ())[1:]  # of two launches, the longer
    given = {word.partition("=")[0]: word for word in (*(one.filled(each, row) for each in shared.args), *more)}
    names = _parameters(one.folder / shared.source, row.kernel)
    return words + [word for name, value in given.items() if name in names for word in ("--arg", value)]


def _parameters(source: Path, kernel: str) -> set[str]:
    """Words in the parameter list of a kernel: a corpus gives all arguments that one of its kernels has."""
    text = source.read_text(encoding="utf-8")
    found = re.search(rf"__global__[^;{{]*\b{kernel or ''}\w*\s*\(([^)]*)\)", text)
    return set(re.findall(r"\w+", found[1])) if found else set()


def programs(folder: Path) -> Iterator[Case]:
    for launch in sorted((folder / "launches").glob("*.toml")):
        source = LAUNCHED.search(launch.read_text(encoding="utf-8"))
        if source:
            yield f"program {launch.stem}", [str(folder / source[1]), "--gpu", "h200", "--launch", str(launch)]


def measured(words: list[str]) -> dict[str, Any]:
    """Seconds of the processor and MB of the quickest of some processes, after one that fills the cache.

    again : seconds where the answer is kept, too.
    """
    runs = [_computed([*ANALYZE, *words]) for _ in range(ROUNDS + 1)]
    again = _once([*ANALYZE, *words])["seconds"]
    return min(runs[1:], key=lambda run: float(run["seconds"])) | {"again": again}


def _computed(command: list[str]) -> dict[str, Any]:
    shutil.rmtree(disk_cache.folder() / answer_cache.PLACE, ignore_errors=True)
    return _once(command)


def _once(command: list[str]) -> dict[str, Any]:
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=SETTINGS) as process,
    ):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        reason = errors.read().decode().strip().rpartition("warpbound: ")[2] if process.returncode else ""
    seconds = round(used.ru_utime + used.ru_stime, 3)
    result = {"seconds": seconds, "user": round(used.ru_utime, 3), "megabytes": used.ru_maxrss // KIB}
    return result | {"code": process.returncode} | ({"reason": reason} if reason else {})


def measure(out: Path, folder: Path | None, every: int) -> None:
    """Times of all cases, or of every n-th, into a file; what is there is not measured again."""
    results = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
    for name, words in [*examples(), *corpora(), *(programs(folder) if folder else ())][::every]:
        if name not in results:
            results[name] = measured(words)
            if "reason" in results[name]:
                sys.stderr.write(f"{name}: {results[name]['reason']}\n")
            out.write_text(json.dumps(results, indent=1), encoding="utf-8")


def scaling(out: Path) -> None:
    """Times of an addition of 2^10 to 2^34 elements."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "add.cu")
        source.write_text(SOURCE, encoding="utf-8")
        for power in POWERS:
            arrays = [word for name in "abc" for word in ("--arg", f"{name}=f32[{2**power}]")]
            launch = ["--gpu", "h200", "--grid", str(-(-(2**power) // BLOCK)), "--block", str(BLOCK)]
            results[str(power)] = measured([str(source), *launch, *arrays, "--arg", f"n={2**power}"])
    out.write_text(json.dumps(results, indent=1), encoding="utf-8")


def tables(measured_times: Path, sizes: Path) -> Iterator[str]:
    """Lines of both tables: of the cases that have an answer, and of the addition."""
    times, scaled = (json.loads(file.read_text(encoding="utf-8")) for file in (measured_times, sizes))
    answered = [name for name, run in times.items() if run["code"] == 0]
    yield "| | cases | median | P95 | most | most memory | asked again: median | most |"
    yield "|" + "---|" * 8
    for kind in ("example", "corpus", "program", ""):
        names = [name for name in answered if name.startswith(kind)]
        if names:
            yield _row(f"{kind}s".replace("corpuss", "corpora") if kind else "all", [times[name] for name in names])
    yield ""
    yield "| elements | " + " | ".join(f"2^{power}" for power in scaled) + " |"
    yield "|" + "---|" * (1 + len(scaled))
    yield "| seconds | " + " | ".join(f"{one['seconds']:.2f}" for one in scaled.values()) + " |"
    yield "| MB | " + " | ".join(str(one["megabytes"]) for one in scaled.values()) + " |"


def _row(title: str, runs: list[dict[str, Any]]) -> str:
    seconds, again = ([run[name] for run in runs] for name in ("seconds", "again"))
    cells = [title, str(len(runs)), *(f"{np.percentile(seconds, share):.2f} s" for share in (50, 95, 100))]
    cells += [f"{max(run['megabytes'] for run in runs)} MB", f"{np.median(again):.2f} s", f"{max(again):.2f} s"]
    return "| " + " | ".join(cells) + " |"


def write(lines: Iterator[str]) -> None:
    """The tables into the page, between its two marks."""
    text = PAGE.read_text(encoding="utf-8")
    head, begin, rest = text.partition("<!-- table: tools/run_times.py table -->\n")
    _, end, tail = rest.partition("<!-- end of the table -->")
    PAGE.write_text(head + begin + "\n".join(lines) + "\n" + end + tail, encoding="utf-8")


@click.command()
@click.argument("what", type=click.Choice(("measure", "scaling", "table")))
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--programs", "folder", type=click.Path(path_type=Path))
@click.option("--every", type=int, default=1)
def main(what: str, files: tuple[Path, ...], folder: Path | None, every: int) -> None:
    """Measure, or write the page."""
    if what == "measure":
        measure(files[0], folder, every)
    elif what == "scaling":
        scaling(files[0])
    else:
        write(tables(*files))


if __name__ == "__main__":
    main()
