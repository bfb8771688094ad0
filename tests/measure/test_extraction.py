"""The pure parts: stamps, stopping, fits, against numbers worked out by hand or known beforehand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.measure.contention import contention, needed, needed_of
from warpbound.measure.sampling import Stopping, histogram, noise, of_stamps, parted, quantile


def test_stamps_by_hand() -> None:
    stamps = np.array([[10, 20, 0], [15, 30, 0], [20, 40, 0], [1000, 1010, 7]], dtype=np.uint64)
    found = of_stamps(stamps)
    assert found["duration"] == 30  # SM 0: 10 to 40
    assert found["latency"] == (10 + 15 + 20 + 10) / 4
    assert found["fastest"] == 10
    assert found["warps"] == 1  # on SM 7; 2 on SM 0, for what ends at 20 does not meet what starts then
    assert found["mean_warps"] == pytest.approx((45 / 30 + 1.0) / 2)
    assert found["sms"] == 2


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 30), st.integers(0, 3)), min_size=1, max_size=40))
def test_occupancy_is_what_counting_gives(rows: list[tuple[int, int, int]]) -> None:
    stamps = np.array([(start, start + length, sm) for start, length, sm in rows], dtype=np.uint64)
    peaks = {
        sm: max(sum(s <= t < s + n for s, n, where in rows if where == sm) for t in range(81))
        for sm in {row[2] for row in rows}
    }
    assert of_stamps(stamps)["warps"] == min(peaks.values())


def test_stopping() -> None:
    rule = Stopping(noise=0.01, fewest=4, most=8, seconds=1.0)
    assert not rule.enough([1.0] * 3, 0.0)
    assert rule.enough([1.0] * 4, 0.0)
    assert not rule.enough([1.0, 2.0, 3.0, 4.0], 0.0)
    assert rule.enough([1.0, 2.0, 3.0, 4.0] * 2, 0.0)
    assert rule.enough([1.0, 2.0, 3.0], 2.0)


def test_noise_is_the_standard_error_of_the_median() -> None:
    random = np.random.default_rng(3)
    medians = [float(np.median(random.normal(1.0, 0.05, 101))) for _ in range(2000)]
    said = [noise(random.normal(1.0, 0.05, 101).tolist()) for _ in range(200)]
    assert np.mean(said) == pytest.approx(np.std(medians), rel=0.1)


@pytest.mark.parametrize(("a", "b", "c"), [(700.0, 60.0, 4500.0), (513.0, 25.0, 170.0), (300.0, 4.0, 100.0)])
def test_contention_is_found_again(a: float, b: float, c: float) -> None:
    rates = c * np.array([0.02, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.94])
    found = contention(a + b * rates / (c - rates), rates)
    assert (found.a, found.c) == (pytest.approx(a, rel=0.01), pytest.approx(c, rel=0.01))
    assert found.b == pytest.approx(b, rel=0.05)
    assert found.latency(rates) == pytest.approx(a + b * rates / (c - rates), rel=0.005)


def test_needed_warps() -> None:
    warps, rates = np.array([1.0, 8.0, 16.0, 32.0]), np.array([10.0, 80.0, 92.0, 100.0])
    assert needed(warps, rates, 0.9) == 16
    assert needed(warps, rates, 0.95) == 32
    assert needed_of(warps, rates, 120.0, 0.9) is None
    assert needed(warps[:0], rates[:0], 0.9) is None


def test_two_heaps_are_parted_between_them() -> None:
    values = np.array([200.0, 210.0, 220.0, 300.0, 310.0])
    assert parted(values, np.array([5, 90, 5, 40, 40])) == 220.0


def test_histogram_and_quantile() -> None:
    found = histogram([np.array([3, 3, 5], np.uint32), np.array([9], np.uint32)])
    assert found == {"values": [3, 5, 9], "counts": [2, 1, 1]}
    assert [quantile(found["values"], found["counts"], share) for share in (0.1, 0.5, 0.75, 1.0)] == [3, 3, 5, 9]
