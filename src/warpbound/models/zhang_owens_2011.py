"""Time of each kind of instruction at its throughput in isolation; the longest is the time.

Source   Y. Zhang, J. D. Owens, "A Quantitative Performance Analysis Model for GPU Architectures",
         HPCA 2011, as restated by V. Volkov, EECS-2016-143, section 7.3 ("eq. V-7.3"), which is
         checked; the paper's own pages: UNCHECKED.
Models   throughput of arithmetic and of memory at the kernel's occupancy, from curves that are
         measured (`at`) or modelled (`modelled`); both kinds overlap fully.
Omits    latency of one kind being hidden by work of the other; barriers and shared memory, which
         are in the paper and not in the restatement.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, bounds
from warpbound.quick_dataclasses import dataclass

LANES = 32.0  # threads per warp


@dataclass(frozen=True)
class Inputs:
    """Rates are lanes per cycle per SM at the kernel's occupancy, each kind alone."""

    alu_insts: Real  # arithmetic instructions  [inst/warp]
    mem_insts: Real  # memory instructions      [inst/warp]
    alu_rate: Real   # alu(n)                   [lane/cycle/SM]
    mem_rate: Real   # mem(n)                   [lane/cycle/SM]


@dataclass(frozen=True)
class Curve:
    """Measured throughput against occupancy, occupancy ascending."""

    warps: NDArray[np.float64]  # n  [warp/SM]
    rate: NDArray[np.float64]   #    [lane/cycle/SM]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on warps that end per cycle per SM."""
    with np.errstate(divide="ignore"):
        return bounds(
            "warp/cycle/SM",
            arithmetic=np.divide(x.alu_rate, np.multiply(LANES, x.alu_insts)),  # eq. V-7.3
            memory=np.divide(x.mem_rate, np.multiply(LANES, x.mem_insts)),      # eq. V-7.3
        )


def lanes_per_cycle(x: Inputs) -> Real:
    """Arithmetic per cycle per SM, lane by lane."""
    return LANES * x.alu_insts * predict(x).rate                                # eq. V-7.3


def at(curve: Curve, warps: Real) -> Real:
    """Throughput of a measured curve, straight lines between samples and from none at no warps."""
    occupancy, rate = np.append(0.0, curve.warps), np.append(0.0, curve.rate)
    return np.asarray(np.interp(warps, occupancy, rate))                        # eq. V-7.3


def modelled(warps: Real, latency: Real, throughput: Real) -> Real:
    """The same without a measurement: warps over latency up to the peak, in instructions per cycle."""
    return LANES * np.minimum(np.divide(warps, latency), throughput)            # eq. V-4.2
