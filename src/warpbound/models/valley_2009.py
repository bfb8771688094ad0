"""Many-core against many-thread: one cache for all threads, and the valley between its two uses.

Source   Z. Guz, E. Bolotin, I. Keidar, A. Kolodny, A. Mendelson, U. C. Weiser, "Many-Core vs.
         Many-Thread Machines: Stay Away From the Valley", IEEE Computer Architecture Letters 8(1),
         2009.  UNCHECKED: its pages were not available.  Equations are the ones that A. Li et al.,
         "X", 2016, ascribe to it in section VII, with their Eqs. 1 to 3 and n for k ("eq. X-3");
         the cap by off-chip bandwidth is the slanted roof of Williams et al., CACM 52(4), p. 67.
Models   n threads on N_PE in-order processing elements all share one cache: the hit rate falls
         with n and not, as in the X-model, with the threads that wait for memory.  A
         thread computes CPI_exe / r_m cycles and then waits t_avg, at a fixed latency of memory.
         Few threads hit, many threads hide misses; in between neither helps.
Omits    latency that grows with load, instruction-level parallelism, data shared between threads.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass

HALVINGS = 200  # ends early, when the bracket is down to neighbouring numbers


@dataclass(frozen=True)
class Inputs:
    """Machine, then workload; alpha and beta shape the hit rate."""

    elements: Real         # N_PE     processing elements                    [1]
    clock: Real            # f                                               [cycle/s]
    cpi: Real              # CPI_exe  of one element, memory being instant   [cycle/inst]
    cache_capacity: Real   # S_$                                             [B]
    cache_latency: Real    # t_$                                             [cycle]
    memory_latency: Real   # t_m                                             [cycle]
    bandwidth: Real        # BW_max   off-chip                               [B/s]
    operand_bytes: Real    # b_reg    moved by a miss                        [B]
    threads: Real          # n        that run or are ready                  [thread]
    memory_fraction: Real  # r_m      of instructions that access memory     [1]
    alpha: Real            # alpha    locality, at least 1                   [1]
    beta: Real             # beta     scale of a thread's working set        [B/thread]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on instructions per second; the memory one is infinite without misses."""
    miss_bytes = np.multiply(x.memory_fraction, x.operand_bytes) * (1.0 - hit_rate(x))
    with np.errstate(divide="ignore"):
        by_bandwidth = np.divide(x.bandwidth, miss_bytes)               # eq. Williams p. 67
    return bounds(
        "inst/s",
        thread=np.multiply(x.threads, x.clock) / cycles_per_inst(x),    # eq. X-II
        memory=by_bandwidth,
        computation=np.multiply(x.elements, x.clock) / x.cpi,           # eq. X-VII
    )


def hit_rate(x: Inputs) -> Real:
    """P_hit, share of accesses that the cache serves with all n threads in it."""
    share = np.divide(x.cache_capacity, np.multiply(x.beta, x.threads))
    return 1.0 - (1.0 + share) ** np.subtract(1.0, x.alpha)             # eq. X-3


def average_latency(x: Inputs) -> Real:
    """t_avg, cycles of an access."""
    h = hit_rate(x)
    return h * x.cache_latency + (1.0 - h) * x.memory_latency           # eq. X-1


def cycles_per_inst(x: Inputs) -> Real:
    """Cycles that one thread takes for an instruction, waits included."""
    return x.cpi + x.memory_fraction * average_latency(x)               # eq. X-II


def utilisation(x: Inputs) -> NDArray[np.float64]:
    """Share of the processing elements that the threads keep busy, at most 1."""
    threads_needed = np.multiply(x.elements, cycles_per_inst(x)) / x.cpi        # eq. X-II
    return np.asarray(np.minimum(1.0, np.divide(x.threads, threads_needed)))    # eq. X-VII


def peak_threads(x: Inputs) -> NDArray[np.float64]:
    """n at which the thread bound is best while the cache still serves; NaN without a valley."""
    a, excess, turn = _turn(x)
    far = np.maximum(turn, ((a - 1.0) / excess) ** (1.0 / a))           # eq. X-3
    return _threads_at(x, _root(a, excess, far, turn))


def valley_threads(x: Inputs) -> NDArray[np.float64]:
    """n at which the thread bound is worst beyond the peak; NaN without a valley."""
    a, excess, turn = _turn(x)
    return _threads_at(x, _root(a, excess, 1.0 / (a - 1.0), turn))


def region(x: Inputs) -> NDArray[np.str_]:
    """many-core up to the peak, valley while fewer threads would do better, else many-thread.

    Without a valley the region is always many-thread.
    """
    peak, dip = peak_threads(x), valley_threads(x)
    early = np.less_equal(x.threads, peak)
    best = _thread_bound(x, np.where(np.isnan(peak), 1.0, peak))
    worse = predict(x).rate < np.minimum(best, _other_bounds(x))
    return np.asarray(np.where(early, "many-core", np.where(worse & ~np.isnan(dip), "valley", "many-thread")))


def _thread_bound(x: Inputs, threads: NDArray[np.float64]) -> NDArray[np.float64]:
    return predict(replace(x, threads=threads)).limits["thread"]


def _other_bounds(x: Inputs) -> NDArray[np.float64]:
    limits = predict(x).limits
    return np.asarray(np.minimum(limits["memory"], limits["computation"]))


def _turn(x: Inputs) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """alpha - 1, time of a hit over what a miss adds, and the share u where `_gain` is least.

    NaN where the thread bound only rises.
    """
    a = np.asarray(np.subtract(x.alpha, 1.0), dtype=np.float64)
    hit = x.cpi + np.multiply(x.memory_fraction, x.cache_latency)       # eq. X-1
    miss_cost = np.multiply(x.memory_fraction, np.subtract(x.memory_latency, x.cache_latency))
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = np.divide(hit, miss_cost)                                  # eq. X-1
        turn = 2.0 / (a - 1.0)                                          # eq. X-3
    a, excess, turn = np.broadcast_arrays(a, excess, turn)
    with np.errstate(invalid="ignore"):
        dips = (a > 1.0) & (_gain(a, excess, turn) < 0)
    return np.where(dips, a, np.nan), np.where(dips, excess, np.nan), np.where(dips, turn, np.nan)


def _gain(
    a: NDArray[np.float64], excess: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A number with the sign of the thread bound's growth with n, u = S_$ / (beta n)."""
    return np.asarray(excess + (1.0 + u) ** (-a - 1.0) * (1.0 - (a - 1.0) * u))  # eq. X-3


def _root(
    a: NDArray[np.float64],
    excess: NDArray[np.float64],
    rising: NDArray[np.float64],
    falling: NDArray[np.float64],
) -> NDArray[np.float64]:
    for _ in range(HALVINGS):
        middle = 0.5 * (rising + falling)
        if np.all((middle == rising) | (middle == falling) | np.isnan(middle)):
            break
        up = _gain(a, excess, middle) > 0
        rising, falling = np.where(up, middle, rising), np.where(up, falling, middle)
    return np.asarray(0.5 * (rising + falling))


def _threads_at(x: Inputs, u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(x.cache_capacity, np.multiply(x.beta, u)))  # eq. X-3
