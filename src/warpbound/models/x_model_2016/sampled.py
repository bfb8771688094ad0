"""The X-graph with a supply curve that is sampled or measured instead of Eq. 5's.

Source   A. Li et al., "X", 2016, sections II and III-B: f(k) is any curve of the memory system, and Eq. 3 is one fit of
         the miss rate.  Equation numbers as in `curves`.
Models   f(k) linear between its samples, 0 at 0, constant beyond the last.  All intersections with g(n-k)/Z, which is
         concave, are found piece by piece; a launch reaches the least.  A miss rate sampled over a thread's share of
         the cache gives f by Eq. 5.
Omits    what happens between two samples.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds
from warpbound.models.x_model_2016 import curves
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.quick_dataclasses import dataclass

Array = NDArray[np.float64]
POINTS = 2048  # points at which a curve of Eq. 5 is sampled, beside the samples of its miss rate


@dataclass(frozen=True)
class Curve:
    """f at numbers of threads in MS, both rising from above 0, (m,)."""

    ms_threads: Array     # k     [thread]
    ms_throughput: Array  # f(k)  [request/cycle]

    def at(self, k: Array) -> Array:
        """f(k), any shape."""
        return np.asarray(np.interp(k, np.r_[0.0, self.ms_threads], np.r_[0.0, self.ms_throughput]))


@dataclass(frozen=True)
class MissRate:
    """Misses over the bytes of cache that a thread has to itself, (m,), bytes rising; 1 with no bytes."""

    share: Array   # S_$/k  [B/thread]
    misses: Array  # 1 - h  [1]

    def at(self, share: Array) -> Array:
        """1 - h, any shape."""
        return np.asarray(np.interp(share, np.r_[0.0, self.share], np.r_[1.0, self.misses]))


def supply(x: Inputs, rate: MissRate, k: Array) -> Array:
    """f(k) of Eq. 5 with a sampled miss rate; k above 0."""
    misses = rate.at(np.divide(x.cache_capacity, k))
    beyond = np.subtract(curves.memory_latency(x, k), x.cache_latency) * misses              # eq. 5
    return np.asarray(np.divide(k, x.cache_latency + beyond))                                # eq. 5


def curve_of(x: Inputs, rate: MissRate) -> Curve:
    """f sampled up to all threads: evenly, and where its miss rate or its latency bends. `x` is scalar."""
    n = float(x.threads)
    bends = np.r_[np.divide(x.cache_capacity, rate.share), float(curves.ms_transition(x))]
    k = np.unique(np.r_[np.linspace(n / POINTS, n, POINTS), bends[(bends > 0) & (bends < n)]])
    return Curve(k, supply(x, rate, k))


def intersections(x: Inputs, curve: Curve) -> Array:
    """Every k with f(k) = g(n-k)/Z, rising, (i,); `x` is scalar."""
    n = float(x.threads)
    corner = n - float(curves.cs_transition(x))
    k = np.unique(np.r_[0.0, curve.ms_threads[curve.ms_threads < n], corner if 0 < corner < n else n, n])
    excess = curve.at(k) - np.asarray(curves.demand(x, n - k))                                # eq. II
    crossing = np.flatnonzero((excess[:-1] < 0) != (excess[1:] < 0))
    step = excess[crossing] / (excess[crossing] - excess[crossing + 1])
    return np.asarray(k[crossing] + step * (k[crossing + 1] - k[crossing]))


def reached(x: Inputs, curve: Curve) -> float:
    """k after a launch: the least intersection."""
    equilibria = intersections(x, curve)
    return float(equilibria[0]) if equilibria.size else float(x.threads)


def predict(x: Inputs, rate: MissRate) -> Bounds:
    """Upper bounds on MS throughput at the state that a launch reaches, as `predict_at` has them; `x` is scalar."""
    k = np.asarray(reached(x, curve_of(x, rate)))
    return curves.bounds_at(x, k, rate.at(np.divide(x.cache_capacity, k)))
