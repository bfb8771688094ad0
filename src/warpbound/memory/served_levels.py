"""Answers: which level of the hierarchy delivers what, for every load of a sample and for the launch.

Source   Following a fixed random part of the lines through caches made smaller in proportion: C. Waldspurger et
         al., "Efficient MRC construction with SHARDS", FAST 2015.
Models   All lines are followed while they make no more than SECTORS_FOLLOWED sectors; beyond, that many, chosen
         by a hash of the line, but at least LINES_FOLLOWED lines. Counts of sectors stay exact: what was
         followed is scaled to them, instruction by instruction.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Trace
from warpbound.memory import dram, requests, warp_runahead
from warpbound.memory.block_neighbours import Grid
from warpbound.memory.caches import READ
from warpbound.memory.footprint import Sampled
from warpbound.memory.hierarchy import (
    L1,
    Facts,
    Levels,
    Near,
    Rows,
    Schedule,
    block_of_warp,
    generations,
    levels,
    moments_of_rows,
    near,
    order_of_rows,
)
from warpbound.memory.requests import SectorList
from warpbound.memory.sampled_accesses import Reals, Space, Spaces, added, local_array
from warpbound.memory.sorted_order import distinct
from warpbound.program.kernel import Program

SECTORS_FOLLOWED = 500_000
LINES_FOLLOWED = 2048


@dataclass(frozen=True)
class How:
    """How to look at a sample.

    cache : "warm", the launch is one of a loop of equal launches, or "cold", caches are empty before it.
    method : "estimate" from stack distances, or "exact", a simulation of every access.
    arrays : (address, bytes) of the launch's arrays in global memory; they bound what other blocks touch;
    None: those that the trace names.
    weights : blocks of the grid that each sampled block stands for, (b,); None: all the same.
    grid : blocks along x, y and z, which tells neighbours; None: not known, all in one row.
    """

    cache: str = "warm"
    method: str = "estimate"
    arrays: dram.Arrays | None = None
    weights: Reals | None = None
    grid: Grid | None = None


@dataclass(frozen=True)
class Way:
    """The followed sectors of sampled blocks behind the L1s, and all that decides what answers them there.

    part : of all lines that were followed.
    """

    touched: SectorList
    near: Near
    rows: Rows
    seen: dram.Seen
    sampled: Sampled
    arrays: dram.Arrays
    machine: Facts
    part: float
    how: How


@dataclass(frozen=True)
class Answered:
    """Sectors that were followed, global ones and then local ones, with the level that answers, (m,) each.

    weight : sectors of the launch that each stands for. way : how they came beyond the L1s.
    sampled_loads : loads in the sample by instruction, followed or not, (instructions,).
    """

    instruction: NDArray[np.int32]
    row: NDArray[np.int64]
    line: NDArray[np.int64]
    kind: NDArray[np.int8]
    weight: Reals
    way: Way
    sampled_loads: Reals
    levels: Levels
    moved: dram.Moved

    @property
    def part(self) -> float:
        """Of all lines, those that were followed."""
        return self.way.part

    @property
    def l1_hits(self) -> float:
        """Sectors of the launch that L1 answers."""
        return float(self.weight[self.levels.level == L1].sum())

    @property
    def l1_repeats(self) -> float:
        """Sectors of the launch that an L1 without end would answer."""
        return float(self.weight[self.levels.repeated].sum())

    @property
    def l2_misses(self) -> float:
        """Sectors of the launch that DRAM delivers."""
        return float((self.weight * self.moved.share).sum())

    @property
    def led_misses(self) -> float:
        """Loaded sectors of the launch that L1 lacks although older warps run ahead."""
        return float(self.weight[self.levels.led & (self.levels.level != L1)].sum())

    @property
    def together(self) -> float:
        """Loaded sectors of the launch that L1 lacks and all SMs ask for at once."""
        return float(self.weight[self.levels.together >= 0].sum())

    @property
    def far(self) -> float:
        """Loaded sectors of the launch that come from beyond the reader's side of L2, but not from DRAM."""
        return float((self.weight * self.moved.far)[self.kind == READ].sum())

    def sectors_from(self, size: int) -> Reals:
        """Loaded sectors by instruction from L1, L2 and DRAM, (instructions, 3)."""
        loads = self.kind == READ
        in_l1, share = self.levels.level[loads] == L1, self.moved.share[loads]
        parts = np.stack([in_l1, ~in_l1 * (1.0 - share), share], axis=1) * self.weight[loads, None]
        return np.stack([added(self.instruction[loads], part, size) for part in parts.T], axis=1)

    def far_share(self, size: int) -> Reals:
        """Part of the loaded sectors that L2 answers which the reader's side of it lacks, (instructions,)."""
        loads = self.kind == READ
        far = added(self.instruction[loads], (self.weight * self.moved.far)[loads], size)
        return np.minimum(1.0, _ratio(far, self.sectors_from(size)[:, 1]))

    def requests_from(self, size: int, loads: Reals) -> Reals:
        """Loads by the level of their slowest sector, (instructions, 3); loads : how many there are of each.

        Where only a part of the lines was followed, the others of a load are taken to be like those.
        """
        if self.part < 1:
            return self._by_pairs(size, loads)
        mine = np.flatnonzero(self.kind == READ)
        starts = np.flatnonzero(np.diff(self.row[mine], prepend=-1))
        if not len(starts):
            return np.zeros((size, 3))
        from_dram = np.maximum.reduceat(self.moved.share[mine], starts)
        all_l1 = np.maximum.reduceat(self.levels.level[mine], starts) == L1
        slowest = np.stack([all_l1, ~all_l1 * (1.0 - from_dram), from_dram], axis=1)
        at = self.instruction[mine][starts]
        found = np.stack([added(at, part, size) for part in slowest.T], axis=1)
        return found * _ratio(loads, found.sum(axis=1))[:, None]

    def _by_pairs(self, size: int, loads: Reals) -> Reals:
        """Loads by the level of their slowest line, from how often two lines of one load are answered alike."""
        mine = np.flatnonzero(self.kind == READ)
        row, line = self.row[mine], self.line[mine]
        begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(line, prepend=-1) != 0))
        if not len(begins):
            return np.asarray([0.0, 0.0, 1.0] * loads[:, None])
        at = self.instruction[mine[begins]]
        lines = np.maximum(1.0, _ratio(np.bincount(at, minlength=size) / self.part, self.sampled_loads))
        two = np.flatnonzero(np.diff(row[begins]) == 0)
        from_l1 = np.minimum.reduceat((self.levels.level[mine] == L1).astype(np.float64), begins)
        not_dram = 1 - np.maximum.reduceat(self.moved.share[mine], begins)
        whole = []
        for found in (from_l1, not_dram):
            one = _mean_by(at, found, size)
            both = _mean_by(at[two], np.minimum(found[two], found[two + 1]), size)
            whole.append(_all_alike(one, both, lines))
        in_l1, in_l2 = whole[0], np.maximum(*whole)
        return np.asarray(np.stack([in_l1, in_l2 - in_l1, 1 - in_l2], axis=1) * loads[:, None])


