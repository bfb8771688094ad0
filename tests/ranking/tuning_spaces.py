"""Three tunable kernels of the corpus with over a hundred configurations each, and the prediction of all of them."""

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from warpbound import Launch, analyze, launch
from warpbound import compile as compile_kernel
from warpbound.measure.corpus.tuned import FOLDER

MATRIX = 1024  # rows and columns of the product
IMAGE, RADIUS = 4096, 3
CUBE = 256
SHARED_B = 48 * 1024  # that a block may declare
THREADS = range(64, 1025)  # of one block


@dataclass(frozen=True)
class Configuration:
    """Macros of one kernel and the launch they ask for."""

    kernel: str
    macros: tuple[tuple[str, int], ...]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]

    @property
    def name(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.macros)


@dataclass(frozen=True)
class Ranked:
    """A configuration with what was predicted for it. seconds : of a processor, compilation included."""

    configuration: Configuration
    entry: dict[str, Any]
    seconds: float

    @property
    def time_s(self) -> float:
        return float(self.entry["time_s"])

    def __getitem__(self, macro: str) -> int:
        return dict(self.configuration.macros)[macro]


def gemm() -> list[Configuration]:
    """Tile, its depth, results per thread in each direction, unrolling of the inner loop."""
    found = []
    for tile, work, depth in product((16, 32, 64, 128), (1, 2, 4, 8), (4, 8, 16, 32)):
        side = tile // work
        if side * side not in THREADS or 4 * tile * (2 * depth + 1) > SHARED_B:
            continue
        for unroll in sorted({1, 4, depth}):
            macros = (("TILE", tile), ("DEPTH", depth), ("WORK", work), ("UNROLL", unroll))
            found.append(Configuration("gemm", macros, (MATRIX // tile, MATRIX // tile, 1), (side, side, 1)))
    return found


def convolution2d() -> list[Configuration]:
    """Columns and rows of threads, rows per thread, rows of the filter unrolled."""
    width = 2 * RADIUS + 1
    return [
        Configuration("convolution2d", (("X", x), ("Y", y), ("EACH", each), ("UNROLL", unroll), ("RADIUS", RADIUS)),
                      (IMAGE // x, IMAGE // y // each, 1), (x, y, 1))
        for x, y, each, unroll in product((16, 32, 64, 128), (2, 4, 8, 16), (1, 2, 4, 8), (1, width))
        if x * y in THREADS
    ]  # fmt: skip


def stencil3d() -> list[Configuration]:
    """Columns and rows of threads, planes that a block goes up, planes unrolled."""
    return [
        Configuration("stencil3d", (("X", x), ("Y", y), ("PLANES", planes), ("UNROLL", unroll)),
                      (CUBE // x, CUBE // y, CUBE // planes), (x, y, 1))
        for x, y, planes, unroll in product((16, 32, 64, 128, 256), (1, 2, 4, 8, 16), (16, 64, 256), (1, 4))
        if x * y in THREADS
    ]  # fmt: skip


SPACES = {"gemm": gemm, "convolution2d": convolution2d, "stencil3d": stencil3d}


def predicted(configuration: Configuration, gpu: str = "h200") -> Ranked:
    """Compiled and predicted, with the time that this took."""
    start = _processor_seconds()
    macros = {key: str(value) for key, value in configuration.macros}
    program = compile_kernel(FOLDER / f"{configuration.kernel}.cu", gpu, defines=macros)
    entry = analyze(program, gpu, _launch(configuration))
    return Ranked(configuration, entry, _processor_seconds() - start)


def ranking(configurations: Sequence[Configuration]) -> tuple[list[Ranked], float]:
    """Every configuration by predicted time, the fastest first, and the seconds that two processes took."""
    start = time.perf_counter()
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(predicted, configurations))
    return sorted(found, key=lambda one: one.time_s), time.perf_counter() - start


def _processor_seconds() -> float:
    """Of this process and of the tools that it started."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def _launch(configuration: Configuration) -> Launch:
    return launch(grid=configuration.grid, block=configuration.block, args=_arguments(configuration.kernel))


@cache
def _arguments(kernel: str) -> dict[str, Any]:
    """Contents that decide nothing in these kernels: ones everywhere."""
    matrix, margin = f"f32[{MATRIX},{MATRIX}]:ones", IMAGE + 2 * RADIUS
    cube = f"f32[{(CUBE + 2) ** 3}]:ones"
    return {
        "gemm": {"a": matrix, "b": matrix, "c": matrix, "n": MATRIX},
        "convolution2d": {"in": f"f32[{margin},{margin}]:ones", "filter": f"f32[{(2 * RADIUS + 1) ** 2}]:ones",
                          "out": f"f32[{IMAGE},{IMAGE}]:ones", "columns": IMAGE},
        "stencil3d": {"in": cube, "out": cube, "n": CUBE},
    }[kernel]  # fmt: skip


def summary(found: Sequence[Ranked], seconds: float) -> str:
    """The seconds, and best and worst with what explains them."""
    spent = sum(one.seconds for one in found)
    lines = [f"{len(found)} configurations in {seconds:.1f} s, {spent:.1f} s of processors, "
             f"{spent / len(found):.2f} s each"]  # fmt: skip
    for title, one in (("best", found[0]), ("worst", found[-1])):
        code, helps = one.entry["execution"]["code"], one.entry["whatifs"][:2]
        lines.append(f"{title}: {1e6 * one.time_s:.1f} us, {one.configuration.name}: {one.entry['bottleneck']}")
        lines += [f"    x{way['speedup']:.2f} {way['change']}: {way['why']}" for way in helps]
        lines.append(f"    {code['hot']} of {code['hot_bytes']} B, held by {code['held_by']}")
    return "\n".join(lines)


def main(folder: Path, every: int) -> None:
    """All spaces, or one configuration in `every` of each, compiled anew into `folder`."""
    os.environ["XDG_CACHE_HOME"] = str(folder)
    for name, space in SPACES.items():
        print(f"{name}: {summary(*ranking(space()[::every]))}", flush=True)  # noqa: T201


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        main(Path(empty), int(sys.argv[1]) if len(sys.argv) > 1 else 1)
