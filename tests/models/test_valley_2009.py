"""The valley model: its turns, and how it differs from the X-model that puts k in its place of n."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.strategies import grown, positive
from warpbound.models import valley_2009 as valley
from warpbound.models import x_model_2016 as xm

quick = settings(max_examples=60, deadline=None)


FIELDS = {
    "elements": positive(1, 4096),
    "clock": positive(1e8, 3e9),
    "cpi": positive(0.5, 4),
    "cache_capacity": positive(1e3, 1e8),
    "cache_latency": positive(1, 40),
    "memory_latency": positive(100, 1000),
    "bandwidth": positive(1e9, 1e13),
    "operand_bytes": positive(1, 16),
    "threads": positive(1, 1e5),
    "memory_fraction": positive(0.01, 1),
    "alpha": positive(1.01, 9),
    "beta": positive(10, 5000),
}
machines = st.builds(valley.Inputs, **FIELDS)


@quick
@given(x=machines, unit=positive(0.01, 100))
def test_valley_rescales_with_time(x: valley.Inputs, unit: float) -> None:
    faster = grown(grown(x, "clock", unit), "bandwidth", unit)
    assert valley.predict(faster).rate == pytest.approx(valley.predict(x).rate * unit)
    cycles = x
    for field in ("clock", "cpi", "cache_latency", "memory_latency"):
        cycles = grown(cycles, field, unit)
    assert valley.predict(cycles).rate == pytest.approx(valley.predict(x).rate)


@quick
@given(draws=st.lists(st.fixed_dictionaries(FIELDS), min_size=1, max_size=4))
def test_valley_broadcasts(draws: list[dict[str, float]]) -> None:
    together = valley.Inputs(**{name: np.array([draw[name] for draw in draws]) for name in FIELDS})
    found, peaks, regions = valley.predict(together), valley.peak_threads(together), valley.region(together)
    for i, draw in enumerate(draws):
        alone = valley.Inputs(**draw)
        assert valley.predict(alone).rate == pytest.approx(found.rate[i], rel=1e-12)
        assert valley.predict(alone).bottleneck == found.bottleneck[i]
        assert valley.peak_threads(alone) == pytest.approx(peaks[i], rel=1e-9, nan_ok=True)
        assert valley.region(alone) == regions[i]


HELPS = ["elements", "clock", "cache_capacity", "bandwidth"]
HURTS = ["cpi", "memory_latency", "cache_latency", "operand_bytes", "memory_fraction", "beta"]


@quick
@given(x=machines, factor=positive(1, 10))
def test_more_never_hurts_the_valley_but_threads(x: valley.Inputs, factor: float) -> None:
    rate = valley.predict(x).rate
    for field in HELPS:
        assert valley.predict(grown(x, field, factor)).rate >= rate * (1 - 1e-9)
    for field in HURTS:
        assert valley.predict(grown(x, field, factor)).rate <= rate * (1 + 1e-9)


def machine(**changed: Any) -> valley.Inputs:
    """A many-thread machine with a cache too small for its threads; numbers of ours."""
    x = valley.Inputs(1024.0, 1e9, 1.0, 65536.0, 1.0, 200.0, 1e13, 4.0, 100.0, 0.2, 7.0, 50.0)
    return dataclasses.replace(x, **changed)


def test_threads_hurt_between_peak_and_valley() -> None:
    peak, dip = float(valley.peak_threads(machine())), float(valley.valley_threads(machine()))
    n = np.linspace(1.0, 3 * dip, 4000)
    rate = valley.predict(machine(threads=n)).limits["thread"]
    falls = (n[:-1] >= peak) & (n[1:] <= dip)
    assert (np.diff(rate)[falls] < 0).all()
    assert (np.diff(rate)[(n[1:] <= peak) | (n[:-1] >= dip)] > 0).all()


@quick
@given(x=machines)
def test_turns_are_extrema_of_the_thread_bound(x: valley.Inputs) -> None:
    for n, sign in ((valley.peak_threads(x), 1), (valley.valley_threads(x), -1)):
        if not np.isnan(n):
            around = dataclasses.replace(x, threads=n * np.array([0.99, 1.0, 1.01]))
            before, there, after = sign * valley.predict(around).limits["thread"]
            assert there >= max(before, after) - 1e-9 * abs(there)


@pytest.mark.parametrize(
    "threads, name", [(300.0, "many-core"), (3000.0, "valley"), (30000.0, "many-thread"), (1e6, "many-thread")]
)
def test_each_region_is_met(threads: float, name: str) -> None:
    assert valley.region(machine(threads=threads)) == name


def test_no_valley_without_super_linear_misses() -> None:
    x = machine(alpha=2.0)
    assert np.isnan(valley.peak_threads(x))
    assert np.isnan(valley.valley_threads(x))
    assert valley.region(x) == "many-thread"


@pytest.mark.parametrize(
    "x, name",
    [
        (machine(), "thread"),
        (machine(threads=1e6), "computation"),
        (machine(threads=1e6, bandwidth=1e11), "memory"),
    ],
)
def test_each_valley_bound_is_met(x: valley.Inputs, name: str) -> None:
    limits = {other: float(limit) for other, limit in valley.predict(x).limits.items()}
    assert limits.pop(name) < 0.5 * min(limits.values())


@quick
@given(x=machines)
def test_utilisation_is_what_keeps_the_elements_from_their_peak(x: valley.Inputs) -> None:
    roomy = dataclasses.replace(x, bandwidth=1e30)
    peak = x.elements * x.clock / x.cpi
    assert valley.predict(roomy).rate == pytest.approx(peak * valley.utilisation(x))


@quick
@given(x=machines)
def test_x_model_shares_the_cache_among_fewer(x: valley.Inputs) -> None:
    """In the X-model only the threads in memory share it, so it hits more and is no slower."""
    assume(x.memory_latency > x.cache_latency)
    fraction = x.memory_fraction
    other = xm.Inputs(
        x.threads, 1 / x.cpi, 1 / fraction, x.elements / x.cpi, x.memory_latency, 1e30,
        x.cache_latency, x.cache_capacity, x.alpha, x.beta,
    )  # fmt: skip
    found = xm.state(other)
    assert found.hit_rate >= valley.hit_rate(x) - 1e-12
    ours = valley.predict(dataclasses.replace(x, bandwidth=1e30)).rate / x.clock
    assert found.cs_throughput >= ours * (1 - 1e-6)
