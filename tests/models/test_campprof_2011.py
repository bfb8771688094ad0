"""CampProf's model and regressions: statsmodels, scaling, arrays, order of the bounds, what its equation cannot do."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.strategies import positive
from warpbound.models import campprof_2011 as cp
from warpbound.models.campprof_2011 import regression

quick = settings(max_examples=60, deadline=None)
KINDS = ("gld_32", "gld_64", "gld_128", "gst_32", "gst_64", "gst_128")


EQUATION = {
    "slope": positive(1e-8, 1e-5),
    "two_byte": positive(-1e-6, 1e-6),
    "four_byte": positive(-1e-6, 1e-6),
    "constant": positive(1e-6, 1e-4),
    "slope_two_byte": positive(-1e-8, 1e-6),
    "slope_four_byte": positive(-1e-8, 1e-6),
}
NUMBERS = dict.fromkeys(KINDS, positive(0, 1e7)) | {
    "per_warp": positive(1e2, 1e5),
    "warps": positive(1, 32),
    "degree": positive(0, 1),
}
equations = st.builds(cp.Equation, **EQUATION)
inputs = st.builds(cp.Inputs, equations, equations, equations, equations, **NUMBERS)


def in_unit(equation: cp.Equation, unit: float) -> cp.Equation:
    return cp.Equation(*(unit * value for value in dataclasses.astuple(equation)))


def timed_in(x: cp.Inputs, unit: float) -> cp.Inputs:
    groups = ("reads", "writes", "camped_reads", "camped_writes")
    return dataclasses.replace(x, **{name: in_unit(getattr(x, name), unit) for name in groups})


@quick
@given(x=inputs, unit=positive(1e-3, 1e9))
def test_unit_of_time_only_rescales(x: cp.Inputs, unit: float) -> None:
    for function in (cp.best, cp.worst):
        assert function(timed_in(x, unit)) == pytest.approx(unit * function(x), rel=1e-9)
    assert cp.predict(timed_in(x, unit)).total == pytest.approx(unit * cp.predict(x).total, rel=1e-9)


@quick
@given(x=inputs, draws=st.lists(st.fixed_dictionaries(NUMBERS), min_size=1, max_size=4))
def test_arrays_equal_scalars(x: cp.Inputs, draws: list[dict[str, float]]) -> None:
    together = dataclasses.replace(x, **{name: np.array([draw[name] for draw in draws]) for name in NUMBERS})
    found = cp.predict(together)
    for i, draw in enumerate(draws):
        alone = cp.predict(dataclasses.replace(x, **draw))
        assert alone.total == pytest.approx(found.total[i], rel=1e-12, abs=1e-30)
        assert alone.bottleneck == found.bottleneck[i]


@quick
@given(x=inputs, factor=positive(1, 10))
def test_more_bandwidth_and_fewer_transactions_never_hurt(x: cp.Inputs, factor: float) -> None:
    """A machine whose benchmarks take 1/factor of the time, and one whose benchmarks moved factor times as much."""
    total = cp.predict(x).total
    assert cp.predict(timed_in(x, 1 / factor)).total <= total * (1 + 1e-12)
    assert cp.predict(dataclasses.replace(x, per_warp=factor * x.per_warp)).total <= total * (1 + 1e-12)
    for kind in KINDS:
        assert cp.best(dataclasses.replace(x, **{kind: factor * getattr(x, kind)})) >= cp.best(x)


@quick
@given(x=inputs, warps=positive(1, 32))
def test_reads_and_writes_add_up(x: cp.Inputs, warps: float) -> None:
    nothing = dict.fromkeys(KINDS, 0.0)
    alone = [cp.best(dataclasses.replace(x, **(nothing | {kind: getattr(x, kind)}))) for kind in KINDS]
    assert sum(alone) == pytest.approx(cp.best(x))
    assert cp.best(dataclasses.replace(x, **nothing)) == 0


@quick
@given(best=positive(1e-6, 1), width=positive(1e-6, 1), degree=positive(-2, 3))
def test_degree_and_application_are_inverse(best: float, width: float, degree: float) -> None:
    time = cp.application(degree, best, best + width)
    assert cp.degree_of_camping(time, best, best + width) == pytest.approx(degree, rel=1e-6, abs=1e-6)
    assert cp.extrapolated(time, (best, best + width), best, best + width) == pytest.approx(time)


def test_ends_of_the_band_are_0_and_1_and_a_closed_band_has_no_degree() -> None:
    assert cp.degree_of_camping(np.array([2.0, 5.0, 3.5]), 2.0, 5.0).tolist() == [0, 1, 0.5]
    assert np.isnan(cp.degree_of_camping(2.0, 3.0, 3.0))


@pytest.mark.parametrize("kind", [*KINDS, "camping"])
def test_each_part_is_the_largest_somewhere(kind: str) -> None:
    flat, camped = cp.Equation(1e-7, 0.0, 0.0, 1e-6), cp.Equation(1e-6, 0.0, 0.0, 1e-5)
    changed: dict[str, Any] = {"degree": 1.0, "gld_64": 1.0} if kind == "camping" else {kind: 10.0}
    x = cp.Inputs(flat, flat, camped, camped, 100.0, 8.0, **(dict.fromkeys(KINDS, 1.0) | changed))
    assert cp.predict(x).bottleneck == kind


# --- regression ---


def points(seed: int, words: tuple[int, ...] = (2, 4, 8), noise: float = 1.0) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    warps = np.tile(np.array(cp.active_warps(32, 16), float), len(words))
    word = np.repeat(np.array(words, float), 24)
    slope, two, four, constant = random.normal(0, 10, 4)
    time = slope * warps + two * (word == 2) + four * (word == 4) + constant + random.normal(0, noise, len(warps))
    return warps, word, time


@quick
@given(seed=st.integers(0, 2**32), form=st.sampled_from(sorted(regression.FORMS)), noise=positive(0.01, 100))
def test_statistics_equal_those_of_statsmodels(seed: int, form: str, noise: float) -> None:
    warps, word, time = points(seed, noise=noise)
    two, four = word == 2, word == 4
    columns = [warps, two, four, np.ones(72), warps * two, warps * four][: len(regression.FORMS[form])]
    other = pytest.importorskip("statsmodels.api").OLS(time, np.column_stack(columns).astype(float)).fit()
    found = regression.fit(warps, word, time, regression.FORMS[form])
    np.testing.assert_allclose(found.coefficients, other.params, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.standard_errors, other.bse, rtol=1e-8)
    np.testing.assert_allclose(found.t, other.tvalues, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.p, other.pvalues, rtol=1e-5, atol=1e-300)
    assert found.r_squared == pytest.approx(other.rsquared, rel=1e-9)
    assert found.rmse == pytest.approx(np.sqrt(other.mse_resid), rel=1e-9)
    assert found.degrees_of_freedom == other.df_resid


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 68, 1000])
def test_two_sided_probability_equals_scipys(freedom: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    for t in [0.0, *np.logspace(-3, 2, 60)]:
        assert regression.two_sided(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), rel=1e-6)
        assert regression.two_sided(-t, freedom) == regression.two_sided(t, freedom)
    assert np.isnan(regression.two_sided(float("nan"), freedom))
    assert regression.two_sided(float("inf"), freedom) == 0


def test_selection_keeps_what_matters_and_drops_what_does_not() -> None:
    warps, word, _ = points(0)
    random = np.random.default_rng(7).normal(0, 1, 72)
    assert regression.select(warps, word, 2 * warps - 30 * (word == 2) - 20 * (word == 4) + random) == (
        "slope", "two_byte", "four_byte", "constant",
    )  # fmt: skip
    assert regression.select(warps, word, 2 * warps + random) == ("slope", "constant")
    assert regression.select(warps, word, -30.0 * (word == 4) + random) == ("four_byte", "constant")
    assert regression.select(warps, word, random) == ("constant",)


@pytest.mark.parametrize("words", [(2, 4), (8,), ()])
def test_too_few_groups_are_refused(words: tuple[int, ...]) -> None:
    with pytest.raises(ValueError):
        regression.fit(*points(1, words))


def test_equation_of_a_fit_gives_its_times() -> None:
    warps, word, time = points(3, noise=1e-9)
    for form in regression.FORMS.values():
        equation = regression.fit(warps, word, time, form).equation
        np.testing.assert_allclose(cp.benchmark_time(equation, warps, word), time, atol=1e-6)


def test_predictors_that_are_left_out_count_nothing() -> None:
    equation = regression.fit(*points(3), ("slope", "constant")).equation
    assert (equation.two_byte, equation.four_byte, equation.slope_two_byte, equation.slope_four_byte) == (0, 0, 0, 0)


@quick
@given(slope=positive(0.1, 10))
def test_one_slope_for_all_words_falls_below_zero_where_times_are_proportional_to_bytes(slope: float) -> None:
    """Why a slope for each word stands beside the published equation."""
    warps, word, _ = points(0)
    time = slope * warps * word
    published = regression.fit(warps, word, time).equation
    assert cp.benchmark_time(published, 1.0, 2.0) < 0
    by_size = regression.fit(warps, word, time + 1e-9 * np.sin(warps), regression.BY_SIZE).equation
    assert cp.benchmark_time(by_size, 1.0, 2.0) == pytest.approx(2 * slope, rel=1e-3)


@quick
@given(n=st.integers(3, 12), seed=st.integers(0, 10**6))
def test_errors_of_lines_leave_their_starting_points_out(n: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    best = random.uniform(1, 2, n)
    worst = best + random.uniform(1, 2, n)
    on_line = cp.application(0.4, best, worst)
    assert cp.extrapolation_errors(np.asarray(on_line), best, worst) == pytest.approx(np.zeros((n, n - 1)), abs=1e-12)
    measured = random.uniform(1, 3, n)
    found = cp.extrapolation_errors(measured, best, worst)
    assert found.shape == (n, n - 1)
    start, end = 0, n - 1
    line = cp.extrapolated(measured[start], (best[start], worst[start]), best[end], worst[end])
    assume(abs(line - measured[end]) > 1e-6)
    assert found[start, -1] == pytest.approx(abs(line - measured[end]) / measured[end])


def test_sixteen_starting_points_give_240_errors() -> None:
    warps = np.arange(1.0, 17.0)
    assert cp.extrapolation_errors(30 + warps**2, 10 + warps, 20 + 25 * warps).size == 240


def test_a_zero_error_makes_the_geometric_mean_zero() -> None:
    assert cp.geometric_mean(np.array([0.5, 0.0])) == 0
