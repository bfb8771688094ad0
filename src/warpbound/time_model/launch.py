"""The time of one launch on one GPU, with an interval and what bounds it.

Source   design of this package: residence of a block, flow balance, waves; docs/model-notes/flow-balance.md
Models   see residence, stations, dram, balance and waves.
Omits    what a Workload does not hold: skew between SMs, power limits, contention of other launches.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model import waves
from warpbound.time_model.block_residence import Block, in_step, lead, residence, taking_turns, without_pipes
from warpbound.time_model.flow_balance import Balance, Flow, balance
from warpbound.time_model.launched_work import ActiveWork, LaunchedWork
from warpbound.time_model.parameter_uncertainty import uncertainties, varied
from warpbound.time_model.parameters import Parameters, fitted_parameters
from warpbound.time_model.queue_demands import SUB_CORE, block, busy_with_all_blocks, flow, others, tightest
from warpbound.time_model.stall_reasons import stalls

INTERVAL = 1.28     # standard deviations of an 80 % interval
Flows = Callable[[ActiveWork, Parameters, Real, Block], Flow]


@dataclass(frozen=True)
class LaunchPrediction:
    """One launch.

    time_s : the launch gap included. interval : 80 %, by the spreads of the parameters alone.
    rate : blocks per second and active SM while SMs are full. waiting : resource -> s per block. utilization :
    resource -> share of its time while SMs are full. costs : resource -> s per block and SM, `latency` divided by
    the population, `launch` spread over the blocks; the largest is the bottleneck, the next the runner-up.
    residence_s : of one block with the GPU to itself. apart_s : the time if warps and blocks of an SM drifted apart.
    stalls : reason -> s of one warp from the start of its block to the start of the next in its place. doubts :
    parameter -> s that its spread makes. assumed : parameters taken from other GPUs.
    """

    time_s: float
    interval: tuple[float, float]
    rate: float
    waiting: dict[str, float]
    utilization: dict[str, float]
    costs: dict[str, float]
    bottleneck: str
    runner_up: str
    residence_s: float
    apart_s: float
    stalls: dict[str, float]
    doubts: dict[str, float]
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class Steady:
    """SMs at one population: a block alone, the flow, its balance, the block's residence and lead, s."""

    lone_block: Block
    flow: Flow
    balance: Balance
    residence: NDArray[np.float64]
    lead: NDArray[np.float64]


def predict_launch(x: LaunchedWork) -> LaunchPrediction:
    """Time of a launch; InputError where no block runs or the work is not that of a warp."""
    active, parameters = x.active_work(), fitted_parameters(x.gpu)
    values = varied(parameters, x.gpu)
    full = steady(active, values, x.population)
    times = launch_time(active, values, full, x.blocks_per_active_sm)
    costs = resource_costs(full, values, x.blocks_per_active_sm)
    doubts = uncertainties(times)
    reasons = stalls(active, full.lone_block, tightest(active, values), full.balance, full.flow.population)
    together = _first(full.flow.in_step) > _first(full.residence)
    apart_s = min(_first(times), _apart_s(x, parameters.values)) if together else _first(times)
    return _prediction((times, apart_s), full, costs, (doubts, reasons), parameters.assumed)


def _apart_s(x: LaunchedWork, values: Parameters) -> float:
    """Time of a launch whose warps take no turns and whose blocks are not in step, s."""
    active = x.active_work()
    full = steady(active, values, x.population, flows=flow_out_of_step)
    return float(launch_time(active, values, full, x.blocks_per_active_sm, flow_out_of_step))


def flow_out_of_step(x: ActiveWork, values: Parameters, population: Real, block: Block) -> Flow:
    """The flow of `population` blocks such as `block` on each active SM, each at its own point of the work."""
    return flow(x, values, population, residence(block))


def flow_in_step(x: ActiveWork, values: Parameters, population: Real, block: Block) -> Flow:
    """The same for blocks that stay in step, and for warps that take turns."""
    flowing = flow_out_of_step(x, values, population, block)
    pipes = [np.multiply(population, queue.demand) for name, queue in flowing.queues.items() if name in SUB_CORE]
    turns = taking_turns(block, np.maximum.reduce(np.broadcast_arrays(0.0, *pipes)))
    together = in_step(block, busy_with_all_blocks(x, values, population), others(x, population))
    return replace(flowing, in_step=np.maximum(together, turns))


def steady(
    x: ActiveWork, values: Parameters, population: Real, alone: Block | None = None, flows: Flows = flow_in_step
) -> Steady:
    """`population` blocks on each active SM, replaced as they end; alone : a block alone, if it is known."""
    alone = block(x, values) if alone is None else alone
    flowing = flows(x, values, population, alone)
    return Steady(alone, flowing, balance(flowing), residence(alone), lead(alone))


def launch_time(
    x: ActiveWork, values: Parameters, full: Steady, per_sm: Real, flows: Flows = flow_in_step
) -> NDArray[np.float64]:
    """Launch gap and waves of `per_sm` blocks on each active SM, s."""
    passes = waves.split(per_sm, full.flow.population)
    last = steady(last_wave(x, passes.rest), values, np.maximum(passes.rest, 1.0), full.lone_block, flows)
    return np.asarray(values.launch_gap + waves.duration(passes, _pace(full), _pace(last)))


def _pace(x: Steady) -> waves.Pace:
    busiest = np.maximum.reduce(np.broadcast_arrays(*x.balance.utilization.values()))
    return waves.Pace(x.balance.rate, x.lead, busiest)


def last_wave(x: ActiveWork, rest: Real) -> ActiveWork:
    """SMs that still have blocks; below one block per SM, so many fewer SMs with one."""
    busy_sms = np.multiply(x.active_sms, np.where(np.greater(rest, 0), np.minimum(rest, 1.0), 1.0))
    return x if np.array_equal(busy_sms, x.active_sms) else replace(x, active_sms=busy_sms)  # what is known of x stays


def resource_costs(full: Steady, values: Parameters, per_sm: float) -> dict[str, float]:
    """Resource -> s per block and SM of the unvaried parameters, as in LaunchPrediction."""
    costs = {name: _first(queue.demand) for name, queue in full.flow.queues.items()}
    one_warp = without_pipes(full.lone_block)  # time of the block's other warps on a resource is no latency
    costs["latency"] = _first(residence(one_warp)) / _first(full.flow.population)
    costs["launch"] = _first(values.launch_gap) / per_sm
    return costs


def _prediction(
    both: tuple[NDArray[np.float64], float],
    full: Steady,
    costs: dict[str, float],
    parts: tuple[dict[str, float], dict[str, float]],
    assumed: tuple[str, ...],
) -> LaunchPrediction:
    times, apart_s = both
    time_s = float(times[0])
    order = sorted(costs, key=lambda name: -costs[name])
    stretch = float(np.exp(INTERVAL * np.hypot.reduce(list(parts[0].values())) / time_s))
    return LaunchPrediction(
        time_s=time_s,
        interval=(time_s / stretch, time_s * stretch),
        rate=_first(full.balance.rate),
        waiting={name: _first(wait) for name, wait in full.balance.waiting.items()},
        utilization={name: _first(share) for name, share in full.balance.utilization.items()},
        costs=costs,
        bottleneck=order[0],
        runner_up=order[1],
        residence_s=_first(full.residence),
        apart_s=apart_s,
        stalls=parts[1],
        doubts=parts[0],
        assumed=assumed,
    )


def _first(values: Real) -> float:
    """The unvaried one of values evaluated at `varied` parameters."""
    return float(np.ravel(values)[0])
