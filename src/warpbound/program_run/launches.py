"""Launches of a program: executed on the shared memory, predicted from a sample of their blocks."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from hashlib import blake2b

from warpbound.analysis import Settings
from warpbound.analysis.launch_time import LaunchTime, launch_time
from warpbound.emulate.device_heap import uses_heap
from warpbound.emulate.emulator import Kernel as ReadyKernel
from warpbound.emulate.emulator import make_ready
from warpbound.emulate.launch_memory import Memory, waits_for_grid
from warpbound.emulate.limits import PASS, REFUSE
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Dim, Launch
from warpbound.machine import Gpu
from warpbound.program.kernel import Program
from warpbound.program_run.device_memory import Heap, HeapImage
from warpbound.program_run.modules import Kernel
from warpbound.program_run.protocol import MemoryKind
from warpbound.program_run.worker_processes import run_all_blocks
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import occupancy

AGREED = 0.05  # if times of launches of equal shape differ by less, the next one gets the same time
PREDICTIONS = 6  # predicted launches of one shape with other arguments; all later ones get the time of the last


@dataclass(frozen=True)
class Request:
    """A launch as the program requests it; parameters : the bytes of the parameter area."""

    kernel: Kernel
    grid: Dim
    block: Dim
    smem: int
    stream: int
    cluster: Dim | None
    cooperative: bool
    parameters: bytes
    carveout: int | None = None

    @property
    def shape(self) -> tuple[object, ...]:
        return self.kernel.key, self.grid, self.block, self.smem, self.cluster

    def launch(self, image: Callable[[], HeapImage]) -> Launch:
        """The launch with its memory; image : global memory, made anew for every use."""

        def placed(program: Program, launch: Launch) -> Memory:
            return self.kernel.module.memory(program, launch, self.parameters, image())

        return Launch(
            grid=self.grid, block=self.block, smem=self.smem, cluster=self.cluster, carveout=self.carveout,
            placed=placed,
        )  # fmt: skip


@dataclass(frozen=True)
class Timing:
    """The predicted time of a launch. number : of the launch that was predicted; why_not : why there is no time."""

    number: int
    result: LaunchTime | None
    why_not: str = ""

    @property
    def time_s(self) -> float | None:
        return self.result.time_s if self.result else None

    @property
    def warp_instructions(self) -> float:
        """Of the whole launch; 0 where they are not known."""
        return (self.result.warp_instructions if self.result else None) or 0.0


class Predictor:
    """Times of launches on a board. A launch with the arguments of an earlier one takes its time; so do launches of
    equal shape whose times have been seen to agree."""

    def __init__(self, board: Gpu, settings: Settings) -> None:
        self.board, self.settings = board, settings
        self._equal: dict[tuple[object, ...], Timing] = {}
        self._of_shape: dict[tuple[object, ...], list[Timing]] = {}

    def predict(self, request: Request, heap: Heap, number: int) -> Timing:
        """The timing of launch `number`, before it is executed."""
        key = (*request.shape, request.parameters)
        before = self._of_shape.setdefault(request.shape, [])
        prediction = self._equal.get(key)
        if prediction is None and len(before) > 1 and (_agree(before[-2:]) or len(before) >= PREDICTIONS):
            prediction = before[-1]
        if prediction is None:
            prediction = self._predicted(request, heap, number)
            before.append(prediction)
        self._equal[key] = prediction
        return prediction

    def _predicted(self, request: Request, heap: Heap, number: int) -> Timing:
        if waits_for_grid(request.kernel.program):
            request.kernel.module.make_barrier()
        try:
            launch = request.launch(heap.snapshot)
            result = launch_time(request.kernel.program, self.board, launch, self.settings)
        except WarpboundError as problem:
            return Timing(number, None, str(problem))
        return Timing(number, result, result.why_not)


def _agree(timings: Sequence[Timing]) -> bool:
    times = [timing.time_s for timing in timings]
    present = [each for each in times if each is not None]
    return not present or len(present) == len(times) and max(present) <= (1 + AGREED) * min(present)


@dataclass
class Effect:
    """Allocations that a launch has read and written: the start of each, and its contents (`Executor._contents`) since.

    None : an allocation was read and then changed, so an equal launch would have another effect.
    """

    contents: dict[int, object | None] = field(default_factory=dict)
    stored: dict[int, object] = field(default_factory=dict)


class KernelFailure(Exception):
    """A kernel that cannot go on; `reason` states why and where."""

    def __init__(self, problem: InputError) -> None:
        super().__init__(str(problem))
        self.reason = problem.reason
        self.not_executed = problem.reason.startswith("The emulator does not execute")
        self.assertion = "ssertion" in problem.reason
        self.access = bool(re.search(r"address 0x", problem.reason))


class Executor:
    """Executes launches on the memory of the device; launches whose effect is there already are not repeated."""

    def __init__(self, heap: Heap, out_of_bounds: str = REFUSE) -> None:
        self.heap, self.out_of_bounds = heap, out_of_bounds
        self.strays: dict[str, int] = {}  # kernel -> accesses of single lanes outside all allocations that passed
        self._effects: dict[bytes, Effect] = {}
        self._kernels: dict[int, ReadyKernel] = {}  # of the last launch, by number of the kernel
        self.seconds = 0.0  # of processor time, of the process that takes longest: by the clock where nothing else runs

    def execute(self, request: Request, output: list[bytes], instructions: float) -> bool:
        """Execute all blocks; False where an equal launch has left the memory as it is. Raises KernelFailure.

        output : takes what the kernel prints. instructions : warp instructions, as far as they are known.
        """
        key = self._key(request)
        effect = self._effects.get(key)
        if effect is not None and self._stands(effect):
            return False
        if waits_for_grid(request.kernel.program):
            request.kernel.module.make_barrier()
        image = HeapImage(self.heap, self.heap.bytes)
        image.output = output
        if self.out_of_bounds == PASS:
            image.let_strays_pass()
        began = time.thread_time()
        try:
            number = request.kernel.number
            before = self._kernels.get(number)
            kernel = make_ready(request.kernel.program, request.launch(lambda: image), earlier=before)
            self._kernels[number] = kernel
            self.seconds += run_all_blocks(kernel, image, instructions)
        except InputError as problem:
            raise KernelFailure(problem) from problem
        finally:
            self.seconds += time.thread_time() - began
        if image.strays:
            title = request.kernel.program.title
            self.strays[title] = self.strays.get(title, 0) + image.strays
        if not output and not uses_heap(request.kernel.program):  # which hands out other memory the next time
            self._effects[key] = self._effect(image)
        return True

    def _key(self, request: Request) -> bytes:
        module = request.kernel.module
        constants = b""
        if module.constants and (piece := self.heap.at(module.constants)):
            constants = self.heap.bytes[piece.start : piece.end].tobytes()
        return blake2b(repr((request.shape, request.parameters)).encode() + constants, digest_size=16).digest()

    def _effect(self, image: HeapImage) -> Effect:
        pieces, changing = self.heap.pieces, image.read & image.stored
        effect = Effect(contents={pieces[i].start: None if i in changing else self._contents(i) for i in image.read})
        for i in image.stored:
            self.heap.changed_piece(i)
        effect.stored = {pieces[i].start: self._contents(i) for i in image.stored}
        return effect

    def _stands(self, effect: Effect) -> bool:
        """Whether the memory that the launch read and wrote is unchanged since then."""
        if any(contents is None for contents in effect.contents.values()):
            return False
        at = {piece.start: i for i, piece in enumerate(self.heap.pieces)}
        whole = effect.contents | effect.stored
        return all(start in at and self._contents(at[start]) == contents for start, contents in whole.items())

    def _contents(self, index: int) -> object:
        """Equal for equal contents: the version, or a hash where the program may write without a call."""
        piece = self.heap.pieces[index]
        if piece.kind == MemoryKind.DEVICE_MEMORY:
            return piece.version
        return blake2b(self.heap.bytes[piece.start : piece.end].data, digest_size=16).digest()


def blocks_per_sm(request: Request, board: Gpu) -> int:
    program = request.kernel.program
    threads = request.block[0] * request.block[1] * request.block[2]
    shared = program.shared_bytes + request.smem
    columns = program.tensor_columns
    return occupancy(
        board, threads, program.registers, shared, barriers=program.barriers, tensor_columns=columns
    ).blocks_per_sm


