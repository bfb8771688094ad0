"""The paths of many blocks through a kernel's code, as far as the launch decides them.

Models   Integer and predicate arithmetic with the emulator's own handlers, on arrays that broadcast to (blocks, warps,
         lanes): a value that all blocks share is computed once. Of a branch on a value from memory, both sides are
         followed; a register that only one side writes is unknown afterwards, and a loop around it is entered once.
         Loads bring what the launch gives of arrays that the kernel does not write (`read_only_contents`). The
         iterations of a loop that only counts are taken at once (`counted_iterations`).
Omits    What the kernel writes to memory, shared memory, calls, indirect branches, and values from other lanes.
"""

from copy import copy
from heapq import heappop, heappush
from typing import cast

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_hashes import Keys
from warpbound.emulate.broadcast_registers import UNIFORM, Code, Mask, Registers, Value, as_one, special_values
from warpbound.emulate.counted_iterations import (
    CountedLoop,
    Iteration,
    advance,
    compared_values,
    counted_loops,
    iteration_end,
    iterations_alike,
)
from warpbound.emulate.handler_building import BROKEN
from warpbound.emulate.state import State
from warpbound.errors import WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.program.control_flow import always
from warpbound.program.instruction import PT, RZ, Instruction

MOST_STEPS = 30_000  # deciding instructions, each for all blocks of a part, after which the evaluation ends
ALL_LANES = np.uint32(0xFFFFFFFF)
COST_OF_FEW = 0.25  # share of the cost of a step of all blocks, if few blocks go on alone
MANY_BLOCKS, FEW_OF = 64, 8  # blocks of a part; an eighth of them continue alone in a loop
ROUNDS_SEEN = 3  # iterations of a loop that are executed before the others are counted


