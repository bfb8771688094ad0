"""Footprint: the number of different sectors that a whole launch touches, from those of sampled blocks.

Models   Per array of the launch. Sampled blocks form groups of consecutive blocks; the most new sectors per block of a
         later group is the number that any further block adds (the most, as a group may by chance share a row or a
         column with another). Patches of sampled blocks (`block_neighbours`) show what a block adds to its neighbours
         along x, along y, along both and so on; the model counts the blocks of a turn with such neighbours. If they
         share a part, as overlapping windows do, all blocks of the launch do. Without neighbours in the sample each
         block adds the mean over the launch. No array counts more than its size.
Omits    Sharing between blocks that no sampled pair shows. With a single group every further block adds as much as a
         sampled one, so arrays that all blocks share are limited only by their size; without the arrays' sizes such
         data is overestimated.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.block_neighbours import Grid, extents, having, neighbours, strides
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.gathered_data import Growth, growth, linear
from warpbound.memory.sorted_order import order_by
from warpbound.native_loops import caches as native
from warpbound.quick_dataclasses import dataclass

STEPS = 32
LEAST_NEW, MOST_NEW = 0.1, 0.8  # share of a block's data that is new to its neighbour, if their windows overlap
Ints = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Footprint:
    """Different sectors per array, shape (arrays + 1,); the last entry is memory outside all arrays.

    sample : of the sampled blocks. turn : of as many consecutive blocks as run at once. fresh : those that the turn
    before did not touch. row : of one row of the grid; where turns are longer and neighbours along z were sampled, of
    one plane. launch : of all blocks. wrapped : by how much a turn's estimate exceeds the launch: data that blocks far
    apart share. lone : of a sampled block without neighbours before it. least : the fewest of all blocks that the
    sample allows, where data are gathered. steps : of the numbers of blocks of `ladder`, (steps, arrays + 1); None
    where nothing is gathered.
    """

    sample: Reals
    row: Reals
    turn: Reals
    fresh: Reals
    launch: Reals
    wrapped: Reals
    lone: Reals
    least: Reals
    steps: Reals | None = None


@dataclass(frozen=True)
class Sampled:
    """Which blocks were sampled, of how many, how many run at once and how many lie along each axis of the grid.

    loads : of a warp, in the mean. weights, of_class : blocks that each represents, and its class, (b,); None: alike.
    gathered : arrays that are read at places which loaded values decide, (arrays + 1,); None: there are none.
    """

    blocks: Ints  # linear numbers, (b,)
    of_blocks: int
    at_once: int
    grid: Grid
    loads: float = 1.0
    weights: Reals | None = None
    of_class: Ints | None = None
    gathered: NDArray[np.bool_] | None = None

    @property
    def row(self) -> int:
        """Blocks in a row of the grid."""
        return self.grid[0]


def array_of(sector: Ints, arrays: tuple[tuple[int, int], ...]) -> Ints:
    """Number of the array (address, bytes) that each sector lies in; len(arrays) for none."""
    if not arrays:
        return np.zeros(len(sector), np.int64)
    starts = np.array([address for address, _ in arrays])
    ends = np.array([address + size for address, size in arrays])
    order = np.argsort(starts)
    place = np.searchsorted(starts[order], sector * SECTOR_B + SECTOR_B - 1, side="right") - 1
    nearest = order[np.maximum(place, 0)]
    inside = (place >= 0) & (sector * SECTOR_B < ends[nearest])
    return np.where(inside, nearest, len(arrays))


def footprint(sector: Ints, block: Ints, array: Ints, sample_of: Sampled, room: Reals) -> Footprint:
    """Footprint of accesses: sector, position of its block in `sample_of`, array; shape (m,) each.

    room : most sectors that each array has, and infinity for what is in none, (arrays + 1,).
    """
    order = np.argsort(sample_of.blocks, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))  # position in launch order
    numbers = sample_of.blocks[order]
    adjacent = neighbours(numbers, sample_of.grid)
    owner = number[block]
    new, own_sectors, new_in_patch = _touches(sector, owner, array, adjacent.patch, len(room))
    sample = new.sum(axis=0)
    at_once = min(sample_of.at_once, sample_of.of_blocks)
    group = np.cumsum(np.concatenate([[0], np.diff(numbers) != 1]))
    gathers = _growth(sector, owner, array, (group, adjacent.patch), sample_of)
    by_others = _added_by_others(new, group, sample_of, order)
    launch = gathers.different(sample + by_others * gathers.against_linear(sample_of.of_blocks), room)
    launch = np.minimum(np.maximum(room, sample), np.maximum(sample, launch))
    new_per_block = _added(new_in_patch, adjacent.along, adjacent.axes, launch / sample_of.of_blocks)
    own = new[group == 0]
    sizes = extents(sample_of.grid)[: adjacent.axes] if adjacent.axes > 1 else (sample_of.of_blocks,)
    if adjacent.axes:
        shares = _added(new_in_patch, adjacent.along, adjacent.axes, launch) / np.maximum(
            _added(own_sectors, adjacent.along, adjacent.axes, launch), 1.0
        )
        windows = _of_windows(_mean(own_sectors, sample_of, order), shares, having(sample_of.of_blocks, sizes))
        launch = np.minimum(launch, np.maximum(sample, windows))

    def consecutive(count: int) -> Reals:
        later = having(count, sizes) - having(min(count, len(own)), sizes)
        return np.asarray(own[:count].sum(axis=0) + later @ new_per_block)

    def different(count: int) -> Reals:
        return gathers.different(consecutive(count) * gathers.against_linear(count), room)

    at_a_time = consecutive(at_once)
    turn = np.minimum(launch, different(at_once))
    longer = (stride for stride in strides(sample_of.grid)[: adjacent.axes] if stride > at_once)
    row = np.minimum(launch, different(min(next(longer, sample_of.row), sample_of.of_blocks)))
    fresh = np.minimum(turn, np.maximum(0.0, different(2 * at_once) - different(at_once)))
    least = np.where(np.isfinite(gathers.least), np.clip(gathers.least, sample, launch), launch)
    steps = np.stack([np.minimum(launch, different(count)) for count in ladder(sample_of)]) if gathers.blocks else None
    return Footprint(sample, row, turn, fresh, launch, at_a_time - turn, new_per_block[0], least, steps)


def ladder(sample_of: Sampled) -> list[int]:
    """Numbers of blocks, rising to that of the launch, at which the growth of gathered data is looked at."""
    counts: list[int] = distinct(np.geomspace(1, sample_of.of_blocks, STEPS).round().astype(np.int64)).tolist()
    return counts


def _growth(sector: Ints, owner: Ints, array: Ints, places: tuple[Ints, Ints], sample_of: Sampled) -> Growth:
    """How gathered data grow with the blocks, from those that are far apart; places : group and patch of each block."""
    gathered, (group, patch_of) = sample_of.gathered, places
    if gathered is None or not gathered.any():
        return linear(1)
    leads = np.zeros(len(group), bool)
    leads[np.unique(patch_of, return_index=True)[1]] = True
    leads &= np.diff(group, prepend=-1) > 0
    own = leads[owner]
    return growth(sector[own], owner[own], array[own], gathered, (int(leads.sum()), sample_of.of_blocks))


def _of_windows(own: Reals, shares: Reals, blocks: Ints) -> Reals:
    """Sectors of a launch in arrays of which neighbours read windows that overlap, infinity for others, (arrays + 1,).

    own : sectors of a block, in the mean; shares : of them that it adds to neighbours, by their axes,
    (2 ** axes, arrays + 1); blocks : with such neighbours before them, (2 ** axes,). Where neighbours share edges
    alone, others may share more or less of them; where they share everything, a row of tiles may end.
    """
    window = (shares > LEAST_NEW) & (shares < MOST_NEW)
    return np.where(window[1:].any(axis=0), own * (blocks @ np.where(window, shares, 1.0)), np.inf)


def _mean(own: Reals, sample_of: Sampled, order: Ints) -> Reals:
    """Mean of a number of the sampled blocks, in launch order, over the blocks of the launch; (arrays + 1,)."""
    weights = np.ones(len(order)) if sample_of.weights is None else sample_of.weights[order]
    return np.asarray(weights @ own / weights.sum())


def _added_by_others(new: Reals, group: Ints, sample_of: Sampled, order: Ints) -> Reals:
    """Sectors that all blocks outside the sample add, (arrays + 1,): those of each class as its sampled blocks do.

    new, group : as for `_beyond`. order : the sampled blocks in launch order.
    """
    if sample_of.of_class is None or sample_of.weights is None or (sample_of.of_class == sample_of.of_class[0]).all():
        return (sample_of.of_blocks - len(order)) * _beyond(new, group)
    of_class, weights = sample_of.of_class[order], sample_of.weights[order]
    total = np.zeros(new.shape[1])
    for number in distinct(of_class):
        own = of_class == number
        later = own & (group > 0)
        total += (weights[own].sum() - own.sum()) * new[later if later.any() else own].mean(axis=0)
    return total


def _touches(sector: Ints, owner: Ints, array: Ints, patch: Ints, width: int) -> tuple[Reals, Reals, Reals]:
    """How many sectors each block touches first, in launch order, at all, and first in its patch, by array;
    (blocks, arrays + 1) each. patch : of each block, (b,).
    """
    counts = native.touches(sector, owner, array, patch, width)
    if counts is not None:
        new, own, new_in_patch = counts.astype(np.float64)
        return new, own, new_in_patch
    new, own = _first_touches(sector, owner, array, (len(patch), width))
    apart = patch[owner] * (1 << 44) + sector  # each group of neighbours by itself
    return new, own, _first_touches(apart, owner, array, (len(patch), width))[0]


def _first_touches(sector: Ints, owner: Ints, array: Ints, shape: tuple[int, int]) -> tuple[Reals, Reals]:
    """How many sectors each block touches first, in launch order, and how many it touches, by array."""
    in_order = order_by(sector, owner)
    first = np.ones(len(sector), bool)
    first[1:] = sector[in_order][1:] != sector[in_order][:-1]
    own = first.copy()
    own[1:] |= owner[in_order][1:] != owner[in_order][:-1]

    def by_block(members: Ints) -> Reals:
        counts = np.bincount(owner[members] * shape[1] + array[members], minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(np.float64)

    return by_block(in_order[first]), by_block(in_order[own])


def _beyond(new: Reals, group: Ints) -> Reals:
    """Sectors that a far block adds, (arrays + 1,).

    new : sectors first touched by each block, in launch order, (b, arrays + 1); group : of each block, (b,).
    """
    later = [new[group == number].mean(axis=0) for number in range(1, int(group[-1]) + 1)]
    return np.asarray(np.max(later, axis=0) if later else new.mean(axis=0))


def _added(new_in_patch: Reals, along: Ints, axes: int, otherwise: Reals) -> Reals:
    """Sectors that a block adds to its neighbours, by the axes along which it has some, (2 ** axes, arrays + 1).

    new_in_patch : first touched by each block in its patch, (b, arrays + 1); along : of each block, (b,).
    otherwise : without neighbours in the sample.
    """
    if not axes:
        return np.stack([otherwise, otherwise])
    return np.stack([new_in_patch[along == which].mean(axis=0) for which in range(1 << axes)])
