"""A launch that finds changed lines of others in L2: by hand, and what holds for any launch."""

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.handmade_traces import COPY, MACHINE, copy, trace
from warpbound.memory.flushed_caches import CONSTANTS_B, DIRTY, FLUSHED, Others, after_others
from warpbound.memory.l2_cyclic_reuse import READ_STAYS
from warpbound.memory.traffic import How, Traffic, traffic

ARRAY_B = 64 * 4 * 128.0  # of each of both
CODE_B = 384.0


@cache
def copying() -> Traffic:
    """Traffic of a copy from empty caches."""
    return traffic(COPY, trace(range(64), 64, 4, copy), MACHINE, How("cold"))


def copied(l2_bytes: float, read: float = ARRAY_B, changed: float = ARRAY_B, others: Others = FLUSHED) -> Traffic:
    """Traffic of a launch that reads and changes so many bytes, after others."""
    own = copying()
    assert (own.dram_bytes_read, own.dram_bytes_written, own.touched_bytes) == (ARRAY_B, ARRAY_B, 2 * ARRAY_B)
    touched = read + changed
    own = replace(
        own, dram_bytes_read=read, dram_bytes_written=changed, touched_bytes=touched,
        left_in_l2_bytes=changed * min(1.0, l2_bytes / max(1.0, touched)),
    )  # fmt: skip
    return after_others(own, l2_bytes, CODE_B, others)


def test_data_that_fit_stay_and_push_out_what_others_left():
    l2 = 4 * ARRAY_B
    found = copied(l2)
    assert found.left_in_l2_bytes == ARRAY_B
    assert found.dram_bytes_written == pytest.approx(FLUSHED.changed * l2 * (0.5 - FLUSHED.free) / (1 - FLUSHED.free))
    assert found.dram_bytes_read == ARRAY_B + CONSTANTS_B + CODE_B


def test_few_data_push_nothing_out():
    assert copied(100 * ARRAY_B).dram_bytes_written == 0.0


def test_much_data_leave_changed_lines_rather_than_read_ones():
    l2 = ARRAY_B / 10
    found = copied(l2)
    assert found.left_in_l2_bytes == pytest.approx(l2 / (1 + READ_STAYS))
    assert found.dram_bytes_written == pytest.approx(ARRAY_B - l2 / (1 + READ_STAYS) + FLUSHED.changed * l2)
    assert copied(l2, read=0.0).left_in_l2_bytes == pytest.approx(l2)


def test_an_overwritten_l2_is_written_back_as_far_as_a_launch_replaces_it():
    fitting = copied(4 * ARRAY_B, others=DIRTY)
    assert (fitting.dram_bytes_written, fitting.left_in_l2_bytes) == (2 * ARRAY_B, ARRAY_B)
    norm = copied(1.5 * ARRAY_B, others=DIRTY)  # all of L2, and of its own as much as does not stay
    assert norm.dram_bytes_written == pytest.approx(1.5 * ARRAY_B + ARRAY_B - norm.left_in_l2_bytes)
    assert len(norm.notes) == len(copied(1.5 * ARRAY_B).notes) + 1


def test_without_an_l2_all_is_written():
    assert copied(0.0).dram_bytes_written == ARRAY_B


SIZES = st.floats(0.0, 1e9)


@given(st.floats(1.0, 1e8), SIZES, SIZES, st.sampled_from([FLUSHED, DIRTY]))
def test_of_any_launch(l2: float, read: float, changed: float, others: Others):
    found = copied(l2, read, changed, others)
    assert 0 <= found.left_in_l2_bytes <= min(l2, changed) * (1 + 1e-9)
    assert found.dram_bytes_written + found.left_in_l2_bytes >= changed * (1 - 1e-9)
    assert found.dram_bytes_written <= changed + others.changed * l2
    assert copied(l2, 2 * read + 1, changed, others).left_in_l2_bytes <= found.left_in_l2_bytes * (1 + 1e-9)
