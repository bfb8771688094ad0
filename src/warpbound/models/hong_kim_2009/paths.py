"""Inputs derived for the model: active blocks, independent requests, slow instructions, divergent paths.

Source   S. Hong, H. Kim, extended version of ISCA 2009, sections 3.4.1 and 6; equation numbers
         are the paper's.
Models   counts that `Inputs` takes, from the launch and the program.
Omits    how the counts are obtained.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from warpbound.bounds import Real
from warpbound.models.hong_kim_2009.quotients import quotient


def active(sm_count: Real, blocks: Real, occupancy: Real) -> tuple[Real, Real]:
    """#Active_SMs and #Active_blocks_per_SM, when `occupancy` blocks fit an SM.

    A launch of few blocks fills neither.
    """
    spread = np.ceil(np.divide(blocks, sm_count))
    return np.minimum(sm_count, blocks), np.minimum(occupancy, spread)


def parallel_warps(n: Real, mem_req: Real, ind_mem_req: Real) -> Real:
    """N_pw, warps' worth of requests that may be in flight; `ind_mem_req` is at most mem_req - 1."""
    return np.multiply(n, quotient(mem_req, np.subtract(mem_req, ind_mem_req), 1.0))  # eq. 29


def parallel_warps_as_published(n: Real, mem_req: Real, ind_mem_req: Real) -> Real:
    """The same as printed, which is 0 when no request is independent."""
    return np.multiply(n, quotient(ind_mem_req, np.subtract(mem_req, ind_mem_req), 1.0))  # eq. 29


def issue_cycles(units: Real) -> Real:
    """Cycles to issue an instruction of 32 threads to `units` lanes."""
    return np.divide(32.0, units)  # eq. sec. 2.3


def m_factor(operations_per_cycle: Real) -> Real:
    """How much slower than 8 operations per cycle per SM a kind of instruction is."""
    return np.divide(8.0, operations_per_cycle)  # eq. table 7


def mean_m_factor(insts: Sequence[Real], factors: Sequence[Real]) -> Real:
    """M_Factor of a mix of computation instructions; 1 for none."""
    total: Real = 0.0
    weighted: Real = 0.0
    for count, factor in zip(insts, factors, strict=True):
        total, weighted = np.add(total, count), np.add(weighted, np.multiply(count, factor))  # eq. 31
    return quotient(weighted, total, 1.0)


def divergent_insts(routes: Sequence[Sequence[str]], insts: Mapping[str, Real]) -> Real:
    """Instructions a warp executes when its threads take these routes through basic blocks.

    Paths are serialised and rejoin: a block that some thread enters is executed once.
    """
    entered = dict.fromkeys(block for route in routes for block in route)
    return _sum([insts[block] for block in entered])  # eq. sec. 6.3


def divergent_insts_as_published(routes: Sequence[Sequence[str]], insts: Mapping[str, Real]) -> Real:
    """The same as "the sum of all the paths", which counts shared blocks once per path."""
    return _sum([insts[block] for route in routes for block in route])  # eq. sec. 6.3


def _sum(parts: Sequence[Real]) -> Real:
    total: Real = 0.0
    for part in parts:
        total = np.add(total, part)
    return total
