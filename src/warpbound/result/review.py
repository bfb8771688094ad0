"""Answers that are kept and compared: what `snapshot` writes and `diff` prints."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import Interval, Mode, Number, Sentence, Whole

Relative = Annotated[float | None, Meta(description="after / before - 1; null where before is 0 or unknown")]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question about one file: options of the command line, as typed."""

    file: str
    launch: Annotated[str | None, Meta(description="Launch file; null where the options give the launch, or none does")]
    options: dict[str, Any]


class KernelState(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel on one board, in the numbers that a review compares."""

    kernel: str
    gpu: str
    file: str
    launch: str | None
    error: Annotated[str | None, Meta(description="Why there is no answer; all numbers are null then")] = None
    mode: Mode | None = None
    line: Annotated[int | None, Meta(description="The source line that costs one warp most, from 1")] = None
    code: Annotated[str, Meta(description="Digest of the machine code")] = ""
    registers: Whole | None = None
    spill_bytes: Annotated[Whole | None, Meta(description="Stored and loaded, by the compiler")] = None
    shared_bytes: Annotated[Whole | None, Meta(description="Static, of a block")] = None
    warps_per_sm: Annotated[Number | None, Meta(description="Resident")] = None
    instructions: Annotated[Whole | None, Meta(description="In the code")] = None
    warp_instructions: Annotated[Number | None, Meta(description="Executed by the launch")] = None
    dram_bytes: Annotated[Number | None, Meta(description="Read and written by the launch")] = None
    l2_sectors: Annotated[Number | None, Meta(description="Read and written by the launch")] = None
    time_s: Annotated[Number | None, Meta(description="s; null in static mode")] = None
    time_interval_s: Interval | None = None
    cycles_per_warp: Annotated[
        Number | None, Meta(description="Tightest bound in static mode, of the loop that costs most")
    ] = None
    bottleneck: str | None = None
    sampling_error: Annotated[Number | None, Meta(description="Relative, of the counts")] = None


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with their answers, to be compared with later answers."""

    schema_version: Literal["1"]
    warpbound: str
    questions: list[Question]
    kernels: list[KernelState]


class MetricChange(msgspec.Struct, frozen=True):
    """A number before and after."""

    metric: str
    before: float | str | None
    after: float | str | None
    relative: Relative


class KernelChange(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel before and after."""

    name: str
    gpu: str
    file: str
    line: int | None
    before: KernelState | None
    after: KernelState | None
    significant: Annotated[bool, Meta(description="Whether it changed by more than the model resolves")]
    direction: Literal["slower", "faster", "changed", "same", "added", "removed", "broken", "repaired"]
    reason: Sentence
    resolution: Annotated[Number, Meta(description="Least relative difference of times that counts")]
    changes: list[MetricChange]
    fails: Annotated[bool, Meta(description="Whether the gate fails because of it")]


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """Two snapshots compared."""

    schema_version: Literal["1"]
    fail_above: Annotated[float | None, Meta(description="Percent; null without a gate")]
    failed: bool
    kernels: list[KernelChange]
