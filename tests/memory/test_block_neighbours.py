"""Neighbours in a grid: which blocks lie side by side, how many have whom before them, and footprints from a corner."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.memory.block_neighbours import corner, extents, having, neighbours, patch, strides
from warpbound.memory.footprint import Sampled, footprint
from warpbound.workload.dynamic import sample

GRIDS = st.tuples(st.integers(1, 7), st.integers(1, 6), st.integers(1, 5))


def places(count, grid):
    """Coordinates of the first `count` blocks, (count, axes)."""
    x, y, _ = grid
    return np.stack([np.arange(count) % x, np.arange(count) // x % y, np.arange(count) // (x * y)], axis=1)


def test_a_corner_of_a_cube():
    assert strides((4, 64, 16)) == [1, 4, 256]
    assert corner((4, 64, 16)) == 2 + 4 * 32 + 256 * 8
    assert patch((4, 64, 16)) == [2178, 2179, 2182, 2183, 2434, 2435, 2438, 2439]
    assert patch((4096, 1, 1)) == [2048, 2049]
    assert patch((1, 1, 2)) == [0, 1]
    assert patch((1, 1, 1)) == [0]


@given(GRIDS)
def test_a_patch_has_every_choice_of_neighbours_once(grid):
    at = places(math.prod(grid), grid)[patch(grid)]
    longer = [axis for axis in range(3) if grid[axis] > 1]
    steps = (at - at[0])[:, longer]
    assert sorted(map(tuple, steps.tolist())) == sorted(itertools.product((0, 1), repeat=len(longer)))


@given(GRIDS, st.data())
def test_neighbours_before_are_counted(grid, data):
    count = data.draw(st.integers(0, math.prod(grid)))
    longer = [axis for axis in range(3) if grid[axis] > 1]
    along = (places(count, grid)[:, longer] > 0) @ (1 << np.arange(len(longer)))
    by_hand = np.bincount(along.astype(int), minlength=1 << len(longer))
    assert having(count, extents(grid)).tolist() == by_hand.tolist()


@pytest.mark.parametrize("blocks, axes, along, patches", [
    ([0, 44, 45, 54, 55, 99], 2, [-1, 0, 1, 2, 3, -1], [0, 1, 1, 1, 1, 5]),
    ([0, 43, 44, 45, 54, 55], 2, [-1, -1, 0, 1, 2, 3], [0, 1, 2, 2, 2, 2]),  # one more beside the patch
    ([44, 45, 46, 54, 55, 56], 2, [0, 1, -1, 2, 3, -1], [0, 0, 2, 0, 0, 5]),  # patches do not overlap
    ([0, 44, 45, 54, 99], 1, [0, 0, 1, 0, 0], [0, 1, 1, 2, 3]),  # none with neighbours along both
    ([9, 10, 19, 20], 1, [0, 1, 0, 1], [0, 0, 1, 1]),  # at the end of rows, but nothing better is known
    ([0, 7, 30, 99], 0, [0, 0, 0, 0], [0, 1, 2, 3]),
])  # fmt: skip
def test_neighbours_of_a_sample(blocks, axes, along, patches):
    found = neighbours(np.array(blocks), (10, 10))
    assert (found.axes, found.along.tolist(), found.patch.tolist()) == (axes, along, patches)


def test_patches_of_a_whole_grid():
    found = neighbours(np.arange(7 * 5 * 4), (7, 5, 4))
    assert found.axes == 3
    assert np.bincount(found.along + 1).tolist() == [7 * 5 * 4 - 3 * 2 * 2 * 8, *[3 * 2 * 2] * 8]
    assert len(set(found.patch[found.along >= 0].tolist())) == 3 * 2 * 2


def test_a_patch_along_two_of_three_axes():
    found = neighbours(np.array([0, 71, 72, 78, 79]), (7, 5, 4))
    assert (found.axes, found.along.tolist()) == (2, [-1, 0, 1, 2, 3])


def tiles(blocks, grid, size, halo):
    """Sectors, and positions in `blocks`, of blocks that each touch a box of their own and a halo around it."""
    wide = [extent * size + 2 * halo for extent in grid]
    sectors, owners = [], []
    for position, (x, y, z) in enumerate(places(math.prod(grid), grid)[blocks].tolist()):
        axes = [np.arange(at * size, (at + 1) * size + 2 * halo) for at in (x, y, z)]
        box = axes[0][:, None, None] + wide[0] * (axes[1][None, :, None] + wide[1] * axes[2][None, None, :])
        sectors.append(box.ravel())
        owners.append(np.full(box.size, position))
    return np.concatenate(sectors), np.concatenate(owners), math.prod(wide)


@pytest.mark.parametrize("grid", [(6, 6, 6), (4, 20, 3), (9, 8, 1), (40, 1, 1), (1, 7, 9)])
@pytest.mark.parametrize("at_once", [5, 24, 50])
def test_a_turn_of_boxes_with_halos(grid, at_once):
    """All blocks of a turn touch what the sampled corner says; corners that only diagonal neighbours share are more."""
    blocks = math.prod(grid)
    at_once = min(at_once, blocks)
    chosen = sample(grid, 2, 5).blocks
    sector, owner, room = tiles(chosen, grid, 6, 1)
    rooms = np.array([float(room), np.inf])
    found = footprint(sector, owner, np.zeros(len(sector), int), Sampled(chosen, blocks, at_once, grid), rooms)
    everything = [len(np.unique(tiles(np.arange(count), grid, 6, 1)[0])) for count in (at_once, 2 * at_once)
                  if count <= blocks]  # fmt: skip
    assert found.turn[0] == pytest.approx(everything[0], rel=0.05)
    if len(everything) == 2:
        assert found.fresh[0] == pytest.approx(everything[1] - everything[0], rel=0.05)
    assert found.launch[0] == room
    assert found.wrapped[0] == pytest.approx(0, abs=0.05 * room)


def test_a_turn_shorter_than_a_plane_waits_for_the_plane():
    grid = (4, 6, 5)
    chosen = sample(grid, 1, 7).blocks
    sector, owner, room = tiles(chosen, grid, 6, 1)
    what = sector, owner, np.zeros(len(sector), int)
    rows = {at_once: footprint(*what, Sampled(chosen, 120, at_once, grid), np.array([float(room), np.inf])).row[0]
            for at_once in (3, 12, 100)}  # fmt: skip
    row, plane = (len(np.unique(tiles(np.arange(count), grid, 6, 1)[0])) for count in (4, 24))
    assert rows[3] == pytest.approx(row, rel=0.05)
    assert rows[12] == pytest.approx(plane, rel=0.05)
    assert rows[100] == rows[3]
