"""Coalescing: closed forms per rule set, each with its arithmetic, and invariants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.errors import CommandError
from warpbound.memory.coalescing import RULES, family, lines, sectors, transactions

LANE = np.arange(32, dtype=np.uint64)
ALL = np.ones((1, 32), bool)


def moved(addresses, width, arch, caching="default", active=ALL):
    result = transactions(addresses.reshape(1, 32).astype(np.uint64), active, width, arch, caching)
    return int(result.count[0]), int(result.bytes[0])


def strided(stride, width=4, offset=0):
    return LANE * np.uint64(stride * width) + np.uint64(offset)


@pytest.mark.parametrize(
    "stride, expected",
    [
        (0, (32, 32 * 32)),  # one word for all: lane 1 is out of place, each lane its own 32 B
        (1, (2, 128)),  # in order: one 64 B segment per half-warp
        (2, (32, 32 * 32)),  # lane 1 is out of place
    ],
)
def test_ordered_half_warps_of_1_0(stride, expected):
    assert moved(strided(stride), 4, 10) == expected


def test_ordered_rule_by_width_and_alignment():
    assert moved(strided(1, 8), 8, 11) == (2, 256)  # 16 x 8 = 128 B per half-warp, one transaction each
    assert moved(strided(1, 16), 16, 11) == (4, 512)  # 16 x 16 = 256 B per half-warp, two of 128 B each
    assert moved(strided(1, 4, 4), 4, 11) == (32, 1024)  # off by a word: not aligned, every lane alone
    assert moved(strided(1, 4, 64), 4, 11) == (2, 128)  # off by a whole segment
    assert moved(strided(1, 2), 2, 11) == (32, 1024)  # 2-byte words never coalesce
    assert moved(strided(1)[::-1].copy(), 4, 11) == (32, 1024)  # right segment, wrong order
    every_other = (np.arange(32) % 2 == 0)[None]
    assert moved(strided(1), 4, 11, active=every_other) == (2, 128)  # idle lanes do no harm
    assert moved(strided(2), 4, 11, active=every_other) == (16, 512)  # 16 active lanes alone


@pytest.mark.parametrize(
    "addresses, width, expected",
    [
        (strided(1), 4, (2, 128)),  # 64 B per half-warp: the half of a 128 B segment
        (strided(1)[::-1], 4, (2, 128)),  # order does not matter
        (strided(0), 4, (2, 64)),  # one 32 B segment per half-warp
        # 64 B from byte 4 on: 4..67 has both halves of the 128 B segment; 68..131 is 64 B at 64 and 32 B at 128
        (strided(1, 4, 4), 4, (3, 128 + 64 + 32)),
        (strided(2), 4, (2, 256)),  # 128 B per half-warp
        (strided(32), 4, (32, 32 * 32)),  # 16 lines per half-warp, one word in each
        (strided(1, 8), 8, (2, 256)),
        (strided(1, 16), 16, (4, 512)),  # 256 B per half-warp: two segments each
        (strided(1, 1), 1, (2, 64)),  # 16 B per half-warp in 32 B segments: both in the first one
        (strided(1, 2), 2, (2, 64)),  # 32 B per half-warp: half a 64 B segment
        (strided(2, 2), 2, (2, 128)),  # 64 B per half-warp: a whole one
        (strided(4, 2), 2, (4, 256)),  # 128 B per half-warp: two 64 B segments, never one of 128 B
    ],
)
def test_smallest_segments_of_1_3(addresses, width, expected):
    assert moved(addresses, width, 13) == expected


@pytest.mark.parametrize("stride", range(65))
def test_strides_on_lines_and_sectors(stride):
    # lane 31 starts at 124 * stride: that many bytes are spanned, or one sector or line per lane
    in_lines = 31 * stride * 4 // 128 + 1 if stride <= 32 else 32
    in_sectors = 31 * stride * 4 // 32 + 1 if stride <= 8 else 32
    assert moved(strided(stride), 4, 20) == (in_lines, 128 * in_lines)
    assert moved(strided(stride), 4, 20, "l2") == (in_sectors, 32 * in_sectors)
    assert moved(strided(stride), 4, 35) == (in_sectors, 32 * in_sectors)
    assert moved(strided(stride), 4, 35, "l1") == (in_lines, 128 * in_lines)
    for arch in (52, 61, 70, 80, 90, 120):
        assert moved(strided(stride), 4, arch) == (in_sectors, 32 * in_sectors)


@pytest.mark.parametrize("offset", range(0, 128, 4))
def test_offsets(offset):
    # 128 B from `offset` on: one more sector unless it is a multiple of 32, one more line unless of 128
    assert moved(strided(1, 4, offset), 4, 80)[0] == 4 + (offset % 32 > 0)
    assert moved(strided(1, 4, offset), 4, 20)[0] == 1 + (offset > 0)


def test_wide_words_on_2_x_split_the_warp():
    assert moved(strided(1, 8), 8, 20)[0] == 2  # 128 B per half-warp
    assert moved(strided(1, 16), 16, 20)[0] == 4  # 128 B per quarter-warp
    assert moved(strided(0, 16), 16, 20)[0] == 4  # the same line again for every quarter
    assert moved(strided(1, 16), 16, 80)[0] == 16  # 512 B / 32 B


def test_transposed_tile():
    # lane = row of a matrix with 1024 floats per row: 4096 B apart, a sector, line and segment for each lane
    column = LANE * np.uint64(4096)
    assert [moved(column, 4, arch)[0] for arch in (10, 13, 20, 35, 80)] == [32] * 5
    # 8 x 4 tile: 8 rows of 4 neighbours, 16 B each
    tile = (LANE // np.uint64(4)) * np.uint64(4096) + LANE % np.uint64(4) * np.uint64(4)
    assert [moved(tile, 4, arch)[0] for arch in (13, 20, 80)] == [8, 8, 8]


def test_random_addresses_against_sets():
    rng = np.random.default_rng(7)
    addr = rng.integers(0, 1 << 14, (200, 32)).astype(np.uint64) * np.uint64(4)
    on = rng.random((200, 32)) < 0.7
    expected = [len({int(a) // 32 for a in row[mask]}) for row, mask in zip(addr, on, strict=True)]
    assert sectors(addr, on).tolist() == expected
    assert transactions(addr, on, 4, 80).count.tolist() == expected
    by_line = [len({int(a) // 128 for a in row[mask]}) for row, mask in zip(addr, on, strict=True)]
    assert lines(addr, on).tolist() == by_line
    assert transactions(addr, on, 4, 20).count.tolist() == by_line
    halves = [smallest_segments(row[h], mask[h]) for row, mask in zip(addr, on, strict=True) for h in HALVES]
    result = transactions(addr, on, 4, 13)
    assert result.count.tolist() == [a[0] + b[0] for a, b in zip(halves[::2], halves[1::2], strict=True)]
    assert result.bytes.tolist() == [a[1] + b[1] for a, b in zip(halves[::2], halves[1::2], strict=True)]


HALVES = (slice(0, 16), slice(16, 32))


def smallest_segments(addresses, active):
    """The procedure of the guide for 4-byte words, lane by lane."""
    left = [int(a) for a in addresses[active]]
    count = moved_bytes = 0
    while left:
        segment = left[0] // 128
        mine = [a for a in left if a // 128 == segment]
        left = [a for a in left if a // 128 != segment]
        size = 128
        while size > 32 and len({a // (size // 2) for a in mine}) == 1:
            size //= 2
        count, moved_bytes = count + 1, moved_bytes + size
    return count, moved_bytes


def test_no_active_lane_costs_nothing():
    for name, caching in RULES:
        arch = {"1.0": 10, "1.2": 13, "2.x": 20, "3.x": 35, "sectored": 80}[name]
        assert moved(strided(1), 4, arch, caching, np.zeros((1, 32), bool)) == (0, 0)


def test_families_and_refusals():
    assert [family(a) for a in (10, 11, 12, 13, 20, 21, 30, 37, 50, 121)] == [
        "1.0", "1.0", "1.2", "1.2", "2.x", "2.x", "3.x", "3.x", "sectored", "sectored",
    ]
    with pytest.raises(CommandError, match="sm_13"):
        moved(strided(1), 4, 13, "l1")


LANES = st.lists(st.integers(0, 1 << 12), min_size=32, max_size=32)


@given(LANES, st.lists(st.booleans(), min_size=32, max_size=32), st.permutations(range(32)))
def test_lanes_may_be_permuted_and_counts_are_bounded(words, on, order):
    addr = np.array([words], np.uint64) * np.uint64(4)
    active = np.array([on])
    count = int(sectors(addr, active)[0])
    assert count == int(sectors(addr[:, order], active[:, order])[0])
    assert lines(addr, active)[0] <= count <= min(4 * lines(addr, active)[0], active.sum())
    old, new = transactions(addr, active, 4, 10), transactions(addr, active, 4, 13)
    assert new.count[0] <= old.count[0] <= active.sum()
    assert new.bytes[0] >= 32 * new.count[0]
