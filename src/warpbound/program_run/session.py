"""One program's use of the device: answers to the questions of its libcudart, and the record of its launches."""

from collections.abc import Callable
from dataclasses import field
from functools import partial

from warpbound.emulate.device_heap import uses_heap
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import Dim
from warpbound.machine import Gpu
from warpbound.program_run.device_memory import Heap
from warpbound.program_run.launches import (
    Executor,
    KernelFailure,
    Predictor,
    Request,
    Timing,
    blocks_per_sm,
)
from warpbound.program_run.modules import Kernel, Module, NoCode
from warpbound.program_run.properties import attribute, capacity, device_properties
from warpbound.program_run.protocol import COOPERATIVE, Answer, CudaError, MemoryKind, Operation, Question, Refusal
from warpbound.program_run.race_check import RaceCheck
from warpbound.program_run.texture_descriptions import described
from warpbound.program_run.timeline import Timeline, link_bandwidth
from warpbound.quick_dataclasses import dataclass
from warpbound.result.program_run import Executed

UNKNOWN = 1e7  # warp instructions of a launch that is not predicted
LARGEST_GRID, LARGEST_BLOCK = (2**31 - 1, 65535, 65535), (1024, 1024, 64)


@dataclass(frozen=True)
class LaunchChoice:
    """Which launches are executed in full and predicted.

    every_block : all blocks are executed, so that results are true. timed : whether a launch (kernel's title, number of
    the launch among those of that name) is predicted. checks : further checks: "races".
    """

    every_block: bool
    timed: Callable[[str], bool]
    checks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class EndedLaunch:
    """A launch that has ended."""

    request: Request
    timing: Timing | None
    execution: Executed
    start_s: float


@dataclass
class Log:
    """The records of all programs of a run, for the report."""

    launches: list[EndedLaunch] = field(default_factory=list)
    unsupported: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    strays: dict[str, int] = field(default_factory=dict)  # by kernel, as of `Executor`
    timelines: list[Timeline] = field(default_factory=list)
    busy_s: float = 0.0

    def refuse(self, name: str) -> None:
        self.unsupported[name] = self.unsupported.get(name, 0) + 1


