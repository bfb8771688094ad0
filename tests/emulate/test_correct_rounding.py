"""Fused multiply-adds against exact fractions, where rounding twice would go wrong."""

from fractions import Fraction
from itertools import product
from math import ceil, copysign, floor, trunc

import numpy as np
import pytest
from hypothesis import strategies as st

from support.emulator.instruction_cases import rounded
from support.hypothesis_settings import sampled
from warpbound.emulate import correct_rounding

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
        found = correct_rounding.fma32(a, b, c)[0]
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
            assert correct_rounding.fma32(a, b, addend)[0] == rounded(value, np.float32, "n")


def test_fma32_the_textbook_double_rounding():
    a, b, c = (np.array([v], np.float32) for v in (1 + 2.0**-23, 1 + 2.0**-12, 2.0**-77))
    twice = np.float32(float(a[0]) * float(b[0]) + float(c[0]))
    value = Fraction(float(a[0])) * Fraction(float(b[0])) + Fraction(float(c[0]))
    assert correct_rounding.fma32(a, b, c)[0] == rounded(value, np.float32, "n")
    tie = np.float32(2.0**-24), np.float32(1), np.float32(1)
    terms = (np.float32(1 + 2.0**-23), np.float32(2.0**-24), np.float32(1))
    found = correct_rounding.fma32(*(np.array([v]) for v in terms))
    assert found[0] == np.float32(1) + np.float32(2.0**-23), (twice, tie)


