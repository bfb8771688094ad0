"""The notes' loops by the scoreboard of their listings, and latencies by simulation."""

from collections.abc import Iterator

from warpbound.bounds import Real
from warpbound.models.interval_analysis import Inputs, active_threads, enough_threads, time
from warpbound.models.interval_analysis.scoreboard import (
    Device,
    Instruction,
    latency,
    latency_as_published,
    schedule,
)
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.scenarios import run_scenario


def device(given: Given) -> Device:
    """Lanes of one scheduler, and latencies by name."""
    return Device(given["lanes"], given["latencies"])


def listing(given: Given) -> tuple[Instruction, ...]:
    """The instructions in order."""
    return tuple(
        Instruction(
            line["text"], line["unit"], line.get("latency", ""), tuple(line.get("writes", ())), tuple(line["reads"])
        )
        for line in given["code"]
    )


def issue_and_ready(given: Given) -> Numbers:
    """t_is of every instruction, t_re of those that have a result."""
    code = listing(given)
    cycles = schedule(code, device(given))
    return {
        "issue": {f"I{i} {line.text}": cycles.issue[i] for i, line in enumerate(code)},
        "ready": {f"I{i} {line.text}": cycles.ready[i] for i, line in enumerate(code) if line.writes},
    }


def simple_loop(given: Given) -> Numbers:
    """The first example, a load, an addition, a store and a branch: issue and ready cycles, latencies and P."""
    code, on = listing(given), device(given)
    return {
        **issue_and_ready(given),
        "L, to the branch": latency_as_published(code, on),
        "L, to the next iteration": latency(code, on),
        **{f"P, of {cycles:g} cycles": _threads(given, cycles) for cycles in given["interval_latencies"]},
        "active threads of 10 blocks of 64": active_threads(**given["grid"]),
    }


def simple_loop_figures(given: Given) -> Iterator[Figure]:
    """Time for a million elements against threads."""
    threads, cycles = [64.0 * n for n in range(1, 201)], given["interval_latencies"][0]
    lines = {"off-chip bandwidth": [float(time(_inputs(given, cycles, threads=p, executions=1e6))) for p in threads]}
    x, y = Axis("active threads", "thread"), Axis("time of 10^6 elements", "s", "log")
    source = "Interval analysis, Analysis of intervals without barriers"
    yield Figure("Simple loop on an M2200", x, y, series_over(threads, lines), source)


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


def actual_sass(given: Given) -> Numbers:
    """The second example, the loop as compiled: issue and ready cycles in the comments of the listing, and L."""
    return {**issue_and_ready(given), "L, to the next iteration": latency(listing(given), device(given))}


def simulated(given: Given) -> Numbers:
    """Cycles of one interval by simulation."""
    return {name: run_scenario("interval_analysis", scenario).cycles for name, scenario in given["scenarios"].items()}
