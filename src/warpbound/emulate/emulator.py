"""Executes a launch: blocks in chunks, each instruction once for all warps at the same program counter."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_pairs import reserved_for_pairs
from warpbound.emulate.clusters import cluster_of, together
from warpbound.emulate.code_facts import CodeFacts
from warpbound.emulate.control_flow import STOP, Flow, never_taken
from warpbound.emulate.handler_building import BROKEN, Handler, handler_of, refusal
from warpbound.emulate.handlers import CONTROL, PLAIN
from warpbound.emulate.lane_groups import TURNS
from warpbound.emulate.lane_queries import some
from warpbound.emulate.launch_memory import Memory, prepare
from warpbound.emulate.livelock import Endless
from warpbound.emulate.memory_windows import Window
from warpbound.emulate.operand_access import site, unsupported
from warpbound.emulate.semantics import Build
from warpbound.emulate.special_registers import SpecialRegisters
from warpbound.emulate.state import LANES, BadAccess, State
from warpbound.emulate.symbol_addresses import with_addresses
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Dim, Launch, check
from warpbound.program.cubin import reserved_shared_B
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass

STEP_LIMIT = 20_000_000  # instructions executed by groups, per chunk of blocks
SLICE = 20_000  # steps of a chunk whose threads poll, after which other chunks may go on or begin
SPINS = 64  # rounds of nothing but polling after which they may earlier
RESIDENT_CHUNKS = 16  # chunks that may wait for each other; a grid-wide barrier needs all blocks among them
CHUNK_LANES = 16384
SHARING = 8  # chunks in one where blocks draw work from a counter: the first ones must not take it all
SHARED_CHUNKS = 3  # of these at once: together they hold what fits the largest GPU, 148 SMs of 2048 threads
CHUNK_B = 64 << 20  # registers, shared and local memory of a chunk, unless one cluster of blocks needs more



@dataclass(frozen=True)
class Kernel:
    """A program compiled to handlers for one launch; `handlers` is None for control instructions.

    short : branches that always go to one place, and that place. whole_warp : branches that raise DivergedWarp where a
    warp takes them. checked : loads that check whether the stores of what they read were left out.
    """

    facts: CodeFacts
    launch: Launch
    memory: Memory
    handlers: tuple[Handler | None, ...]
    cluster: Dim
    short: Mapping[int, int] = field(default_factory=dict)
    whole_warp: frozenset[int] = frozenset()
    checked: frozenset[int] = frozenset()
    at_once: int | None = None  # blocks that run at the same time, as far as memory allows; None: as many as is quick

    @property
    def threads(self) -> int:
        x, y, z = self.launch.block
        return x * y * z

    @property
    def lanes_per_block(self) -> int:
        return -(-self.threads // LANES) * LANES

    @property
    def shared_size(self) -> int:
        """Bytes of shared memory per block, including the part that the driver reserves from sm_90 on."""
        reserved = reserved_shared_B(self.program.arch)
        return -(-(reserved + self.program.shared_bytes + self.launch.smem) // 16) * 16

    @property
    def block_count(self) -> int:
        x, y, z = self.launch.grid
        return x * y * z

    @property
    def cluster_size(self) -> int:
        return int(np.prod(self.cluster))

    @property
    def program(self) -> Program:
        return self.facts.program

    @property
    def breadth(self) -> int:
        """Size limit of this kernel's chunks, in default chunks."""
        return SHARING if self.facts.draws_work else 1

    @property
    def chunks_at_once(self) -> int:
        return RESIDENT_CHUNKS if self.breadth == 1 else SHARED_CHUNKS

    def blocks_per_chunk(self) -> int:
        """Blocks per chunk: as many as memory and speed suggest, in whole clusters."""
        register_bytes = 4 * (self.facts.registers + 24) * self.lanes_per_block
        block_bytes = register_bytes + self.shared_size  # of the stack, what is written
        per_block = block_bytes + self.facts.stack_B * self.lanes_per_block
        quick = self.breadth * min(CHUNK_LANES // self.lanes_per_block, CHUNK_B // per_block)
        fitting = min(self.at_once, 4 * CHUNK_B // block_bytes) if self.at_once else quick
        return max(1, fitting // self.cluster_size) * self.cluster_size

    def whole_clusters(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The blocks in the order in which they are executed, with those that share a cluster with them."""
        return blocks if self.cluster_size == 1 else together(blocks, self.launch.grid, self.cluster)


def make_ready(
    program: Program, launch: Launch, plain: Mapping[str, Build] = PLAIN, earlier: Kernel | None = None,
    unbuilt: Set[int] = frozenset(),
) -> Kernel:  # fmt: skip
    """Place the launch in memory and compile every instruction but control into a handler.

    plain : what builds the handlers, by opcode. earlier : the kernel of an earlier launch of the same program, whose
    handlers serve again where the launch changes nothing in them. unbuilt : instructions that get none.
    """
    check(launch)
    memory = prepare(program, launch)
    facts = earlier.facts if earlier else CodeFacts(program)
    if earlier and earlier.memory.addresses == memory.addresses:
        remains = facts.unchanged(earlier.memory.constants.banks, memory.constants.banks)
    else:
        earlier, remains = None, [False] * len(program.instructions)
    handlers = tuple(
        None if i in unbuilt
        else earlier.handlers[i] if earlier and remains[i]
        else handler_of(with_addresses(x, memory.addresses), memory.constants, program.arch, plain)
        for i, x in enumerate(program.instructions)
    )  # fmt: skip
    return Kernel(facts, launch, memory, handlers, cluster_of(program, launch))


def _goes_to(place: int) -> Handler:
    return lambda x: place


class Chunk:
    """Some blocks of a launch, executed together; first_warp is the place of their first among all that run."""

    state: type[State] = State

    def __init__(self, kernel: Kernel, blocks: Sequence[int] | NDArray[np.int64], first_warp: int = 0) -> None:
        self.kernel = kernel
        self.first_warp = first_warp
        self.blocks = np.asarray(blocks, np.int64)
        lanes = kernel.lanes_per_block
        x = self.state(len(self.blocks) * lanes // LANES, kernel.facts.registers, kernel.facts.uniform_registers)
        self.x = x
        x.image = kernel.memory.image
        block = np.repeat(np.arange(len(self.blocks)), lanes)
        shared = Window("shared", kernel.shared_size, block, kernel.cluster_size)
        x.windows = {
            "shared": reserved_for_pairs(kernel.program, shared),
            "local": Window("local", kernel.facts.stack_B, np.arange(x.lane_count)),
        }
        if kernel.checked:
            x.windows["shared"].watch_left_out()
        x.special = SpecialRegisters(kernel, self.blocks)
        alive = np.tile(np.arange(lanes) < kernel.threads, len(self.blocks))
        self.flow = Flow(x, alive, lanes, kernel.cluster_size)
        self.handlers = self._with_control()
        self.polls, self.writes, self.marked = kernel.facts.polls, kernel.facts.writes, kernel.facts.marked
        self.flow.groups.meeting = kernel.facts.meeting
        self.flow.groups.park(self.flow.groups.alive, 0)
        self.at = self.steps = self.until = self.turns = 0
        self.polled = self.wrote = False

    def _with_control(self) -> list[Handler]:
        """The kernel's handlers, with those of control for this chunk; the end of the code ends a thread."""
        short = self.kernel.short
        return [
            plain or (_goes_to(short[at]) if at in short else partial(self._first_control, at))
            for at, plain in enumerate(self.kernel.handlers)
        ]

    def release(self) -> None:
        """Break the circle of references between the chunk and its handlers, so that its arrays go at once."""
        self.handlers.clear()

    def _first_control(self, at: int, x: State) -> Any:
        """Build the handler of a control instruction when it is first reached, and execute it."""
        self.handlers[at] = self._control(self.kernel.program.instructions[at], at)
        return self.handlers[at](x)

    def _control(self, instruction: Instruction, at: int) -> Handler:
        here = site(instruction, self.kernel.memory.constants, self.kernel.program.arch)
        try:
            handler: Handler = CONTROL[instruction.opcode](here, self.flow, at)
            return never_taken(handler) if at in self.kernel.whole_warp else handler
        except (WarpboundError, *BROKEN) as broken:
            error = broken if isinstance(broken, WarpboundError) else unsupported(instruction)
            return refusal(error)

    def proceed(self, limit: int, step: Callable[[int], int | None] | None = None) -> bool:
        """Execute until every thread has ended (True), or for SLICE steps of threads that poll (False).

        step : replaces the plain execution of an instruction.
        """
        groups = self.flow.groups
        self.until = self.steps + SLICE
        self.polled = self.wrote = self.x.changed = False
        try:
            with self.x.arithmetic():
                while (group := groups.pick()) is not None:
                    self.at, lanes = group
                    if not 0 <= self.at < len(self.handlers):
                        raise self._astray()
                    self.x.select(lanes)
                    self._advance(step or self._step, limit)
                    if self.flow.polled:
                        groups.remember_polling()
                    if self.polled and (self.steps >= self.until or groups.only_polling > SPINS):
                        return False
        except BadAccess as bad:
            raise self._fault(bad) from None
        except BROKEN as broken:
            instruction = self.kernel.program.instructions[self.at]
            raise unsupported(instruction, f" as it stands ({type(broken).__name__}: {broken})") from broken
        if some(groups.alive):
            raise self._deadlock()
        return True

    def _ahead(self, at: int, limit: int) -> int:  # noqa: ARG002
        """The next instruction for `step`; another engine executes those before it."""
        return at

    def _step(self, at: int) -> int | None:
        return self.handlers[at](self.x)  # type: ignore[no-any-return]

    def _advance(self, step: Callable[[int], int | None], limit: int) -> None:
        """Run the selected group until it stops, meets another group, or must let others run."""
        x, flow, groups, marks = self.x, self.flow, self.flow.groups, self.marked
        ready, last, ahead = groups.ready, len(self.handlers), self._ahead
        flow.polled, self.turns = groups.have_polled(), 0
        at = self.at
        while True:
            at = ahead(at, limit)
            if at >= last:
                flow.end(x.spread(x.active()))
                return
            if at in ready:
                groups.park(x.spread(x.active()), at)
                return
            self.at = at
            move = step(at)
            self.steps += 1
            x.clock += 1
            if self.steps > limit:
                raise self.too_long(f"{limit} steps")
            if marks[at]:
                self._note(at)
            if move is None:
                at += 1
            elif move == STOP:
                return
            else:
                if move <= at:
                    self.turns += 1
                    if self._others_first(self.turns, itself=move == at):
                        groups.park(x.spread(x.active()), move, polling=True)
                        flow.polled = False
                        return
                at = move

    def _note(self, at: int) -> None:
        if self.polls[at]:
            self.flow.polled = self.polled = True
        self.wrote = self.wrote or self.writes[at]

    def _others_first(self, turns: int, *, itself: bool) -> bool:
        """Whether a group that has jumped back must yield to others; itself : the target is the branch itself."""
        if itself:
            raise self.endless()
        flow, groups = self.flow, self.flow.groups
        others = bool(groups.ready) or groups.waiting()
        return flow.polled and self._long_enough(turns) or others and (flow.polled or turns >= TURNS)

    def _long_enough(self, turns: int) -> bool:
        """Whether a group that polls alone must yield to other chunks now."""
        if turns > SPINS:
            self.until = self.steps
        return self.steps >= self.until

    # --- what can go wrong ---

    def _where(self, lane: int) -> str:
        per_block = self.kernel.lanes_per_block
        block = _unravel(int(self.blocks[lane // per_block]), self.kernel.launch.grid)
        thread = _unravel(lane % per_block, self.kernel.launch.block)
        return f"block {block}, thread {thread}"

    def _line(self, at: int) -> str:
        return f"{self.kernel.program.title}, {line_of(self.kernel.program, at)}"

    def _fault(self, bad: BadAccess) -> InputError:
        lane = bad.lane if self.x.index is None else int(self.x.index[bad.lane])
        return InputError(
            f"{self._line(self.at)}: {self._where(lane)}: {bad.problem}.",
            "Check the index, the launch size and the array shapes; --lenient lets such an access pass.",
        )

    def _deadlock(self) -> InputError:
        lane = int(np.flatnonzero(self.flow.groups.alive)[0])
        at = self.at
        for barrier in (*self.flow.barriers.open.values(), *self.flow.cluster_barriers.open.values()):
            if barrier.lanes[lane]:
                at = int(barrier.resume[lane]) - 1
        return InputError(
            f"{self._line(at)}: {self._where(lane)} waits for ever: no thread of its block can move.",
            "Every thread of a block must reach the same barriers.",
        )

    def _astray(self) -> InputError:
        return InputError(
            f"{self.kernel.program.title}: a thread jumps to {16 * self.at:#x}, outside the kernel.",
            "A return address or a branch table was overwritten, or a function is called by its address.",
        )

    def endless(self) -> Endless:
        return Endless(
            f"{self._line(self.at)}: a loop without end: nothing that it depends on can change any more.",
            "Its condition is never met, or it waits for a block that is not among those executed.",
        )

    def too_long(self, limit: str) -> InputError:
        """The error of blocks that have reached a limit of steps or time; it states whether they wait or work."""
        where = self._line(self.at)
        if self.polled and not (self.wrote or self.x.changed):
            return InputError(
                f"{where}: still waiting after {limit} for what no executed block writes.",
                "The blocks may wait for each other, or for blocks that are not among those executed.",
            )
        return InputError(
            f"{where}: still running after {limit}: the blocks are long, or a loop has no end.",
            "Give a smaller problem, or more time with analyze --patience SECONDS.",
        )


def line_of(program: Program, at: int) -> str:
    """An instruction in words: its source line, or itself."""
    instruction = program.instructions[at]
    if instruction.place is None:
        return f"instruction {instruction.address:#x} `{instruction.text}`"
    place = instruction.place.outermost
    text = program.source_line(place.line)
    return f"line {place.line}" + (f" `{text}`" if text else "") + f", {instruction.mnemonic}"


def _unravel(number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
