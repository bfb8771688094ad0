"""A profile beside the prediction: what `compare` prints (contract, section 6)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, Fraction, Interval, Mode, Number, Sentence, Unpublished, Whole
from warpbound.result.refusal import Error

PredictedStalls = Annotated[
    dict[str, Fraction], Meta(description="Share of all samples by stall reason; empty in static mode"), ADDED
]


class Duration(msgspec.Struct, frozen=True):
    """Time of the launch, s."""

    measured: Annotated[Number | None, Meta(description="gpu__time_duration.sum; null where the report lacks it")]
    predicted: Annotated[Number | None, Meta(description="Null in static mode")]
    interval: Annotated[Interval | None, Meta(description="Least and greatest predicted time")]


class ComparedCounter(msgspec.Struct, frozen=True, kw_only=True):
    """One counter. predicted : null where the arguments are not known."""

    name: Annotated[str, Meta(description="Nsight Compute's")]
    unit: Annotated[str, Meta(description="Nsight Compute's")]
    measured: Annotated[Number, Meta(description="Of the whole launch")]
    predicted: Annotated[Number | None, Meta(description="Of the whole launch; null in static mode")]
    ratio: Annotated[Number | None, Meta(description="Predicted over measured; null where either is missing or zero")]
    explained: Annotated[str | None, Meta(description="Why they differ, where it is known")]


class ComparedStall(msgspec.Struct, frozen=True):
    """A stall reason of Nsight Compute: shares of the samples and of the predicted time of a warp's slot."""

    reason: Sentence
    measured: Annotated[Fraction | None, Meta(description="Share of the samples; null where there are none")]
    predicted: Annotated[Fraction | None, Meta(description="Null in static mode")]


class ComparedInstruction(msgspec.Struct, frozen=True, kw_only=True):
    """One instruction, in the order of the code; `line` of the source where the code has line numbers."""

    address: Whole
    text: str
    file: str | None
    line: int | None
    executed_measured: Annotated[Number | None, Meta(description="Warp instructions of the launch")]
    executed_predicted: Annotated[Number | None, Meta(description="Warp instructions of the launch")]
    samples: Annotated[Number | None, Meta(description="Samples of warps that were at this instruction")]
    stalls: Annotated[dict[str, Number], Meta(description="Samples by stall reason, without those of zero")]
    cycles_predicted: Annotated[
        Number | None, Meta(description="Cycles that one warp alone waits before this instruction issues")
    ]
    stalls_predicted: PredictedStalls = {}


class ComparedLine(msgspec.Struct, frozen=True, kw_only=True):
    """The instructions of one source line together."""

    file: str
    line: int
    text: str
    executed_measured: Number | None
    executed_predicted: Number | None
    samples: Number | None
    stalls: dict[str, Number]
    cycles_predicted: Annotated[Number | None, Meta(description="Cycles of one warp alone")]
    stalls_predicted: PredictedStalls = {}


class LaunchComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One profiled launch beside its prediction."""

    kernel: str
    gpu: str
    report: str
    launch_index: Whole
    grid: list[int]
    block: list[int]
    mode: Annotated[Mode, Meta(description="static: no arguments, so only what the code alone tells")]
    bottleneck: str | None
    duration_s: Duration
    counters: list[ComparedCounter]
    stalls: list[ComparedStall]
    lines: list[ComparedLine]
    instructions: list[ComparedInstruction]
    notes: Annotated[list[str], Meta(description="What was taken from the report, and what the prediction rests on")]
    code: Unpublished[str] = ""


class NotCompared(msgspec.Struct, frozen=True, kw_only=True):
    """A launch that could not be compared."""

    kernel: str
    gpu: str
    report: str
    launch_index: Whole
    error: Error


class CounterErrors(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of one counter over many launches, each kernel and board once."""

    name: str
    launches: Annotated[Whole, Meta(description="Kernels on boards that have both numbers")]
    median: Annotated[Number | None, Meta(description="Of |predicted - measured| / measured")]
    p90: Annotated[Number | None, Meta(description="The same, 90th percentile")]
    within: Annotated[Number | None, Meta(description="`share` within this error is asked for")]
    share: Annotated[Fraction | None, Meta(description="Of the launches within it")]


class ComparisonDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `compare --format json` prints."""

    schema_version: str
    command: str
    launches: list[LaunchComparison | NotCompared]
    errors: Annotated[list[CounterErrors], ADDED]
