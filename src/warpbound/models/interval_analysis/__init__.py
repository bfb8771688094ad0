"""Interval analysis: the latency of one loop body, and the threads that hide it.

Source   "GPU Microarchitecture Note Set 5: Interval Analysis", lecture notes after Eyerman et al.
         2009, Fields et al. 2002 and 2004, Hong and Kim 2009.  The notes number no equation; "eq.
         Resources" is the slide of that heading.  Checked against the text, figures not available.
Models   one thread needs L for an interval, P threads together use up some bandwidth: `predict`,
         `time`; the P at which they do, `enough_threads`; several intervals, `predict_several`;
         whether intervals are well chosen, `choice`.  `scoreboard` has L from instructions, `mxv`
         the three matrix-vector kernels.  Latencies are in cycles and data bandwidths in B/s
         throughout (the notes drop 1/phi twice); instruction bandwidths are the chip's with P, an
         SM's with Q; threads are rounded up to warps (the notes round 8.76 to 8 and 17.97 to 18).
         For several intervals the notes promise slides that are not there: times add up.
Omits    latency that grows with load, so that P is underestimated; barriers inside an interval.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, Stack, bounds, stack
from warpbound.models.interval_analysis import mxv, scoreboard
from warpbound.quick_dataclasses import dataclass

__all__ = [
    "Choice",
    "Inputs",
    "active_threads",
    "chip_bandwidth",
    "choice",
    "enough_threads",
    "enough_threads_per_sm",
    "is_well_chosen",
    "issue_time",
    "mxv",
    "predict",
    "predict_several",
    "scoreboard",
    "seconds",
    "sector_bytes",
    "threads_per_sm",
    "time",
    "warps_per_sm",
    "warps_per_sm_as_published",
]

LANES = 32.0         # threads per warp
SECTOR_BYTES = 32.0  # least that crosses between an SM and L2


@dataclass(frozen=True)
class Inputs:
    """One interval on one chip; work and bandwidth of a resource have the same name."""

    executions: Real                  # N        times the interval is executed   [1]
    threads: Real                     # P        active, on the chip              [thread]
    latency: Real                     # L_iota                                    [cycle]
    clock: Real                       # phi                                       [cycle/s]
    data: dict[str, Real]             # d_iota   by boundary crossed              [B/thread]
    data_bandwidth: dict[str, Real]   # Theta_M, Theta_2                          [B/s]
    insts: dict[str, Real]            # n_I      by kind                          [inst/thread]
    inst_bandwidth: dict[str, Real]   # Theta_I  by kind, of the chip             [inst/cycle]


@dataclass(frozen=True)
class Choice:
    """How well a set of intervals represents a program."""

    coverage: Real              # share of the program's time                     [1]
    spread: dict[str, Real]     # by interval, standard deviation over mean time  [1]


def predict(x: Inputs) -> Bounds:
    """Upper bounds on executions of the interval per second, whole chip."""
    by_data = {name: _over(x.data_bandwidth[name], amount) for name, amount in x.data.items()}  # eq. Without Barriers
    return bounds(
        "1/s",
        latency=np.multiply(x.threads, x.clock) / x.latency,          # eq. One Interval
        issue=_over(x.clock, issue_time(x.insts, x.inst_bandwidth)),  # eq. Resources
        **by_data,
    )


def time(x: Inputs) -> Real:
    """t(N, P), seconds for all executions."""
    return np.divide(x.executions, predict(x).rate)                   # eq. Without Barriers


def predict_several(intervals: Mapping[str, Inputs]) -> Stack:
    """Seconds by interval, when barriers or data keep them apart."""
    return stack("s", **{name: time(x) for name, x in intervals.items()})  # eq. Intervals


def enough_threads(x: Inputs) -> Bounds:
    """P, threads on the chip that use up each resource; more than the smallest have no benefit."""
    seconds_alone = seconds(x.latency, x.clock)
    by_data = {
        name: _over(np.multiply(seconds_alone, x.data_bandwidth[name]), amount)  # eq. Data Limit
        for name, amount in x.data.items()
    }
    issue = enough_threads_per_sm(x.latency, x.insts, x.inst_bandwidth)
    return bounds("thread", issue=issue, **by_data)


def enough_threads_per_sm(
    latency: Real, insts: dict[str, Real], inst_bandwidth: dict[str, Real]
) -> Real:
    """Q, threads that use up the issue slots; per SM with an SM's bandwidths, else the chip's."""
    return _over(latency, issue_time(insts, inst_bandwidth))          # eq. Instruction Limit


def issue_time(insts: dict[str, Real], inst_bandwidth: dict[str, Real]) -> Real:
    """Cycles in which one thread's instructions issue; kinds share the slots, so their times add."""
    times = [np.divide(count, inst_bandwidth[kind]) for kind, count in insts.items()]  # eq. Resources
    return np.asarray(sum(times, np.asarray(0.0)))


def seconds(latency: Real, clock: Real) -> Real:
    """L in seconds."""
    return np.divide(latency, clock)                                  # eq. Matrix Size


def active_threads(blocks: Real, threads_per_block: Real) -> Real:
    """P when all blocks are active."""
    return np.multiply(blocks, threads_per_block)                     # eq. Number of Active Threads


def chip_bandwidth(lanes_per_scheduler: Real, schedulers_per_sm: Real, sm_count: Real) -> Real:
    """Theta_I, instructions of one kind per cycle on the chip."""
    return np.multiply(lanes_per_scheduler, schedulers_per_sm) * sm_count  # eq. Bandwidth Scope


def sector_bytes(sectors_per_request: Real) -> Real:
    """B per thread between SM and L2; 32 sectors a warp is the slide's uncoalesced case, 4 is coalesced."""
    return np.multiply(sectors_per_request, SECTOR_BYTES) / LANES     # eq. Resources


def threads_per_sm(threads: Real, sm_count: Real) -> Real:
    """P over the SMs, to be compared with Q."""
    return np.divide(threads, sm_count)                               # eq. Solution


def warps_per_sm(threads: Real, sm_count: Real) -> Real:
    """Whole warps per SM that have P threads."""
    return np.ceil(np.divide(threads, sm_count) / LANES)              # eq. per-thd


def warps_per_sm_as_published(threads: Real, sm_count: Real) -> Real:
    """The same rounded down, as the notes do for (LC)*S but not for per-thd."""
    return np.floor(np.divide(threads, sm_count) / LANES)             # eq. (LC)*S


def choice(durations: Mapping[str, NDArray[np.float64]], program_time: Real) -> Choice:
    """What share the intervals cover and how alike their executions are; one duration each, last axis."""
    interval_time = sum((np.sum(each, axis=-1) for each in durations.values()), np.asarray(0.0))
    alike: dict[str, Real] = {name: np.std(each, axis=-1) / np.mean(each, axis=-1) for name, each in durations.items()}
    return Choice(coverage=np.divide(interval_time, program_time), spread=alike)  # eq. Intervals


def is_well_chosen(x: Choice, *, coverage: Real, spread: Real) -> NDArray[np.bool_]:
    """Whether they cover at least and spread at most so much; the notes give no figures."""
    alike = [np.less_equal(each, spread) for each in x.spread.values()]
    return np.asarray(np.logical_and.reduce([np.greater_equal(x.coverage, coverage), *alike]))  # eq. Intervals


def _over(above: Real, below: Real) -> Real:
    """above / below; no work is no limit."""
    with np.errstate(divide="ignore"):
        return np.divide(above, below)
