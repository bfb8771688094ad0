"""Computation and memory periods of equal warps: what the paper's Figures 5 to 8 add up to.

Source   S. Hong, H. Kim, extended version of ISCA 2009; equation numbers are the paper's.
Models   one SM, one turn of its active warps: a warp alternates computation and memory periods,
         one warp computes at a time, `mwp` of them wait for memory at a time.
Omits    how MWP and CWP come about.
"""

import numpy as np

from warpbound.bounds import Real, Stack, stack
from warpbound.models.hong_kim_2009.quotients import quotient


def few_warps(mem_cycles: Real, comp_cycles: Real, comp_p: Real, n: Real, mwp: Real) -> Stack:
    """Cycles when there are not enough warps to fill memory or SM: n at most MWP.

    Independent requests (Eq. 29) may put MWP above n; at MWP = n this is Eq. 22 as printed.
    """
    return stack(
        "cycle",
        memory=np.multiply(mem_cycles, _turns(n, mwp)),                      # eq. 22
        computation=comp_cycles + np.multiply(comp_p, np.subtract(n, 1.0)),  # eq. 22
    )


def memory_dominates(mem_cycles: Real, comp_p: Real, n: Real, mwp: Real) -> Stack:
    """Cycles when CWP is at least MWP."""
    return stack(
        "cycle",
        memory=np.multiply(mem_cycles, _turns(n, mwp)),                      # eq. 23
        computation=np.multiply(comp_p, np.maximum(np.subtract(mwp, 1.0), 0.0)),  # eq. 23
    )


def memory_dominates_by_figure(mem_cycles: Real, comp_p: Real, n: Real, mwp: Real) -> Stack:
    """The same as Figure 5 has it, one computation period more; the paper's Table 2 uses Eq. 23."""
    return stack(
        "cycle",
        memory=np.multiply(mem_cycles, _turns(n, mwp)),                      # eq. 1
        computation=np.multiply(comp_p, mwp),                                # eq. 1
    )


def computation_dominates(mem_p: Real, comp_cycles: Real, n: Real) -> Stack:
    """Cycles when MWP exceeds CWP: all computation and one memory period."""
    return stack("cycle", memory=mem_p, computation=np.multiply(comp_cycles, n))  # eq. 24


def computation_period(comp_cycles: Real, mem_insts: Real) -> Real:
    """Cycles of one computation period; 0 without memory instructions, where there is none."""
    return quotient(comp_cycles, mem_insts, 0.0)  # eq. 2


def comp_cycles(issue_cycles: Real, m_factor: Real, comp_insts: Real, mem_insts: Real) -> Real:
    """Cycles a warp takes to issue; `m_factor` is the mean over its computation instructions."""
    return np.multiply(issue_cycles, np.multiply(m_factor, comp_insts) + mem_insts)  # eq. 31


def cwp_full(mem_cycles: Real, comp_cycles: Real) -> Real:
    """Warps that compute while one waits, and that one; 1 if there is nothing to do."""
    return quotient(np.add(mem_cycles, comp_cycles), comp_cycles, 1.0)  # eq. 8


def repetitions(blocks: Real, active_blocks: Real, active_sms: Real) -> Real:
    """Turns that an SM takes to run its share of the blocks; a real number, as printed."""
    return np.divide(blocks, np.multiply(active_blocks, active_sms))  # eq. 21


def _turns(n: Real, mwp: Real) -> Real:
    return quotient(n, mwp, 0.0)
