"""Sectors of which a store changes a part: with check bits L2 reads them first, without it does not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.handmade_traces import IN, LANE, MACHINE, OUT, program, trace
from warpbound.memory.aligned_units import units
from warpbound.memory.requests import sector_list
from warpbound.memory.traffic import How, traffic

WARPS, STEPS = 4, 4
CODE = program("LDG.E", *["STG.E"] * STEPS)
WIDE = program("STG.E.128")
CHECKED = replace(MACHINE, completes=True, l1_bytes=0)
BLOCKS = 64
OUTPUT_B = BLOCKS * WARPS * 32 * 4 * STEPS
ARRAYS = ((IN, OUTPUT_B), (OUT, OUTPUT_B))


def word_by_word(block, warp):
    """Four words of 4 bytes a lane, one after the other: each store changes two of the eight words of a sector."""
    at = OUT + 512 * (WARPS * block + warp) + 16 * LANE
    return [("global", 1 + step, at + 4 * step, None) for step in range(STEPS)]


def row_by_row(block, warp):
    """The same bytes by stores of whole lines."""
    at = OUT + 512 * (WARPS * block + warp) + 4 * LANE
    return [("global", 1 + step, at + 128 * step, None) for step in range(STEPS)]


def in_place(block, warp):
    """The same, after each sector was loaded."""
    at = OUT + 512 * (WARPS * block + warp) + 16 * LANE
    return [("global", 0, at, None), *word_by_word(block, warp)]


def moved(events, machine=CHECKED, blocks=range(BLOCKS), code=CODE):
    return traffic(code, trace(blocks, BLOCKS, WARPS, events), machine, How("cold", arrays=ARRAYS))


def test_with_check_bits_a_sector_is_read_once_for_the_stores_of_its_parts():
    found = moved(word_by_word)
    assert found.dram_bytes_read == OUTPUT_B
    assert found.l2_sectors_written == STEPS * OUTPUT_B / 32
    assert found.l2_hit_rate == pytest.approx(0.75)  # one in four stores of a sector misses


def test_stores_of_parts_are_counted():
    assert moved(word_by_word).l2_sectors_cut == STEPS * OUTPUT_B / 32
    assert moved(row_by_row).l2_sectors_cut == 0


def test_without_check_bits_nothing_is_read():
    assert moved(word_by_word, replace(CHECKED, completes=False)).dram_bytes_read == 0
    assert moved(word_by_word, MACHINE).l2_hit_rate == 1


def test_whole_sectors_are_not_read_and_present_ones_not_again():
    assert moved(row_by_row).dram_bytes_read == 0
    assert moved(in_place).dram_bytes_read == OUTPUT_B
    half = moved(lambda block, warp: [("global", 0, OUT + 512 * (WARPS * block + warp) + 16 * LANE, None)], code=WIDE)
    assert half.dram_bytes_read == 0


@pytest.mark.parametrize("events", [word_by_word, row_by_row, in_place])
def test_a_sample_says_the_same(events):
    some = moved(events, blocks=[0, 1, 30, 31, 62, 63])
    assert some.dram_bytes_read == pytest.approx(moved(events).dram_bytes_read, rel=0.01)


@given(st.lists(st.integers(0, 300), min_size=32, max_size=32), st.integers(1, (1 << 32) - 1))
def test_addresses_of_a_sector(words, lanes):
    active = np.array([lanes >> lane & 1 for lane in range(32)], bool)
    own = trace([0], 1, 1, lambda block, warp: [("global", 1, IN + 4 * np.array(words), active)])
    accesses = own.accesses["global"]
    chosen = {4 * word + IN for word, on in zip(words, active, strict=True) if on}
    expected = {sector: sum(at >> 5 == sector for at in chosen) for sector in sorted({at >> 5 for at in chosen})}
    found = sector_list(accesses)
    assert dict(zip(found.sector.tolist(), found.addresses.tolist(), strict=True)) == expected
    lines = units(accesses.patterns, 7)
    assert lines.addresses.sum() == len(chosen)
    assert len(lines.number) == len({at >> 7 for at in chosen})
