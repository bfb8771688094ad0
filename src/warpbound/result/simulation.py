"""Answers of `simulate`: one SM in a scenario or with a kernel, and the synthetic family on it."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from warpbound.result.figures import SimulationFigures
from warpbound.result.kernel import Bound, Occupancy


class WarpsOverTime(msgspec.Struct, frozen=True, kw_only=True):
    """Equal parts of the run, `interval` cycles each, and the mean number of resident warps in each."""

    interval: float
    warps: list[float]


class WarpLatency(msgspec.Struct, frozen=True, kw_only=True):
    """Cycles from the start of a warp to its end. mean : null where no warp ended."""

    mean: float | None
    percentiles: dict[str, float]


class MemoryRequests(msgspec.Struct, frozen=True, kw_only=True):
    """Transactions of the run. latency, waiting : cycles of one, null where there is none. in_flight : on average."""

    transactions: int
    latency: float | None
    waiting: float | None
    in_flight: float
    latency_percentiles: dict[str, float]


class SimulationOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a simulated SM did; times are cycles, rates per cycle.

    rates : instructions by name. stalls : stall reason -> share of the time of a resident warp.
    """

    cycles: float
    warps: int
    complete: bool
    occupancy: float
    occupancy_over_time: WarpsOverTime
    instructions_per_cycle: float
    rates: dict[str, float]
    warp_latency: WarpLatency
    memory: MemoryRequests
    stalls: dict[str, float]
    events: int


class SimulatedScenario(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario of a paper. timeline : lines of text. events : rows of the log, where it was asked for."""

    scenario: str
    title: str
    source: str
    assumed: str
    outcome: SimulationOutcome
    timeline: list[str]
    events: list[dict[str, Any]] | UnsetType = UNSET


class FamilyPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The synthetic family at one occupancy; alpha : additions per load. Rates per cycle and SM."""

    alpha: float
    warps_per_sm: int
    loads_per_cycle: float
    adds_per_cycle: float
    model_loads_per_cycle: float


class RatioRange(msgspec.Struct, frozen=True, kw_only=True):
    """Throughput of a model over the simulated one, by alpha: least and most over the occupancies."""

    least: list[float]
    most: list[float]


class FamilyEvaluation(msgspec.Struct, frozen=True, kw_only=True):
    """Models over the simulated SM on one machine. needed : model -> warps for 90 % of the tightest limit, by alpha."""

    machine: str
    alpha: list[float]
    warps_per_sm: list[float]
    loads_per_cycle: list[list[float]]
    ratios: dict[str, RatioRange]
    needed: dict[str, list[float]]


class SimulatedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """What the simulated SM did, its time for the launch, and the time model's.

    headline_stalls : stall reason -> share.
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
    outcome: SimulationOutcome
    bounds: list[Bound] | UnsetType = UNSET
    occupancy: Occupancy | UnsetType = UNSET
    figures: SimulationFigures | UnsetType = UNSET
