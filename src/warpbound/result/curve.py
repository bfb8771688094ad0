"""Throughput of one kernel against occupancy: the entry of `results` that `curve` prints."""

import msgspec
from msgspec import UNSET, UnsetType

from warpbound.result.quantities import Mode


class ModelCurve(msgspec.Struct, frozen=True):
    """What a published model says at every number of resident warps; reason where it is silent."""

    time_s: list[float | None]
    bottleneck: list[str | None]
    reason: str


class TimeRanges(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds at every number of resident warps.

    l1, l2, dram : all loads from that level. estimate : as the caches are expected to serve them. side_by_side,
    one_by_one : by pipes and latency alone, if all pipes overlap, or none.
    """

    l1: list[float | None]
    l2: list[float | None]
    dram: list[float | None]
    estimate: list[float | None]
    side_by_side: list[float]
    one_by_one: list[float]


class OccupancyCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel at every number of resident blocks.

    time_s : of the launch, null in static mode. warp_throughput_per_s, gbytes_per_s (DRAM) : of the chip. In static
    mode a unit of work is what `scope` names, a warp or an iteration of a loop.
    """

    kernel: str
    gpu: str
    mode: Mode
    scope: str
    warps_per_sm: list[int]
    blocks_per_sm: list[int]
    time_s: list[float | None]
    warp_throughput_per_s: list[float]
    gbytes_per_s: list[float]
    bottleneck: list[str]
    models: dict[str, ModelCurve]
    range: TimeRanges | UnsetType = UNSET
