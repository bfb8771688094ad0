"""A hand-written workload on one GPU: the entry of `results` that `predict` prints."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from warpbound.result.kernel import Bound, FlopCounts, Instructions, ModelAnswer, SetByHand
from warpbound.result.quantities import (
    AtLeastOne,
    CyclesByCause,
    Interval,
    Limiters,
    Number,
    Positive,
    Resource,
    Unpublished,
)


class ResidentWork(msgspec.Struct, frozen=True):
    """What one SM holds; null where the file does not tell."""

    blocks_per_sm: Number | None
    warps_per_sm: Number | None
    limiters: Limiters


class LaunchSize(msgspec.Struct, frozen=True):
    """Null where the file does not tell."""

    blocks: AtLeastOne | None
    threads_per_block: AtLeastOne | None


class WarpLatency(msgspec.Struct, frozen=True):
    """Least time of one warp, by cause."""

    cycles: Number
    parts: CyclesByCause


class WorkloadResult(msgspec.Struct, frozen=True, kw_only=True):
    """One case on one GPU."""

    kernel: Annotated[str, Meta(description="The file's title, and the case's name where there are several")]
    gpu: Annotated[str, Meta(description="Catalogue name, sm_NN or TOML file")]
    gpu_name: Annotated[str, Meta(description="The board's full name")]
    source: Annotated[str | None, Meta(description="Where the file says that its numbers are from")]
    mode: Literal["written"]
    time_s: Annotated[
        Number | None,
        Meta(
            description="One launch at clock_MHz, s; null where the size of the launch, the latency of a warp or the "
            "resident warps are not given"
        ),
    ]
    time_interval_s: Annotated[Interval | None, Meta(description="Least and greatest time, s")]
    cycles: Annotated[Number | None, Meta(description="One launch, SM cycles")]
    bottleneck: Annotated[Resource | None, Meta(description="The tightest bound; null where no counts are given")]
    runner_up: Annotated[Resource | None, Meta(description="The next tightest")]
    occupancy: ResidentWork
    launch: LaunchSize
    latency: WarpLatency | None
    bounds: Annotated[list[Bound], Meta(description="The tightest first")]
    warps_needed: Annotated[
        Number | None, Meta(description="Warps per SM that would reach the tightest throughput bound")
    ]
    instructions: Instructions
    flop: FlopCounts
    models: Annotated[
        dict[str, ModelAnswer], Meta(description="Published models that were asked for, and the roofline always")
    ]
    assumed: Annotated[list[str], Meta(description="What was not given and how it was taken")]
    clock_MHz: Annotated[Positive, Meta(description="SM clock of the answer")]
    set_by_hand: Unpublished[list[SetByHand] | UnsetType] = UNSET
