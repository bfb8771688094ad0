"""Caches of sectors, and blocks that touch sectors, by the loops in C (c/lru.c, c/touches.c); else None."""

import numpy as np
from numpy.typing import NDArray

from warpbound.native_loops.library import PLACES, Flags, Ints, call, loaded_for

Accesses = tuple[Ints, NDArray[np.int8], Ints]  # sector, kind and place of each


def lru(now: Accesses, before: Accesses | None, lines: int) -> tuple[Flags, int, int] | None:
    """Which accesses hit in caches of that many lines, (m,), sectors written back meanwhile, and changed ones left."""
    loaded, count = loaded_for(len(now[0])), len(now[0])
    own, past = _whole(now), _whole(now if before is None else before)
    least = min(int(part[2].min(initial=0)) for part in (own, past))
    places = 1 + max(int(part[2].max(initial=0)) for part in (own, past))
    if loaded is None or least < 0 or places > PLACES:
        return None
    hit, changed = np.empty(count, np.bool_), np.empty(2, np.int64)
    earlier = 0 if before is None else len(past[0])
    fits = call(loaded.lru, count, *own, earlier, *past, places, lines, hit, changed)
    return (hit, int(changed[0]), int(changed[1])) if fits else None


def touches(sector: Ints, owner: Ints, array: Ints, patch: Ints, width: int) -> NDArray[np.int64] | None:
    """Sectors that each block touches before all others, at all, and before others of its patch, by array,
    (3, blocks, width). sector : ascending. owner : block of each. patch : of each block.
    """
    loaded = loaded_for(len(sector))
    if loaded is None:
        return None
    counts = np.zeros((3, len(patch), width), np.int64)
    own = [np.ascontiguousarray(each, np.int64) for each in (sector, owner, array, patch)]
    fits = call(loaded.touches, len(sector), *own[:3], len(patch), own[3], width, *counts)
    return counts if fits else None


def _whole(accesses: Accesses) -> Accesses:
    sector, kind, place = accesses
    whole = (np.ascontiguousarray(each, np.int64) for each in (sector, place))
    return next(whole), np.ascontiguousarray(kind, np.int8), next(whole)
