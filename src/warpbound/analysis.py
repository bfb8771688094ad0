"""One kernel on one GPU, from Program to an entry of the report: the order in which everything is asked."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from warpbound import entries
from warpbound.adapt.answers import answers
from warpbound.entries import Entry
from warpbound.errors import CommandError, InputError
from warpbound.isa.opcodes import OpcodeFacts
from warpbound.kernel_launch import Launch, check
from warpbound.latency import LEVELS, MemoryLatency, memory_latency, waits
from warpbound.machine import Gpu, clock, gpu
from warpbound.predict import NOTE, Place, Prediction, predict, saturating_warps
from warpbound.program import Program
from warpbound.residency import Residency, occupancy
from warpbound.schedule import schedule
from warpbound.whatif import whatifs
from warpbound.workload import Workload
from warpbound.workload.counting import facts_of
from warpbound.workload.paths import NOTE as PATH_NOTE
from warpbound.workload.paths import LoopPath
from warpbound.workload.paths import whole as whole_path
from warpbound.workload.static import COALESCED, NO_REUSE, iterations, straight

WARP = 32
BLOCK_SIZES = tuple(range(32, 1025, 32))


@dataclass(frozen=True)
class Settings:
    """How to answer: SM clock ("base", "boost" or MHz), caches at the start of the launch ("warm" or "cold"),
    models to show beside the answer, extra views ("sass": every instruction with its timing)."""

    clock: str | float = "boost"
    cache: str = "warm"
    models: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


DEFAULT = Settings()


@dataclass(frozen=True)
class Case:
    """A question with what follows from it at once."""

    program: Program
    gpu: Gpu
    launch: Launch | None
    settings: Settings
    residency: Residency
    block_note: tuple[str, ...]

    @cached_property
    def facts(self) -> tuple[OpcodeFacts, ...]:
        """What the GPU's architecture does with each instruction."""
        return facts_of(self.program.instructions, self.gpu.arch)

    @cached_property
    def clock_hz(self) -> float:
        """SM clock."""
        return clock(self.gpu, self.settings.clock)

    @cached_property
    def latency(self) -> MemoryLatency:
        """Unloaded latencies at that clock."""
        return memory_latency(self.gpu, self.clock_hz)

    @property
    def blocks(self) -> int | None:
        """Blocks of the launch."""
        return _product(self.launch.grid) if self.launch else None

    @property
    def place(self) -> Place:
        """Where the work runs."""
        count = self.gpu.value("sm_count")
        active = count if self.blocks is None else min(count, self.blocks)
        return Place(self.gpu, self.clock_hz, float(self.residency.warps_per_sm), float(active))


def analyze(
    program: Program, machine: str | Path | Gpu, launch: Launch | None = None, settings: Settings = DEFAULT
) -> Entry:
    """One entry of `results` (contract, section 3) for one kernel on one GPU.

    Raises CommandError where the launch breaks a limit, InputError where no block fits an SM.
    """
    case = _case(program, gpu(machine), launch, settings)
    if not case.gpu.board:
        return _architecture_only(case)
    return _static(case)


def _case(program: Program, board: Gpu, launch: Launch | None, settings: Settings) -> Case:
    if launch is None:
        size = _best_block(program, board)
        note = (f"no launch given: blocks of {size} threads, the size that fills an SM best",)
        return Case(program, board, None, settings, _residency(program, board, size, 0, None, None), note)
    check(launch)
    size = _product(launch.block)
    if program.max_threads is not None and size > program.max_threads:
        raise CommandError(
            f"{program.title} was compiled for at most {program.max_threads} threads per block; the launch has {size}.",
            "Choose a smaller block or another __launch_bounds__.",
        )
    blocks = _product(launch.grid) if board.get("sm_count") else None
    found = _residency(program, board, size, launch.smem, launch.carveout, blocks)
    if found.fitting_blocks_per_sm == 0:
        raise InputError(
            f"{program.title}: not one block of {size} threads fits on an SM of {board.name} "
            f"({', '.join(found.limiters)}).",
            " ".join(step.sentence for step in found.next_step) or "Use a smaller block.",
        )
    return Case(program, board, launch, settings, found, ())


def _residency(  # noqa: PLR0913  (each is one fact of the launch)
    program: Program, board: Gpu, threads: int, dynamic_shared: int, carveout: int | None, blocks: int | None
) -> Residency:
    return occupancy(
        board, threads, program.registers, program.shared_bytes + dynamic_shared, carveout,
        barriers=program.barriers, grid_blocks=blocks,
    )  # fmt: skip


def _best_block(program: Program, board: Gpu) -> int:
    """The block size that gives most resident warps; 256 among equals, else the smallest."""
    sizes = [size for size in BLOCK_SIZES if size <= (program.max_threads or 1024)] or [program.max_threads or 32]
    warps = {size: _residency(program, board, size, 0, None, None).warps_per_sm for size in sizes}
    most = max(warps.values())
    return 256 if warps.get(256) == most else min(size for size in sizes if warps[size] == most)


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]


