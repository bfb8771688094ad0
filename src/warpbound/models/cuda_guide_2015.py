"""The vendor's rule of thumb: warps enough to issue arithmetic while one of them waits for memory.

Source   NVIDIA, "CUDA C Programming Guide", 2015, section 5.2.3, as restated by V. Volkov,
         EECS-2016-143, section 4.8 ("eq. V-4.8"), which is checked.  The guide itself, which
         argues by examples and numbers nothing: UNCHECKED.
Models   warps, each looping over one access and alpha arithmetic instructions that never wait.
         `warps_needed` is the guide's, `warps_needed_refined` counts the access and the waiting warp.
Omits    arithmetic latency, which halves the estimate, and memory bandwidth.
"""

import numpy as np

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Inputs:
    """The thesis' symbols; the guide has words."""

    warps: Real        # n            resident             [warp/SM]
    alu_per_mem: Real  # alpha        arithmetic intensity [1]
    mem_latency: Real  # mem_lat                           [cycle]
    inst_time: Real    # instruction time, reciprocal peak [cycle/inst/SM]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on arithmetic instructions per cycle per SM; they meet at `warps_needed`."""
    return bounds(
        "inst/cycle/SM",
        latency=np.divide(np.multiply(x.warps, x.alu_per_mem), x.mem_latency),  # eq. V-4.8
        issue=np.divide(1.0, x.inst_time),                                      # eq. V-4.8
    )


def warps_needed(x: Inputs) -> Real:
    """Warps per SM, as in the guide; infinite without arithmetic."""
    with np.errstate(divide="ignore"):
        return np.divide(x.mem_latency, np.multiply(x.inst_time, x.alu_per_mem))  # eq. V-4.8


def warps_needed_refined(x: Inputs) -> Real:
    """The same with the access itself and the warp that waits."""
    return np.divide(x.mem_latency, np.multiply(x.inst_time, np.add(x.alu_per_mem, 1.0))) + 1.0  # eq. V-4.8


def insts_to_issue(x: Inputs) -> Real:
    """Instructions that other warps must issue during one wait."""
    return np.divide(x.mem_latency, x.inst_time)  # eq. V-4.8