class Path:
    """The paths of some blocks through the code; thread : which of their threads are evaluated, (1, warps, lanes).

    keys : of the blocks, equal for equal paths. length : instructions that their warps issue, (blocks,).
    lanes : the same, times the evaluated lanes that take part.
    """

    def __init__(self, code: Code, launch: Launch, blocks: NDArray[np.int64], thread: NDArray[np.int64]) -> None:
        self.code = code
        self.counted = counted_loops(code)
        self.comparisons = {at for loop in self.counted.values() for at in loop.comparisons}
        self.x = Registers()
        self.special = special_values(launch, blocks, thread)
        x, y, z = launch.block
        self.alive: Mask = np.bool_(1) if int(thread.max()) < x * y * z else thread < x * y * z
        self.keys = Keys(np.zeros(len(blocks), np.uint64), thread.shape[1])
        self.length = np.zeros(len(blocks), np.int64)
        self.lanes = np.zeros(len(blocks), np.int64)
        self.warps, self.width = thread.shape[1:]
        self.complete = True
        self.waiting: dict[int, Mask] = {}  # instruction -> lanes that go on there
        self.queue: list[int] = []
        self.forgotten: dict[int, list[tuple[frozenset[int], Mask]]] = {}  # where the sides of an unknown branch meet
        self.compared: dict[int, tuple[Value, Value]] = {}  # comparison of a counted loop -> its last operands
        self.iterations: dict[int, list[Iteration]] = {}  # branch of a counted loop -> its last iterations
        self.leaving: dict[int, int] = {}  # branch or exit by unknown values -> the last place to which it may lead
        self.noted: dict[int, tuple[Value, Mask]] = {}  # predicate -> value and lanes for which keys already tell it
        self.steps, self.cost = 0.0, 1.0  # so far; of one more

    def follow(self, share: float = 1.0) -> None:
        """Evaluate until every lane has ended, or until that share of the steps is used up."""
        with np.errstate(all="ignore"):
            self._send(0, self.alive)
            self._follow(share)

    def _follow(self, share: float) -> None:
        """Evaluate what waits."""
        while self.queue:
            self._arrive(begin := heappop(self.queue))
            at, lanes = begin, self.waiting.pop(begin)
            while True:
                self.steps += self.cost * self.code.relevant[at]
                if self.steps > share * MOST_STEPS:
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
            self._count(begin, at + 1, lanes)
            if self.queue and self.queue[0] < at:
                self._follow_few(self.waiting[self.queue[0]], share)

    def _follow_few(self, lanes: Mask, share: float) -> None:
        """If only lanes of few blocks remain in a loop, follow these blocks separately to their ends."""
        count = len(self.length)
        if np.ndim(lanes) != 3 or lanes.shape[0] != count or count < MANY_BLOCKS:
            return
        here = lanes.any(axis=(1, 2))
        if here.sum() * FEW_OF > count:
            return
        few = np.flatnonzero(here)
        part = self._of_blocks(few)
        others = ~here[:, None, None]
        self.waiting = {at: rest for at, mask in self.waiting.items() if (rest := mask & others).any()}
        self.queue = sorted(self.waiting)
        self.iterations.clear()
        part._follow(share)
        self.keys.put(few, part.keys)
        self.length[few], self.lanes[few] = part.length, part.lanes
        self.complete &= part.complete
        self.steps = part.steps

    def _of_blocks(self, few: NDArray[np.int64]) -> "Path":
        """The same point of the path, for some of the blocks."""

        def of(value: Value) -> Value:
            return value[few] if np.ndim(value) == 3 and value.shape[0] == len(self.length) else value

        part = copy(self)
        part.x = self.x.where(of)
        part.special = {name: of(value) for name, value in self.special.items()}
        part.alive, part.keys = of(self.alive), self.keys.of(few)
        part.length, part.lanes = self.length[few], self.lanes[few]
        part.waiting = {at: mask for at, lanes in self.waiting.items() if (mask := of(lanes)).any()}
        part.queue = sorted(part.waiting)
        part.forgotten = {
            at: [(region, of(lanes)) for region, lanes in regions] for at, regions in self.forgotten.items()
        }
        part.compared = {at: (of(first), of(second)) for at, (first, second) in self.compared.items()}
        part.iterations, part.cost = {}, COST_OF_FEW
        return part

    def _arrive(self, at: int) -> None:
        """Lanes go on at an instruction to which they have jumped, or where they have met."""

    def _count(self, first: int, last: int, lanes: Mask) -> None:
        """Add instructions first .. last - 1 for every warp that has one of these lanes."""
        instructions = last - first
        if np.ndim(lanes):
            each = np.count_nonzero(lanes, axis=2) * (self.width // lanes.shape[2])
            alike = instructions * (self.warps // lanes.shape[1])
            self.length += alike * np.count_nonzero(each, axis=1)
            self.lanes += alike * each.sum(axis=1)
        else:
            self.length += instructions * self.warps
            self.lanes += instructions * self.warps * self.width

    def _send(self, at: int, lanes: Mask) -> None:
        """Some lanes continue at an instruction, together with those that wait there."""
        lanes = as_one(lanes)
        if at in self.waiting:
            self.waiting[at] = self.waiting[at] | lanes
        else:
            self.waiting[at] = lanes
            heappush(self.queue, at)

    def _step(self, at: int) -> bool:
        """Execute one instruction for the lanes of the mask; whether they continue at the next one."""
        instruction = self.code.instructions[at]
        if instruction.traits.kind == "branch":
            return self._jump(at, instruction)
        holds = self._guard(at, instruction)
        if instruction.traits.is_exit:
            self.leaving |= {at: len(self.code.instructions)} if holds is None else {}
            return holds is None or self._end(at, holds)
        if holds is None:
            self.x.forget(self.code.writes[at], self.x.mask)
            return True
        lanes = self.x.mask
        self.x.mask = lanes & holds
        if self.x.mask.any():
            if at in self.code.selects:
                self._note_choice(at)
            self._evaluate(at, instruction)
        self.x.mask = lanes
        return True

    def _guard(self, at: int, instruction: Instruction) -> Mask | None:
        """The lanes whose guard holds; None where that is not known."""
        guard = instruction.guard
        if guard is None or (guard.index == PT and not guard.invert):
            return np.bool_(1)
        if not self.x.known([("P", guard.index)]):
            self.complete &= instruction.traits.is_arithmetic  # whose lanes alone differ; what it decides is not known
            return None
        value, (before, lanes) = self.x.get_predicate(guard.index), self.noted.get(guard.index, (None, None))
        holds = ~value if guard.invert else value
        if value is not before or self.x.mask is not lanes:
            self.keys.add_lanes(at, holds, self.x.mask)
            self.noted[guard.index] = value, self.x.mask
        self._switch_off(at, holds)
        return holds

    def _switch_off(self, at: int, holds: Mask) -> None:
        """The guard of an instruction holds for these lanes of the mask alone."""

    def _evaluate(self, at: int, instruction: Instruction) -> None:
        handler, kind = self.code.handler(at), instruction.traits.kind
        if at in self.comparisons:
            self.compared[at] = compared_values(self.code, self.x, at)
        if handler is not None and self.x.known(self.code.reads[at]):
            try:
                handler(cast(State, self.x))  # it has what the handlers of these kinds use
            except (WarpboundError, *BROKEN):  # refused, or one that works on rows of lanes
                self.x.forget(self.code.writes[at], self.x.mask)
        elif (words := self._brought(at, instruction)) is not None:
            for place, word in zip(self.code.writes[at], words, strict=False):
                self.x.put(place[1], word)
        elif kind == "call":
            self.x.forget({place for places in self.code.writes for place in places}, self.x.mask)
        else:
            self.x.forget(self.code.writes[at], self.x.mask)

    def _brought(self, at: int, instruction: Instruction) -> list[Value] | None:
        """The words that an instruction loads from outside the registers; None where they are not known."""
        kind, is_known = instruction.traits.kind, self.x.known(self.code.reads[at])
        if kind == "special_register":
            value = self._special_value(instruction)
            return None if value is None else [value] + [np.uint32(0)] * (len(self.code.writes[at]) - 1)
        if not is_known:
            return None
        if kind == "constant":
            return self._constant_words(at, instruction)
        if kind == "load" and instruction.traits.is_global_load and self.code.deciding[at]:
            return self._loaded(instruction)
        if instruction.opcode == "R2UR" and len(self.code.writes[at]) == 1:
            value = np.asarray(self.x.get(instruction.operands[-1].index))
            return [value[..., :1] if value.ndim else value]
        return None

    def _special_value(self, instruction: Instruction) -> Value | None:
        name = next((x.text for x in instruction.operands if x.kind == "special"), "SRZ")
        return self.special.get(name)

    def _constant_words(self, at: int, instruction: Instruction) -> list[Value] | None:
        """The words that a load of constants returns; None where its bank or its index is not known."""
        source = next((x for x in instruction.operands if x.kind == "constant"), None)
        if source is None or not isinstance(source.bank, int):
            return None
        words = self.code.constants.banks.get(source.bank, np.zeros(1, np.uint32))
        index = np.uint32(int(source.value))
        for term in source.terms:
            if term.index != RZ:
                index = index + self.x.get(term.index)
        places = [(index + np.uint32(4 * n)) // np.uint32(4) for n in range(len(self.code.writes[at]))]
        last = len(words) - 1
        return [np.where(place <= last, words[np.minimum(place, last)], np.uint32(0)) for place in places]

    def _loaded(self, instruction: Instruction) -> list[Value] | None:
        """The words that a load of global memory returns; None where the contents are not known."""
        address = self._address(instruction)
        return None if address is None else self.code.given.load(instruction, address, self.x.mask)

    def _address(self, instruction: Instruction) -> Value | None:
        """The addresses of a load of global memory, uint64; None where its operands are not known."""
        source = next((x for x in instruction.operands if x.kind == "memory"), None)
        if source is None:
            return None
        address = np.uint64(int(source.value) & 0xFFFF_FFFF_FFFF_FFFF)
        for term in source.terms:
            if term.index != RZ:
                index = term.index + UNIFORM * (term.kind == "uniform")
                narrow = "U32" in term.suffixes or "32" in term.suffixes
                address = address + (self.x.get(index).astype(np.uint64) if narrow else self.x.get_pair(index))
        return address

    def _jump(self, at: int, instruction: Instruction) -> bool:
        lanes = self.x.mask
        if at in self.code.short:
            self._send(self.code.short[at], lanes)
            return False
        target = next((x for x in instruction.operands if x.kind == "label" and x.index == 0), None)
        place = None if target is None else self.code.index.get(int(target.value))
        active = self._condition(instruction, lanes)
        if place is None or active is None:
            return self._both_ways(at)
        if self._never_known_to_end(place, at, instruction):
            return False
        self.keys.add_lanes(at, active, lanes)
        jumping = lanes & active
        if jumping.any():
            if at in self.counted:
                self._count_iterations(self.counted[at], jumping)
            self._send(place, jumping)
        else:
            self.iterations.pop(at, None)
        staying = lanes & ~active
        if staying.any():
            self._send(at + 1, staying)
        return False

    def _never_known_to_end(self, header: int, at: int, instruction: Instruction) -> bool:
        """Whether an unconditional branch closes a loop that only unknown values end: warps that wait for work."""
        return header <= at and always(instruction) and any(
            header <= branch <= at < last for branch, last in self.leaving.items()
        )

    def _condition(self, instruction: Instruction, lanes: Mask) -> Mask | None:
        """Where the predicates of a branch hold; None where they are not known."""
        if instruction.traits.indirect or "CONV" in instruction.modifiers:
            return None
        if "DIV" in instruction.modifiers:
            return self._diverged(instruction, lanes)
        conditions = [x for x in (*instruction.operands, instruction.guard) if x is not None and x.kind == "predicate"]
        conditions = [x for x in conditions if x.index != PT or x.invert]
        if not self.x.known([("P", x.index) for x in conditions]):
            return None
        active: Mask = np.bool_(1)
        for x in conditions:
            value = self.x.get_predicate(x.index)
            active = active & (~value if x.invert else value)
        return active

    def _diverged(self, instruction: Instruction, lanes: Mask) -> Mask | None:
        """The diverged warps, which take BRA.DIV: a live lane is elsewhere. None where the mask lacks lanes."""
        masks = [x for x in instruction.operands if x.kind == "register"]
        places = [("R", x.index) for x in masks if x.index != RZ]
        if len(masks) != 1 or instruction.guard is not None or not self.x.known(places):
            return None
        value = self.x.get(masks[0].index) if places else np.uint32(0)
        if not np.all((~value if masks[0].invert else value) == ALL_LANES):
            return None
        return (self.alive & ~lanes).any(axis=-1, keepdims=True) if np.ndim(lanes) else np.bool_(0)

    def _count_iterations(self, loop: CountedLoop, lanes: Mask) -> None:
        """Execute at once all iterations that are like the last three of these lanes."""
        places = [("R", n) for n in loop.registers] + [("P", n) for n in loop.flags]
        if not self.x.known(places) or not all(at in self.compared for at in loop.comparisons):
            self.iterations.pop(loop.branch, None)
            return
        last = self.iterations.setdefault(loop.branch, [])
        last.append(iteration_end(loop, self.x, lanes, self.compared))
        if len(last) < ROUNDS_SEEN:
            return
        three = (last[-3], last[-2], last[-1])
        last.clear()
        iterations = iterations_alike(self.code, loop, three)
        if iterations is None or not iterations.any():
            return
        advance(loop, self.x, three, iterations)
        self.keys.add_numbers(loop.branch, iterations)
        self._count_omitted(loop, iterations)

    def _count_omitted(self, loop: CountedLoop, iterations: NDArray[np.int64]) -> None:
        """Add this many iterations of a loop; iterations : broadcasts to (blocks, warps, lanes)."""
        most = iterations
        if iterations.ndim:
            most = np.broadcast_to(iterations.max(axis=-1, keepdims=True), (*iterations.shape[:2], 1))
        each = loop.branch + 1 - loop.header
        if iterations.ndim:
            alike = each * (self.warps // most.shape[1])
            self.length += alike * most[:, :, 0].sum(axis=1)
            self.lanes += alike * (self.width // iterations.shape[2]) * iterations.sum(axis=(1, 2))
        else:
            self.length += each * int(iterations) * self.warps
            self.lanes += each * int(iterations) * self.warps * self.width

    def _both_ways(self, at: int) -> bool:
        """Follow both sides of a branch that data decide, but enter a loop only once."""
        self.complete = False
        lanes = self.x.mask
        region, meet = self.code.branches.decided_by(at)
        self._forget(region, lanes)
        if meet is not None:
            self.forgotten.setdefault(meet, []).append((region, lanes))
        blocks = self.code.program.flow.blocks
        follows = [blocks[number].first for number in blocks[self.code.branches.block_of[at]].follows]
        self.leaving[at] = max(follows, default=at)
        for first in follows:
            if first > at:
                self._send(first, lanes)
        return False

    def _forget(self, region: frozenset[int], lanes: Mask) -> None:
        self.x.forget({place for at in region for place in self.code.writes[at]}, lanes)

    def _end(self, at: int, holds: Mask) -> bool:
        staying = self.x.mask & ~holds
        self.alive = self.alive & ~(self.x.mask & holds)
        if staying.any():
            self._send(at + 1, staying)
        return False

    def _note_choice(self, at: int) -> None:
        """Add to the keys whether all, some or no lanes of a block choose the first of two values."""
        places = self.code.chosen_by(at)
        if not places or not self.x.known(places):
            return
        self.keys.add_choice(at, self.x.get_predicate(places[0][1]), self.x.mask)
