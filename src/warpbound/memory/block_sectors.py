"""The sectors that each sampled block touches, each once; footprints and first touches are counted from these.

Threads of a block touch most sectors several times, so that there are far fewer pairs of a sector and a block than
accesses. The pairs are found by one sort; subsets of accesses and of blocks are marked among them.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.sorted_order import order_and_begins
from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class BlockSectors:
    """Pairs of a sector and a block, sorted by both, (p,) each, and the pair of each access, (m,).

    number : of the sector, from 0 in ascending order. turn : of each block, (b,).
    """

    sector: Ints
    block: Ints
    number: Ints
    pair: Ints
    turn: Ints

    @property
    def sectors(self) -> int:
        """Different sectors."""
        return int(self.number[-1]) + 1 if len(self.number) else 0

    @property
    def number_of_access(self) -> Ints:
        """Number of the sector of each access, (m,)."""
        return self.number[self.pair]

    def marked(self, accesses: Flags) -> Flags:
        """Which pairs the chosen accesses, (m,), are of, (p,)."""
        result = np.zeros(len(self.sector), bool)
        result[self.pair[accesses]] = True
        return result

    def same_sector(self, accesses: Flags) -> Flags:
        """Which accesses are to a sector that one of the chosen accesses is to, (m,) both."""
        result = np.zeros(self.sectors, bool)
        numbers = self.number_of_access
        result[numbers[accesses]] = True
        return np.asarray(result[numbers])

    def of_blocks(self, blocks: Flags, accesses: Ints) -> "BlockSectors":
        """Those of some blocks, (b,), which are numbered anew; accesses : positions of their accesses."""
        own = blocks[self.block]
        sector = self.sector[own]
        block = (np.cumsum(blocks) - 1)[self.block[own]]
        pair = (np.cumsum(own) - 1)[self.pair[accesses]]
        return BlockSectors(sector, block, _numbers(sector), pair, self.turn[blocks])


def block_sectors(sector: Ints, block: Ints, turn: Ints) -> BlockSectors:
    """The pairs of some accesses, from the sector and the block of each, (m,), and the turn of each block, (b,)."""
    order, begins = order_and_begins(sector, block)
    pair = np.empty(len(order), np.int64)
    pair[order] = np.cumsum(begins) - 1
    first = order[begins]
    return BlockSectors(sector[first], block[first], _numbers(sector[first]), pair, turn)


def _numbers(ascending: Ints) -> Ints:
    """The number of each value among the distinct values, (p,)."""
    return np.asarray(np.cumsum(np.diff(ascending, prepend=ascending[:1]) != 0))
