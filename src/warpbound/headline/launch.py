"""The time of one launch on one GPU, with an interval and what bounds it.

Source   design of this package: residence of a block, flow balance, waves; docs/model-notes/flow-balance.md
Models   see residence, stations, dram, balance and timing.
Omits    anything that a Workload does not say: skew between SMs, power limits, contention of other launches.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.errors import InputError
from warpbound.headline import timing
from warpbound.headline.block_residence import Block, lead, residence, without_pipes
from warpbound.headline.flow_balance import Balance, Flow, balance
from warpbound.headline.parameter_uncertainty import uncertainties, varied
from warpbound.headline.parameters import Parameters, fitted_parameters
from warpbound.headline.queue_demands import Launched, block, flow, tightest
from warpbound.headline.stall_reasons import stalls
from warpbound.machine import Gpu
from warpbound.workload import Workload

INTERVAL = 1.28     # standard deviations of an 80 % interval


class Resident(Protocol):
    """The one fact needed of a Residency."""

    @property
    def fitting_blocks_per_sm(self) -> float:
        """Blocks that one SM can hold."""


@dataclass(frozen=True)
class LaunchPrediction:
    """One launch.

    time_s : the launch gap included. interval : 80 %, by the spreads of the parameters alone.
    rate : blocks per second and active SM while SMs are full. waiting : resource -> s per block. utilization :
    resource -> share of its time while SMs are full. costs : resource -> s per block and SM, `latency` divided by
    the population, `launch` spread over the blocks; the largest is the bottleneck, the next the runner-up.
    residence_s : of one block with the GPU to itself. stalls : reason -> s of one warp from the start of its block to
    the start of the next in its place. doubts : parameter -> s that its spread makes.
    assumed : parameters taken from other GPUs.
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
    stalls: dict[str, float]
    doubts: dict[str, float]
    assumed: tuple[str, ...]


@dataclass(frozen=True)
class Steady:
    """SMs at one population: a block alone, the flow, its balance, the block's residence and lead, s."""

    one: Block
    flow: Flow
    balance: Balance
    residence: NDArray[np.float64]
    lead: NDArray[np.float64]


def predict_launch(  # noqa: PLR0913  (each is one fact of the launch)
    work: Workload, gpu: Gpu, residency: Resident, blocks: int, warps_per_block: int, clock_hz: float
) -> LaunchPrediction:
    """Time of a launch of `blocks` blocks of `work.unit` "warp"; InputError for anything else."""
    x, per_sm = launched(work, gpu, residency, blocks, warps_per_block, clock_hz)
    found = fitted_parameters(gpu)
    values = varied(found, gpu)
    full = steady(x, values, min(float(residency.fitting_blocks_per_sm), per_sm))
    times = launch_time(x, values, full, per_sm)
    costs = resource_costs(full, values, per_sm)
    doubts = uncertainties(times)
    lost = stalls(work, full.one, tightest(x, values), full.balance, full.flow.population)
    return _prediction(times, full, costs, (doubts, lost), found.assumed)


def launched(  # noqa: PLR0913  (each is one fact of the launch)
    work: Workload, gpu: Gpu, residency: Resident, blocks: int, warps_per_block: int, clock_hz: float
) -> tuple[Launched, float]:
    """The launch as the stations need it, and its blocks per active SM; InputError where it is none."""
    if work.unit != "warp":
        raise InputError(f"{work.title} is one {work.unit}, not a warp.", "Give the work of whole warps.")
    if residency.fitting_blocks_per_sm < 1 or blocks < 1 or warps_per_block < 1:
        raise InputError("No block runs.", "At least one block of one warp must fit on an SM.")
    active = min(gpu.value("sm_count"), float(blocks))
    return Launched(work, gpu, clock_hz, float(warps_per_block), active), blocks / active


def steady(x: Launched, values: Parameters, population: Real, one: Block | None = None) -> Steady:
    """`population` blocks on each active SM, replaced as they end; `one` : a block alone, where it is known."""
    one = block(x, values) if one is None else one
    circulating = flow(x, values, population, residence(one))
    return Steady(one, circulating, balance(circulating), residence(one), lead(one))


def launch_time(x: Launched, values: Parameters, full: Steady, per_sm: Real) -> NDArray[np.float64]:
    """Launch gap and waves of `per_sm` blocks on each active SM, s."""
    passes = timing.waves(per_sm, full.flow.population)
    last = steady(last_wave(x, passes.rest), values, np.maximum(passes.rest, 1.0), full.one)
    return np.asarray(values.launch_gap + timing.duration(passes, _pace(full), _pace(last)))


def _pace(x: Steady) -> timing.Pace:
    busiest = np.maximum.reduce(np.broadcast_arrays(*x.balance.utilization.values()))
    return timing.Pace(x.balance.rate, x.lead, busiest)


def last_wave(x: Launched, rest: Real) -> Launched:
    """SMs that still have blocks; below one block per SM, so many fewer SMs with one."""
    busy_sms = np.multiply(x.active_sms, np.where(np.greater(rest, 0), np.minimum(rest, 1.0), 1.0))
    return replace(x, active_sms=busy_sms)


def resource_costs(full: Steady, values: Parameters, per_sm: float) -> dict[str, float]:
    """Resource -> s per block and SM of the unvaried parameters, as in LaunchPrediction."""
    costs = {name: _first(queue.demand) for name, queue in full.flow.queues.items()}
    one_warp = without_pipes(full.one)  # what its block's other warps keep busy is the resource's, not latency
    costs["latency"] = _first(residence(one_warp)) / _first(full.flow.population)
    costs["launch"] = _first(values.launch_gap) / per_sm
    return costs


def _prediction(
    times: NDArray[np.float64],
    full: Steady,
    costs: dict[str, float],
    parts: tuple[dict[str, float], dict[str, float]],
    assumed: tuple[str, ...],
) -> LaunchPrediction:
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
        stalls=parts[1],
        doubts=parts[0],
        assumed=assumed,
    )


def _first(values: Real) -> float:
    """The unvaried one of values evaluated at `varied` parameters."""
    return float(np.ravel(values)[0])
