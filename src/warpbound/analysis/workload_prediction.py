"""A hand-written workload on one GPU: the bounds, the time where the launch is known, every model's answer.

The time model gives the time where it has what it needs: a launch in blocks, the waits of a warp as phases. Else it
is the tightest bound and the launch cost.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from warpbound.analysis import interval, launch_counts
from warpbound.analysis.case import WARP
from warpbound.analysis.interval import Interval
from warpbound.analysis.overrides import Setting, overridden
from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.kernel_launch import blamed
from warpbound.machine import Gpu, clock, listed
from warpbound.model_inputs.answers import LaunchFacts, answers
from warpbound.model_inputs.resources import demand
from warpbound.models import MODELS
from warpbound.predict import NOTE, Place, Prediction, active_sms, predict
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import occupancy
from warpbound.result.quantities import CLOCK_UNDER_LOAD
from warpbound.result.refusal import Refusal, refusal
from warpbound.result.workload import LaunchSize, ResidentWork, WarpLatency, WorkloadResult
from warpbound.time_model import LaunchedWork, LaunchPrediction, predict_launch
from warpbound.time_model.batch import launch_seconds
from warpbound.time_model.queue_demands import RESOURCE_OF
from warpbound.workload import Workload
from warpbound.workload.files import WorkloadCase, levels, read, work_on

NO_REGISTERS = "registers per thread are not given: they limit nothing"
NO_LATENCY = "the latency of one warp is not given: no time is predicted, and the latency bound is left out"
HEADLINE = "time by flow balance, as for compiled kernels; the bounds below do not include its waiting"
NO_WARPS = "resident warps are not given: no time is predicted, and the latency bound is left out"



@dataclass(frozen=True)
class StatedResidency:
    """Residency of one SM from a workload file; None where the file does not give it."""

    warps: float | None = None
    blocks: float | None = None
    limiters: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()


@dataclass(frozen=True)
class How:
    """Settings of a prediction."""

    clock: str | float | None = None     # base, boost or MHz; the file's where None
    models: tuple[str, ...] = ()         # the papers' to show
    settings: tuple[Setting, ...] = ()   # in place of the boards' own values


def predictions(
    word: str, gpus: str | None = None, cases: Sequence[str] = (), how: How | None = None
) -> list[WorkloadResult | Refusal]:
    """One entry per case and GPU; what cannot be answered among several leaves an error entry.

    Raises the first error where nothing could be answered, CommandError for words that mean nothing.
    """
    how = how or How()
    results: list[WorkloadResult | Refusal] = []
    failures: list[WarpboundError] = []
    for case in _chosen(read(word), cases):
        for board in overridden(_boards(word, case, gpus), how.settings):
            try:
                results.append(_of_file(word, case, board, how))
            except WarpboundError as error:
                failures.append(error)
                results.append(refusal(case.name, board.key, error))
    if len(failures) == len(results):
        raise failures[0]
    return results


def model_names(words: str) -> tuple[str, ...]:
    """The models in a comma list, or all. Raises CommandError for an unknown one."""
    if words == "all":
        return tuple(MODELS)
    names = tuple(name for name in words.split(",") if name)
    for name in names:
        if name not in MODELS:
            raise CommandError(f"No model is called {name!r}.", f"There are {', '.join(MODELS)} and all.")
    return names


def predicted(
    case: WorkloadCase, board: Gpu, clock_word: str | float | None = None, models: tuple[str, ...] = ()
) -> WorkloadResult:
    """One case on one board."""
    if not board.board:
        raise InputError(f"{board.name} is not a board: nothing can be predicted on it.", "See `warpbound gpus`.")
    return predicted_of(case, launched(case, board, clock_word), models, clock_word)


def predicted_of(
    case: WorkloadCase, x: LaunchFacts, models: tuple[str, ...] = (), clock_word: str | float | None = None
) -> WorkloadResult:
    """The same of a launch that may differ from the case's own."""
    board, resident = x.gpu, _resident(case, x.gpu)
    prediction = _prediction(x)
    ours = _headline(x, clock_word if clock_word is not None else case.clock)
    bounded = prediction.time_s if prediction is not None and x.work.latency and x.warps_per_sm is not None else None
    time_s = ours.time_s if ours else bounded
    binds = ours or prediction
    return WorkloadResult(
        kernel=case.name,
        gpu=board.key,
        gpu_name=board.name,
        source=case.source,
        mode="written",
        time_s=time_s,
        time_interval_s=list(ours.interval) if ours else None,
        cycles=None if time_s is None else time_s * x.clock_hz,
        bottleneck=RESOURCE_OF.get(binds.bottleneck, binds.bottleneck) if binds else None,
        runner_up=RESOURCE_OF.get(binds.runner_up, binds.runner_up) if binds else None,
        occupancy=ResidentWork(x.blocks_per_sm, x.warps_per_sm, list(resident.limiters)),
        launch=LaunchSize(x.blocks, x.threads_per_block),
        latency=WarpLatency(x.work.latency, x.work.parts) if x.work.latency else None,
        bounds=launch_counts.bounds(prediction) if prediction else [],
        warps_needed=prediction.warps_needed if prediction and x.work.latency else None,
        instructions=launch_counts.instructions(x.work),
        flop=launch_counts.flop_counts(x.work),
        models=answers(tuple(dict.fromkeys(("roofline_2009", *models))), x),
        assumed=[*resident.assumed, *_unsaid(x), *_how(ours, time_s)],
        clock_MHz=x.clock_hz / 1e6,
    )


