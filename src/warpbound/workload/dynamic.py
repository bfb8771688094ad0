"""Workload from a trace of sampled blocks: executed instructions, active lanes, the paths of warps."""

import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import among, distinct, distinct_without
from warpbound.emulate.trace import Trace
from warpbound.memory.block_neighbours import Grid, corner, patch
from warpbound.memory.sampling_error import apart_from_class
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule import Schedule, Wait, duration, schedule
from warpbound.workload.instruction_counts import count, facts_of
from warpbound.workload.records import Memory, Workload
from warpbound.workload.static_paths import line_span

STANDS_FOR = 2.0  # most blocks that a middle block represents if blocks from all over the grid are sampled too
LONGEST_STREAM = 300_000  # instructions of one warp that are scheduled; of a longer stream, only the start
MOST_PHASES = 300_000  # waits for loads that are listed; those beyond would hardly change a time
NEARLY_ALL = 0.9  # share of a path that counts as the whole path
MOST_CLASSES = 24  # classes of blocks that are added to a sample which has none of theirs
_BEYOND_CHANCE = 4  # standard errors from which on a slope is taken for one


@dataclass(frozen=True)
class IdleBlocks:
    """Blocks that leave before they touch memory; executed and threads : of all of them, (instructions,).

    working : numbers of the blocks that work, ascending, (w,).
    """

    blocks: int
    executions: NDArray[np.float64]
    threads: NDArray[np.float64]
    working: NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """Blocks to emulate, how many blocks of the grid each represents, and the class of each; all of shape (b,).

    grid : extents of the blocks that work, of which these are some; None: of the launch. idle : the other blocks.
    exact : whether blocks of a class do the same. length : instructions of each by the evaluation of classes, by which
    classes without a block are interpolated; None: there are none. of_grid : class of each working block, in their
    order, (grid,). class_length : instructions of each class by the evaluation.
    """

    blocks: NDArray[np.int64]
    weights: NDArray[np.float64]
    of_class: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))  # one for all
    grid: tuple[int, int, int] | None = None
    idle: IdleBlocks | None = None
    exact: bool = False
    length: NDArray[np.float64] | None = None
    of_grid: NDArray[np.int64] | None = None
    class_length: NDArray[np.float64] | None = None


def sample(grid: Grid, resident: int, sm_count: int, more: int = 0) -> Sample:
    """The first and the last block. To represent the rest: a block in the middle of the grid, the neighbours behind it
    along each axis and those between, which show what adjacent blocks share, and the blocks on the same SM.

    Blocks go to the SMs in turn, so those of one SM are `sm_count` apart. `more` blocks are added all over the grid,
    one at a random place in each of as many equal parts, for work that differs from block to block in any period. They
    then represent almost all others, because blocks of the middle and of one SM may be alike by their position. The
    grid's extents seed the random places, so a launch always has the same ones.
    """
    blocks = math.prod(grid)
    ends = {0, blocks - 1}
    resident_blocks = (corner(grid) + i * sm_count for i in range(resident))
    middle = {block for block in (*patch(grid), *resident_blocks) if 0 < block < blocks - 1}
    spread = _places(grid, more) - ends - middle if more else set()
    share = (blocks - len(ends)) / max(1, len(middle) + len(spread))
    few = min(share, STANDS_FOR) if spread else share
    weights = dict.fromkeys(ends, 1.0) | dict.fromkeys(middle, few)
    weights |= dict.fromkeys(spread, (blocks - len(ends) - few * len(middle)) / max(1, len(spread)))
    blocks_taken = sorted(weights)
    return Sample(np.array(blocks_taken, dtype=np.int64), np.array([weights[b] for b in blocks_taken]))


def _places(grid: Grid, more: int) -> set[int]:
    places = (np.arange(more) + np.random.default_rng([*grid, more]).random(more)) * math.prod(grid) / more
    return set(places.astype(np.int64).tolist())


