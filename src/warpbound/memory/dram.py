"""DRAM traffic of a whole launch, from the sectors of a sample that missed L2.

Models   A complete sample is simulated as it is. Otherwise, per array: each sector of the launch's footprint is read
         once, and again in later turns of blocks as often as the turns use it, unless L2 kept it: data of neighbours
         since the turn before, other data since the row of the grid before, or since an even distribution would bring
         it round, whichever is sooner. Blocks of one turn that share data although they are further apart than the
         footprint's sharing reaches drift apart too, so as much data lies between them as a turn uses. With warm
         caches the first read hits as well, if L2 kept the line since the launch before. An L2 with two partitions
         holds hit lines twice, at home and at the reader; within a launch, where blocks drift, `l2_replication` gives
         what it keeps. With one partition, `l2_cyclic_reuse` gives what is left from launch to launch. Later misses
         within a turn of the sample are scaled like every other count. Where check bits of ECC cover a sector, L2 reads
         a sector that it lacks before it changes a part of it. Arrays of different priority: `l2_priorities`.
Omits    Turns that overlap; sharing that no sampled pair of blocks shows (see `footprint`).
"""

from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory import l2_cyclic_reuse, l2_priorities, l2_replication
from warpbound.memory.block_sectors import BlockSectors
from warpbound.memory.caches import READ, WRITE
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.footprint import Footprint, Sampled, array_of, footprint, ladder
from warpbound.memory.hierarchy import DRAM, Facts, Levels, l2_of
from warpbound.memory.sorted_order import HIGH, first_of_each
from warpbound.quick_dataclasses import dataclass

PER_LINE = 4
LINE_B = PER_LINE * SECTOR_B
ROUNDING = 1e-9  # of lines per sector
FAR = 0.5  # share of the SMs on the side of L2 that does not hold a line
Reals = NDArray[np.float64]
Arrays = tuple[tuple[int, int], ...]  # (address, bytes)


@dataclass(frozen=True)
class SampledSectors:
    """Sectors of the sampled blocks, shape (m,) each.

    block : position of the block in the sample. weight : blocks of the grid that it represents. partly : a store of
    less than the sector. pairs : each sector of each block once.
    """

    sector: NDArray[np.int64]
    kind: NDArray[np.int8]
    block: NDArray[np.int64]
    weight: Reals
    partly: NDArray[np.bool_]
    pairs: BlockSectors


@dataclass(frozen=True)
class DramTraffic:
    """DRAM traffic of the whole launch, bytes.

    share : part of the loads of each sector that DRAM serves, (m,); far : part that the far partition of L2 serves.
    footprint_bytes : of all touched sectors. dirty_bytes : written data still in L2 at the end; with cold caches part
    of `written_bytes`. unordered : reads saved if blocks of one turn used shared data at different times. unpacked :
    reads saved if lines that neighbours share were full. completed : reads of sectors of which a store changed a part.
    unseen : reads of gathered data beyond the fewest that the sample allows.
    """

    share: Reals
    far: Reals
    read_bytes: float
    written_bytes: float
    dirty_bytes: float
    footprint_bytes: float
    unordered: float = 0.0
    unpacked: float = 0.0
    completed: float = 0.0
    unseen: float = 0.0


