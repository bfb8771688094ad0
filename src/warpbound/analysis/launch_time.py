"""The time of a launch, what binds it, and nothing more: a program may have thousands of launches.

The steps are those of `analyze`, without what-ifs, papers' models and tables; the two give the same time.
"""

from warpbound.analysis import launch_counts
from warpbound.analysis.answer import assumptions, idle_counts, reworked, work_of
from warpbound.analysis.case import checked_case
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.analysis.sustained import settled
from warpbound.analysis.timing import launch_prediction
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class LaunchTime:
    """The prediction for one launch.

    time_s, interval_s, bottleneck, warp_instructions (of the whole launch) : None where blocks could not be executed;
    why_not says why. assumed : sentences.
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
