"""Little's law and the unit conversions of the thesis.

Source   V. Volkov, EECS-2016-143, sections 3.1, 3.2, 4.1 and 6.1; equation numbers are sections.
Models   items in flight = latency x throughput, of instructions, warps or transactions.
Omits    edges of the interval: every item lies inside it.
"""

import numpy as np

from warpbound.bounds import Real


def concurrency(latency: Real, throughput: Real) -> Real:
    """Items in flight on average, for a latency in cycles and items per cycle."""
    return np.multiply(latency, throughput)  # eq. 3.1


def rate(items: Real, cycles: Real) -> Real:
    """Items per cycle with `items` in flight; infinite, that is no bound, where cycles is 0."""
    try:
        with np.errstate(divide="ignore", over="ignore", invalid="raise"):
            return np.divide(items, cycles)  # eq. 3.1
    except FloatingPointError:  # no items in no time; catching it costs no pass over the numbers
        with np.errstate(all="ignore"):
            return np.where(np.equal(cycles, 0), np.inf, np.divide(items, cycles))  # eq. 3.1


def cycles_of(count: Real, each: Real) -> Real:
    """Cycles of `count` instructions; none take none, even where one would take forever."""
    with np.errstate(invalid="ignore"):
        return np.where(np.equal(count, 0), 0.0, np.multiply(count, each))  # eq. 4.11


def inst_per_cycle(bytes_per_s: Real, clock_Hz: Real, sm_count: Real, bytes_per_inst: Real) -> Real:
    """Chip traffic as instructions (128 B each in the thesis) per cycle per SM."""
    return bytes_per_s / (clock_Hz * sm_count * bytes_per_inst)  # eq. 4.1


def bytes_per_second(inst: Real, clock_Hz: Real, sm_count: Real, bytes_per_inst: Real) -> Real:
    """Instructions (or warps) per cycle per SM as chip traffic, B/s."""
    return inst * bytes_per_inst * sm_count * clock_Hz  # eq. 6.5


def warps_holding(instructions: Real, in_flight_per_warp: Real) -> Real:
    """Warps that keep `instructions` in flight; ILP puts more than one in a warp, a mix less."""
    return np.divide(instructions, in_flight_per_warp)  # eq. 3.3


def warps_per_scheduler(latency: Real, lanes_per_cycle: Real, sharing: Real) -> Real:
    """Warps per scheduler at which a pipe of so many lanes per cycle saturates.

    Rounded up to a whole number of warps among `sharing` schedulers: all of an SM, or 1.
    """
    warps = concurrency(latency, np.divide(lanes_per_cycle, 32.0))  # eq. 6.1
    return np.ceil(np.multiply(warps, sharing)) / sharing           # eq. 6.1
