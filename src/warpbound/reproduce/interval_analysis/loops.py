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
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.scenarios import run_scenario


def device(inputs: ItemInputs) -> Device:
    """Lanes of one scheduler, and latencies by name."""
    return Device(inputs["lanes"], inputs["latencies"])


def listing(inputs: ItemInputs) -> tuple[Instruction, ...]:
    """The instructions in order."""
    return tuple(
        Instruction(
            line["text"], line["unit"], line.get("latency", ""), tuple(line.get("writes", ())), tuple(line["reads"])
        )
        for line in inputs["code"]
    )


def issue_and_ready(inputs: ItemInputs) -> Numbers:
    """The issue cycle t_is of every instruction, the ready cycle t_re of those with a result."""
    code = listing(inputs)
    cycles = schedule(code, device(inputs))
    return {
        "issue": {f"I{i} {line.text}": cycles.issue[i] for i, line in enumerate(code)},
        "ready": {f"I{i} {line.text}": cycles.ready[i] for i, line in enumerate(code) if line.writes},
    }


def simple_loop(inputs: ItemInputs) -> Numbers:
    """The first example, a load, an addition, a store and a branch: issue and ready cycles, latencies and P."""
    code, on = listing(inputs), device(inputs)
    return {
        **issue_and_ready(inputs),
        "L, to the branch": latency_as_published(code, on),
        "L, to the next iteration": latency(code, on),
        **{f"P, of {cycles:g} cycles": _threads(inputs, cycles) for cycles in inputs["interval_latencies"]},
        "active threads of 10 blocks of 64": active_threads(**inputs["grid"]),
    }


def simple_loop_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Time of a million elements against the number of threads."""
    threads, cycles = [64.0 * n for n in range(1, 201)], inputs["interval_latencies"][0]
    lines = {"off-chip bandwidth": [float(time(_inputs(inputs, cycles, threads=p, executions=1e6))) for p in threads]}
    x, y = Axis("active threads", "thread"), Axis("time of 10^6 elements", "s", "log")
    source = "Interval analysis, Analysis of intervals without barriers"
    yield Figure("Simple loop on an M2200", x, y, series_over(threads, lines), source)


def _threads(inputs: ItemInputs, cycles: float) -> Real:
    return enough_threads(_inputs(inputs, cycles)).limits["memory"]


def _inputs(inputs: ItemInputs, cycles: float, threads: float = 1.0, executions: float = 1.0) -> Inputs:
    return Inputs(
        executions=executions,
        threads=threads,
        latency=cycles,
        clock=inputs["clock_GHz"] * 1e9,
        data={"memory": inputs["bytes"]},
        data_bandwidth={"memory": inputs["memory_GBs"] * 1e9},
        insts={},
        inst_bandwidth={},
    )


def actual_sass(inputs: ItemInputs) -> Numbers:
    """The second example, the loop as compiled: issue and ready cycles in the comments of the listing, and L."""
    return {**issue_and_ready(inputs), "L, to the next iteration": latency(listing(inputs), device(inputs))}


def simulated(inputs: ItemInputs) -> Numbers:
    """Cycles of one interval by simulation."""
    return {name: run_scenario("interval_analysis", scenario).cycles for name, scenario in inputs["scenarios"].items()}
