"""X-model and Transit: each bound is met somewhere; drops, and how many threads are best."""

import dataclasses

import numpy as np
import pytest

from support.x_model_inputs import thrashing
from warpbound.models import transit_2015 as transit
from warpbound.models import x_model_2016 as xm
from warpbound.models.x_model_2016 import curves, degradation, equilibrium, operations

# --- each bound and class is met ---------------------------------------------------------------------

CLASSES = {
    "thread": thrashing(threads=20.0, cache_capacity=1024.0),
    "computation": thrashing(threads=130.0),
    "memory": thrashing(threads=4000.0, lanes=960.0),
    "capacity": xm.Inputs(100.0, 1.0, 12.0, 6.0, 100.0, 0.5),
}


@pytest.mark.parametrize("name", CLASSES)
def test_each_class_is_met(name: str) -> None:
    assert xm.bound_class(CLASSES[name]) == name
    if name != "capacity":
        limits = {other: float(limit) for other, limit in xm.predict(CLASSES[name]).limits.items()}
        assert limits.pop(name) < 0.9 * min(limits.values())


@pytest.mark.parametrize(
    "x, name",
    [
        (transit.Inputs(48.0, 20.0, 6.0, 600.0, 0.1), "thread"),
        (transit.Inputs(96.0, 20.0, 6.0, 600.0, 0.1), "memory"),
        (transit.Inputs(96.0, 100.0, 6.0, 600.0, 0.1), "computation"),
        (transit.Inputs(96.0, 60.0, 6.0, 600.0, 0.1), "capacity"),
    ],
)
def test_each_transit_class_is_met(x: transit.Inputs, name: str) -> None:
    assert transit.bound_class(x) == name


# --- degradation, throttling -------------------------------------------------------------------------


def test_no_drop_is_larger_than_the_valley_s() -> None:
    n = np.linspace(90.0, 900.0, 400)
    drops = degradation.drop(thrashing(threads=n))
    marks = degradation.drops(thrashing())
    assert drops.max() <= marks.at_valley + 1e-9
    assert drops.max() == pytest.approx(float(marks.at_valley), rel=1e-3)
    assert drops.max() > marks.without_limit
    assert (drops > 0).argmax() == np.searchsorted(n, float(marks.threads_at_tangency))


def test_the_drop_grows_where_f_only_falls() -> None:
    n = np.geomspace(98.0, 1e5, 200)
    drops = degradation.drop(thrashing(threads=n, ms_throughput=0.11))
    marks = degradation.drops(thrashing(ms_throughput=0.11))
    assert (np.diff(drops) > 0).all()
    assert marks.at_tangency < drops[0]
    assert drops[-1] == pytest.approx(float(marks.without_limit), rel=1e-2)


@pytest.mark.parametrize("intensity", [16.0, 64.0, 128.0, 512.0])
def test_no_number_of_threads_beats_the_best(intensity: float) -> None:
    x = thrashing(intensity=intensity)
    n = float(operations.best_threads(x))
    best = xm.predict(dataclasses.replace(x, threads=n)).rate
    assert (xm.predict(dataclasses.replace(x, threads=np.linspace(1, 300, 3000))).rate <= best * (1 + 1e-9)).all()
    assert xm.predict(dataclasses.replace(x, threads=0.9 * n)).rate < best
    gain = operations.largest_gain(x, equilibrium.congested(x))
    assert gain * curves.supply(x, equilibrium.congested(x)) == pytest.approx(float(best))
