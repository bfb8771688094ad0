"""Throughput lost by more threads: the drop from the best stable intersection to the worst.

Source   A. Li et al., "X", 2016, section III-D2.
Models   the drop between stable intersections at given n, the n from which there are several (the
         demand line touches f), and the drop there, at the valley and for infinitely many
         threads.  The paper calls the drop at the touch the least and M/Z - R the most.  That
         holds when f only falls after its peak; with a valley the most is M/Z - f(valley), at
         finite n, and the drop becomes smaller than at the touch as threads climb out of it.
Omits    how likely the fall is.
"""

from dataclasses import replace

import numpy as np

from warpbound.bounds import Real
from warpbound.models.x_model_2016 import curves, equilibrium, shape
from warpbound.models.x_model_2016.curves import Inputs
from warpbound.models.x_model_2016.search import reached
from warpbound.models.x_model_2016.shape import Array
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Drops:
    """States at which the drop changes; NaN where there is none."""

    threads_at_tangency: Real  # n         [thread]
    at_tangency: Real          # the paper's least      [request/cycle]
    threads_at_valley: Real    # n         [thread]
    at_valley: Real            # the most, with a valley [request/cycle]
    without_limit: Real        # M/Z - R, the paper's most [request/cycle]


def drop(x: Inputs) -> Array:
    """MS throughput of the best stable intersection less that of the worst; 0 where there is one."""
    states = equilibrium.intersections(x)
    stable = np.where(states.stability == "stable", states.ms_throughput, np.nan)
    best = np.where(np.isnan(stable), -np.inf, stable).max(axis=-1)
    worst = np.where(np.isnan(stable), np.inf, stable).min(axis=-1)
    return np.where(np.isfinite(best), best - worst, 0.0)                     # eq. III-D2


def drops(x: Inputs) -> Drops:
    """The drops that mark the range, whatever n is."""
    touch = _touch(x)
    dip = np.where(_under_ceiling(x, shape.valley(x)), shape.valley(x), np.nan)
    return Drops(
        threads_at_tangency=threads_for(x, touch),
        at_tangency=_drop_to(x, touch),
        threads_at_valley=threads_for(x, dip),
        at_valley=_drop_to(x, dip),
        without_limit=np.subtract(np.divide(x.lanes, x.intensity), x.ms_throughput),  # eq. III-D2
    )


def threads_for(x: Inputs, k: Real) -> Array:
    """n with k threads in MS, CS not saturated."""
    cs_threads = np.divide(x.intensity, x.ilp) * curves.supply(x, k)          # eq. II
    return np.asarray(k + cs_threads)                                         # eq. II


def _touch(x: Inputs) -> Array:
    """k at which the demand line touches f from above, beyond the peak."""
    k = shape.turning_points(x, np.divide(x.ilp, x.intensity)).first_rise     # eq. III-D2
    return np.where(_under_ceiling(x, k), k, np.nan)


def _under_ceiling(x: Inputs, k: Array) -> Array:
    return np.asarray(curves.supply(x, k) < np.divide(x.lanes, x.intensity))


def _drop_to(x: Inputs, k: Array) -> Array:
    exists = ~np.isnan(k)
    n = np.where(exists, threads_for(x, k), x.threads)
    good = curves.supply(x, reached(replace(x, threads=n)))
    return np.where(exists, good - curves.supply(x, k), np.nan)                # eq. III-D2
