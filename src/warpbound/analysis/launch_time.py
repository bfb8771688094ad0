"""The time of a launch, what binds it, and nothing more: a program may have thousands of launches, a kernel thousands
of tunings.

The steps are those of `analyze`, without what-ifs, papers' models and tables; they give the same time.
"""

from warpbound.analysis import launch_counts
from warpbound.analysis.answer import assumptions, confidence, frame, idle_counts, reworked, time_fields, work_of
from warpbound.analysis.case import Case, checked_case
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.static import Work
from warpbound.analysis.sustained_clock import limiter, settled, source
from warpbound.analysis.timing import at_predicted_rate, launch_prediction, time_and_costs
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.predict import predict
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult
from warpbound.result.plain import Entry
from warpbound.time_model import LaunchPrediction


@dataclass(frozen=True)
class LaunchTime:
    """The prediction for one launch.

    time_s, interval_s, bottleneck, warp_instructions (of the whole launch) : None where blocks could not be executed;
    why_not states why. assumed : sentences.
    """

    blocks_per_sm: int
    warps_per_sm: int
    time_s: float | None = None
    interval_s: tuple[float, float] | None = None
    bottleneck: str | None = None
    warp_instructions: float | None = None
    assumed: tuple[str, ...] = ()
    why_not: str = ""


def launch_time(program: Program, board: Gpu, launch: Launch, settings: Settings = DEFAULT) -> LaunchTime:
    """The time of a launch on a board. Raises what `analyze` raises."""
    case = checked_case(program, board, launch, settings)
    case, work = settled(case, work_of(case), reworked)
    prediction = launch_prediction(case, work)
    blocks, warps = case.residency.blocks_per_sm, case.residency.warps_per_sm
    if prediction is None:
        return LaunchTime(blocks, warps, why_not=work.not_executed or "trip counts of its loops are not known")
    low, high = prediction.interval
    counts = launch_counts.instructions(work.whole, idle_counts(case, work))
    return LaunchTime(
        blocks_per_sm=blocks, warps_per_sm=warps, time_s=prediction.time_s, interval_s=(low, high),
        bottleneck=prediction.bottleneck, warp_instructions=counts.warp_instructions,
        assumed=tuple(assumptions(case, work, prediction)),
    )  # fmt: skip


def time_result(program: Program, board: Gpu, launch: Launch | None, settings: Settings = DEFAULT) -> KernelResult:
    """The answer of `analyze` with its time, bounds and clock alone. Raises what `analyze` raises."""
    case = checked_case(program, board, launch, settings)
    case, work = settled(case, work_of(case), reworked)
    prediction = launch_prediction(case, work)
    return _result(case, work, prediction, time_fields(case, prediction))


def time_to_rank(program: Program, board: Gpu, launch: Launch | None, settings: Settings = DEFAULT) -> KernelResult:
    """The same without the interval of the time and its causes, in two thirds of the time."""
    from warpbound.memory.traffic import traffic  # static answers need no caches

    case = checked_case(program, board, launch, settings)
    case, work = settled(case, work_of(case, follow=traffic), reworked)
    prediction = time_and_costs(case, work)
    return _result(case, work, prediction, {} if prediction is None else {"time_s": prediction.time_s})


def _result(case: Case, work: Work, prediction: LaunchPrediction | None, time: Entry) -> KernelResult:
    bounds = predict(work.focus, case.place)
    rates = bounds if prediction is None else at_predicted_rate(case, bounds, prediction)
    return KernelResult(
        **frame(case),
        **time,
        mode=work.mode,
        bottleneck=rates.bottleneck,
        runner_up=rates.runner_up,
        bounds=launch_counts.bounds(rates),
        warps_needed=rates.warps_needed,
        confidence=confidence(case, assumptions(case, work, prediction), prediction),
        sample=work.sample,
        clock_MHz=case.clock_hz / 1e6,
        clock_source=source(case),
        clock_limiter=limiter(case, prediction),
        not_executed=work.not_executed,
    )
