"""The time of a launch whose work is known: the headline prediction, at any number of resident blocks."""

from dataclasses import dataclass, replace

from warpbound.analysis import trust
from warpbound.analysis.case import WARP, Case
from warpbound.analysis.static import Work
from warpbound.headline import LaunchPrediction, predict_launch
from warpbound.headline.stations import HOT
from warpbound.predict import Place, Prediction
from warpbound.workload import Workload

NOTE = "time by flow balance with parameters fitted on streams of V100 and A100-80"
LONGEST_NOTE = "blocks differ: the longest sampled warp, {times:.3g} times the typical one, bounds the time"
_PARTS = {"block start": "launch", HOT: "l2"}  # the chip's rate of starting blocks, and of updating one address


@dataclass(frozen=True)
class Resident:
    """Blocks that an SM holds."""

    fitting_blocks_per_sm: float


def launch_prediction(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchPrediction | None:
    """None where trip counts are not known; `resident_blocks` on each SM instead of as many as fit."""
    if case.blocks is None or work.whole.warps is None:
        return None
    held = float(case.residency.fitting_blocks_per_sm) if resident_blocks is None else resident_blocks
    found = _renamed(_predicted(case, work.whole, held, case.blocks))
    return _at_least(_doubted(found, case, work, held), case, work)


def _doubted(found: LaunchPrediction, case: Case, work: Work, held: float) -> LaunchPrediction:
    """The interval reaches what the time would be if L2 kept nothing from the launch before."""
    cold = trust.unkept(case, work.whole)
    if cold is not None:
        found = trust.widened(found, trust.KEPT, _predicted(case, cold, held, case.blocks or 1))
    return found


def _at_least(found: LaunchPrediction, case: Case, work: Work) -> LaunchPrediction:
    """No launch ends before its longest warp: the typical path, stretched to that warp's instructions."""
    floor_s = work.timed.cycles * work.longest_warp / case.clock_hz
    if floor_s <= found.time_s:
        return found
    low, high = found.interval
    stretch = floor_s / found.time_s
    return replace(
        found,
        time_s=floor_s,
        interval=(low * stretch, high * stretch),
        bottleneck="latency",
        runner_up=found.bottleneck,
    )


def launch_seconds(case: Case, work: Workload, place: Place) -> float:
    """Time of a launch of changed work, or at another place, with as many blocks as its warps make."""
    warps = warps_per_block(case)
    blocks = max(1, round((work.warps or 0.0) / warps))
    held = Resident(max(1.0, place.warps_per_sm / warps))
    return predict_launch(work, place.gpu, held, blocks, warps, place.clock_hz).time_s


def warps_per_block(case: Case) -> int:
    """Whole warps of a block."""
    return -(-case.threads_per_block // WARP)


def at_predicted_rate(case: Case, prediction: Prediction, timed: LaunchPrediction) -> Prediction:
    """The bounds with what the flow balance charges: cycles per warp of each resource, its use at the rate found."""
    warps = warps_per_block(case)
    per_cycle = timed.rate * warps / case.clock_hz  # warps per cycle and SM while the SMs are full
    cycles = {name: cost * case.clock_hz / warps for name, cost in timed.costs.items() if cost > 0}
    busiest = max((cost for name, cost in cycles.items() if name not in ("latency", "launch")), default=float("inf"))
    return replace(
        prediction,
        cycles=cycles,
        utilization={name: min(1.0, busy * per_cycle) for name, busy in cycles.items()},
        bottleneck=timed.bottleneck,
        runner_up=timed.runner_up,
        warps_needed=case.residency.warps_per_sm * cycles["latency"] / busiest,
    )


def _predicted(case: Case, work: Workload, resident_blocks: float, blocks: int) -> LaunchPrediction:
    held = Resident(resident_blocks)
    return predict_launch(work, case.gpu, held, blocks, warps_per_block(case), case.clock_hz)


def _renamed(found: LaunchPrediction) -> LaunchPrediction:
    """Starting blocks counts as launch, updates of one address as L2: the larger of the two."""
    costs = dict(found.costs)
    for part, whole in _PARTS.items():
        costs[whole] = max(costs.get(whole, 0.0), costs.pop(part, 0.0))
    order = sorted(costs, key=lambda name: -costs[name])
    return replace(found, costs=costs, bottleneck=order[0], runner_up=order[1])
