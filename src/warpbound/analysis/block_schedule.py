"""Blocks that take different times: their classes, and how they follow each other on the SMs.

Source   List scheduling: R. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Applied Mathematics 17, 1969.
Models   Blocks start in the order of their numbers, each as soon as a place on an SM is free. A block takes its start
         and the path of its longest warp; paths are in proportion to instructions. Of many blocks only the last are
         followed one by one; those before them fill all places evenly.
Omits    Waiting of blocks for each other, which the flow balance has; in the drain the others run faster.
"""

import heapq
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate import Trace
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.result.blocks import BlockClass
from warpbound.workload.dynamic import Sample, alike_clusters

Reals = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLLOWED = 10_000  # blocks at the end of a grid that are followed one by one
SPREAD = 48  # sampled blocks, from which on their lengths show how those of a grid differ by data
NEARLY = 0.9  # a recorded warp with this share of the longest warp's instructions gives the time of its class
UNEVEN = 1.1  # longest path over the mean one, from which on blocks are scheduled by their classes


@dataclass(frozen=True)
class BlockPaths:
    """How long the blocks of a grid are. of_block : class of each working block, in their order, (blocks,).

    length : instructions of the longest warp of a block of each class, over those of the mean warp, (classes,).
    """

    of_block: Ints
    length: Reals

    @property
    def uneven(self) -> bool:
        """Whether blocks differ enough to be scheduled by their classes."""
        if len(self.length) == 1:
            return False
        each = self.length[self.of_block]
        return bool(each.max() > UNEVEN * each.mean())


def uneven_paths(trace: Trace, sample: Sample, mean: float) -> BlockPaths | None:
    """As `block_paths`; None where blocks differ by their roles in a cluster alone."""
    paths = block_paths(trace, sample, mean)
    return None if paths is not None and paths.uneven and alike_clusters(trace) else paths


def block_paths(trace: Trace, sample: Sample, mean: float) -> BlockPaths | None:
    """The paths of all blocks of the grid from those of the sample; None where the classes were not evaluated.

    mean : instructions of the mean warp. A class without a sampled block lies between its neighbours by length. Where
    data decide, each block of a large sample represents those around it, by its weight.
    """
    if sample.of_grid is None or sample.class_length is None:
        return None
    issued = trace.executed.sum(axis=1)
    longest = {block: float(issued[trace.warps[:, 0] == block].max()) for block in sample.blocks.tolist()}
    if not sample.exact and len(sample.blocks) >= SPREAD:
        order = np.argsort(sample.blocks)
        ends = np.cumsum(np.broadcast_to(sample.weights, sample.blocks.shape)[order])
        blocks = len(sample.of_grid)
        stands = np.searchsorted(ends / ends[-1], (np.arange(blocks) + 0.5) / blocks)
        each = np.array([longest[block] for block in sample.blocks[order].tolist()])
        return BlockPaths(stands, each / max(1.0, mean))
    classes = np.broadcast_to(sample.of_class, sample.blocks.shape)
    lengths = sample.class_length[classes]
    order = np.argsort(lengths, kind="stable")
    values = np.array([longest[block] for block in sample.blocks[order].tolist()])
    between = np.interp(sample.class_length, lengths[order], values)
    for number in distinct(classes).tolist():
        between[number] = np.mean([longest[block] for block in sample.blocks[classes == number].tolist()])
    return BlockPaths(sample.of_grid, between / max(1.0, mean))


