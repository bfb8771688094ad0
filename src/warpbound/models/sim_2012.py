"""MWP and CWP with arithmetic latency: an extension of Hong and Kim's model.

Source   J. Sim, A. Dasgupta, H. Kim, R. Vuduc, "A Performance Analysis Framework for Identifying
         Potential Benefits in GPGPU Applications", PPoPP 2012, Eqs. 2 to 6, 11 to 15 and A.1 to
         A.5, as restated by V. Volkov, EECS-2016-143, section 7.4 ("eq. V-7.4"), which is checked;
         the paper's own pages: UNCHECKED.
Models   arithmetic at its rate in isolation, memory at the parallelism that MWP and CWP allow, and
         how much of one hides behind the other.  CWP - 1 in the memory time slows few warps, up to
         a factor of 2 at two warps; that is the paper's.
Omits    serialisation by SFU, barriers, divergence and bank conflicts, instruction and memory
         parallelism inside a warp: in the paper and not in the restatement.
"""

import numpy as np

from warpbound.bounds import Real, Stack, stack
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """Counts are those of one warp, memory instructions among all; at least one is memory's."""

    warps: Real                    # n            resident                    [warp/SM]
    insts: Real                    # all                                      [inst/warp]
    mem_insts: Real                # memory                                   [inst/warp]
    alu_latency: Real              # of a dependent instruction               [cycle]
    alu_time: Real                 # reciprocal peak throughput               [cycle/inst/SM]
    mem_latency: Real              # avg_DRAM_lat                             [cycle]
    mwp_peak_bw: Real              # MWP_peak_bw, warps that fill the memory  [warp/SM]
    departure_delay: Real = 0.0    # Delta, between two transactions          [cycle]


def predict(x: Inputs) -> Stack:
    """Cycles in which all warps of an SM end: computation, and what memory adds to it."""
    computing, waiting = computation(x), memory(x)
    return stack("cycle", computation=computing, memory=waiting - overlap(x))          # eq. V-7.4


def lanes_per_cycle(x: Inputs, lane_insts: Real) -> Real:
    """Lane instructions per cycle and SM, for warps of `lane_insts` such instructions."""
    return 32.0 * np.multiply(x.warps, lane_insts) / predict(x).total                  # eq. V-7.4


def inst_time(x: Inputs) -> Real:
    """Cycles per instruction per SM if all were arithmetic."""
    return np.maximum(np.divide(x.alu_latency, x.warps), x.alu_time)                   # eq. 2 to 6


def computation(x: Inputs) -> Real:
    """T_comp, cycles of all warps' instructions."""
    return np.multiply(x.insts, x.warps) * inst_time(x)                                # eq. 2 to 6


def cwp(x: Inputs) -> Real:
    """CWP, warps that could compute while one waits and computes."""
    waiting = np.multiply(x.mem_insts, x.mem_latency)                                  # eq. A.1 to A.4
    return np.minimum(x.warps, 1.0 + waiting / (x.insts * inst_time(x)))               # eq. A.1 to A.4


def mwp(x: Inputs) -> Real:
    """MWP, warps that may wait together."""
    with np.errstate(divide="ignore"):
        departing = np.divide(x.mem_latency, x.departure_delay)                        # eq. A.5
    return np.minimum(np.minimum(x.warps, x.mwp_peak_bw), departing)                   # eq. A.5


def memory(x: Inputs) -> Real:
    """T_mem, cycles of all warps' accesses."""
    together = np.minimum(mwp(x), np.maximum(1.0, np.subtract(cwp(x), 1.0)))           # eq. 11 to 15
    return np.multiply(x.warps, x.mem_insts) * x.mem_latency / together                # eq. 11 to 15


def overlap(x: Inputs) -> Real:
    """Cycles in which computation and memory run together; one warp's share does not if CWP <= MWP."""
    alone = np.where(np.greater(cwp(x), mwp(x)), 0.0, 1.0)                             # eq. V-7.4
    hidden = computation(x) * np.subtract(x.warps, alone) / x.warps                    # eq. V-7.4
    return np.minimum(hidden, memory(x))                                               # eq. V-7.4
