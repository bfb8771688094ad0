"""One launch at many values of a board's parameters: arrays in place of numbers, one flow balance for all.

Models   as `launch`: the same equations on arrays.
"""

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.block_residence import residence, without_pipes
from warpbound.time_model.launch import launch_time, steady
from warpbound.time_model.launched_work import LaunchedWork
from warpbound.time_model.parameters import Parameters
from warpbound.time_model.queue_demands import QUEUES, l1_serves

Array = NDArray[np.float64]
AT_ONCE = 8192  # points: fewer cost more calls, more do not stay in a processor's cache


@dataclass(frozen=True)
class Grid:
    """time_s : of the launch, (points,). costs : resource -> s per block and SM, as in LaunchPrediction, (points,)."""

    time_s: Array
    costs: dict[str, Array]


def predict_grid(x: LaunchedWork, values: Parameters, points: int) -> Grid:
    """The launch at each point; fields of `values` are numbers or arrays, (points,)."""
    names = (*QUEUES, "latency", "launch")
    whole = Grid(np.empty(points), {name: np.zeros(points) for name in names})
    for first in range(0, points, AT_ONCE):
        some = np.arange(first, min(first + AT_ONCE, points))
        order = np.broadcast_to(l1_serves(x.active_work(), _at(values, some), x.population), some.shape)
        for part in (some[order], some[~order]):  # queues take the same form at all points of a part
            if len(part):
                _fill(whole, part, x, _at(values, part))
    return whole


def _fill(whole: Grid, part: NDArray[np.int64], x: LaunchedWork, values: Parameters) -> None:
    active = x.active_work()
    full = steady(active, values, x.population)
    whole.time_s[part] = launch_time(active, values, full, x.blocks_per_active_sm)
    for name, queue in full.flow.queues.items():
        whole.costs[name][part] = queue.demand
    whole.costs["latency"][part] = residence(without_pipes(full.lone_block)) / full.flow.population
    whole.costs["launch"][part] = np.divide(values.launch_gap, x.blocks_per_active_sm)


def _at(values: Parameters, part: NDArray[np.int64]) -> Parameters:
    def at_part(value: Real) -> Real:
        return np.asarray(value)[part] if np.ndim(value) else value

    return replace(values, **{field.name: at_part(getattr(values, field.name)) for field in fields(Parameters)})
