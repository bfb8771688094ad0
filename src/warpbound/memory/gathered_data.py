"""Data that blocks gather: how many different sectors more blocks touch, from how many of the sampled ones share each.

Source   Rarefaction and its extrapolation: R. Colwell et al., "Models and estimators linking individual-based and
         sample-based rarefaction, extrapolation and comparison of assemblages", Journal of Plant Ecology, 2012 (Chao's
         lower bound is there, too). The law of growth is H. Heaps', "Information Retrieval", 1978.
Models   Per array that is read at places which loaded values decide. Blocks far apart are alike, so that any of them
         may be the first, the second and so on: what the k-th adds follows exactly from the sectors that 1, 2, 3 ...
         of the n sampled blocks touch. Beyond them it falls as a power of k, with the exponent between n / 2 and n,
         which holds if a few sectors are popular and many are rare. The more of the array has been touched, the more
         often a further access finds a touched sector, as if all sectors were equally popular. Chao's bound is the
         least that the sample allows.
Omits    Gathers in which blocks far apart are not alike.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.value_dependence import brings_from_outside, dependents_of
from warpbound.identity_cache import remember
from warpbound.memory.sorted_order import order_by
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

FEWEST = 4  # blocks from which the growth is read
LARGEST = 4.0  # exponent: beyond it hardly anything is added
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]


@remember(2)
def gathering(program: Program) -> Flags:
    """Which instructions access global memory at places that loaded values decide, (instructions,)."""
    result = np.zeros(max(1, len(program.instructions)), bool)
    loads = {at for at, instruction in enumerate(program.instructions) if brings_from_outside(instruction)}
    if loads:
        result[list(dependents_of(program, loads).addresses)] = True
    return result


@dataclass(frozen=True)
class Growth:
    """How the different sectors of an array grow with the number of blocks, by array; shape (arrays,) each.

    blocks : n, of which the growth is known. exponent : of the power of k by which it falls. alike : sectors of an
    array, if all were equally popular; infinity where blocks share none. least : Chao's bound for the whole launch.
    """

    blocks: int
    exponent: Reals
    alike: Reals
    least: Reals

    def against_linear(self, blocks: float) -> Reals:
        """What blocks beyond the first n add, as a share of what they would add if each added as much as the n-th."""
        n, fall = float(self.blocks), self.exponent
        if blocks <= n or not n:
            return np.ones(len(fall))
        rest = np.where(np.abs(fall - 1.0) < 1e-6, 1.0 + 1e-6, fall)
        return np.asarray(n**rest * (blocks ** (1.0 - rest) - n ** (1.0 - rest)) / (1.0 - rest) / (blocks - n))

    def different(self, sectors: Reals, room: Reals) -> Reals:
        """How many of the sectors that blocks add by that law are distinct; room : sectors of each array."""
        size = np.maximum(room, self.alike)
        some = np.isfinite(size) & (size > 0)
        part = np.divide(sectors, size, out=np.zeros(len(size)), where=some)
        return np.where(some, -np.expm1(-part) * np.where(some, size, 1.0), sectors)


def linear(arrays: int) -> Growth:
    """Each block adds as much as the others."""
    return Growth(0, np.zeros(arrays), np.full(arrays, np.inf), np.full(arrays, np.inf))


def growth(sector: Ints, block: Ints, array: Ints, gathered: Flags, blocks: tuple[int, int]) -> Growth:
    """The growth from sampled blocks that are far apart.

    sector, block, array : of each access, (m,). gathered : arrays of which it is asked; the others grow in proportion.
    blocks : n, those sampled, and the blocks of the launch.
    """
    n, of_launch = blocks
    own = gathered[array]
    if n < FEWEST or not own.any():
        return linear(len(gathered))
    order = np.flatnonzero(own)[order_by(sector[own], block[own])]
    sector, block = sector[order], block[order]
    is_new = np.diff(sector, prepend=-1) != 0
    each = np.flatnonzero(is_new | (np.diff(block, prepend=-1) != 0))  # of each block once
    begins = np.flatnonzero(is_new[each])
    touched_by = np.diff(begins, append=len(each))
    table = np.zeros((len(gathered), n + 1))  # array, blocks that share a sector -> sectors
    np.add.at(table, (array[order[each[begins]]], touched_by), 1.0)
    last, middle = _added(table, n), _added(table, n // 2 + 1)
    some = gathered & (last > 0) & (table[:, 2:].sum(axis=1) > 0)
    fall = np.log(np.divide(middle, last, out=np.ones(len(last)), where=some)) / np.log(n / (n // 2 + 1))
    complete = (last == 0) & (table.sum(axis=1) > 0)  # further blocks add nothing
    exponent = np.where(some, np.clip(fall, 0.0, LARGEST), np.where(complete, LARGEST, 0.0))
    least = np.where(gathered, _chao(table, n, of_launch), np.inf)
    alike = _alike(table, n)
    return Growth(n, exponent, alike, least)


def _added(table: Reals, k: int) -> Reals:
    """Sectors that the k-th of k blocks, chosen by chance among the n sampled, adds; (arrays,)."""
    n = table.shape[1] - 1
    shared = np.arange(n + 1)
    absent = np.ones(n + 1)  # probability that none of k - 1 other blocks has a sector that this one has
    for step in range(k - 1):
        absent *= np.maximum(0.0, n - shared - step) / (n - 1 - step)
    return np.asarray(table @ (absent * shared / n))


def _alike(table: Reals, n: int) -> Reals:
    """Number of equally popular sectors of which as many would be touched by one and by two of n blocks, (arrays,)."""
    once, twice = table[:, 1], table[:, 2]
    odds = 2 * twice / np.maximum(1.0, (n - 1) * once)
    chance = odds / (1.0 + odds)  # that a block touches a given sector
    some = (once > 0) & (twice > 0)
    below = n * chance * (1.0 - chance) ** (n - 1)
    return np.divide(once, below, out=np.where(twice > 0, 0.0, np.inf), where=some)


def _chao(table: Reals, n: int, of_launch: int) -> Reals:
    """Chao's lower bound of the different sectors of the launch, (arrays,)."""
    once, twice, different = table[:, 1], table[:, 2], table[:, 1:].sum(axis=1)
    pairs = np.where(twice > 0, once**2 / np.maximum(1.0, 2 * twice), once * (once - 1) / 2)
    unseen = (n - 1) / n * pairs
    share = np.divide(once, n * unseen + once, out=np.zeros(len(once)), where=once > 0)
    return np.asarray(different + unseen * (1.0 - (1.0 - share) ** max(0, of_launch - n)))
