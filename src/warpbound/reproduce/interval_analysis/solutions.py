"""The notes' solution calculations: threads per SM by bandwidth and by issue."""

from dataclasses import dataclass

from warpbound.models.interval_analysis import (
    Inputs,
    enough_threads,
    enough_threads_per_sm,
    issue_time,
    seconds,
    threads_per_sm,
)
from warpbound.reproduce.item import Given


@dataclass(frozen=True)
class Solution:
    """One kernel on one machine."""

    latency_ns: float
    threads: float         # P, on the chip
    threads_per_sm: float  # the same
    issue_cycles: float    # of one thread's instructions
    by_issue: float        # Q, threads per SM


def solved(given: Given, cycles: float, data: float, insts: dict[str, float]) -> Solution:
    """P by off-chip bandwidth and Q by issue, for a latency in cycles, bytes and instructions of a thread."""
    clock = given["clock_GHz"] * 1e9
    bandwidth = {"memory": given["memory_GBs"] * 1e9}
    found = enough_threads(Inputs(1.0, 1.0, cycles, clock, {"memory": data}, bandwidth, {}, {}))
    threads = float(found.limits["memory"])
    per_sm = given["per_sm"]
    return Solution(
        latency_ns=float(seconds(cycles, clock)) * 1e9,
        threads=threads,
        threads_per_sm=float(threads_per_sm(threads, given["sms"])),
        issue_cycles=float(issue_time(dict(insts), dict(per_sm))),
        by_issue=float(enough_threads_per_sm(cycles, dict(insts), dict(per_sm))),
    )
