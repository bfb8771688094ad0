"""Orders and groups of equal keys by the loops in C (c/orders.c); None where NumPy's code has to find them."""

from collections.abc import Sequence

import numpy as np

from warpbound.native_loops.library import Flags, Ints, call, loaded_for


def order_by(keys: Sequence[Ints]) -> tuple[Ints, Flags] | None:
    """The stable order by several keys, and which of its entries begin a group of equal ones, (n,) each."""
    count = len(keys[0])
    result = np.empty(count, np.int64), np.empty(count, np.bool_)
    return result if _ordered(keys, (*result, None)) else None


def groups(keys: Sequence[Ints]) -> Ints | None:
    """Number of each entry's group of equal keys, in the order of the keys, (n,)."""
    result = np.empty(len(keys[0]), np.int64)
    return result if _ordered(keys, (None, None, result)) else None


def _ordered(keys: Sequence[Ints], results: tuple[Flags | Ints | None, ...]) -> bool:
    loaded = loaded_for(len(keys[0]))
    if loaded is None:
        return False
    own = [np.ascontiguousarray(key, np.int64) for key in keys]
    places = np.array([key.ctypes.data for key in own], np.uintp)
    return bool(call(loaded.order_by, len(own[0]), len(own), places, *results))