def launched(case: WorkloadCase, board: Gpu, clock_word: str | float | None = None) -> LaunchFacts:
    """The case in the form of the model adapters."""
    clock_hz = clock(board, clock_word if clock_word is not None else case.clock)
    resident = _resident(case, board)
    count = board.value("sm_count")
    return LaunchFacts(
        work=work_on(case, board, clock_hz),
        gpu=board,
        clock_hz=clock_hz,
        dram_cycles=levels(board, clock_hz).get("dram"),
        warps_per_sm=resident.warps,
        active_sms=count if case.blocks is None else min(count, float(case.blocks)),
        blocks=case.blocks,
        blocks_per_sm=resident.blocks,
        threads_per_block=case.shape.threads_per_block,
        file_symbols=case.inputs,
    )


def _resident(workload_case: WorkloadCase, board: Gpu) -> StatedResidency:
    shape, per_block = workload_case.shape, workload_case.warps_per_block
    if shape.warps_per_sm is not None:
        return StatedResidency(shape.warps_per_sm, shape.warps_per_sm / per_block if per_block else None)
    if shape.blocks_per_sm is not None:
        return StatedResidency(shape.blocks_per_sm * per_block if per_block else None, shape.blocks_per_sm)
    if shape.threads_per_block is None:
        return StatedResidency()
    residency = occupancy(
        board, shape.threads_per_block, shape.registers or 0, shape.shared_bytes or 0, shape.carveout,
        grid_blocks=workload_case.blocks,
    )  # fmt: skip
    if not residency.blocks_per_sm:
        raise InputError(
            f"{workload_case.name}: not one block of {shape.threads_per_block} threads fits on an SM of {board.name} "
            f"({', '.join(residency.limiters)}).",
            " ".join(step.sentence for step in residency.next_step) or "Use a smaller block.",
        )
    note = () if shape.registers is not None else (NO_REGISTERS,)
    return StatedResidency(float(residency.warps_per_sm), float(residency.blocks_per_sm), residency.limiters, note)


def before_form(x: LaunchFacts, clock_word: str | float | None) -> LaunchPrediction | None:
    """The time model's prediction with the interval of parameters and clock; None where the launch is not known."""
    if x.blocks is None or x.threads_per_block is None or not x.work.phases or (x.blocks_per_sm or 0.0) < 1:
        return None
    per_block = -(-x.threads_per_block // WARP)
    launch = LaunchedWork(x.work, x.gpu, x.clock_hz, x.blocks, x.blocks_per_sm or 0.0, per_block)
    prediction, slow_hz = predict_launch(launch), interval.clock_under_load(clock_word, x.clock_hz)
    if slow_hz is None:
        return prediction
    slower_s = launch_seconds([replace(launch, clock_hz=slow_hz)])[0]
    return Interval.of(prediction).with_slower(slower_s, CLOCK_UNDER_LOAD).stated_on(prediction)


def _headline(x: LaunchFacts, clock_word: str | float | None) -> LaunchPrediction | None:
    prediction = before_form(x, clock_word)
    if prediction is None:
        return None
    kind = interval.binds(prediction.bottleneck, x.work.memory, apart=prediction.apart_s / prediction.time_s)
    return Interval.of(prediction).with_form(kind).stated_on(prediction)


def _how(ours: LaunchPrediction | None, time_s: float | None) -> list[str]:
    if ours:
        return [HEADLINE]
    return [] if time_s is None else [NOTE]


def _prediction(x: LaunchFacts) -> Prediction | None:
    """Volkov's bounds; None where the file gives nothing that a resource would be used for."""
    count = x.gpu.value("sm_count")
    sms = count if x.blocks is None else active_sms(x.blocks, count)
    resident = x.warps_per_sm if x.warps_per_sm is not None else math.inf
    if not any(demand(x.work, x.gpu, x.clock_hz).values()):
        return None
    work: Workload = x.work if x.warps_per_sm is not None and x.work.latency else replace(x.work, warps=None)
    prediction = predict(work, Place(x.gpu, x.clock_hz, resident, sms))
    if x.work.latency and x.warps_per_sm is not None:
        return prediction
    busy = {name: cycles for name, cycles in prediction.cycles.items() if name != "latency"}
    order = sorted(busy, key=lambda name: -busy[name])
    return replace(prediction, cycles=busy, bottleneck=order[0], runner_up=order[1] if len(order) > 1 else order[0])


def _unsaid(x: LaunchFacts) -> list[str]:
    missing = [NO_LATENCY] if not x.work.latency else []
    return missing + ([NO_WARPS] if x.warps_per_sm is None else [])


def _chosen(workload_cases: tuple[WorkloadCase, ...], cases: Sequence[str]) -> tuple[WorkloadCase, ...]:
    names = [case.case for case in workload_cases if case.case]
    for name in cases:
        if name not in names:
            hint = f"Its cases are {', '.join(names)}." if names else "It has no cases."
            raise CommandError(f"{workload_cases[0].origin} has no case {name!r}.", hint)
    return tuple(case for case in workload_cases if not cases or case.case in cases)


def _boards(word: str, case: WorkloadCase, gpus: str | None) -> tuple[Gpu, ...]:
    """Those named on the command line, else the file's own."""
    if gpus:
        return listed(gpus)
    if not case.gpu:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    with blamed(word, "workload file"):
        return listed(case.gpu)


def _of_file(word: str, case: WorkloadCase, board: Gpu, how: How) -> WorkloadResult:
    """One case on one board; errors of the launch name the file, errors of the requested clock do not."""
    if how.clock is not None and board.board:
        clock(board, how.clock)
    with blamed(word, "workload file"):
        return predicted(case, board, how.clock, how.models)
