"""The first example: a load, an addition, a store, a branch."""

from warpbound.bounds import Real
from warpbound.models.interval_analysis import Inputs, active_threads, enough_threads, time
from warpbound.models.interval_analysis.scoreboard import latency, latency_as_published
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.interval_analysis.code import device, issue_and_ready, listing
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """The table of the example, and P."""
    code, on = listing(given), device(given)
    return {
        **issue_and_ready(given),
        "L, to the branch": latency_as_published(code, on),
        "L, to the next iteration": latency(code, on),
        **{f"P, of {cycles:g} cycles": _threads(given, cycles) for cycles in given["interval_latencies"]},
        "active threads of 10 blocks of 64": active_threads(**given["grid"]),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Time for a million elements against threads."""
    threads = [64.0 * n for n in range(1, 201)]
    times = [float(time(_inputs(given, given["interval_latencies"][0], threads=p, executions=1e6))) for p in threads]
    return (
        Figure(
            "Simple loop on an M2200",
            Axis("active threads", "thread"),
            Axis("time of 10^6 elements", "s", "log"),
            (series("off-chip bandwidth", threads, times),),
            "Interval analysis, Analysis of intervals without barriers",
        ),
    )


def _threads(given: Given, cycles: float) -> Real:
    return enough_threads(_inputs(given, cycles)).limits["memory"]


def _inputs(given: Given, cycles: float, threads: float = 1.0, executions: float = 1.0) -> Inputs:
    return Inputs(
        executions=executions,
        threads=threads,
        latency=cycles,
        clock=given["clock_GHz"] * 1e9,
        data={"memory": given["bytes"]},
        data_bandwidth={"memory": given["memory_GBs"] * 1e9},
        insts={},
        inst_bandwidth={},
    )
