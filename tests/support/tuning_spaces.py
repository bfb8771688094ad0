"""Three tunable kernels of the corpus with over a hundred tunings each, and the prediction of all of them."""

import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from warpbound import Launch, launch, rank
from warpbound.analysis.sweeps.ranking import ranked_by_time, ranking_of
from warpbound.analysis.sweeps.tunings import Shape, Tuning, tunings
from warpbound.measure.corpus.tuned import FOLDER
from warpbound.result.plain import plain

MATRIX = 1024  # rows and columns of the product
IMAGE, RADIUS = 4096, 3
CUBE = 256
SHARED_B = 48 * 1024  # that a block may declare
PROCESSES = 2
_MARGIN, _WORDS = IMAGE + 2 * RADIUS, (CUBE + 2) ** 3


@dataclass(frozen=True)
class Space:
    """A kernel, the values of its macros, its launch by expressions of them. Contents decide nothing: all ones."""

    kernel: str
    macros: Mapping[str, Sequence[int]]
    shape: Shape
    args: Mapping[str, Any]

    @property
    def source(self) -> Path:
        return FOLDER / f"{self.kernel}.cu"

    @property
    def launch(self) -> Launch:
        return launch(grid=1, block=1, args=self.args)

    def tunings(self) -> list[Tuning]:
        return tunings(self.macros, self.shape, self.launch)


SPACES = {
    one.kernel: one
    for one in (
        Space(  # tile, its depth, results per thread in each direction, unrolling of the inner loop
            "gemm",
            {"TILE": (16, 32, 64, 128), "WORK": (1, 2, 4, 8), "DEPTH": (4, 8, 16, 32), "UNROLL": (1, 4, 8, 16, 32)},
            Shape(
                grid=f"{MATRIX}/TILE,{MATRIX}/TILE",
                block="TILE/WORK,TILE/WORK",
                where="(UNROLL == 1 or UNROLL == 4 or UNROLL == DEPTH) and TILE/WORK*(TILE/WORK) >= 64 and "
                f"TILE/WORK*(TILE/WORK) <= 1024 and 4*TILE*(2*DEPTH + 1) <= {SHARED_B}",
            ),
            dict.fromkeys("abc", f"f32[{MATRIX},{MATRIX}]:ones") | {"n": MATRIX},
        ),
        Space(  # columns and rows of threads, rows per thread, rows of the filter unrolled
            "convolution2d",
            {"X": (16, 32, 64, 128), "Y": (2, 4, 8, 16), "EACH": (1, 2, 4, 8), "UNROLL": (1, 2 * RADIUS + 1),
             "RADIUS": (RADIUS,)},
            Shape(grid=f"{IMAGE}/X,{IMAGE}/Y/EACH", block="X,Y", where="X*Y >= 64 and X*Y <= 1024"),
            {"in": f"f32[{_MARGIN},{_MARGIN}]:ones", "filter": f"f32[{(2 * RADIUS + 1) ** 2}]:ones",
             "out": f"f32[{IMAGE},{IMAGE}]:ones", "columns": IMAGE},
        ),
        Space(  # columns and rows of threads, planes that a block goes up, planes unrolled
            "stencil3d",
            {"X": (16, 32, 64, 128, 256), "Y": (1, 2, 4, 8, 16), "PLANES": (16, 64, 256), "UNROLL": (1, 4)},
            Shape(grid=f"{CUBE}/X,{CUBE}/Y,{CUBE}/PLANES", block="X,Y", where="X*Y >= 64 and X*Y <= 1024"),
            {"in": f"f32[{_WORDS}]:ones", "out": f"f32[{_WORDS}]:ones", "n": CUBE},
        ),
    )
}  # fmt: skip


def ranked(space: Space, where: str | None = None, processes: int = PROCESSES) -> list[dict[str, Any]]:
    """The tunings of a space, or those of them for which `where` is true, the fastest first."""
    shape = space.shape
    both = shape.where if where is None else f"({shape.where}) and ({where})"
    return rank(
        space.source, "h200", space.macros, space.launch, shape.grid, shape.block, where=both, processes=processes
    )


def ranked_as_text(space: Space, where: str | None = None, processes: int = PROCESSES) -> list[dict[str, Any]]:
    """The same, as `warpbound rank` prints it: times, and all of the fastest and the slowest."""
    shape = space.shape
    both = shape.where if where is None else f"({shape.where}) and ({where})"
    ranking = ranking_of(space.source, "h200", space.macros, space.launch, replace(shape, where=both))
    return [plain(answer) for answer in ranked_by_time(ranking, processes)]


def summary(found: Sequence[dict[str, Any]], seconds: float, spent: float) -> str:
    """The seconds by the clock and of processors, and best and worst with what explains them."""
    lines = [f"{len(found)} tunings in {seconds:.1f} s, {spent:.1f} s of processors, {spent / len(found):.2f} s each"]
    for title, one in (("best", found[0]), ("worst", found[-1])):
        code, helps = one["execution"]["code"], one["whatifs"][:2]
        macros = " ".join(f"{macro}={value}" for macro, value in one["defines"].items())
        lines.append(f"{title}: {1e6 * one['time_s']:.1f} us, {macros}: {one['bottleneck']}")
        lines += [f"    x{way['speedup']:.2f} {way['change']}: {way['why']}" for way in helps]
        lines.append(f"    {code['hot']} of {code['hot_bytes']} B, held by {code['held_by']}")
    return "\n".join(lines)


def main(folder: Path, every: int) -> None:
    """All spaces, or about one tuning in `every` of each, compiled anew into `folder`."""
    os.environ["XDG_CACHE_HOME"] = str(folder)
    for title, space in SPACES.items():
        chosen = [one.macros for one in space.tunings()[::every]]
        where = " or ".join("(" + " and ".join(f"{k} == {v}" for k, v in one.items()) + ")" for one in chosen)
        begun, before = time.perf_counter(), _processor_seconds()
        found = ranked_as_text(space, where if every > 1 else None)
        seconds, spent = time.perf_counter() - begun, _processor_seconds() - before
        print(f"{title}: {summary(found, seconds, spent)}", flush=True)  # noqa: T201


def _processor_seconds() -> float:
    """Of the processes and tools that this process started and that have ended, and its own."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        main(Path(empty), int(sys.argv[1]) if len(sys.argv) > 1 else 1)
