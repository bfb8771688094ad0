"""Which words of shared memory the sampled warps touched: whether a load may read what some stores wrote.

Models   Words of the recorded accesses of each instruction, of all sampled blocks together. Which word an access
         touches depends on no contents, or its address is named among those that do.
         An instruction without a recorded access (a poll that never had to be repeated) touches the words of those with
         the same address operand.
Omits    Instructions for which there is no such word either, and those with very many different accesses, as where
         data decide their addresses: they may touch any.
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

WORD_B = 4
PATTERN_BITS = 32  # of the number of a pattern
MOST_KINDS = 1 << 14  # different accesses of an instruction that are looked at
AT_ONCE = 1 << 13  # accesses whose lanes are listed together


class SharedWords:
    """Words that each instruction of a trace touched; accesses : to shared memory."""

    def __init__(self, program: Program, accesses: Accesses) -> None:
        self._code, self._accesses = program.instructions, accesses
        self._words: dict[int, NDArray[np.int64]] = {}
        self._written: tuple[Set[int], NDArray[np.int64] | None] = (frozenset(), None)  # by the stores asked for last
        self._order = np.argsort(accesses.instruction, kind="stable")
        self._ends = np.searchsorted(accesses.instruction[self._order], np.arange(len(self._code) + 1))

    def may_reach(self, stores: Set[int], load: int) -> bool:
        """Whether a load touched a word that one of the stores touched too."""
        read, written = self._of(load), self._of_all(stores)
        if not len(read) or written is None:
            return bool(stores)
        return bool(np.isin(read, written).any())

    def _of_all(self, stores: Set[int]) -> NDArray[np.int64] | None:
        """The words of all these stores; None where those of one are not known."""
        if self._written[0] != stores:
            each = [self._of(store) for store in stores]
            known = np.unique(np.concatenate(each)) if each and all(map(len, each)) else None
            self._written = frozenset(stores), known
        return self._written[1]

    def _of(self, at: int) -> NDArray[np.int64]:
        """The words of an instruction, in ascending order."""
        if at not in self._words:
            address, own = _address(self._code[at]), self._touched(at)
            alike = (i for i, x in enumerate(self._code) if address and i != at and _address(x) == address)
            self._words[at] = own if len(own) else np.unique(np.concatenate([own, *map(self._touched, alike)]))
        return self._words[at]

    def _touched(self, at: int) -> NDArray[np.int64]:
        accesses = self._accesses
        rows = self._order[self._ends[at] : self._ends[at + 1]]
        if not len(rows):
            return np.empty(0, np.int64)
        kinds = np.unique(accesses.base[rows].astype(np.int64) << PATTERN_BITS | accesses.pattern[rows])
        if len(kinds) > MOST_KINDS:
            return np.empty(0, np.int64)
        pieces = []
        for some in np.array_split(kinds, -(-len(kinds) // AT_ONCE)):
            pattern = some & (1 << PATTERN_BITS) - 1
            lanes = (some >> PATTERN_BITS)[:, None] + accesses.patterns.offsets[pattern].astype(np.int64)
            pieces.append(np.unique(lanes[accesses.patterns.active[pattern]] // WORD_B))
        first = np.unique(np.concatenate(pieces))
        count = -(-lane_bytes(self._code[at]) // WORD_B)
        return np.unique(first[:, None] + np.arange(count))


def _address(instruction: Instruction) -> str:
    """The operand that is the address in shared memory; empty without one."""
    return next((x.text for x in instruction.operands if x.kind == "memory" and not x.text.startswith("desc")), "")
