"""Changes that were tried: compiled, executed beside the original and predicted (`try`)."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import AtLeastOne, Interval, Number, Positive, Resource, Sentence, Whole

Outcome = Literal["equal", "rounding", "different", "untested", "refused"]
Place = Literal["source", "option", "launch", "compiler"]


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a block and a thread take, and what an SM then holds."""

    registers: Annotated[Whole, Meta(description="Per thread")]
    shared_bytes: Annotated[Whole, Meta(description="Static and dynamic, of a block")]
    spill_bytes: Annotated[Whole, Meta(description="Stored and loaded, by the compiler")]
    warps_per_sm: Annotated[Whole, Meta(description="Resident")]


class TriedChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change, made and judged."""

    mechanism: Annotated[str, Meta(description="Name of its section in docs/advice.md")]
    change: Sentence
    place: Annotated[Place, Meta(description="What changes: the source, an option, the launch, the compiler")]
    line: Annotated[int | None, Meta(description="Source line, from 1; null where no line changes")]
    outcome: Annotated[
        Outcome,
        Meta(
            description="equal: every byte that the compared blocks write is the same; rounding: it differs as `error` "
            "states; different: the results are others, or cannot be compared; untested: it is not faster, so nothing "
            "was executed to compare; refused: it could not be made or run"
        ),
    ]
    error: Annotated[
        Number | None, Meta(description="Largest difference of a result, relative to the largest result of its array")
    ]
    reason: Annotated[str | None, Meta(description="Why it is different or refused")]
    speedup: Annotated[Positive | None, Meta(description="> 1 is faster; null without a time")]
    speedup_interval: Annotated[
        Interval | None,
        Meta(description="Least and greatest: what both times share cancels, the floor of both intervals is left"),
    ]
    time_s: Number | None
    time_interval_s: Interval | None
    bottleneck: Resource | None
    cost: Cost | None
    apply: Annotated[str, Meta(description="The option to add, or the difference of the source as a unified diff")]
    page: Annotated[str, Meta(description="Where the mechanism is explained")]


class Promise(msgspec.Struct, frozen=True, kw_only=True):
    """A resource what-if, and the best tried change of the same kind."""

    change: Sentence
    speedup: Positive
    obtained: Annotated[Positive | None, Meta(description="null: no change of this kind was tried")]
    by: Annotated[str | None, Meta(description="The tried change")]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What was executed to compare results. bytes : that the original wrote, in arrays whose contents changed."""

    blocks: Whole
    of_blocks: AtLeastOne
    bytes: Whole


class TriedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """The changes tried of one kernel on one GPU, the largest gain with sound results first."""

    kernel: str
    gpu: str
    gpu_name: str
    source: str
    time_s: Number
    time_interval_s: Interval
    bottleneck: Resource
    cost: Cost
    compared: Compared
    tried: list[TriedChange]
    promises: list[Promise]
