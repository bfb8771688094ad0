"""Stores to shared memory that no thread of the block executes before a load: their values never reach it.

Models   A load outside loops that no path reaches from a barrier of the block, and a store that every path reaches
         through that barrier.
         Bulk copies may come from another block: where there are barriers of the cluster, one of these.
Omits    Generic accesses and atomics; kernels with calls.
"""

from bisect import bisect_right
from collections.abc import Iterable, Set
from functools import cached_property
from itertools import pairwise

from warpbound.identity_cache import remember
from warpbound.program.control_flow import calls_that_return, dominates
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

_OWN = frozenset({"shared"})


class SharedOrder:
    """Which stores come behind which loads."""

    def __init__(self, program: Program) -> None:
        self._code, self._flow = program.instructions, program.flow
        self._starts = [block.first for block in self._flow.blocks]
        self._behind_block: dict[int, frozenset[int]] = {}
        self._known: dict[tuple[int, int], bool] = {}  # load and store -> whether the store is behind it

    @cached_property
    def _barriers(self) -> list[tuple[int, int]]:
        """Barriers of all threads of the block, where they arrive and where they continue; none where a call may lead
        around them."""
        if calls_that_return(self._code):
            return []
        return self._of_cluster + [(i, i) for i, each in enumerate(self._code) if _of_whole_block(each)]

    @cached_property
    def _of_cluster(self) -> list[tuple[int, int]]:
        """Barriers of all threads of the cluster."""
        arrivals = {i for i, each in enumerate(self._code) if each.traits.arrives_at == "cluster"}
        waits = {i for i, each in enumerate(self._code) if each.traits.waits_for == "cluster"}
        pairs = [(i, j) for i, j in pairwise(sorted(arrivals | waits)) if i in arrivals and j in waits]
        return [pair for pair in pairs if all(self._code[i].guard is None for i in pair)]

    def sources(self, stores: Iterable[int], loads: Set[int]) -> set[int]:
        """Those of the stores whose values one of the loads may read."""
        if not self._barriers or not all(_is_plain_load(self._code[i]) and not self._leads_to(i, i) for i in loads):
            return set(stores)
        return {
            store
            for store in stores
            if not _is_plain_store(self._code[store]) or not all(self._behind(load, store) for load in loads)
        }

    def _behind(self, load: int, store: int) -> bool:
        behind = self._known.get((load, store))
        if behind is None:
            far = self._code[store].traits.kind == "bulk_copy" and self._of_cluster
            barriers = self._of_cluster if far else self._barriers
            behind = any(
                not self._leads_to(first, load) and self._leads_through(last, store) for first, last in barriers
            )
            self._known[load, store] = behind
        return behind

    def _leads_through(self, first: int, second: int) -> bool:
        """Whether every path to the second instruction leads through the first."""
        above, below = self._block(first), self._block(second)
        return first < second if above == below else dominates(self._flow.dominators, above, below)

    def _leads_to(self, first: int, second: int) -> bool:
        """Whether a path leads from the first instruction to the second."""
        above, below = self._block(first), self._block(second)
        return (above == below and first < second) or below in self._reached(above)

    def _block(self, index: int) -> int:
        return bisect_right(self._starts, index) - 1

    def _reached(self, own: int) -> frozenset[int]:
        """The blocks that can be reached from a block."""
        if own not in self._behind_block:
            reached, pending = set[int](), list(self._flow.blocks[own].follows)
            while pending:
                block = pending.pop()
                if block not in reached:
                    reached.add(block)
                    pending += self._flow.blocks[block].follows
            self._behind_block[own] = frozenset(reached)
        return self._behind_block[own]


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
    traits = instruction.traits
    if traits.kind == "bulk_copy":
        return "shared" in traits.stores
    return traits.kind in ("store", "copy") and traits.stores == _OWN and instruction.opcode != "STAS"
