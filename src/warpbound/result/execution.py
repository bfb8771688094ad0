"""What executing the sample showed beside the counts."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, Added, AtLeastOne, Number, Untyped, Whole

LeastOne = Annotated[float, Meta(ge=1)]


class InstructionCacheFit(msgspec.Struct, frozen=True):
    """One instruction cache: name, bytes, what its size rests on, and how sure that is."""

    name: Untyped[str]
    bytes: Untyped[int]
    source: Untyped[str]
    how: Untyped[str]


class CodeFootprint(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of code against the instruction caches."""

    bytes: Annotated[Number | None, Meta(description="All code of the kernel, B")]
    executed_bytes: Annotated[Number | None, Meta(description="Code that the sample executed, B")]
    hot_bytes: Annotated[
        Number | None,
        Meta(
            description="Executed code of the smallest loop with at least half of all executed instructions, else of "
            "the kernel, B"
        ),
    ]
    hot: Literal["loop", "whole kernel"]
    held_by: Annotated[str | None, Meta(description="Nearest instruction cache that holds hot_bytes")]
    caches: list[InstructionCacheFit]


class XModelSymbols(msgspec.Struct, frozen=True, kw_only=True):
    """E, Z and n in warps of one SM; alpha and beta (B) of the locality of one warp.

    E_as_published : as the paper counts it, instructions that one warp issues together, 1 to 2.
    """

    E: Untyped[float]
    Z: Untyped[float | None]
    Z_off_chip: Untyped[float | None]
    n: Untyped[float | None]
    alpha: Untyped[float]
    beta: Untyped[float]
    residual: Untyped[float]
    definition: Untyped[str]
    E_as_published: Untyped[float]
    definition_as_published: Untyped[str]


class PagesTouched(msgspec.Struct, frozen=True):
    """Distinct pages that the sampled blocks touch: what TLBs must reach."""

    page_bytes: Untyped[int]
    sample: Untyped[int]


class PartitionMap(msgspec.Struct, frozen=True):
    """Partition of the k-th access of the first warp of each of these blocks; -1: none."""

    blocks: list[Whole]
    partition: list[list[Annotated[int, Meta(ge=-1)]]]


class PartitionTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """How the sampled blocks' traffic spreads over memory partitions; null where the mapping is not known."""

    partitions: AtLeastOne
    width_bytes: Annotated[int, Meta(description="Consecutive bytes in one partition")]
    segments: Annotated[list[Whole], Meta(description="Segments of 32 bytes by partition")]
    camping: Annotated[LeastOne, Meta(description="Fullest partition over the mean, whole sample")]
    camping_at_once: Annotated[LeastOne, Meta(description="The same among accesses of one moment, mean over moments")]
    map: PartitionMap


class Execution(msgspec.Struct, frozen=True, kw_only=True):
    """What executing the sample showed beside the counts, of the mean warp; null in static mode."""

    lanes_per_instruction: Annotated[
        Annotated[float, Meta(ge=0, le=32)] | None,
        Meta(description="Mean number of lanes active and predicated on per instruction: 32 without divergence"),
    ]
    ilp: Annotated[
        Number | None, Meta(description="Instructions per cycle of one warp alone while it waits for no memory")
    ]
    load_phases: Annotated[
        Whole,
        Meta(
            description="Groups of global loads that the typical warp issues before it first waits for one of the group"
        ),
        ADDED,
    ]
    joins: Annotated[
        LeastOne,
        Meta(description="Times that the warps of a block wait for the last of them: its barriers, and its end"),
        ADDED,
    ]
    loads_per_wait: Annotated[
        Number | None, Meta(description="Global loads issued before the first wait on one of them, mean")
    ]
    mlp: Annotated[
        Number | None, Meta(description="Global loads of one warp under way on average while at least one is")
    ]
    register_bank_conflicts: Annotated[
        Number | None, Meta(description="Instructions per warp whose three source registers lie in one bank")
    ]
    code: CodeFootprint
    x_model: XModelSymbols
    hong_kim: Annotated[
        dict[str, float], Meta(description="Instruction classes of one warp in the symbols of Hong and Kim")
    ]
    pages: PagesTouched
    partitions: Added[PartitionTraffic | None]
