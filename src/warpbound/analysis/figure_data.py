"""Numbers of the figures of an answer; `report.figures` draws them."""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np

from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.analysis.timing import launch_prediction, warps_per_block
from warpbound.analysis.worst_request import requests
from warpbound.errors import InputError
from warpbound.l2_clock import chip_rate
from warpbound.model_inputs.answers import LaunchFacts, inputs_of
from warpbound.model_inputs.roofline_2009 import peak
from warpbound.predict import throughput
from warpbound.result.figures import BlockResources, ExecutionGraph, FigureData, RooflinePlot, ThroughputCurve

SECTOR_B = 32.0
THOUSAND = 1000.0
ISSUES_SHOWN = 150
LONGEST_SHOWN, ROUNDS_SHOWN = 4000.0, 1.5  # cycles of many warps, and of one warp's latency
NODES_SHOWN, LEAD, LONGEST_NAME = 32, 6, 34  # of an execution graph; LEAD: instructions before the first wait
MODELS = ("x_model_2016", "hong_kim_2009")  # whose figures are drawn from their inputs


def figure_data(case: Case, work: Work, launch_facts: LaunchFacts | None) -> FigureData:
    """Numbers of each figure; None where they are not known."""
    program, launch = case.program, case.launch
    shared_bytes = program.shared_bytes + (launch.smem if launch else 0)
    return FigureData(
        block=BlockResources(case.threads_per_block, program.registers, shared_bytes, program.tensor_columns),
        limits=dict(case.gpu.changed_limits),
        curve=curve(case, work),
        roofline=_roofline(case, work),
        timeline=_timeline(case, work),
        graph=_graph(case, work),
        requests=requests(case, work),
        warps=_warps(case, work) if "simulation" in case.settings.views else [],
        inputs={name: _inputs(name, launch_facts) for name in MODELS},
    )


def curve(case: Case, work: Work) -> ThroughputCurve | None:
    """Bounds over the warps of an SM, and predictions; ours at every number of resident blocks that fits."""
    per_block = warps_per_block(case)
    blocks = range(1, case.residency.fitting_blocks_per_sm + 1)
    if not blocks:
        return None
    warps = np.arange(1.0, case.residency.max_warps_per_sm + 1.0)
    bounds = throughput(work.focus, case.place, warps)
    predictions = [launch_prediction(case, work, n) for n in blocks]
    rates = [THOUSAND * t.rate * per_block / case.clock_hz for t in predictions if t is not None]
    resident_warps = [float(n * per_block) for n in blocks]
    limits = {name: THOUSAND * limit for name, limit in bounds.limits.items() if np.isfinite(limit).all()}
    volkov = (warps.tolist(), (THOUSAND * np.asarray(bounds.rate)).tolist())
    what = "warps" if work.focus is work.whole else "iterations"
    return ThroughputCurve(
        unit=f"{what} per 1000 SM cycles",
        warps_per_sm=warps.tolist(),
        limits={name: np.broadcast_to(limit, warps.shape).tolist() for name, limit in limits.items()},
        predicted=({"warpbound": (resident_warps, rates)} if rates else {}) | {"volkov_2016": volkov},
        here=float(case.residency.warps_per_sm),
    )


def _timeline(case: Case, work: Work) -> list[tuple[float, float, str]]:
    """(start, end, kind) of the first intervals in which one warp issues, or waits for an instruction of some pipe."""
    schedule, spans = work.schedule, []
    for position in range(min(ISSUES_SHOWN, len(schedule.stream))):
        at, waited, producer = schedule.issue[position], schedule.waited[position], schedule.producer[position]
        if waited:
            pipe = case.facts[schedule.stream[producer]].pipe if producer >= 0 else "a result"
            spans.append((at - waited, at, f"waits for {pipe}"))
        spans.append((at, at + 1.0, "issues"))
    return spans


def _graph(case: Case, work: Work) -> ExecutionGraph:
    """Instructions that one warp issues in a row, those with most of its waiting on the critical path.

    names, issue : of each. edges : (from, to, cycles, whether on the critical path), places in that row.
    """
    schedule, count = work.schedule, len(work.schedule.stream)
    issue = np.array(schedule.issue)
    width = min(NODES_SHOWN, count)
    within = max(1, width - LEAD)  # the stretch of so many that takes longest, and a few instructions before it
    slowest = int(np.argmax(issue[within - 1 :] - issue[: count - within + 1])) if count else 0
    first = max(0, min(slowest - LEAD, count - width))
    positions = range(first, first + width)
    path = set(pairwise(schedule.critical))
    dependences = {(schedule.producer[at], at) for at in positions if schedule.producer[at] >= 0}
    edges = [
        (start - first, to - first, schedule.issue[to] - schedule.issue[start], (start, to) in path)
        for start, to in sorted(dependences | path)
        if start in positions and to in positions
    ]
    instructions = case.program.instructions
    return ExecutionGraph(
        names=[_short(instructions[schedule.stream[at]].text) for at in positions],
        issue=[schedule.issue[at] for at in positions],
        edges=edges,
        first=first,
        of=count,
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."


def _warps(case: Case, work: Work) -> list[tuple[int, float, float, str]]:
    """(warp, from, to, what it does) for the warps that an SM begins with, by simulation."""
    from warpbound.analysis.sm_simulation import first_cycles  # which loads the simulator

    try:
        return first_cycles(case, work, min(LONGEST_SHOWN, ROUNDS_SHOWN * max(work.whole.latency, 1.0)))
    except InputError:  # too long to simulate
        return []


def _roofline(case: Case, work: Work) -> RooflinePlot | None:
    """Roofs of the types that the kernel computes in, its flop per byte at each level and the flop/s predicted."""
    flop = {kind: count for kind, count in work.whole.flop.items() if count}
    prediction = launch_prediction(case, work)
    memory = work.whole.memory
    if not flop or prediction is None or work.whole.warps is None:
        return None
    gpu, sms = case.gpu, case.gpu.value("sm_count")
    bytes_moved = {
        "DRAM": memory.dram_bytes_read + memory.dram_bytes_written,
        "L2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written),
        "L1": SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store),
    }
    total = sum(flop.values())
    bandwidth = {
        "L1": gpu.value("l1_bandwidth") * case.clock_hz * sms,
        "L2": chip_rate(gpu, "l2_bandwidth"),
        "DRAM, vendor": gpu.value("dram_bandwidth"),
        "DRAM, achievable": gpu.value("dram_achievable_bandwidth"),
    }
    return RooflinePlot(
        compute={f"{kind} peak": peak(gpu, kind, case.clock_hz, work.whole.tensor) for kind in flop},
        bandwidth=bandwidth,
        achievable=["DRAM, achievable", "L2"],
        intensity={level: total / size for level, size in bytes_moved.items() if size > 0},
        flops=total * work.whole.warps / prediction.time_s,
    )


def _inputs(name: str, launch: LaunchFacts | None) -> dict[str, float] | None:
    inputs: Any = inputs_of(name, launch) if launch is not None else ""
    if isinstance(inputs, str):
        return None
    return {field.name: float(getattr(inputs, field.name)) for field in dataclasses.fields(inputs)}
