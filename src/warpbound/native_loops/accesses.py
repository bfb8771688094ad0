"""Lines, sectors and banks of accesses by the loops in C (c/accesses.c); None where NumPy's code has to do it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.native_loops.library import PLACES, Flags, Ints, call, loaded_for

WIDEST = 128  # values of a row
KINDS = (np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_))  # of values, numbered as in C
Units = tuple[int, Ints, Ints, Ints, Ints]  # shift; units, begin by pattern; number, addresses


def listed(
    pattern: NDArray[np.int32], base: NDArray[np.uint64], units: Units, factor: int = 1, limit: int = 0
) -> tuple[Ints, Ints, Ints] | None:
    """Row, number and different addresses of every distinct unit of the accesses, (m,) each; sectors of lines whose
    number times the factor, modulo 2**64, reaches the limit are left out."""
    loaded = loaded_for(len(pattern))
    if loaded is None:
        return None
    size = int(units[1][pattern].sum())
    row, unit, addresses = (np.empty(size, np.int64) for _ in range(3))
    own = np.ascontiguousarray(pattern, np.int32), np.ascontiguousarray(base, np.uint64)
    count = call(loaded.listed, len(pattern), *own, *units, factor, limit, row, unit, addresses)
    return row[:count], unit[:count], addresses[:count]


def tag_cycles(pattern: NDArray[np.int32], base: NDArray[np.uint64], lines: Units) -> Ints | None:
    """Lines of each access in the fullest tag bank, (n,)."""
    loaded = loaded_for(len(pattern))
    if loaded is None:
        return None
    cycles = np.empty(len(pattern), np.int64)
    own = np.ascontiguousarray(pattern, np.int32), np.ascontiguousarray(base, np.uint64)
    call(loaded.tag_cycles, len(pattern), *own, *lines[:4], cycles)
    return cycles


def distinct(values: NDArray[np.uint64], active: Flags) -> tuple[Ints, Ints] | None:
    """Distinct values among the active ones of each row, and how many of these have the most frequent value."""
    return _by_row("distinct", values, active)


def fullest_banks(words: NDArray[np.uint64], active: Flags) -> tuple[Ints, Ints] | None:
    """Different words in the fullest of 32 banks, and active lanes on the fullest, of each row."""
    return _by_row("fullest_banks", words, active)


def occurrences(key: Ints) -> tuple[Ints, Ints] | None:
    """How often each entry's key occurs, and how often it occurred before, (n,) each."""
    loaded, keys = loaded_for(len(key)), int(key.max(initial=-1)) + 1
    if loaded is None or keys > PLACES or int(key.min(initial=0)) < 0:
        return None
    total, count, before = np.empty(keys, np.int64), np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    call(loaded.occurrences, len(key), np.ascontiguousarray(key, np.int64), keys, total, count, before)
    return count, before


def weighted_sums(
    group: NDArray[np.int32], values: NDArray[Any], weight: NDArray[np.float64], size: int
) -> NDArray[np.float64] | None:
    """Values times weights, summed by group, (size,)."""
    loaded = loaded_for(len(group))
    if loaded is None or values.dtype not in KINDS:
        return None
    sums = np.zeros(size)
    own = np.ascontiguousarray(group, np.int32), np.ascontiguousarray(values), np.ascontiguousarray(weight, np.float64)
    call(loaded.weighted_sums, len(group), own[0], KINDS.index(values.dtype), *own[1:], sums)
    return sums


def _by_row(function: str, values: NDArray[np.uint64], active: Flags) -> tuple[Ints, Ints] | None:
    """The last axis is the row."""
    loaded, width = loaded_for(values.size), values.shape[-1]
    if loaded is None or width > WIDEST:
        return None
    first, second = np.empty(values.shape[:-1], np.int64), np.empty(values.shape[:-1], np.int64)
    own = np.ascontiguousarray(values, np.uint64), np.ascontiguousarray(active, np.bool_)
    call(getattr(loaded, function), first.size, width, *own, first, second)
    return first, second
