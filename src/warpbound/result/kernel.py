"""One kernel on one GPU: the entry of `results` that `analyze` and `rank` print (contract, section 3)."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from warpbound.result.blocks import BlockClass, BlockSample, BusySMs, LaunchShape
from warpbound.result.code import Access, ProgramFacts, SassLine, SourceLine
from warpbound.result.execution import Execution
from warpbound.result.figures import FigureData
from warpbound.result.goal import Goal
from warpbound.result.host_launches import LaunchHint
from warpbound.result.pipeline import Pipeline
from warpbound.result.profile import ProfileFacts
from warpbound.result.quantities import (
    ADDED,
    Added,
    AtLeastOne,
    CyclesByCause,
    CyclesByResource,
    Fraction,
    Interval,
    Limiters,
    Mode,
    Number,
    Positive,
    Resource,
    Unpublished,
    Whole,
)
from warpbound.result.what_if import WhatIf

WarpInstructions = Annotated[Number | None, Meta(description="Warp instructions")]
Sectors = Annotated[Number | None, Meta(description="Sectors of 32 B")]
Bytes = Annotated[Number | None, Meta(description="B")]
SharedWavefronts = Annotated[Number | None, Meta(description="Cycles of the shared-memory data path")]
ClockSource = Literal["sustained", "boost", "base", "given", "report"]
ClockLimiter = Literal["power", "step", "given"]
Flop = Annotated[Number | None, Meta(description="Operations, FMA = 2")]


class Occupancy(msgspec.Struct, frozen=True, kw_only=True):
    """What one SM holds."""

    blocks_per_sm: Whole
    warps_per_sm: Whole
    max_warps_per_sm: AtLeastOne
    limiters: Limiters
    block_limits: Unpublished[dict[str, int]]
    next_step: Annotated[str | None, Meta(description="The smallest changes that admit more, in words")]
    not_told: Annotated[list[str], Meta(description="Resources whose use the input does not tell"), ADDED] = []


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Least time of one warp, by cause.

    by_level : the cycles with all global loads served by that level. load_phases : loads issued before the first wait
    on one of them, for each such wait.
    """

    cycles: Annotated[Number, Meta(description="Cycles")]
    parts: CyclesByCause
    by_level: Unpublished[dict[str, float]]
    load_phases: Unpublished[list[int]]


class Bound(msgspec.Struct, frozen=True):
    """One bound."""

    resource: Resource
    cycles_per_warp: Annotated[
        Number, Meta(description="SM cycles per warp (static: per warp and iteration of the loop in `scope`)")
    ]
    utilization: Annotated[Fraction, Meta(description="Fraction of its time in use at the predicted rate")]


class Instructions(msgspec.Struct, frozen=True):
    """Whole launch."""

    warp_instructions: Annotated[Number | None, Meta(description="Whole launch")] = None
    thread_instructions: Annotated[Number | None, Meta(description="Whole launch; lanes active and predicated on")] = (
        None
    )
    by_pipe: dict[str, Number] = {}


class MemoryTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """Traffic of the whole launch."""

    global_load_requests: WarpInstructions = None
    global_store_requests: WarpInstructions = None
    l1_sectors_load: Sectors = None
    l1_sectors_store: Sectors = None
    l2_sectors_read: Sectors = None
    l2_sectors_written: Sectors = None
    dram_bytes_read: Bytes = None
    dram_bytes_written: Bytes = None
    shared_wavefronts_load: SharedWavefronts = None
    shared_wavefronts_store: SharedWavefronts = None
    sectors_per_request: Annotated[Number | None, Meta(description="L1 sectors per global load or store request")] = (
        None
    )
    l1_hit_rate: Annotated[Fraction | None, Meta(description="Fraction")] = None
    l2_hit_rate: Annotated[Fraction | None, Meta(description="Fraction")] = None
    sectors_per_load: Annotated[
        Number | None, Meta(description="L1 sectors per load of global or local memory"), ADDED
    ] = None
    sectors_per_store: Annotated[
        Number | None, Meta(description="L1 sectors per store of global or local memory"), ADDED
    ] = None
    sectors_per_atomic: Annotated[Number | None, Meta(description="L2 sectors per atomic or reduction"), ADDED] = None
    global_atomic_requests: Annotated[
        Number | None,
        Meta(description="Warp instructions: atomics and reductions, which are neither loads nor stores"),
        ADDED,
    ] = None
    local_sectors: Annotated[Number | None, Meta(description="Of the L1 sectors, those of local memory"), ADDED] = None
    shared_wavefronts_atomic: Added[SharedWavefronts] = None
    touched_bytes: Annotated[Number | None, Meta(description="Different bytes of global memory"), ADDED] = None
    l2_sectors_far: Annotated[
        Number | None,
        Meta(description="Of the sectors read, those that L2 has, but not on the side next to the reader"),
        ADDED,
    ] = None
    shared_conflict_wavefronts: Annotated[
        Number | None, Meta(description="Of the shared wavefronts, those that bank conflicts cost"), ADDED
    ] = None


