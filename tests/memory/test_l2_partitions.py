"""An L2 of two sides: what is near, what is far, what DRAM sends once for all; by hand and against complete traces."""

from dataclasses import replace

import numpy as np
import pytest

from support.handmade_traces import IN, LANE, program, trace
from warpbound.memory.hierarchy import Facts
from warpbound.memory.traffic import How, traffic

LOAD = program("LDG.E")
TWO = Facts(80, 4, 1, 0, 64 * 128, 64 * 128)  # four SMs, 32 lines of L2 on each side
ONE = replace(TWO, l2_sides_bytes=0)


def rounds(lines, times, offset=lambda block: 0):
    """One warp a block that reads so many lines one after the other, `times` times."""
    return lambda block, warp: [
        ("global", 0, IN + 128 * (offset(block) + i) + 4 * LANE, None) for _ in range(times) for i in range(lines)
    ]


def of_one_sm(lines, machine=TWO, how=("warm", "estimate")):
    found = traffic(LOAD, trace([0], 1, 1, rounds(lines, 1)), machine, How(*how))
    return found.l2_sectors_far / found.l2_sectors_read, found.dram_bytes_read / (128 * lines)


@pytest.mark.parametrize("method", ["estimate", "exact"])
@pytest.mark.parametrize(
    "lines, far, dram", [(8, 0, 0), (32, 0, 0), (40, 1, 0), (64, 1, 0), (80, 0, 1), (200, 0, 1)]
)
def test_one_sm_finds_half_near_and_the_rest_on_the_other_side(lines, far, dram, method):
    assert of_one_sm(lines, how=("warm", method)) == (far, dram)


def test_cold_caches_have_no_far_side():
    assert of_one_sm(48, how=("cold", "estimate")) == (0, 1)


def test_an_l2_of_one_side_has_none():
    assert of_one_sm(48, ONE) == (0, 0)
    assert of_one_sm(65, ONE) == (0, 1)
    assert of_one_sm(33) == (1, 0)
    assert of_one_sm(65) == (0, 1)


def all_read_the_same(lines, sampled, machine=TWO, of_blocks=4):
    """Share of the reads that is far, and how often DRAM sends each line; arrays as large as the data."""
    how = How("warm", arrays=((IN, 128 * lines),))
    found = traffic(LOAD, trace(sampled, of_blocks, 1, rounds(lines, 3)), machine, how)
    assert found.l2_sectors_read == 4 * lines * of_blocks * 3
    assert found.l2_sectors_together == pytest.approx(found.l2_sectors_read)
    return found.l2_sectors_far / found.l2_sectors_read, found.dram_bytes_read / (3 * 128 * lines)


@pytest.mark.parametrize("sampled", [[0, 1, 2, 3], [0, 1, 3]])
def test_what_all_sms_read_at_once_fills_both_sides_and_comes_from_dram_once(sampled):
    assert all_read_the_same(32, sampled) == (0, 0)
    far, dram = all_read_the_same(40, sampled)
    assert dram == pytest.approx(1)
    assert far == pytest.approx(3 / 4)  # one of four SMs has it from DRAM, the others from there across L2
    assert all_read_the_same(80, sampled) == (pytest.approx(3 / 4), pytest.approx(1))


@pytest.mark.parametrize("sampled", [[0, 1, 2, 3], [0, 1, 3]])
def test_on_one_side_such_data_may_be_twice_as_large_and_nothing_crosses(sampled):
    assert all_read_the_same(60, sampled, ONE) == (0, 0)
    assert all_read_the_same(80, sampled, ONE) == (0, pytest.approx(1))


def test_separate_data_are_held_once():
    # four SMs, 14 lines each: 28 on each side; all of L2 would not hold them twice
    events = rounds(14, 3, lambda block: 14 * block)
    found = traffic(LOAD, trace(range(4), 4, 1, events), TWO)
    assert (found.l2_sectors_far, found.dram_bytes_read) == (0, 0)


def test_what_crosses_is_part_of_what_l2_answers():
    for lines in (20, 33, 50, 66):
        found = traffic(LOAD, trace([0, 1], 4, 1, rounds(lines, 2)), TWO, How("warm", arrays=((IN, 128 * lines),)))
        assert 0 <= found.l2_sectors_far <= found.l2_sectors_read - found.dram_bytes_read / 32 + 1e-9


def test_launches_over_the_same_data_find_a_quarter_of_it_far_beyond_two_thirds():
    """Blocks of the next launch may run on either side: what is held once is as often as not on the other."""
    def reads(block, warp):
        return [("global", 0, IN + 128 * (4 * block + warp) + 4 * LANE, None)]

    def far(share):
        size = round(4096 * 128 / share)
        machine = Facts(80, 4, 1, 0, size, size)
        sample = trace([*range(8), *range(500, 508)], 1024, 4, reads)
        found = traffic(LOAD, sample, machine, How("warm", arrays=((IN, 4096 * 128),)))
        return found.l2_sectors_far / (found.l2_sectors_read - found.dram_bytes_read / 32)

    assert far(0.4) == 0
    assert far(0.6) == pytest.approx(1 - 1 / (2 * 0.6), abs=0.02)
    assert far(0.66) == pytest.approx(0.25, abs=0.02)
    assert far(0.8) == pytest.approx(0.25, abs=0.02)
    assert np.all(np.diff([far(share) for share in (0.45, 0.5, 0.55, 0.6, 0.65)]) >= 0)
