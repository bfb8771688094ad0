"""Models against the papers' equations written a second time: 600 random inputs each, edges among them.

The usual run takes all seeds of the short models and the first SAMPLE of the others, the broad run all.
"""

import dataclasses
import pkgutil
from random import Random

import numpy as np
import pytest

from support.papers import campprof, hong_kim, limits, volkov, x_model
from warpbound import models
from warpbound.models import campprof_2011, hong_kim_2009, x_model_2016
from warpbound.models.campprof_2011 import regression

SEEDS, SAMPLE, BATCH = 600, 60, 60
BATCHES = [
    pytest.param(range(first, first + BATCH), marks=pytest.mark.broad if first >= SAMPLE else (), id=str(first))
    for first in range(0, SEEDS, BATCH)
]
close = {"rel": 1e-9, "abs": 1e-12}
SECONDS = limits.MODELS | volkov.MODELS


def test_every_model_is_written_twice() -> None:
    own = {"campprof_2011", "hong_kim_2009", "x_model_2016"}  # below
    assert SECONDS.keys() | own == {module.name for module in pkgutil.iter_modules(models.__path__)}


@pytest.mark.parametrize("name", SECONDS)
def test_limits_and_times(name: str) -> None:
    """All seeds at once: these take milliseconds."""
    for seed in range(SEEDS):
        symbols = SECONDS[name].drawn(Random(seed))
        computed = SECONDS[name].computed(symbols)
        assert computed == pytest.approx(SECONDS[name].again(symbols), **close), (seed, symbols)


@pytest.mark.parametrize("seeds", BATCHES)
def test_campprof(seeds: range) -> None:
    for seed in seeds:
        case = campprof.drawn(Random(seed))
        warps, per_warp, degree, counts = case["warps"], case["per_warp"], case["degree"], case["counts"]
        low, high = (
            campprof.bound(case["equations"][first], case["equations"][first + 1], counts, warps, per_warp)
            for first in (0, 2)
        )
        equations = [campprof_2011.Equation(*equation) for equation in case["equations"]]
        x = campprof_2011.Inputs(*equations, per_warp, warps, **counts, degree=degree)
        assert campprof_2011.best(x) == pytest.approx(low, **close)
        assert campprof_2011.worst(x) == pytest.approx(high, **close)
        time = low + degree * (high - low)
        assert campprof_2011.predict(x).total == pytest.approx(time, **close)
        if abs(high - low) > 1e-9 * abs(low):
            share = (time - low) / (high - low)
            assert campprof_2011.degree_of_camping(time, low, high) == pytest.approx(share, **close)


