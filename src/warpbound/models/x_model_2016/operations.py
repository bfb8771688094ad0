"""The nine operations on the curves, and the gain of each.

Source   A. Li et al., "X", 2016, Figures 4 and 8, the three principles of section II, the case
         study of section VI.  "eq. VI" marks what follows from its text.
Models   an operation turns Inputs into Inputs.  Storage and the scale of working sets stand only as
         S_$/beta in Eq. 5, so that 8A changes alpha - 1; `with_locality` sets both parameters.
         More threads are 4F upwards, throttling is 4F downwards; bypassing is 4A, as in section VI,
         and so does nothing below delta.
Omits    what an operation costs; side effects such as registers spilt.
"""

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.x_model_2016 import curves, equilibrium, shape
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.models.x_model_2016.search import reached
from warpbound.models.x_model_2016.shape import Array
from warpbound.quick_dataclasses import dataclass

SAME = 1e-12  # relative rise of an intersection that counts as none


@dataclass(frozen=True)
class Effect:
    """A step from one intersection to another."""

    ms_gain: Array                # new MS throughput over old                        [1]
    cs_gain: Array                # new CS throughput over old                        [1]
    principle: NDArray[np.int64]  # 1, 2 or 3, the strongest that promises a gain; 0 if none does


def scale_ms_throughput(x: Inputs, factor: Real) -> Inputs:
    """Figure 4A: R, also by bypassing the cache."""
    return replace(x, ms_throughput=np.multiply(x.ms_throughput, factor))


def scale_latency(x: Inputs, factor: Real) -> Inputs:
    """Figure 4B: L."""
    return replace(x, latency=np.multiply(x.latency, factor))


def scale_lanes(x: Inputs, factor: Real) -> Inputs:
    """Figure 4C: M."""
    return replace(x, lanes=np.multiply(x.lanes, factor))


def scale_intensity(x: Inputs, factor: Real) -> Inputs:
    """Figure 4D: Z."""
    return replace(x, intensity=np.multiply(x.intensity, factor))


def scale_ilp(x: Inputs, factor: Real) -> Inputs:
    """Figure 4E: E."""
    return replace(x, ilp=np.multiply(x.ilp, factor))


def scale_threads(x: Inputs, factor: Real) -> Inputs:
    """Figure 4F: n."""
    return replace(x, threads=np.multiply(x.threads, factor))


def scale_locality(x: Inputs, factor: Real) -> Inputs:
    """Figure 8A: alpha - 1, the exponent of the miss rate."""
    return with_locality(x, 1.0 + np.subtract(x.alpha, 1.0) * factor, x.beta)


def scale_cache_capacity(x: Inputs, factor: Real) -> Inputs:
    """Figure 8B: S_$."""
    return replace(x, cache_capacity=np.multiply(x.cache_capacity, factor))


def scale_cache_latency(x: Inputs, factor: Real) -> Inputs:
    """Figure 8C: L_$."""
    return replace(x, cache_latency=np.multiply(x.cache_latency, factor))


def with_locality(x: Inputs, alpha: Real, beta: Real) -> Inputs:
    """Figure 8A with both parameters given."""
    return replace(x, alpha=alpha, beta=beta)


OPERATIONS: dict[str, Callable[[Inputs, Real], Inputs]] = {
    "4A": scale_ms_throughput,
    "4B": scale_latency,
    "4C": scale_lanes,
    "4D": scale_intensity,
    "4E": scale_ilp,
    "4F": scale_threads,
    "8A": scale_locality,
    "8B": scale_cache_capacity,
    "8C": scale_cache_latency,
}


def operate(x: Inputs, operation: str, factor: Real) -> Inputs:
    """The inputs after the operation of this figure."""
    return OPERATIONS[operation](x, factor)


def after_launch(before: Inputs, after: Inputs) -> Effect:
    """What the step gains when each state is the one that its launch reaches."""
    return _effect(before, after, reached(before), reached(after))


def when_congested(before: Inputs, after: Inputs) -> Effect:
    """What the step gains when each state is the one after all threads were in MS."""
    return _effect(before, after, equilibrium.congested(before), equilibrium.congested(after))


def relative_gain(after: Real, before: Real) -> Real:
    """Factor between two throughputs that are given over one common base, as the bars of Figure 18 are."""
    return np.divide(after, before)                                           # eq. VI


def best_threads(x: Inputs) -> Array:
    """Least n with the most MS throughput: threads for the highest point of f, or for M/Z if that is less."""
    ceiling = np.divide(x.lanes, x.intensity)
    at_peak, top = highest(x)
    early = reached(replace(x, threads=np.where(top >= ceiling, np.inf, x.threads)))
    k = np.where(top >= ceiling, early, at_peak)
    rate = np.minimum(top, ceiling)
    return np.asarray(k + np.divide(x.intensity, x.ilp) * rate)               # eq. VI


def largest_gain(x: Inputs, k: Real) -> Array:
    """Most that throttling can raise MS throughput from an intersection with k threads in MS, as a factor."""
    _, top = highest(x)
    best = np.minimum(top, np.divide(x.lanes, x.intensity))
    return np.asarray(best / curves.supply(x, k))                             # eq. VI


def highest(x: Inputs) -> tuple[Array, Array]:
    """k and f(k) at the highest point of f: its first maximum or its last; delta and R without a cache."""
    first, last = shape.peak(x), shape.crest(x)
    plain = np.isnan(first)
    at_first, at_last = (curves.supply(x, np.where(plain, 1.0, k)) for k in (first, last))
    later = at_last > at_first * (1.0 + SAME)
    k = np.where(plain, curves.ms_transition(x), np.where(later, last, first))                # eq. 5
    return k, np.where(plain, x.ms_throughput, np.maximum(at_first, at_last))                 # eq. 5


def _effect(before: Inputs, after: Inputs, old_k: Array, new_k: Array) -> Effect:
    old, new = curves.supply(before, old_k), curves.supply(after, new_k)
    up = new > old * (1.0 + SAME)
    unsaturated = np.subtract(before.threads, old_k) < curves.cs_transition(before)
    first = np.where(up, 1, 0)                                                # eq. II
    second = np.where(up & np.equal(after.intensity, before.intensity), 2, first)  # eq. II
    only = _unchanged_but_intensity(before, after)
    third = unsaturated & np.greater(after.intensity, before.intensity) & only
    return Effect(
        ms_gain=np.asarray(new / old),
        cs_gain=np.asarray(np.multiply(after.intensity, new) / np.multiply(before.intensity, old)),  # eq. II
        principle=np.where(third, 3, second).astype(np.int64),                # eq. II
    )


def _unchanged_but_intensity(before: Inputs, after: Inputs) -> NDArray[np.bool_]:
    others = [f.name for f in fields(before) if f.name != "intensity"]
    same = np.broadcast_arrays(*(np.equal(getattr(before, name), getattr(after, name)) for name in others))
    return np.asarray(np.logical_and.reduce(same))
