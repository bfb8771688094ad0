"""The clock that a board holds while a launch repeats, and the clocks at other power limits."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.case import Case
from warpbound.analysis.settings import SUSTAINED
from warpbound.analysis.static import Work
from warpbound.analysis.timing import idle_s, launch_of, longest_warp_s
from warpbound.distinct_values import among
from warpbound.errors import InputError
from warpbound.latency import memory_latency
from warpbound.power import activity, clock_steps, held, least_energy, operation_at, watts
from warpbound.power.sustained_clock import Operation
from warpbound.result.kernel import ClockLimiter, ClockSource
from warpbound.result.what_if import WhatIf
from warpbound.time_model import LaunchPrediction
from warpbound.time_model.batch import launch_seconds
from warpbound.whatif.alternative import without
from warpbound.workload import Workload

Array = NDArray[np.float64]
LOWER_LIMIT = 0.75   # share of the power limit that the what-if of a lower limit uses
ROUND_W = 10.0       # the lower limit is rounded to this
POINTS = 8           # clocks at which the time is predicted in any case
LESS_ENERGY = 0.02   # share of the energy that a lower clock must save to be named
NO_LIMIT = "{name} has no power parameters: which clock it holds within {watts:g} W is not known."


def settled(case: Case, work: Work, again: Callable[[Case, Work], Work]) -> tuple[Case, Work]:
    """The case at the clock that its board holds under this load, and the work at that clock.

    again : the work of a case whose clock has changed. Both are as before where the clock is given, the board's power
    is not known, or the launch has no time. Raises InputError where a limit is asked for that cannot be judged.
    """
    limit = case.settings.power_limit_W
    if case.power is None and limit is not None:
        reason = NO_LIMIT.format(name=case.gpu.name, watts=limit)
        raise InputError(reason, "Leave --power-limit out, or give the board's parameters (docs/add-a-gpu.md).")
    if case.settings.clock != SUSTAINED or case.power is None or not has_time(case, work):
        return case, work
    clocks = clock_steps(case.power)
    power, x, limit = case.power, activity(work.whole), limit_W(case)

    def clocks_hz(seconds: Array) -> list[float]:
        clock = held(power, x, clocks, seconds, limit)
        return [clock.operation.clock_hz, clock.slow_hz, clock.fast_hz]

    clock = held(power, x, clocks, seconds_where(clocks_hz, case, work, clocks), limit)
    at_rest = replace(case, held_clock=clock)
    return at_rest, work if at_rest.clock_hz == case.clock_hz else again(at_rest, work)


def has_time(case: Case, work: Work) -> bool:
    """Whether the launch has a time."""
    return case.blocks is not None and work.whole.warps is not None


def limit_W(case: Case) -> float:
    """The limit that holds: the one asked for, else the board's."""
    assert case.power is not None
    return case.power.tdp if case.settings.power_limit_W is None else case.settings.power_limit_W


def seconds_where(clocks_of: Callable[[Array], list[float]], case: Case, work: Work, clocks: Array) -> Array:
    """Time of the launch at each of falling clocks, s, (clocks,): exact where it is asked for, near elsewhere.

    clocks_of : the clocks that matter if these are the times. They and the next ones on both sides are predicted until
    the set no longer changes; times between predicted clocks are linear in 1/clock.
    """
    last = len(clocks) - 1
    time_at: dict[int, float] = {}
    places = {round(place) for place in np.linspace(0, last, POINTS)}
    while new := sorted(places - time_at.keys()):
        time_at |= zip(new, seconds_at(case, work, clocks[new]).tolist(), strict=True)
        tried_clocks = sorted(time_at)
        seconds = np.interp(1 / clocks, 1 / clocks[tried_clocks], [time_at[place] for place in tried_clocks])
        matter = np.flatnonzero(among(clocks, clocks_of(seconds))).tolist()
        places = {min(last, max(0, place + by)) for place in matter for by in (-1, 0, 1)}
    return np.asarray(seconds)


