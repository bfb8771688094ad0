"""DRAM: from the sectors that missed L2 in a sample to the bytes that a whole launch reads and writes.

Models   A complete sample was simulated as it is. Otherwise, per array: each sector of the launch's footprint
         is read once, and again in later turns of blocks as often as the turns touch it, unless L2 kept it:
         what neighbours share since the turn before, the rest since the row of the grid before, or since it
         came round evenly, whichever is sooner. Blocks of one turn that share data although they are further apart
         than all data reach drift apart too, so that it is as long until they come round. With warm caches the
         first read, too, hits if L2 kept it since it came round in the launch before. An L2 with two sides holds lines
         that are found twice, on their own side and the reader's. Later misses within a turn of the sample are scaled
         like every other count.
Omits    Turns that overlap; sharing that no sampled pair of blocks shows (see `footprint`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import READ, WRITE
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.footprint import Footprint, Sampled, array_of, footprint
from warpbound.memory.hierarchy import DRAM, Facts, Levels, l2_of
from warpbound.memory.reuse import survival

LINE_B = 4 * SECTOR_B
FAR = 0.5  # of the SMs are on the side of L2 that does not hold a line
Reals = NDArray[np.float64]
Arrays = tuple[tuple[int, int], ...]  # (address, bytes)


@dataclass(frozen=True)
class Seen:
    """Sectors that the sampled blocks touched, shape (m,) each.

    block : position of the block in the sample; turn : that it ran in. weight : blocks of the grid that it
    stands for.
    """

    sector: NDArray[np.int64]
    kind: NDArray[np.int8]
    block: NDArray[np.int64]
    turn: NDArray[np.int64]
    weight: Reals


@dataclass(frozen=True)
class Moved:
    """What the whole launch moves, in bytes.

    share : part of each sector's equivalents in the launch that DRAM delivers, (m,). touched : footprint.
    left : changed data still in L2 at the end; with cold caches part of `written`.
    """

    share: Reals
    read: float
    written: float
    left: float
    touched: float


class Prints:
    """Footprints of what was seen, and how long L2 keeps what they leave there.

    part : of all lines that were followed; footprints count those alone.
    """

    def __init__(self, seen: Seen, sampled: Sampled, arrays: Arrays, machine: Facts, part: float) -> None:
        self.seen, self.sampled, self._arrays, self.part = seen, sampled, arrays, part
        self.array = array_of(seen.sector, arrays)
        self.cache = l2_of(machine, 1.0)
        self._sides_B = machine.l2_sides_bytes
        self.all = self.of(np.ones(len(seen.sector), bool))
        self._room = np.array([part * (size // LINE_B + 1) for _, size in arrays] + [np.inf])
        self._lines_per_sector = self._spread()

    def _spread(self) -> Reals:
        """Lines per sector of what the sample touched, by array."""
        kinds = len(self._room)
        sector, first = np.unique(self.seen.sector, return_index=True)
        array = self.array[first]
        new_line = np.concatenate([[True], np.diff(sector >> 2) != 0]) if len(sector) else np.zeros(0, bool)
        lines, sectors = np.bincount(array[new_line], minlength=kinds), np.bincount(array, minlength=kinds)
        return np.divide(lines, sectors, out=np.ones(kinds), where=sectors > 0)

    def lines(self, sectors: Reals) -> float:
        """Lines that so many sectors of each array lie in: as in the sample, but no more than the array has."""
        return float(np.minimum(sectors * self._lines_per_sector, self._room).sum())

    @property
    def complete(self) -> bool:
        """Whether every block of the grid was sampled."""
        return len(self.sampled.blocks) >= self.sampled.of_blocks

    @property
    def share_of_l2(self) -> float:
        """Part of the data in use at once that sampled blocks use, hence the part of L2 that is theirs."""
        turns, sectors = self.once_a_turn(np.ones(len(self.seen.sector), bool))
        largest = np.bincount(turns).max(initial=0) if len(sectors) else 0
        return 1.0 if self.complete else float(min(1.0, largest / max(1.0, self.all.turn.sum())))

    def of(self, chosen: NDArray[np.bool_]) -> Footprint:
        """Footprint of the chosen ones of the seen sectors."""
        seen = self.seen
        room = np.array([self.part * (size // SECTOR_B + 1) for _, size in self._arrays] + [np.inf])
        return footprint(seen.sector[chosen], seen.block[chosen], self.array[chosen], self.sampled, room)

    def once_a_turn(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Turn (numbered from 0) and sector of the chosen ones, each pair once."""
        _, turn = np.unique(self.seen.turn, return_inverse=True)
        pairs = np.unique(turn[chosen] << 44 | self.seen.sector[chosen])
        return pairs >> 44, pairs & (1 << 44) - 1

    def transfers(self, part: Footprint, cache: str) -> Reals:
        """Sectors per array that cross the L2's lower edge in one direction, (arrays + 1,)."""
        at_once = min(self.sampled.at_once, self.sampled.of_blocks)
        turns = self.sampled.of_blocks / at_once
        again = np.maximum(0.0, turns * part.turn - part.launch)
        near = np.minimum(again, turns * (part.turn - part.fresh))  # shared with the turn before
        in_turn, in_row, in_launch = (self.lines(each) for each in (self.all.turn, self.all.row, self.all.launch))
        visits = turns * part.fresh / np.maximum(part.launch, 1.0)  # of a sector, by unrelated blocks
        even = np.minimum(in_launch, turns * in_turn / np.maximum(visits, 1e-9))
        lost_near = 1 - self.survival(in_turn)
        lost_far = 1 - self.survival(np.minimum(even, max(in_row, in_turn)))
        kept = self.kept(even) if cache == "warm" else 0.0
        lost_wrapped = turns * part.wrapped * (1 - self.survival(in_launch))
        return np.asarray(part.launch * (1 - kept) + near * lost_near + (again - near) * lost_far + lost_wrapped)

    def survival(self, lines: Reals | float) -> Reals:
        """Probability that a sector is still in L2 after that many other lines, within a launch."""
        found = survival(np.asarray(lines) / self.part, *self.cache.filled_at_random)
        return np.maximum(found, self._in_order(lines)) if self._sides_B else found

    def kept(self, lines: Reals) -> Reals:
        """Share of the lines that are still in L2 when the next launch comes round to them, after that many others."""
        return self._in_order(lines) if self._sides_B else self.survival(lines)

    def _in_order(self, lines: Reals | float) -> Reals:
        """Share k of lines that L2 with two sides keeps until they come round in the same order.

        A line that is found is then held on the reader's side, too; one that comes from DRAM is held once. As many are
        found as leave just the room for the copies: lines (1 + FAR k) = size.
        """
        size = self._sides_B * self.part / LINE_B
        return np.clip((size / np.maximum(lines, 1.0) - 1.0) / FAR, 0.0, 1.0)


