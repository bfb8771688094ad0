"""The loops in C (c/), compiled once for each machine; NumPy's code does the same where there is no compiler."""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.host_compiler import loaded_library, sources

FOLDER = Path(__file__).parent / "c"
OPTIONS = ("-std=gnu11", "-O3")
LEAST = 2000  # entries: NumPy takes a few tenths of a millisecond for fewer
PLACES = 1 << 16  # most caches that are followed at once

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Accesses = tuple[Ints, NDArray[np.int8], Ints]  # sector, kind and place of each


@cache
def compiled() -> ctypes.CDLL | None:
    """The functions; None where they cannot be compiled or loaded."""
    loaded = loaded_library("the caches' inner loops", sources(FOLDER), OPTIONS)
    if loaded is not None:
        for name in ("order_by", "lru", "touches"):
            getattr(loaded, name).restype = ctypes.c_int64
    return loaded


def order_by(keys: Sequence[Ints]) -> tuple[Ints, Flags] | None:
    """The stable order by several keys, and which of its entries begin a group of equal ones, (n,) each."""
    count = len(keys[0])
    result = np.empty(count, np.int64), np.empty(count, np.bool_)
    return result if _ordered(keys, (*result, None)) else None


def groups(keys: Sequence[Ints]) -> Ints | None:
    """Number of each entry's group of equal keys, in the order of the keys, (n,)."""
    result = np.empty(len(keys[0]), np.int64)
    return result if _ordered(keys, (None, None, result)) else None


def lru(now: Accesses, before: Accesses | None, lines: int) -> tuple[Flags, int, int] | None:
    """Which accesses hit in caches of that many lines, (m,), sectors written back meanwhile, and changed ones left."""
    loaded, count = _loaded(len(now[0])), len(now[0])
    own, past = _whole(now), _whole(now if before is None else before)
    least = min(int(part[2].min(initial=0)) for part in (own, past))
    places = 1 + max(int(part[2].max(initial=0)) for part in (own, past))
    if loaded is None or least < 0 or places > PLACES:
        return None
    hit, changed = np.empty(count, np.bool_), np.empty(2, np.int64)
    earlier = ctypes.c_int64(0 if before is None else len(past[0]))
    sizes = ctypes.c_int64(places), ctypes.c_int64(lines)
    first, second = ([_at(each) for each in part] for part in (own, past))
    done = loaded.lru(ctypes.c_int64(count), *first, earlier, *second, *sizes, _at(hit), _at(changed))
    return (hit, int(changed[0]), int(changed[1])) if done else None


def touches(sector: Ints, owner: Ints, array: Ints, patch: Ints, width: int) -> NDArray[np.int64] | None:
    """Sectors that each block touches before all others, at all, and before others of its patch, by array,
    (3, blocks, width). sector : ascending. owner : block of each. patch : of each block.
    """
    loaded = _loaded(len(sector))
    if loaded is None:
        return None
    counts = np.zeros((3, len(patch), width), np.int64)
    own = [np.ascontiguousarray(each, np.int64) for each in (sector, owner, array, patch)]
    done = loaded.touches(
        ctypes.c_int64(len(sector)), *map(_at, own[:3]), ctypes.c_int64(len(patch)), _at(own[3]),
        ctypes.c_int64(width), *(_at(each) for each in counts),
    )  # fmt: skip
    return counts if done else None


def _loaded(count: int) -> ctypes.CDLL | None:
    return compiled() if count >= LEAST else None


def _ordered(keys: Sequence[Ints], results: tuple[Any, ...]) -> bool:
    loaded = _loaded(len(keys[0]))
    if loaded is None:
        return False
    own = [np.ascontiguousarray(key, np.int64) for key in keys]
    places = (ctypes.c_void_p * len(own))(*(key.ctypes.data for key in own))
    sizes = ctypes.c_int64(len(own[0])), ctypes.c_int64(len(own))
    return bool(loaded.order_by(*sizes, places, *map(_at, results)))


def _whole(accesses: Accesses) -> Accesses:
    sector, kind, place = accesses
    whole = (np.ascontiguousarray(each, np.int64) for each in (sector, place))
    return next(whole), np.ascontiguousarray(kind, np.int8), next(whole)


def _at(array: NDArray[Any] | None) -> ctypes.c_void_p:
    """Address of a result; None if it is not wanted."""
    return ctypes.c_void_p(None if array is None else array.ctypes.data)