def answer(program: Program, trace: Trace, scene: tuple[Spaces, Facts, Schedule], how: How) -> Answered:
    """Sectors through L1, L2 and DRAM."""
    spaces, machine, plan = scene
    parts = (spaces.global_, spaces.words)
    instruction, kind, weight, warp = (
        np.concatenate([part.accesses.instruction for part in parts]),
        np.concatenate([part.cost.kind for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.accesses.warp for part in parts]),
    )
    touched, part = _followed(parts)
    at, block = touched.row, block_of_warp(trace)[warp]
    when = moments_of_rows(trace, (parts[0].accesses, parts[1].accesses))
    rank, ahead = step_and_age(program, trace, plan, warp, when)
    size = len(program.instructions)
    totals = np.sum([one.by_instruction(one.cost.sectors, size) for one in parts], axis=0)
    exactly = _ratio(totals, added(instruction[at], weight[at], size))[instruction[at]]
    seen = dram.Seen(touched.sector, kind[at], block[at], plan.turn[block[at]], weight[at] * exactly)
    arrays = tuple((start, size) for _, start, size in trace.arrays) if how.arrays is None else how.arrays
    if len(parts[1].weight):
        arrays = (*arrays, local_array(program, trace, machine))
    at_once = machine.sm_count * machine.blocks_per_sm
    loads_of_a_warp = sum(float(one.accesses.repeated(one.cost.kind == READ).sum()) for one in parts) / len(trace.warps)
    sampled = Sampled(trace.blocks, trace.of_blocks, at_once, how.grid or (trace.of_blocks,), loads_of_a_warp)
    past_l1 = np.array([requests.bypasses_l1(one) for one in program.instructions] or [False])
    rows = Rows(
        kind, ~past_l1[instruction], rank, ahead, plan.sm[block], plan.turn[block], when.astype(np.int64),
        plan.l1_share[block],
    )
    said = near(touched, rows, machine, part, how.method)
    way = Way(touched, said, rows, seen, sampled, arrays, machine, part, how)
    loads = added(instruction, (kind == READ).astype(np.float64), size)
    where = (instruction[at], at, touched.sector >> 2, seen.kind, seen.weight)
    return Answered(*where, way, loads, *beyond(way))


