"""Where the supply curve turns: cache peak, cache valley, memory plateau.

Source   A. Li et al., "X", 2016, section III-B; "eq. 5" marks what follows from that equation by
         differentiation, which the paper leaves to its figures.
Models   f of Eq. 5 below delta = RL is concave while the miss rate is less than
         L_$ alpha / ((L - L_$)(alpha - 2)) and convex beyond; above delta it is concave, then convex.
         So f' takes any value at most four times, each bracketed.  Against the text: the plateau
         is not flat, f has a second maximum at or beyond delta and falls to R like 1/k; and the
         peak moves with L_$.
Omits    nothing of Eq. 5.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.x_model_2016 import curves
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.quick_dataclasses import dataclass

HALVINGS = 200  # ends early, when the bracket is down to neighbouring numbers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TurningPoints:
    """k at which f' + steepness changes its sign, NaN where it does not; threads."""

    first_fall: Array    # below delta, + to -
    first_rise: Array    # below delta, - to +
    second_fall: Array   # above delta, + to -
    second_rise: Array   # above delta, - to +


def turning_points(x: Inputs, steepness: Real) -> TurningPoints:
    """Where f falls at `steepness` requests per cycle per thread; with 0 the extrema of f."""
    delta = np.asarray(curves.ms_transition(x), dtype=np.float64)
    bend, second_bend = inflection(x), saturated_inflection(x)
    end = np.full(np.shape(second_bend), FAR) * second_bend

    def gain(k: Array) -> Array:
        return curves.supply_slope(x, k) + steepness                       # eq. 5

    def below(k: Array) -> Array:
        return curves.supply_slope(x, np.minimum(k, np.nextafter(delta, 0.0))) + steepness  # eq. 5

    start = np.zeros_like(bend) + np.finfo(np.float64).tiny
    return TurningPoints(
        first_fall=bisect(below, start, bend),
        first_rise=bisect(below, bend, np.nextafter(delta, 0.0)),
        second_fall=bisect(gain, delta, second_bend),
        second_rise=bisect(gain, second_bend, end),
    )


FAR = 2.0**40  # times the inflection, beyond which f is taken as constant


def inflection(x: Inputs) -> Array:
    """k up to which f is concave below delta; delta if it is concave throughout."""
    a, s = curves.locality(x), curves.storage(x)
    delta = np.asarray(curves.ms_transition(x), dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        over = np.divide(x.cache_latency, np.subtract(x.latency, x.cache_latency))  # eq. 5
        misses = over * (a + 1.0) / (a - 1.0)                                       # eq. 5
        k = s / (misses ** (-1.0 / a) - 1.0)                                        # eq. 3
    bends = (a > 1.0) & (misses < 1.0) & (s > 0)
    return np.minimum(np.where(bends, k, delta), delta)


def saturated_inflection(x: Inputs) -> Array:
    """k up to which f is concave above delta; delta if it is convex throughout."""
    delta = np.asarray(curves.ms_transition(x), dtype=np.float64)
    s = curves.storage(x)
    low, high = np.broadcast_arrays(delta, np.maximum(delta, 1.0) + s)
    for _ in range(HALVINGS):
        bent = saturated_curvature(x, high) < 0
        if not bent.any():
            break
        high = np.where(bent, 2.0 * high, high)
    bend = bisect(lambda k: saturated_curvature(x, k), low, high)
    return np.where(np.isnan(bend), delta, bend)


def saturated_curvature(x: Inputs, k: Real) -> Array:
    """A number with the sign of f'' above delta.

    With f = R/w it needs the derivatives of w in u = S_$ / (beta k), times u and its square.
    """
    t, a = curves.terms(x, k), curves.locality(x)
    v = np.divide(np.multiply(x.ms_throughput, x.cache_latency), k)
    w = v * (1.0 - t.misses) + t.misses                                             # eq. 5
    w1 = v * (1.0 - t.misses) - (1.0 - v) * t.pollution                             # eq. 5
    w2 = t.pollution * (2.0 * v + (1.0 - v) * (a + 1.0) * t.share / (1.0 + t.share))  # eq. 5
    return np.asarray(2.0 * w1 * (w1 - w) - w * w2)                                 # eq. 5


def peak(x: Inputs) -> Array:
    """psi, k of the first maximum of f; NaN without a cache."""
    t = turning_points(x, 0.0)
    return np.where(np.isnan(t.first_fall), crest(x), t.first_fall)                 # eq. 5


def crest(x: Inputs) -> Array:
    """k of the last maximum of f, delta or beyond, from where it falls to R; NaN without a cache."""
    t = turning_points(x, 0.0)
    delta = np.asarray(curves.ms_transition(x), dtype=np.float64)
    last = np.where(np.isnan(t.second_fall), delta, t.second_fall)                  # eq. 5
    falls_through = ~np.isnan(t.first_fall) & np.isnan(t.first_rise)
    last = np.where(falls_through, t.first_fall, last)
    return np.where((curves.storage(x) > 0) & (curves.locality(x) > 0), last, np.nan)


def valley(x: Inputs) -> Array:
    """k of the minimum of f after the cache peak; NaN where f does not rise again.

    It lies below delta, where the slope of f only drops.
    """
    return turning_points(x, 0.0).first_rise                                        # eq. 5


def plateau(x: Inputs) -> Array:
    """What f falls to with infinitely many threads in MS."""
    return np.asarray(x.ms_throughput, dtype=np.float64)                            # eq. 5


def slowest_cache_with_a_peak(alpha: Real) -> Array:
    """Largest L_$ / (L - L_$) for which f has a peak before delta is felt; 0 up to alpha = 2."""
    a = np.subtract(alpha, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = ((a - 1.0) / (a + 1.0)) ** (a + 1.0)                                # eq. 5
    return np.where(a > 1.0, limit, 0.0)


def bisect(sign: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Where `sign` changes between low and high, for arrays; NaN where it does not."""
    at_low, at_high = sign(low) > 0, sign(high) > 0
    none = (at_low == at_high) | ~(low < high)
    high = np.where(none, low, high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high) | np.isnan(middle)):
            break
        like_low = (sign(middle) > 0) == at_low
        low, high = np.where(like_low, middle, low), np.where(like_low, high, middle)
    return np.where(none, np.nan, 0.5 * (low + high))
