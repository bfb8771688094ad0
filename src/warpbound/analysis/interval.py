"""The 80 % interval of a time: from the spreads of parameters, an assumed clock, sampling, and the model's own error.

Source   conformal prediction with errors relative to the expected spread (J. Lei and others, Distribution-free
         predictive inference for regression, JASA 113, 2018), each edge by itself; measured launches of other boards
         and corpora decide how far the edges reach, in units of that spread (`validate.interval_calibration`).
         Boards run below their boost clock under load: an A100 PCIe of 250 W reaches 90 % of the rate of the 400 W
         board with the same chip and clocks (NVIDIA, as reported by AnandTech, 2020-06-22), and vendor libraries 60 to
         72 % of the peak at boost in the tables of corpus `products`. The share here is assumed.
Omits    boards that run above the clock that is called boost, such as an RTX A6000 at 1935 MHz (NVIDIA developer
         forum, topic 203772); how much power a kernel takes.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from warpbound.analysis.accuracy import Form, form
from warpbound.memory.flushed_caches import dirty_bytes_in_l2
from warpbound.memory.traffic_counts import Errors
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import ParameterDoubt
from warpbound.result.quantities import CLOCK_UNDER_LOAD, OWN_ERROR, RESOURCES
from warpbound.time_model import LaunchPrediction
from warpbound.time_model.launch import INTERVAL
from warpbound.time_model.parameter_uncertainty import measured_by
from warpbound.time_model.queue_demands import RESOURCE_OF
from warpbound.workload import Memory, Workload

IN_STEP = "whether warps wait for their loads together"
SAMPLED = "the traffic of blocks that were not sampled"
KEPT = "what L2 keeps from launch to launch"
STAYING = "how long L2 keeps changed lines"
SAG = 0.15       # assumed: how far the clock falls below boost in one of ten launches whose clock is not given
LEAST = 0.015    # least distance of each edge from the time: scatter of timing
EDGE = "edge of L1"
EDGE_OF_L2 = "edge of L2"
ACROSS = "across L2"
TOGETHER = "in step"
ON_CHIP = ("sm", "l1", "latency")
AROUND_L2 = (0.5, 4.0)       # footprints, as shares of L2, of which a part may still be in L2 when it is read again
KEPT_IN_DOUBT = (0.5, 1.5)  # footprints, as shares of L2, of which a launch finds an uncertain part of its data there
SECTOR_B = 32.0
MOST_DOUBTS = 4    # most causes of uncertainty that an answer names
WORTH = 0.001      # shares of the time below this are left out
_NAMED = ("launch", "dram", "l2", "l1", "latency")
_OF_RESOURCE = {name: name if name in _NAMED else "sm" for name in RESOURCES} | {"lsu": "l1"}
# bottleneck, a resource or a queue -> class of launches that share the model's error
CLASSES: Mapping[str, str] = _OF_RESOURCE | {queue: _OF_RESOURCE[name] for queue, name in RESOURCE_OF.items()}
HeldSeconds = tuple[float | None, float | None]  # at the highest and the lowest clock held; None: as predicted


@dataclass(frozen=True)
class Interval:
    """A time and its interval, s; doubts : cause -> s that it adds to the uncertainty. Each method adds one cause."""

    time_s: float
    low: float
    high: float
    doubts: Mapping[str, float]

    @classmethod
    def of(cls, prediction: LaunchPrediction) -> "Interval":
        """The interval from the spreads of parameters alone."""
        return cls(prediction.time_s, *prediction.interval, prediction.doubts)

    def stated_on(self, prediction: LaunchPrediction) -> LaunchPrediction:
        """The prediction with this interval and these causes of uncertainty."""
        return replace(prediction, interval=(self.low, self.high), doubts=dict(self.doubts))

    def covering(self, other: LaunchPrediction, cause: str) -> "Interval":
        """The interval extended to that of the prediction without the assumption `cause`."""
        edges = (self.low, self.high, *other.interval)
        doubt = abs(math.log(other.time_s / self.time_s)) / INTERVAL * self.time_s
        return Interval(self.time_s, min(edges), max(edges), {**self.doubts, cause: doubt})

    def with_sampling(self, less_s: float, more_s: float) -> "Interval":
        """The interval with the sampling error: times at traffic one standard error less and more."""
        time_s = self.time_s
        below, above = (INTERVAL * max(0.0, math.log(ratio)) for ratio in (time_s / less_s, more_s / time_s))
        edges = math.hypot(math.log(time_s / self.low), below), math.hypot(math.log(self.high / time_s), above)
        doubts = {**self.doubts, SAMPLED: max(0.0, more_s - less_s) / 2}
        return Interval(time_s, time_s * math.exp(-edges[0]), time_s * math.exp(edges[1]), doubts)

    def about(self, time_s: float) -> "Interval":
        """The interval around another time, with edges at the same ratios."""
        stretch = time_s / self.time_s
        return Interval(time_s, self.low * stretch, self.high * stretch, self.doubts)

    def later_by(self, seconds: float) -> "Interval":
        """The time and both edges, later by this much."""
        return Interval(self.time_s + seconds, self.low + seconds, self.high + seconds, self.doubts)

    def with_slower(self, slower_s: float, cause: str) -> "Interval":
        """The upper edge with a cause that makes the launch take `slower_s`."""
        shift = math.log(max(1.0, slower_s / self.time_s))
        high = self.time_s * math.exp(math.hypot(math.log(self.high / self.time_s), shift))
        return Interval(self.time_s, self.low, high, {**self.doubts, cause: shift / INTERVAL * self.time_s})

    def with_faster(self, faster_s: float, cause: str) -> "Interval":
        """The lower edge with a cause that makes the launch take only `faster_s`."""
        shift = math.log(max(1.0, self.time_s / faster_s))
        low = self.time_s * math.exp(-math.hypot(math.log(self.time_s / self.low), shift))
        doubt = max(self.doubts.get(cause, 0.0), shift / INTERVAL * self.time_s)
        return Interval(self.time_s, low, self.high, {**self.doubts, cause: doubt})

    def with_held_clocks(self, seconds: HeldSeconds | None) -> "Interval":
        """Extended to the times at the highest and the lowest clock that the board may hold by its power.

        After the model's own error, which was measured at known clocks.
        """
        fast_s, slow_s = seconds or (None, None)
        slower = self if slow_s is None else self.with_slower(slow_s, CLOCK_UNDER_LOAD)
        return slower if fast_s is None else slower.with_faster(fast_s, CLOCK_UNDER_LOAD)

    def with_form(self, kind: str) -> "Interval":
        """With the model's own error for a class of launches: the interval that answers state.

        Where measured launches of the class need a narrower interval, all doubts shrink with it.
        """
        low, high = stretched(self.time_s, (self.low, self.high), form(kind))
        before, after = 0.5 * math.log(self.high / self.low), 0.5 * math.log(high / low)
        scale = min(1.0, after / before) if before else 1.0
        doubts = {cause: scale * seconds for cause, seconds in self.doubts.items()}
        extra = math.sqrt(max(0.0, after**2 - before**2)) / INTERVAL * self.time_s
        return Interval(self.time_s, low, high, {**doubts, OWN_ERROR: extra})


def binds(bottleneck: str, memory: Memory, filling: float = 0.0, apart: float = 1.0) -> str:
    """The class of a launch: its bottleneck's, or EDGE where a part of its reads misses an L1 that is just too small.

    Where L2 binds and most reads come from its far side, the class is ACROSS: the far side has about half of the rate.
    On the SM it is TOGETHER where warps that wait for their loads together decide more than LEAST of the time.
    filling : the footprint as a share of L2, 0 if unknown; near 1, the traffic of DRAM is unsure. apart : the time if
    warps drifted apart, as a share of the time.
    """
    if memory.l2_sectors_led > 0:
        return EDGE
    kind, (low, high) = CLASSES[bottleneck], AROUND_L2
    if kind == "l2" and 2.0 * memory.l2_sectors_far > memory.l2_sectors_read:
        return ACROSS
    if kind in ON_CHIP and math.log(apart) < -LEAST:
        return TOGETHER
    return EDGE_OF_L2 if kind == "dram" and low < filling < high else kind


def clock_under_load(clock: str | float | None, clock_hz: float) -> float | None:
    """The clock that a loaded board may fall to, Hz; None where the clock was given in MHz or is guaranteed."""
    return (1.0 - SAG) * clock_hz if clock == "boost" else None


def halves(time_s: float, interval: tuple[float, float]) -> tuple[float, float]:
    """Distances of the edges from the time, as logarithms, at least LEAST: below, above."""
    low, high = interval
    return math.hypot(math.log(time_s / low), LEAST), math.hypot(math.log(high / time_s), LEAST)


def stretched(time_s: float, interval: tuple[float, float], by: Form) -> tuple[float, float]:
    """The interval with its edges moved out by the factor that measured launches of the class need, at least LEAST."""
    below, above = halves(time_s, interval)
    return time_s * math.exp(-max(LEAST, by.faster * below)), time_s * math.exp(max(LEAST, by.slower * above))


def shifted(work: Workload, errors: Errors, by: float) -> Workload:
    """The work with `by` standard errors more traffic behind L1; all counts err together."""
    memory, each = work.memory, by / (work.warps or 1.0)
    return work.with_memory(
        l2_sectors_read=min(memory.l1_sectors_load, max(0.0, memory.l2_sectors_read + each * errors.l2_sectors_read)),
        dram_bytes_read=max(0.0, memory.dram_bytes_read + each * errors.dram_bytes_read),
        dram_bytes_written=max(0.0, memory.dram_bytes_written + each * errors.dram_bytes_written),
    )


def with_cold_l2(work: Workload, l2_bytes: float) -> Workload | None:
    """The work if L2 kept nothing from the launch before; None where the footprint makes that certain or impossible."""
    memory, (low, high) = work.memory, KEPT_IN_DOUBT
    if not low < memory.touched_bytes * (work.warps or 0.0) / l2_bytes < high:
        return None
    sectors = memory.l2_sectors_read + memory.l2_sectors_written
    reading = memory.l2_sectors_read / sectors if sectors else 0.0
    cold_bytes = min(SECTOR_B * memory.l2_sectors_read, memory.touched_bytes * reading)
    written_B = min(SECTOR_B * memory.l2_sectors_written, memory.touched_bytes * (1.0 - reading))
    return work.with_memory(
        dram_bytes_read=max(memory.dram_bytes_read, cold_bytes),
        dram_bytes_written=max(memory.dram_bytes_written, written_B),
    )


def with_lines_in_order(work: Workload, l2_bytes: float) -> Workload | None:
    """The work if the launch's changed lines left L2 in the order in which they came; None if that changes nothing."""
    memory, warps = work.memory, work.warps or 0.0
    changed = warps * min(memory.touched_bytes, SECTOR_B * memory.l2_sectors_written)
    only_read = warps * memory.touched_bytes - changed
    leaving = dirty_bytes_in_l2(changed, only_read, l2_bytes) - dirty_bytes_in_l2(changed, only_read, l2_bytes, 1.0)
    if leaving <= 0:
        return None
    return work.with_memory(dram_bytes_written=memory.dram_bytes_written + leaving / warps)


def doubts(prediction: LaunchPrediction) -> list[ParameterDoubt]:
    """The largest parts of the interval: relative standard uncertainty of the time, and what would shrink it."""
    rows = sorted(prediction.doubts.items(), key=lambda item: -item[1])[:MOST_DOUBTS]
    return [
        ParameterDoubt(name, seconds / prediction.time_s, name in prediction.assumed, measured_by(name))
        for name, seconds in rows
        if seconds >= WORTH * prediction.time_s
    ]
