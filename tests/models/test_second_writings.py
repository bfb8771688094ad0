"""Models against the papers' equations written a second time: 600 random inputs each, edges among them.

The usual run takes the first SAMPLE seeds, the broad run all.
"""

from random import Random

import numpy as np
import pytest

from support.papers import campprof, hong_kim
from warpbound.models import campprof_2011, hong_kim_2009
from warpbound.models.campprof_2011 import regression

SEEDS, SAMPLE, BATCH = 600, 60, 60
BATCHES = [
    pytest.param(range(first, first + BATCH), marks=pytest.mark.broad if first >= SAMPLE else (), id=str(first))
    for first in range(0, SEEDS, BATCH)
]
close = {"rel": 1e-9, "abs": 1e-12}


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
