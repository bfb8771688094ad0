"""Scores worked by hand, and what must hold of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.validate.scores import kendall_tau, regret, score

TIMES = st.lists(st.floats(1e-6, 1e3), min_size=2, max_size=12)


def array(*values):
    return np.array(values, dtype=float)


def test_errors_by_hand():
    edges = array((0.9, 1.1), (1.0, 1.9), (3.0, 5.0), (1.0, 2.0))
    found = score(array(1.1, 1.6, 4.0, 2.0), array(1.0, 2.0, 4.0, 4.0), intervals=edges)
    assert found.n == 4
    assert found.mape == pytest.approx((0.1 + 0.2 + 0.0 + 0.5) / 4)
    assert found.bias == pytest.approx(-0.1)  # median of -0.5, -0.2, 0, 0.1
    assert found.median == pytest.approx(0.15)
    assert found.worst == 0.5
    assert found.within == 0.75
    assert found.coverage == 0.5
    assert found.width == pytest.approx((0.5 + 0.5) / 2)  # median of 0.2/1.1, 0.9/1.6, 2/4, 1/2
    assert found.p90 < found.p95 < found.worst


def test_ranking_counts_pairs_that_are_apart():
    measured = array(1.0, 1.05, 2.0, 4.0)  # the first two are not apart: five pairs are
    assert kendall_tau(array(1, 2, 3, 4), measured) == 1.0
    assert kendall_tau(array(2, 1, 3, 4), measured) == 1.0
    assert kendall_tau(array(1, 2, 4, 3), measured) == pytest.approx(3 / 5)
    assert kendall_tau(array(4, 3, 2, 1), measured) == -1.0
    assert kendall_tau(array(1, 1, 1, 1), measured) == 0.0
    assert kendall_tau(array(1, 2), array(1.0, 1.09)) is None


def test_regret_is_of_the_best_that_was_tried():
    measured, predicted = array(5.0, 3.0, 2.0, 9.0), array(1.0, 2.0, 3.0, 0.5)
    assert regret(predicted, measured, ["a"] * 4, 1) == pytest.approx(9 / 2 - 1)
    assert regret(predicted, measured, ["a"] * 4, 2) == pytest.approx(5 / 2 - 1)
    assert regret(predicted, measured, ["a"] * 4, 3) == pytest.approx(3 / 2 - 1)
    assert regret(predicted, measured, ["a"] * 4, 4) is None  # everything was tried
    assert regret(predicted, measured, ["a", "a", "b", "b"], 1) == pytest.approx(((5 / 3 - 1) + (9 / 2 - 1)) / 2)
    assert regret(predicted, measured, [0] * 4, 1) is None  # no groups


@given(TIMES, st.floats(0.1, 10.0))
def test_a_right_model_has_no_error_and_a_factor_shows_as_one(times, factor):
    measured = np.array(times)
    exact, off = score(measured, measured, [1] * len(times)), score(factor * measured, measured, [1] * len(times))
    assert exact.mape == exact.worst == 0.0
    assert exact.ranked in (None, 1.0)
    assert exact.regret_1 == 0.0
    assert off.mape == pytest.approx(abs(factor - 1), rel=1e-6, abs=1e-12)
    assert off.bias == pytest.approx(factor - 1, rel=1e-6, abs=1e-12)
    assert off.regret_1 == pytest.approx(0.0, abs=1e-12)  # the order is still right
    assert 0 <= off.within <= 1