def _frame(case: Case, mode: str) -> Entry:
    """The keys that every answer has, with nothing said of time."""
    assumed = [*case.program.assumed, *case.block_note]
    if case.program.proxy_isa:
        assumed.append(f"code of {case.program.proxy_isa} stands in for sm_{case.gpu.arch}: no compiler for it at hand")
    return {
        "kernel": case.program.title,
        "gpu": case.gpu.key,
        "mode": mode,
        "time_s": None,
        "time_interval_s": None,
        "cycles": None,
        "bottleneck": None,
        "runner_up": None,
        "occupancy": entries.occupancy_entry(case.residency),
        "latency": None,
        "bounds": [],
        "warps_needed": None,
        "instructions": entries.instructions_entry(None),
        "memory": entries.memory_entry(None),
        "flop": entries.flop_entry(None),
        "models": {},
        "whatifs": [],
        "loops": [],
        "confidence": {
            "expected_error": None,
            "interval_coverage": None,
            "assumed": assumed,
            "unknown_opcodes": entries.unknown_opcodes(case.program, case.facts),
            "proxy_isa": case.program.proxy_isa,
        },
        "sample": None,
        "cache": case.settings.cache,
        "clock_MHz": None,
        "gpu_name": case.gpu.name,
        "program": entries.program_entry(case.program, case.facts),
        "launch": _launch_entry(case.launch),
        "scope": None,
        "straight": None,
        "lines": [],
    }


def _launch_entry(launch: Launch | None) -> Entry | None:
    if launch is None:
        return None
    return {"grid": list(launch.grid), "block": list(launch.block), "smem": launch.smem}


def _architecture_only(case: Case) -> Entry:
    entry = _frame(case, "static")
    entry["confidence"]["assumed"].append(f"{case.gpu.name} is an architecture, no board: nothing is said of time")
    return entry


def _static(case: Case) -> Entry:
    """Loops and straight parts stand; whatever needs trip counts or addresses stays null."""
    entry = _frame(case, "static")
    timing = waits(case.program.instructions, case.latency)
    whole = _started(straight(case.program, case.gpu.arch, timing), case)
    loops = iterations(case.program, case.gpu.arch, timing)
    focus = _focus(whole, loops)
    prediction = predict(focus, case.place)
    entry |= _verdict(case, focus, prediction)
    entry["latency"] = entries.latency_entry(whole, _by_level(case))
    entry["straight"] = _piece(case, whole)
    entry["loops"] = [_piece(case, work) | {"depth": loop.depth, "parent": loop.parent} for loop, work in loops]
    entry["lines"] = entries.lines_entry(case.program, whole)
    entry["models"] = answers(case.settings.models, None)
    if "sass" in case.settings.views:
        timed = schedule(whole_path(case.program), case.program.instructions, timing)
        entry["sass"] = entries.sass_entry(case.program, timed, case.facts)
    entry["confidence"]["assumed"] += [PATH_NOTE, COALESCED, NO_REUSE, *_assumed_parameters(case)]
    return entry


def _verdict(case: Case, focus: Workload, prediction: Prediction) -> Entry:
    return {
        "scope": focus.title,
        "bottleneck": prediction.bottleneck,
        "runner_up": prediction.runner_up,
        "bounds": entries.bounds_entry(prediction),
        "warps_needed": prediction.warps_needed,
        "whatifs": entries.whatif_entry(whatifs(focus, case.place, case.residency)),
        "clock_MHz": case.clock_hz / 1e6,
    }


def _focus(whole: Workload, loops: tuple[tuple[LoopPath, Workload], ...]) -> Workload:
    """What the verdict is about: the innermost loop with most instructions, since trip counts are unknown."""
    inner = [work for loop, work in loops if loop.innermost]
    return max(inner, key=lambda work: work.warp_instructions, default=whole)


def _started(work: Workload, case: Case) -> Workload:
    """The same with the time a block takes to start and end."""
    start = case.gpu.value("block_start") * case.clock_hz
    return replace(work, latency=work.latency + start, parts=work.parts | {"start": start})


def _by_level(case: Case) -> dict[str, float]:
    """Latency of the whole kernel with every global load served by one level."""
    return {
        level: _started(
            straight(
                case.program, case.gpu.arch,
                waits(case.program.instructions, case.latency, lambda _, level=level: {level: 1.0}),  # type: ignore[misc]
            ),
            case,
        ).latency
        for level in LEVELS
    }  # fmt: skip


def _piece(case: Case, work: Workload) -> Entry:
    threads = {name: WARP * n for name, n in saturating_warps(work, case.gpu, case.clock_hz).items()}
    return entries.piece_entry(work, predict(work, case.place), threads, case.gpu)


def _assumed_parameters(case: Case) -> list[str]:
    assumed = [name for name in case.gpu.assumed if not name.startswith("tensor")]
    return [f"{case.gpu.name}: {', '.join(assumed)} (see `warpbound gpus {case.gpu.key}`)"] if assumed else []


__all__ = ["DEFAULT", "NOTE", "Settings", "analyze"]
