"""Fronts, and the boards that would do."""

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from support.sweep_rows import rows
from warpbound.sweeping.pareto_fronts import dominated, summary


def brute_force(values):
    smaller = (values[:, None, :] <= values[None, :, :]).all(-1) & (values[:, None, :] < values[None, :, :]).any(-1)
    return smaller.any(axis=0)


@settings(max_examples=100, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(0, 4).map(float)))
def test_dominated_rows_are_those_that_another_beats(values):
    np.testing.assert_array_equal(dominated(values), brute_force(values))


GRID = [(d, c) for d in (1.0, 1.5, 2.0) for c in (1.0, 2.0)]


def test_the_least_boards_that_reach_the_target():
    """One kernel follows DRAM, the other L2: either alone gives sqrt(2) in the mean, both give 2."""
    table = rows(*(("dram.cu", d, c, 2.0, 2.0 / d) for d, c in GRID), *(("l2.cu", d, c, 2.0, 2.0 / c) for d, c in GRID))
    found = summary(table, 1.4)
    least = [(board.times["dram_bandwidth"], board.times["l2_size"]) for board in found.sufficient]
    assert sorted(least) == [(1.0, 2.0), (2.0, 1.0)]
    assert found.sufficient[0].speedup == pytest.approx(2**0.5)
    assert (found.sufficient[0].reaching, found.sufficient[0].kernels) == (1, 2)
    (both,) = summary(table, 2.0).sufficient
    assert (both.times["dram_bandwidth"], both.times["l2_size"], both.reaching) == (2.0, 2.0, 2)
    assert summary(table, 3.0).sufficient == []
    assert summary(table, 3.0).best[0].speedup == pytest.approx(2.0)


def test_a_kernel_counts_by_its_best_tuning():
    points = [("a.cu", 1.0, 1.0, 4.0, 4.0), ("a.cu", 1.0, 1.0, 2.0, 2.0), ("a.cu", 2.0, 1.0, 4.0, 1.0)]
    (board,) = summary(rows(*points, ("a.cu", 2.0, 1.0, 2.0, 2.0)), 1.9).sufficient
    assert board.speedup == pytest.approx(2.0)  # from 2 s to 1 s


def test_points_without_an_answer_are_counted_and_on_no_front():
    found = summary(rows(("a.cu", 1.0, 1.0, 1.0, 1.0), ("a.cu", 2.0, 1.0, 1.0, np.nan)), 1.5)
    assert (found.points, found.without_answer) == (2, 1)
    assert [point.point for point in found.fronts[0].front] == [0]


def test_a_front_leaves_out_what_is_not_known():
    table = rows(("a.cu", 1.0, 1.0, 1.0, 1.0), ("a.cu", 2.0, 1.0, 1.0, 0.5), energy_J=[1.0, 2.0])
    front = summary(table, 1.5).fronts[0].front
    assert [point.point for point in front] == [1, 0]
    assert front[0].quantities == {"time_s": 0.5, "energy_J": 2.0, "registers": 1.0, "cost": None}
