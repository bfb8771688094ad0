"""Coarse-grained multithreading: switch threads when one waits for memory.

Source   R. Saavedra-Barrera, D. Culler, T. von Eicken, "Analysis of Multithreaded Architectures for
         Parallel Computing", SPAA 1990, Eq. 4; A. Agarwal 1989, section 2; T. Mowry et al. 1992.
         All three as restated by V. Volkov, EECS-2016-143, section 4.9 ("eq. V-4.9"), which is
         checked; their own pages: UNCHECKED.
Models   n threads that each run R cycles, then wait L, a switch costing C.  Latency is hidden when
         n - 1 runs and switches fill it; Agarwal counts the switch back to the waiting thread too.
         `prefetch_distance` is the same for iterations of one loop; the ceiling, which the restated
         formula has lost, is in `prefetch_distance_in_iterations`.
Omits    arithmetic latency, memory bandwidth, random run lengths.
"""

import numpy as np

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """One processor."""

    threads: Real     # n   on the processor         [thread]
    run: Real         # R   between two waits        [cycle]
    latency: Real     # L   of memory                [cycle]
    switch: Real      # C   cost of a switch         [cycle]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on the share of cycles that do work; they meet at `threads_needed`."""
    turn = np.add(x.run, x.switch)
    return bounds(
        "1",
        latency=np.divide(np.multiply(x.threads, x.run), np.add(turn, x.latency)),  # eq. V-4.9
        switching=np.divide(x.run, turn),                                           # eq. V-4.9
    )


def predict_agarwal(x: Inputs) -> Bounds:
    """The same when a switch back to the thread that waited overlaps with its wait."""
    return bounds(
        "1",
        latency=np.divide(np.multiply(x.threads, x.run), np.add(x.run, x.latency)),  # eq. V-4.9
        switching=np.divide(x.run, np.add(x.run, x.switch)),                         # eq. V-4.9
    )


def threads_needed(x: Inputs) -> Real:
    """Threads that hide the latency, after Saavedra-Barrera et al."""
    return np.divide(x.latency, np.add(x.run, x.switch)) + 1.0             # eq. 4


def threads_needed_agarwal(x: Inputs) -> Real:
    """The same after Agarwal."""
    return np.divide(np.add(x.run, x.latency), np.add(x.run, x.switch))    # eq. V-4.9


def prefetch_distance(latency: Real, insts: Real) -> Real:
    """Iterations to prefetch ahead after Mowry et al., one instruction per cycle; as restated."""
    return np.divide(latency, insts)                                       # eq. V-4.9


def prefetch_distance_in_iterations(latency: Real, insts: Real) -> Real:
    """The same in whole iterations."""
    return np.ceil(prefetch_distance(latency, insts))                      # eq. V-4.9
