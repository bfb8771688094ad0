"""DRAM: from the sectors that missed L2 in a sample to the bytes that a whole launch reads and writes.

Models   A complete sample was simulated as it is. Otherwise, per array: each sector of the launch's footprint
         is read once, and again in later turns of blocks as often as the turns touch it, unless L2 kept it:
         what neighbours share since the turn before, the rest since it came round evenly. With warm caches
         the first read, too, hits if L2 kept it since the launch before. Misses on a sector that the sample
         touched before are scaled like every other count.
Omits    Turns that overlap; sharing that no sampled pair of blocks shows (see `footprint`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import READ, WRITE, l2
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.footprint import Footprint, Sampled, array_of, footprint
from warpbound.memory.hierarchy import DRAM, Levels
from warpbound.memory.reuse import survival

Reals = NDArray[np.float64]
Arrays = tuple[tuple[int, int], ...]  # (address, bytes)


@dataclass(frozen=True)
class Seen:
    """Sectors that the sampled blocks touched, shape (m,) each, and what answered them.

    block : position of the block in the sample. weight : blocks of the grid that it stands for.
    """

    sector: NDArray[np.int64]
    kind: NDArray[np.int8]
    block: NDArray[np.int64]
    weight: Reals
    levels: Levels


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


def moved(seen: Seen, sampled: Sampled, arrays: Arrays, l2_bytes: int, cache: str) -> Moved:
    """DRAM traffic of the launch; cache : "warm" or "cold"."""
    if len(sampled.blocks) >= sampled.of_blocks:
        return _complete(seen, cache)
    array = array_of(seen.sector, arrays)
    print_ = _Prints(seen, array, sampled, arrays, l2_bytes)
    kept = print_.kept_between_launches if cache == "warm" else 0.0
    share = (seen.levels.level == DRAM).astype(np.float64)
    missed_first = seen.levels.first & (share > 0)
    fetched = print_.of(np.isin(seen.sector, seen.sector[missed_first]) & (seen.kind != WRITE))
    scaled = np.bincount(array[missed_first], seen.weight[missed_first], len(arrays) + 1)
    needed = print_.transfers(fetched, kept)
    factor = np.minimum(1.0, np.divide(needed, scaled, out=np.zeros_like(needed), where=scaled > 0))
    share[missed_first] = factor[array[missed_first]]
    changed = print_.of(seen.kind != READ)
    again = max(0.0, seen.levels.written_back + seen.levels.left_dirty - changed.sample.sum())
    written = print_.transfers(changed, kept).sum() + again * float(np.mean(_scale(sampled)))
    return Moved(
        share,
        SECTOR_B * float((share * seen.weight).sum()),
        SECTOR_B * float(written),
        SECTOR_B * float(changed.launch.sum()) * min(1.0, l2_bytes / max(1.0, print_.bytes)),
        SECTOR_B * float(print_.all.launch.sum()),
    )


def _complete(seen: Seen, cache: str) -> Moved:
    """Every block was sampled: what the simulation counted."""
    share = (seen.levels.level == DRAM).astype(np.float64)
    left = seen.levels.left_dirty
    written = seen.levels.written_back + (left if cache == "cold" else 0.0)
    unique = len(np.unique(seen.sector))
    read = float((share * seen.weight).sum())
    return Moved(share, SECTOR_B * read, SECTOR_B * written, SECTOR_B * left, float(SECTOR_B * unique))


def _scale(sampled: Sampled) -> float:
    return sampled.of_blocks / len(sampled.blocks)


class _Prints:
    """Footprints of subsets of what was seen, and how long L2 keeps what they leave there."""

    def __init__(
        self, seen: Seen, array: NDArray[np.int64], sampled: Sampled, arrays: Arrays, l2_bytes: int
    ) -> None:
        self._seen, self._array, self._sampled, self._arrays = seen, array, sampled, arrays
        self._cache = l2(l2_bytes)
        self.all = self.of(np.ones(len(array), bool))
        unique = np.unique(seen.sector)
        self._lines_per_sector = len(np.unique(unique >> 2)) / max(1, len(unique))
        self.bytes = 128 * self._lines_per_sector * float(self.all.launch.sum())

    def of(self, chosen: NDArray[np.bool_]) -> Footprint:
        """Footprint of the chosen ones of the seen sectors."""
        seen = self._seen
        return footprint(
            seen.sector[chosen], seen.block[chosen], self._array[chosen], self._sampled, self._arrays
        )

    @property
    def kept_between_launches(self) -> float:
        """Probability that L2 still holds a sector when an equal launch touches it again."""
        return float(self._survival(self.all.launch.sum()))

    def transfers(self, part: Footprint, kept: float) -> Reals:
        """Sectors per array that cross the L2's lower edge in one direction, (arrays + 1,)."""
        turns = self._sampled.of_blocks / min(self._sampled.at_once, self._sampled.of_blocks)
        again = np.maximum(0.0, turns * part.turn - part.launch)
        near = np.minimum(again, turns * (part.turn - part.fresh))  # shared with the turn before
        between = np.divide(part.launch, part.turn, out=np.ones_like(part.launch), where=part.turn > 0)
        in_turn, in_launch = self.all.turn.sum(), self.all.launch.sum()
        lost_near = 1 - self._survival(np.minimum(in_turn, in_launch))
        lost_far = 1 - self._survival(np.minimum(between * in_turn, in_launch))
        return part.launch * (1 - kept) + near * lost_near + (again - near) * lost_far

    def _survival(self, sectors: Reals) -> Reals:
        lines = np.asarray(sectors) * self._lines_per_sector
        return survival(lines, self._cache.sets, self._cache.ways)
