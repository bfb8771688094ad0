"""The two curves of an X-graph: what memory supplies to k threads, what x threads demand of it.

Source   A. Li, S. L. Song, E. Brugel, D. Chavarria-Miranda, A. Kumar, H. Corporaal, "X: A
         Comprehensive Analytic Model for Parallel Machines", 2016, sections II, III-A and III-B;
         equations 1 to 6 are numbered there, "eq. III-A1" is a paragraph.  Checked.
Models   g(x) = min(E x, M) and f(k) of Eq. 5.  The paper calls both g and g/Z the demand on
         memory; here it is g/Z throughout.  Eq. 5 is in cache storage over the scale beta of the
         working set, so that these two are one parameter.
Omits    cache bandwidth and MSHRs; a cache no faster than memory.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """Table I; any consistent units, with Table II those of one SM: threads are warps.

    Without the last four there is no cache.
    """

    threads: Real               # n       in the machine                       [thread]
    ilp: Real                   # E       lanes that one thread fills          [inst/cycle/thread]
    intensity: Real             # Z       instructions per off-chip request    [inst/request]
    lanes: Real                 # M       computation lanes                    [inst/cycle]
    latency: Real               # L       of memory before it saturates        [cycle]
    ms_throughput: Real         # R       most that memory sustains            [request/cycle]
    cache_latency: Real = 0.0   # L_$     less than L, positive if S_$ is      [cycle]
    cache_capacity: Real = 0.0  # S_$     shared by the threads in MS          [B]
    alpha: Real = 1.0           # alpha   locality, at least 1; 1 is none      [1]
    beta: Real = 1.0            # beta    locality, scale of a working set     [B/thread]


@dataclass(frozen=True)
class Terms:
    """What Eq. 5 and its derivatives are made of, at k threads in MS."""

    share: NDArray[np.float64]      # u = S_$ / (beta k)          [1]
    misses: NDArray[np.float64]     # q = 1 - h                   [1]
    pollution: NDArray[np.float64]  # k dq/dk                    [1]


def locality(x: Inputs) -> NDArray[np.float64]:
    """alpha - 1, the exponent of the miss rate; 0 without a cache."""
    has_cache = np.greater(x.cache_capacity, 0)
    return np.where(has_cache, np.subtract(x.alpha, 1.0), 0.0)  # eq. 3


def storage(x: Inputs) -> NDArray[np.float64]:
    """S_$ / beta, working sets that the cache holds, threads; 0 without a cache."""
    return np.where(np.greater(x.alpha, 1), np.divide(x.cache_capacity, x.beta), 0.0)  # eq. 3


def terms(x: Inputs, k: Real) -> Terms:
    """Misses and how fast they grow, at k threads in MS."""
    return at_share(locality(x), share(x, k))


def share(x: Inputs, k: Real) -> NDArray[np.float64]:
    """u, a thread's part of the cache over the scale of its working set."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(storage(x) > 0, np.divide(storage(x), k), 0.0)  # eq. 3


def at_share(exponent: NDArray[np.float64], u: NDArray[np.float64]) -> Terms:
    """The same from a = alpha - 1 and u."""
    with np.errstate(invalid="ignore"):
        misses = (1.0 + u) ** -exponent                                              # eq. 3
        pollution = np.where(np.isfinite(u), exponent * misses * u / (1.0 + u), 0.0)  # eq. 3
    return Terms(share=u, misses=misses, pollution=pollution)


def hit_rate(x: Inputs, k: Real) -> NDArray[np.float64]:
    """h, share of requests that the cache serves."""
    return 1.0 - terms(x, k).misses  # eq. 3


def memory_latency(x: Inputs, k: Real) -> Real:
    """L_m, cycles of an off-chip request; by Little's law k/R once memory is saturated."""
    return np.maximum(x.latency, np.divide(k, x.ms_throughput))  # eq. 4


def average_latency(x: Inputs, k: Real) -> NDArray[np.float64]:
    """L_k, cycles of a request."""
    h = hit_rate(x, k)
    return np.asarray(h * x.cache_latency + (1.0 - h) * memory_latency(x, k))  # eq. 1


def supply(x: Inputs, k: Real) -> NDArray[np.float64]:
    """f(k), requests per cycle that MS serves with k threads in it."""
    beyond = np.subtract(memory_latency(x, k), x.cache_latency) * terms(x, k).misses  # eq. 5
    with np.errstate(divide="ignore", invalid="ignore"):
        hits_per_cycle = np.divide(k, x.cache_latency + beyond)                             # eq. 5
    return np.where(np.greater(k, 0), hits_per_cycle, 0.0)                                  # eq. 5


def supply_slope(x: Inputs, k: Real) -> NDArray[np.float64]:
    """df/dk, from the right at delta."""
    t = terms(x, k)
    below = np.less(k, ms_transition(x))
    span = np.subtract(memory_latency(x, k), x.cache_latency)
    with np.errstate(divide="ignore", invalid="ignore"):
        average = x.cache_latency + span * t.misses                                 # eq. 5
        fixed = np.where(below, average, x.cache_latency * (1.0 - t.misses))        # eq. 4: L_k grows beyond delta
        slope = (fixed - span * t.pollution) / average**2                           # eq. 5
    return np.asarray(slope)


def computation(x: Inputs, cs_threads: Real) -> Real:
    """g(x), instructions per cycle of x threads in CS."""
    return np.minimum(np.multiply(x.ilp, cs_threads), x.lanes)  # eq. III-A2


def demand(x: Inputs, cs_threads: Real) -> Real:
    """g(x)/Z, requests per cycle that x threads in CS make."""
    return np.divide(computation(x, cs_threads), x.intensity)  # eq. II


def demand_slope(x: Inputs, cs_threads: Real) -> NDArray[np.float64]:
    """dg/dx over Z; 0 from pi on."""
    rising = np.less(cs_threads, cs_transition(x))
    return np.where(rising, np.divide(x.ilp, x.intensity), 0.0)  # eq. III-A2


def ms_transition(x: Inputs) -> Real:
    """delta, threads that saturate memory: the machine's MLP."""
    return np.multiply(x.ms_throughput, x.latency)  # eq. III-A1


def cs_transition(x: Inputs) -> Real:
    """pi, threads that saturate computation."""
    return np.divide(x.lanes, x.ilp)  # eq. III-A2


def excess(x: Inputs, k: Real) -> NDArray[np.float64]:
    """f(k) - g(n-k)/Z: at this rate threads leave MS for CS."""
    return np.asarray(supply(x, k) - demand(x, np.subtract(x.threads, k)))  # eq. II


def bounds_at(x: Inputs, k: Real, misses: Real) -> Bounds:
    """Upper bounds on MS throughput with k threads in MS, of whose requests this part misses the cache.

    thread: all threads go round unhindered; memory: off-chip requests leave at R.
    """
    unloaded = x.cache_latency + np.subtract(x.latency, x.cache_latency) * misses          # eq. 5
    loaded = x.cache_latency + np.subtract(np.divide(k, x.ms_throughput), x.cache_latency) * misses  # eq. 5
    return bounds(
        "request/cycle",
        thread=np.divide(x.threads, unloaded + np.divide(x.intensity, x.ilp)),             # eq. II
        memory=np.divide(k, loaded),                                                       # eq. 5
        computation=np.divide(x.lanes, x.intensity),                                       # eq. III-A2
    )
