"""Edges of intervals from measured launches: worked by hand, and what must hold of them whatever the launches are."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.analysis.accuracy import ANY, AS_SPREAD, Form
from warpbound.analysis.interval import LEAST, stretched
from warpbound.validate.interval_calibration import MOST, edge, form_errors, score, stated, with_held_back_intervals
from warpbound.validate.judged_row import Result
from warpbound.validate.results import validation_of

HALF = 0.1  # log half-width of a bare interval


def result(error: float, corpus: str = "a", gpu: str = "x", binds: str = "dram", kind: str = "judged") -> Result:
    """Measured exp(error) times as long as predicted."""
    return Result(
        corpus, "kernel", gpu, "", kind, math.exp(error), {"warpbound": 1.0}, bare=(math.exp(-HALF), math.exp(HALF)),
        binds=binds, bottleneck=binds,
    )  # fmt: skip


# ---------------------------------------------------------------- by hand


def test_a_score_is_the_error_in_units_of_the_spread():
    unit = math.hypot(HALF, LEAST)
    assert score(result(0.2)) == pytest.approx(0.2 / unit)
    assert score(result(-0.2)) == pytest.approx(-0.2 / unit)


def test_an_edge_by_hand():
    """One group of ten and nothing else: nine stay below the ninth."""
    own = {"one": [0.1 * i for i in range(1, 11)]}
    assert edge(own, {}, 1) == pytest.approx(0.9)
    assert edge(own, {}, -1) == 0.0  # all are slower than predicted: the time itself is the lower edge
    assert edge({}, own, 1) == pytest.approx(0.9)
    assert edge({}, {}, 1) == 1.0


def test_what_was_not_seen_counts_as_one_group_more():
    own, rest = {"one": [0.5] * 10}, {"two": [0.1] * 7, "three": [2.0] * 5}
    assert edge(own, rest, 1) == 2.0               # a quarter of the weight lies at 2
    nine = {f"group {i}": [0.5] for i in range(9)}
    assert edge(nine, rest, 1) == 0.5              # a twentieth does


def test_the_stretched_interval_by_hand():
    low, high = stretched(2.0, (1.0, 8.0), Form("dram", slower=0.5, faster=2.0, launches=1, groups=("g",)))
    assert low == pytest.approx(2.0 * math.exp(-2.0 * math.hypot(math.log(2), LEAST)))
    assert high == pytest.approx(2.0 * math.exp(0.5 * math.hypot(math.log(4), LEAST)))


# ---------------------------------------------------------------- whatever the launches are

SCORES = st.lists(st.floats(-5, 5), min_size=1, max_size=8)
GROUPS = st.dictionaries(st.sampled_from("abcdef"), SCORES, max_size=5)


@given(GROUPS, GROUPS)
def test_a_large_group_counts_as_twenty_launches_however_many_it_has(own, rest):
    large = {name: scores * MOST for name, scores in own.items()}
    more = {name: scores * 3 * MOST for name, scores in own.items()}
    assert edge(large, rest, 1) == edge(more, rest, 1)
    assert edge(own, rest, 1) == edge(own, {name: scores * 3 for name, scores in rest.items()}, 1)


@given(GROUPS.filter(bool), GROUPS)
def test_edges_reach_what_they_are_for(own, rest):
    """At least nine tenths of the weight lies inside each edge."""
    for sign in (1, -1):
        reach = edge(own, rest, sign)
        inside = [np.mean(sign * np.array(scores) <= reach + 1e-9) for scores in own.values()]
        unseen = [np.mean(sign * np.array(scores) <= reach + 1e-9) for scores in rest.values()]
        weights = [float(len(scores)) for scores in own.values()]
        parts = [*inside, *([np.mean(unseen)] if unseen else [])]
        weights += [np.mean(weights)] if unseen else []
        assert np.average(parts, weights=weights) >= 0.9 - 1e-9


def test_an_interval_that_is_held_back_does_not_know_what_was_measured():
    others = [result(error, gpu=gpu) for gpu in "yz" for error in (-0.1, 0.1)]
    calm, wild = (next(with_held_back_intervals([result(error), *others])) for error in (0.01, 3.0))
    assert calm.interval == wild.interval
    assert calm.inside
    assert not wild.inside


def test_an_interval_reaches_the_clocks_that_the_board_may_hold():
    """After the model's own error: 10 % slower and 20 % faster clocks, by hand; an edge that is held moves nothing."""
    unit = math.hypot(HALF, LEAST)
    for clocks_s, below, above in (
        (None, unit, unit), ((None, 1.1), unit, math.hypot(unit, math.log(1.1))),
        ((1 / 1.2, None), math.hypot(unit, math.log(1.2)), unit),
    ):  # fmt: skip
        found = stated(msgspec.structs.replace(result(0.0), clocks_s=clocks_s), AS_SPREAD)
        assert np.log(found) == pytest.approx([-below, above])


def test_calibration_rows_and_refusals_tell_nothing():
    rows = [result(0.1, gpu=gpu) for gpu in "xyz"]
    more = [*rows, result(5.0, kind="calibration"), msgspec.structs.replace(result(5.0), bare=None)]
    assert form_errors(more) == form_errors(rows)


def test_launches_of_other_boards_are_covered_as_often_as_stated():
    """Sixty boards that differ in what they are off by, and launches that differ on each: four fifths inside."""
    draw = np.random.default_rng(1)
    rows = [
        result(off + error, gpu=str(board))
        for board, off in enumerate(draw.normal(0, 0.2, 60))
        for error in draw.normal(0, 0.1, 20)
    ]
    inside = [r.inside for r in with_held_back_intervals(rows)]
    assert 0.74 <= np.mean(inside) <= 0.86


def test_a_class_without_launches_takes_what_holds_of_all():
    found = {form.binds: form for form in form_errors([result(0.1), result(0.3, binds="l2", gpu="y")])}
    assert set(found) == {ANY, "dram", "l2"}
    assert found[ANY].launches == 2
    assert found["dram"].groups == ("a, x",)


def test_other_corpora_stand_beside_those_that_are_run():
    others = [result(0.5, gpu=gpu) for gpu in "yz"]
    alone, beside = validation_of((), [result(0.0)]), validation_of((), [result(0.0)], others)
    assert beside.results[0].interval != alone.results[0].interval
    assert [r.corpus for r in beside.results] == ["a"]
    same = validation_of((), [result(0.0)], [result(9.0)])  # of the corpus and board that is run: replaced, not added
    assert same.results[0].interval == alone.results[0].interval
