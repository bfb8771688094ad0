"""Work from the code alone: loops and straight parts; nothing that needs trip counts or addresses."""

from dataclasses import dataclass, field, replace

from warpbound.analysis.case import Case
from warpbound.analysis.entries import Entry
from warpbound.latency import LEVELS, waits
from warpbound.schedule import Schedule, Wait, schedule
from warpbound.workload import Memory, Workload
from warpbound.workload.paths import NOTE, LoopPath
from warpbound.workload.paths import whole as whole_path
from warpbound.workload.static import COALESCED, NO_REUSE, iterations, straight


@dataclass(frozen=True)
class Piece:
    """A loop's iteration: where it is, what it costs, how often it runs per entry (None: not known)."""

    loop: LoopPath
    work: Workload
    trips: float | None = None


@dataclass(frozen=True)
class Work:
    """What is known of the kernel's work.

    whole : one warp through the kernel. focus : what the verdict is about. by_level : latency of the whole with all
    global loads served by one level. launch_memory : traffic of the whole launch, None where it is not known.
    longest_warp : instructions of the longest sampled warp over those of the typical one.
    not_executed : why the blocks could not be executed although the launch gives every argument.
    """

    mode: str
    whole: Workload
    focus: Workload
    loops: tuple[Piece, ...]
    timed: Schedule
    by_level: dict[str, float]
    notes: tuple[str, ...]
    sample: Entry | None = None
    launch_memory: Memory | None = None
    hit_rates: tuple[float | None, float | None] = field(default=(None, None))
    not_executed: str | None = None
    longest_warp: float = 1.0


def static_work(case: Case) -> Work:
    """Every access taken as coalesced and served by DRAM, and said so."""
    instructions, arch = case.program.instructions, case.gpu.arch
    timing = waits(instructions, case.latency)
    whole = with_start(straight(case.program, arch, timing), case)
    loops = tuple(Piece(loop, work) for loop, work in iterations(case.program, arch, timing))
    return Work(
        mode="static",
        whole=whole,
        focus=_focus(whole, loops),
        loops=loops,
        timed=schedule(whole_path(case.program), instructions, timing),
        by_level={
            level: with_start(straight(case.program, arch, _served(case, level)), case).latency for level in LEVELS
        },
        notes=(NOTE, COALESCED, NO_REUSE),
    )


def _served(case: Case, level: str) -> tuple[Wait, ...]:
    return waits(case.program.instructions, case.latency, lambda _: {level: 1.0})


def with_start(work: Workload, case: Case) -> Workload:
    """The same with the time a block takes to start and end."""
    start = case.gpu.value("block_start") * case.clock_hz
    return replace(work, latency=work.latency + start, parts=work.parts | {"start": start})


def _focus(whole: Workload, loops: tuple[Piece, ...]) -> Workload:
    """What the verdict is about: the innermost loop with most instructions, since trip counts are unknown."""
    inner = [piece.work for piece in loops if piece.loop.innermost]
    return max(inner, key=lambda work: work.warp_instructions, default=whole)
