"""Measured beside predicted: one profiled launch, counter by counter, stall by stall, line by line."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.answer import result_of, work_of
from warpbound.analysis.case import checked_case
from warpbound.analysis.static import Work
from warpbound.nsight.clocks import duration_s
from warpbound.nsight.counters import COUNTERS, Counter, Prediction, has_ecc, measured
from warpbound.nsight.differences import explanation
from warpbound.nsight.inference import inferred
from warpbound.nsight.launch_case import LaunchCase
from warpbound.nsight.report_file import ProfiledLaunch
from warpbound.nsight.stall_places import stalls_by_place
from warpbound.nsight.stall_samples import samples_by_reason
from warpbound.result.comparison import (
    ComparedCounter,
    ComparedInstruction,
    ComparedLine,
    ComparedStall,
    Duration,
    LaunchComparison,
)
from warpbound.result.kernel import KernelResult
from warpbound.result.profile import ProfileFacts

EXECUTED = "inst_executed"


def analyzed(x: LaunchCase) -> tuple[KernelResult, Work]:
    """The prediction for a profiled launch, and the work that it rests on."""
    case = checked_case(x.program, x.gpu, x.launch, x.settings)
    work = work_of(case)
    return with_profile(result_of(case, work), x), work


def with_profile(result: KernelResult, x: LaunchCase) -> KernelResult:
    """The answer with the facts that the report states about the launch."""
    confidence = result.confidence
    notes = [*x.notes, *confidence.assumed]
    l2, dram = x.clocks.l2_hz, x.clocks.dram_hz
    facts = ProfileFacts(
        report=x.profile.report.name,
        launch_index=x.profile.index,
        duration_s=duration_s(x.profile),
        sm_clock_MHz=x.clocks.sm_hz / 1e6,
        l2_clock_MHz=None if l2 is None else l2 / 1e6,
        dram_clock_MHz=None if dram is None else dram / 1e6,
        inferred=list(inferred(x.profile, x.program)),
    )
    with_notes = msgspec.structs.replace(confidence, assumed=notes)
    return msgspec.structs.replace(result, confidence=with_notes, profile=facts, clock_source=x.clocks.source)


def compare_launch(x: LaunchCase) -> LaunchComparison:
    """The comparison of one launch. Raises the errors of the analysis."""
    result, work = analyzed(x)
    prediction = Prediction(result, has_ecc(x.profile, x.gpu))
    instructions = _instructions(x, work, result)
    return LaunchComparison(
        kernel=result.kernel,
        gpu=result.gpu,
        report=str(x.profile.report),
        launch_index=x.profile.index,
        grid=list(x.profile.grid),
        block=list(x.profile.block),
        mode=result.mode,
        bottleneck=result.bottleneck,
        duration_s=Duration(duration_s(x.profile), result.time_s, result.time_interval_s),
        counters=_counters(x, prediction),
        stalls=_stalls(x.profile, result),
        lines=_lines(x, instructions),
        instructions=instructions,
        notes=result.confidence.assumed,
        code=_code_name(x),
    )


def _counters(x: LaunchCase, prediction: Prediction) -> list[ComparedCounter]:
    rows = []
    for counter in COUNTERS:
        row = measured(x.profile, counter)
        if row is not None:
            rows.append(_counter(counter, row, x, prediction))
    return rows


def _counter(counter: Counter, row: tuple[str, float], x: LaunchCase, prediction: Prediction) -> ComparedCounter:
    name, value = row
    our_value = counter.prediction(prediction)
    ratio = our_value / value if our_value is not None and value else None
    return ComparedCounter(
        name=name, unit=counter.unit, measured=value, predicted=our_value, ratio=ratio,
        explained=explanation(name, value, ratio, x, prediction.result),
    )  # fmt: skip


def _stalls(profile: ProfiledLaunch, result: KernelResult) -> list[ComparedStall]:
    """By reason; reasons without a name on the other side stand alone."""
    samples = {reason: sum(at.values()) for reason, at in samples_by_reason(profile).items()}
    total = sum(samples.values())
    our_shares = {stall.reason: stall.share for stall in result.stalls}
    reasons = [reason for reason in (*our_shares, *samples) if our_shares.get(reason) or samples.get(reason)]
    return [
        ComparedStall(
            reason,
            samples.get(reason, 0.0) / total if total else None,
            our_shares.get(reason, 0.0) if our_shares else None,
        )
        for reason in dict.fromkeys(reasons)
    ]


def _instructions(x: LaunchCase, work: Work, result: KernelResult) -> list[ComparedInstruction]:
    executions, reasons = x.profile.by_address(EXECUTED), samples_by_reason(x.profile)
    if not executions and not any(reasons.values()):
        return []
    base = _first_address(x.profile, executions, reasons)
    issued = _issued(x, work)
    waited = np.bincount(work.schedule.stream, work.schedule.waited, len(x.program.instructions))
    shares = {stall.reason: stall.share for stall in result.stalls}
    our_stalls = stalls_by_place(x.program.instructions, work.schedule, shares)
    rows = []
    for index, instruction in enumerate(x.program.instructions):
        at = base + instruction.address
        stalls = {reason: samples[at] for reason, samples in reasons.items() if samples.get(at)}
        place = instruction.place.outermost if instruction.place else None
        rows.append(
            ComparedInstruction(
                address=instruction.address,
                text=instruction.text,
                file=place.file if place else None,
                line=place.line if place else None,
                executed_measured=executions.get(at, 0.0) if executions else None,
                executed_predicted=None if issued is None else float(issued[index]),
                samples=sum(stalls.values()) if reasons else None,
                stalls=dict(sorted(stalls.items(), key=lambda item: -item[1])),
                stalls_predicted=our_stalls[index],
                cycles_predicted=float(waited[index]) if work.mode == "dynamic" else None,
            )
        )
    return rows


def _first_address(
    profile: ProfiledLaunch, executions: dict[int, float], reasons: dict[str, dict[int, float]]
) -> int:
    """Where the kernel's first instruction was: the smallest program counter of all counters."""
    places = profile.by_address("launch__function_pcs")
    if places:
        return int(next(iter(places.values())))
    return min(at for each in (executions, *reasons.values()) for at in each)


