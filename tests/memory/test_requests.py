"""Which reads of L2 all SMs do at once: by hand, and for grids that share everything, a row, or nothing."""

from dataclasses import fields, replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from support.handmade_traces import COPY, IN, LANE, MACHINE, copy, program, trace
from warpbound.emulate.lane_patterns import Patterns
from warpbound.emulate.trace import accesses_of
from warpbound.memory import aligned_units
from warpbound.memory.aligned_units import units
from warpbound.memory.caches import READ
from warpbound.memory.hierarchy import Facts, Near, Rows, levels, read_together
from warpbound.memory.requests import SectorList, lanes_on_hottest_address, local_words, sector_list, sectors_of_pages
from warpbound.memory.traffic import How, traffic

LOAD = program("LDG.E")
SAMPLE = [0, 33, 34, 63]  # of 64 blocks: first, a neighbouring pair of the middle, last; one on each SM


def moved(events, of_blocks=64, blocks=SAMPLE):
    return traffic(LOAD, trace(blocks, of_blocks, 2, events), MACHINE, How())


def reading(offset):
    """Two warps that read 16 lines one after the other, of a block's choice."""
    return lambda block, warp: [
        ("global", 0, IN + 128 * (2 * offset(block, i) + warp) + 4 * LANE, None) for i in range(16)
    ]


def test_by_hand():
    # sector 7 at moment 0 by SMs 0, 1, 2; at moment 1 by two of them; sector 8 by all, but not at once
    sector = np.array([7, 7, 7, 7, 7, 8, 8, 8])
    moment = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    sm = np.array([0, 1, 2, 0, 1, 0, 1, 2])
    assert read_together(sector, moment, sm).tolist() == [True] * 3 + [False] * 5
    assert not read_together(sector, moment, np.zeros(8, np.int64)).any()  # one SM shares with nobody
    assert not len(read_together(*(np.zeros(0, np.int64),) * 3))


LATE = 1 << 20  # a moment that no 64-bit number holds together with a sector


def test_late_moments_are_not_taken_for_early_ones():
    sector = np.full(4, 7)
    assert read_together(sector, np.array([5, 5, 5 + LATE, 5 + LATE]), np.array([0, 1, 0, 1])).all()
    assert not read_together(sector, np.array([5, 5, 5 + LATE, 5 + LATE]), np.array([0, 0, 1, 1])).any()


def test_what_is_read_together_late_is_another_time():
    moment, sm = np.repeat([5, 5 + LATE, 5 + 2 * LATE], 2), np.tile([0, 1], 3)
    some, none, zeros = np.ones(6, bool), np.zeros(6, bool), np.zeros(6, np.int64)
    rows = Rows(np.full(6, READ, np.int8), some, np.arange(6), None, sm, zeros, moment, np.ones(6))
    touched, missed = SectorList(np.arange(6), np.full(6, 1 << 40), np.ones(6, int)), Near(none, none, none)
    machine = Facts(arch=80, sm_count=2, blocks_per_sm=1, l1_bytes=0, l2_bytes=1 << 20)
    found = levels(touched, rows, missed, (machine, 1.0, np.ones(6), np.ones(6, int)), ("estimate", "cold"))
    assert found.together.tolist() == [0, 0, 1, 1, 2, 2]


def test_every_block_reads_the_same_line_after_line():
    found = moved(reading(lambda _, i: i))
    assert found.l2_sectors_together == found.l2_sectors_read > 0


def test_the_same_data_at_different_times_are_not_asked_for_together():
    found = moved(reading(lambda block, i: (i + block) % 16))
    assert found.l2_sectors_together < 0.1 * found.l2_sectors_read


def test_what_a_row_of_the_grid_shares_is_not_asked_for_by_all():
    found = moved(reading(lambda block, i: 16 * (block // 8) + i))
    assert found.l2_sectors_together == 0 < found.l2_sectors_read


def test_half_of_the_reads_shared():
    found = moved(reading(lambda block, i: i if i % 2 else 100 + 16 * block + i))
    assert found.l2_sectors_together == found.l2_sectors_read / 2


def test_a_copy_shares_nothing():
    assert traffic(COPY, trace(range(64), 64, 4, copy), MACHINE).l2_sectors_together == 0


STEPS = st.sampled_from([1, 4, 8, 64, 512, 4096])


@given(st.lists(st.tuples(st.integers(0, 40), STEPS, st.integers(0, 2**32 - 1)), max_size=6))
def test_sectors_of_pages_name_the_pages_of_all_sectors(rows):
    """Of accesses within one page, of those that cross into others and of those without an active lane."""
    lanes = np.arange(32)
    addresses = np.array([at * 1000 + step * lanes for at, step, _ in rows], np.uint64).reshape(-1, 32)
    active = np.array([mask >> lanes & 1 for _, _, mask in rows], bool).reshape(-1, 32)
    accesses = accesses_of(np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32), addresses, active)
    pages = {sector // 128 for sector in sector_list(accesses).sector.tolist()}
    assert {sector // 128 for sector in sectors_of_pages(accesses, 4096).tolist()} == pages


@given(st.lists(st.tuples(STEPS, st.integers(0, 2**32 - 1)), max_size=9), st.sampled_from([5, 7]))
def test_units_found_in_parts_are_those_of_all_patterns(rows, shift):
    offsets = np.array([step * np.arange(32) for step, _ in rows], np.uint64).reshape(-1, 32)
    patterns = Patterns(offsets, np.array([mask >> np.arange(32) & 1 for _, mask in rows], bool).reshape(-1, 32))
    whole = units(patterns, shift)
    with patch.object(aligned_units, "AT_ONCE", 2):
        parts = units(replace(patterns), shift)
    for field in fields(whole):
        assert np.array_equal(getattr(whole, field.name), getattr(parts, field.name)), field.name


@given(
    st.lists(st.tuples(st.integers(0, 60), STEPS, st.integers(1, 2**32 - 1), st.integers(0, 1)), min_size=1, max_size=6)
)
def test_words_of_local_memory_lie_lane_by_lane(rows):
    """Word i of lane l of a warp stands 128 i + 4 l bytes behind the warp's local memory."""
    code = program("STL", "LDL.128").instructions
    which = np.array([at for *_, at in rows], np.int32)
    lanes = np.array([16 * (at + step * np.arange(32)) for at, step, *_ in rows], np.uint64)
    active = np.array([mask >> np.arange(32) & 1 for _, _, mask, _ in rows], bool)
    warps, bases = (
        np.arange(len(rows), dtype=np.int32),
        np.uint64(1 << 20) * np.arange(1, len(rows) + 1).astype(np.uint64),
    )
    words = local_words(accesses_of(which, warps, lanes, active), code, bases)
    expected = [
        (int(bases[row]) + 128 * (int(address) // 4 + word) + 4 * lane)
        for row in range(len(rows))
        for word in range(1 + 3 * int(which[row]))
        for lane, address in enumerate(lanes[row])
        if active[row, lane]
    ]
    assert words.addresses[words.active].tolist() == expected


LANES_OF_A_WARP = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=32, max_size=32)


@given(st.lists(LANES_OF_A_WARP, min_size=1, max_size=4))
def test_lanes_on_the_most_wanted_address_are_counted_one_by_one(warps):
    addresses = np.array([[2**40 + 4 * word for word, _ in warp] for warp in warps], np.uint64)
    active = np.array([[on for _, on in warp] for warp in warps])
    by_hand = [max(sum(on and word == k for word, on in warp) for k in range(4)) for warp in warps]
    assert lanes_on_hottest_address(addresses, active).tolist() == by_hand
