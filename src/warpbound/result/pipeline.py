"""A pipeline of copies and those who take them: the entries of `pipelines`."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import AtLeastOne, Fraction, Number, Whole

Binds = Literal[
    "copy engine", "l2", "dram", "latency of the copies", "the warp that copies", "tensor", "shared memory",
    "the warps that compute",
]


class Pipeline(msgspec.Struct, frozen=True, kw_only=True):
    """Stages in shared memory that copies fill in turn and warps empty, met at mbarriers.

    Times are those of one block while the other SMs and the other blocks of its SM take their shares of L2 and DRAM.
    """

    lines: Annotated[list[int], Meta(description="Source lines of the copies; empty where unknown")]
    stages: Annotated[AtLeastOne, Meta(description="Stages, each with a barrier that its copies end at")]
    stage_bytes: Annotated[Whole, Meta(description="B of one stage")]
    fills: Annotated[Whole, Meta(description="Times that a block fills a stage")]
    cycles_per_fill: Annotated[Number, Meta(description="SM cycles of the block for each fill")]
    under_way: Annotated[Number, Meta(description="Mean number of stages whose copies have not arrived")]
    landed: Annotated[Number, Meta(description="Mean number of stages that are full and nobody has begun to read")]
    in_use: Annotated[Number, Meta(description="Mean number of stages that warps read")]
    free: Annotated[Number, Meta(description="Mean number of stages that wait for the next copy")]
    waiting: Annotated[Fraction, Meta(description="Share of their time that the warps that compute wait for copies")]
    copy_engine: Annotated[Fraction, Meta(description="Share of its time that the copy engine moves data")]
    tensor: Annotated[Fraction, Meta(description="Share of their time that the tensor cores multiply")]
    binds: Annotated[Binds, Meta(description="What the pipeline runs at the pace of")]
    enough_stages: Annotated[
        AtLeastOne | None,
        Meta(description="Fewest stages that take no longer; null where no other number was tried"),
    ]
    asking: Annotated[Whole, Meta(description="Warps of the block that ask for these copies")] = 0
    multiplying: Annotated[Whole, Meta(description="Warps of the block that start matrix products")] = 0
    both: Annotated[Whole, Meta(description="Warps that do both")] = 0
