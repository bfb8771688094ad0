"""The pure parts: stamps, stopping, fits, against numbers worked out by hand or known beforehand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fake_gpu import FACTS
from warpbound.measure.cache_bandwidth import across, l2_reach
from warpbound.measure.case import Record
from warpbound.measure.contention import contention, needed_of, plateau, standard_errors
from warpbound.measure.sampling import Stopping, histogram, median_of, noise, otsu_threshold, quantile, stamp_statistics


def test_stamps_by_hand() -> None:
    stamps = np.array([[10, 20, 0], [15, 30, 0], [20, 40, 0], [1000, 1010, 7]], dtype=np.uint64)
    found = stamp_statistics(stamps)
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
    found = stamp_statistics(stamps)
    assert found["warps"] == min(peaks.values())
    sms = len(peaks)
    assert sum(found["over_time"]) / 20 * found["duration"] * sms == pytest.approx(sum(n for _, n, _ in rows), rel=0.02)


def test_occupancy_over_time_by_hand() -> None:
    """Two SMs: one has two warps and then one, the other one warp for half of the time."""
    found = stamp_statistics(np.array([[0, 100, 0], [0, 50, 0], [700, 750, 1]], dtype=np.uint64))
    assert found["over_time"] == [1.5] * 10 + [0.5] * 10
    assert median_of([found, found])["over_time"] == found["over_time"]


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
    assert needed_of(warps, rates, 100.0, 0.9) == 16
    assert needed_of(warps, rates, 100.0, 0.95) == 32
    assert needed_of(warps, rates, 120.0, 0.9) is None
    assert needed_of(warps[:0], rates[:0], 100.0, 0.9) is None


def test_two_heaps_are_parted_between_them() -> None:
    values = np.array([200.0, 210.0, 220.0, 300.0, 310.0])
    assert otsu_threshold(values, np.array([5, 90, 5, 40, 40])) == 220.0


def test_histogram_and_quantile() -> None:
    found = histogram([np.array([3, 3, 5], np.uint32), np.array([9], np.uint32)])
    assert found == {"values": [3, 5, 9], "counts": [2, 1, 1]}
    assert [quantile(found["values"], found["counts"], share) for share in (0.1, 0.5, 0.75, 1.0)] == [3, 3, 5, 9]


def test_what_a_fit_knows_of_itself() -> None:
    """A straight line through noise: the textbook's error of the slope, and what it says is what repeats show."""
    x = np.linspace(1.0, 2.0, 30)
    random = np.random.default_rng(5)
    slopes, said = [], []
    for _ in range(200):
        y = 3.0 * x + random.normal(0.0, 0.1, len(x))
        slope = float(x @ y / (x @ x))
        slopes.append(slope)
        said.append(float(standard_errors(lambda u, y=y: y - u[0] * x, np.array([slope]))[0]))
    assert np.mean(said) == pytest.approx(0.1 / np.sqrt(x @ x), rel=0.05)
    assert np.std(slopes) == pytest.approx(np.mean(said), rel=0.15)
    assert np.isinf(standard_errors(lambda u: u, np.array([1.0]))).all()
    y = 3.0 * x + random.normal(0.0, 0.1, len(x))
    one, other = standard_errors(lambda u: y - u[0] * x, np.array([3.0, 5.0]))  # the second leaves no trace
    assert one == pytest.approx(0.1 / np.sqrt(x @ x), rel=0.5)
    assert np.isinf(other)


def test_contention_says_how_well_it_is_known() -> None:
    """With the ceiling given, b is found within three of its standard errors; without, it is known much less."""
    a, b, c = 700.0, 56.0, 4500.0
    rates = c * np.array([0.01, 0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.9, 0.97])
    random = np.random.default_rng(11)
    off, ratio = [], []
    for _ in range(30):
        latency = (a + b * rates / (c - rates)) * (1.0 + random.normal(0.0, 0.003, len(rates)))
        given, free = contention(latency, rates, c), contention(latency[:8], rates[:8])
        off.append((given.b / b - 1.0) / given.b_error)
        ratio.append(free.b_error / given.b_error)
        assert given.points == 9
        assert given.c_error == 0.0
        assert given.b == pytest.approx(b, rel=0.1)
    assert np.std(off) == pytest.approx(1.0, abs=0.4)
    assert np.median(ratio) > 2.0


