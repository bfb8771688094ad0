"""The time of a launch whose work is known, by the time model at any number of resident blocks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis import interval
from warpbound.analysis.case import WARP, Case
from warpbound.analysis.interval import HeldSeconds, Interval
from warpbound.analysis.static import Work
from warpbound.distinct_values import distinct
from warpbound.machine import Gpu
from warpbound.predict import Place, Prediction
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import Stall
from warpbound.result.quantities import CLOCK_UNDER_LOAD
from warpbound.time_model import LaunchedWork, LaunchPrediction, predict_launch
from warpbound.time_model.batch import launch_seconds
from warpbound.time_model.parameters import fitted_parameters, relatives
from warpbound.time_model.queue_demands import RESOURCE_OF
from warpbound.workload import Workload

Array = NDArray[np.float64]
NOTE = "time by flow balance with parameters fitted on streams"
MOST = 0.5  # share of a launch's time from which on the answer explains this part of it
MOST_FOLLOWED = 4096  # working blocks, in even steps, whose start behind idle ones is followed
WHOLE = 1e-6  # share of a block below which a difference is rounding
LONGEST_NOTE = "blocks differ: the longest sampled warp has {times:.3g} times the instructions of the typical one"
# state of the caches at the start -> other possible traffic, and why
IN_DOUBT = {"warm": (interval.with_cold_l2, interval.KEPT), "dirty": (interval.with_lines_in_order, interval.STAYING)}


def scaled_notes(assumed: Sequence[str], board: Gpu) -> list[str]:
    """One sentence for each group of relatives that give a board parameters."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in assumed:
        groups.setdefault(relatives(name, board), []).append(name)
    return [f"timing parameters scaled from {' and '.join(keys)}: {', '.join(names)}" for keys, names in groups.items()]


