"""The times of many launches at once, such as all what-ifs of one kernel, from one flow balance.

Models   as `launch`, with unvaried parameters and without interval: the same numbers.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model import waves
from warpbound.time_model.block_residence import Block, lead
from warpbound.time_model.flow_balance import Flow, Queue, Space, balance
from warpbound.time_model.launch import flow_in_step, last_wave
from warpbound.time_model.launched_work import LaunchedWork
from warpbound.time_model.parameters import Parameters, fitted_parameters
from warpbound.time_model.queue_demands import QUEUES, block

Array = NDArray[np.float64]
UNUSED = Queue(0.0)
NO_SPACE = Space(room=np.inf, per_block=0.0, hold=0.0, behind="")


@dataclass(frozen=True)
class _LaunchFlows:
    """A launch before the balance: a block alone, full SMs and those of the last wave."""

    values: Parameters
    one_block: Block
    full: Flow
    last: Flow
    passes: waves.Waves


def launch_seconds(launches: Sequence[LaunchedWork]) -> list[float]:
    """`time_s` of `predict_launch` for each launch; InputError where no block of one runs."""
    if not launches:
        return []
    boards = {id(launch.gpu): launch.gpu for launch in launches}
    values = {key: fitted_parameters(board).values for key, board in boards.items()}
    flows = [_flows(launch, values[id(launch.gpu)]) for launch in launches]
    joint = balance(side_by_side([x.full for x in flows] + [x.last for x in flows]))
    busiest = np.maximum.reduce(list(joint.utilization.values()))
    leads, count = _values([lead(x.one_block) for x in flows]), len(launches)
    full, last = (waves.Pace(joint.rate[part], leads, busiest[part]) for part in (slice(count), slice(count, None)))
    passes = waves.Waves(*_columns([x.passes for x in flows], ("full", "rest", "population")))
    gaps = _values([x.values.launch_gap for x in flows])
    return [float(time) for time in gaps + waves.duration(passes, full, last)]


def side_by_side(flows: Sequence[Flow]) -> Flow:
    """Several flows as one flow of arrays, (flows,); a resource that a flow does not use costs it nothing.

    Queues keep the order of QUEUES, in which their waiting adds up.
    """
    queues = {}
    for name in QUEUES:
        if any(name in x.queues for x in flows):
            own = [x.queues.get(name, UNUSED) for x in flows]
            queues[name] = Queue(*_columns(own, ("demand", "wait", "newcomers")))
    spaces = {}
    for name in dict.fromkeys(name for x in flows for name in x.spaces):
        behind = next(x.spaces[name].behind for x in flows if name in x.spaces)
        room = [x.spaces.get(name, NO_SPACE) for x in flows]
        fits, start_round, hold, times = _columns(room, ("room", "per_block", "hold", "times"))
        spaces[name] = Space(fits, start_round, hold, behind, times)
    population, alone, together = _columns(flows, ("population", "residence", "in_step"))
    return Flow(population, alone, queues, spaces, together)


def _flows(x: LaunchedWork, values: Parameters) -> _LaunchFlows:
    active = x.active_work()
    one_block = block(active, values)
    passes = waves.split(x.blocks_per_active_sm, x.population)
    last = flow_in_step(last_wave(active, passes.rest), values, np.maximum(passes.rest, 1.0), one_block)
    return _LaunchFlows(values, one_block, flow_in_step(active, values, x.population, one_block), last, passes)


def _values(numbers: Sequence[Real]) -> Array:
    return np.array([float(each) for each in numbers])


def _columns(records: Sequence[object], names: Sequence[str]) -> list[Array]:
    """Each named field of the records as an array."""
    return [_values([getattr(record, name) for record in records]) for name in names]
