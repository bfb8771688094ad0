"""Neighbours: blocks of a grid that lie side by side along an axis, among sampled ones and among all.

Blocks are numbered as they start: along x first, then y, then z. An axis of a single block has no neighbours.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Grid = tuple[int, ...]


@dataclass(frozen=True)
class Neighbours:
    """Which sampled blocks have neighbours that start before them, and which belong together, shape (b,) each.

    axes : number of the grid's axes, longer than one block, along which the sample tells what blocks share: one for
    each power of two. along : sum of the powers of two of the axes along which the block before was sampled, too.
    patch : number of the group that is joined by neighbours.
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
    found = [corner(grid)]
    for stride in strides(grid):
        found += [block + stride for block in found]
    return found


def having(count: int, sizes: Grid) -> Ints:
    """How many of the first `count` blocks have a block before them along just these axes, (2 ** axes,).

    sizes : blocks along each axis; the last one is taken to be without end.
    """
    if not sizes:
        return np.array([count])
    stride = math.prod(sizes[:-1])
    whole, rest = divmod(count, stride)
    layer, begun = having(stride, sizes[:-1]), having(rest, sizes[:-1])
    if not whole:
        return np.concatenate([begun, 0 * begun])
    return np.concatenate([layer, (whole - 1) * layer + begun])


def neighbours(blocks: Ints, grid: Grid) -> Neighbours:
    """Neighbours among blocks with these numbers, ascending, (b,).

    An axis counts with the axes before it, if the sample has blocks with a neighbour along it and along each choice of
    those. Where it has no neighbours but along x, numbers one apart are taken for such, at the end of a row, too.
    """
    before = [_before(blocks, grid, axis) for axis in range(len(extents(grid)))]
    along = sum((found[0] << axis for axis, found in enumerate(before)), np.zeros(len(blocks), np.int64))
    axes = len(before)
    while axes > 1 and len(np.unique(along & (1 << axes) - 1)) < 1 << axes:
        axes -= 1
    if axes <= 1:
        one_apart = np.diff(blocks, prepend=-2) == 1
        return Neighbours(int(one_apart.any()), one_apart.astype(np.int64), np.cumsum(~one_apart) - 1)
    return Neighbours(axes, along & (1 << axes) - 1, _joined(before[:axes]))


def _before(blocks: Ints, grid: Grid, axis: int) -> tuple[NDArray[np.bool_], Ints]:
    """Whether the neighbour before each block along an axis is among them, (b,), and its place there, (b,)."""
    stride, extent = strides(grid)[axis], extents(grid)[axis]
    at = np.searchsorted(blocks, blocks - stride)
    return (blocks // stride % extent > 0) & (blocks[at] == blocks - stride), at


def _joined(before: list[tuple[NDArray[np.bool_], Ints]]) -> Ints:
    """A number for each block, (b,), that it has in common with its neighbours."""
    name = np.arange(len(before[0][0]))
    pairs = np.concatenate([np.stack([np.flatnonzero(has), at[has]]) for has, at in before], axis=1)
    while True:
        joined = name.copy()
        for ends in (pairs, pairs[::-1]):
            np.minimum.at(joined, ends[0], joined[ends[1]])
        joined = joined[joined]
        if np.array_equal(joined, name):
            return name
        name = joined
