"""Throughput of n threads from that of one, three ways.

Source   X. E. Chen, T. M. Aamodt, "A First-Order Fine-Grained Multithreaded Throughput Model",
         HPCA 2009, models 1 to 3 as restated by V. Volkov, EECS-2016-143, section 4.13
         ("eq. V-4.13"), which is checked.  The paper's own pages: UNCHECKED.
Models   a thread alone issues mu instructions per cycle, in each cycle with that probability; with
         n threads none issues with probability (1 - mu)^n.  This third model is `predict`; the
         first ignores the other threads, the second adds them up.
Omits    memory bandwidth; the fourth model, a Markov chain, of which no formula is restated.
"""

import numpy as np

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """Like threads on one issue slot."""

    threads: Real  # n    resident               [thread]
    alone: Real    # mu   of one thread, 0 to 1  [inst/cycle]


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