class Session:
    """The device of one process."""

    def __init__(self, board: Gpu, predictor: Predictor, choice: LaunchChoice, log: Log) -> None:
        self.board, self.predictor, self.choice, self.log = board, predictor, choice, log
        self.heap = Heap(capacity(board))
        self.executor = Executor(self.heap, predictor.settings.out_of_bounds)
        self.executor.strays = log.strays
        self.fitting: dict[object, int] = {}  # blocks of a kernel that fit on the GPU, by its number, block and memory
        self.timeline = Timeline()
        log.timelines.append(self.timeline)
        self.modules: list[Module] = []
        self.kernels: list[Kernel] = []
        self.carveouts: dict[int, int] = {}
        self.allowed: dict[int, int] = {}
        self.races = RaceCheck(self.heap)
        self._answers: dict[Operation, Callable[[Question], Answer]] = {
            Operation.REFUSED: self._refused, Operation.MODULE: self._module, Operation.KERNEL: self._kernel,
            Operation.VARIABLE: self._variable, Operation.ALLOCATE: self._allocate, Operation.RELEASE: self._release,
            Operation.POINTER: self._pointer, Operation.MEMORY_LEFT: self._memory_left, Operation.COPY: self._copy,
            Operation.FILL: self._fill, Operation.LAUNCH: self._launch, Operation.OCCUPANCY: self._occupancy,
            Operation.SHARED_LEFT: self._shared_left, Operation.ALLOW_SHARED: self._allow_shared,
            Operation.CARVE: self._carve, Operation.PROPERTIES: self._properties, Operation.ATTRIBUTE: self._attribute,
            Operation.REGISTER: self._register, Operation.UNREGISTER: self._unregister,
            Operation.DESCRIBE_TEXTURE: self._describe_texture, Operation.FORGET_TEXTURE: self._forget_texture,
            Operation.LIMIT_MALLOC: self._limit_malloc,
            Operation.SYNCHRONIZE: partial(self._noted, self.timeline.synchronize),
            Operation.RECORD: partial(self._noted, self.timeline.record),
            Operation.WAIT: partial(self._noted, self.timeline.wait),
            Operation.WAIT_ON_HOST: partial(self._noted, self.timeline.wait_on_host), Operation.ELAPSED: self._elapsed,
        }  # fmt: skip

    def answer(self, question: Question) -> Answer:
        try:
            return self._answers[question.operation](question)
        except NoCode as none:
            self._problem(none.why)
            return Answer(error=none.error)
        except Refusal as refusal:
            return Answer(error=refusal.error)
        except WarpboundError as problem:
            self._problem(str(problem))
            return Answer(error=CudaError.LAUNCH_FAILURE)

    def close(self) -> None:
        self.heap.close()

    def _problem(self, sentence: str) -> None:
        if sentence not in self.log.problems:
            self.log.problems.append(sentence)

    # --- code ---

    def _refused(self, question: Question) -> Answer:
        self.log.refuse(question.data.decode(errors="replace"))
        return Answer()

    def _module(self, question: Question) -> Answer:
        self.modules.append(Module(question.data, "the program", self.board, self.heap))
        return Answer((len(self.modules),))

    def _kernel(self, question: Question) -> Answer:
        module = self.modules[question.words[0] - 1]
        program = module.programs.get(question.data.decode(errors="replace"))
        if program is None:
            raise Refusal(CudaError.INVALID_DEVICE_FUNCTION)
        kernel = Kernel(len(self.kernels) + 1, module, program)
        self.kernels.append(kernel)
        layout = b"".join(
            each.offset.to_bytes(4, "little") + each.size.to_bytes(4, "little") for each in program.parameters
        )
        return Answer((kernel.number, *kernel.attributes()), layout)

    def _variable(self, question: Question) -> Answer:
        return Answer(self.modules[question.words[0] - 1].variable(question.data.decode(errors="replace")))

    # --- memory ---

    def _allocate(self, question: Question) -> Answer:
        size, kind = question.words
        return Answer((self.heap.allocate(max(size, 1), MemoryKind(kind)),)) if size else Answer((0,))

    def _release(self, question: Question) -> Answer:
        self.heap.release(question.words[0])
        return Answer()

    def _pointer(self, question: Question) -> Answer:
        address = question.words[0]
        piece, offset = self.heap.at(address), self.heap.offset(address)
        if piece is None or offset is None:
            return Answer((0, 0, 0, 0))
        start = self.heap.address(piece)
        return Answer((piece.kind, start, piece.size, start + offset - piece.start))

    def _memory_left(self, question: Question) -> Answer:
        return Answer((self.heap.capacity - self.heap.used, self.heap.capacity))

    def _copy(self, question: Question) -> Answer:
        to, to_size, source, source_size, size, stream, blocking = question.words
        if not (self.heap.holds(to, to_size) and self.heap.holds(source, source_size)):
            raise Refusal(CudaError.INVALID_VALUE)
        self.heap.changed(to)
        ends = ["device" if self._on_device(address) else "host" for address in (source, to)]
        what = f"copy from {ends[0]} to {ends[1]}"
        seconds = 0.0
        if ends == ["device", "device"]:
            seconds = 2 * size / self.board.value("dram_achievable_bandwidth")
        elif "device" in ends:
            seconds = size / link_bandwidth(self.board)
        self.timeline.copy(what, stream, seconds)
        if blocking:
            self.timeline.synchronize(stream)
        return Answer()

    def _on_device(self, address: int) -> bool:
        piece = self.heap.at(address)
        return piece is not None and piece.kind != MemoryKind.HOST_MEMORY

    def _fill(self, question: Question) -> Answer:
        to, extent, size, stream = question.words
        if self.heap.at(to) is None or not self.heap.holds(to, extent):
            raise Refusal(CudaError.INVALID_VALUE)
        self.heap.changed(to)
        self.timeline.copy("fill", stream, size / self.board.value("dram_achievable_bandwidth"))
        return Answer()

    def _limit_malloc(self, question: Question) -> Answer:
        if self.heap.device_heap is not None:
            raise Refusal(CudaError.INVALID_VALUE)
        self.heap.malloc_B = question.words[0]
        return Answer()

    def _register(self, question: Question) -> Answer:
        address, size, copy = question.words
        self.heap.register(address, size, copy)
        return Answer()

    def _unregister(self, question: Question) -> Answer:
        if not self.heap.unregister(question.words[0]):
            raise Refusal(CudaError.INVALID_VALUE)
        return Answer()

    # --- textures ---

    def _describe_texture(self, question: Question) -> Answer:
        return Answer((self.heap.describe(described(question)),))

    def _forget_texture(self, question: Question) -> Answer:
        if self.heap.textures.pop(question.words[0], None) is None:
            raise Refusal(CudaError.INVALID_VALUE)
        return Answer()

    # --- kernels ---

    def _launch(self, question: Question) -> Answer:
        request = self._request(question)
        board, kernel = self.board, request.kernel
        if not all(0 < size <= most for size, most in zip(request.grid, LARGEST_GRID, strict=True)) or not all(
            0 < size <= most for size, most in zip(request.block, LARGEST_BLOCK, strict=True)
        ):
            raise Refusal(CudaError.INVALID_CONFIGURATION)
        default = max(0, board.limits.default_shared_per_block - kernel.program.shared_bytes)
        largest_smem = self.allowed.get(kernel.number, default)
        if request.smem > largest_smem or _product(request.block) > board.limits.max_threads_per_block:
            raise Refusal(CudaError.INVALID_CONFIGURATION if request.smem <= largest_smem else CudaError.INVALID_VALUE)
        at_once = self._blocks_at_once(request)
        if at_once == 0:
            raise Refusal(CudaError.OUT_OF_RESOURCES)
        if request.cooperative and _product(request.grid) > at_once:
            raise Refusal(CudaError.COOPERATIVE_TOO_LARGE)
        if uses_heap(kernel.program):
            self.heap.make_device_heap()
        return self._executed(request)

    def _blocks_at_once(self, request: Request) -> int:
        """Blocks of a launch that fit on the GPU."""
        shape = request.kernel.number, request.block, request.smem
        if shape not in self.fitting:
            self.fitting[shape] = blocks_per_sm(request, self.board) * int(self.board.value("sm_count"))
        return self.fitting[shape]

    def _request(self, question: Question) -> Request:
        number, gx, gy, gz, bx, by, bz, smem, stream, cx, cy, cz, flags = question.words
        return Request(
            kernel=self.kernels[number - 1], grid=(gx, gy, gz), block=(bx, by, bz), smem=smem, stream=stream,
            cluster=(cx, cy, cz) if cx else None, cooperative=bool(flags & COOPERATIVE), parameters=question.data,
            carveout=self.carveouts.get(number),
        )  # fmt: skip

    def _executed(self, request: Request) -> Answer:
        number = len(self.log.launches) + 1
        timing = None
        if self.choice.timed(request.kernel.program.title):
            timing = self.predictor.predict(request, self.heap, number)
        seconds = (timing.time_s if timing else None) or 0.0
        share = _product(request.grid) / max(1, self._blocks_at_once(request))
        start = self.timeline.kernel(request.kernel.program.title, request.stream, seconds, share, number)
        if "races" in self.choice.checks:
            for sentence in self.races.of(request):
                self._problem(sentence)
        output: list[bytes] = []
        instructions = timing.warp_instructions if timing else UNKNOWN
        how: Executed = "sampled"
        error = CudaError.SUCCESS
        if self.choice.every_block:
            try:
                how = "all" if self.executor.execute(request, output, instructions) else "repeated"
            except KernelFailure as failure:
                how, error = "failed", self._failure(failure)
        self.log.launches.append(EndedLaunch(request, timing, how, start))
        self.log.busy_s = self.executor.seconds
        return Answer(error=error, output=b"".join(output))

    def _failure(self, failure: KernelFailure) -> CudaError:
        if failure.not_executed:
            self.log.refuse(failure.reason)
            return CudaError.NOT_SUPPORTED
        self._problem(failure.reason)
        if failure.assertion:
            return CudaError.ASSERTION
        return CudaError.ILLEGAL_ADDRESS if failure.access else CudaError.LAUNCH_FAILURE

    def _occupancy(self, question: Question) -> Answer:
        number, threads, smem = question.words
        return Answer((self._fitting(number, threads, smem),))

    def _fitting(self, number: int, threads: int, smem: int) -> int:
        block: Dim = (max(1, threads), 1, 1)
        request = Request(self.kernels[number - 1], (1, 1, 1), block, smem, 0, None, cooperative=False, parameters=b"")
        if threads > self.board.limits.max_threads_per_block:
            return 0
        return blocks_per_sm(request, self.board)

    def _shared_left(self, question: Question) -> Answer:
        number, blocks, threads = question.words
        most, step = self.board.limits.default_shared_per_block, self.board.limits.shared_unit
        fitting = (smem for smem in range(most, -1, -step) if self._fitting(number, threads, smem) >= blocks)
        return Answer((next(fitting, 0),))

    def _allow_shared(self, question: Question) -> Answer:
        number, size = question.words
        program = self.kernels[number - 1].program
        if size + program.shared_bytes > self.board.limits.max_shared_per_block:
            raise Refusal(CudaError.INVALID_VALUE)
        self.allowed[number] = max(size, self.board.limits.default_shared_per_block - program.shared_bytes)
        return Answer()

    def _carve(self, question: Question) -> Answer:
        number, percent = question.words
        if percent <= 100:
            sizes = self.board.limits.carveouts_KiB
            preferred_kb = percent / 100 * self.board.limits.shared_per_sm / 1024
            self.carveouts[number] = next((size for size in sizes if size >= preferred_kb), sizes[-1])
        else:
            self.carveouts.pop(number, None)
        return Answer()

    # --- the device and its time ---

    def _properties(self, question: Question) -> Answer:
        return Answer(data=device_properties(self.board, question.words[0]))

    def _attribute(self, question: Question) -> Answer:
        return Answer((attribute(self.board, question.words[0]),))

    def _elapsed(self, question: Question) -> Answer:
        first, second = question.words
        return Answer((round(self.timeline.elapsed(first, second) * 1e12),))

    def _noted(self, note: Callable[..., None], question: Question) -> Answer:
        note(*question.words)
        return Answer()


def _product(size: Dim) -> int:
    return size[0] * size[1] * size[2]
