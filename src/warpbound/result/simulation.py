"""A kernel simulated on one SM: the entry of `results` that `simulate FILE.cu` prints."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from warpbound.result.figures import SimulationFigures
from warpbound.result.kernel import Bound, Occupancy


class SimulatedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """What the simulated SM did, its time for the launch, and the headline prediction's.

    headline_stalls : stall reason -> share. outcome : as `simulate.timelines.summary` has it.
    """

    kernel: str
    gpu: str
    title: str
    source: str
    assumed: str
    policy: str
    time_s: float
    headline_time_s: float | None
    simulated_over_headline: float | None
    headline_stalls: dict[str, float]
    outcome: dict[str, Any]
    bounds: list[Bound] | UnsetType = UNSET
    occupancy: Occupancy | UnsetType = UNSET
    figures: SimulationFigures | UnsetType = UNSET
