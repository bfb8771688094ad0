"""The level that serves each sector of a sample, L1, L2 or DRAM, and the counts of the launch that follow.

Models   Sectors of all lines, or of a part of them (`followed_sectors`). Counts of sectors stay exact: the followed
         ones are scaled to them, instruction by instruction.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace
from warpbound.memory import dram, l2_priorities, pending_hits, requests, warp_runahead
from warpbound.memory.block_neighbours import Grid
from warpbound.memory.block_sectors import block_sectors
from warpbound.memory.caches import READ, WRITE
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.followed_sectors import SECTORS_FOLLOWED, choose_sectors, loads_of, used_rows
from warpbound.memory.footprint import Sampled, array_of
from warpbound.memory.gathered_data import gathering
from warpbound.memory.hierarchy import (
    L1,
    Facts,
    Levels,
    Near,
    Rows,
    Schedule,
    block_of_warp,
    gathering_together,
    generations,
    levels,
    moments,
    moments_of_rows,
    near,
    order_of_rows,
)
from warpbound.memory.requests import SectorList
from warpbound.memory.sampled_accesses import Reals, Space, Spaces, added, local_array
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes
from warpbound.quick_dataclasses import dataclass

WORD_B = 4  # a row of an access of local memory


@dataclass(frozen=True)
class How:
    """Options of the cache model.

    cache : "warm", the launch is one of a loop of equal launches, or "cold", caches are empty before it.
    method : "estimate" from stack distances, or "exact", a simulation of every access.
    arrays : (address, bytes) of the launch's arrays in global memory, which bound the data of other blocks;
    None: those of the trace.
    weights : blocks of the grid that each sampled block represents, (b,); None: all the same.
    grid : blocks along x, y and z, which define neighbours; None: unknown, all in one row.
    of_class : number of the class of blocks that each sampled block is of, (b,); None: all alike.
    length : instructions that the classes' evaluation counts for each sampled block, (b,), by which classes without a
    sampled block are interpolated; None: there are none.
    sector_limit : sectors beyond which not all lines are followed. persisting : the array whose lines persist in L2.
    """

    cache: str = "warm"
    method: str = "estimate"
    arrays: dram.Arrays | None = None
    weights: Reals | None = None
    grid: Grid | None = None
    of_class: NDArray[np.int64] | None = None
    length: Reals | None = None
    sector_limit: int = SECTORS_FOLLOWED
    persisting: str | None = None


@dataclass(frozen=True)
class PastL1:
    """The followed sectors of sampled blocks past the L1s, and the facts that decide which level serves them.

    part : share of all lines that is followed. priority : of each array and of what is in none, (arrays + 1,).
    """

    sectors: SectorList
    near: Near
    rows: Rows
    dram_sectors: dram.SampledSectors
    sample: Sampled
    arrays: dram.Arrays
    machine: Facts
    part: float
    priority: NDArray[np.int64]
    how: How


@dataclass(frozen=True)
class ServedSectors:
    """The followed sectors, first global then local ones, with the level that serves them, (m,) each.

    weight : sectors of the launch that each represents. sampled_loads : loads in the sample by instruction, followed
    or not, (instructions,). answered_with : place of the sector with which each is answered, if that is under way;
    else its own.
    """

    instruction: NDArray[np.int32]
    row: NDArray[np.int64]
    line: NDArray[np.int64]
    kind: NDArray[np.int8]
    weight: Reals
    past_l1: PastL1
    sampled_loads: Reals
    answered_with: NDArray[np.int64]
    levels: Levels
    traffic: dram.DramTraffic

    @property
    def part(self) -> float:
        """Share of all lines that is followed."""
        return self.past_l1.part

    @property
    def l1_hits(self) -> float:
        """Sectors of the launch that L1 serves."""
        return float(self.weight[self.levels.level == L1].sum())

    @property
    def l1_repeats(self) -> float:
        """Sectors of the launch that an L1 of unlimited size would serve."""
        return float(self.weight[self.levels.repeated].sum())

    @property
    def l2_misses(self) -> float:
        """Sectors of the launch that DRAM delivers, also those that L2 completes because a store has a part of them."""
        return float((self.weight * self.traffic.share).sum()) + self.traffic.completed / SECTOR_B

    @property
    def led_misses(self) -> float:
        """Loaded sectors of the launch that miss L1 although older warps run ahead."""
        return float(self.weight[self.levels.led & (self.levels.level != L1)].sum())

    @property
    def together(self) -> float:
        """Loaded sectors of the launch that miss L1 and that all SMs load at once."""
        return float(self.weight[self.levels.together >= 0].sum())

    @property
    def cut(self) -> float:
        """Stored sectors of the launch of which a store changes a part."""
        return float(self.weight[self.past_l1.dram_sectors.partly].sum())

    @property
    def far(self) -> float:
        """Loaded sectors of the launch that the far partition of L2 serves."""
        return float((self.weight * self.traffic.far)[self.kind == READ].sum())

    def sectors_from(self, size: int) -> Reals:
        """Loaded sectors by instruction from L1, L2 and DRAM, (instructions, 3)."""
        loads = self.kind == READ
        in_l1, share = self.levels.level[loads] == L1, self.traffic.share[loads]
        parts = np.stack([in_l1, ~in_l1 * (1.0 - share), share], axis=1) * self.weight[loads, None]
        return np.stack([added(self.instruction[loads], part, size) for part in parts.T], axis=1)

    def far_share(self, size: int) -> Reals:
        """Share of the far partition in the loaded sectors that L2 serves, (instructions,)."""
        loads = self.kind == READ
        far = added(self.instruction[loads], (self.weight * self.traffic.far)[loads], size)
        return np.minimum(1.0, _ratio(far, self.sectors_from(size)[:, 1]))

    def requests_from(self, size: int, loads: Reals) -> Reals:
        """Loads by the level of their slowest sector, (instructions, 3); loads : by instruction.

        Lines of a load that were not followed are assumed to be like those that were.
        """
        return self._slowest(size, loads, np.arange(len(self.row)))

    def waits_from(self, size: int, loads: Reals) -> Reals:
        """The same, by the level that loads wait for: a hit on a line under way waits for the level of the miss."""
        return self._slowest(size, loads, self.answered_with)

    def _slowest(self, size: int, loads: Reals, by: NDArray[np.int64]) -> Reals:
        level, share = self.levels.level[by], self.traffic.share[by]
        if self.part < 1:
            return self._by_pairs(size, loads, level, share)
        own = np.flatnonzero(self.kind == READ)
        starts = np.flatnonzero(np.diff(self.row[own], prepend=-1))
        if not len(starts):
            return np.zeros((size, 3))
        from_dram = np.maximum.reduceat(share[own], starts)
        all_l1 = np.maximum.reduceat(level[own], starts) == L1
        slowest = np.stack([all_l1, ~all_l1 * (1.0 - from_dram), from_dram], axis=1)
        at = self.instruction[own][starts]
        result = np.stack([added(at, part, size) for part in slowest.T], axis=1)
        return result * _ratio(loads, result.sum(axis=1))[:, None]

    def _by_pairs(self, size: int, loads: Reals, level: NDArray[np.int8], share: Reals) -> Reals:
        """Loads by the level of their slowest line, from how often one level serves two lines of a load.

        Where no two lines of a load were followed, which is usual for neighbouring ones, all of them fare like one:
        whoever asks for the first line asks for the others at the same time.
        """
        own = np.flatnonzero(self.kind == READ)
        row, line = self.row[own], self.line[own]
        begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(line, prepend=-1) != 0))
        if not len(begins):
            return np.asarray([0.0, 0.0, 1.0] * loads[:, None])
        at = self.instruction[own[begins]]
        lines = np.maximum(1.0, _ratio(np.bincount(at, minlength=size) / self.part, self.sampled_loads))
        two = np.flatnonzero(np.diff(row[begins]) == 0)
        from_l1 = np.minimum.reduceat((level[own] == L1).astype(np.float64), begins)
        not_dram = 1 - np.maximum.reduceat(share[own], begins)
        whole = []
        for counts in (from_l1, not_dram):
            single = _mean_by(at, counts, np.full(size, counts.mean()))
            both = _mean_by(at[two], np.minimum(counts[two], counts[two + 1]), single)
            whole.append(_all_alike(single, both, lines))
        in_l1, in_l2 = whole[0], np.maximum(*whole)
        return np.asarray(np.stack([in_l1, in_l2 - in_l1, 1 - in_l2], axis=1) * loads[:, None])


def serve(program: Program, trace: Trace, scene: tuple[Spaces, Facts, Schedule], how: How) -> ServedSectors:
    """Sectors through L1, L2 and DRAM."""
    spaces, machine, plan = scene
    parts = (spaces.global_, spaces.words)
    size, loads = len(program.instructions), loads_of(parts, len(program.instructions))
    sectors_of_all, share = choose_sectors(parts, how.sector_limit)
    row_choice, followed_sectors = used_rows(parts, sectors_of_all, share)
    instruction = np.concatenate([part.accesses.instruction for part in parts])[row_choice]
    kind = np.concatenate([part.cost.kind for part in parts])[row_choice]
    weight = np.concatenate([part.weight for part in parts])[row_choice]
    warp = np.concatenate([part.accesses.warp for part in parts])[row_choice]
    when = moments_of_rows(trace, (parts[0].accesses, parts[1].accesses))
    end, when = float(when.max(initial=0.0)) + 0.5, when[row_choice]
    at, block = followed_sectors.row, block_of_warp(trace)[warp]
    totals = np.sum([part.by_instruction(part.cost.sectors, size) for part in parts], axis=0)
    exactly = _ratio(totals, added(instruction[at], weight[at], size))[instruction[at]]
    lane_B = _bytes_of_lane(program, parts)[row_choice][at]
    partly = (kind[at] == WRITE) & (followed_sectors.addresses * lane_B < SECTOR_B)
    weights = weight[at] * exactly
    pairs = block_sectors(followed_sectors.sector, block[at], plan.turn)
    sectors = dram.SampledSectors(followed_sectors.sector, kind[at], block[at], weights, partly, pairs)
    arrays = tuple((start, size) for _, start, size in trace.arrays) if how.arrays is None else how.arrays
    if len(parts[1].weight):
        arrays = (*arrays, local_array(program, trace, machine))
    at_once = machine.sm_count * machine.blocks_per_sm
    repeated = sum(float(part.accesses.repeated(part.cost.kind == READ).sum()) for part in parts)
    gathered = _gathered(gathering(program)[instruction[at]], followed_sectors.sector, arrays)
    sample = _sample(trace, how, at_once, repeated / len(trace.warps), gathered)
    bypass = np.array([requests.bypasses_l1(instruction) for instruction in program.instructions] or [False])

    def rows_by(own: Schedule) -> Rows:
        rank, ahead = step_and_age(program, (trace, own), warp, (when, end))
        where = own.sm[block], own.turn[block], when.astype(np.int64), own.l1_share[block]
        return Rows(kind, ~bypass[instruction], rank, ahead, *where)

    rows = in_l1 = rows_by(plan)
    if gathered is not None and len(trace.blocks) < trace.of_blocks:
        in_l1 = rows_by(gathering_together(trace, machine))
    from_l1 = near(followed_sectors, in_l1, machine, share, how.method)
    streamed = l2_priorities.streams(program.instructions)[instruction[at]]
    priority = _priority(trace, followed_sectors, arrays, streamed, how.persisting)
    past_l1 = PastL1(followed_sectors, from_l1, rows, sectors, sample, arrays, machine, share, priority, how)
    where = (instruction[at], at, followed_sectors.sector >> 2, sectors.kind, sectors.weight)
    with_miss = _answered_with(program, trace, (parts[0].accesses, sectors_of_all.row), past_l1)
    return ServedSectors(*where, past_l1, loads, with_miss, *beyond(past_l1))


def _sample(trace: Trace, how: How, at_once: int, loads: float, gathered: NDArray[np.bool_] | None) -> Sampled:
    """The sampled blocks among those of the grid. A persistent block is as many blocks as it has rounds: each reaches
    other data."""
    of_blocks, grid, weights = trace.of_blocks, how.grid or (trace.of_blocks,), how.weights
    if trace.rounds > 1:
        of_blocks = round(of_blocks * trace.rounds)
        grid, weights = (of_blocks,), None if weights is None else weights * trace.rounds
    return Sampled(trace.blocks, of_blocks, at_once, grid, loads, weights, how.of_class, gathered)


def _gathered(own: NDArray[np.bool_], sector: NDArray[np.int64], arrays: dram.Arrays) -> NDArray[np.bool_] | None:
    """The arrays with such sectors, (arrays + 1,); own : sectors accessed at places that loaded values decide."""
    if not own.any():
        return None
    return np.bincount(array_of(sector[own], arrays), minlength=len(arrays) + 1) > 0


def _priority(
    trace: Trace, sectors: SectorList, arrays: dram.Arrays, streamed: NDArray[np.bool_], name: str | None
) -> NDArray[np.int64]:
    """The priority in L2 of each array and of what is in none; name : of the one that persists."""
    starts = {start for own, start, _ in trace.arrays if own == name}
    persisting = np.array([start in starts for start, _ in arrays], bool)
    if not persisting.any() and not streamed.any():
        return np.full(len(arrays) + 1, l2_priorities.USUAL)
    return l2_priorities.of_arrays(array_of(sectors.sector, arrays), streamed, persisting)


def _answered_with(
    program: Program, trace: Trace, in_global: tuple[Accesses, NDArray[np.int64]], past_l1: PastL1
) -> NDArray[np.int64]:
    """As of `ServedSectors`: for loads of global memory, by the longest recorded warp's waits.

    in_global : the accesses of global memory; the row of each followed sector among these and others behind them.
    """
    at, (accesses, among_all) = past_l1.sectors.row, in_global
    own = np.flatnonzero((past_l1.rows.kind[at] == READ) & (among_all < len(accesses.warp)))
    result = np.arange(len(at))
    if not trace.streams or not past_l1.near.hit[own].any():
        return result
    recorded = np.zeros(len(program.instructions), bool)
    recorded[accesses.instruction] = True
    stream = max(trace.streams.values(), key=len)
    warp = accesses.warp.astype(np.int64)
    when = moments(warp, np.bincount(warp)).astype(np.int64)[among_all[own]]
    resident = (past_l1.rows.turn * past_l1.machine.sm_count + past_l1.rows.sm)[at[own]]
    way_of_warp = pending_hits.access_order(program.instructions, stream, recorded)
    sectors, rank, hit = past_l1.sectors.sector[own], past_l1.rows.rank[at[own]], past_l1.near.hit[own]
    loaded = pending_hits.Loaded(sectors, resident, rank, hit, when)
    with_miss = pending_hits.answered_with(loaded, way_of_warp)
    result[own] = own[with_miss]
    return result


def _bytes_of_lane(program: Program, parts: tuple[Space, Space]) -> NDArray[np.int64]:
    """Bytes of one lane in each row of both spaces, (n,)."""
    each = np.array([lane_bytes(instruction) for instruction in program.instructions] or [0], np.int64)
    whole, words = (each[part.accesses.instruction] for part in parts)
    return np.concatenate([whole, np.minimum(WORD_B, words)])


def beyond(past_l1: PastL1) -> tuple[Levels, dram.DramTraffic]:
    """The levels that serve the sectors past L1, and the DRAM traffic of the launch."""
    x = past_l1
    prints = dram.L2Footprints(x.dram_sectors, x.sample, x.arrays, x.machine, x.part, x.priority)
    how = past_l1.how.method, past_l1.how.cache if prints.complete else "cold"
    where = past_l1.machine, past_l1.part, prints.shares_of_l2(), prints.priority
    result = levels(past_l1.sectors, past_l1.rows, past_l1.near, where, how)
    return result, dram.dram_traffic(prints, result, past_l1.how.cache)


def step_and_age(
    program: Program,
    scene: tuple[Trace, Schedule],
    warp: NDArray[np.int32],
    when_and_end: tuple[NDArray[np.float64], float],
) -> tuple[NDArray[np.int64], Callable[[float], NDArray[np.int64]] | None]:
    """Rank in time of every row when warps keep step, and a function of the rank when a share of them leads.

    warp : of each row. when_and_end : time of the row in step, since that warp began; a time behind all rows. With
    barriers, warps of a block keep step: the function is None.
    """
    (trace, plan), (when, end) = scene, when_and_end
    in_step = order_of_rows(trace, plan, warp, when)
    if any(instruction.traits.waits_for for instruction in program.instructions):
        return in_step, None

    def ahead(leaders: float) -> NDArray[np.int64]:
        generation = generations(trace, plan, leaders)[warp]
        return order_of_rows(trace, plan, warp, warp_runahead.delayed(when, generation, end))

    return in_step, ahead


def _ratio(above: Reals, below: Reals) -> Reals:
    """above / below, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _mean_by(instruction: NDArray[np.int32], values: Reals, otherwise: Reals) -> Reals:
    """Mean value by instruction, (instructions,); `otherwise` where an instruction has none."""
    size = len(otherwise)
    times = np.bincount(instruction, minlength=size).astype(np.float64)
    return np.where(times > 0, _ratio(added(instruction, values, size), times), otherwise)


def _all_alike(single: Reals, both: Reals, count: Reals) -> Reals:
    """Probability that `count` lines of a load all hit, from the probability that one does and that two do.

    The beta-binomial law: independence where both = single^2, all or none where both = single.
    """
    spread = single * (1 - single)
    alike = np.clip(np.divide(both - single**2, spread, out=np.zeros_like(single), where=spread > 1e-9), 1e-6, 1 - 1e-6)
    a, b = (np.maximum(share, 1e-12) * (1 - alike) / alike for share in (single, 1 - single))
    gamma = np.vectorize(math.lgamma, otypes=[np.float64])
    beyond = np.exp(gamma(a + count) - gamma(a) - gamma(a + b + count) + gamma(a + b))
    return np.minimum(single, np.where(spread > 1e-9, beyond, single))