def moved(prints: Prints, levels: Levels, cache: str) -> Moved:
    """DRAM traffic of the launch; cache : "warm" or "cold"."""
    if prints.complete:
        return _complete(prints, levels, cache)
    seen, sampled, sector_B = prints.seen, prints.sampled, SECTOR_B / prints.part
    first = levels.first & (seen.kind != WRITE)
    fetched = prints.of(np.isin(seen.sector, seen.sector[first]) & (seen.kind != WRITE))
    needed = prints.transfers(fetched, cache) / prints.part
    scaled = np.bincount(prints.array[first], seen.weight[first], len(needed))
    factor = np.minimum(1.0, np.divide(needed, scaled, out=np.zeros_like(needed), where=scaled > 0))
    share = (levels.level == DRAM).astype(np.float64)
    share[first] = factor[prints.array[first]]
    changed = seen.kind != READ
    changes = prints.of(changed)
    again = levels.written_back + levels.left_dirty - len(prints.once_a_turn(changed)[0])
    again = max(0.0, again) * sampled.of_blocks / len(sampled.blocks)
    footprint_B = sector_B * float(prints.all.launch.sum())
    return Moved(
        share,
        round(SECTOR_B * float((share * seen.weight).sum()), 3),
        sector_B * (float(prints.transfers(changes, cache).sum()) + again),
        sector_B * float(changes.launch.sum()) * min(1.0, prints.cache.bytes / max(1.0, footprint_B)),
        footprint_B,
    )


def _complete(prints: Prints, levels: Levels, cache: str) -> Moved:
    """Every block was sampled: what the simulation counted."""
    seen = prints.seen
    share = (levels.level == DRAM).astype(np.float64)
    written = levels.written_back + (levels.left_dirty if cache == "cold" else 0.0)
    counts = (written, levels.left_dirty, len(np.unique(seen.sector)))
    read = round(SECTOR_B * float((share * seen.weight).sum()), 3)
    return Moved(share, read, *(SECTOR_B / prints.part * float(count) for count in counts))
