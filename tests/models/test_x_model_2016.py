"""What must hold of the Transit and X-models, and against threads that move between two systems."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from support.strategies import grown, positive
from support.x_model_inputs import thrashing
from warpbound.models import transit_2015 as transit
from warpbound.models import x_model_2016 as xm
from warpbound.models.x_model_2016 import curves, degradation, equilibrium, operations, search, shape

quick = settings(max_examples=60, deadline=None)


PLAIN = {
    "threads": positive(1, 400),
    "ilp": positive(0.5, 4),
    "intensity": positive(1, 512),
    "lanes": positive(1, 128),
    "latency": positive(100, 1000),
    "ms_throughput": positive(0.02, 2),
}
CACHE = {
    "cache_latency": positive(1, 60),
    "cache_capacity": st.just(0.0) | positive(256, 2**18),
    "alpha": positive(1, 8),
    "beta": positive(32, 4096),
}
plain = st.builds(xm.Inputs, **PLAIN)
cached = st.builds(xm.Inputs, **PLAIN, **CACHE).filter(  # see test_machine_balance_is_an_interval for R = M/Z
    lambda x: not np.isclose(x.lanes / x.intensity, x.ms_throughput, rtol=1e-9)
)
transits = st.builds(transit.Inputs, **{name: part for name, part in PLAIN.items() if name != "ilp"})


# --- without a cache the solver has an oracle --------------------------------------------------------


@quick
@given(x=plain)
def test_solver_finds_the_closed_form(x: xm.Inputs) -> None:
    closed = xm.predict_without_cache(x)
    assert xm.predict(x).rate == pytest.approx(float(closed.rate), rel=1e-9)
    assert xm.state(x).ms_throughput == pytest.approx(float(closed.rate), rel=1e-9)
    for limit in closed.limits:
        assert xm.predict(x).limits[limit] == pytest.approx(float(closed.limits[limit]), rel=1e-9)


@quick
@given(x=plain)
def test_all_intersections_have_the_closed_form(x: xm.Inputs) -> None:
    found = equilibrium.intersections(x)
    assert found.count == 1
    assert found.ms_throughput[0] == pytest.approx(float(xm.predict_without_cache(x).rate), rel=1e-9)


@quick
@given(x=transits)
def test_transit_is_the_model_without_cache_and_ilp(x: transit.Inputs) -> None:
    other = xm.Inputs(x.threads, 1.0, x.intensity, x.lanes, x.latency, x.ms_throughput)
    assert transit.predict(x).rate == xm.predict_without_cache(other).rate
    found = transit.state(x)
    assert found.fewest_ms_threads == pytest.approx(float(xm.reached(other)), rel=1e-6)
    assert transit.supply(found.fewest_ms_threads, x.latency, x.ms_throughput) == pytest.approx(found.ms_throughput)
    computing = x.threads - np.asarray(found.most_ms_threads)
    assert transit.demand(computing, x.lanes, x.intensity) == pytest.approx(found.ms_throughput)


@quick
@given(x=plain, excess=positive(0, 100))
def test_machine_balance_is_an_interval(x: xm.Inputs, excess: float) -> None:
    x = dataclasses.replace(x, intensity=x.lanes / x.ms_throughput)
    x = dataclasses.replace(x, threads=float(xm.parallelism(x).machine_tlp) + 1.0 + excess)
    found = equilibrium.intersections(x)
    assert found.stability.tolist() == ["neutral"]
    assert found.most_ms_threads[0] - found.fewest_ms_threads[0] == pytest.approx(1.0 + excess)
    assert found.ms_throughput[0] == pytest.approx(x.ms_throughput)
    assert found.fewest_ms_threads[0] * (1 - 1e-9) <= xm.reached(x) <= found.most_ms_threads[0] * (1 + 1e-9)
    assert xm.bound_class(x) == "capacity"


@quick
@given(x=transits)
def test_transit_balance_is_the_same_interval(x: transit.Inputs) -> None:
    x = dataclasses.replace(x, intensity=np.divide(x.lanes, x.ms_throughput))
    x = dataclasses.replace(x, threads=np.add(transit.parallelism(x).machine_tlp, 10.0))
    found = transit.state(x)
    assert np.subtract(found.most_ms_threads, found.fewest_ms_threads) == pytest.approx(10.0)
    assert transit.bound_class(x) == "capacity"


# --- with a cache ------------------------------------------------------------------------------------


@quick
@given(x=cached)
def test_reached_is_the_first_of_all(x: xm.Inputs) -> None:
    found = equilibrium.intersections(x)
    assert found.stability[0] == "stable"
    assert xm.reached(x) == pytest.approx(found.fewest_ms_threads[0], rel=1e-7)
    assert equilibrium.settles(x, 0.0) == found.fewest_ms_threads[0]
    assert equilibrium.congested(x) == np.nanmax(found.fewest_ms_threads)


@quick
@given(x=cached)
def test_stable_and_unstable_take_turns(x: xm.Inputs) -> None:
    found = equilibrium.intersections(x)
    words = found.stability.tolist()
    assert words == ["stable" if i % 2 == 0 else "unstable" for i in range(len(words))]
    assert found.count == len(words)
    supply, demand = (
        curves.supply(x, found.fewest_ms_threads),
        curves.demand(x, np.subtract(x.threads, found.fewest_ms_threads)),
    )
    assert supply == pytest.approx(demand, rel=1e-7)


def test_no_crossing_is_missed_on_a_fine_grid() -> None:
    draws = np.random.default_rng(7)
    k = np.linspace(0.0, 1.0, 20001)[1:-1]
    seen = set()
    for n in (20, 60, 97, 98, 105, 130, 398, 420, 1000, 3000):
        for factor in (1.0, *draws.uniform(0.3, 3.0, 12)):
            x = thrashing(threads=float(n), ms_throughput=0.6 * factor)
            above = curves.excess(x, n * k) > 0
            crossings = np.count_nonzero(above[1:] != above[:-1])
            count = int(equilibrium.intersections(x).count)
            assert crossings <= count <= crossings + 2  # the grid may step over two at once
            seen.add(count)
    assert seen >= {1, 3, 5}


@quick
@given(x=cached)
def test_the_least_bound_is_the_state(x: xm.Inputs) -> None:
    k = xm.reached(x)
    assert xm.predict(x).rate == pytest.approx(float(curves.supply(x, k)), rel=1e-7)
    found = xm.state(x)
    assert found.cs_throughput == pytest.approx(float(curves.computation(x, found.cs_threads)), rel=1e-6)


@quick
@given(x=cached, k=positive(0.01, 1000))
def test_derivative_is_the_curve_s(x: xm.Inputs, k: float) -> None:
    assume(abs(k - float(curves.ms_transition(x))) > 1e-3 * k)
    step = 1e-5 * k
    rise = curves.supply(x, k + step) - curves.supply(x, k - step)
    scale = float(curves.supply(x, k)) / k
    assert curves.supply_slope(x, k) == pytest.approx(rise / (2 * step), abs=1e-4 * scale)


@quick
@given(x=cached, k=positive(0.01, 1000), factor=positive(1.01, 10))
def test_storage_scales_the_curve(x: xm.Inputs, k: float, factor: float) -> None:
    assume(k * factor < float(curves.ms_transition(x)))
    bigger = grown(x, "cache_capacity", factor)
    assert curves.supply(bigger, k * factor) == pytest.approx(factor * curves.supply(x, k))
    assert curves.supply(grown(bigger, "beta", factor), k) == pytest.approx(float(curves.supply(x, k)))


@quick
@given(x=cached, k=positive(0.01, 1000))
def test_equation_5_is_equations_1_to_4(x: xm.Inputs, k: float) -> None:
    assert curves.supply(x, k) == pytest.approx(k / float(curves.average_latency(x, k)))


@quick
@given(x=cached)
def test_peak_and_valley_are_extrema(x: xm.Inputs) -> None:
    assume(x.cache_capacity > 0 and x.alpha > 1.05)
    for position, sign in ((shape.peak(x), 1), (shape.valley(x), -1), (shape.crest(x), 1)):
        if not np.isnan(position):
            near = curves.supply(x, position * np.array([0.98, 1.0, 1.02]))
            assert sign * near[1] >= sign * near[0] - 1e-12
            assert sign * near[1] >= sign * near[2] - 1e-12


@quick
@given(x=cached)
def test_a_peak_needs_a_fast_cache(x: xm.Inputs) -> None:
    assume(x.cache_capacity > 0)
    ratio = x.cache_latency / (x.latency - x.cache_latency)
    limit = float(shape.slowest_cache_with_a_peak(x.alpha))
    assume(abs(ratio - limit) > 1e-6 * limit)
    roomy = dataclasses.replace(x, ms_throughput=1e6)  # so that delta is beyond every turn
    assert np.isnan(shape.turning_points(roomy, 0.0).first_fall) == (ratio >= limit)


def test_cache_insensitive_curves_have_no_peak() -> None:
    for flat in (thrashing(alpha=1.0), thrashing(cache_capacity=0.0)):
        assert np.isnan(shape.peak(flat))
        assert np.isnan(shape.valley(flat))
        assert curves.hit_rate(flat, 10.0) == 0


@quick
@given(x=cached)
@example(x=xm.Inputs(1.0, 1.0, 1.0, 1.0, 687.0625, 1.5206327833347144, 1.0, 0.0, 1.0, 32.0))  # flat but for rounding
def test_the_slope_drops_at_delta(x: xm.Inputs) -> None:
    """So a curve that falls up to delta falls for good."""
    delta = float(curves.ms_transition(x))
    assert curves.supply_slope(x, delta) <= curves.supply_slope(x, np.nextafter(delta, 0.0)) + 1e-12
    t = shape.turning_points(x, 0.0)
    assert np.isnan(t.second_rise)
    if not np.isnan(t.first_fall) and np.isnan(t.first_rise):
        assert np.isnan(t.second_fall)


# --- what flows, settles -----------------------------------------------------------------------------


def test_threads_settle_where_the_flow_takes_them() -> None:
    start = np.array([0.0, 10.0, 22.8, 23.4, 60.0, 105.0])
    k = start
    for _ in range(4000):
        k = k - 5.0 * curves.excess(thrashing(), k)
    assert equilibrium.settles(thrashing(threads=np.full(6, 105.0)), start) == pytest.approx(k, rel=1e-6)


def test_an_unstable_state_keeps_still_until_disturbed() -> None:
    sigma = float(equilibrium.intersections(thrashing()).fewest_ms_threads[1])
    assert not equilibrium.is_stable(thrashing(), sigma)
    assert equilibrium.settles(thrashing(), sigma * (1 - 1e-6)) < sigma < equilibrium.settles(
        thrashing(), sigma * (1 + 1e-6)
    )


@quick
@given(x=cached)
def test_signed_criterion_agrees_with_the_crossings(x: xm.Inputs) -> None:
    found = equilibrium.intersections(x)
    for k, word in zip(found.fewest_ms_threads, found.stability, strict=True):
        slope = float(curves.supply_slope(x, k) + curves.demand_slope(x, x.threads - k))
        if abs(slope) > 1e-6:
            assert (word == "stable") == bool(equilibrium.is_stable(x, k))


# --- units, arrays -----------------------------------------------------------------------------------


@quick
@given(x=cached, unit=positive(0.01, 100))
def test_x_model_rescales_with_time(x: xm.Inputs, unit: float) -> None:
    slower = x
    for field in ("latency", "cache_latency"):
        slower = grown(slower, field, unit)
    for field in ("ms_throughput", "lanes", "ilp"):
        slower = grown(slower, field, 1 / unit)
    assert xm.predict(slower).rate == pytest.approx(xm.predict(x).rate / unit, rel=1e-6)
    assert xm.reached(slower) == pytest.approx(float(xm.reached(x)), rel=1e-6)


@quick
@given(x=transits, unit=positive(0.01, 100))
def test_transit_rescales_with_requests(x: transit.Inputs, unit: float) -> None:
    """A lane makes one instruction per cycle: the unit of time is fixed, that of threads is not."""
    more = grown(grown(grown(x, "threads", unit), "lanes", unit), "ms_throughput", unit)
    assert transit.predict(more).rate == pytest.approx(transit.predict(x).rate * unit)
    assert transit.predict_as_published(x).rate > 0


@quick
@given(draws=st.lists(st.fixed_dictionaries(PLAIN | CACHE), min_size=1, max_size=4))
def test_x_model_broadcasts(draws: list[dict[str, float]]) -> None:
    together = xm.Inputs(**{name: np.array([draw[name] for draw in draws]) for name in draws[0]})
    rate, kinds, several = xm.predict(together).rate, xm.bound_class(together), degradation.drop(together)
    every = equilibrium.intersections(together)
    for i, draw in enumerate(draws):
        alone = xm.Inputs(**draw)
        assert xm.predict(alone).rate == pytest.approx(rate[i], rel=1e-12)
        assert xm.bound_class(alone) == kinds[i]
        assert degradation.drop(alone) == pytest.approx(several[i], rel=1e-9, abs=1e-12)
        assert equilibrium.intersections(alone).count == every.count[i]


def test_x_model_fills_a_plane() -> None:
    x = thrashing(threads=np.arange(1.0, 400.0)[:, None], intensity=np.array([16.0, 128.0, 1024.0]))
    found = xm.predict(x)
    assert found.rate.shape == (399, 3)
    assert np.isfinite(found.rate).all()


def test_chunks_leave_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    x = thrashing(threads=np.linspace(1, 900, 1000), ms_throughput=0.3)
    whole = xm.reached(x)
    monkeypatch.setattr(search, "CHUNK", 7)
    assert xm.reached(x) == pytest.approx(whole, rel=1e-9)


# --- more never hurts, but for the valley ------------------------------------------------------------

HELPS = ["ilp", "lanes", "ms_throughput", "threads"]


@quick
@given(x=plain, factor=positive(1, 10))
def test_more_never_hurts_without_a_cache(x: xm.Inputs, factor: float) -> None:
    rate = float(xm.predict(x).rate)
    for field in HELPS:
        assert xm.predict(grown(x, field, factor)).rate >= rate * (1 - 1e-9)
    assert xm.predict(grown(x, "latency", factor)).rate <= rate * (1 + 1e-9)
    busier = grown(x, "intensity", factor)
    assert xm.predict(busier).rate <= rate * (1 + 1e-9)
    assert xm.state(busier).cs_throughput >= xm.state(x).cs_throughput * (1 - 1e-9)  # principle 3


@quick
@given(x=transits, factor=positive(1, 10))
def test_more_never_hurts_transit(x: transit.Inputs, factor: float) -> None:
    rate = transit.predict(x).rate
    for field in ("threads", "lanes", "ms_throughput"):
        assert transit.predict(grown(x, field, factor)).rate >= rate
    assert transit.predict(grown(x, "latency", factor)).rate <= rate
    busier = grown(x, "intensity", factor)
    assert transit.state(busier).cs_throughput >= transit.state(x).cs_throughput * (1 - 1e-12)
    promised = transit.principles(x, busier)
    assert not promised.more_cs_same_intensity


@quick
@given(x=cached, factor=positive(1, 4))
def test_faster_memory_never_hurts_a_launch(x: xm.Inputs, factor: float) -> None:
    """A supply curve that is higher everywhere meets the same demand earlier."""
    rate = float(xm.predict(x).rate)
    assert xm.predict(grown(x, "ms_throughput", factor)).rate >= rate * (1 - 1e-7)
    assert xm.predict(grown(x, "cache_capacity", factor)).rate >= rate * (1 - 1e-7)
    assert xm.predict(grown(x, "latency", 1 / factor)).rate >= rate * (1 - 1e-7) or x.latency / factor < 60
    assert xm.predict(grown(x, "cache_latency", 1 / factor)).rate >= rate * (1 - 1e-7)


def test_more_threads_lanes_or_ilp_hurt_beyond_the_peak() -> None:
    """The X-model's valley: what raises demand on a thrashing cache lowers the throughput."""
    x = thrashing(threads=30.0, intensity=16.0)
    rate = float(xm.predict(x).rate)
    assert xm.reached(x) > shape.peak(x)
    for field in ("threads", "ilp"):
        assert xm.predict(grown(x, field, 1.5)).rate < 0.9 * rate
    assert xm.predict(grown(x, "intensity", 1.5)).rate > rate
    few_lanes = thrashing(threads=30.0, intensity=16.0, lanes=12.0)
    assert xm.predict(grown(few_lanes, "lanes", 8.0)).rate < xm.predict(few_lanes).rate


@quick
@given(x=plain, factor=positive(1.01, 10))
def test_principles_keep_their_promise(x: xm.Inputs, factor: float) -> None:
    for operation in operations.OPERATIONS:
        for by in (factor, 1 / factor):
            found = operations.after_launch(x, operations.operate(x, operation, by))
            if found.principle >= 2:
                assert found.cs_gain > 1 - 1e-9
            if found.principle in (1, 2):
                assert found.ms_gain > 1
