""""Latency" of one warp, added up over all of them.

Source   S. S. Baghsorkhi, M. Delahaye, S. J. Patel, W. D. Gropp, W. W. Hwu, "An Adaptive
         Performance Modeling Tool for GPU Architectures", PPoPP 2010, Eqs. 3 to 6, as restated by
         V. Volkov, EECS-2016-143, section 7.2 ("eq. V-7.2"), which is checked; the paper's own
         pages: UNCHECKED.
Models   the longest path through memory nodes and runs of arithmetic of one warp.  Arithmetic takes
         its share of the SM, memory at least its transfer time, and a wait what the runs of the
         other warps leave exposed.  The time of an SM is the sum over its warps.
Omits    overlap of one warp's waits with another's, so that memory alone is under-estimated by up
         to 8; bank conflicts and divergence, which are in the paper and not in the restatement.
"""

import numpy as np

from warpbound.bounds import Real, Stack, stack
from warpbound.quick_dataclasses import dataclass

LANES = 32.0  # threads per warp


@dataclass(frozen=True)
class Inputs:
    """Counts are those of one warp from its start to its end."""

    warps: Real              # n            resident                        [warp/SM]
    alu_insts: Real          # arithmetic                                   [inst/warp]
    mem_insts: Real          # NUM_mem                                      [inst/warp]
    issue_time: Real         # of any instruction                           [cycle/inst/SM]
    alu_latency: Real        # of a dependent arithmetic instruction        [cycle]
    mem_time: Real           # CYC_mem / NUM_mem, at peak throughput        [cycle/inst/SM]
    mem_latency: Real        # of an access                                 [cycle]
    sync_insts: Real = 0.0   # NUM_sync     barriers                        [inst/warp]


def predict(x: Inputs) -> Stack:
    """Cycles of one warp's "latency": arithmetic, then accesses or what is exposed of them."""
    return stack(
        "cycle",
        computation=np.multiply(x.alu_insts, alu_time(x)),                            # eq. 3
        memory=np.multiply(x.mem_insts, np.maximum(transfer(x), exposed_latency(x))),  # eq. V-7.2
    )


def cycles(x: Inputs) -> Real:
    """Cycles of an SM for all its warps."""
    return np.multiply(x.warps, predict(x).total)                                     # eq. V-7.2


def lanes_per_cycle(x: Inputs) -> Real:
    """Arithmetic per cycle per SM, lane by lane; the number of warps is no factor."""
    return LANES * x.alu_insts / predict(x).total                                     # eq. V-7.2


def alu_time(x: Inputs) -> Real:
    """Cycles that one arithmetic instruction adds to a warp."""
    return np.maximum(x.issue_time, np.divide(x.alu_latency, x.warps))                # eq. 3


def compute_cycles(x: Inputs) -> Real:
    """CYC_compute, cycles of a warp's arithmetic and of issuing its accesses."""
    return x.alu_insts * alu_time(x) + np.multiply(x.mem_insts, x.issue_time)         # eq. 3


def transfer(x: Inputs) -> Real:
    """Latency_BW, cycles of an access that bandwidth allows, given the arithmetic around it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        around = compute_cycles(x) / x.mem_insts
    late = np.maximum(0.0, np.subtract(x.mem_time, around))                           # eq. 4
    return np.where(np.greater(x.mem_insts, 0), x.issue_time + late, x.issue_time)    # eq. 4


def run(x: Inputs) -> Real:
    """NBC_avg, cycles between two waits of a warp."""
    return compute_cycles(x) / np.add(np.add(x.mem_insts, x.sync_insts), 1.0)         # eq. 5


def exposed_latency(x: Inputs) -> Real:
    """Cycles of an access that the other warps' runs do not hide; may be negative."""
    return x.mem_latency - np.subtract(x.warps, 1.0) * run(x)                         # eq. 6
