"""Footprint: how many different sectors a whole launch touches, from those that sampled blocks touched.

Models   Per array of the launch. Sampled blocks form groups of consecutive ones; the most that a later group
         touches anew, per block, is what any further block is taken to add (the most, as a group may by chance
         share a row or a column with another), and what a block adds within its group is what its neighbours
         add (without neighbours in the sample: the mean over the launch). No array gives more than it has.
Omits    Sharing between blocks that no sampled pair shows. With a single group every further block is taken
         to add as much as a sampled one, so that arrays that all blocks share count once only up to their
         size; without the arrays' sizes such data is overestimated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.ordering import order_by

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Footprint:
    """Different sectors per array, shape (arrays + 1,); the last entry is memory outside all of them.

    sample : of the sampled blocks. turn : of as many consecutive blocks as run at once. fresh : those of them
    that the blocks just before did not touch. row : of one row of the grid. launch : of all blocks. wrapped : what
    those of a turn touch beyond all there is: data that blocks far apart share.
    """

    sample: Reals
    row: Reals
    turn: Reals
    fresh: Reals
    launch: Reals
    wrapped: Reals


@dataclass(frozen=True)
class Sampled:
    """Which blocks were sampled, of how many, how many run at once and how many make a row of the grid.

    loads : of a warp, in the mean.
    """

    blocks: Ints  # linear numbers, (b,)
    of_blocks: int
    at_once: int
    row: int
    loads: float = 1.0


def array_of(sector: Ints, arrays: tuple[tuple[int, int], ...]) -> Ints:
    """Number of the array (address, bytes) that each sector lies in; len(arrays) for none."""
    if not arrays:
        return np.zeros(len(sector), np.int64)
    starts = np.array([address for address, _ in arrays])
    ends = np.array([address + size for address, size in arrays])
    order = np.argsort(starts)
    place = np.searchsorted(starts[order], sector * SECTOR_B + SECTOR_B - 1, side="right") - 1
    found = order[np.maximum(place, 0)]
    inside = (place >= 0) & (sector * SECTOR_B < ends[found])
    return np.where(inside, found, len(arrays))


def footprint(sector: Ints, block: Ints, array: Ints, sampled: Sampled, room: Reals) -> Footprint:
    """Footprint of the accesses given: sector, position of its block in `sampled`, array; shape (m,) each.

    room : most sectors that each array has, and infinity for what is in none, (arrays + 1,).
    """
    kinds = len(room)
    order = np.argsort(sampled.blocks, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))  # position in launch order
    group = np.cumsum(np.concatenate([[0], np.diff(sampled.blocks[order]) != 1]))
    owner = number[block]
    new = _first_touches(sector, owner, array, (len(order), kinds))
    apart = group[owner] * (1 << 44) + sector  # each group of neighbours by itself
    new_in_group = _first_touches(apart, owner, array, (len(order), kinds))
    sample = new.sum(axis=0)
    at_once = min(sampled.at_once, sampled.of_blocks)
    beyond, beside, own = _growth(new, new_in_group, group)
    launch = np.minimum(np.maximum(room, sample), sample + (sampled.of_blocks - len(order)) * beyond)
    beside = launch / sampled.of_blocks if beside is None else beside

    def consecutive(count: int) -> Reals:
        return np.asarray(own[:count].sum(axis=0) + max(0, count - len(own)) * beside)

    touched = consecutive(at_once)
    turn = np.minimum(launch, touched)
    row = np.minimum(launch, consecutive(min(sampled.row, sampled.of_blocks)))
    return Footprint(sample, row, turn, np.minimum(turn, at_once * beside), launch, touched - turn)


def _first_touches(sector: Ints, owner: Ints, array: Ints, shape: tuple[int, int]) -> Reals:
    """How many sectors each block touches first, in launch order, by array; shape (blocks, arrays + 1)."""
    in_order = order_by(sector, owner)
    first = np.ones(len(sector), bool)
    first[1:] = sector[in_order][1:] != sector[in_order][:-1]
    chosen = in_order[first]
    counts = np.bincount(owner[chosen] * shape[1] + array[chosen], minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def _growth(new: Reals, new_in_group: Reals, group: Ints) -> tuple[Reals, Reals | None, Reals]:
    """Sectors that a far block adds, that a block adds to its neighbours (None: no neighbours were sampled),
    and those of each block of the first group.

    new : sectors first touched by each block, in launch order, (b, arrays + 1); new_in_group : the same among the
    blocks of its group alone; group : of each block, (b,).
    """
    leads = np.concatenate([[True], np.diff(group) != 0])
    own = new_in_group[group == 0]
    later = [new[group == one].mean(axis=0) for one in range(1, int(group[-1]) + 1)]
    beyond = np.max(later, axis=0) if later else own.mean(axis=0)
    return beyond, new_in_group[~leads].mean(axis=0) if not leads.all() else None, own
