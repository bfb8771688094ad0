"""The intersection that a launch reaches, for sweeps: Newton's method that cannot overshoot.

Source   A. Li et al., "X", 2016, Eq. 5 and section II; the order of search is ours.
Models   least k with f(k) = g(n-k)/Z.  With min() in g, f - g/Z is the larger of f - M/Z and
         f - E (n - k)/Z.  Where f is concave the tangents of both meet 0 no later than they do,
         so steps from the left stay left; where f is convex steps from the right stay right.
         Below delta f is concave, then convex; above it once more (see `shape`).  A step that
         leaves its piece proves that the piece has no intersection.
Omits    the other intersections: `equilibrium.intersections` has them all and is slower.
"""

from collections.abc import Callable
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from warpbound.models.x_model_2016 import curves
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.models.x_model_2016.shape import Array
from warpbound.quick_dataclasses import dataclass

CHUNK = 32768   # inputs at a time: their arrays stay in the cache
KEPT = 0.8      # arrays are cut when fewer than this share is still under way
STEPS = 200     # far more than needed; near a tangency steps only halve
CLOSE = 1e-10   # a step of this share of k is the last: the next would be its square
FLAT = 1e-300   # represents a slope that is not positive: the step then leaves the piece


@dataclass(frozen=True)
class _Case:
    """Flat arrays of one length."""

    threads: Array   # n
    slope: Array     # E/Z
    ceiling: Array   # M/Z
    fast: Array      # L_$
    span: Array      # L - L_$
    storage: Array   # S_$/beta
    exponent: Array  # alpha - 1
    top: Array       # R
    delta: Array     # RL

    def take(self, which: NDArray[np.intp]) -> "_Case":
        return _Case(*(getattr(self, f.name).take(which) for f in fields(self)))


_Curve = Callable[[_Case, Array], tuple[Array, Array, NDArray[np.bool_]]]  # f, f', whether concave


def reached(x: Inputs) -> Array:
    """k, threads in MS after a launch, shape (...,)."""
    values = np.broadcast_arrays(*(np.asarray(getattr(x, f.name), dtype=np.float64) for f in fields(x)))
    flat = [value.reshape(-1) for value in values]
    k = np.empty(flat[0].shape)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for start in range(0, k.size, CHUNK):
            piece = slice(start, start + CHUNK)
            k[piece] = _search(_case(Inputs(*(value[piece] for value in flat))))
    return k.reshape(values[0].shape)


def _case(x: Inputs) -> _Case:
    storage, exponent = curves.storage(x), curves.locality(x)
    plain = (storage == 0) | (exponent == 0)
    return _Case(
        threads=np.asarray(x.threads),
        slope=np.divide(x.ilp, x.intensity),
        ceiling=np.divide(x.lanes, x.intensity),
        fast=np.where(plain, x.latency, x.cache_latency),
        span=np.where(plain, 0.0, np.subtract(x.latency, x.cache_latency)),
        storage=np.where(plain, 0.0, storage),
        exponent=exponent,
        top=np.asarray(x.ms_throughput),
        delta=np.asarray(curves.ms_transition(x)),
    )


def _search(c: _Case) -> Array:
    """Piece by piece, the inputs that have no intersection there going on to the next."""
    start = np.minimum(c.ceiling * c.fast, c.threads / (1.0 + 1.0 / (c.slope * c.fast)))   # eq. 5
    end = np.minimum(c.delta, c.threads)
    k = _from_left(c, _unsaturated, start, end)
    unsolved = np.flatnonzero(np.isnan(k))
    if unsolved.size == 0:
        return k
    k[unsolved] = _from_right(c.take(unsolved), _unsaturated, end[unsolved])
    unsolved = unsolved[np.isnan(k[unsolved])]
    if unsolved.size == 0:
        return k
    k[unsolved] = _from_left(c.take(unsolved), _saturated, c.delta[unsolved], c.threads[unsolved])
    unsolved = unsolved[np.isnan(k[unsolved])]
    if unsolved.size:
        k[unsolved] = _from_right(c.take(unsolved), _saturated, c.threads[unsolved])
    return k


def _unsaturated(c: _Case, k: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    growth = 1.0 + c.storage / k                                                           # eq. 3
    beyond = c.span * growth**-c.exponent                                                  # eq. 5
    latency = c.fast + beyond                                                              # eq. 5
    rate = 1.0 / latency                                                                   # eq. 5
    pollution = c.exponent * beyond * (1.0 - 1.0 / growth)                                    # eq. 5
    concave = c.exponent * (beyond - c.fast) <= latency                                    # eq. 5
    return k * rate, (latency - pollution) * rate * rate, concave


def _saturated(c: _Case, k: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    growth = 1.0 + c.storage / k                                                           # eq. 3
    misses, rest = growth**-c.exponent, 1.0 - 1.0 / growth                                 # eq. 3
    pollution, v = c.exponent * misses * rest, c.top * c.fast / k
    w = v * (1.0 - misses) + misses                                                        # eq. 5
    w1 = v * (1.0 - misses) - (1.0 - v) * pollution                                           # eq. 5
    w2 = pollution * (2.0 * v + (1.0 - v) * (c.exponent + 1.0) * rest)                        # eq. 5
    f = c.top / w                                                                          # eq. 5
    return f, f * w1 / (k * w), 2.0 * w1 * (w1 - w) < w * w2                               # eq. 5


def _from_left(c: _Case, curve: _Curve, start: Array, end: Array) -> Array:
    """The intersection in the concave piece that begins at start, NaN where it has none."""
    crossing = np.full(start.shape, np.nan)
    open_cases, k = np.arange(start.size), start
    for _ in range(STEPS):
        f, slope, concave = curve(c, k)
        to_ceiling = (c.ceiling - f) / np.maximum(slope, FLAT)                             # eq. II
        to_ramp = (c.slope * (c.threads - k) - f) / np.maximum(slope + c.slope, FLAT)      # eq. II
        step = np.maximum(np.minimum(to_ceiling, to_ramp), 0.0)
        inside = concave & (k <= end)
        converged = inside & (step <= CLOSE * k)
        k = k + step
        at = np.flatnonzero(converged)
        crossing[open_cases[at]] = np.minimum(k[at], end[at])
        at = np.flatnonzero(inside & ~converged)
        if at.size == 0:
            break
        if at.size < KEPT * k.size:
            c, open_cases, k, end = c.take(at), open_cases[at], k[at], end[at]
    return crossing


def _from_right(c: _Case, curve: _Curve, start: Array) -> Array:
    """The intersection in the convex piece that ends at start, NaN where it has none."""
    f, _, _ = curve(c, start)
    crossing = np.full(start.shape, np.nan)
    open_cases = np.flatnonzero(f >= np.minimum(c.ceiling, c.slope * (c.threads - start)))       # eq. II
    c, k = c.take(open_cases), start[open_cases]
    for _ in range(STEPS):
        if open_cases.size == 0:
            break
        f, slope, _ = curve(c, k)
        step = np.maximum(
            _back(f - c.ceiling, slope),                                                   # eq. II
            _back(f - c.slope * (c.threads - k), slope + c.slope),                         # eq. II
        )
        k = k - step
        crossing[open_cases] = k
        at = np.flatnonzero(step > CLOSE * k)
        if at.size < KEPT * k.size:
            c, open_cases, k = c.take(at), open_cases[at], k[at]
    return crossing


def _back(surplus: Array, slope: Array) -> Array:
    """How far back the tangent takes to spend the surplus; nowhere where it does not cross."""
    return np.where((surplus > 0) & (slope > 0), surplus / slope, 0.0)
