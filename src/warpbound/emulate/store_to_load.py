"""What a kernel stores in global memory and loads again: which loads bring on what other loads have brought.

Models   Words of 4 bytes, in the order in which the sampled blocks stored and loaded them.
Omits    What blocks outside of the sample store.
"""

from collections.abc import Set

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses
from warpbound.emulate.value_dependence import held_before
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

_WORD_B = 4


def passed_on(program: Program, seen: Accesses, loads: Set[int]) -> set[int]:
    """`loads` (indices of instructions), and the loads of global memory that read what those made others store.

    seen : the accesses to global memory, in order.
    """
    found, reads = set(loads), program.register_sets.reads
    while True:
        held = held_before(program, found)
        code = program.instructions
        stores = [
            i for i, instruction in enumerate(code) if "global" in instruction.traits.stores and held[i] & reads[i]
        ]
        later = _loaded_after(program, seen, stores) - found
        if not later:
            return found
        found |= later


def _loaded_after(program: Program, seen: Accesses, stores: list[int]) -> set[int]:
    """The loads that read a word after one of the stores wrote it."""
    loads = [i for i, instruction in enumerate(program.instructions) if instruction.traits.is_global_load]
    written, stored_in = _words(program, seen, stores)
    read, loaded_in = _words(program, seen, loads)
    if not len(written) or not len(read):
        return set()
    places, first = np.unique(written, return_index=True)  # the first row that wrote each word
    at = np.minimum(np.searchsorted(places, read), len(places) - 1)
    after = (places[at] == read) & (stored_in[first[at]] < loaded_in)
    return set(np.unique(seen.instruction[loaded_in[after]]).tolist())


def _words(program: Program, seen: Accesses, which: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words that the instructions touched and the rows of `seen` that did it, in order of the rows."""
    rows = np.flatnonzero(np.isin(seen.instruction, which))
    if not len(rows):
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    widths = np.array([max(_WORD_B, lane_bytes(instruction)) for instruction in program.instructions])
    count = int(widths[which].max()) // _WORD_B
    steps = np.arange(count, dtype=np.uint64)
    words = (seen.addresses[rows] >> np.uint64(2))[:, :, None] + steps
    inside = seen.active[rows][:, :, None] & (steps * np.uint64(_WORD_B) < widths[seen.instruction[rows], None, None])
    return words[inside], np.repeat(rows, inside.sum(axis=(1, 2)))
