"""A set-associative, sectored cache with least-recently-used replacement, one access at a time.

With Numba installed the loop is compiled, without it the same source runs as it stands: the numbers are
identical either way.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outcome = tuple[NDArray[np.bool_], NDArray[np.int64], int]


def run(
    line: NDArray[np.int64],
    sector: NDArray[np.int64],
    changes: NDArray[np.bool_],
    set_of: NDArray[np.int64],
    shape: tuple[int, int],
) -> Outcome:
    """Hits and sectors written back per access, shape (m,) each, and changed sectors left at the end.

    line : number of each access's line, (m,). sector : 0 to 3 in it. changes : whether it is changed.
    set_of : set of each line, (lines,). shape : sets, ways.
    """
    sets, ways = shape
    tables = [np.full(size, fill, np.int64) for size, fill in _tables(len(set_of), sets)]
    accesses = [line, np.left_shift(1, sector), changes.astype(np.int64), set_of]
    results = [np.zeros(len(line), np.int64), np.zeros(len(line), np.int64)]
    loop, form = _fastest()
    groups = [tuple(form(array) for array in group) for group in (accesses, tables, results)]
    loop(ways, _ONES, *groups)
    hit, written_back = (np.array(values, np.int64) for values in groups[2])
    dirty = np.array(groups[1][-1], np.int64)
    return hit.astype(bool), written_back, int(np.array(_ONES)[dirty].sum())


_ONES = (0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4)  # bits set in a number below 16


def _tables(lines: int, sets: int) -> tuple[tuple[int, int], ...]:
    """Size and initial value of the tables of `replay`: newer, older, newest, oldest, held, valid, dirty."""
    return (lines, -1), (lines, -1), (sets, -1), (sets, -1), (sets, 0), (lines, 0), (lines, 0)


def replay(ways: int, ones: Any, accesses: Any, tables: Any, results: Any) -> None:  # noqa: C901
    """Replay the accesses; each set is a list of its lines from newest to oldest, linked both ways."""
    line, bit, changes, set_of = accesses
    newer, older, newest, oldest, occupied, valid, dirty = tables
    hit, written_back = results
    for i in range(len(line)):
        at, home = line[i], set_of[line[i]]
        if valid[at] == 0 and occupied[home] < ways:
            occupied[home] += 1
        elif valid[at] == 0:
            victim = oldest[home]
            written_back[i] = ones[dirty[victim]]
            valid[victim] = dirty[victim] = 0
            oldest[home] = newer[victim]
            if newer[victim] >= 0:
                older[newer[victim]] = -1
            else:
                newest[home] = -1
        elif newest[home] != at:  # take it out of its place
            older[newer[at]] = older[at]
            if older[at] >= 0:
                newer[older[at]] = newer[at]
            else:
                oldest[home] = newer[at]
        if newest[home] != at:
            older[at], newer[at] = newest[home], -1
            if newest[home] >= 0:
                newer[newest[home]] = at
            else:
                oldest[home] = at
            newest[home] = at
        hit[i] = 1 if valid[at] & bit[i] else 0
        valid[at] |= bit[i]
        if changes[i]:
            dirty[at] |= bit[i]


@cache
def _fastest() -> tuple[Callable[..., None], Callable[[NDArray[np.int64]], Any]]:
    """The loop that runs fastest here, and the form its tables take: compiled over arrays, or over lists."""
    try:
        numba = import_module("numba")
    except ImportError:
        return replay, np.ndarray.tolist
    return numba.njit(replay), np.asarray
