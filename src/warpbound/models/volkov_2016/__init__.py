"""Latency hiding: occupancy over latency, against the tightest limit on throughput.

Source   V. Volkov, "Understanding Latency Hiding on GPUs", PhD thesis, UC Berkeley,
         EECS-2016-143.  The thesis numbers no equation: "eq. 4.5" is the equation of
         section 4.5.  All were checked against the text; its printed numbers that do
         not follow from its equations are in the golden file, in both readings.
Models   warps of one SM in steady state.  One warp alone has a least latency (longest
         path through its instructions); the SM has resources that each warp occupies
         for so many cycles.  Throughput is the smaller of warps / latency and the
         tightest resource: `predict` here, for any kernel.
         `mixes` is the family of sections 4.1 to 4.7 (alpha adds per other
         instruction), `contention` lets memory latency grow with traffic (6.4, 6.5),
         `one_warp` finds the latency and the resource cycles of a kernel (3.6, 3.7),
         `schemes` holds the simpler estimates the thesis argues against (4.8 to 4.12),
         `readings` what it reads off its measured tables.
Omits    interference between warps other than at memory, caches that lose hits as
         occupancy grows, barriers beyond a fixed schedule, unequal SMs, launch and tail.
"""

from collections.abc import Mapping

from warpbound.bounds import Bounds, Real, bounds
from warpbound.models.volkov_2016 import contention, little, mixes, one_warp, readings, schemes
from warpbound.models.volkov_2016.little import concurrency, rate
from warpbound.quick_dataclasses import dataclass

__all__ = [
    "Inputs",
    "contention",
    "little",
    "mixes",
    "needed_warps",
    "one_warp",
    "predict",
    "readings",
    "schemes",
    "throughput_bound",
]


@dataclass(frozen=True)
class Inputs:
    """Any kernel, averages over its warps."""

    warps: Real                        # n  occupancy, resident warps                         [warp/SM]
    latency: Real                      #    latency bound: least mean latency of a warp       [cycle]
    busy: Mapping[str, Real]           #    resource -> time one warp occupies it exclusively [cycle/warp]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on warp throughput, warp/cycle/SM; a resource that is never used is no bound."""
    if "latency" in x.busy:
        raise ValueError('a resource may not be called "latency"')
    return bounds("warp/cycle/SM", latency=rate(x.warps, x.latency), **_limits(x.busy))  # eq. 3.5


def throughput_bound(busy: Mapping[str, Real]) -> Bounds:
    """Upper bounds on warp throughput that hold at any occupancy, warp/cycle/SM."""
    return bounds("warp/cycle/SM", **_limits(busy))  # eq. 3.6


def needed_warps(x: Inputs) -> Real:
    """Occupancy at which latency is hidden, warp/SM; `x.warps` is not used."""
    return concurrency(x.latency, throughput_bound(x.busy).rate)  # eq. 3.10


def _limits(busy: Mapping[str, Real]) -> dict[str, Real]:
    return {name: rate(1.0, cycles) for name, cycles in busy.items()}  # eq. 3.6
