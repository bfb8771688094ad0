"""A case: a kernel on a GPU, its launch if given, and derived residency, clock and latencies."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path

from warpbound import machine
from warpbound.analysis.settings import SUSTAINED, Settings
from warpbound.errors import InputError
from warpbound.isa.opcodes import OpcodeFacts
from warpbound.kernel_launch import Launch, check
from warpbound.latency import MemoryLatency, memory_latency
from warpbound.machine import Gpu, clock
from warpbound.memory.l2_priorities import check_persisting
from warpbound.power import HeldClock, PowerParameters, power_parameters
from warpbound.predict import Place, active_sms
from warpbound.program import Program
from warpbound.program.arch_match import fits
from warpbound.program.kernel import check_program
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import Residency, occupancy
from warpbound.table_decoding import suggestion
from warpbound.workload.instruction_counts import facts_of

WARP = 32
CLUSTERS_FROM = 90
BLOCK_SIZES = tuple(range(32, 1025, 32))


@dataclass(frozen=True)
class Case:
    """A kernel on a GPU.

    block_note : how the block size was chosen where no launch is given. held_clock : the clock that the board holds
    under this load, once it is known.
    """

    program: Program
    gpu: Gpu
    launch: Launch | None
    settings: Settings
    residency: Residency
    threads_per_block: int
    block_note: tuple[str, ...]
    held_clock: HeldClock | None = None

    @cached_property
    def facts(self) -> tuple[OpcodeFacts, ...]:
        """Properties of each instruction on the GPU's architecture."""
        return facts_of(self.program.instructions, self.gpu.arch)

    @cached_property
    def clock_hz(self) -> float:
        """SM clock: that held under this load, where it is known."""
        if self.held_clock is not None:
            return self.held_clock.operation.clock_hz
        sustained = self.settings.clock == SUSTAINED and self.power is not None
        return clock(self.gpu, SUSTAINED if sustained else self.clock_word)

    @property
    def clock_word(self) -> str | float:
        """As requested; boost if the sustained clock was requested and the board's power is not known."""
        return "boost" if self.settings.clock == SUSTAINED else self.settings.clock

    @cached_property
    def power(self) -> PowerParameters | None:
        """The board's power parameters; None if they are not known."""
        return power_parameters(self.gpu)

    @cached_property
    def latency(self) -> MemoryLatency:
        """Unloaded latencies at that clock."""
        return memory_latency(self.gpu, self.clock_hz)

    @property
    def blocks(self) -> int | None:
        """Blocks of the launch."""
        return product(self.launch.grid) if self.launch else None

    @property
    def place(self) -> Place:
        """Where the work runs."""
        count = self.gpu.value("sm_count")
        active = count if self.blocks is None else active_sms(self.blocks, count)
        return Place(self.gpu, self.clock_hz, float(self.residency.warps_per_sm), float(active))


def checked_case(program: Program, gpu: str | Path | Gpu, launch: Launch | None, settings: Settings) -> Case:
    """The case of a program, after a check that the GPU can run its code.

    Raises CommandError for values of another kind, InputError for code of another architecture.
    """
    check_program(program)
    board = machine.gpu(gpu)
    return case_of(fits(program, board), board, launch, settings)


def case_of(program: Program, board: Gpu, launch: Launch | None, settings: Settings) -> Case:
    if launch is None:
        size = _best_block(program, board)
        note = (f"no launch given: blocks of {size} threads, the size that fills an SM best",)
        return Case(program, board, None, settings, _residency(program, board, size, 0, None, None), size, note)
    check(launch)
    if board.arch < CLUSTERS_FROM and product(launch.cluster or (1, 1, 1)) > 1:
        raise InputError(
            f"{board.name}: compute capability {board.compute_capability} has no clusters of blocks; 9.0 is the first.",
            "Leave the cluster out, or choose another GPU.",
        )
    size = product(launch.block)
    if program.max_threads is not None and size > program.max_threads:
        raise InputError(
            f"{program.title} was compiled for at most {program.max_threads} threads per block; the launch has {size}.",
            "Choose a smaller block or another __launch_bounds__.",
        )
    blocks = product(launch.grid) if board.get("sm_count") else None
    if launch.persist is not None:
        check_persisting(board, *persisting_array(launch))
    residency = _residency(program, board, size, launch.smem, launch.carveout, blocks)
    if residency.fitting_blocks_per_sm == 0:
        raise InputError(
            f"{program.title}: not one block of {size} threads fits on an SM of {board.name} "
            f"({', '.join(residency.limiters)}).",
            " ".join(step.sentence for step in residency.next_step) or "Use a smaller block.",
        )
    return Case(program, board, launch, settings, residency, size, ())


def persisting_array(launch: Launch) -> tuple[str, int]:
    """Name and bytes of the array that shall persist in L2. Raises InputError if the launch has no such array."""
    arrays = {str(each.name): each.size_B for each in launch.args if each.kind == "array"}
    name = str(launch.persist)
    if name not in arrays:
        raise InputError(f"the launch has no array '{name}' that could persist in L2.", suggestion(name, arrays))
    return name, arrays[name]


def _residency(  # noqa: PLR0913  (each is one fact of the launch)
    program: Program, board: Gpu, threads: int, dynamic_shared: int, carveout: int | None, blocks: int | None
) -> Residency:
    residency = occupancy(
        board, threads, program.registers, program.shared_bytes + dynamic_shared, carveout,
        barriers=program.barriers, tensor_columns=program.tensor_columns, grid_blocks=blocks,
    )  # fmt: skip
    return replace(residency, ruled_out=frozenset({"threads"})) if program.block_size_fixed else residency


def _best_block(program: Program, board: Gpu) -> int:
    """The block size that gives most resident warps; 256 among equals, else the smallest."""
    most = min(program.max_threads or 1024, board.limits.max_threads_per_block)
    sizes = [size for size in BLOCK_SIZES if size <= most] or [most]
    warps = {size: _residency(program, board, size, 0, None, None).warps_per_sm for size in sizes}
    fullest = max(warps.values())
    return 256 if warps.get(256) == fullest else min(size for size in sizes if warps[size] == fullest)


def product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
