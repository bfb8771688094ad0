"""Throughput of n threads from that of one, four ways.

Source   X. E. Chen, T. M. Aamodt, "A First-Order Fine-Grained Multithreaded Throughput Model",
         HPCA 2009, models 1 to 3 as restated by V. Volkov, EECS-2016-143, section 4.13
         ("eq. V-4.13"), which is checked.  The fourth, of which the thesis restates no formula,
         after the paper's abstract: a Markov chain whose states are the numbers of stalled threads,
         with transitions from the rates and latencies of what stalls a thread ("eq. abstract").
         The paper's own pages: UNCHECKED; its chain may count stalls in more detail.
Models   a thread alone issues mu instructions per cycle, in each cycle with that probability; with
         n threads none issues with probability (1 - mu)^n.  This third model is `predict`; the
         first ignores the other threads, the second adds them up.  In the fourth, `markov`, a
         thread that does not stall issues in a later cycle: one that is ready is never lost.
         A stall ends in each cycle with the same probability.
Omits    memory bandwidth; stalls of several kinds in one thread; contention for caches.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """Like threads on one issue slot."""

    threads: Real  # n    resident               [thread]
    alone: Real    # mu   of one thread, 0 to 1  [inst/cycle]
    stalls: Real = 1.0  # p  of an instruction to stall its thread, in `markov` only  [1]


def predict(x: Inputs) -> Bounds:
    """Instructions per cycle by the third model, its only bound."""
    return bounds("inst/cycle", probabilistic=probabilistic(x))


def ignored(x: Inputs) -> Real:
    """Instructions per cycle by the first model."""
    return np.add(x.alone, np.multiply(0.0, x.threads))        # eq. V-4.13


def linear(x: Inputs) -> Real:
    """Instructions per cycle by the second model."""
    return np.multiply(x.threads, x.alone)                     # eq. V-4.13


def probabilistic(x: Inputs) -> Real:
    """Instructions per cycle by the third model."""
    none: Real = np.power(np.subtract(1.0, x.alone), x.threads)  # eq. V-4.13
    return np.subtract(1.0, none)                              # eq. V-4.13


def markov(x: Inputs) -> NDArray[np.float64]:
    """Instructions per cycle by the fourth model; between whole numbers of threads on a straight line."""
    n, mu, p = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (x.threads, x.alone, x.stalls)))
    rates = [_between(*values) for values in zip(n.flat, mu.flat, p.flat, strict=True)]
    return np.array(rates).reshape(n.shape)


def _between(threads: float, alone: float, stalls: float) -> float:
    below = int(np.floor(threads))
    low = _issued(below, alone, stalls)
    return low if below == threads else low + (threads - below) * (_issued(below + 1, alone, stalls) - low)


def _issued(threads: int, alone: float, stalls: float) -> float:
    """Share of cycles in which at least one of this many threads is not stalled."""
    if threads == 0 or alone <= 0 or stalls <= 0:
        return 0.0 if alone <= 0 else float(threads > 0)
    latency = (1.0 / alone - 1.0) / stalls                                  # eq. abstract
    stalls, ends = stalls * min(1.0, latency), 1.0 / max(1.0, latency)      # a stall lasts a cycle at least
    chain = np.zeros((threads + 1, threads + 1))
    for stalled in range(threads + 1):
        for woken in range(stalled + 1):
            wake = comb(stalled, woken) * ends**woken * (1.0 - ends) ** (stalled - woken)
            if stalled == threads:
                chain[stalled, stalled - woken] += wake                     # eq. abstract
            else:
                chain[stalled, stalled - woken + 1] += wake * stalls        # eq. abstract
                chain[stalled, stalled - woken] += wake * (1.0 - stalls)    # eq. abstract
    balance = chain.T - np.eye(threads + 1)
    balance[-1] = 1.0  # the shares add up
    settled = np.linalg.solve(balance, np.eye(threads + 1)[-1])
    return float(1.0 - settled[threads])
