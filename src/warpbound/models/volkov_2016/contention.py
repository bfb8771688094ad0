"""Memory latency that grows with traffic, and the throughput that is consistent with it.

Source   V. Volkov, EECS-2016-143, sections 6.4 and 6.5; equation numbers are sections.
Models   latency a + sum of b X / (c - X) at throughput X (one term for each GPU, two in the
         better fit of the G80), put into the synthetic family of section 4.1.  Throughput
         then stands on both sides; `predict` brackets and bisects, `predict_one_term` has
         the root in closed form.
Omits    the spread of individual latencies, saturation of anything but memory.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.models.volkov_2016 import mixes
from warpbound.models.volkov_2016.little import rate
from warpbound.models.volkov_2016.mixes import Mix
from warpbound.quick_dataclasses import dataclass

HALVINGS = 200    # ends early: the bracket is down to neighbouring numbers long before
CLOSEST = 1e-12   # share of the ceiling c that the bracket stays below it


@dataclass(frozen=True)
class Memory:
    """Fitted latency of memory; rates in the unit in which throughput is given."""

    unloaded: Real                 # a           [cycle]
    growth: tuple[Real, ...]       # b, a term   [cycle]
    ceiling: tuple[Real, ...]      # c, a term   [inst/cycle/SM with a Mix]


def loaded_latency(memory: Memory, throughput: Real) -> NDArray[np.float64]:
    """Mean latency of memory at this throughput, cycles; infinite from the lowest ceiling on."""
    x = np.asarray(throughput, dtype=np.float64)
    total = np.asarray(memory.unloaded, dtype=np.float64)
    for b, c in zip(memory.growth, memory.ceiling, strict=True):
        with np.errstate(invalid="ignore"):
            wait = b * rate(x, np.maximum(np.subtract(c, x), 0.0))                     # eq. 6.4
        total = total + np.where(np.greater(x, 0) & np.greater(b, 0), wait, 0.0)       # eq. 6.4
    return np.asarray(total)


def latency(x: Mix, memory: Memory, throughput: Real) -> NDArray[np.float64]:
    """Cycles of one warp per op and its alpha adds, at this throughput."""
    return loaded_latency(memory, throughput) + np.multiply(x.alu_per_op, x.alu_latency)  # eq. 6.5


def warps_for(x: Mix, memory: Memory, throughput: Real) -> NDArray[np.float64]:
    """Occupancy that sustains this many ops per cycle per SM."""
    return np.asarray(latency(x, memory, throughput) * throughput)  # eq. 6.5


def predict(x: Mix, memory: Memory) -> Bounds:
    """Upper bounds on ops per cycle per SM; the latency is the one at the throughput found.

    `x.op_latency` is not used; `memory` replaces it.
    """
    cap = _cap(x, memory)
    low, high = np.zeros(_shape(x, memory)), np.broadcast_to(cap, _shape(x, memory)).copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if np.all((middle == low) | (middle == high)):
            break
        above = rate(x.warps, latency(x, memory, middle)) >= middle                    # eq. 6.5
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    saturated = rate(x.warps, latency(x, memory, cap)) >= cap
    return _bounds_at(x, memory, np.where(saturated, cap, low))


def predict_one_term(x: Mix, memory: Memory) -> Bounds:
    """The same in closed form, for a memory of one term.

    x = n / (A + b x / (c - x)) with A = a + alpha alu_lat is quadratic; the smaller
    root is taken in the form that does not cancel.
    """
    (b,), (c,) = memory.growth, memory.ceiling
    a = np.add(memory.unloaded, np.multiply(x.alu_per_op, x.alu_latency))              # eq. 6.5
    n = np.asarray(x.warps, dtype=np.float64)
    discriminant = (a * c - n) ** 2 + 4.0 * np.multiply(b, n * c)                      # eq. 6.5
    root = rate(2.0 * n * c, a * c + n + np.sqrt(discriminant))                        # eq. 6.5
    return _bounds_at(x, memory, np.minimum(root, _cap(x, memory)))


def _bounds_at(x: Mix, memory: Memory, throughput: NDArray[np.float64]) -> Bounds:
    at = latency(x, memory, throughput)
    limits = mixes.throughput_limits(replace(x, op_throughput=_reachable(x, memory)))
    cap = _cap(x, memory)
    slow = np.where(throughput < cap, throughput, np.maximum(rate(x.warps, at), cap))
    return bounds("inst/cycle/SM", latency=slow, **limits)                             # eq. 6.5


def _reachable(x: Mix, memory: Memory) -> Real:
    lowest: Real = np.minimum.reduce(np.broadcast_arrays(*memory.ceiling)) if memory.ceiling else np.inf
    return np.minimum(x.op_throughput, np.multiply(lowest, 1.0 - CLOSEST))


def _cap(x: Mix, memory: Memory) -> NDArray[np.float64]:
    return mixes.peak(replace(x, op_throughput=_reachable(x, memory))).rate


def _shape(x: Mix, memory: Memory) -> tuple[int, ...]:
    warps = np.multiply(x.warps, _cap(x, memory))
    return np.broadcast_shapes(np.shape(warps), np.shape(latency(x, memory, 0.0)))
