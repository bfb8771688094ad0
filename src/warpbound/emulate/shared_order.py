"""Stores to shared memory that no thread of the block executes before a load: their values never reach it.

Models   A load outside loops that every thread passes before a barrier of the block, and a store behind that barrier.
Omits    Generic accesses, atomics and bulk copies, which may come from another block; kernels with calls.
"""

from bisect import bisect_right
from collections.abc import Iterable, Set
from functools import cached_property

from warpbound.program.control_flow import calls, dominates
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.recent_results import remember

_OWN = frozenset({"shared"})


class SharedOrder:
    """Which stores come behind which loads."""

    def __init__(self, program: Program) -> None:
        self._code, self._flow = program.instructions, program.flow
        self._starts = [block.first for block in self._flow.blocks]
        self._repeated: dict[int, bool] = {}
        self._known: dict[tuple[int, int], bool] = {}  # load and store -> whether the store is behind it

    @cached_property
    def _barriers(self) -> list[int]:
        """Barriers of all threads of the block; none where a call may lead around them."""
        if any(calls(instruction) for instruction in self._code):
            return []
        return [i for i, instruction in enumerate(self._code) if _of_whole_block(instruction)]

    def sources(self, stores: Iterable[int], loads: Set[int]) -> set[int]:
        """Those of the stores whose values one of the loads may read."""
        if not self._barriers or not all(_is_plain_load(self._code[i]) and not self._repeats(i) for i in loads):
            return set(stores)
        return {
            store
            for store in stores
            if not _is_plain_store(self._code[store]) or not all(self._behind(load, store) for load in loads)
        }

    def _behind(self, load: int, store: int) -> bool:
        behind = self._known.get((load, store))
        if behind is None:
            behind = any(self._before(load, barrier) and self._before(barrier, store) for barrier in self._barriers)
            self._known[load, store] = behind
        return behind

    def _before(self, first: int, second: int) -> bool:
        """Whether every way to the second instruction leads through the first."""
        above, below = self._block(first), self._block(second)
        return first < second if above == below else dominates(self._flow.dominators, above, below)

    def _block(self, index: int) -> int:
        return bisect_right(self._starts, index) - 1

    def _repeats(self, index: int) -> bool:
        """Whether a way leads from an instruction to itself."""
        own = self._block(index)
        if own not in self._repeated:
            self._repeated[own] = self._returns_to(own)
        return self._repeated[own]

    def _returns_to(self, own: int) -> bool:
        seen, pending = set[int](), list(self._flow.blocks[own].follows)
        while pending:
            block = pending.pop()
            if block not in seen:
                seen.add(block)
                pending += self._flow.blocks[block].follows
        return own in seen


@remember(4)
def shared_order(program: Program) -> SharedOrder:
    """The order of a kernel's stores and loads."""
    return SharedOrder(program)


def _of_whole_block(instruction: Instruction) -> bool:
    """bar.sync without a number of threads."""
    plain = instruction.opcode == "BAR" and "SYNC" in instruction.modifiers and instruction.guard is None
    return plain and len(instruction.operands) == 1 and instruction.operands[0].kind == "immediate"


def _is_plain_load(instruction: Instruction) -> bool:
    return instruction.traits.kind == "load" and instruction.traits.loads == _OWN


def _is_plain_store(instruction: Instruction) -> bool:
    return instruction.traits.kind in ("store", "copy") and instruction.traits.stores == _OWN
