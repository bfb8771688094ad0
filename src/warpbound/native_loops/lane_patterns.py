"""Patterns of lanes by the loops in C (c/lane_patterns.c); None where NumPy's code has to find them."""

import numpy as np
from numpy.typing import NDArray

from warpbound.native_loops.library import Flags, Ints, call, loaded_for

Words = NDArray[np.uint64]


def lane_sums(
    addresses: Words, active: Flags | None, alignment_B: int, factors: Words, inactive: int
) -> tuple[Words, Words] | None:
    """The base of each access and the sum that tells its pattern, (n,) each; addresses, active : of 32 lanes."""
    loaded = loaded_for(len(addresses))
    if loaded is None:
        return None
    base, total = np.empty(len(addresses), np.uint64), np.empty(len(addresses), np.uint64)
    own = np.ascontiguousarray(addresses, np.uint64), None if active is None else np.ascontiguousarray(active, np.bool_)
    call(loaded.lane_sums, len(addresses), *own, alignment_B, factors, inactive, base, total)
    return base, total


def numbered(keys: Words) -> tuple[Words, Ints, Ints] | None:
    """The distinct keys, where each occurs first, ascending, and the number of each entry's key, (n,)."""
    loaded = loaded_for(len(keys))
    if loaded is None:
        return None
    number, first = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    count = call(loaded.number_keys, len(keys), np.ascontiguousarray(keys, np.uint64), number, first)
    if count < 0:
        return None
    return keys[first[:count]], first[:count], number
