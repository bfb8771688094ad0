"""Whether a variant computes what the original computes: the same blocks of both are executed and compared.

Models   Float arrays whose contents the launch leaves open get random numbers, so that no result is zero by chance.
Omits    Blocks that were not compared, and other sizes of the arrays.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import make_ready
from warpbound.emulate.launch_checks import check_accepted
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.emulate.native.engine import chunk_maker
from warpbound.emulate.value_dependence import draws_work_from_counter
from warpbound.kernel_argument import FLOATS
from warpbound.kernel_launch import Dim, Launch
from warpbound.program import Program

Arrays = Mapping[str, NDArray[Any]]
ALL = 8  # blocks up to which the whole grid is compared
STEPS = 1_500_000  # instructions of lane groups that one comparison may take
UNSEEN = "no array that the launch names is changed by the compared blocks"


@dataclass(frozen=True)
class Verdict:
    """outcome : equal, rounding or different. error : largest difference, relative to the largest result."""

    outcome: str
    error: float = 0.0
    reason: str | None = None


def comparable(launch: Launch) -> Launch:
    """The launch with random numbers in float arrays that have no contents."""
    args = tuple(
        replace(each, fill="rand")
        if each.kind == "array" and each.dtype in FLOATS and (each.fill, each.file, each.bytes) == (None, None, None)
        else each
        for each in launch.args
    )
    return replace(launch, args=args)


def chosen_blocks(program: Program, grid: Dim) -> list[int]:
    """Blocks to compare: all of a small grid; else from its first row, its middle and its end."""
    count = math.prod(grid)
    if count <= ALL or waits_for_grid(program) or draws_work_from_counter(program):
        return list(range(count))
    return sorted({0, 1, grid[0] - 1, count // 2, count - 1})


def covering(blocks: Sequence[int], before: Launch, after: Launch) -> tuple[list[int], list[int]]:
    """Blocks of both launches that cover the same threads: those of `blocks` and all that share threads with them."""
    olds: set[int] = set()
    news: set[int] = set()
    for block in blocks:
        place = _place(block, before.grid)
        spans = [
            _aligned(at, before.block[axis], after.block[axis], before.grid[axis], after.grid[axis])
            for axis, at in enumerate(place)
        ]
        olds |= _numbers([span[0] for span in spans], before.grid)
        news |= _numbers([span[1] for span in spans], after.grid)
    return sorted(olds), sorted(news)


def _place(block: int, grid: Dim) -> Dim:
    return block % grid[0], block // grid[0] % grid[1], block // (grid[0] * grid[1])


def _aligned(at: int, old: int, new: int, old_count: int, new_count: int) -> tuple[range, range]:
    """Blocks of an axis around number `at`, between two places where blocks of both sizes begin."""
    period = math.lcm(old, new)
    start = at * old // period * period
    olds = range(start // old, min(old_count, (start + period) // old))
    return olds, range(start // new, min(new_count, (start + period) // new))


def _numbers(spans: Sequence[range], grid: Dim) -> set[int]:
    xs, ys, zs = spans
    return {x + grid[0] * (y + grid[1] * z) for x in xs for y in ys for z in zs}


def results(program: Program, launch: Launch, blocks: Sequence[int]) -> Arrays:
    """The arrays after these blocks. Raises InputError as `emulate.run` does, and where they take too long."""
    check_accepted(program, launch)
    kernel = make_ready(program, launch)
    run_blocks(kernel, kernel.whole_clusters(np.asarray(blocks, np.int64)), STEPS, make_chunk=chunk_maker(kernel))
    return kernel.memory.arrays()


def at_start(program: Program, launch: Launch) -> Arrays:
    """The arrays before the launch."""
    return make_ready(program, launch).memory.arrays()


def bytes_written(before: Arrays, after: Arrays) -> int:
    """Bytes of results that differ from what was there, rounded up to elements."""
    return sum(
        int((bits(after[name]) != bits(before[name])).sum()) * after[name].itemsize for name in after if name in before
    )


def bits(array: NDArray[Any]) -> NDArray[Any]:
    """The elements as integers: equal bits are equal results, whatever they mean."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def compared(original: Arrays, other: Arrays) -> Verdict:
    """How the results of a variant differ from the original's."""
    worst = 0.0
    for name, array in original.items():
        if name not in other:
            return Verdict("different", reason=f"{name} is not an array of the variant")
        if np.array_equal(bits(array), bits(other[name])):
            continue
        if array.dtype.kind != "f":
            return Verdict("different", reason=f"{name} holds other integers")
        worst = max(worst, _distance(array, other[name]))
    if not math.isfinite(worst):
        return Verdict("different", reason="a result is infinite or not a number")
    return Verdict("rounding", worst) if worst > 0 else Verdict("equal")


def _distance(array: NDArray[Any], other: NDArray[Any]) -> float:
    """Largest difference relative to the largest magnitude; inf where only one of both is a finite number."""
    first, second = array.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(first)
    if not np.array_equal(finite, np.isfinite(second)):
        return math.inf
    if not np.array_equal(first[~finite], second[~finite], equal_nan=True):
        return math.inf
    difference = np.abs(first[finite] - second[finite]).max(initial=0.0)
    return float(difference / max(np.abs(first[finite]).max(initial=0.0), np.finfo(np.float64).tiny))