def shown_classes(  # noqa: PLR0913  (each is one fact of the launch)
    program: Program, trace: Trace, sample: Sample, start: float, path: float, recorded: Mapping[int, float],
    longest_path: float | None = None,
) -> list[BlockClass]:
    """The classes with a sampled block, each with those nearest to it by length, and the blocks that leave at once.

    start, path, longest_path : cycles to start a block, of the mean warp, and of the longest where they are known.
    recorded : cycles of the path of each recorded warp.
    """
    issued, classes = trace.executed.sum(axis=1), np.broadcast_to(sample.of_class, sample.blocks.shape)
    headers = [program.flow.blocks[loop.header].first for loop in program.flow.loops]
    weights = dict(zip(sample.blocks.tolist(), sample.weights.tolist(), strict=True))
    of_warp = np.array([weights[block] for block in trace.warps[:, 0].tolist()])
    mean = max(1.0, float(of_warp @ issued / of_warp.sum()))
    counts = _stands_for(sample, classes, trace.of_blocks)
    own = {number: np.isin(trace.warps[:, 0], sample.blocks[classes == number]) for number in counts}
    longest = {block: issued[trace.warps[:, 0] == block].max() for block in sample.blocks.tolist()}
    lengths = [np.mean([longest[block] for block in sample.blocks[classes == number].tolist()]) for number in counts]
    by_length = along(np.array(lengths) / mean, path, longest_path)
    paths = [
        max((recorded[row] for row in recorded if own[number][row] and issued[row] >= NEARLY * length), default=each)
        for number, length, each in zip(counts, lengths, by_length.tolist(), strict=True)
    ]
    rows = [
        (count, count * (start + each), [float(trace.executed[own[number], at].mean()) for at in headers])
        for (number, count), each in zip(counts.items(), paths, strict=True)
    ]
    if sample.idle is not None:
        rows.append((sample.idle.blocks, sample.idle.blocks * start, [0.0] * len(headers)))
    total = sum(cycles for _, cycles, _ in rows) or 1.0
    rows_shown = [BlockClass(count, min(1.0, cycles / total), trips) for count, cycles, trips in rows]
    return sorted(rows_shown, key=lambda row: -row.share_of_time)


def _stands_for(sample: Sample, classes: Ints, blocks: int) -> dict[int, int]:
    """Blocks of the grid by sampled class: its own, and those of classes without a sample that it is nearest to."""
    present = distinct(classes)
    if sample.of_grid is None or sample.class_length is None:
        return {int(present[0]): blocks} if len(present) == 1 else {}
    lengths = sample.class_length
    if len(lengths) == 1:
        return {0: blocks}
    order = present[np.argsort(lengths[present], kind="stable")]
    middle = (lengths[order][1:] + lengths[order][:-1]) / 2
    nearest = order[np.searchsorted(middle, lengths)]
    nearest[present] = present
    counts = np.bincount(nearest[sample.of_grid], minlength=len(lengths))
    return {int(number): int(counts[number]) for number in present}


def makespan(durations: Reals, places: int) -> float:
    """Time until the last of some blocks ends, which start in order as places become free, (blocks,)."""
    first, last = durations[:-FOLLOWED], durations[-FOLLOWED:]
    before = float(first.sum()) / places
    ends = [before] * places
    latest = before
    for duration in last.tolist():
        end = ends[0] + duration
        heapq.heapreplace(ends, end)
        latest = max(latest, end)
    if len(first):  # one of them may be so long that it outlasts those that start after it
        latest = max(latest, float((np.cumsum(first) / places - first / places + first).max()))
    return latest


def scheduled_s(
    paths: BlockPaths, start_s: float, path_s: float, places: int, longest_s: float | None = None
) -> float:
    """Time of all blocks on this many places; path_s : of a block of mean warps without its start. longest_s : of the
    longest block, where that is known."""
    return makespan((start_s + along(paths.length, path_s, longest_s))[paths.of_block], max(1, places))


def along(length: Reals, path: float, longest: float | None) -> Reals:
    """The paths of blocks by their length, in units of the mean warp, whose path is given. Paths are proportional to
    lengths; if the longest is given, paths above the mean are linear between the mean and the longest."""
    most = float(length.max(initial=0.0))
    if longest is None or most <= 1.0:
        return path * length
    return np.interp(length, [0.0, 1.0, most], [0.0, path, longest])