def reads_of(rates: dict[float, float]) -> list[Record]:
    """Sets that all SMs read, by their share of L2, at these rates; and one that is much larger than it."""
    size = FACTS.l2_size
    rows = [("reach", share, rate) for share, rate in rates.items()] + [("sweep_l2", 3.9, rates[max(rates)])]
    return [Record({"kernel": name, "size": share * size, "bytes": 1e6}, {"duration": 1e6 / rate}, 5, 0.0, 1.8e9)
            for name, share, rate in rows]  # fmt: skip


def ring_of(missing: dict[float, float], hit: float = 260.0, missed: float = 700.0) -> list[Record]:
    """Single loads round sets of these shares of L2, of which so many miss."""
    cycles = {share: hit + part * (missed - hit) for share, part in {**missing, 4.0: 1.0}.items()}
    return [Record({"kernel": "ring", "size": share * FACTS.l2_size, "hops": 10}, {"latency": 10 * one}, 5, 0.0, 1.8e9)
            for share, one in cycles.items()]  # fmt: skip


SHARES = [k / 20 for k in range(8, 27)]
DOUBLED = {share: 40.0 if share <= 0.5 else 21.0 if share <= 0.8 else 10.0 for share in SHARES}


def test_what_crosses_between_the_sides_of_l2_is_a_step_before_the_misses() -> None:
    """Loads to the other side take a third of the way to device memory longer and are no misses."""
    found = across(reads_of(DOUBLED), FACTS)
    assert {float(r.axes["size"]) / FACTS.l2_size for r in found} == {0.55, 0.6, 0.65, 0.7}
    crossed = {share: 0.0 if share <= 0.5 else 0.34 + 0.66 * max(0.0, (share - 0.7) / 0.2) for share in SHARES}
    crossed = {share: min(1.0, part) for share, part in crossed.items()}
    assert l2_reach(reads_of(DOUBLED) + ring_of(crossed), FACTS) == pytest.approx(0.8, abs=0.01)
    assert l2_reach(ring_of(crossed), FACTS) == pytest.approx(0.75, abs=0.01)  # without the rates they look like some


def test_an_l2_of_one_side_crosses_nothing() -> None:
    """Neither where it holds all nor where its reads begin to miss at half of it, and more and more of them."""
    whole = {share: 40.0 if share <= 0.8 else 10.0 for share in SHARES}
    small = {share: min(40.0, 40.0 * (0.5 / share) ** 2) for share in SHARES}
    assert across(reads_of(whole), FACTS) == []
    assert across(reads_of(small), FACTS) == []
    step = {share: float(share > 0.8) for share in SHARES}
    assert l2_reach(reads_of(whole) + ring_of(step), FACTS) == pytest.approx(0.825, abs=1e-9)  # between the two sets


@pytest.mark.parametrize("reach", [0.47, 0.66, 0.83, 1.0])
def test_the_reach_of_l2_is_where_half_of_the_loads_miss(reach: float) -> None:
    """Whatever rates do: all misses are seen, few of them too."""
    missing = {share: min(1.0, max(0.0, 0.5 + (share - reach) / 0.3)) for share in (0.2, 0.3, *SHARES)}
    assert l2_reach(ring_of(missing, 250.0), FACTS) == pytest.approx(reach, rel=0.01)
    assert l2_reach(ring_of(missing, 250.0, 260.0), FACTS) is None  # device memory is no slower: nothing to be seen
    assert l2_reach(ring_of(missing)[:-1], FACTS) is None           # what a miss costs is not known
    assert l2_reach(ring_of(dict.fromkeys(SHARES, 0.0)), FACTS) is None  # it lies where nobody looked


def test_a_plateau_is_where_more_loads_do_nothing() -> None:
    flying, rate = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 1.9, 2.99, 3.0])
    assert plateau(flying, rate) == 3.0
    assert plateau(flying[:3], rate[:3]) is None


def test_the_turnover_leaves_filling_and_draining_out() -> None:
    """Two at once, each ten cycles: a fifth of a warp per cycle, although the third one's partner is missing."""
    rows = [(0, 10), (0, 10), (12, 22), (12, 22), (24, 34), (24, 34), (36, 46)]
    stamps = np.array([(start, end, 0) for start, end in rows], dtype=np.uint64)
    found = stamp_statistics(stamps)
    assert found["turnover"] == pytest.approx((2 + 2) / 24)  # from 12 to 36: four whole lives
    alone = np.array([(0, 10, 0), (2, 12, 0)], dtype=np.uint64)
    assert stamp_statistics(alone)["turnover"] == pytest.approx(0.2)  # from 2 to 10: two times eight tenths
    assert stamp_statistics(np.array([(0, 10, 0), (10, 20, 0)], dtype=np.uint64))["turnover"] == pytest.approx(0.1)