def _issued(x: LaunchCase, work: Work) -> NDArray[np.float64] | None:
    """Warp instructions of the launch by instruction; None in static mode."""
    if work.observed is None or work.whole.warps is None:
        return None
    issued = np.asarray(work.observed.executions, dtype=np.float64) * work.whole.warps
    return issued if work.idle is None else issued + np.asarray(work.idle.executions, dtype=np.float64)


def _lines(x: LaunchCase, instructions: Sequence[ComparedInstruction]) -> list[ComparedLine]:
    """Sums by source line, in the order of the source."""
    by_line: dict[tuple[str, int], list[ComparedInstruction]] = defaultdict(list)
    for row in instructions:
        if row.file is not None and row.line is not None:
            by_line[row.file, row.line].append(row)
    return [
        ComparedLine(
            file=file,
            line=line,
            text=x.program.source_line(line),
            executed_measured=_total(row.executed_measured for row in rows),
            executed_predicted=_total(row.executed_predicted for row in rows),
            samples=_total(row.samples for row in rows),
            stalls=_stalls_of([row.stalls for row in rows]),
            stalls_predicted=_stalls_of([row.stalls_predicted for row in rows]),
            cycles_predicted=_total(row.cycles_predicted for row in rows),
        )
        for (file, line), rows in sorted(by_line.items())
    ]


def _stalls_of(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    for row in rows:
        for reason, samples in row.items():
            totals[reason] += samples
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def _total(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _code_name(x: LaunchCase) -> str:
    """Names the machine code: equal for equal instructions."""
    digest = hashlib.sha256()
    for instruction in x.program.instructions:
        digest.update(instruction.text.encode())
    return digest.hexdigest()[:12]
