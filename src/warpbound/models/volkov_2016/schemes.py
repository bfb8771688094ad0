"""Simpler schemes that the thesis sets up on its own family of kernels, to argue against them.

Source   V. Volkov, EECS-2016-143, sections 4.8 and 4.10 to 4.12; equation numbers are sections.
Models   the programming guide's count of warps corrected for arithmetic latency, latency
         exposed by other warps' work, arithmetic and memory in isolation.  Estimates that
         have an author elsewhere are that author's module.
Omits    what the thesis adds to them.
"""

import numpy as np

from warpbound.bounds import Bounds, Real, bounds
from warpbound.models.volkov_2016 import mixes
from warpbound.models.volkov_2016.little import cycles_of, rate
from warpbound.models.volkov_2016.mixes import Mix


def guide_warps_corrected(x: Mix) -> Real:
    """The programming guide's warps that fill a memory stall, plus those that hide arithmetic latency."""
    stalled = rate(x.op_latency, np.multiply(rate(1.0, x.alu_throughput), x.alu_per_op))  # eq. 4.8
    return stalled + np.multiply(x.alu_latency, x.alu_throughput)                         # eq. 4.8


def arithmetic_time(x: Mix) -> Real:
    """Cycles per add per SM when nothing but adds is executed."""
    return np.maximum(rate(x.alu_latency, x.warps), rate(1.0, x.alu_throughput))  # eq. 4.11


def memory_time(x: Mix) -> Real:
    """Cycles per op per SM when nothing but ops is executed."""
    return np.maximum(rate(x.op_latency, x.warps), rate(1.0, x.op_throughput))  # eq. 4.11


def predict_overlapped(x: Mix) -> Bounds:
    """Ops per cycle per SM if arithmetic and memory run at their rates in isolation, side by side."""
    return bounds(
        "inst/cycle/SM",
        arithmetic=rate(1.0, cycles_of(x.alu_per_op, arithmetic_time(x))),    # eq. 4.11
        memory=rate(1.0, memory_time(x)),                                  # eq. 4.11
    )


def predict_added(x: Mix) -> Bounds:
    """Ops per cycle per SM if both run at their rates in isolation, one after the other."""
    time = cycles_of(x.alu_per_op, arithmetic_time(x)) + memory_time(x)   # eq. 4.12
    return bounds("inst/cycle/SM", both=rate(1.0, time))            # eq. 4.12


def exposed_latency(x: Mix) -> Real:
    """Part of one op's latency that the work of the other warps leaves exposed, cycles; may be negative."""
    group = np.add(x.alu_per_op, 1.0) * arithmetic_time(x)          # eq. 4.10
    return x.op_latency - np.subtract(x.warps, 1.0) * group         # eq. 4.10


def warps_leaving_nothing_exposed(x: Mix, at_most: int) -> Real:
    """Least whole number of warps with no exposed latency; infinite where `at_most` do not suffice."""
    warps = np.arange(1.0, at_most + 1)
    column = [np.asarray(value, dtype=np.float64)[..., None] for value in _machine(x)]
    exposed = exposed_latency(Mix(warps, *column))
    return np.where(np.any(exposed <= 0, axis=-1), 1.0 + np.argmax(exposed <= 0, axis=-1), np.inf)  # eq. 4.10


def _machine(x: Mix) -> tuple[Real, ...]:
    return (x.alu_per_op, x.op_latency, x.alu_latency, x.op_throughput, x.alu_throughput, x.issue_throughput)


def overstatement(x: Mix) -> Real:
    """`predict_overlapped` over the thesis' own `mixes.predict`: at least 1."""
    return predict_overlapped(x).rate / mixes.predict(x).rate       # eq. 4.11


def understatement(x: Mix) -> Real:
    """`predict_added` over the thesis' own `mixes.predict`: at most 1."""
    return predict_added(x).rate / mixes.predict(x).rate            # eq. 4.12
