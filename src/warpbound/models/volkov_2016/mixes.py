"""The synthetic family: alpha dependent adds per dependent memory (or SFU, or shared) access.

Source   V. Volkov, EECS-2016-143, sections 4.1 to 4.7; equation numbers are sections.
Models   n warps of an endless dependent chain with alpha adds per other instruction (op):
         memory in section 4.1, SFU and shared memory in 4.7.  Below alpha = 1 the chain has
         1 / alpha ops per add.  An op may cost several issue slots, and its latency may
         depend on whether an add or another op consumes it.
Omits    ILP inside a warp, dual issue, gradual saturation (see `contention`).
"""

import numpy as np

from warpbound.bounds import Bounds, Real, Stack, bounds, stack
from warpbound.models.volkov_2016.little import rate
from warpbound.quick_dataclasses import dataclass

LANES = 32.0  # adds per warp instruction


@dataclass(frozen=True)
class Mix:
    """Symbols as in the thesis; `op` is the memory access of section 4.1."""

    warps: Real                          # n           occupancy                         [warp/SM]
    alu_per_op: Real                     # alpha       arithmetic intensity              [1]
    op_latency: Real                     # mem_lat     of an op consumed by an add       [cycle]
    alu_latency: Real                    # alu_lat                                       [cycle]
    op_throughput: Real                  # mem_thru                                      [inst/cycle/SM]
    alu_throughput: Real                 # alu_thru                                      [inst/cycle/SM]
    issue_throughput: Real               # issue_thru                                    [inst/cycle/SM]
    op_issue_slots: Real = 1.0           #             fits: 2 SFU, 3 shared, 8 memory   [slot/inst]
    op_to_op_latency: Real | None = None  #            of an op consumed by an op; None: op_latency [cycle]


def latency(x: Mix) -> Real:
    """Cycles of one warp alone per op and its alpha adds."""
    return chain_latency(x) + np.multiply(x.alu_per_op, x.alu_latency)  # eq. 4.1


def chain_latency(x: Mix) -> Real:
    """Cycles of the op itself: below alpha = 1 the share alpha of the ops feeds an add."""
    if x.op_to_op_latency is None:
        return x.op_latency
    fed = np.minimum(x.alu_per_op, 1.0)                                           # eq. 4.7
    return np.multiply(fed, x.op_latency) + (1.0 - fed) * x.op_to_op_latency      # eq. 4.7


def throughput_limits(x: Mix) -> dict[str, Real]:
    """Resource -> the ops per cycle per SM it can sustain."""
    return {
        "memory": x.op_throughput,                                                    # eq. 4.1
        "arithmetic": rate(x.alu_throughput, x.alu_per_op),                           # eq. 4.1
        "issue": rate(x.issue_throughput, np.add(x.alu_per_op, x.op_issue_slots)),    # eq. 4.7
    }


def predict(x: Mix) -> Bounds:
    """Upper bounds on ops per cycle per SM; `memory` is the pipe of the op, whichever it is."""
    return bounds("inst/cycle/SM", latency=rate(x.warps, latency(x)), **throughput_limits(x))  # eq. 4.1


def peak(x: Mix) -> Bounds:
    """The most that occupancy can reach: the bounds without the one on latency."""
    return bounds("inst/cycle/SM", **throughput_limits(x))  # eq. 4.5


def predict_adds_only(x: Mix) -> Bounds:
    """The limit alpha = infinity: bounds on adds, in instructions per cycle per SM."""
    return bounds(
        "inst/cycle/SM",
        latency=rate(x.warps, x.alu_latency),                   # eq. 4.2
        arithmetic=x.alu_throughput,                            # eq. 4.2
        issue=x.issue_throughput,                               # eq. 4.2
    )


def adds_per_cycle(x: Mix, ops: Real) -> Real:
    """Adds per cycle per SM, lane by lane, at so many ops per cycle per SM."""
    return LANES * np.multiply(x.alu_per_op, ops)  # eq. 4.1


def inst_per_cycle(x: Mix, ops: Real) -> Real:
    """All instructions per cycle per SM at so many ops per cycle per SM."""
    return np.add(x.alu_per_op, 1.0) * ops  # eq. 4.1


def in_flight(x: Mix, ops: Real) -> Stack:
    """Instructions in execution at so many ops per cycle per SM; they add up to the warps it takes."""
    return stack(
        "warp/SM",
        memory=np.multiply(chain_latency(x), ops),                                    # eq. 4.6
        arithmetic=np.multiply(x.alu_latency, np.multiply(x.alu_per_op, ops)),        # eq. 4.6
    )


def warps_needed(x: Mix) -> Stack:
    """Occupancy that hides latency, split by what the warps wait for; `x.warps` is not used."""
    return in_flight(x, peak(x).rate)  # eq. 4.5


def whole_warps_for_share(x: Mix, share: Real) -> Real:
    """Least whole number of warps per SM that reaches `share` of the tightest limit."""
    warps = np.multiply(share, warps_needed(x).total)
    return np.ceil(warps * (1 - 1e-12))  # eq. 4.5


def cusp_intensity(x: Mix) -> Real:
    """Alpha at which the memory side and the compute side of `warps_needed` meet."""
    arithmetic = rate(x.alu_throughput, x.op_throughput)                              # eq. 4.5
    issue = rate(x.issue_throughput, x.op_throughput) - x.op_issue_slots              # eq. 4.5
    return np.maximum(np.minimum(arithmetic, issue), 0.0)                             # eq. 4.5


def cusp_intensity_as_published(x: Mix) -> Real:
    """The same for a machine that arithmetic limits, as the thesis prints it for all."""
    return rate(x.alu_throughput, x.op_throughput)  # eq. 4.5


def cusp_warps_as_published(x: Mix) -> Real:
    """Height of the cusp on a machine that arithmetic limits: the sum of both limit cases, warp/SM."""
    arithmetic = np.multiply(x.alu_latency, x.alu_throughput)    # eq. 4.5
    return arithmetic + np.multiply(x.op_latency, x.op_throughput)  # eq. 4.5
