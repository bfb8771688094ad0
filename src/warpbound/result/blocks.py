"""The blocks of a launch: their shape, their classes, those that were emulated, and the SMs that get them."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, AtLeastOne, Fraction, Number, Whole

WITH_ERROR = ("l1_hit_rate", "l2_sectors_read", "l2_hit_rate", "dram_bytes_read", "dram_bytes_written")


class BlockSample(msgspec.Struct, frozen=True, kw_only=True):
    """What was emulated."""

    blocks: Whole
    warps: Whole
    of_blocks: AtLeastOne
    sampling_error: Annotated[
        Number | None,
        Meta(
            description="Standard error of the extrapolated counts, a fraction; null where too few blocks were sampled "
            "to tell"
        ),
        ADDED,
    ]
    memory_error: Annotated[
        dict[str, Number] | None,
        Meta(
            description="Standard errors of the counts and hit rates of the same names under memory, in their units, "
            "from sampled blocks that differ, from two halves of the sample extrapolated each by itself, and from the "
            "first and the last block; null where too few blocks were sampled to tell",
            extra_json_schema={"required": list(WITH_ERROR)},
        ),
        ADDED,
    ]


class LaunchShape(msgspec.Struct, frozen=True):
    """Blocks, threads of a block, dynamic shared memory of a block in bytes."""

    grid: list[int]
    block: list[int]
    smem: int


class BusySMs(msgspec.Struct, frozen=True):
    """SMs of the board, and those of them that get a block."""

    with_a_block: Whole
    count: AtLeastOne


class BlockClass(msgspec.Struct, frozen=True):
    """Blocks that take the same path, or about as long a one.

    trips : rounds of each loop that a warp makes, in the order of `loops`.
    """

    count: Annotated[Whole, Meta(description="Blocks of the grid")]
    share_of_time: Annotated[Fraction, Meta(description="Of the time that all blocks take on their SMs")]
    trips: Annotated[list[Number], Meta(description="Mean rounds of each loop by a warp, in the order of `loops`")]
