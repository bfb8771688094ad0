"""Transit: threads shared out between computation and memory until supply meets demand.

Source   A. Li, Y. C. Tay, A. Kumar, H. Corporaal, "Transit: A Visual Analytical Model for
         Multithreaded Machines", HPDC 2015, as restated in section II of A. Li et al., "X: A
         Comprehensive Analytic Model for Parallel Machines", 2016.  Checked against that section,
         which numbers no equation: "eq. X-II" is its text, "eq. X-III-A4" the paragraph on DLP.
         HPDC's own pages: UNCHECKED.
Models   n threads, x in the computation system (CS) and k = n - x in the memory system (MS);
         f(k) rises to R, g(x) to M.  The state is where MS supply equals CS demand.  The text
         prints f(k) = g(x) and f(k) = kR/L; its own CS throughput Z f(k) and its slope 1/L need
         f(k) = g(x)/Z and f(k) = min(k/L, R), which is the reading here.  The printed one ends
         in `as_published`.  Any consistent units will do; with Table II they are those of one SM:
         threads are warps, R is warp requests per cycle, M warp instructions per cycle.
Omits    caches, instruction-level parallelism (E = 1), latency that grows before saturation.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass

BALANCED = 1e-12  # relative difference below which two limits count as one


@dataclass(frozen=True)
class Inputs:
    """Table I without the symbols of caches and ILP; positive."""

    threads: Real        # n   in the machine                      [thread]
    intensity: Real      # Z   operations per memory request       [inst/request]
    lanes: Real          # M   computation lanes                   [inst/cycle]
    latency: Real        # L   of memory before it saturates       [cycle]
    ms_throughput: Real  # R   most that memory sustains           [request/cycle]


@dataclass(frozen=True)
class State:
    """Where the threads are; `ms_threads` is an interval when both systems are saturated."""

    fewest_ms_threads: Real  # k            [thread]
    most_ms_threads: Real    # k            [thread]
    ms_throughput: Real      # f(k)         [request/cycle]
    cs_throughput: Real      # Z f(k)       [inst/cycle]


@dataclass(frozen=True)
class Parallelism:
    """Parallelism that the machine needs and that the workload has."""

    machine_dlp: Real   # M/R        [inst/request]
    workload_dlp: Real  # Z          [inst/request]
    machine_tlp: Real   # RL + M     [thread]
    workload_tlp: Real  # n          [thread]
    machine_mlp: Real   # RL         [thread]
    workload_mlp: Real  # k          [thread]


@dataclass(frozen=True)
class Principles:
    """Which of the three principles promises a gain for a change of the inputs."""

    more_ms: NDArray[np.bool_]                  # 1: the intersection went up
    more_cs_same_intensity: NDArray[np.bool_]   # 2: it went up and Z did not change
    more_cs_by_intensity: NDArray[np.bool_]     # 3: Z went up and CS was not saturated


def predict(x: Inputs) -> Bounds:
    """Upper bounds on MS throughput, requests per cycle; the smallest is the intersection."""
    return bounds(
        "request/cycle",
        thread=np.divide(x.threads, np.add(x.latency, x.intensity)),  # eq. X-II
        memory=x.ms_throughput,                                       # eq. X-II
        computation=np.divide(x.lanes, x.intensity),                  # eq. X-II
    )


def predict_as_published(x: Inputs) -> Bounds:
    """The same with f(k) = kR/L up to k = L and f(k) = g(x), both as printed."""
    return bounds(
        "request/cycle",
        thread=x.threads / (np.divide(x.latency, x.ms_throughput) + 1.0),  # eq. X-II
        memory=x.ms_throughput,                                            # eq. X-II
        computation=x.lanes,                                               # eq. X-II
    )


def supply(k: Real, latency: Real, ms_throughput: Real) -> Real:
    """f(k), requests per cycle that memory serves with k threads in it."""
    return np.minimum(np.divide(k, latency), ms_throughput)  # eq. X-II


def supply_as_published(k: Real, latency: Real, ms_throughput: Real) -> Real:
    """The same as printed, saturating at k = L."""
    return np.minimum(np.multiply(k, ms_throughput) / latency, ms_throughput)  # eq. X-II


def computation(threads: Real, lanes: Real) -> Real:
    """g(x), instructions per cycle of x threads in CS."""
    return np.minimum(threads, lanes)  # eq. X-II


def demand(threads: Real, lanes: Real, intensity: Real) -> Real:
    """g(x)/Z, requests per cycle that x threads in CS make."""
    return np.divide(computation(threads, lanes), intensity)  # eq. X-II


def ms_transition(x: Inputs) -> Real:
    """delta, threads that saturate memory."""
    return np.multiply(x.ms_throughput, x.latency)  # eq. X-II


def cs_transition(x: Inputs) -> Real:
    """pi, threads that saturate computation."""
    return np.asarray(x.lanes, dtype=np.float64)  # eq. X-II


def state(x: Inputs) -> State:
    """The intersection: threads in MS, and the throughput of both systems.

    Below saturation of either system fewest and most agree.
    """
    limits = predict(x).limits
    ms = predict(x).rate
    saturated = _reaches(ms, limits["memory"])
    idle = _reaches(ms, limits["computation"])
    fewest, most = np.multiply(ms, x.latency), x.threads - np.multiply(ms, x.intensity)  # eq. X-II
    return State(
        fewest_ms_threads=np.where(saturated & ~idle, most, fewest),
        most_ms_threads=np.where(saturated, most, fewest),
        ms_throughput=ms,
        cs_throughput=np.multiply(x.intensity, ms),                                      # eq. X-II
    )


def bound_class(x: Inputs) -> NDArray[np.str_]:
    """thread, memory, computation, or capacity where MS and CS are both at their best."""
    limits = predict(x).limits
    rate = predict(x).rate
    both = _reaches(rate, limits["memory"]) & _reaches(rate, limits["computation"])
    return np.asarray(np.where(both, "capacity", predict(x).bottleneck))


def parallelism(x: Inputs) -> Parallelism:
    """DLP, TLP and MLP of machine and workload; at machine balance the fewest k."""
    delta, pi = ms_transition(x), cs_transition(x)
    return Parallelism(
        machine_dlp=np.divide(x.lanes, x.ms_throughput),  # eq. X-III-A4
        workload_dlp=x.intensity,                         # eq. X-III-A4
        machine_tlp=np.add(delta, pi),                    # eq. X-III-A3
        workload_tlp=x.threads,                           # eq. X-III-A3
        machine_mlp=delta,                                # eq. X-III-A1
        workload_mlp=state(x).fewest_ms_threads,          # eq. X-III-A1
    )


def memory_bound_with_many_threads(x: Inputs) -> NDArray[np.bool_]:
    """Whether memory binds once there are threads enough: DLP of the workload below the machine's."""
    return np.asarray(np.less(x.intensity, np.divide(x.lanes, x.ms_throughput)))  # eq. X-III-A4


def principles(before: Inputs, after: Inputs) -> Principles:
    """What the three principles say about the step from one state to the other.

    "On the right side of pi" is x < pi, since the axis of x is reversed.  The third principle is
    about a change of Z alone.
    """
    old, new = state(before), state(after)
    up = np.greater(new.ms_throughput, old.ms_throughput * (1.0 + BALANCED))
    unsaturated = before.threads - old.fewest_ms_threads < cs_transition(before)
    return Principles(
        more_ms=np.asarray(up),                                                           # eq. X-II
        more_cs_same_intensity=np.asarray(up & np.equal(before.intensity, after.intensity)),  # eq. X-II
        more_cs_by_intensity=np.asarray(unsaturated & np.greater(after.intensity, before.intensity)),
    )


def _reaches(rate: NDArray[np.float64], limit: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray(rate >= limit * (1.0 - BALANCED))
