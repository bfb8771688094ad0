"""What an L2 of one side has of data that launches go over again and again: limits, order, and measured launches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.memory.l2_cyclic_reuse import READ_STAYS, UNEVEN, kept_share

SHARES = st.floats(0.0, 1.0)
# Queued launches that read and write as much, in blocks of 512 threads: MB of both arrays, us; from the file that
# `launches-elsewhere` names for the A40. us between launches; GB/s of DRAM where nothing is left; MB/us of L2.
A40_MB_US = {6.159: 5.01, 6.529: 5.53, 6.920: 6.11, 7.336: 6.77, 7.776: 8.11, 8.737: 12.12, 9.261: 14.43}
A40_L2_MB, A40_GAP_US, A40_DRAM, A40_L2_RATE = 6.291, 1.56, 649.0, 2.428


@given(st.floats(0.0, 3.0))
def test_what_is_only_read_or_only_written_is_kept_or_lost_as_a_whole(data):
    assert kept_share(data, 0.0, 0.0) == (data < 1.0)
    assert kept_share(data, 1.0, 1.0) == (data < 1.0)


@given(st.floats(0.0, 3.0), st.floats(1.0, 2.0), SHARES, SHARES)
def test_more_data_are_never_kept_better(data, more, changed, of_all):
    assert 0.0 <= kept_share(data * more, changed, of_all) <= kept_share(data, changed, of_all) <= 1.0


@given(st.floats(0.0, 3.0), SHARES)
def test_what_is_changed_stays_longer(data, of_all):
    assert kept_share(data, 1.0, of_all) >= kept_share(data, 0.0, of_all)


def test_half_is_left_where_it_just_fits():
    for of_all in (0.25, 0.5, 0.75):
        assert kept_share(1.0, 0.0, of_all) == pytest.approx(0.5)
        assert kept_share(1.0 / (of_all + READ_STAYS * (1.0 - of_all)), 1.0, of_all) == pytest.approx(0.5)
    assert kept_share(1.0 - UNEVEN, 0.0, 0.5) == pytest.approx(1.0)
    assert kept_share(1.0 + UNEVEN, 0.0, 0.5) == pytest.approx(0.0, abs=1e-12)


def test_arrays_are_told_apart():
    both = kept_share(1.2, np.array([0.0, 1.0, 0.5]), 0.5)
    assert both.tolist() == pytest.approx([0.0, 1.0, 0.5])


@pytest.mark.parametrize("megabytes, us", A40_MB_US.items())
def test_an_a40_around_its_l2(megabytes, us):
    """Between DRAM and L2 at the same time and one after the other, to 15 %."""
    data = megabytes / A40_L2_MB
    lost = 1.0 - np.mean([kept_share(data, changed, 0.5) for changed in (0.0, 1.0)])
    dram, l2 = lost * megabytes / A40_DRAM * 1e3, megabytes / A40_L2_RATE
    assert A40_GAP_US + max(dram, l2) <= 1.15 * us
    assert A40_GAP_US + dram + l2 >= us / 1.15