class L2Footprints:
    """Footprints of the sampled sectors, and how long L2 keeps them.

    part : share of all lines that is followed; footprints count these alone. priority : of each array and of what is in
    none, (arrays + 1,); None: all alike.
    """

    def __init__(  # noqa: PLR0913  (each is one fact of the sample)
        self, sectors: SampledSectors, sample_of_blocks: Sampled, arrays: Arrays, machine: Facts, part: float,
        priority: NDArray[np.int64] | None = None,
    ) -> None:  # fmt: skip
        self.seen, self.sampled, self._arrays, self.part = sectors, sample_of_blocks, arrays, part
        self._priority = np.zeros(len(arrays) + 1, np.int64) if priority is None else priority
        self._array_of_pair = array_of(sectors.pairs.sector, arrays)
        self.array = self._array_of_pair[sectors.pairs.pair]
        self.cache = l2_of(machine, 1.0)
        self._sides_B = machine.l2_sides_bytes
        self._machine = machine
        self._sms = min(machine.sm_count, sample_of_blocks.of_blocks)
        self.all = self._of_pairs(slice(None))
        self._room = np.array([part * (size // LINE_B + 1) for _, size in arrays] + [np.inf])
        lines = footprint(
            sectors.pairs.sector // PER_LINE, sectors.pairs.block, self._array_of_pair, sample_of_blocks, self._room
        )
        self._line_steps = lines.steps
        at_once = _parts(lines.turn + lines.wrapped, self.all.turn + self.all.wrapped)
        lone, self._at_once, sample = (
            np.maximum(1 / PER_LINE, ratio)
            for ratio in (_parts(lines.lone, self.all.lone), at_once, _parts(lines.sample, self.all.sample))
        )
        self._lone, self._lines_per_sector = lone, np.minimum(sample, self._at_once)
        under_way = float(((self.all.turn + self.all.wrapped) * self._lines_per_sector).sum())
        self._spread_lines = l2_replication.spread_of(under_way, sample_of_blocks.loads)
        in_launch = np.minimum(self.all.launch * self._lines_per_sector, self._room)
        size = self._sides_B / LINE_B if self._sides_B else self.cache.lines
        self._share = l2_priorities.shares(in_launch, max(1.0, part * size), self._priority)

    def packed(self) -> "L2Footprints":
        """The traffic if other blocks use the rest of the lines that neighbours share."""
        other = copy(self)
        shared = self._at_once < self._lone - ROUNDING
        other._lines_per_sector = np.where(shared, 1 / PER_LINE, self._lines_per_sector)
        return other

    def lines(self, sectors: Reals) -> Reals | float:
        """Lines of so many sectors of each array, in the proportion of a turn, at most the array's lines.

        All of them or, where arrays differ in priority, those that compete with each array's.
        """
        return self._competing(np.minimum(sectors * self._lines_per_sector, self._room))

    def _competing(self, lines: Reals) -> Reals | float:
        return l2_priorities.competing(lines, self._priority, self._share)

    @property
    def priority(self) -> NDArray[np.int64]:
        """The priority of each sector's array, (m,)."""
        return np.asarray(self._priority[self.array])

    @property
    def complete(self) -> bool:
        """Whether every block of the grid was sampled."""
        return len(self.sampled.blocks) >= self.sampled.of_blocks

    def shares_of_l2(self) -> Reals:
        """Share of the sampled blocks in the data that the turn of each sector uses at once, (m,)."""
        pairs = self.seen.pairs
        by_priority = self._share[self.array]
        if self.complete:
            return by_priority
        names, turn_of_block = np.unique(pairs.turn, return_inverse=True)
        turn = turn_of_block[pairs.block]
        first = first_of_each(turn << HIGH | pairs.sector)
        own = np.bincount(turn[first], self._lone[self._array_of_pair[first]], len(names))
        begins = names // self._machine.blocks_per_sm * self.sampled.at_once
        full = np.minimum(1.0, (self.sampled.of_blocks - begins) / min(self.sampled.at_once, self.sampled.of_blocks))
        in_turn = full * float((self.all.turn * self._at_once).sum())
        return np.asarray(np.minimum(1.0, own / np.maximum(1.0, in_turn))[turn][pairs.pair] * by_priority)

    def of(self, rows: NDArray[np.bool_]) -> Footprint:
        """Footprint of the chosen sectors."""
        return self._of_pairs(self.seen.pairs.marked(rows))

    def _of_pairs(self, rows: NDArray[np.bool_] | slice) -> Footprint:
        pairs = self.seen.pairs
        room = np.array([self.part * (size // SECTOR_B + 1) for _, size in self._arrays] + [np.inf])
        return footprint(pairs.sector[rows], pairs.block[rows], self._array_of_pair[rows], self.sampled, room)

    def completed(self, levels: Levels) -> NDArray[np.bool_]:
        """Stores of parts of sectors that L2 reads for them: first accesses of a turn, (m,)."""
        return levels.first & self.seen.partly & self._machine.completes

    def once_a_turn(self, rows: NDArray[np.bool_]) -> int:
        """Number of different sectors of the chosen accesses, counted in each turn anew."""
        pairs = self.seen.pairs
        own = pairs.marked(rows)
        _, turn = np.unique(pairs.turn, return_inverse=True)
        return len(distinct(turn[pairs.block[own]] << HIGH | pairs.sector[own])) if own.any() else 0

    def transfers(self, part: Footprint, cache: str) -> Reals:
        """Sectors per array that cross the L2's lower edge in one direction, (arrays + 1,)."""
        return np.asarray(sum(count * (1 - hits) for count, _, hits in self.visits(part, cache, 0.0)))

    def visits(
        self, part: Footprint, cache: str, together: Reals | float
    ) -> list[tuple[Reals, Reals | float, Reals | float]]:
        """First accesses of turns: number per array, lines used in between, share that L2 kept.

        together : share of them, by array, that all SMs do at once; both partitions hold those lines and keep the last
        ones.
        """
        at_once = min(self.sampled.at_once, self.sampled.of_blocks)
        turns = self.sampled.of_blocks / at_once
        again = np.maximum(0.0, turns * part.turn - part.launch)
        near = np.minimum(again, turns * (part.turn - part.fresh))  # shared with the turn before
        in_turn, in_row, in_launch = (self.lines(each) for each in (self.all.turn, self.all.row, self.all.launch))
        visits = turns * part.fresh / np.maximum(part.launch, 1.0)  # of a sector, by unrelated blocks
        even = np.minimum(in_launch, turns * in_turn / np.maximum(visits, 1e-9))
        apart = np.minimum(even, np.maximum(in_row, in_turn))
        rows: list[tuple[Reals, Reals | float, Reals | float]] = [
            (part.launch, even, self.kept(even) if cache == "warm" else 0.0),
            (near, in_turn, self._unless_gathered(part, self.survival(in_turn))),
            (again - near, apart, self._unless_gathered(part, self.survival(apart))),
            (turns * part.wrapped, in_turn, self._unless_gathered(part, self.survival(in_turn))),
        ]
        twice = np.multiply(together, self.two_sides)
        return [(count, lines, np.minimum(hits, 1 - twice * self._too_many(lines))) for count, lines, hits in rows]

    def unordered(self, part: Footprint) -> float:
        """Further sectors that L2 would keep if accesses to data that a turn's blocks share were spread over it; for
        gathered data, which are spread by chance, half the difference that equal distances would make."""
        at_once = min(self.sampled.at_once, self.sampled.of_blocks)
        in_turn, accesses = self.lines(self.all.turn), part.turn + part.wrapped
        more = np.maximum(0.0, self.survival(in_turn * _parts(part.turn, accesses)) - self.survival(in_turn))
        if self.sampled.gathered is not None:
            apart = np.minimum(in_turn, in_turn * _parts(part.launch, accesses))
            by_growth = self._unless_gathered(part, self.survival(in_turn))
            more = np.where(self.sampled.gathered, np.abs(self.survival(apart) - by_growth) / 2, more)
        return self.sampled.of_blocks / at_once * float((part.wrapped * more).sum())

    def _unless_gathered(self, part: Footprint, hits: Reals) -> Reals:
        """The share that L2 kept since the access before; of gathered data, which any block may access at any time, by
        how many blocks lie between the two: as many as a further block needs to find its data touched already."""
        if part.steps is None or self._line_steps is None or self.sampled.gathered is None:
            return hits
        blocks = np.diff(ladder(self.sampled))[:, None]
        new = np.minimum.accumulate(np.diff(part.steps, axis=0) / blocks)
        ends = -np.diff(new, axis=0, append=new[-1:])  # of the accesses, those with so many blocks since the last one
        all_ends = ends.sum(axis=0)
        lines = np.stack([np.broadcast_to(self._competing(each), each.shape) for each in self._line_steps[1:]])
        of_gathered = _parts((ends * self.survival(lines)).sum(axis=0), all_ends)
        return np.where(self.sampled.gathered & (all_ends > 0), of_gathered, hits)

    def survival(self, lines: Reals | float) -> Reals:
        """Probability that a sector is still in L2 after that many other lines, within a launch."""
        if self._sides_B:
            return 1.0 - l2_replication.missed(lines, self._sides_B * self.part / LINE_B, self._spread_lines)
        return np.asarray(np.asarray(lines) / self.part < self.cache.lines, np.float64)

    def kept(self, lines: Reals | float) -> Reals:
        """Share of the lines still in L2 when the next launch reads them, after that many others."""
        if self._sides_B:
            return self._in_order(lines)
        return l2_cyclic_reuse.kept_share(np.asarray(lines) / self.part / self.cache.lines, *self._changed)

    @cached_property
    def _changed(self) -> tuple[Reals, float]:
        """Share of the footprint that the launch writes, by array and of all."""
        changes = self.of(self.seen.kind != READ).launch * self._lines_per_sector
        lines = self.all.launch * self._lines_per_sector
        share = float(changes.sum() / max(1.0, lines.sum()))
        return np.minimum(1.0, _parts(changes, lines)), min(1.0, share)

    def _in_order(self, lines: Reals | float) -> Reals:
        """Share k of lines that an L2 with two partitions keeps until they are read again in the same order.

        A line that hits is then held on the reader's side, too; a line from DRAM is held once. The hits leave just
        enough room for the copies: lines (1 + FAR k) = size.
        """
        size = self._sides_B * self.part / LINE_B
        return np.clip((size / np.maximum(lines, 1.0) - 1.0) / FAR, 0.0, 1.0)

    def _too_many(self, lines: Reals | float) -> NDArray[np.bool_]:
        """Whether one of two L2 partitions cannot hold so many lines."""
        return np.asarray(np.multiply(lines, 2 * LINE_B) > self._sides_B * self.part)

    def far(self, lines: Reals | float) -> Reals:
        """Share of the hits that only the other partition has, where either side is as likely to read them.

        If a launch uses this many lines, L2 has room for a second copy of size / lines - 1 of the hits, at most of
        all and, as long as DRAM sends the others once, at least of FAR; a single copy is on the reader's side half
        of the time.
        """
        size = self._sides_B * self.part / LINE_B
        copies = np.clip(size / np.maximum(lines, 1.0), 1.0 + FAR, 2.0)
        return np.asarray((1.0 - copies / 2.0) * self.two_sides)

    @property
    def two_sides(self) -> bool:
        """Whether L2 has a near and a far side."""
        return self._sides_B > 0

    def delivered(self, levels: Levels) -> Reals:
        """Part of each sector that DRAM serves in the sample, (m,); loads of all SMs at once are served once."""
        return np.where(levels.once, 1.0 / self._sms, levels.level == DRAM)


def dram_traffic(prints: L2Footprints, levels: Levels, cache: str) -> DramTraffic:
    """DRAM traffic of the launch; cache : "warm" or "cold"."""
    if prints.complete:
        return _complete(prints, levels, cache)
    sectors, sample, sector_B = prints.seen, prints.sampled, SECTOR_B / prints.part
    first = levels.first & (sectors.kind != WRITE)
    fetched = prints.of(sectors.pairs.same_sector(first) & (sectors.kind != WRITE))
    weights = sectors.weight[first], sectors.weight[first] * (levels.together[first] >= 0)
    kinds = len(fetched.launch)
    scaled, at_once = (np.bincount(prints.array[first], values, kinds).astype(np.float64) for values in weights)
    visits = prints.visits(fetched, cache, _parts(at_once, scaled))
    missing, crossing, lacking = (each[prints.array] for each in _first_touches(prints, visits, scaled))
    share = np.where(first, missing, prints.delivered(levels))
    far = np.maximum(levels.far, _largest_of(levels.together, first * lacking)) * (1.0 - share)
    alone = first & (levels.together < 0)
    far[alone] = crossing[alone]
    changed = sectors.kind != READ
    changes = prints.of(changed)
    again = levels.written_back + levels.left_dirty - prints.once_a_turn(changed)
    again = max(0.0, again) * sample.of_blocks / len(sample.blocks)
    footprint_B = sector_B * float(prints.all.launch.sum())
    completed = sector_B * float(prints.transfers(prints.of(prints.completed(levels)), cache).sum())
    return DramTraffic(
        share,
        far,
        round(SECTOR_B * float((share * sectors.weight).sum()) + completed, 3),
        sector_B * (float(prints.transfers(changes, cache).sum()) + again),
        sector_B * float(changes.launch.sum()) * min(1.0, prints.cache.bytes / max(1.0, footprint_B)),
        footprint_B,
        sector_B * prints.unordered(fetched),
        sector_B * (_lost(visits) - _lost(prints.packed().visits(fetched, cache, _parts(at_once, scaled)))),
        completed,
        sector_B * float((fetched.launch - fetched.least).sum()),
    )


def _lost(visits: list[tuple[Reals, Reals | float, Reals | float]]) -> float:
    """Sectors that DRAM sends for these accesses."""
    return float(sum(np.sum(count * (1 - hits)) for count, _, hits in visits))


def _first_touches(
    prints: L2Footprints, visits: list[tuple[Reals, Reals | float, Reals | float]], scaled: Reals
) -> tuple[Reals, Reals, Reals]:
    """First accesses of turns, by array: parts that DRAM and the far partition serve, of those that the sample stands
    for (`scaled`), and the probability that the reader's partition lacks the sector.
    """
    each = [(count, count * (1 - hits), count * hits * prints.far(lines)) for count, lines, hits in visits]
    count, lost, across = (np.asarray(sum(values)) for values in zip(*each, strict=True))
    missing = np.minimum(1.0, _parts(lost / prints.part, scaled))
    crossing = np.minimum(1.0 - missing, _parts(across / prints.part, scaled))
    return missing, crossing, prints.two_sides * _parts(lost + across, count)


def _parts(some: Reals, of_all: Reals) -> Reals:
    return np.divide(some, of_all, out=np.zeros_like(of_all), where=of_all > 0)


def _largest_of(group: NDArray[np.int64], values: Reals) -> Reals:
    """The largest value of the same group, (m,); 0 for group -1, which is none."""
    largest = np.zeros(int(group.max(initial=-1)) + 2)  # the last one is that of -1
    np.maximum.at(largest, group, values)
    largest[-1] = 0.0
    return largest[group]


def _complete(prints: L2Footprints, levels: Levels, cache: str) -> DramTraffic:
    """The traffic where every block was sampled: the counts of the simulation."""
    sectors = prints.seen
    share = prints.delivered(levels)
    dirty_sectors = levels.written_back + (levels.left_dirty if cache == "cold" else 0.0)
    counts = (dirty_sectors, levels.left_dirty, sectors.pairs.sectors)
    completed = SECTOR_B / prints.part * len(distinct(sectors.sector[prints.completed(levels)]))
    read_bytes = round(SECTOR_B * float((share * sectors.weight).sum()) + completed, 3)
    missed = _largest_of(levels.together, levels.level == DRAM) * prints.two_sides
    far = np.maximum(levels.far, missed) * (1.0 - share)
    written_bytes, dirty_bytes, footprint_bytes = (SECTOR_B / prints.part * float(count) for count in counts)
    return DramTraffic(share, far, read_bytes, written_bytes, dirty_bytes, footprint_bytes, completed=completed)
