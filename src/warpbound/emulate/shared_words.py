"""Which words of shared memory the sampled warps touched: whether a load may read what some stores wrote.

Models   Words of the recorded accesses of each instruction, of all sampled blocks together. Which word an access
         touches depends on no contents, or its address is named among those that do.
         An instruction without a recorded access (a poll that never had to be repeated) touches the words of those with
         the same address operand. A bulk copy touches all words from the first to the last that it did.
Omits    Instructions without any such word, and those with very many different accesses, for example because data
         decide their addresses: they may touch any word.
"""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.trace import Accesses
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

Flags = NDArray[np.bool_]

WORD_B = 4
WORDS = 1 << 16  # most words of shared memory of an SM
PATTERN_BITS = 32  # of the number of a pattern
MOST_KINDS = 1 << 14  # different accesses of an instruction that are looked at
AT_ONCE = 1 << 13  # accesses whose lanes are listed together

NOWHERE: Mapping[int, tuple[int, int]] = MappingProxyType({})


class SharedWords:
    """Words that each instruction of a trace touched, as flags.

    accesses : to shared memory. bulk_extents : of bulk copies there, as of `Trace`.
    """

    def __init__(
        self, program: Program, accesses: Accesses, bulk_extents: Mapping[int, tuple[int, int]] = NOWHERE
    ) -> None:
        self._code, self._accesses, self._bulk_extents = program.instructions, accesses, bulk_extents
        self._words: dict[int, Flags | None] = {}
        self._written: tuple[Set[int], Flags | None] = (frozenset(), None)  # by the stores asked for last
        self._order = np.argsort(accesses.instruction, kind="stable")
        self._ends = np.searchsorted(accesses.instruction[self._order], np.arange(len(self._code) + 1))

    def may_reach(self, stores: Set[int], load: int) -> bool:
        """Whether a load touched a word that one of the stores touched too."""
        load_words, store_words = self._of(load), self._of_all(stores)
        return bool(stores) if load_words is None or store_words is None else bool((load_words & store_words).any())

    def _of_all(self, stores: Set[int]) -> Flags | None:
        """The words of all these stores; None if the words of one store are unknown."""
        if self._written[0] != stores:
            self._written = frozenset(stores), _together([self._of(store) for store in stores])
        return self._written[1]

    def _of(self, at: int) -> Flags | None:
        """The words of an instruction; None where no access shows them."""
        if at not in self._words:
            words = self._touched(at)
            if words is None and (address := _address(self._code[at])):
                others = [self._touched(i) for i in self._by_address[address] if i != at]
                words = _together([each for each in others if each is not None])
            self._words[at] = words
        return self._words[at]

    @cached_property
    def _by_address(self) -> dict[str, list[int]]:
        """The instructions with each address operand."""
        result: dict[str, list[int]] = {}
        for at, instruction in enumerate(self._code):
            result.setdefault(_address(instruction), []).append(at)
        return result

    def _touched(self, at: int) -> Flags | None:
        if at in self._bulk_extents:
            low, high = self._bulk_extents[at]
            words = np.zeros(WORDS, np.bool_)
            words[low // WORD_B : -(-high // WORD_B)] = True
            return words
        accesses = self._accesses
        rows = self._order[self._ends[at] : self._ends[at + 1]]
        kinds = distinct(accesses.base[rows].astype(np.int64) << PATTERN_BITS | accesses.pattern[rows])
        if not 0 < len(kinds) <= MOST_KINDS:
            return None
        words, count = np.zeros(WORDS, np.bool_), -(-lane_bytes(self._code[at]) // WORD_B)
        for some in np.array_split(kinds, -(-len(kinds) // AT_ONCE)):
            pattern = some & (1 << PATTERN_BITS) - 1
            lanes = (some >> PATTERN_BITS)[:, None] + accesses.patterns.offsets[pattern].astype(np.int64)
            first = lanes[accesses.patterns.active[pattern]] // WORD_B
            for more in range(count):
                words[first + more] = True
        return words


def _together(each: Sequence[Flags | None]) -> Flags | None:
    """All words together; None if the words of one instruction are unknown, or if there is no instruction."""
    flags_of_known = [flags for flags in each if flags is not None]
    return np.logical_or.reduce(flags_of_known) if flags_of_known and len(flags_of_known) == len(each) else None


def _address(instruction: Instruction) -> str:
    """The operand that is the address in shared memory; empty without one."""
    return next((x.text for x in instruction.operands if x.kind == "memory" and not x.text.startswith("desc")), "")
