"""Correctly rounded sums, products and fused multiply-adds of float32, float64 and float16 arrays.

A sum in float64 with its exact error (Knuth's two-sum) is turned into round-to-odd, from which a
rounding to the narrower type is correct in every direction; a float64 FMA adds the two halves of
Dekker's exact product the same way.

Source   T. J. Dekker, Numer. Math. 18 (1971); S. Boldo, G. Melquiond, "Emulation of FMA and correctly
         rounded sums: proved algorithms using rounding to odd", IEEE Trans. Comp. 57 (2008).
"""

import ctypes
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.aligned_buffers import FmaScratch

Value = Any
_ABOVE_29 = np.array(35)  # shifts the 29 bits that float32 does not hold to the top (ufuncs take arrays sooner),
_TIE_ABOVE = np.int64(-(2**63))  # where a tie is this
_SMALLEST_NORMAL = np.float32(2.0**-126)
_SPLIT = np.float64(2.0**27 + 1)
FEW = 64  # lanes up to which calls of C's fma are quicker than 50 operations on arrays


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """(rounded sum, its exact error) of float64 values."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def odd_sum(total: Value, error: Value) -> NDArray[np.float64]:
    """`total` + `error` rounded to odd: the neighbour with an odd last bit where the sum is not exact."""
    total, error = np.broadcast_arrays(np.asarray(total, np.float64), np.asarray(error, np.float64))
    bits = total.copy().view(np.int64)
    wrong = (error != 0) & (bits & 1 == 0) & np.isfinite(total)
    away = (error > 0) == (total > 0)
    bits[wrong & away] += 1
    bits[wrong & ~away] -= 1
    return np.asarray(bits.view(np.float64))


def fma32(a: Value, b: Value, c: Value) -> Value:
    """a b + c of float32 values, rounded once to nearest even."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), np.shape(c))
    a, b, c = (np.broadcast_to(x, shape).reshape(-1) if len(shape) > 1 and np.ndim(x) else x for x in (a, b, c))
    scratch = FmaScratch(max(np.size(a), np.size(b), np.size(c)))
    with np.errstate(all="ignore", under="call", call=scratch.note):
        return fused(a, b, c, scratch).reshape(shape)[()]


def fused(a: Value, b: Value, c: Value, scratch: FmaScratch) -> NDArray[np.float32]:
    """a b + c of float32 arrays of one length (or scalars), rounded once to nearest even; a view of `scratch.floats`.

    The product is exact in float64. Rounding the sum twice goes wrong only where the first rounding was
    not exact and ends on a tie of the second, or where the result underflows: those lanes are done again.
    To be called under an errstate that tells `scratch` of underflow; scalars may be float64 already.
    """
    shape = a.shape or b.shape or c.shape
    total, bits, addend, low, result = scratch.arrays(shape[0] if shape else 1)
    if not a.shape:
        a, b = b, a
    np.copyto(total, a)
    np.multiply(total, _widened(b, addend), total)
    np.add(total, _widened(c, addend), total)
    scratch.underflowed = False
    np.copyto(result, total, casting="same_kind")
    np.left_shift(bits, _ABOVE_29, low)
    tie = low[low.argmin()] == _TIE_ABOVE
    if tie or scratch.underflowed:
        doubtful = low == _TIE_ABOVE
        if scratch.underflowed:
            doubtful |= np.abs(result) <= _SMALLEST_NORMAL
        _rounded_again(result, total, (a, b, c), np.flatnonzero(doubtful))
    return result


def _widened(v: Value, scratch: NDArray[np.float64]) -> Value:
    """A float32 operand as float64."""
    if not v.shape:
        return v.astype(np.float64)
    np.copyto(scratch, v)
    return scratch


def _rounded_again(
    result: NDArray[np.float32], total: NDArray[np.float64], operands: tuple[Value, ...], lanes: NDArray[np.int64]
) -> None:
    """The lanes of a b + c whose float64 sum `total` is not exact, rounded once."""
    a, b, c = (np.asarray(v if not v.shape else v.take(lanes), np.float64) for v in operands)
    sums, product = total.take(lanes), a * b
    part = sums - product
    error = (product - (sums - part)) + (c - part)
    inexact = np.flatnonzero(error)
    if len(inexact):
        result[lanes[inexact]] = odd_sum(sums[inexact], error[inexact]).astype(np.float32)


def rounded(a: Value, b: Value, direction: str) -> Value:
    """The exact sum of two float64 values in float32, rounded RM (down), RP (up), RZ (to zero) or RN."""
    total, error = two_sum(a, b)
    return directed(odd_sum(_zero_by(direction, total, a, b), error), direction)


def _zero_by(direction: str, total: Value, a: Value, b: Value) -> Value:
    """The sum of a and b, whose zero is -0 where a and b have different signs and sums are rounded down."""
    if direction != "RM":
        return total
    return np.where((total == 0) & (np.signbit(a) != np.signbit(b)), -0.0, total)


def directed(value: Value, direction: str, kind: type[np.floating[Any]] = np.float32) -> Value:
    """Float64 values (rounded to odd, or exact) in float32 or float16 in a given direction."""
    value = np.asarray(value, np.float64)
    near = value.astype(kind)
    if direction in ("RN", ""):
        return near[()]
    wide = near.astype(np.float64)
    down, up = wide > value, wide < value
    if direction == "RZ":
        down, up = down & (value > 0), up & (value < 0)
    elif direction == "RM":
        up = np.zeros_like(up)
    else:
        down = np.zeros_like(down)
    near = np.where(down, np.nextafter(near, kind(-np.inf)), near)
    near = np.where(up, np.nextafter(near, kind(np.inf)), near)
    return near.astype(kind)[()]


