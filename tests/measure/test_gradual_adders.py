"""The family with adders that fill gradually: limits known by hand, and the simulated SM."""

import numpy as np
import pytest

from warpbound.measure.synthetic_family import gradual_filling
from warpbound.models.volkov_2016 import contention
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.mixes import Mix

MEMORY = Memory(700.0, (56.0,), (0.15,))


def mix(warps: object, alpha: object, adders: float = 4.0) -> Mix:
    return Mix(np.asarray(warps, float), np.asarray(alpha, float), 700.0, 4.0, 0.15, adders, adders)


def test_no_additions_is_the_refined_model() -> None:
    warps = np.array([1.0, 4.0, 17.0, 64.0])
    refined = contention.predict(mix(warps, np.zeros(4)), MEMORY).rate
    assert gradual_filling.predict(mix(warps, np.zeros(4)), MEMORY) == pytest.approx(np.asarray(refined), rel=1e-6)


def test_one_warp_for_each_scheduler_waits_for_nobody() -> None:
    x = mix([4.0], [100.0])
    rate = gradual_filling.sm_rate(x, np.array([4.0]), np.array([100.0]), np.array([700.0]))
    assert rate == pytest.approx([4 / 1100])


def test_two_warps_and_one_adder_by_hand() -> None:
    """One slot: p(0), p(1), p(2) are as 1 : 2r : 2r^2 with r = demand / away = 1/2, so that 1.5 of 2.5 is busy."""
    x = Mix(np.array([8.0]), np.array([50.0]), 0.0, 4.0, 1.0, 1.0, 1.0)  # alu_lat alu_thru = 4, one for each scheduler
    found = gradual_filling.sm_rate(x, np.array([8.0]), np.array([50.0]), np.array([400.0]))
    assert found == pytest.approx([4 * (1.5 / 2.5) / 200.0])


def test_uneven_schedulers_are_added() -> None:
    x = mix([6.0], [400.0], adders=1.0)
    alpha, away = np.array([400.0]), np.array([700.0])
    one, two = (gradual_filling.sm_rate(x, np.array([n]), alpha, away) for n in (4.0, 8.0))
    assert gradual_filling.sm_rate(x, np.array([6.0]), alpha, away) == pytest.approx((one + two) / 2)


def test_it_never_exceeds_the_refined_model_and_meets_it_far_from_the_cusp() -> None:
    warps, alpha = (one.ravel() for one in np.meshgrid(np.arange(1.0, 65.0), 2.0 ** np.arange(0, 10)))
    refined = np.asarray(contention.predict(mix(warps, alpha), MEMORY).rate)
    gradual = gradual_filling.predict(mix(warps, alpha), MEMORY)
    assert (gradual <= refined * (1 + 1e-6)).all()
    assert gradual[(alpha == 1) & (warps <= 32)] == pytest.approx(refined[(alpha == 1) & (warps <= 32)], rel=1e-3)
    assert gradual[(alpha == 512) & (warps == 64)] == pytest.approx(4 / 512, rel=3e-3)
    assert (gradual / refined).min() < 0.95