def in_float32(value, way):
    """A rational number in float32, rounded once: by hand, from the definition."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    steps = {"RN": round, "RM": floor, "RP": ceil, "RZ": trunc}[way](value / unit)
    found = steps * unit
    if abs(found) >= Fraction(2) ** 128:
        largest = way == "RZ" or (way == "RM" and value > 0) or (way == "RP" and value < 0)
        return copysign(float(np.finfo(np.float32).max) if largest else np.inf, 1 if value > 0 else -1)
    return copysign(float(found), 1 if value > 0 else -1)


def hard_operands(random, count):
    """Sums next to ties of float32, of its subnormals, of its largest number; cancellations; short significands."""
    a, b = (random.integers(1, 2**24, count) * random.choice([-1.0, 1.0], count) for _ in range(2))
    short = random.random(count) < 0.4
    a, b = np.where(short, random.integers(1, 9, count), a), np.where(random.random(count) < 0.3, 1.0, b)
    a, b = a * 2.0 ** random.integers(-100, 60, count), b * 2.0 ** random.integers(-80, 30, count)
    a, b = a.astype(np.float32), b.astype(np.float32)
    product = a.astype(np.float64) * b
    near = random.choice([2.0**24, 2.0**25, 2.0**29, 2.0**48, 2.0**-24, 2.0**-25, 2.0**-53, 1.0], count)
    with np.errstate(all="ignore"):
        c = (product * near * random.choice([-1, 1, 0.5, 1.5], count)).astype(np.float32)
    half = random.random(count) < 0.5  # the product is half a unit in the last place of c, more or less
    unit = random.choice([-149, -149, 103, *range(-140, 100, 7)], count)
    factors = np.array([(1, 1), (1 + 2.0**-20, 1 - 2.0**-20), (1 + 2.0**-11, 1 - 2.0**-11 + 2.0**-22), (1.5, 1)])
    pair = factors[random.integers(0, 4, count)]
    c = np.where(half, random.integers(2**20, 2**24, count) * 2.0**unit * random.choice([-1, 1], count), c)
    a = np.where(half, pair[:, 0] * 2.0 ** ((unit - 1) // 2), a)
    b = np.where(half, pair[:, 1] * 2.0 ** (unit - 1 - (unit - 1) // 2) * random.choice([-1, 1], count), b)
    a, b, c = (v.astype(np.float32) for v in (a, b, c))
    return a, b, np.where(np.isfinite(c), c, np.float32(1))


@pytest.mark.parametrize("way", ["RN", "RM", "RP", "RZ"])
def test_fma32_of_many_hard_lanes_at_once(way):
    a, b, c = hard_operands(np.random.default_rng(5), 6000)
    exactly = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a, b, c, strict=True)]
    wanted = np.array([in_float32(v, way) for v in exactly])
    with np.errstate(all="ignore"):
        if way == "RN":
            found = correct_rounding.fma32(a, b, c)
        else:
            found = correct_rounding.rounded(a.astype(np.float64) * b, c.astype(np.float64), way)
        twice = (a.astype(np.float64) * b + c).astype(np.float32)
    there = wanted != 0  # signs of zeros: below
    assert np.array_equal(found[there], wanted[there])
    assert not found[~there & np.array([v == 0 for v in exactly])].any()
    if way == "RN":
        assert (twice != wanted).sum() > 200  # lanes that rounding twice gets wrong are among them


def test_fma32_of_zeros_infinities_and_nan():
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38], np.float32)
    a, b, c = (v.ravel() for v in np.meshgrid(special, special, special))
    with np.errstate(all="ignore"):
        found = correct_rounding.fma32(a, b, c)
        wide = (a.astype(np.float64) * b + c).astype(np.float32)  # these sums are exact, or far from every tie
    same = (found == wide) & (np.signbit(found) == np.signbit(wide)) | np.isnan(found) & np.isnan(wide)
    assert same.all()
    assert np.isnan(found[(np.isinf(a) & (b == 0)) | np.isnan(c)]).all()


def fma64(a, b, c, way="RN"):
    """The result for a lane alone, which is that for each of many lanes: they go different ways."""
    few, many = (
        correct_rounding.fma64_directed(*(np.full(lanes, value) for value in (a, b, c)), way)
        for lanes in (1, correct_rounding.FEW + 1)
    )
    assert (many == few[0]).all()
    assert (np.signbit(many) == np.signbit(few[0])).all()
    return float(few[0])


@sampled(FINITE64, FINITE64, FINITE64, examples=300)
def test_fma64_of_anything(a, b, c):
    value = Fraction(a) * Fraction(b) + Fraction(c)
    found = fma64(a, b, c)
    assert found == correct_rounding.round_fraction(value, "RN")


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
        found = fma64(x, y, addend, way)
        assert found == correct_rounding.round_fraction(value, way)


@pytest.mark.parametrize(("a", "b", "c"), [
    (5e-324, 0.5, 5e-324), (1e-160, 1e-160, -5e-324), (1e200, 1e200, -1e308), (1.7e308, 2.0, -1.7e308),
    (0.0, -1.0, 0.0), (-0.0, 1.0, -0.0), (1.0, 1.0, -1.0), (2.0**-1022, 1 - 2.0**-53, 2.0**-1074),
])  # fmt: skip
def test_fma64_at_the_ends_of_the_range(a, b, c):
    value = Fraction(a) * Fraction(b) + Fraction(c)
    found = fma64(a, b, c)
    assert found == correct_rounding.round_fraction(value, "RN")
    if value == 0 and a * b == 0:
        assert np.signbit(found) == np.signbit(a * b + c)


def test_fma64_passes_on_infinities_and_nan():
    a = np.array([np.inf, np.nan, 1.0, np.inf, 0.0])
    b = np.array([2.0, 1.0, 1.0, 0.0, 1.0])
    c = np.array([1.0, 1.0, -np.inf, 1.0, np.nan])
    sums = [np.inf, np.nan, -np.inf, np.nan, np.nan]
    assert np.array_equal(correct_rounding.fma64_directed(a, b, c, "RN"), sums, equal_nan=True)
    many = (np.tile(x, correct_rounding.FEW) for x in (a, b, c))
    assert np.array_equal(correct_rounding.fma64_directed(*many, "RN"), sums * correct_rounding.FEW, equal_nan=True)


def test_fma64_of_zeros_and_of_lone_products_keeps_signs(monkeypatch):
    """Every combination against fractions; none of those with a zero factor takes the slow way."""
    values = [0.0, 1.0, 1.5, 5e-324, 1e-310, 3e-200, 2.0**-500, 7e150, 1e308]
    values = np.array([*values, *(-one for one in values)])
    a, b, c = (grid.ravel() for grid in np.meshgrid(values, values, values))
    found = correct_rounding.fma64_directed(a, b, c, "RN")
    for x, y, z, one in zip(a, b, c, found, strict=True):
        value = Fraction(x) * Fraction(y) + Fraction(z)
        wanted = correct_rounding.round_fraction(value, "RN")
        assert one == wanted, (x, y, z)
        if value or x * y == z == 0 and (x == 0 or y == 0):
            assert np.signbit(one) == (value < 0 if value else np.signbit(x * y + z)), (x, y, z)
    monkeypatch.setattr(correct_rounding, "_scalar_fma", None)
    zero = (a == 0) | (b == 0)
    assert np.array_equal(correct_rounding.fma64_directed(a[zero], b[zero], c[zero], "RN"), c[zero])


def test_fma64_of_products_that_c_absorbs(monkeypatch):
    tiny = [2.0**-1074, -3 * 2.0**-1074, 2.0**-1022, -(2.0**-700), 2.0**-500, -(2.0**-450), 0.0]
    addends = [1.0, -1.0, 2.0**-899, -(2.0**-901), 2.0**-1022, -(2.0**-1074), np.nextafter(1, 0), 2.0**1023]
    a, b, c = (np.array(part) for part in zip(*product(tiny, tiny, addends), strict=True))
    calls, scalar = [], correct_rounding._scalar_fma
    wanted = [scalar(*map(float, lane), "RN") for lane in zip(a, b, c, strict=True)]
    monkeypatch.setattr(correct_rounding, "_scalar_fma", lambda *given: calls.append(given) or scalar(*given))
    assert correct_rounding.fma64_directed(a, b, c, "RN").tobytes() == np.array(wanted).tobytes()
    assert len(calls) < len(a) / 4  # the others are done at once