class FlopCounts(msgspec.Struct, frozen=True):
    """Whole launch."""

    fp16: Flop = None
    bf16: Flop = None
    fp32: Flop = None
    fp64: Flop = None
    tensor: Flop = None


class ModelAnswer(msgspec.Struct, frozen=True):
    """One model."""

    time_s: Annotated[Number | None, Meta(description="s; null where the model cannot speak")]
    rate: Annotated[float | None, Meta(description="In `unit`")]
    unit: str | None
    bottleneck: Annotated[str | None, Meta(description="In the model's own words")]
    reason: Annotated[str | None, Meta(description="Why it cannot speak, or what it had to assume")]


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of code, once through by one warp.

    lines : first and last source line. threads_to_saturate : threads per SM whose passes keep a resource busy.
    """

    title: Unpublished[str]
    lines: Unpublished[list[int]]
    latency_cycles: Annotated[Number, Meta(description="Least cycles of one iteration by one warp")]
    latency_parts: CyclesByCause
    load_phases: Unpublished[list[int]]
    warp_instructions: Unpublished[float]
    by_pipe: Unpublished[dict[str, float]]
    flop_per_thread: Unpublished[dict[str, float]]
    demand: CyclesByResource
    bottleneck: Unpublished[Resource]
    threads_to_saturate: Unpublished[dict[str, float]]
    P: Annotated[Number | None, Meta(description="Threads on the chip that saturate DRAM; null where no DRAM is used")]
    Q: Annotated[Number | None, Meta(description="Threads on one SM that saturate instruction issue")]
    trip_count: Annotated[Number | None, Meta(description="Mean iterations per entry; null where not known")]


class Loop(Segment, frozen=True, kw_only=True):
    """One loop, per iteration."""

    depth: Unpublished[int]
    parent: Unpublished[int | None]
    entries_per_warp: Annotated[Number | None, Meta(description="Times that a warp enters it; null: not known"), ADDED]
    cycles_per_warp: Annotated[
        Number | None,
        Meta(
            description="Least cycles of one warp in the loop over the whole launch: iterations times latency_cycles; "
            "null where not known"
        ),
        ADDED,
    ]
    intervals: Annotated[list[Segment], Meta(description="Its stretches that end at a barrier, in order"), ADDED]


class Confidence(msgspec.Struct, frozen=True, kw_only=True):
    """How far to trust this. judged_launches : measured launches that expected_error and interval_coverage rest on."""

    expected_error: Annotated[
        Number | None, Meta(description="MAPE from the validation data, a fraction; null where there is none")
    ] = None
    interval_coverage: Annotated[Fraction | None, Meta(description="How often the interval held the measured time")] = (
        None
    )
    judged_launches: Unpublished[int] = 0
    assumed: Annotated[list[str], Meta(description="What was taken for granted")]
    unknown_opcodes: Annotated[list[str], Meta(description="Counted for issue only")]
    proxy_isa: Annotated[str | None, Meta(description="Architecture whose code stands in for the GPU's own")]


class Stall(msgspec.Struct, frozen=True):
    """A stall reason of Nsight Compute: cycles of a warp's slot, and their share of all."""

    reason: str
    cycles: Number
    share: Fraction


class ParameterDoubt(msgspec.Struct, frozen=True):
    """A parameter whose uncertainty widens the interval: relative standard uncertainty of the time."""

    parameter: str
    relative: Number
    assumed: Annotated[bool, Meta(description="Taken from relatives of this board")]
    measured_by: Annotated[str | None, Meta(description="Mechanism of `warpbound measure` that finds it")]


class CompilerName(msgspec.Struct, frozen=True):
    """The compiler that made the machine code."""

    name: Annotated[str, Meta(description="nvcc or nvrtc")]
    release: Annotated[str, Meta(description="Such as 13.5")]


class SetByHand(msgspec.Struct, frozen=True):
    """A number that a person set on the page, and the number without that."""

    key: str
    label: str
    unit: str
    value: float
    own: float


