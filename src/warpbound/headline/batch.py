"""The times of many launches at once, such as all what-ifs of one kernel: one balance serves them all.

Models   as `launch`, at the parameters as they are, without interval: the same numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.headline import timing
from warpbound.headline.block_residence import Block, lead, residence
from warpbound.headline.flow_balance import Flow, Queue, Space, balance
from warpbound.headline.launch import Resident, last_wave, launched
from warpbound.headline.parameters import Parameters, fitted_parameters
from warpbound.headline.queue_demands import QUEUES, block, flow
from warpbound.machine import Gpu
from warpbound.workload import Workload

Array = NDArray[np.float64]
NO_SPACE = Space(room=np.inf, taken=0.0, held=0.0, behind="")


@dataclass(frozen=True)
class Asked:
    """One launch; each field is one fact of it, as of `predict_launch`."""

    work: Workload
    gpu: Gpu
    residency: Resident
    blocks: int
    warps_per_block: int
    clock_hz: float


@dataclass(frozen=True)
class _Begun:
    """A launch before the balance: a block alone, full SMs and those of the last wave."""

    values: Parameters
    one: Block
    full: Flow
    last: Flow
    passes: timing.Waves


def launch_seconds(asked: Sequence[Asked]) -> list[float]:
    """`time_s` of `predict_launch` for each launch; InputError where one is none."""
    if not asked:
        return []
    boards = {id(each.gpu): each.gpu for each in asked}
    values = {key: fitted_parameters(board).values for key, board in boards.items()}
    begun = [_begun(each, values[id(each.gpu)]) for each in asked]
    joint = side_by_side([one.full for one in begun] + [one.last for one in begun])
    found, count = balance(joint), len(asked)
    busiest = np.maximum.reduce(list(found.utilization.values()))
    leads = _values([lead(one.one) for one in begun])
    full, last = (timing.Pace(found.rate[part], leads, busiest[part]) for part in (slice(count), slice(count, None)))
    passes = timing.Waves(*(_values([getattr(one.passes, name) for one in begun])
                            for name in ("full", "rest", "population")))  # fmt: skip
    gaps = _values([one.values.launch_gap for one in begun])
    return [float(time) for time in gaps + timing.duration(passes, full, last)]


def side_by_side(flows: Sequence[Flow]) -> Flow:
    """Flows of single numbers as one flow of arrays, (flows,); what one of them does not use costs it nothing.

    Queues keep the order of QUEUES, in which their waiting adds up.
    """
    unused = Queue(0.0)
    queues = {}
    for name in QUEUES:
        own = [one.queues.get(name, unused) for one in flows]
        if any(one is not unused for one in own):
            queues[name] = Queue(
                *(_values([getattr(one, field) for one in own]) for field in ("demand", "wait", "met"))
            )
    spaces = {}
    for name in dict.fromkeys(name for one in flows for name in one.spaces):
        behind = next(one.spaces[name].behind for one in flows if name in one.spaces)
        room = [one.spaces.get(name, NO_SPACE) for one in flows]
        parts = {field: _values([getattr(one, field) for one in room]) for field in ("room", "taken", "held", "times")}
        spaces[name] = Space(behind=behind, **parts)
    return Flow(_values([one.population for one in flows]), _values([one.residence for one in flows]), queues, spaces)


def _begun(asked: Asked, values: Parameters) -> _Begun:
    held = asked.residency
    x, per_sm = launched(asked.work, asked.gpu, held, asked.blocks, asked.warps_per_block, asked.clock_hz)
    one = block(x, values)
    alone = residence(one)
    population = min(float(held.fitting_blocks_per_sm), per_sm)
    passes = timing.waves(per_sm, population)
    last = flow(last_wave(x, passes.rest), values, np.maximum(passes.rest, 1.0), alone)
    return _Begun(values, one, flow(x, values, population, alone), last, passes)


def _values(numbers: Sequence[Real]) -> Array:
    return np.array([float(each) for each in numbers])
