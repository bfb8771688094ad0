"""Work from the code alone: loops and straight-line code, without trip counts or contents of arrays."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cache
from typing import TYPE_CHECKING

from warpbound.analysis.case import WARP, Case
from warpbound.analysis.execution_summary import Observed
from warpbound.analysis.settings import static_patience
from warpbound.latency import LEVELS, waits
from warpbound.memory.static_accesses import NOTE as ADDRESS_NOTE
from warpbound.memory.static_accesses import TOO_LATE, Access, Predicted, predicted, threads_of
from warpbound.memory.traffic_counts import Errors
from warpbound.quick_dataclasses import dataclass
from warpbound.result.blocks import BlockSample
from warpbound.result.pipeline import Pipeline
from warpbound.result.quantities import Mode
from warpbound.result.what_if import WhatIf
from warpbound.schedule import Schedule, Wait, schedule
from warpbound.whatif import Alternative, Repeated
from warpbound.workload import Memory, Workload
from warpbound.workload.files.lanes import on_board
from warpbound.workload.static import NO_REUSE, assumed_coalesced, intervals, iterations, straight
from warpbound.workload.static_paths import NOTE, LoopPath
from warpbound.workload.static_paths import loops as loop_paths
from warpbound.workload.static_paths import whole as whole_path

if TYPE_CHECKING:  # a fifth of a static answer's time to load
    from warpbound.analysis.block_schedule import BlockPaths
    from warpbound.analysis.longest_block import LongestWarp
    from warpbound.emulate import Trace
    from warpbound.memory.traffic_counts import Traffic
    from warpbound.workload.dynamic import IdleBlocks, Sample

    SampleRun = tuple[Trace, Sample, Traffic]  # trace of the sampled blocks, the sample, its traffic

STOPPED = "the analysis of the code was stopped after {seconds:g} s (--patience SECONDS gives it more).{loops}"
NESTING = 4  # times that an inner loop is taken to run per iteration of the one around it, to choose between them


@dataclass(frozen=True)
class Piece:
    """One iteration of a loop: its lines, its cost, trips per entry, entries per warp (None: not known).

    intervals : its stretches that end at a barrier.
    """

    loop: LoopPath
    work: Workload
    trips: float | None = None
    entries: float | None = None
    intervals: tuple[Workload, ...] = ()


def _nothing() -> None:
    """No repeated accesses are known."""


def _no_pipelines() -> tuple[list[Pipeline], list[WhatIf]]:
    return [], []


@dataclass(frozen=True)
class Work:
    """The kernel's work.

    whole : one warp through the kernel. focus : what the verdict is about. by_level : latency of the whole with all
    global loads served by one level. launch_memory : traffic of the whole launch, None where it is not known.
    longest_warp : instructions of the longest sampled warp over those of the typical one. longest : that warp, where
    it does so much more that it has a path of its own.
    not_executed : why the blocks could not be executed although the launch gives every argument.
    accesses : what each access costs as far as the code alone tells; like by_level, counted when asked for.
    observed : what execution showed besides.
    errors : standard errors of its traffic. choices : other ways to use the caches, followed when asked for. of_l2 :
    the same, arrays that L2 may keep. again : accesses that a register would save, looked for when asked for. once : as
    of `distinct_sector_share`.
    sample_run : what sampled blocks did, which of them there are, and their traffic.
    pipelines : stages that copies fill, and changes of them; looked for when asked for.
    blocks : of the launch that work; None: all. idle : the others. paths : how long each of those that work is.
    """

    mode: Mode
    whole: Workload
    focus: Workload
    loops: Callable[[], tuple[Piece, ...]]
    schedule: Schedule
    by_level: Callable[[], dict[str, float]]
    notes: tuple[str, ...]
    sample: BlockSample | None = None
    launch_memory: Memory | None = None
    hit_rates: tuple[float | None, float | None] = field(default=(None, None))
    not_executed: str | None = None
    longest_warp: float = 1.0
    longest: "LongestWarp | None" = None
    accesses: Callable[[], Predicted] = dict
    observed: Observed | None = None
    errors: Errors | None = None
    choices: Callable[[], Iterable[Alternative]] = tuple
    of_l2: Callable[[], Iterable[Alternative]] = tuple
    again: Callable[[], Repeated | None] = _nothing
    once: Callable[[], float] = float
    pipelines: Callable[[], tuple[list[Pipeline], list[WhatIf]]] = _no_pipelines
    sample_run: "SampleRun | None" = None
    blocks: int | None = None
    idle: "IdleBlocks | None" = None
    paths: "BlockPaths | None" = None


def static_work(case: Case) -> Work:
    """Work with every access served by DRAM, and coalesced where the code does not give its addresses; notes state
    this.

    If a kernel takes longer than `static_patience`, the result is incomplete and has a note.
    """
    patience = static_patience(case.settings)
    deadline = time.thread_time() + patience if case.settings.ends_s is None else case.settings.ends_s
    instructions, arch = case.program.instructions, case.gpu.arch
    costs = addresses_known(case, deadline)
    timing = waits(instructions, case.latency, extra=_conflicts(costs))
    whole = with_block_start(on_board(straight(case.program, arch, timing, costs), case.gpu), case)
    loops, left_out = _pieces(case, timing, costs, deadline)
    late = any(access.depends_on == TOO_LATE for access in costs.values())
    stopped = (STOPPED.format(seconds=patience, loops=f" Loops left out: {left_out}." if left_out else ""),)
    return Work(
        mode="static",
        whole=whole,
        focus=_focus(whole, loops),
        loops=lambda: loops,
        schedule=schedule(whole_path(case.program), instructions, timing),
        by_level=cache(lambda: {
            level: with_block_start(straight(case.program, arch, _served(case, level, costs)), case).latency
            for level in LEVELS
        }),  # fmt: skip
        notes=(*(stopped if left_out or late else ()), NOTE, *address_notes(case, costs), NO_REUSE),
        accesses=lambda: costs,
    )


def _pieces(
    case: Case, timing: Sequence[Wait], costs: Predicted, deadline: float
) -> tuple[tuple[Piece, ...], int]:
    """One iteration of each loop, and how many loops there was no time for."""
    pieces: list[Piece] = []
    for loop, work in iterations(case.program, case.gpu.arch, timing, costs):
        parts = intervals(case.program, case.gpu.arch, loop, timing, costs)
        pieces.append(Piece(loop, on_board(work, case.gpu), intervals=tuple(on_board(w, case.gpu) for _, w in parts)))
        if time.thread_time() > deadline:
            break
    return tuple(pieces), sum(bool(loop.stream) for loop in loop_paths(case.program)) - len(pieces)


def addresses_known(case: Case, deadline: float = math.inf) -> Predicted:
    """Cost of accesses from the code's address arithmetic, for the launch or the assumed block size.

    deadline : in the thread's processor time, s, after which accesses are `TOO_LATE`.
    """
    program, launch = case.program, case.launch
    threads = threads_of(program, _block(case), launch.grid if launch else None, _scalars(case))
    streams = [whole_path(program), *(loop.stream for loop in loop_paths(program))]
    return predicted(program, case.gpu.arch, threads, streams, deadline)


def _block(case: Case) -> tuple[int, int, int]:
    """Block shape: the launch's; without one, rows of 32 threads where the code reads threadIdx.y, else one row."""
    if case.launch:
        return case.launch.block
    size = case.threads_per_block
    rows = any("SR_TID.Y" in instruction.text for instruction in case.program.instructions) and size % WARP == 0
    return (WARP, size // WARP, 1) if rows else (size, 1, 1)


def address_notes(case: Case, accesses: Predicted) -> tuple[str, ...]:
    """Notes: how addresses were derived from the code, and what is assumed where they were not."""
    block = [n for n in _block(case) if n > 1] or [1]
    note = ADDRESS_NOTE.format(block=" x ".join(str(n) for n in block))
    notes = (note,) if any(not access.depends_on for access in accesses.values()) else ()
    return (*notes, *assumed_coalesced(case.program.instructions, accesses))


def _scalars(case: Case) -> dict[int, int]:
    """Offset of each 4-byte parameter whose integer value the launch gives."""
    arguments = case.launch.args if case.launch else ()
    values = {argument.name: argument.value for argument in arguments if argument.kind == "scalar"}
    integers = {}
    for number, parameter in enumerate(case.program.parameters):
        value = values.get(parameter.name or number, values.get(number))
        if parameter.size == 4 and isinstance(value, int) and parameter.type not in ("float", "f32"):
            integers[parameter.offset] = value
    return integers


def _served(case: Case, level: str, accesses: Predicted) -> tuple[Wait, ...]:
    return waits(case.program.instructions, case.latency, lambda _: {level: 1.0}, _conflicts(accesses))


def _conflicts(accesses: Predicted) -> Callable[[int], float]:
    """Wavefronts beyond the conflict-free ones of the shared-memory access at an index."""

    def extra(index: int) -> float:
        access = accesses.get((index, "shared"), Access())
        return max(0.0, access.wavefronts - access.ideal_wavefronts)

    return extra


def with_block_start(work: Workload, case: Case) -> Workload:
    """The work plus the cycles that a block takes to start and end; boards give their time at the boost clock."""
    start = case.gpu.value("block_start") * case.gpu.value("boost_clock")
    return replace(work, latency=work.latency + start, parts=work.parts | {"start": start})


def _focus(whole: Workload, loops: tuple[Piece, ...]) -> Workload:
    """The loop that the verdict describes: the one with the most own instructions, since trip counts are unknown.

    A loop inside another one counts NESTING times as much per level.
    """
    own = [NESTING**piece.loop.depth * len(_own(piece.loop, loops)) for piece in loops]
    return loops[max(range(len(loops)), key=lambda n: own[n])].work if loops else whole


def _own(loop: LoopPath, loops: tuple[Piece, ...]) -> list[int]:
    """Instructions of an iteration that no inner loop repeats."""
    inner = {i for other in loops if other.loop.parent == loop.number for i in other.loop.stream}
    return [i for i in loop.stream if i not in inner]
