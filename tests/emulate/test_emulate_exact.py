"""Fused multiply-adds against exact fractions, where rounding twice would go wrong."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st
from instruction_cases import rounded
from sampled import sampled

from warpbound.emulate import exact

FINITE32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
FINITE64 = st.floats(allow_nan=False, allow_infinity=False)
NEAR_ONE = st.integers(-8, 8).map(lambda k: 1 + k * 2.0**-23)
SCALES = st.integers(-140, 120).map(lambda k: 2.0**k)


def same(found, wanted):
    return found == wanted or (np.isinf(found) and abs(float(wanted)) > 3e38)


@sampled(FINITE32, FINITE32, FINITE32, examples=300)
def test_fma32_of_anything(a, b, c):
    a, b, c = (np.array([v], np.float32) for v in (a, b, c))
    value = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0]))
    with np.errstate(over="ignore"):
        found = exact.fma32(a, b, c)[0]
    if abs(value) < Fraction(2) ** 127:
        assert found == rounded(value, np.float32, "n")


@sampled(NEAR_ONE, NEAR_ONE, SCALES, st.sampled_from([-1, 1]), st.integers(20, 60), examples=300)
def test_fma32_next_to_a_tie(a, b, scale, sign, below):
    """The product's tail ends on a half of the last place, and c, far below, decides."""
    a, b = np.array([a * scale], np.float32), np.array([b], np.float32)
    c = np.array([sign * float(a[0]) * 2.0**-below], np.float32)
    for addend in (c, c + a, c - a, -a * b):
        addend = addend.astype(np.float32)
        value = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(addend[0]))
        if abs(value) < Fraction(2) ** 127:
            assert exact.fma32(a, b, addend)[0] == rounded(value, np.float32, "n")


def test_fma32_the_textbook_double_rounding():
    a, b, c = (np.array([v], np.float32) for v in (1 + 2.0**-23, 1 + 2.0**-12, 2.0**-77))
    twice = np.float32(float(a[0]) * float(b[0]) + float(c[0]))
    value = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0]))
    assert exact.fma32(a, b, c)[0] == rounded(value, np.float32, "n")
    tie = np.float32(2.0**-24), np.float32(1), np.float32(1)
    found = exact.fma32(*(np.array([v]) for v in (np.float32(1 + 2.0**-23), np.float32(2.0**-24), np.float32(1))))
    assert found[0] == np.float32(1) + np.float32(2.0**-23), (twice, tie)


@sampled(FINITE64, FINITE64, FINITE64, examples=300)
def test_fma64_of_anything(a, b, c):
    value = Fraction(a) * Fraction(b) + Fraction(c)
    found = float(exact.fma64(np.array([a]), np.array([b]), np.array([c]))[0])
    assert found == exact.round_fraction(value, "RN")


@pytest.mark.parametrize("way", ["RN", "RZ", "RM", "RP"])
@sampled(
    st.integers(2**52, 2**53 - 1),
    st.integers(2**52, 2**53 - 1),
    st.integers(-(2**53), 2**53),
    st.integers(-120, 60),
    examples=200,
)
def test_fma64_around_cancellation(way, a, b, c, shift):
    x, y, z = float(a), float(b), float(c) * 2.0**shift
    for addend in (z, -x * y, -x * y + z):
        value = Fraction(x) * Fraction(y) + Fraction(addend)
        found = float(exact.fma64_directed(np.array([x]), np.array([y]), np.array([addend]), way)[0])
        assert found == exact.round_fraction(value, way)


@pytest.mark.parametrize(("a", "b", "c"), [
    (5e-324, 0.5, 5e-324), (1e-160, 1e-160, -5e-324), (1e200, 1e200, -1e308), (1.7e308, 2.0, -1.7e308),
    (0.0, -1.0, 0.0), (-0.0, 1.0, -0.0), (1.0, 1.0, -1.0), (2.0**-1022, 1 - 2.0**-53, 2.0**-1074),
])  # fmt: skip
def test_fma64_at_the_ends_of_the_range(a, b, c):
    value = Fraction(a) * Fraction(b) + Fraction(c)
    found = float(exact.fma64(np.array([a]), np.array([b]), np.array([c]))[0])
    assert found == exact.round_fraction(value, "RN")
    if value == 0 and a * b == 0:
        assert np.signbit(found) == np.signbit(a * b + c)


def test_fma64_passes_on_infinities_and_nan():
    a = np.array([np.inf, np.nan, 1.0, np.inf, 0.0])
    b = np.array([2.0, 1.0, 1.0, 0.0, 1.0])
    c = np.array([1.0, 1.0, -np.inf, 1.0, np.nan])
    assert np.array_equal(exact.fma64(a, b, c), [np.inf, np.nan, -np.inf, np.nan, np.nan], equal_nan=True)
