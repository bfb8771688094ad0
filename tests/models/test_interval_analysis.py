"""Interval analysis: closed forms against the scoreboard, bounds, units, arrays."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.interval_code import device, fma, load, store
from support.strategies import positive
from warpbound.models import interval_analysis as interval
from warpbound.models.interval_analysis import mxv, scoreboard
from warpbound.models.interval_analysis.mxv import Kernel
from warpbound.models.interval_analysis.scoreboard import Device

quick = settings(max_examples=60, deadline=None)


FIELDS = {
    "executions": positive(1, 1e9),
    "threads": positive(1, 1e6),
    "latency": positive(1, 1e5),
    "clock": positive(1e8, 3e9),
    "memory": positive(0.1, 1e3),
    "theta_m": positive(1e9, 1e13),
    "fp": positive(0.1, 1e3),
    "theta_if": positive(1, 1e5),
}


def build(**draw: Any) -> interval.Inputs:
    return interval.Inputs(
        draw["executions"],
        draw["threads"],
        draw["latency"],
        draw["clock"],
        data={"memory": draw["memory"]},
        data_bandwidth={"memory": draw["theta_m"]},
        insts={"fp": draw["fp"]},
        inst_bandwidth={"fp": draw["theta_if"]},
    )


draws = st.fixed_dictionaries(FIELDS)
kernels = st.builds(
    Kernel,
    rows=st.integers(1, 24).map(float),
    columns=st.integers(1, 24).map(float),
    load_latency=st.sampled_from([30.0, 90.0, 400.0]),
    fp_latency=st.sampled_from([1.0, 4.0, 6.0, 13.0]),
    load_cycles=st.sampled_from([1.0, 2.0, 4.0, 8.0]),
    fma_cycles=st.sampled_from([1.0, 2.0]),
    store_cycles=st.sampled_from([1.0, 2.0, 4.0, 8.0]),
)


@quick
@given(x=kernels)
def test_load_compute_store_is_what_the_scoreboard_says(x: Kernel) -> None:
    rows, columns = range(int(x.rows)), range(int(x.columns))
    code = [*map(load, columns), *(fma(r, c) for c in columns for r in rows), *map(store, rows)]
    assert scoreboard.latency(tuple(code), device(x)) == mxv.load_compute_store(x)
    published = float(mxv.load_compute_store_as_published(x))
    waits_for_loads_only = x.fma_cycles * x.rows >= x.load_cycles and x.load_latency >= x.load_cycles * x.columns
    until_first_store, until_last_store = x.fma_cycles * x.rows, x.fma_cycles + (x.rows - 1) * x.store_cycles
    if waits_for_loads_only and min(until_first_store, until_last_store) >= x.fp_latency:
        assert published == mxv.load_compute_store(x)
    assert published <= mxv.load_compute_store(x)


@quick
@given(x=kernels, vectors=st.integers(1, 3))
def test_repeated_load_compute_is_what_the_scoreboard_says(x: Kernel, vectors: int) -> None:
    x = dataclasses.replace(x, columns=8.0 * vectors, l2_latency=30.0, load_latency=90.0)
    code = []
    for c in range(int(x.columns)):
        code += [load(c, "M" if c % 8 == 0 else "2"), *(fma(r, c) for r in range(int(x.rows)))]
    code += map(store, range(int(x.rows)))
    assert scoreboard.latency(tuple(code), device(x)) == pytest.approx(mxv.load_compute_repeated_store(x))


@quick
@given(x=kernels)
def test_one_thread_per_row_is_what_the_scoreboard_says(x: Kernel) -> None:
    columns = range(int(x.columns))
    code = [*map(load, columns), *(fma(0, c) for c in columns), store(0)]
    assert scoreboard.latency(tuple(code), device(x)) == mxv.per_thread(x)


def test_notes_examples_by_the_scoreboard() -> None:
    """K_1 and per-thd as in the notes, which let these two store once a cycle."""
    x = Kernel(16.0, 16.0, 400.0, 6.0, store_cycles=1.0)
    code = []
    for c in range(16):
        code += [load(c, "M" if c % 8 == 0 else "2"), *(fma(r, c) for r in range(16))]
    code += map(store, range(16))
    assert scoreboard.latency(tuple(code), device(x)) == 3872
    chain = [*map(load, range(16)), *(fma(0, c) for c in range(16)), store(0)]
    assert scoreboard.latency(tuple(chain), device(x)) == 497


def test_scoreboard_takes_arrays() -> None:
    x = Kernel(4.0, 4.0, np.array([400.0, 500.0]), np.array([6.0, 4.0]))
    code = [load(0), fma(0, 0), store(0)]
    together = scoreboard.latency(tuple(code), device(x))
    assert np.array_equal(together, [410.0, 508.0])
    each = zip(x.load_latency, x.fp_latency, strict=True)
    apart = [mxv.load_compute_store(Kernel(4.0, 4.0, float(m), float(f))) for m, f in each]
    assert mxv.load_compute_store(x).tolist() == apart


@pytest.mark.parametrize("lanes, cycles", [(32, 1), (16, 2), (8, 4), (12, 3)])
def test_units_with_fewer_lanes_keep_the_port(lanes: float, cycles: float) -> None:
    assert scoreboard.occupancy(Device({"x": lanes}, {}), "x") == cycles


# --- bounds ------------------------------------------------------------------------------------------


@quick
@given(draw=draws, unit=positive(0.01, 100))
def test_interval_rescales_with_time(draw: dict[str, float], unit: float) -> None:
    """Cycles of another length: the clock and what is counted per cycle change together."""
    x = build(**draw)
    changed = draw | {name: draw[name] * unit for name in ("latency", "clock")}
    changed["theta_if"] = draw["theta_if"] / unit
    y = build(**changed)
    assert interval.time(y) == pytest.approx(float(interval.time(x)))
    assert interval.enough_threads(y).rate == pytest.approx(interval.enough_threads(x).rate)


@quick
@given(draw=draws, factor=positive(1, 10))
def test_more_never_hurts_an_interval(draw: dict[str, float], factor: float) -> None:
    rate = interval.predict(build(**draw)).rate
    for name in ("threads", "clock", "theta_m", "theta_if"):
        assert interval.predict(build(**draw | {name: draw[name] * factor})).rate >= rate * (1 - 1e-12)
    for name in ("latency", "memory", "fp"):
        assert interval.predict(build(**draw | {name: draw[name] * factor})).rate <= rate * (1 + 1e-12)


@quick
@given(several=st.lists(draws, min_size=1, max_size=4))
def test_interval_broadcasts(several: list[dict[str, float]]) -> None:
    together = interval.predict(build(**{name: np.array([d[name] for d in several]) for name in FIELDS}))
    for i, draw in enumerate(several):
        alone = interval.predict(build(**draw))
        assert alone.rate == pytest.approx(together.rate[i], rel=1e-12)
        assert alone.bottleneck == together.bottleneck[i]


@quick
@given(draw=draws)
def test_enough_threads_reach_the_limit_and_fewer_do_not(draw: dict[str, float]) -> None:
    needed = interval.enough_threads(build(**draw))
    x = build(**draw | {"threads": float(needed.rate)})
    found = interval.predict(x)
    assert found.limits["latency"] == pytest.approx(min(found.limits["issue"], found.limits["memory"]))
    fewer = interval.predict(dataclasses.replace(x, threads=0.9 * x.threads))
    assert fewer.bottleneck == "latency"
    more = interval.predict(dataclasses.replace(x, threads=10 * x.threads))
    assert more.rate == pytest.approx(found.rate)
    assert more.bottleneck == needed.bottleneck


@pytest.mark.parametrize(
    "changed, name",
    [({"threads": 100.0}, "latency"), ({}, "memory"), ({"fp": 1e5}, "issue")],
)
def test_each_interval_bound_is_met(changed: dict[str, float], name: str) -> None:
    draw = {
        "executions": 1e6, "threads": 1e5, "latency": 410.0, "clock": 1e9,
        "memory": 8.0, "theta_m": 1e11, "fp": 2.0, "theta_if": 1000.0,
    }  # fmt: skip
    limits = {other: float(limit) for other, limit in interval.predict(build(**draw | changed)).limits.items()}
    assert limits.pop(name) < 0.5 * min(limits.values())


def test_no_work_is_no_limit() -> None:
    x = dataclasses.replace(build(**dict.fromkeys(FIELDS, 1.0)), data={"memory": 0.0}, insts={})
    assert interval.predict(x).rate == interval.predict(x).limits["latency"]
    assert np.isinf(interval.enough_threads(x).rate)


@quick
@given(first=draws, second=draws)
def test_several_intervals_add_up(first: dict[str, float], second: dict[str, float]) -> None:
    found = interval.predict_several({"a": build(**first), "b": build(**second)})
    assert found.total == pytest.approx(float(interval.time(build(**first)) + interval.time(build(**second))))


def test_an_interval_is_well_chosen_when_it_covers_and_repeats() -> None:
    alike = interval.choice({"loop": np.array([10.0, 10.1, 9.9])}, 33.0)
    assert interval.is_well_chosen(alike, coverage=0.9, spread=0.05)
    assert not interval.is_well_chosen(alike, coverage=0.95, spread=0.05)
    other = interval.choice({"loop": np.array([10.0, 10.1, 9.9]), "tail": np.array([1.0, 2.0])}, 33.0)
    assert other.coverage == pytest.approx(1.0)
    assert not interval.is_well_chosen(other, coverage=0.9, spread=0.05)
    assert other.spread["tail"] == pytest.approx(1 / 3)


# --- the matrix-vector kernel ------------------------------------------------------------------------


@quick
@given(latency=positive(50, 2000), fma_cycles=positive(1, 4))
def test_the_best_size_needs_the_fewest_threads(latency: float, fma_cycles: float) -> None:
    def threads(size: Any) -> Any:
        x = Kernel(size, size, latency, 1.0, fma_cycles=fma_cycles)
        return mxv.load_compute_store_as_published(x) / mxv.data(x)

    best = mxv.size_needing_fewest_threads(latency, fma_cycles)
    around = best * np.geomspace(0.1, 10, 201)
    assert threads(best) <= threads(around).min() * (1 + 1e-12)


@quick
@given(size=positive(6, 200), latency=positive(100, 1000), theta=st.tuples(positive(16, 256), positive(8, 128)))
def test_printed_forms_of_q_agree(size: float, latency: float, theta: tuple[float, float]) -> None:
    assume(latency >= 4 * size)
    x = Kernel(size, size, latency, 6.0)
    q = interval.enough_threads_per_sm(
        mxv.load_compute_store(x), mxv.insts(x), {"fp": theta[0], "memory": theta[1]}
    )
    assert q == pytest.approx((latency + size**2 + 4 * size) / (size**2 / theta[0] + 2 * size / theta[1]))
    assert q == pytest.approx((latency / size + size + 4) / (size / theta[0] + 2 / theta[1]))
    assert q == pytest.approx((latency / size**2 + 1 + 4 / size) / (1 / theta[0] + 2 / (size * theta[1])))


def test_extra_instructions_count_once_in_latency_and_issue() -> None:
    x = Kernel(16.0, 16.0, 400.0, 6.0)
    more = dataclasses.replace(x, extra=19.0)
    for latency in (
        mxv.load_compute_store, mxv.load_compute_store_as_published, mxv.load_compute_repeated_store, mxv.per_thread,
    ):  # fmt: skip
        assert latency(more) == latency(x) + 19
    assert mxv.insts(more)["fp"] == mxv.insts(x)["fp"] + 19
    assert mxv.insts_per_thread(more)["fp"] == mxv.insts_per_thread(x)["fp"] + 19
