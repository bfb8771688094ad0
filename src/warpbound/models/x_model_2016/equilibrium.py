"""Intersections of supply and demand: all of them, which are stable, and which one is reached.

Source   A. Li et al., "X", 2016, sections II, III-A3 and III-D; Eq. 6 is numbered there.
Models   f(k) = g(n-k)/Z.  A thread enters MS at g/Z and leaves it at f, hence dk/dt = g/Z - f: an
         intersection is stable where f - g/Z changes from - to +, that is f'(k) + g'(x)/Z > 0.
         Eq. 6, |g'| > |f'|, states the same only where f falls.  A launch starts with all threads
         in CS and reaches the intersection of least k; what the paper calls hard to say, which
         one, is the side of the unstable one on which the threads start.  At exact machine
         balance without a cache the intersection is an interval of k.
Omits    fluctuations that carry the state over an unstable intersection.
"""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.x_model_2016 import curves, shape
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.models.x_model_2016.shape import Array
from warpbound.quick_dataclasses import dataclass

BALANCED = 1e-12  # relative difference below which two limits count as one


@dataclass(frozen=True)
class Intersections:
    """Last axis: by k, as many as the input with most has, the rest NaN and ""."""

    fewest_ms_threads: Array       # k          [thread]
    most_ms_threads: Array         # k          [thread]
    ms_throughput: Array           # f(k)       [request/cycle]
    stability: NDArray[np.str_]    # stable, unstable, neutral (an interval)

    @property
    def count(self) -> NDArray[np.int64]:
        """How many there are, shape (...,)."""
        return np.asarray(np.count_nonzero(~np.isnan(self.fewest_ms_threads), axis=-1))


def intersections(x: Inputs) -> Intersections:
    """All of them.  Between neighbouring nodes f - g/Z is monotone, so that none is missed."""
    column = _with_axis(x)
    nodes = _nodes(column)
    above = curves.excess(column, nodes) > 0
    k = shape.bisect(lambda at: curves.excess(column, at), nodes[..., :-1], nodes[..., 1:])  # eq. II
    rising = np.where(above[..., 1:], "stable", "unstable")
    order = np.argsort(k, axis=-1)  # NaN last
    k, words = np.take_along_axis(k, order, -1), np.take_along_axis(rising, order, -1)
    whole = _with_balance(column, k, np.where(np.isnan(k), "", words))
    width = max(1, int(whole.count.max(initial=0)))
    return Intersections(*(getattr(whole, f.name)[..., :width] for f in fields(whole)))


def is_stable(x: Inputs, k: Real) -> NDArray[np.bool_]:
    """Whether a disturbance of k dies out; False where f and g/Z are parallel."""
    cs_threads = np.subtract(x.threads, k)
    return np.asarray(curves.supply_slope(x, k) + curves.demand_slope(x, cs_threads) > 0)  # eq. 6


def is_stable_as_published(x: Inputs, k: Real) -> NDArray[np.bool_]:
    """Eq. 6 as printed, g standing for the demand g/Z as in Table I; wrong where f rises."""
    cs_threads = np.subtract(x.threads, k)
    return np.asarray(
        np.abs(curves.demand_slope(x, cs_threads)) > np.abs(curves.supply_slope(x, k))     # eq. 6
    )


def settles(x: Inputs, start: Real) -> Array:
    """k at which threads come to rest that start with `start` of them in MS."""
    states = intersections(x)
    at = np.asarray(start, dtype=np.float64)[..., None]
    excess = curves.excess(_with_axis(x), at)[..., 0]
    above = np.where(states.fewest_ms_threads >= at, states.fewest_ms_threads, np.inf).min(axis=-1)
    below = np.where(states.most_ms_threads <= at, states.most_ms_threads, -np.inf).max(axis=-1)
    return np.where(excess == 0, at[..., 0], np.where(excess < 0, above, below))           # eq. II


def congested(x: Inputs) -> Array:
    """sigma'', k at rest after all threads were in MS; where there is one intersection, that one."""
    return settles(x, x.threads)                                                           # eq. II


def _nodes(x: Inputs) -> Array:
    """Ends of the pieces on which f - g/Z is monotone, in order, along the last axis."""
    n = np.asarray(x.threads, dtype=np.float64)
    corner = np.clip(n - curves.cs_transition(x), 0.0, n)
    flat, sloped = shape.turning_points(x, 0.0), shape.turning_points(x, np.divide(x.ilp, x.intensity))
    delta = np.clip(curves.ms_transition(x), 0.0, n)
    pieces = [np.zeros_like(n), n, corner, delta]
    pieces += [np.minimum(getattr(flat, f.name), corner) for f in fields(flat)]
    pieces += [np.clip(getattr(sloped, f.name), corner, n) for f in fields(sloped)]
    whole = np.concatenate(np.broadcast_arrays(*pieces), axis=-1)
    return np.sort(np.where(np.isnan(whole), n, whole), axis=-1)


def _with_balance(x: Inputs, k: Array, words: NDArray[np.str_]) -> Intersections:
    """The intersections, an interval in place of the first where R = M/Z and threads are idle."""
    delta, pi = curves.ms_transition(x), curves.cs_transition(x)
    ceiling = np.divide(x.lanes, x.intensity)
    equal = np.abs(np.subtract(ceiling, x.ms_throughput)) <= BALANCED * ceiling            # eq. III-A3
    plain = (curves.storage(x) == 0) | (curves.locality(x) == 0)
    idle = equal & plain & np.greater_equal(x.threads, np.add(delta, pi))                  # eq. III-A3
    first = np.arange(k.shape[-1]) == 0
    low = np.where(idle, np.where(first, delta, np.nan), k)
    high = np.where(idle, np.where(first, np.subtract(x.threads, pi), np.nan), k)
    words = np.where(idle, np.where(first, "neutral", ""), words)
    return Intersections(low, high, curves.supply(x, low), words)


def _with_axis(x: Inputs) -> Inputs:
    """The same inputs, all of one shape, with a last axis of length 1."""
    values = np.broadcast_arrays(*(np.asarray(getattr(x, f.name), dtype=np.float64) for f in fields(x)))
    return Inputs(*(value[..., None] for value in values))