def weighted_by_class(
    selection: Sample, of_class: NDArray[np.int64], length: NDArray[np.int64], lanes: NDArray[np.int64]
) -> Sample:
    """The sample with blocks of every class, each class with the weight that it has in the grid.

    of_class : class of each block of the grid, (blocks,). length : instructions of a block of each class, (classes,);
    lanes : the same, times the lanes that take part.
    If more than MOST_CLASSES classes lack a block, this many are added in steps of equal work; classes between them are
    interpolated by length, and the weights are calibrated, so that the lanes are right, too.
    """
    if len(length) == 1:
        return selection
    counts = np.bincount(of_class, minlength=len(length))
    weights = dict(zip(selection.blocks.tolist(), selection.weights.tolist(), strict=True))
    missing = distinct_without(np.arange(len(counts)), of_class[selection.blocks])
    for number in _spread(missing, (counts * length)[missing], length[missing]):
        members = np.flatnonzero(of_class == number)
        weights[int(members[len(members) // 2])] = 1.0
    blocks = np.array(sorted(weights))
    base, own = np.array([weights[block] for block in blocks.tolist()]), of_class[blocks]
    share = _represented(own, counts, _told_apart(length))
    weight = base * share[own] / np.bincount(own, base, len(counts))[own]
    if len(missing) > len(blocks) - len(selection.blocks):
        weight = _calibrated(weight, own, counts, np.stack([np.ones(len(counts)), length, lanes]))
    return Sample(blocks, weight, own, length=length[own].astype(np.float64))


def _calibrated(
    weights: NDArray[np.float64], own: NDArray[np.int64], counts: NDArray[np.int64], numbers: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The nearest weights to these for which sums over the sample equal the grid's; blocks that represent only
    themselves keep theirs.

    own : class of each sampled block. numbers : of each class, (numbers, classes).
    Source   calibration by the distance of least squares: J.-C. Deville and C.-E. Särndal, "Calibration estimators in
             survey sampling", JASA 87, 1992, eq. 2.3.
    """
    numbers = numbers / numbers.max(axis=1, keepdims=True)
    others = weights > 1
    each, short = numbers[:, own] * others, numbers @ counts - numbers[:, own] @ weights
    factor = np.linalg.lstsq((each * weights) @ each.T, short, rcond=1e-9)[0]
    result = weights * (1 + factor @ each)
    return result if (result[others] > 1).all() else weights


def _told_apart(length: NDArray[np.int64]) -> NDArray[np.float64]:
    """The lengths; equal ones grow by parts of an instruction in the order of the classes, whose lanes may differ."""
    order = np.argsort(length, kind="stable")
    first = np.searchsorted(length[order], length[order])
    rank, ties = np.arange(len(order)) - first, np.bincount(first, minlength=len(order))[first]
    coordinate = np.empty(len(order))
    coordinate[order] = length[order] + rank / ties
    return coordinate


def _spread(classes: NDArray[np.int64], work: NDArray[np.int64], length: NDArray[np.int64]) -> list[int]:
    """All classes, or MOST_CLASSES of them: the shortest, the longest, and between them by steps of equal work."""
    order = np.argsort(length, kind="stable")
    if len(order) > MOST_CLASSES:
        reached = np.cumsum(work[order], dtype=np.float64)
        steps = np.searchsorted(reached, np.linspace(0, reached[-1], MOST_CLASSES))
        order = order[distinct(np.minimum(steps, len(order) - 1))]
    return [int(number) for number in classes[order]]


def _represented(own: NDArray[np.int64], counts: NDArray[np.int64], length: NDArray[np.float64]) -> NDArray[np.float64]:
    """Blocks of the grid that the sampled blocks of each class represent, (classes,): its own, and parts of those of
    classes without a block, divided by length between the next shorter and the next longer class that has one."""
    share = np.zeros(len(counts))
    present = distinct(own)
    present = present[np.argsort(length[present], kind="stable")]
    share[present] = counts[present]
    absent = distinct_without(np.arange(len(counts)), present)
    after = np.clip(np.searchsorted(length[present], length[absent]), 1, max(1, len(present) - 1))
    low, high = present[after - 1], present[np.minimum(after, len(present) - 1)]
    reach = np.maximum(1e-9, length[high] - length[low])
    part = np.clip((length[absent] - length[low]) / reach, 0.0, 1.0)
    np.add.at(share, low, counts[absent] * (1 - part))
    np.add.at(share, high, counts[absent] * part)
    return share


def every_block(blocks: int) -> Sample:
    """The whole grid: for blocks that divide the work among themselves while they run."""
    return Sample(np.arange(blocks, dtype=np.int64), np.ones(blocks))


def mean_per_warp(trace: Trace, sample_: Sample, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weighted mean over the warps of the grid of per-warp counts; counts of shape (w, n), result (n,)."""
    weight_of = dict(zip(sample_.blocks.tolist(), sample_.weights.tolist(), strict=True))
    weights = np.array([weight_of[block] for block in trace.warps[:, 0].tolist()])
    first = counts[0]  # where all do the same, the mean is just that
    return np.asarray(first + (weights @ (counts - first)) / weights.sum())


def representative_executions(trace: Trace, sample_: Sample) -> NDArray[np.int64]:
    """Executions by warps of representative blocks, (w, instructions); by all warps if no block represents others."""
    inner = among(trace.warps[:, 0], sample_.blocks[sample_.weights > 1])
    return trace.executed[inner] if inner.any() else trace.executed


def sampling_error(trace: Trace, sample_: Sample) -> float | None:
    """Standard error of the mean instructions of a block, as a fraction of it; 0 where every block was executed.

    If work grows along the grid, the error of blocks that all lie to one side is included. None with fewer than two
    blocks that represent others.
    """
    if len(trace.blocks) >= trace.of_blocks:
        return 0.0
    issued = trace.executed.sum(axis=1)
    each = np.array([issued[trace.warps[:, 0] == block].sum() for block in sample_.blocks.tolist()], np.float64)
    inner, classes = sample_.weights > 1, np.broadcast_to(sample_.of_class, sample_.blocks.shape)
    if inner.sum() < 2 or not each[inner].any():
        return None
    parts, unseen = sample_.weights[inner] / sample_.weights[inner].sum(), 1 - len(trace.blocks) / trace.of_blocks
    mean = float(parts @ each[inner])
    if (classes == classes[0]).all():
        rest = each[inner] - mean
    else:
        rest = apart_from_class(each, classes, each if sample_.length is None else sample_.length)[inner]
    if np.ptp(rest) == 0:
        return 0.0
    at, count = sample_.blocks[inner], int(inner.sum())
    chance = float(np.linalg.norm(parts * rest) * np.sqrt(unseen * count / (count - 1)))
    return float(np.hypot(chance, _drift(at, rest) * (parts @ at - (trace.of_blocks - 1) / 2)) / mean)


def probe_deviation(trace: Trace, sample_: Sample, probed: Trace) -> float:
    """Difference between the mean instructions of representative and of probed blocks, as a fraction of the larger
    mean."""
    inner = among(trace.warps[:, 0], sample_.blocks[sample_.weights > 1])
    if not inner.any():
        return 0.0
    means = [float(each.sum(axis=1).mean()) for each in (trace.executed[inner], probed.executed)]
    if sample_.of_grid is not None and alike_clusters(trace):
        means[0] = _as_their_classes(trace, sample_.of_grid, probed)
    return abs(means[0] - means[1]) / max(1.0, *means)


def _as_their_classes(trace: Trace, of_grid: NDArray[np.int64], other: Trace) -> float:
    """Mean instructions of the warps of another trace, if each block did as much as the mean one of its class here."""
    issued, own = trace.executed.sum(axis=1), of_grid[trace.warps[:, 0]]
    of_class = np.bincount(own, issued) / np.maximum(1, np.bincount(own))
    return float(of_class[np.minimum(of_grid[other.warps[:, 0]], len(of_class) - 1)].mean())


def end_block_ratio(trace: Trace, sample_: Sample) -> float:
    """Instructions of the first or last block, whichever has more, divided by the mean of the representative blocks."""
    issued = trace.executed.sum(axis=1)
    per_block = {block: issued[trace.warps[:, 0] == block].sum() for block in sample_.blocks.tolist()}
    inner = [per_block[block] for block in sample_.blocks[sample_.weights > 1].tolist()]
    ends = [per_block[block] for block in sample_.blocks[sample_.weights == 1].tolist()]
    return float(max(ends, default=0) / max(1.0, np.mean(inner))) if inner else 0.0


def _drift(blocks: NDArray[np.int64], each: NDArray[np.float64]) -> float:
    """Instructions by which each block has more than the one before it; 0 where chance would show as much."""
    at = blocks - blocks.mean()
    spread = float(at @ at)
    slope = float(at @ each) / spread
    rest = each - each.mean() - slope * at
    by_chance = np.sqrt(float(rest @ rest) / (max(1, len(each) - 2) * spread))
    return slope if len(each) > 2 and abs(slope) > _BEYOND_CHANCE * by_chance else 0.0


def executed_work(  # noqa: PLR0913  (each is one fact of the launch)
    program: Program, arch: int, trace: Trace, sample_: Sample, memory: Memory, warp_schedule: Schedule, warps: float
) -> Workload:
    """The mean warp of a launch of `warps` warps; `memory` is its traffic, `warp_schedule` the path it takes."""
    issued = mean_per_warp(trace, sample_, trace.executed)
    threads = mean_per_warp(trace, sample_, trace.threads)
    facts = facts_of(program.instructions, arch)
    counts = count(program.instructions, facts, program.bank_reads, issued.tolist(), threads.tolist())
    share = path_share(trace, sample_)
    return Workload(
        title="whole launch",
        unit="warp",
        lines=line_span([program.instructions[i] for i in np.flatnonzero(issued)]),
        warp_instructions=counts.warp_instructions,
        thread_instructions=counts.thread_instructions,
        by_pipe=dict(counts.by_pipe),
        units=dict(counts.units),
        tensor=dict(counts.tensor),
        flop=dict(counts.flop),
        memory=memory,
        barriers=counts.barriers,
        latency=share * warp_schedule.cycles,
        parts={cause: share * cycles for cause, cycles in warp_schedule.parts.items()},
        phases=repeated([len(phase.loads) for phase in warp_schedule.phases], share * warp_schedule.times),
        lines_by_cause=warp_schedule.lines,
        board_waits=warp_schedule.board_waits,
        warps=warps,
    )


def typical_stream(trace: Trace, sample_: Sample | None = None) -> tuple[int, ...]:
    """The start of the typical warp's path, in issue order, at most LONGEST_STREAM instructions."""
    warp = typical_warp(trace, sample_)
    return () if warp is None else tuple(trace.streams[warp][:LONGEST_STREAM].tolist())


def _instructions(trace: Trace, sample_: Sample | None) -> int:
    """Of the typical warp's whole path."""
    warp = typical_warp(trace, sample_)
    return 0 if warp is None else len(trace.streams[warp])


def typical_warp(trace: Trace, sample_: Sample | None = None) -> int | None:
    """The recorded warp that represents the launch's time: it is as long as the warp of the mean instruction.

    Warps that leave at once and short blocks count little: each warp counts by its instructions. None: no warp was
    recorded.
    """
    if not trace.streams:
        return None
    issued, weights = trace.executed.sum(axis=1).astype(np.float64), _of_warps(trace, sample_)
    mean = float(weights @ issued**2 / max(1e-300, weights @ issued))
    off = {row: abs(len(stream) - mean) for row, stream in trace.streams.items()}
    nearest = [row for row in trace.streams if off[row] == min(off.values())]
    return nearest[len(nearest) // 2]


def _of_warps(trace: Trace, sample_: Sample | None) -> NDArray[np.float64]:
    """Warps of the launch that each traced warp represents, (w,)."""
    if sample_ is None:
        return np.ones(len(trace.warps))
    weight_of = dict(zip(sample_.blocks.tolist(), sample_.weights.tolist(), strict=True))
    return np.array([weight_of[block] for block in trace.warps[:, 0].tolist()])


def longest_over_typical(trace: Trace, sample_: Sample) -> float:
    """Instructions of the longest sampled warp over those of the typical one; 1 where warps have roles and every
    cluster has such a warp."""
    if alike_clusters(trace):
        return 1.0
    return float(trace.executed.sum(axis=1).max()) / max(1, _instructions(trace, sample_))


def alike_clusters(trace: Trace) -> bool:
    """Whether warps have roles that meet at mbarriers, and about one block of each cluster has a warp nearly as long as
    the longest: blocks then differ by their roles, and a cluster takes as long as the others."""
    if trace.mbarrier_log is None:
        return False
    blocks, own = np.unique(trace.warps[:, 0], return_inverse=True)
    longest = np.zeros(len(blocks), np.int64)
    np.maximum.at(longest, own, trace.executed.sum(axis=1))
    size = len(set(trace.mbarrier_log.blocks))
    return bool((longest >= NEARLY_ALL * longest.max()).mean() >= 1 / (2 * max(1, size)))


def path_share(trace: Trace, sample_: Sample) -> float:
    """Instructions of the mean warp over those of the typical one; 1 where warps hardly differ, or have roles."""
    if alike_clusters(trace):
        return 1.0
    issued, weights = trace.executed.sum(axis=1), _of_warps(trace, sample_)
    share = float(weights @ issued / weights.sum()) / max(1, _instructions(trace, sample_))
    return share if share < NEARLY_ALL else 1.0


def repeated(values: Sequence[int], share: float) -> tuple[int, ...]:
    """The first values, as many as that share of them, rounded up; beyond 1 they begin again, up to MOST_PHASES."""
    count = min(math.ceil(share * len(values)), max(MOST_PHASES, len(values)))
    return tuple(itertools.islice(itertools.cycle(values), count)) if values else ()


def timed_stream(program: Program, trace: Trace, waits: Sequence[Wait], sample_: Sample | None = None) -> Schedule:
    """Issue times of the typical warp, alone on its SM."""
    stream = typical_stream(trace, sample_)
    return stretched(schedule(stream, program.instructions, waits), _instructions(trace, sample_) / max(1, len(stream)))


def stretched(warp_schedule: Schedule, times: float) -> Schedule:
    """The schedule of a path from that of its first part, longer by this factor."""
    if times == 1.0:
        return warp_schedule
    longer = {place: _scaled(causes, times) for place, causes in warp_schedule.lines.items()}
    parts = _scaled(warp_schedule.parts, times)
    return replace(warp_schedule, cycles=times * warp_schedule.cycles, parts=parts, lines=longer, times=times)


def _scaled(cycles: Mapping[str, float], times: float) -> dict[str, float]:
    return {cause: times * each for cause, each in cycles.items()}


def time_of_stream(program: Program, trace: Trace, waits: Sequence[Wait], sample_: Sample | None = None) -> float:
    """Cycles of the typical warp, alone on its SM."""
    stream = typical_stream(trace, sample_)
    return duration(stream, program.instructions, waits) * _instructions(trace, sample_) / max(1, len(stream))


def trip_counts(program: Program, trace: Trace) -> dict[int, tuple[float, float]]:
    """Loop number -> mean iterations per entry and entries per warp, over the recorded streams; 0 where none enters.

    Nothing where no stream was recorded.
    """
    block_of = np.empty(len(program.instructions), dtype=np.int64)
    for number, block in enumerate(program.flow.blocks):
        block_of[block.first : block.last] = number
    passes: defaultdict[int, int] = defaultdict(int)
    entries: defaultdict[int, int] = defaultdict(int)
    streams = [stream for stream in trace.streams.values() if len(stream)]
    for stream in streams:
        blocks = block_of[stream]
        for number, loop in enumerate(program.flow.loops):
            inside = among(np.arange(len(program.flow.blocks)), list(loop.blocks))[blocks]
            first = program.flow.blocks[loop.header].first
            passes[number] += int(np.count_nonzero(stream == first))
            entries[number] += int(np.count_nonzero(inside[1:] & ~inside[:-1])) + int(inside[0])
    return {number: (passes[number] / max(1, entries[number]), entries[number] / len(streams)) for number in passes}