class KernelResult(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel on one GPU."""

    defines: Unpublished[dict[str, str] | UnsetType] = UNSET
    kernel: Annotated[str, Meta(description="As a person would write it")]
    gpu: Annotated[str, Meta(description="Catalogue name, sm_NN or TOML file")]
    mode: Annotated[Mode, Meta(description="static: from the code alone; whole-launch numbers are null")]
    time_s: Annotated[Number | None, Meta(description="One launch at clock_MHz, s")] = None
    time_interval_s: Annotated[Interval | None, Meta(description="Least and greatest time, s")] = None
    cycles: Annotated[Number | None, Meta(description="One launch, SM cycles")] = None
    bottleneck: Annotated[
        Resource | None, Meta(description="The tightest bound; null where no time is predicted")
    ] = None
    runner_up: Annotated[Resource | None, Meta(description="The next tightest")] = None
    occupancy: Occupancy
    latency: Latency | None = None
    bounds: Annotated[list[Bound], Meta(description="The tightest first")] = []
    warps_needed: Annotated[
        Number | None, Meta(description="Warps per SM that would reach the tightest throughput bound")
    ] = None
    instructions: Instructions = Instructions()
    memory: MemoryTraffic = MemoryTraffic()
    flop: FlopCounts = FlopCounts()
    models: Annotated[dict[str, ModelAnswer], Meta(description="Published models that were asked for")] = {}
    whatifs: Annotated[list[WhatIf], Meta(description="The largest speedup first")] = []
    loops: list[Loop] = []
    confidence: Confidence
    sample: BlockSample | None = None
    cache: Annotated[Literal["warm", "cold"], Meta(description="Caches at the start of the launch")]
    clock_MHz: Annotated[Positive | None, Meta(description="Clock used")] = None
    clock_source: Annotated[
        ClockSource | None,
        Meta(description="Where clock_MHz comes from: the load's power, a data sheet, the user or a profile"),
        ADDED,
    ] = None
    clock_limiter: Annotated[
        ClockLimiter | None,
        Meta(description="What holds the clock: the power limit, the board's highest step, or the user"),
        ADDED,
    ] = None
    power_W: Annotated[
        Number | None,
        Meta(description="Mean power while the launch repeats, W; null where the board's power is not known"),
        ADDED,
    ] = None
    energy_J: Annotated[Number | None, Meta(description="Of one launch, J"), ADDED] = None
    profile: Annotated[
        ProfileFacts | UnsetType, Meta(description="The profiled launch, where a report was given"), ADDED
    ] = UNSET
    host_launch: Added[LaunchHint | UnsetType] = UNSET
    goal: Annotated[Goal | UnsetType, Meta(description="The way to the goal, where one was given"), ADDED] = UNSET
    gpu_name: Unpublished[str]
    program: Unpublished[ProgramFacts]
    launch: Unpublished[LaunchShape | None] = None
    compiler: Annotated[
        CompilerName | None, Meta(description="Null where the file holds machine code or a listing"), ADDED
    ] = None
    scope: Unpublished[str | None] = None
    straight: Unpublished[Segment | None] = None
    not_executed: Unpublished[str | None] = None
    execution: Added[Execution | None] = None
    lines: Unpublished[list[SourceLine]] = []
    accesses: Annotated[
        list[Access],
        Meta(
            description="Memory accesses, mean of their executions; static: by a full warp, null where the code does "
            "not tell"
        ),
        ADDED,
    ] = []
    blocks: Annotated[
        list[BlockClass],
        Meta(description="Classes of blocks by what decides their paths, the largest share of the time first"),
        ADDED,
    ] = []
    longest_block_s: Annotated[
        Number | None,
        Meta(description="Time of the longest block, s, where it sets the launch's; latency is then its warps'"),
        ADDED,
    ] = None
    pipelines: Annotated[
        list[Pipeline],
        Meta(description="Stages in shared memory that copies fill and warps empty, met at mbarriers"),
        ADDED,
    ] = []
    sms: Annotated[BusySMs | None, Meta(description="SMs that get a block; null without a launch"), ADDED] = None
    stalls: Annotated[
        list[Stall],
        Meta(description="Where the time of a warp's slot goes, by Nsight Compute's stall reasons; shares add up to 1"),
        ADDED,
    ] = []
    doubts: Annotated[
        list[ParameterDoubt],
        Meta(
            description="What makes most of the interval: relative standard uncertainty of the time, and what would "
            "shrink it"
        ),
        ADDED,
    ] = []
    dominant_doubt: Unpublished[str | None | UnsetType] = UNSET
    sass: Unpublished[list[SassLine] | UnsetType] = UNSET
    figures: Unpublished[FigureData | UnsetType] = UNSET
    set_by_hand: Annotated[
        list[SetByHand] | UnsetType,
        Meta(
            description="In files of the page: numbers of GPU, launch, kernel or model set by hand, own: by themselves"
        ),
        ADDED,
    ] = UNSET