def beyond(way: Way) -> tuple[Levels, dram.Moved]:
    """What L2 and DRAM answer, and what they move for the launch."""
    prints = dram.Prints(way.seen, way.sampled, way.arrays, way.machine, way.part)
    how = way.how.method, way.how.cache if prints.complete else "cold"
    where = way.machine, way.part, prints.shares_of_l2()
    found = levels(way.touched, way.rows, way.near, where, how)
    return found, dram.moved(prints, found, way.how.cache)


def step_and_age(
    program: Program, trace: Trace, plan: Schedule, warp: NDArray[np.int32], when: NDArray[np.float64]
) -> tuple[NDArray[np.int64], Callable[[float], NDArray[np.int64]] | None]:
    """Rank in time of every row when warps keep step, and what gives it when a share of them, the oldest, leads.

    warp : of each row. when : it happens in step, since that warp began. Barriers keep the warps of a block in step:
    then there is but one order.
    """
    in_step = order_of_rows(trace, plan, warp, when)
    if any(one.traits.waits_for for one in program.instructions):
        return in_step, None

    def ahead(leaders: float) -> NDArray[np.int64]:
        generation = generations(trace, plan, leaders)[warp]
        delayed = warp_runahead.delayed(when, generation, float(when.max(initial=0.0)) + 0.5)
        return order_of_rows(trace, plan, warp, delayed)

    return in_step, ahead


def _followed(parts: tuple[Space, Space]) -> tuple[SectorList, float]:
    """The sectors to follow, and which part of all lines they are."""
    count = sum(int(part.cost.sectors.sum()) for part in parts)
    part = min(1.0, SECTORS_FOLLOWED / max(1, count))
    found = _sectors(parts, part)
    if part == 1:
        return found, part
    lines = len(distinct(found.sector >> 2)) / part
    wanted = min(1.0, max(part, LINES_FOLLOWED / max(1.0, lines)))
    return (_sectors(parts, wanted), wanted) if wanted > part else (found, part)


def _sectors(parts: tuple[Space, Space], part: float) -> SectorList:
    """Sectors of the chosen part of the lines, the rows of the second space numbered on from the first's."""
    first, second = (requests.sector_list(one.accesses, part) for one in parts)
    rows = len(parts[0].weight)
    return SectorList(
        np.concatenate([first.row, second.row + rows]), np.concatenate([first.sector, second.sector])
    )


def _ratio(above: Reals, below: Reals) -> Reals:
    """above / below, and 0 where there is nothing below."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


def _mean_by(instruction: NDArray[np.int32], values: Reals, size: int) -> Reals:
    """Mean value by instruction, (instructions,); that of all where an instruction has none."""
    mean = _ratio(added(instruction, values, size), np.bincount(instruction, minlength=size).astype(np.float64))
    mean[np.bincount(instruction, minlength=size) == 0] = values.mean() if len(values) else 0.0
    return mean


def _all_alike(one: Reals, both: Reals, count: Reals) -> Reals:
    """Probability that `count` lines of a load all hit, when one does with that probability and two do with
    that: the beta-binomial law, which is independence where both = one^2, and all or none where both = one.
    """
    spread = one * (1 - one)
    alike = np.clip(np.divide(both - one**2, spread, out=np.zeros_like(one), where=spread > 1e-9), 1e-6, 1 - 1e-6)
    a, b = (np.maximum(share, 1e-12) * (1 - alike) / alike for share in (one, 1 - one))
    gamma = np.vectorize(math.lgamma, otypes=[np.float64])
    beyond = np.exp(gamma(a + count) - gamma(a) - gamma(a + b + count) + gamma(a + b))
    return np.minimum(one, np.where(spread > 1e-9, beyond, one))
