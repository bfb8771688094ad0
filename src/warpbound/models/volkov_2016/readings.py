"""Quantities that the thesis derives from its measured tables: shares, ratios and differences.

Source   V. Volkov, EECS-2016-143, sections 4.3, 4.4, 5.8, 6.1 to 6.3, 6.6 and 7.9; equation numbers are sections.
Models   the arithmetic of the text between a measured number and the claim that rests on it.
Omits    the measurements: they are inputs.
"""

import numpy as np

from warpbound.bounds import Real

LANES = 32.0  # operations of a warp instruction


def warps_per_sm(per_scheduler: Real, schedulers: Real) -> Real:
    """Occupancy of an SM, warp/SM, from that of one of its schedulers."""
    return np.multiply(per_scheduler, schedulers)  # eq. 4.3


def warps_on_fullest(warps: Real, schedulers: Real) -> Real:
    """Warps on the scheduler that has most, where they are dealt out in turn."""
    return np.ceil(np.divide(warps, schedulers))  # eq. 5.8


def instructions(operations: Real, schedulers: Real) -> Real:
    """Instructions per cycle per SM, from operations (lanes) per cycle per scheduler."""
    return np.multiply(operations, schedulers) / LANES  # eq. 6.1


def share(attained: Real, best: Real) -> Real:
    """Part of the best that is attained, 1; of any two numbers of one unit."""
    return np.divide(attained, best)  # eq. 6.3


def shortfall(attained: Real, best: Real) -> Real:
    """Part of the best that is missing, 1."""
    return 1.0 - share(attained, best)  # eq. 6.3


def added(slow: Real, fast: Real) -> Real:
    """Cycles that conflicts or congestion add to a latency; the width of a range of latencies."""
    return np.subtract(slow, fast)  # eq. 6.2


def increase(slow: Real, fast: Real) -> Real:
    """The same as a part of the faster latency, 1."""
    return added(slow, fast) / fast  # eq. 6.2


def throughput_in_passes(throughput: Real, passes: Real) -> Real:
    """Throughput of accesses that the banks serve in so many passes each."""
    return np.divide(throughput, passes)  # eq. 6.2


def warps_without_ilp(warps: Real, in_flight_per_warp: Real) -> Real:
    """Warps of one instruction in flight each that do what fewer warps of several do."""
    return np.multiply(warps, in_flight_per_warp)  # eq. 6.3


def at_clock(throughput: Real, clock: Real, measured_at: Real) -> Real:
    """Throughput that another clock would give, all else in proportion."""
    return np.multiply(throughput, share(clock, measured_at))  # eq. 6.3


def overstatement(share_attained: Real) -> Real:
    """Error factor of a bound that promises the whole peak where this share of it is attained."""
    return np.divide(1.0, share_attained)  # eq. 7.9


def yearly_factor(first: Real, last: Real, years: Real) -> Real:
    """Factor by which a quantity falls in each of so many years."""
    return np.power(share(first, last), np.divide(1.0, years))  # eq. 4.4
