"""The time of a launch whose work is known: the headline prediction, at any number of resident blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from warpbound.analysis import interval, trust
from warpbound.analysis.case import WARP, Case
from warpbound.analysis.static import Work
from warpbound.headline import LaunchPrediction, predict_launch
from warpbound.headline.batch import Asked, launch_seconds
from warpbound.headline.parameters import relatives
from warpbound.headline.queue_demands import FAR, HOT
from warpbound.latency import LEVELS
from warpbound.machine import Gpu
from warpbound.predict import Place, Prediction
from warpbound.workload import Workload

NOTE = "time by flow balance with parameters fitted on streams"
MORE_THAN_ONCE = 2  # waits for loads
LONGEST_NOTE = "blocks differ: the longest sampled warp, {times:.3g} times the typical one, bounds the time"
_PARTS = {"block start": "launch", HOT: "l2", FAR: "l2"}  # the chip's blocks, updates of one address, and crossings


@dataclass(frozen=True)
class Resident:
    """Blocks that an SM holds."""

    fitting_blocks_per_sm: float


def scaled_notes(assumed: Sequence[str], board: Gpu) -> list[str]:
    """Which parameters of a board are whose: one sentence for each group of relatives."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in assumed:
        groups.setdefault(relatives(name, board), []).append(name)
    return [f"timing parameters scaled from {' and '.join(keys)}: {', '.join(names)}" for keys, names in groups.items()]


def launch_prediction(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchPrediction | None:
    """None where trip counts are not known; `resident_blocks` on each SM instead of as many as fit."""
    found = by_parameters(case, work, resident_blocks)
    return None if found is None else interval.with_form(found, kind_of(found, work, case))


def kind_of(found: LaunchPrediction, work: Work, case: Case) -> str:
    """What binds the launch, as far as the model's own error is concerned."""
    touched, held = work.whole.memory.touched_bytes * (work.whole.warps or 0.0), case.gpu.get("l2_size")
    return interval.binds(found.bottleneck, work.whole.memory, touched / held if held else 0.0)


def by_parameters(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchPrediction | None:
    """The same with the interval that parameters, clock and L2 make, before the form of the model widens it."""
    if case.blocks is None or work.whole.warps is None:
        return None
    held = float(case.residency.fitting_blocks_per_sm) if resident_blocks is None else resident_blocks
    found = _renamed(_predicted(case, work.whole, held, case.blocks))
    found = _sampled(_doubted(found, case, work, held), case, work, held)
    found = _in_step(_at_least(found, case, work), case, work, held)
    slow_hz = interval.sagged(case.settings.clock, case.clock_hz)
    return found if slow_hz is None else interval.with_clock(found, _at_clock(case, work, held, slow_hz))


def _at_clock(case: Case, work: Work, held: float, clock_hz: float) -> float:
    """Seconds at another clock."""
    asked = Asked(work.whole, case.gpu, Resident(held), case.blocks or 1, warps_per_block(case), clock_hz)
    return max(launch_seconds([asked])[0], work.timed.cycles * work.longest_warp / clock_hz)


def _doubted(found: LaunchPrediction, case: Case, work: Work, held: float) -> LaunchPrediction:
    """The interval reaches what the time would be if L2 kept nothing from the launch before."""
    cold = trust.unkept(case, work.whole)
    if cold is not None:
        found = trust.widened(found, trust.KEPT, _predicted(case, cold, held, case.blocks or 1))
    return found


def _in_step(found: LaunchPrediction, case: Case, work: Work, held: float) -> LaunchPrediction:
    """The interval reaches what the time would be if all warps of an SM did their arithmetic, then waited, together.

    Source   corpus `intensities`: a round of a loop takes the pipe's time and about one latency of DRAM on four boards.
    Omits    barriers, which make warps wait in any case; the last round, after which nothing is waited for.
    """
    whole = work.whole
    if interval.CLASSES[found.bottleneck] != "sm" or round(whole.barriers) or len(whole.phases) < MORE_THAN_ONCE:
        return found
    each = (case.blocks or 1) / case.place.active_sms
    waits = sum(whole.parts.get(level, 0.0) for level in LEVELS) / case.clock_hz
    together = each * found.costs[found.bottleneck] + max(1.0, each / held) * waits
    return interval.with_slower(found, together, interval.IN_STEP)


def _sampled(found: LaunchPrediction, case: Case, work: Work, held: float) -> LaunchPrediction:
    """The interval with what the traffic of blocks outside the sample may be."""
    if work.errors is None or not any(vars(work.errors).values()):
        return found
    board, blocks, warps = case.gpu, case.blocks or 1, warps_per_block(case)
    shifted = [trust.shifted(work.whole, work.errors, by) for by in (-1.0, 1.0)]
    less, more = launch_seconds([Asked(one, board, Resident(held), blocks, warps, case.clock_hz) for one in shifted])
    return interval.with_sampling(found, less, more)


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
        runner_up=found.runner_up if found.bottleneck == "latency" else found.bottleneck,
    )


def times_of(case: Case, changed: Sequence[tuple[Workload, Place]]) -> list[float]:
    """Times of launches of changed work, or at another place, each with as many blocks as its warps make."""
    return launch_seconds([_asked(work, place, warps_per_block(case)) for work, place in changed])


def _asked(work: Workload, place: Place, warps: int) -> Asked:
    blocks = max(1, round((work.warps or 0.0) / warps))
    return Asked(work, place.gpu, Resident(max(1.0, place.warps_per_sm / warps)), blocks, warps, place.clock_hz)


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


def merged(costs: Mapping[str, float]) -> dict[str, float]:
    """Starting blocks counts as launch, updates of one address and what crosses L2 as L2: the largest of them."""
    found = dict(costs)
    for part, whole in _PARTS.items():
        found[whole] = max(found.get(whole, 0.0), found.pop(part, 0.0))
    return found


def _renamed(found: LaunchPrediction) -> LaunchPrediction:
    costs = merged(found.costs)
    order = sorted(costs, key=lambda name: -costs[name])
    return replace(found, costs=costs, bottleneck=order[0], runner_up=order[1])
