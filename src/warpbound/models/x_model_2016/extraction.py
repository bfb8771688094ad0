"""The model's parameters from a kernel's blocks and a machine's data sheet.

Source   A. Li et al., "X", 2016, Tables I and II, sections IV and V.
Models   E and Z as ratios of sums over basic blocks weighted by their iterations: a mean of each
         block's own ratio would be infinite where a block has no memory instruction.  Units per
         SM with a thread being a warp, which is the only choice in which Z f compares with M and
         delta is a count of warps, as in Table II.
Omits    transactions beyond one per request: the paper does not count coalescing either.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass

LANES = 32.0  # threads per warp


@dataclass(frozen=True)
class Block:
    """One basic block of a warp's code."""

    insts: Real             # all instructions              [inst]
    issue_groups: Real      # cycles in which some issue     [1]
    off_chip_insts: Real    # of those, off-chip memory      [request]
    iterations: Real        # times executed                 [1]


def ilp(blocks: tuple[Block, ...]) -> NDArray[np.float64]:
    """E, instructions issued together; at most 2 where the scheduler pairs two."""
    groups = sum(np.multiply(b.iterations, b.issue_groups) for b in blocks)
    return np.asarray(_executed(blocks) / groups)          # eq. V


def intensity(blocks: tuple[Block, ...]) -> NDArray[np.float64]:
    """Z, instructions, memory's among them, per off-chip memory instruction."""
    requests = sum(np.multiply(b.iterations, b.off_chip_insts) for b in blocks)
    return np.asarray(_executed(blocks) / requests)        # eq. V


def lanes(cores_per_sm: Real) -> Real:
    """M, warp instructions per cycle per SM."""
    return np.divide(cores_per_sm, LANES)                  # eq. Table II


def ms_throughput(bandwidth: Real, sm_count: Real, clock_Hz: Real, bytes_per_lane: Real) -> Real:
    """R, coalesced warp requests per cycle per SM at this bandwidth in B/s."""
    return np.divide(bandwidth, warp_bandwidth(1.0, sm_count, clock_Hz, bytes_per_lane))  # eq. Table II


def warp_bandwidth(requests: Real, sm_count: Real, clock_Hz: Real, bytes_per_lane: Real) -> Real:
    """B/s of so many coalesced warp requests per cycle per SM: the y-axis of Figure 10."""
    return np.multiply(requests, np.multiply(sm_count, clock_Hz)) * LANES * bytes_per_lane  # eq. Table II


def latency(delta: Real, requests: Real) -> Real:
    """L, cycles, from the warps that saturate memory and R."""
    return np.divide(delta, requests)                      # eq. III-A1


def resident_blocks(warp_slots: Real, warps_per_block: Real) -> Real:
    """Whole blocks that fit the warp slots of an SM, when nothing else limits them."""
    return np.floor_divide(warp_slots, warps_per_block)    # eq. VI


def resident_warps(warp_slots: Real, warps_per_block: Real) -> Real:
    """n with whole blocks, warps per SM."""
    return resident_blocks(warp_slots, warps_per_block) * warps_per_block  # eq. VI


def _executed(blocks: tuple[Block, ...]) -> NDArray[np.float64]:
    return np.asarray(sum(np.multiply(b.iterations, b.insts) for b in blocks), dtype=np.float64)
