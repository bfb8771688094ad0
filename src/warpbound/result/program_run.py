"""A whole program that ran without a GPU: its kernels, its launches, and the functions that were refused."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import Fraction, Number, Sentence, Whole

Executed = Literal["all", "repeated", "sampled", "failed"]
Seconds = Annotated[Number, Meta(description="s, predicted")]


class RunKernel(msgspec.Struct, frozen=True, kw_only=True):
    """All launches of one kernel. share : of the predicted time of all kernels."""

    name: str
    launches: Whole
    time_s: Annotated[Number | None, Meta(description="s, predicted, of all its launches")]
    mean_time_s: Annotated[Number | None, Meta(description="s, predicted")]
    share: Fraction | None
    bottleneck: str | None
    warp_instructions: Annotated[Number | None, Meta(description="Warp instructions of all launches")]


class RunLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """One launch, in the order of the program.

    start_s : from the first action of the device. executed : `all` blocks, `repeated` (as an equal launch before
    it), `sampled` (results missing) or `failed`. timed_as : number of the launch whose prediction it shares.
    """

    number: Whole
    kernel: str
    gpu: str
    grid: list[int]
    block: list[int]
    smem: Whole
    stream: Whole
    start_s: Seconds
    time_s: Annotated[Number | None, Meta(description="s, predicted")]
    time_interval_s: list[float] | None
    bottleneck: str | None
    blocks_per_sm: int | None
    warps_per_sm: int | None
    warp_instructions: float | None
    executed: Executed
    timed_as: int | None = None
    not_timed: str | None = None
    assumed: list[str] = []


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """Copies and fillings of one kind."""

    name: str
    count: Whole
    time_s: Seconds


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `run`.

    execute : `all` or `sampled`. end_s : predicted time from the first to the last action of the device.
    execution_s : processor time that executing all blocks has taken here, of the process that took longest: time by the
    clock on a machine with nothing else to do.
    """

    schema_version: Literal["1"]
    command: str
    program: str
    gpu: str
    execute: Literal["all", "sampled"]
    exit_code: int
    end_s: Seconds
    execution_s: Annotated[Number, Meta(description="s, measured on this machine")]
    kernels: list[RunKernel]
    launches: list[RunLaunch]
    activities: list[Activity]
    unsupported: Annotated[list[str], Meta(description="What the program called and warpbound does not have")]
    problems: list[Sentence]