@pytest.mark.parametrize("seeds", BATCHES)
def test_campprof_regressions(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        points = [(warps, word, random.gauss(1e-4 * warps, 1e-4)) for warps in range(1, 9) for word in (2, 4, 8)]
        kept = random.sample(points, random.randint(16, len(points)))
        rows = [[float(w), float(b == 2), float(b == 4), 1.0] for w, b, _ in kept]
        times = [time for _, _, time in kept]
        found = regression.fit(*(np.array(column, float) for column in zip(*kept, strict=True)))
        expected = campprof.normal_equations(rows, times)
        assert found.coefficients.tolist() == pytest.approx(expected, rel=1e-7, abs=1e-12)
        left = [t - sum(a * b for a, b in zip(row, expected, strict=True)) for row, t in zip(rows, times, strict=True)]
        mean = sum(times) / len(times)
        squares = sum(e * e for e in left)
        assert found.rmse == pytest.approx((squares / (len(times) - 4)) ** 0.5)
        assert found.r_squared == pytest.approx(1 - squares / sum((t - mean) ** 2 for t in times))


@pytest.mark.parametrize("seeds", BATCHES)
def test_hong_kim(seeds: range) -> None:
    taken = set()
    for seed in seeds:
        symbols = hong_kim.drawn(Random(seed))
        x = hong_kim_2009.Inputs(**symbols)
        readings = ((hong_kim_2009.predict, hong_kim.adopted), (hong_kim_2009.predict_as_published, hong_kim.printed))
        for model, again in readings:
            parts, (cycles, barriers) = model(x).parts, again(symbols)
            assert parts["memory"] + parts["computation"] == pytest.approx(cycles, **close), (seed, symbols)
            assert parts["barrier"] == pytest.approx(barriers, **close), (seed, symbols)
        taken.add(float(hong_kim_2009.equation_taken(x)))
    assert taken == {22, 23, 24}


@pytest.mark.parametrize("seeds", BATCHES)
def test_x_model(seeds: range) -> None:
    for seed in seeds:
        random = Random(seed)
        symbols = x_model.drawn(random)
        x, k = x_model_2016.Inputs(**symbols), random.uniform(1e-3, 1.0) * symbols["threads"]
        assert float(x_model_2016.curves.supply(x, k)) == pytest.approx(x_model.supply(symbols, k), **close)
        assert float(x_model_2016.curves.demand(x, symbols["threads"] - k)) == pytest.approx(x_model.demand(symbols, k))
        arrived = x_model.reached(symbols)
        assert float(x_model_2016.reached(x)) == pytest.approx(arrived, rel=1e-7), symbols
        rate = x_model.supply(symbols, arrived)
        assert float(x_model_2016.predict(x).rate) == pytest.approx(rate, rel=1e-6), symbols


def test_the_throughput_of_the_best_number_of_threads_is_the_most_of_any() -> None:
    """f has two maxima, and the one at delta may be higher than the cache peak."""
    for seed in range(150):
        symbols = x_model.drawn(Random(seed))
        x = x_model_2016.Inputs(**symbols)
        best = float(x_model_2016.operations.best_threads(x))
        n = np.unique(np.r_[np.geomspace(0.5, 1e5, 2000), best])
        rates = x_model_2016.curves.supply(x, x_model_2016.reached(dataclasses.replace(x, threads=n)))
        assert rates[n == best] == pytest.approx(rates.max(), rel=1e-6), symbols
        assert (rates[n < 0.99 * best] < rates.max() * (1 - 1e-9)).all(), symbols
        gain = x_model_2016.operations.largest_gain(x, x_model_2016.reached(x))
        assert gain == pytest.approx(rates.max() / float(x_model_2016.predict(x).rate), rel=1e-5), symbols


def test_throttling_does_not_stop_at_the_first_of_two_maxima() -> None:
    x = x_model_2016.Inputs(
        threads=4000.0, ilp=1.0, intensity=20.0, lanes=96.0, latency=600.0, ms_throughput=1.2, cache_latency=10.0,
        cache_capacity=16384.0, alpha=6.0, beta=819.2,
    )  # fmt: skip
    k, rate = x_model_2016.operations.highest(x)
    assert k == 720  # delta; the cache peak, at 12 threads, gives 0.84
    assert rate == pytest.approx(1.3728, rel=1e-4)
    assert x_model_2016.operations.best_threads(x) == pytest.approx(720 + 20 * rate)


@pytest.mark.parametrize("seeds", BATCHES)
def test_sampled_curves_reach_what_the_equation_reaches(seeds: range) -> None:
    """Eq. 3 given as samples instead of alpha and beta."""
    for seed in seeds:
        symbols = x_model.drawn(Random(seed))
        if not symbols["cache_capacity"]:
            continue
        x = x_model_2016.Inputs(**symbols)
        share = np.geomspace(symbols["cache_capacity"] / symbols["threads"] / 2, 1e9, 4000)
        rate = x_model_2016.sampled.MissRate(share, (1 + share / symbols["beta"]) ** (1 - symbols["alpha"]))
        curve = x_model_2016.sampled.curve_of(x, rate)
        k = np.linspace(0.2, 1.0, 9) * symbols["threads"]
        expected = [x_model.supply(symbols, at) for at in k]
        assert x_model_2016.sampled.supply(x, rate, k) == pytest.approx(expected, rel=2e-3), symbols
        arrived = x_model_2016.sampled.reached(x, curve)
        demanded = x_model.demand(symbols, arrived)
        assert float(curve.at(np.asarray(arrived))) == pytest.approx(demanded, rel=1e-3, abs=1e-6)
        walked = np.linspace(0.0, arrived, 500)[1:-1]
        assert all(x_model.supply(symbols, at) < x_model.demand(symbols, at) * (1 + 5e-3) for at in walked), symbols
