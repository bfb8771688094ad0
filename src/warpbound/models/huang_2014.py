"""GPUMech: one warp's intervals, multithreaded by a scheduling policy, then slowed by contention.

Source   J.-C. Huang, J. H. Lee, H. Kim, H.-H. S. Lee, "GPUMech: GPU Performance Modeling Technique
         Based on Interval Analysis", MICRO 2014, Eqs. 3, 7, 9 to 18 and 20 to 23, as restated and
         corrected by V. Volkov, EECS-2016-143, sections 7.5 to 7.8, which are checked; the paper's
         own pages: UNCHECKED.  Eqs. 7, 15, 16, 21 and 22 have misprints that its author confirmed.
Models   cycles per instruction of an SM, or of a scheduler with its warps, which issues one
         instruction per cycle: `predict` under round robin, `predict_greedy` under greedy-then-
         oldest.  Intervals of more than one instruction enter Eqs. 12 to 15 by their mean size.
         Contention counts where an interval has requests; the paper means diverging accesses only.
         Beyond saturation the delay is negative, and so may be the time: kept, and told by
         `is_physical`.
Omits    MSHRs: Eq. 20 is not restated, its delay is an input; memory bandwidth when not asked for.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real, Stack, stack
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Instructions that issue without waiting, and the wait after them."""

    insts: Real               # #interval_insts   one after another           [inst]
    latency: Real             # of the last one; it waits a cycle less        [cycle]
    executions: Real = 1.0    # times in the warp, or in its repeating part   [1]
    requests: Real = 0.0      # memory requests that contend                  [1/warp]
    mshr_delay: Real = 0.0    # MSHR_delay                                    [cycle]


@dataclass(frozen=True)
class Inputs:
    """One representative warp among like warps."""

    warps: Real                        # n        resident                    [warp/SM]
    intervals: tuple[Interval, ...]
    cores: Real = 1.0                  # #cores   SMs that share the memory   [SM]
    service: Real = 0.0                # s        of one request, all SMs     [cycle]


def predict(x: Inputs) -> Stack:
    """Cycles per instruction under round robin."""
    return _cpi(x, multithreading_cpi(x))


def predict_greedy(x: Inputs) -> Stack:
    """Cycles per instruction under greedy-then-oldest."""
    return _cpi(x, multithreading_cpi_greedy(x))


def insts(x: Inputs) -> Real:
    """Instructions of the warp."""
    return _sum(np.multiply(i.executions, i.insts) for i in x.intervals)


def total_cycles(x: Inputs) -> Real:
    """Cycles of the warp alone."""
    return _sum(i.executions * (i.insts + stall(i)) for i in x.intervals)             # eq. 9


def stall(interval: Interval) -> Real:
    """Cycles of an interval in which nothing issues."""
    return np.subtract(interval.latency, 1.0)                                         # eq. 9


def issue_probability(x: Inputs) -> Real:
    """p, that one warp issues in a cycle."""
    return insts(x) / total_cycles(x)                                                 # eq. 9


def multithreading_cpi(x: Inputs) -> Real:
    """CPI of the warps under round robin, no contention."""
    others = issue_probability(x) * np.subtract(x.warps, 1.0)                         # eq. 10
    waiting = _sum(i.executions * others * np.subtract(i.insts, 1.0) for i in x.intervals)  # eq. 11
    return (total_cycles(x) + waiting) / (x.warps * insts(x))                         # eq. 7


def multithreading_cpi_greedy(x: Inputs) -> Real:
    """CPI of the warps under greedy-then-oldest, no contention; may be below 1."""
    runs = _sum(np.asarray(i.executions) for i in x.intervals)
    size = insts(x) / runs                                                            # eq. 13
    p = issue_probability(x)
    waiting: Real = 0.0
    for i in x.intervals:
        woken = np.minimum(p * stall(i), 1.0) * np.subtract(x.warps, 1.0)             # eq. 12, 14
        waiting = waiting + i.executions * np.maximum(0.0, woken * size - stall(i))   # eq. 15, 16
    return (total_cycles(x) + waiting) / (x.warps * insts(x))                         # eq. 7


def contention_cpi(x: Inputs) -> Real:
    """CPI_rc_contention, cycles per instruction that queues add."""
    delays = _sum(i.executions * (i.mshr_delay + bandwidth_delay(x, i)) for i in x.intervals)  # eq. 17
    return delays / insts(x)                                                          # eq. 17


def lanes_per_cycle(x: Inputs, lane_insts: Real, cpi: Real) -> Real:
    """Lane instructions per cycle at this CPI, for warps of `lane_insts` such instructions."""
    return 32.0 * np.divide(lane_insts, insts(x) * cpi)                               # eq. V-7.5


def core_requests(x: Inputs, interval: Interval) -> Real:
    """#core_reqs, requests in flight with every warp of a core in this interval."""
    return np.multiply(interval.requests, x.warps)                                    # eq. 18


def service_time(clock_Hz: Real, bytes_per_s: Real, bytes_per_request: Real) -> Real:
    """s, cycles in which the pins transfer one request."""
    return np.multiply(clock_Hz, bytes_per_request) / bytes_per_s                     # eq. 22


def utilisation(x: Inputs, interval: Interval) -> Real:
    """rho, share of the bandwidth that one interval needs; may exceed 1."""
    arrivals = _requests(x, interval) / interval.latency                              # eq. 23
    return arrivals * x.service                                                       # eq. 22


def bandwidth_delay(x: Inputs, interval: Interval) -> Real:
    """Cycles of queueing of one interval; negative beyond saturation, infinite on it."""
    rho = utilisation(x, interval)
    with np.errstate(divide="ignore", invalid="ignore"):
        queue = np.divide(rho * x.service, 2.0 * np.subtract(1.0, rho))               # eq. 21
    whole = x.service * _requests(x, interval) / 2.0                                  # eq. 21
    return np.minimum(queue, whole)                                                   # eq. 21


def is_physical(x: Inputs) -> NDArray[np.bool_]:
    """Whether no interval needs more than the bandwidth, so that delays are positive."""
    within = [np.less(utilisation(x, i), 1.0) for i in x.intervals]
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*within)))            # eq. 22


def _requests(x: Inputs, interval: Interval) -> Real:
    return core_requests(x, interval) * x.cores                                       # eq. 18


def _cpi(x: Inputs, multithreading: Real) -> Stack:
    return stack("cycle/inst", multithreading=multithreading, contention=contention_cpi(x))  # eq. 3


def _sum(parts: Iterable[Real]) -> Real:
    return sum(parts, np.asarray(0.0))
