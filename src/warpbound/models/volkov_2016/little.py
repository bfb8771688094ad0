"""Little's law and the units the thesis moves between.

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
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(items, cycles)  # eq. 3.1
    return np.where(np.equal(cycles, 0), np.inf, ratio)


def inst_per_cycle(bytes_per_s: Real, clock_Hz: Real, sm_count: Real, bytes_per_inst: Real) -> Real:
    """Chip traffic as instructions (128 B each in the thesis) per cycle per SM."""
    return bytes_per_s / (clock_Hz * sm_count * bytes_per_inst)  # eq. 4.1


def bytes_per_second(inst: Real, clock_Hz: Real, sm_count: Real, bytes_per_inst: Real) -> Real:
    """Instructions (or warps) per cycle per SM as chip traffic, B/s."""
    return inst * bytes_per_inst * sm_count * clock_Hz  # eq. 6.5


def whole_warps(warps: Real, schedulers: Real) -> Real:
    """Warps per scheduler rounded up to what `schedulers` of one SM can hold in whole warps."""
    return np.ceil(np.multiply(warps, schedulers)) / schedulers  # eq. 6.1
