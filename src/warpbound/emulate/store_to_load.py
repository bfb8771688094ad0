"""Dependences through global memory: loads that read what the kernel stored before.

Models   Words of 4 bytes, in the order in which the sampled blocks stored and loaded them.
Omits    Stores of blocks outside the sample.
"""

from collections.abc import Callable, Sequence, Set
from functools import cache

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.trace import Accesses
from warpbound.emulate.value_dependence import tainted_before
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes

_WORD_B = 4
FEW_ROWS = 1 << 11  # rows of stores and of loads that are compared before all others
MOST_B = 32  # most bytes that one lane loads or stores at once


def reloading(program: Program, trace: Accesses) -> Callable[[Set[int]], set[int]]:
    """Adds to loads (indices of instructions) the global loads that read values derived from them.

    trace : the accesses to global memory, in order.
    """
    code, reads = program.instructions, program.register_sets.reads

    @cache  # several arrays often decide the same stores
    def after(stores: tuple[int, ...]) -> set[int]:
        return _loaded_after(program, trace, stores)

    def with_reloaded(loads: Set[int]) -> set[int]:
        sources = set(loads)
        while True:
            tainted = tainted_before(program, sources)
            stores = (i for i, x in enumerate(code) if "global" in x.traits.stores and tainted[i] & reads[i])
            later = after(tuple(stores)) - sources
            if not later:
                return sources
            sources |= later

    return with_reloaded


def _loaded_after(program: Program, trace: Accesses, stores: Sequence[int]) -> set[int]:
    """The loads that read a word after one of the stores wrote it."""
    loads = [i for i, instruction in enumerate(program.instructions) if instruction.traits.is_global_load]
    stored, loaded = _rows(trace, stores), _rows(trace, loads)
    if not len(stored) or not len(loaded):
        return set()
    loaded = _meeting(trace, loaded[loaded > stored[0]], stored)
    stored = _meeting(trace, stored, loaded)
    if len(loaded) <= FEW_ROWS:
        return _reading(program, trace, stored, loaded)
    soon = _reading(program, trace, stored[:FEW_ROWS], loaded[-FEW_ROWS:])  # often all of them
    others = loaded[~np.isin(trace.instruction[loaded], list(soon))]
    return soon | _reading(program, trace, stored, others)


def _reading(program: Program, trace: Accesses, stored: NDArray[np.int64], loaded: NDArray[np.int64]) -> set[int]:
    """The loads that, in one of the loaded rows, read a word which an earlier stored row wrote."""
    if not len(stored) or not len(loaded):
        return set()
    stored_words, stored_in = _words(program, trace, stored)
    loaded_words, loaded_in = _words(program, trace, loaded)
    places, first = np.unique(stored_words, return_index=True)  # the first row that wrote each word
    at = np.minimum(np.searchsorted(places, loaded_words), len(places) - 1)
    after = (places[at] == loaded_words) & (stored_in[first[at]] < loaded_in)
    return set(distinct(trace.instruction[loaded_in[after]]).tolist())


def _rows(trace: Accesses, which: Sequence[int]) -> NDArray[np.int64]:
    """The rows of these instructions, in order."""
    return np.flatnonzero(np.isin(trace.instruction, which))


def _meeting(trace: Accesses, rows: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of the rows that reach between the lowest and the highest byte of the others."""
    if not len(others):
        return rows[:0]
    low = trace.base
    high = low + trace.patterns.offsets.max(axis=1, initial=0)[trace.pattern] + np.uint64(MOST_B)
    meet: NDArray[np.bool_] = (high[rows] >= low[others].min()) & (low[rows] <= high[others].max())
    return rows[meet]


def _words(program: Program, trace: Accesses, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The words of some rows, and the row of each, in order."""
    widths = np.array([max(_WORD_B, lane_bytes(instruction)) for instruction in program.instructions])
    count = int(widths[trace.instruction[rows]].max()) // _WORD_B
    steps = np.arange(count, dtype=np.uint64)
    own = trace.rows(rows)
    words = (own.addresses >> np.uint64(2))[:, :, None] + steps
    inside = own.active[:, :, None] & (steps * np.uint64(_WORD_B) < widths[trace.instruction[rows], None, None])
    return words[inside], np.repeat(rows, inside.sum(axis=(1, 2)))
