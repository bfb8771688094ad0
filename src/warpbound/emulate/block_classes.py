"""Classes of blocks: the blocks of a grid whose warps take the same path, as far as block and thread numbers decide.

A kernel's guards and trip counts often depend on blockIdx, threadIdx and scalar arguments alone: borders, rows beyond a
limit, triangular loops, every k-th block. Those instructions are evaluated here for every block of the grid at once;
blocks whose branches and guards come out alike, lane by lane, are one class.

Models   Integer and predicate arithmetic with the emulator's own handlers, on arrays that broadcast to (blocks, warps,
         lanes): a value that all blocks share is computed once. A branch on a value that memory brings is followed both
         ways; what such a branch decides to write is unknown from there on, and a loop around it is entered once.
Omits    What memory contains, calls, indirect branches, and what lanes tell each other.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import cast

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.broadcast_registers import Code, Mask, Registers, Value
from warpbound.emulate.emulator import BROKEN
from warpbound.emulate.launch_memory import Memory
from warpbound.emulate.state import LANES, State
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.program.instruction import PT, RZ, Instruction
from warpbound.program.kernel import Program

LANES_AT_ONCE = 1 << 19  # lanes of the blocks that are evaluated together: their arrays stay in the caches
EVERY_LANE = 1 << 20  # lanes of a grid up to which each is evaluated; beyond, PROBE_LANES of PROBE_WARPS of each block
PROBE_LANES = (0, 11, 22, 31)  # the ends of a warp, where guards fall, and two between
PROBE_WARPS = (0.0, 0.4, 1.0)  # where they are in the block, of its last warp's number
MOST_STEPS = 30_000  # instructions, each for all blocks of a part, after which the rest of the path is left out
_HASH = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed


@dataclass(frozen=True)
class Classes:
    """Which class each block belongs to.

    of_block : number of the class of each block, (blocks,); classes are numbered by their first block.
    counts : blocks of each class, (classes,). first : the first block of each, (classes,).
    length : instructions that the evaluated warps of a block of each issue, (classes,); loops that data end count once.
    complete : whether every decision was evaluated, so that blocks of a class do the same.
    """

    of_block: NDArray[np.int64]
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    length: NDArray[np.int64]
    complete: bool


def block_classes(program: Program, launch: Launch, memory: Memory, blocks: NDArray[np.int64]) -> Classes:
    """The classes of the given blocks (linear numbers, ascending, (b,)) of a launch."""
    code = Code(program, memory.constants)
    thread = _threads(launch, len(blocks))
    step = max(1, LANES_AT_ONCE // thread.size)
    of_block, first, length = np.empty(len(blocks), np.int64), np.empty(0, np.int64), np.empty(0, np.int64)
    complete = True
    for start in range(0, len(blocks), step):
        path = Path(code, launch, blocks[start : start + step], thread)
        path.follow()
        complete &= path.complete
        _, at, inverse = np.unique(path.key, return_index=True, return_inverse=True)
        of_block[start : start + step] = len(first) + inverse.ravel()
        first, length = np.concatenate([first, blocks[start + at]]), np.concatenate([length, path.length[at]])
    if len(blocks) > step:  # parts may have named one class twice: their first blocks are compared in one part
        path = Path(code, launch, first, thread)
        path.follow()
        _, at, inverse = np.unique(path.key, return_index=True, return_inverse=True)
        of_block, length = inverse.ravel()[of_block], path.length[at]
    _, at, inverse, counts = np.unique(of_block, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(at)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return Classes(number[inverse.ravel()], counts[order], blocks[at[order]], length[order], complete)


def _threads(launch: Launch, blocks: int) -> NDArray[np.int64]:
    """The threads of a block that are evaluated, by warp and lane, (1, warps, lanes)."""
    x, y, z = launch.block
    warps = -(-x * y * z // LANES)
    if blocks * warps * LANES <= EVERY_LANE:
        return np.arange(warps * LANES).reshape(1, warps, LANES)
    chosen = np.unique([int(share * (warps - 1)) for share in PROBE_WARPS])
    return np.asarray((chosen[:, None] * LANES + np.array(PROBE_LANES))[None])


class Path:
    """The way of some blocks through the code; thread : which threads of them are looked at, (1, warps, lanes).

    key : of each block, equal where their ways are, (blocks,). length : instructions that their warps issue, (blocks,).
    """

    def __init__(self, code: Code, launch: Launch, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> None:
        self.code = code
        self.x = Registers()
        self.special = _special(launch, blocks, thread)
        x, y, z = launch.block
        self.alive: Mask = np.bool_(1) if int(thread.max()) < x * y * z else thread < x * y * z
        self.key = np.zeros(len(blocks), np.uint64)
        self.length = np.zeros(len(blocks), np.int64)
        self.warps = thread.shape[1]
        self.weights = np.random.default_rng(0).integers(1, 1 << 63, thread.shape[1], np.uint64) | np.uint64(1)
        self.complete = True
        self.waiting: dict[int, Mask] = {}  # instruction -> lanes that go on there
        self.queue: list[int] = []
        self.forgotten: dict[int, list[tuple[frozenset[int], Mask]]] = {}  # where the ways of an unknown branch meet

    def follow(self) -> None:
        """Evaluate until every lane has ended, or until the steps are used up."""
        with np.errstate(all="ignore"):
            self._send(0, self.alive)
            steps = 0
            while self.queue:
                begin = at = heappop(self.queue)
                lanes = self.waiting.pop(at)
                while True:
                    steps += 1
                    if steps > MOST_STEPS:
                        self.complete = False
                        return
                    for region, forgetting in self.forgotten.pop(at, ()):
                        self._forget(region, forgetting)
                    self.x.mask = lanes
                    if self.code.relevant[at] and not self._step(at):
                        break
                    at += 1
                    if at >= len(self.code.instructions):
                        break
                    if self.queue and self.queue[0] <= at:
                        self._send(at, lanes)
                        at -= 1
                        break
                self._count(at + 1 - begin, lanes)

    def _count(self, instructions: int, lanes: Mask) -> None:
        """Some lanes have gone through so many instructions: add them for every warp that has one of these lanes."""
        if np.ndim(lanes):
            warps = lanes.any(axis=2).sum(axis=1) * (self.warps // lanes.shape[1])
            self.length += instructions * warps
        else:
            self.length += instructions * self.warps

    def _send(self, at: int, lanes: Mask) -> None:
        """Some lanes go on at an instruction, together with those that wait there."""
        if np.ndim(lanes) and lanes.all():
            lanes = np.bool_(1)  # which costs nothing to look at
        if at in self.waiting:
            self.waiting[at] = self.waiting[at] | lanes
        else:
            self.waiting[at] = lanes
            heappush(self.queue, at)

    def _step(self, at: int) -> bool:
        """Execute one instruction for the lanes of the mask; whether they go on at the next one."""
        instruction = self.code.instructions[at]
        if instruction.traits.kind == "branch":
            return self._jump(at, instruction)
        holds = self._guard(at, instruction)
        if instruction.traits.is_exit:
            return holds is None or self._end(at, holds)
        if holds is None:
            self.x.forget(self.code.writes[at], self.x.mask)
            return True
        lanes = self.x.mask
        self.x.mask = lanes & holds
        if self.x.mask.any():
            self._evaluate(at, instruction)
        self.x.mask = lanes
        return True

    def _guard(self, at: int, instruction: Instruction) -> Mask | None:
        """The lanes whose guard holds; None where that is not known."""
        guard = instruction.guard
        if guard is None or (guard.index == PT and not guard.invert):
            return np.bool_(1)
        if not self.x.known([("P", guard.index)]):
            self.complete = False
            return None
        value = self.x.get_predicate(guard.index)
        value = ~value if guard.invert else value
        self._note(at, value)
        return value

    def _evaluate(self, at: int, instruction: Instruction) -> None:
        handler, kind = self.code.handlers[at], instruction.traits.kind
        if handler is not None and self.x.known(self.code.reads[at]):
            try:
                handler(cast(State, self.x))  # it has what the handlers of these kinds use
            except (WarpboundError, *BROKEN):  # refused, or one that works on rows of lanes
                self.x.forget(self.code.writes[at], self.x.mask)
        elif kind == "special_register" and (value := self._special_value(instruction)) is not None:
            for place in self.code.writes[at]:
                self.x.put(place[1], value)
                value = np.uint32(0)
        elif kind == "constant" and (words := self._constant_words(at, instruction)) is not None:
            for place, word in zip(self.code.writes[at], words, strict=False):
                self.x.put(place[1], word)
        elif instruction.opcode == "R2UR" and self.x.known(self.code.reads[at]) and len(self.code.writes[at]) == 1:
            value = np.asarray(self.x.get(instruction.operands[-1].index))
            self.x.put(self.code.writes[at][0][1], value[..., :1] if value.ndim else value)
        elif kind == "call":
            self.x.forget({place for places in self.code.writes for place in places}, self.x.mask)
        else:
            self.x.forget(self.code.writes[at], self.x.mask)

    def _special_value(self, instruction: Instruction) -> Value | None:
        name = next((x.text for x in instruction.operands if x.kind == "special"), "SRZ")
        return self.special.get(name)

    def _constant_words(self, at: int, instruction: Instruction) -> list[Value] | None:
        """The words that a load of constants brings; None where its bank or its index is not known."""
        source = next((x for x in instruction.operands if x.kind == "constant"), None)
        if source is None or not isinstance(source.bank, int) or not self.x.known(self.code.reads[at]):
            return None
        words = self.code.constants.banks.get(source.bank, np.zeros(1, np.uint32))
        index = np.uint32(int(source.value))
        for term in source.terms:
            if term.index != RZ:
                index = index + self.x.get(term.index)
        places = [(index + np.uint32(4 * n)) // np.uint32(4) for n in range(len(self.code.writes[at]))]
        last = len(words) - 1
        return [np.where(place <= last, words[np.minimum(place, last)], np.uint32(0)) for place in places]

    def _jump(self, at: int, instruction: Instruction) -> bool:
        lanes = self.x.mask
        if instruction.traits.indirect or {"DIV", "CONV"} & set(instruction.modifiers):
            return self._both_ways(at)
        target = next((x for x in instruction.operands if x.kind == "label" and x.index == 0), None)
        place = None if target is None else self.code.index.get(int(target.value))
        if place is None:
            return self._both_ways(at)
        conditions = [x for x in (*instruction.operands, instruction.guard) if x is not None and x.kind == "predicate"]
        conditions = [x for x in conditions if x.index != PT or x.invert]
        if not self.x.known([("P", x.index) for x in conditions]):
            return self._both_ways(at)
        taken: Mask = np.bool_(1)
        for x in conditions:
            value = self.x.get_predicate(x.index)
            taken = taken & (~value if x.invert else value)
        if conditions:
            self._note(at, taken)
        jumping = lanes & taken
        if jumping.any():
            self._send(place, jumping)
        staying = lanes & ~taken
        if staying.any():
            self._send(at + 1, staying)
        return False

    def _both_ways(self, at: int) -> bool:
        """Follow a branch that data decide both ways, but into a loop only once."""
        self.complete = False
        lanes = self.x.mask
        region, meet = self.code.decided_by(at)
        self._forget(region, lanes)
        if meet is not None:
            self.forgotten.setdefault(meet, []).append((region, lanes))
        blocks = self.code.program.flow.blocks
        for number in blocks[self.code.block_of[at]].follows:
            if blocks[number].first > at:
                self._send(blocks[number].first, lanes)
        return False

    def _forget(self, region: frozenset[int], lanes: Mask) -> None:
        self.x.forget({place for at in region for place in self.code.writes[at]}, lanes)

    def _end(self, at: int, holds: Mask) -> bool:
        staying = self.x.mask & ~holds
        if staying.any():
            self._send(at + 1, staying)
        return False

    def _note(self, at: int, decision: Mask) -> None:
        """Add a decision to the keys of the blocks, where blocks may differ in it."""
        if not np.ndim(decision) or decision.shape[0] == 1:
            return
        lanes = np.asarray(self.x.mask & decision)
        warps, width = lanes.shape[1:]
        if warps == width == 1:
            word = lanes[:, 0, 0].astype(np.uint64)
        elif width == 1:
            word = lanes[:, :, 0].astype(np.uint64) @ self.weights
        else:
            bits = np.packbits(lanes, axis=-1, bitorder="little")
            whole = bits.view(np.uint32) if width == LANES else bits
            word = whole[:, :, 0].astype(np.uint64) @ self.weights[:warps]
        key = (self.key ^ np.uint64(at + 1)) * _HASH
        key = (key ^ key >> np.uint64(29)) + word
        self.key = key * _HASH


def _special(launch: Launch, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> dict[str, Value]:
    """Special registers whose values the launch tells, shaped to broadcast."""
    found: dict[str, Value] = {"SRZ": np.uint32(0), "SR_CgaCtaId": np.uint32(0), "SR_CgaSize": np.uint32(0)}
    step = 1
    for axis, size in zip("XYZ", launch.block, strict=True):
        value = (thread // step % size).astype(np.uint32)
        found[f"SR_TID.{axis}"] = value if size > 1 else np.uint32(0)
        found[f"SR_NTID.{axis}"] = np.uint32(size)
        step *= size
    step = 1
    for axis, size in zip("XYZ", launch.grid, strict=True):
        value = (blocks // step % size).astype(np.uint32)
        found[f"SR_CTAID.{axis}"] = value[:, None, None] if size > 1 else np.uint32(0)
        found[f"SR_NCTAID.{axis}"] = np.uint32(size)
        step *= size
    found["SR_LANEID"] = (thread[:, :1] % LANES).astype(np.uint32)
    return found