def seconds_at(case: Case, work: Work, clocks: Array) -> Array:
    """Time of the launch at each clock, s, (clocks,)."""
    launches = [
        replace(launch_of(case, work), work=at_clock(work.whole, case, clock_hz), clock_hz=float(clock_hz))
        for clock_hz in clocks
    ]
    longest = np.array([longest_warp_s(work, float(clock_hz)) for clock_hz in clocks])
    working = np.maximum(launch_seconds(launches), longest)
    pairs = zip(working.tolist(), clocks.tolist(), strict=True)
    return np.asarray([each_s + idle_s(case, work, each_s, clock_hz) for each_s, clock_hz in pairs])


def at_clock(work: Workload, case: Case, clock_hz: float) -> Workload:
    """The work of a warp in cycles of another clock: what lies beyond the SM keeps its time."""
    now, then = memory_latency(case.gpu, case.clock_hz), memory_latency(case.gpu, float(clock_hz))
    longer = {level: then.at(level) / now.at(level) for level in ("l2", "dram")}
    return without(work, longer | {"start": clock_hz / case.clock_hz})


def drawn_watts(case: Case, work: Work, prediction: LaunchPrediction | None) -> float | None:
    """Mean power while the launch repeats, W; None where it has no time or the board's power is not known."""
    if case.power is None or prediction is None:
        return None
    return float(watts(case.power, activity(work.whole), prediction.time_s, case.clock_hz))


def limiter(case: Case, prediction: LaunchPrediction | None) -> ClockLimiter | None:
    """What limits the clock: power, the board's highest step, or the user."""
    if case.held_clock is not None:
        return case.held_clock.operation.limiter
    return "given" if case.settings.clock != SUSTAINED else "step" if prediction is not None else None


def source(case: Case) -> ClockSource:
    """Where the clock comes from, as `clock_source` has it."""
    if case.held_clock is not None:
        return "sustained"
    match case.clock_word:
        case "base" | "boost" as word:
            return word
        case _:
            return "given"


def power_whatifs(case: Case, work: Work, prediction: LaunchPrediction | None) -> Iterator[WhatIf]:
    """Another limit of power, and the clock at which the launch takes the least energy."""
    if case.held_clock is None or case.power is None or prediction is None:
        return
    power, clocks, x, limit = case.power, clock_steps(case.power), activity(work.whole), limit_W(case)
    lower = float(np.floor(LOWER_LIMIT * limit / ROUND_W) * ROUND_W)

    def operations(seconds: Array) -> list[Operation]:
        limits = (limit, float("inf"), lower)
        return [operation_at(power, x, clocks, seconds, each) for each in limits] + [
            least_energy(power, x, clocks, seconds)
        ]

    seconds = seconds_where(lambda times: [operation.clock_hz for operation in operations(times)], case, work, clocks)
    now, free, less, best = operations(seconds)
    if now.limiter == "power":
        why = f"the board holds {free.clock_hz / 1e6:.0f} MHz instead of {now.clock_hz / 1e6:.0f}"
        need_watts = np.ceil(free.watts / ROUND_W) * ROUND_W
        yield WhatIf(f"a power limit of {need_watts:.0f} W", now.seconds / free.seconds, why)
    if less.clock_hz < now.clock_hz:
        why = f"the clock falls to {less.clock_hz / 1e6:.0f} MHz; {_change(less.joules / now.joules, 'energy')}"
        yield WhatIf(f"a power limit of {lower:.0f} W", now.seconds / less.seconds, why)
    if best.joules < (1.0 - LESS_ENERGY) * now.joules:
        why = f"{_change(best.joules / now.joules, 'energy')}, {_change(best.seconds / now.seconds, 'time')}"
        yield WhatIf(f"the clock of least energy, {best.clock_hz / 1e6:.0f} MHz", now.seconds / best.seconds, why)


def _change(ratio: float, quantity: str) -> str:
    """A change in words."""
    return f"{abs(100 * (ratio - 1.0)):.0f} % {'less' if ratio < 1 else 'more'} {quantity}"