# --- float64 ---


def two_product(a: Value, b: Value) -> tuple[Value, Value]:
    """(rounded product, its exact error), for magnitudes where neither overflows nor underflows."""
    product = a * b
    a_high = _SPLIT * a
    a_high = a_high - (a_high - a)
    b_high = _SPLIT * b
    b_high = b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def fma64_directed(a: Value, b: Value, c: Value, direction: str) -> Value:
    """a b + c of float64 values, rounded once in a direction."""
    a, b, c = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (a, b, c)))
    if direction == "RN" and a.size <= FEW and (single := _fma_of_c()):
        each = map(single, a.ravel().tolist(), b.ravel().tolist(), c.ravel().tolist())
        return np.array(list(each)).reshape(a.shape)[()]
    with np.errstate(all="ignore"):
        high, low = two_product(a, b)
        middle, least = two_sum(c, low)
        top, rest = two_sum(high, middle)
        tail = odd_sum(*two_sum(least, rest))
        result = np.asarray(top + tail)
        if direction != "RN":
            result = _directed64(top, tail, result, direction)
        difficult = ~_comfortable(a, b, c, result)
        if direction == "RN" and difficult.any():
            once, absorbed = _rounded_once(a, b, c), _absorbed(a, b, c)
            result = np.select([difficult & once, difficult & absorbed], [a * b + c, c], result)
            difficult &= ~(once | absorbed)
        if difficult.any():
            result = np.atleast_1d(result).copy()
            places = np.flatnonzero(np.atleast_1d(difficult))
            flat = [np.atleast_1d(v) for v in (a, b, c)]
            for i in places:
                result[i] = _scalar_fma(float(flat[0][i]), float(flat[1][i]), float(flat[2][i]), direction)
            result = result.reshape(a.shape)
    return result[()]


@cache
def _fma_of_c() -> Callable[[float, float, float], float] | None:
    """C's fma, which rounds once to nearest even (C11, 7.12.13.1); None where the process does not have it."""
    try:
        call = ctypes.CDLL(None).fma
    except (AttributeError, OSError, TypeError):  # TypeError: Windows opens no library without a name
        return None
    call.argtypes, call.restype = [ctypes.c_double] * 3, ctypes.c_double
    return call


def _comfortable(a: Value, b: Value, c: Value, result: Value) -> Value:
    """Whether no step of the fast path could overflow, underflow or meet an infinity."""
    good = np.ones(a.shape, bool)
    for value, low, high in ((a, 2.0**-450, 2.0**450), (b, 2.0**-450, 2.0**450), (c, 2.0**-900, 2.0**960)):
        size = np.abs(value)
        good &= (size >= low) & (size <= high)
    return good & (np.abs(result) >= 2.0**-900)


def _rounded_once(a: Value, b: Value, c: Value) -> Value:
    """Where the plain computation rounds at most once: a product of 0, nothing but a product, or no number."""
    product = a * b
    return (a == 0) | (b == 0) | ((c == 0) & (product != 0)) | ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))


def _absorbed(a: Value, b: Value, c: Value) -> Value:
    """Where the product is less than half of the last bit of c, so that the sum rounds to c."""
    far_below = (np.abs(c) >= 2.0**-900) & (np.abs(a * b) <= 2.0**-1000)
    below_all = (np.abs(a) <= 2.0**-600) & (np.abs(b) <= 2.0**-600)
    return (c != 0) & np.isfinite(c) & (far_below | below_all)


def _directed64(top: Value, tail: Value, near: Value, direction: str) -> Value:
    again, error = two_sum(top, tail)
    down, up = error < 0, error > 0
    if direction == "RZ":
        down, up = down & (again > 0), up & (again < 0)
    elif direction == "RM":
        up = np.zeros_like(up)
    else:
        down = np.zeros_like(down)
    near = np.where(down, np.nextafter(again, -np.inf), near)
    return np.where(up, np.nextafter(again, np.inf), near)


def _scalar_fma(a: float, b: float, c: float, direction: str) -> float:
    """One FMA through exact rational numbers."""
    simple = np.float64(a) * np.float64(b) + np.float64(c)
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return float(simple)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        unlike = (np.signbit(a) != np.signbit(b)) != np.signbit(c)
        return -0.0 if direction == "RM" and unlike else float(simple)
    return round_fraction(exact, direction)


def round_fraction(exact: Fraction, direction: str) -> float:
    """A rational number as a float64, rounded once in a direction."""
    try:
        near = exact.numerator / exact.denominator
    except OverflowError:
        near = float("inf") if exact > 0 else float("-inf")
    if direction == "RN":
        return near
    above = near == float("inf") or (near != float("-inf") and Fraction(near) > exact)
    below = near == float("-inf") or (near != float("inf") and Fraction(near) < exact)
    if above and (direction == "RM" or (direction == "RZ" and exact > 0)):
        return float(np.nextafter(near, -np.inf))
    if below and (direction == "RP" or (direction == "RZ" and exact < 0)):
        return float(np.nextafter(near, np.inf))
    return near


def sum64_directed(a: Value, b: Value, direction: str) -> Value:
    """a + b of float64 values, rounded in a direction."""
    total, error = two_sum(np.asarray(a), np.asarray(b))
    if direction == "RN":
        return total
    inward = {"RZ": total != 0, "RM": total > 0, "RP": total < 0}[direction]
    beyond = inward & np.isinf(total) & np.isfinite(a) & np.isfinite(b)
    total = np.where(beyond, np.copysign(np.finfo(np.float64).max, total), _zero_by(direction, total, a, b))
    return _directed64(total, np.where(beyond, 0.0, error), total, direction)
