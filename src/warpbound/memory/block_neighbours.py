"""Neighbours: blocks that are adjacent along an axis of the grid, among sampled blocks and among all.

Blocks are numbered as they start: along x first, then y, then z. An axis of a single block has no neighbours.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]
Grid = tuple[int, ...]


@dataclass(frozen=True)
class Neighbours:
    """Sampled blocks from which the sharing between neighbours follows, shape (b,) each.

    axes : number of the grid's axes longer than one block along which the sample has neighbours, the first ones.
    along : sum of the powers of two of the axes along which a block has a neighbour before it in its patch, -1 in none.
    patch : number of each block's patch.
    """

    axes: int
    along: Ints
    patch: Ints


def extents(grid: Grid) -> Grid:
    """Blocks along each axis that has more than one."""
    return tuple(extent for extent in grid if extent > 1)


def strides(grid: Grid) -> list[int]:
    """How far apart in number neighbours along each of those axes are."""
    return [math.prod(extents(grid)[:axis]) for axis in range(len(extents(grid)))]


def corner(grid: Grid) -> int:
    """The block nearest the middle of the grid that has a neighbour behind it along each of those axes."""
    middles = (min(extent // 2, extent - 2) for extent in extents(grid))
    return sum(at * stride for at, stride in zip(middles, strides(grid), strict=True))


def patch(grid: Grid) -> list[int]:
    """The corner and the blocks that lie between it and its neighbour along all axes: 2, 4 or 8 blocks."""
    return [corner(grid) + step for step in _steps(strides(grid))]


@lru_cache(256)
def having(count: int, sizes: Grid) -> Ints:
    """How many of the first `count` blocks have a block before them along just these axes, (2 ** axes,).

    sizes : blocks along each axis; the last one is taken to be without end.
    """
    if not sizes:
        return np.array([count])
    stride = math.prod(sizes[:-1])
    whole, rest = divmod(count, stride)
    layer, part = having(stride, sizes[:-1]), having(rest, sizes[:-1])
    if not whole:
        return np.concatenate([part, 0 * part])
    return np.concatenate([layer, (whole - 1) * layer + part])


def neighbours(blocks: Ints, grid: Grid) -> Neighbours:
    """Neighbours among blocks with these numbers, ascending, (b,).

    Patches of 8 or 4 blocks, as `patch` has them, that do not overlap; with the first two axes alone, where no patch
    has all three. Without one, runs of numbers one apart, at the end of a row, too.
    """
    for axes in range(len(extents(grid)), 1, -1):
        along, number = _patches(blocks, extents(grid)[:axes], strides(grid)[:axes])
        if along.max() > 0:
            return Neighbours(axes, along, number)
    one_apart = np.diff(blocks, prepend=-2) == 1
    return Neighbours(int(one_apart.any()), one_apart.astype(np.int64), np.cumsum(~one_apart) - 1)


def _steps(apart: list[int]) -> list[int]:
    """From the corner of a patch to each of its blocks, by sums of powers of two of the axes."""
    steps = [0]
    for stride in apart:
        steps += [step + stride for step in steps]
    return steps


def _patches(blocks: Ints, sizes: Grid, apart: list[int]) -> tuple[Ints, Ints]:
    """`along` and `patch` of Neighbours for these axes."""
    steps, free = _steps(apart), {block: place for place, block in enumerate(blocks.tolist())}
    along, number = np.full(len(blocks), -1), np.arange(len(blocks))
    for block in blocks.tolist():
        behind = all(block // stride % size < size - 1 for stride, size in zip(apart, sizes, strict=True))
        if behind and all(block + step in free for step in steps):
            places = [free.pop(block + step) for step in steps]
            along[places], number[places] = np.arange(len(steps)), places[0]
    return along, number
