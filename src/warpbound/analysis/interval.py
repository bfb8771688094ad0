"""The 80 % interval of a time: from the spreads of parameters, a clock that nobody gave, and the form of the model.

Source   conformal prediction with errors relative to the expected spread (J. Lei and others, Distribution-free
         predictive inference for regression, JASA 113, 2018), each edge for itself; how far the edges reach, in units
         of that spread, is what measured launches of other boards and corpora tell
         (`warpbound.validate.interval_calibration`).
         That boards run below their boost clock under load: an A100 PCIe of 250 W reaches 90 % of what the 400 W board
         of the same chip and clocks does (NVIDIA, as reported by AnandTech, 2020-06-22), and vendor libraries 60 to 72
         % of the peak at boost in the tables of corpus `products`. The share here is assumed.
Omits    boards that run above the clock that is called boost, such as an RTX A6000 at 1935 MHz (NVIDIA developer
         forum, topic 203772); how much power a kernel takes.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from warpbound.analysis.accuracy import Form, form
from warpbound.headline import LaunchPrediction
from warpbound.headline.launch import INTERVAL
from warpbound.workload import Memory

CLOCK = "the clock under load"
FORM = "the form of the model"
IN_STEP = "whether warps wait for their loads together"
SAMPLED = "the traffic of blocks that were not sampled"
SAG = 0.15       # assumed: by how much the clock falls below boost in one of ten launches whose clock is not given
LEAST = 0.015    # no edge is nearer to the time, before measured launches widen or narrow it: scatter of timing itself
EDGE = "edge of L1"
EDGE_OF_L2 = "edge of L2"
ACROSS = "across L2"
AROUND_L2 = (0.5, 4.0)  # footprints, as shares of L2, of which a part may still be there when it is asked for again
CLASSES: Mapping[str, str] = {  # bottleneck -> what binds, as far as the model's own error is concerned
    "launch": "launch", "block start": "launch", "dram": "dram", "l2": "l2", "l2 far": "l2", "one address": "l2",
    "l1": "l1", "lsu": "l1", "latency": "latency", "shared": "sm", "issue": "sm", "alu": "sm", "fma": "sm",
    "fp64": "sm", "xu": "sm", "tensor": "sm", "uniform": "sm",
}  # fmt: skip


def binds(bottleneck: str, memory: Memory, filling: float = 0.0) -> str:
    """The class of a launch: what binds it, or EDGE where a part of its reads misses an L1 that is just too small.

    Where L2 binds and most reads come from its far side, it is ACROSS: what crosses has half of the rate, about.
    filling : its footprint, as a share of L2; 0 where that is not known. Near 1, what DRAM must deliver is not sure.
    """
    if memory.l2_sectors_led > 0:
        return EDGE
    found, (low, high) = CLASSES[bottleneck], AROUND_L2
    if found == "l2" and 2.0 * memory.l2_sectors_far > memory.l2_sectors_read:
        return ACROSS
    return EDGE_OF_L2 if found == "dram" and low < filling < high else found


def sagged(clock: str | float | None, clock_hz: float) -> float | None:
    """A clock that a loaded board may fall to, Hz; None where the clock was given in MHz, or is guaranteed."""
    return (1.0 - SAG) * clock_hz if clock == "boost" else None


def with_clock(found: LaunchPrediction, slower_s: float) -> LaunchPrediction:
    """The interval's upper edge, and the doubts, with those of a clock at which the launch takes `slower_s`."""
    return with_slower(found, slower_s, CLOCK)


def with_slower(found: LaunchPrediction, slower_s: float, why: str) -> LaunchPrediction:
    """The interval's upper edge, and the doubts, with what makes the launch take `slower_s`."""
    low, high = found.interval
    shift = math.log(max(1.0, slower_s / found.time_s))
    edge = found.time_s * math.exp(math.hypot(math.log(high / found.time_s), shift))
    doubts = found.doubts | {why: shift / INTERVAL * found.time_s}
    return replace(found, interval=(low, edge), doubts=doubts)


def with_sampling(found: LaunchPrediction, less_s: float, more_s: float) -> LaunchPrediction:
    """The interval's edges, and the doubts, with those of a traffic one standard error less and one more."""
    time_s, (low, high) = found.time_s, found.interval
    below, above = (INTERVAL * max(0.0, math.log(ratio)) for ratio in (time_s / less_s, more_s / time_s))
    edges = math.hypot(math.log(time_s / low), below), math.hypot(math.log(high / time_s), above)
    doubts = found.doubts | {SAMPLED: max(0.0, more_s - less_s) / 2}
    return replace(found, interval=(time_s * math.exp(-edges[0]), time_s * math.exp(edges[1])), doubts=doubts)


def halves(time_s: float, interval: tuple[float, float]) -> tuple[float, float]:
    """How far the edges of an interval are from the time, as logarithms, at least LEAST: below, above."""
    low, high = interval
    return math.hypot(math.log(time_s / low), LEAST), math.hypot(math.log(high / time_s), LEAST)


def stretched(time_s: float, interval: tuple[float, float], by: Form) -> tuple[float, float]:
    """The interval whose edges are so many times as far away as measured launches of the class need."""
    below, above = halves(time_s, interval)
    return time_s * math.exp(-by.faster * below), time_s * math.exp(by.slower * above)


def with_form(found: LaunchPrediction, kind: str) -> LaunchPrediction:
    """The interval that is stated, and what the form adds to the doubts, for a launch of a class."""
    time_s = found.time_s
    interval = stretched(time_s, found.interval, form(kind))
    before, after = (0.5 * math.log(high / low) for low, high in (found.interval, interval))
    added = math.sqrt(max(0.0, after**2 - before**2)) / INTERVAL * time_s
    return replace(found, interval=interval, doubts=found.doubts | {FORM: added})