def launch_prediction(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchPrediction | None:
    """None where trip counts are not known; `resident_blocks` on each SM instead of as many as fit."""
    prediction = before_form(case, work, resident_blocks)
    if prediction is None:
        return None
    edges = Interval.of(prediction).with_form(class_of(prediction, work, case))
    clocks_s = held_clock_seconds(case, work, launch_of(case, work, resident_blocks))
    return edges.with_held_clocks(clocks_s).stated_on(prediction)


def class_of(prediction: LaunchPrediction, work: Work, case: Case) -> str:
    """The class of launches whose measured errors hold for this one."""
    footprint, l2_bytes = work.whole.memory.touched_bytes * (work.whole.warps or 0.0), case.gpu.get("l2_size")
    filling, apart = footprint / l2_bytes if l2_bytes else 0.0, prediction.apart_s / prediction.time_s
    return interval.binds(prediction.bottleneck, work.whole.memory, filling, apart)


def before_form(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchPrediction | None:
    """`launch_prediction` with the interval of parameters, L2, sampling and clock, without the model's own error."""
    central = _central(case, work, resident_blocks)
    if central is None:
        return None
    typical, launch = central.typical, launch_of(case, work, resident_blocks)
    edges = _with_other_l2(Interval.of(typical), case, launch)
    edges = _with_sampling(edges, work, launch)
    if typical.apart_s < (1.0 - interval.WORTH) * typical.time_s:
        edges = edges.with_slower(typical.time_s**2 / typical.apart_s, interval.IN_STEP)  # as far above as below
        edges = edges.with_faster(typical.apart_s, interval.IN_STEP)
    if central.working_s != typical.time_s:
        edges = edges.about(central.working_s)
    edges = _with_sagged_clock(edges, case, work, launch)
    return edges.later_by(central.idle_s).stated_on(central.whole)


def time_and_costs(case: Case, work: Work) -> LaunchPrediction | None:
    """`launch_prediction` with the interval of parameters alone: the same time and what binds, at half the cost."""
    central = _central(case, work, None)
    return None if central is None else central.whole


@dataclass(frozen=True)
class _Central:
    """A launch with its central time, without an interval.

    typical : if all of its blocks were alike and worked. working_s : of those that work. idle_s : that others add.
    whole : time, rate and what binds of the whole launch.
    """

    typical: LaunchPrediction
    working_s: float
    idle_s: float
    whole: LaunchPrediction


def _central(case: Case, work: Work, resident_blocks: float | None) -> _Central | None:
    if case.blocks is None or work.whole.warps is None:
        return None
    launch = launch_of(case, work, resident_blocks)
    typical = predict_launch(launch)
    longest_s, flowing_s = longest_s_of(work, typical, launch), typical.time_s * share_of_waves(work, typical, launch)
    working_s = max(longest_s, flowing_s)
    later_s = idle_s(case, work, working_s, case.clock_hz)
    rate = typical.rate * min(1.0, flowing_s / longest_s) if longest_s else typical.rate
    rate *= working_s / (working_s + later_s)
    costs = _with_idle(merged(typical.costs), work)
    binding = sorted(costs, key=lambda name: -costs[name])
    if longest_s > flowing_s and costs["launch"] * rate < MOST:
        binding = ["latency", *(name for name in binding if name != "latency")]
    time_s = working_s + later_s
    whole = replace(
        typical, time_s=time_s, rate=rate, costs=costs, bottleneck=binding[0], runner_up=binding[1],
        apart_s=typical.apart_s / typical.time_s * time_s,
    )  # fmt: skip
    return _Central(typical, working_s, later_s, whole)


def launch_of(case: Case, work: Work, resident_blocks: float | None = None) -> LaunchedWork:
    """The launch for the time model, of a case whose grid is known."""
    assert case.blocks is not None
    resident = float(case.residency.fitting_blocks_per_sm) if resident_blocks is None else resident_blocks
    blocks = case.blocks if work.blocks is None else work.blocks
    return LaunchedWork(work.whole, case.gpu, case.clock_hz, blocks, resident, warps_per_block(case))


def share_of_waves(work: Work, typical: LaunchPrediction, launch: LaunchedWork) -> float:
    """The part of the time in whole waves that a launch takes whose blocks differ; 1 where they hardly do.

    Such blocks end one by one, and the next come as places become free; the drain at the end is that of their schedule.
    """
    beyond = launch.blocks_per_active_sm - launch.population
    if work.paths is None or not work.paths.uneven or beyond <= 0:
        return 1.0
    wave = predict_launch(replace(launch, blocks=round(launch.population * launch.active_sms)))
    return min(1.0, (wave.time_s + beyond / typical.rate) / typical.time_s)


def longest_s_of(work: Work, typical: LaunchPrediction, launch: LaunchedWork) -> float:
    """Least time of a launch whose warps differ: of its longest warp, and of its blocks one after the other."""
    return max(longest_warp_s(work, launch.clock_hz), _scheduled_s(work, typical, launch))


def _scheduled_s(work: Work, typical: LaunchPrediction, launch: LaunchedWork) -> float:
    """Time of blocks that differ, each for as long as it takes alone; 0 where they hardly differ."""
    if work.paths is None or not work.paths.uneven:
        return 0.0
    from warpbound.analysis.block_schedule import scheduled_s

    start_s = work.whole.parts.get("start", 0.0) / launch.clock_hz
    places = int(launch.active_sms * max(1.0, float(int(launch.blocks_per_sm))))
    gap_s = float(fitted_parameters(launch.gpu).values.launch_gap)
    residences = [typical.residence_s]
    if work.longest is not None:
        residences.append(predict_launch(replace(launch, work=work.longest.work, blocks=1)).residence_s)
    mean_s, *longest_s = (max(0.0, each - start_s) for each in residences)
    return gap_s + scheduled_s(work.paths, start_s, mean_s, places, *longest_s)


def longest_block_s(case: Case, work: Work, prediction: LaunchPrediction | None) -> float | None:
    """Time of the longest block where it is most of the launch's; else None."""
    if prediction is None or work.longest is None or prediction.bottleneck != "latency":
        return None
    launch = launch_of(case, work)
    typical = predict_launch(launch)
    alone_s = predict_launch(replace(launch, work=work.longest.work, blocks=1)).residence_s
    flowing_s = typical.time_s * share_of_waves(work, typical, launch)
    return alone_s if alone_s > max(flowing_s, MOST * prediction.time_s) else None


def _with_idle(costs: dict[str, float], work: Work) -> dict[str, float]:
    """The launch with the starts of idle blocks, spread over the working ones."""
    if work.idle is None:
        return costs
    working = max(1, len(work.idle.working))
    return costs | {"launch": costs["launch"] * (working + work.idle.blocks) / working}


def idle_s(case: Case, work: Work, working_s: float, clock_hz: float, times: float = 1.0) -> float:
    """Time that idle blocks add: each is started, and holds its place on an SM until it ends.

    Blocks start in order, so a working block waits for all before it; those that work meanwhile cover the rest.
    working_s : of the launch without them. times : blocks of the grid over those of the launch, working or not.
    """
    if work.idle is None:
        return 0.0
    places = case.gpu.value("sm_count") * max(1.0, case.residency.fitting_blocks_per_sm)
    slower = case.gpu.value("boost_clock") / clock_hz
    start_s = slower * case.gpu.value("block_start")
    each_s = max(slower * float(fitted_parameters(case.gpu).values.block_interval), start_s / places)
    working = len(work.idle.working)
    blocks = distinct(np.linspace(0, working - 1, min(working, MOST_FOLLOWED)).astype(np.int64))
    all_s = times * each_s * (work.idle.blocks + working)
    begins = times * each_s * work.idle.working[blocks] + working_s * (1.0 - blocks / working)
    return max(0.0, float(begins.max(initial=0.0)) - working_s, all_s + start_s - working_s)


def longest_warp_s(work: Work, clock_hz: float) -> float:
    """Time of the launch's longest warp; where its path is not known, the typical one stretched to its instructions."""
    if work.longest is not None:
        return (work.longest.work.latency - work.longest.work.parts.get("start", 0.0)) / clock_hz
    return work.schedule.cycles * work.longest_warp / clock_hz


def _with_other_l2(edges: Interval, case: Case, launch: LaunchedWork) -> Interval:
    """Extended to the time if L2 kept nothing from the launch before; after an overwritten L2, to the time if it kept
    changed lines no longer than others."""
    if case.settings.cache not in IN_DOUBT:
        return edges
    changing, cause = IN_DOUBT[case.settings.cache]
    other = changing(launch.work, case.gpu.value("l2_size"))
    return edges if other is None else edges.covering(predict_launch(replace(launch, work=other)), cause)


def _with_sampling(edges: Interval, work: Work, launch: LaunchedWork) -> Interval:
    """With the possible work and traffic of blocks outside the sample."""
    counts = (work.sample.sampling_error if work.sample else None) or 0.0
    traffic_differs = work.errors is not None and any(vars(work.errors).values())
    if not traffic_differs and not counts:
        return edges
    less, more = work.whole, work.whole
    if work.errors is not None:
        less, more = (interval.shifted(work.whole, work.errors, by) for by in (-1.0, 1.0))
    less_s, more_s = launch_seconds([replace(launch, work=each) for each in (less, more)])
    return edges.with_sampling(less_s / (1 + counts), more_s * (1 + counts))


def held_clock_seconds(case: Case, work: Work, launch: LaunchedWork) -> HeldSeconds | None:
    """Times at the highest and the lowest clock that the board may hold by its power, None for one that it holds.

    None where its power is not known, or does not decide the clock.
    """
    if case.held_clock is None:
        return None
    clocks = case.held_clock.fast_hz, case.held_clock.slow_hz
    fast, slow = (None if clock_hz == case.clock_hz else _at(clock_hz, work, launch) for clock_hz in clocks)
    return fast, slow


def _with_sagged_clock(edges: Interval, case: Case, work: Work, launch: LaunchedWork) -> Interval:
    """Extended to the time at the clock that a loaded board may fall to, if its power is not known."""
    sagged_hz = None if case.held_clock else interval.clock_under_load(case.clock_word, case.clock_hz)
    return edges if sagged_hz is None else edges.with_slower(_at(sagged_hz, work, launch), CLOCK_UNDER_LOAD)


def _at(clock_hz: float, work: Work, launch: LaunchedWork) -> float:
    """Time of the launch at another clock, s."""
    return max(launch_seconds([replace(launch, clock_hz=clock_hz)])[0], longest_warp_s(work, clock_hz))


def times_of(case: Case, work: Work, changed: Sequence[tuple[Workload, Place]]) -> list[float]:
    """Times of launches of changed work, or at another place, each with as many blocks as its warps make.

    Where blocks differ, the longest of them keep their share of the path: a launch that they bound stays bound by them.
    Of blocks of another size, only the longest warp is known.
    """
    own = warps_per_block(case)
    times_s = launch_seconds([_launch_at(each, place, place.warps_per_block or own) for each, place in changed])
    if case.blocks is not None and work.paths is not None and work.paths.uneven:
        launch = launch_of(case, work)
        blocks_s, warp_s = longest_s_of(work, predict_launch(launch), launch), longest_warp_s(work, launch.clock_hz)
        paths_s = [(warp_s if place.warps_per_block else blocks_s) * _path_over(work.whole, case, each, place)
                   for each, place in changed]  # fmt: skip
        times_s = [max(pair) for pair in zip(times_s, paths_s, strict=True)]
    return [
        time_s + idle_s(case, work, time_s, place.clock_hz, (each.warps or 0.0) / (work.whole.warps or 1.0))
        for time_s, (each, place) in zip(times_s, changed, strict=True)
    ]


def times_of_longest(case: Case, work: Work, changed: Sequence[tuple[Workload, Place]]) -> list[float]:
    """Times of a launch that its longest block sets, whose longest warp does changed work, or elsewhere."""
    assert work.longest is not None
    launch = launch_of(case, work)
    typical = predict_launch(launch)
    longest_s, flowing_s = longest_s_of(work, typical, launch), typical.time_s * share_of_waves(work, typical, launch)
    return [max(flowing_s, longest_s * _path_over(work.longest.work, case, *each)) for each in changed]


def _path_over(before: Workload, case: Case, work: Workload, place: Place) -> float:
    """Time of a warp's path over that of the path before."""
    return work.latency / place.clock_hz / (before.latency / case.clock_hz)


def _launch_at(work: Workload, place: Place, warps: int) -> LaunchedWork:
    blocks = max(1, math.ceil((work.warps or 0.0) / warps - WHOLE))
    return LaunchedWork(work, place.gpu, place.clock_hz, blocks, max(1.0, place.warps_per_sm / warps), warps)


def warps_per_block(case: Case) -> int:
    """Whole warps of a block."""
    return -(-case.threads_per_block // WARP)


def at_predicted_rate(case: Case, bounds: Prediction, prediction: LaunchPrediction) -> Prediction:
    """The bounds with the costs of the flow balance: cycles per warp of each resource, its use at the balanced rate."""
    warps = warps_per_block(case)
    per_cycle = prediction.rate * warps / case.clock_hz  # warps per cycle and SM while the SMs are full
    cycles = {name: cost * case.clock_hz / warps for name, cost in prediction.costs.items() if cost > 0}
    busiest = max((cost for name, cost in cycles.items() if name not in ("latency", "launch")), default=float("inf"))
    return replace(
        bounds,
        cycles=cycles,
        utilization={name: min(1.0, busy * per_cycle) for name, busy in cycles.items()},
        bottleneck=prediction.bottleneck,
        runner_up=prediction.runner_up,
        warps_needed=case.residency.warps_per_sm * cycles["latency"] / busiest,
    )


def merged(costs: Mapping[str, float]) -> dict[str, float]:
    """Costs by resource of the report: block starts belong to launch, updates of one address and crossings to L2."""
    rows = dict(costs)
    for queue, resource in RESOURCE_OF.items():
        rows[resource] = max(rows.get(resource, 0.0), rows.pop(queue, 0.0))
    return rows


def merged_arrays(costs: Mapping[str, Array]) -> dict[str, Array]:
    """The same of arrays of costs."""
    rows = dict(costs)
    for queue, resource in RESOURCE_OF.items():
        rows[resource] = np.maximum(rows.get(resource, 0.0), rows.pop(queue, 0.0))
    return rows


def stalls(prediction: LaunchPrediction, clock_hz: float) -> list[Stall]:
    """Stall reasons of a warp's slot, the longest first; shares add up to 1 but for those below WORTH."""
    total = sum(prediction.stalls.values())
    rows = sorted(prediction.stalls.items(), key=lambda item: -item[1])
    return [
        Stall(reason, seconds * clock_hz, seconds / total)
        for reason, seconds in rows
        if seconds >= interval.WORTH * total
    ]
