"""Rate and time of a unit of work on a GPU: the tightest of Volkov's bounds, plus the launch cost.

Source   V. Volkov, EECS-2016-143, sections 3.6 and 3.7.
Models   warps / latency against the tightest resource; the launch cost added; SMs that get no block stay idle
         and leave their share of L2 and DRAM to the others; no more warps are resident than the launch has; code that
         is fetched once for all warps of a sub-core (ours).
Omits    waiting below saturation, the last warp of a block, the drain at the end: real launches are slower.
         `slowest_s` assumes that latency and the time of the tightest resource do not overlap at all.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real
from warpbound.machine import Gpu
from warpbound.model_inputs import volkov_2016 as adapted
from warpbound.model_inputs.resources import demand, fetching
from warpbound.models import volkov_2016
from warpbound.quick_dataclasses import dataclass
from warpbound.workload import Workload
from warpbound.workload.files.lanes import FETCH

CHIP = ("l2", "dram")  # resources that the SMs share
NOTE = "time is the tightest of Volkov's bounds plus the launch cost: no waiting short of saturation, no tail"


@dataclass(frozen=True)
class Place:
    """Where work runs: the GPU, its clock in Hz, resident warps per SM, SMs that have work (see `active_sms`).

    warps_per_block : of blocks of another size than the launch's; None: of that size.
    """

    gpu: Gpu
    clock_hz: float
    warps_per_sm: float
    active_sms: float
    warps_per_block: int | None = None


def active_sms(blocks: int, sm_count: float) -> float:
    """SMs that have work, counted by how busy they are: blocks over those of the busiest SM.

    A grid of 132 blocks on 128 SMs takes as long as two blocks on each of 66: 62 SMs sit idle half of the time.
    """
    return blocks / math.ceil(blocks / sm_count)


@dataclass(frozen=True)
class Prediction:
    """What bounds one unit of work.

    rate : units per cycle and active SM. cycles : resource -> SM cycles per unit, `latency` divided by the
    resident warps. utilization : fraction of each resource's time at that rate.
    bottleneck, runner_up : what takes most time, and next most; the launch itself counts where the whole grid is known.
    warps_needed : warps per SM at which the tightest resource would be saturated.
    time_s, slowest_s : of the whole launch; None where the number of warps is unknown.
    """

    rate: float
    bounds: Bounds
    cycles: dict[str, float]
    utilization: dict[str, float]
    bottleneck: str
    runner_up: str
    warps_needed: float
    time_s: float | None
    slowest_s: float | None


def predict(work: Workload, place: Place) -> Prediction:
    """Bounds, bottleneck and time of `work`; its warps are spread evenly over the active SMs."""
    warps = place.warps_per_sm
    if work.warps is not None:
        warps = min(warps, work.warps / place.active_sms)
    x = adapted.inputs(work, place.gpu, warps, place.clock_hz)
    x = replace(x, busy=_shared_by_active(x.busy, place) | _fetching(work, warps))
    limits = volkov_2016.predict(x)
    rate = float(limits.rate)
    cycles = {name: float(1.0 / limit) for name, limit in limits.limits.items()}
    costs = cycles | _launch(work, place)
    order = sorted(costs, key=lambda name: -costs[name])
    time_s, slowest_s = _times(work, place, x, rate)
    return Prediction(
        rate=rate,
        bounds=limits,
        cycles=cycles,
        utilization={name: min(1.0, rate * busy) for name, busy in cycles.items()},
        bottleneck=order[0],
        runner_up=order[1] if len(order) > 1 else order[0],
        warps_needed=float(volkov_2016.needed_warps(x)),
        time_s=time_s,
        slowest_s=slowest_s,
    )


def _launch(work: Workload, place: Place) -> dict[str, float]:
    """SM cycles per unit of work that the launch itself takes; none for a loop, which is no launch."""
    if work.warps is None:
        return {}
    return {"launch": place.gpu.value("launch_cost") * place.clock_hz * place.active_sms / work.warps}


def _shared_by_active(busy: Mapping[str, Real], place: Place) -> dict[str, Real]:
    """Bounds with chip-wide resources shared by the SMs that have work, not by all SMs."""
    share = place.active_sms / place.gpu.value("sm_count")
    return {name: cycles * share if name in CHIP else cycles for name, cycles in busy.items()}


def _fetching(work: Workload, warps: Real) -> dict[str, Real]:
    """Cycles to fetch code, for this many resident warps; nothing where it comes from L0."""
    return {FETCH: np.divide(fetching(work, 1), warps)} if work.units.get(FETCH) else {}


def _times(work: Workload, place: Place, x: volkov_2016.Inputs, rate: float) -> tuple[float | None, float | None]:
    """Seconds of the launch: at `rate`; and where each round of warps waits out its latency, then works."""
    if work.warps is None:
        return None, None
    launch_s = place.gpu.value("launch_cost")
    per_sm = work.warps / place.active_sms
    rounds = math.ceil(per_sm / float(x.warps))
    slowest = rounds * work.latency + per_sm / float(volkov_2016.throughput_bound(x.busy).rate)
    return launch_s + per_sm / rate / place.clock_hz, launch_s + slowest / place.clock_hz


def throughput(work: Workload, place: Place, warps_per_sm: NDArray[np.float64]) -> Bounds:
    """Bounds on units per cycle and SM over an array of resident warps, any shape."""
    x = adapted.inputs(work, place.gpu, warps_per_sm, place.clock_hz)
    return volkov_2016.predict(replace(x, busy=_shared_by_active(x.busy, place) | _fetching(work, warps_per_sm)))


def saturating_warps(work: Workload, gpu: Gpu, clock_hz: float) -> dict[str, float]:
    """Resource -> warps per SM whose latency would be hidden if that resource were the limit; inf where unused."""
    return {
        name: work.latency / busy if busy > 0 else float("inf") for name, busy in demand(work, gpu, clock_hz).items()
    }
