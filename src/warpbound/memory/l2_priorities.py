"""Replacement priorities of an L2: it replaces streamed lines first, persisting lines last.

Source   Order: NVIDIA, PTX ISA, "Cache Eviction Priority Hints" (evict_first) and "Cache Operators" (.cs, `__ldcs`,
         `__stcs`, which SASS marks EF). Persisting accesses, from 8.0 on: NVIDIA, CUDA C++ Programming Guide, "L2
         Set-Aside Cache for Persisting Accesses": at most three quarters of L2, used by others only while no persisting
         line needs it. 16 lines in a set: Accel-Sim, gpgpusim.config of SM86_RTX3070 (S:64:128:16).
Models   Lines of one priority compete with each other for the part of L2 that those of higher priority leave: no line
         is replaced while a line of lower priority is there. An array has one priority: it is streamed if every sampled
         access to it is. A set keeps at least the newest of its lines, whatever its priority.
Omits    Persisting lines that an earlier kernel left; a window over part of an array, and its hit ratio; other hints
         (evict_last, createpolicy). We have timed none of this on a GPU.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import InputError
from warpbound.machine import Gpu
from warpbound.program.instruction import Instruction

STREAMED, USUAL, PERSISTING = 0, 1, 2
SET_ASIDE, PERSISTS_FROM = 0.75, 80
NEWEST = 1 / 16  # of L2
KEPT_MOST = 2    # arrays of which each may be kept
STREAMING_MARK = "EF"
Reals = NDArray[np.float64]
Ints = NDArray[np.int64]


def set_aside_bytes(board: Gpu) -> int:
    """Most bytes of L2 that persisting accesses may have; 0 before 8.0."""
    return int(SET_ASIDE * (board.get("l2_size") or 0.0)) if board.arch >= PERSISTS_FROM else 0


def check_persisting(board: Gpu, name: str, size_B: int) -> None:
    """Raises InputError where an array of that size cannot persist in the board's L2."""
    most = set_aside_bytes(board)
    if not most:
        reason = f"{board.name} has no L2 whose lines can persist; compute capability 8.0 is the first that has."
        raise InputError(reason, "Leave --persist out, or choose another GPU.")
    if size_B > most:
        reason = f"'{name}' has {size_B} bytes; at most {most} bytes can persist in the L2 of {board.name}."
        raise InputError(reason, "Name an array that fits.")


def streams(instructions: tuple[Instruction, ...]) -> NDArray[np.bool_]:
    """Which instructions ask L2 to replace their lines first."""
    return np.array([STREAMING_MARK in each.modifiers for each in instructions] or [False])


def of_arrays(array: Ints, streamed: NDArray[np.bool_], persisting: NDArray[np.bool_]) -> Ints:
    """The priority of each array, (arrays + 1,).

    array, streamed : of each access, (m,). persisting : by array, (arrays,).
    """
    count = len(persisting) + 1
    all_of_it, own = np.bincount(array, minlength=count), np.bincount(array[streamed], minlength=count)
    priority = np.where((own > 0) & (own == all_of_it), STREAMED, USUAL)
    priority[:-1][persisting] = PERSISTING
    return priority


def shares(lines: Reals, size: float, priority: Ints) -> Reals:
    """Share of an L2 of `size` lines that each array and those of its priority have, (arrays + 1,).

    lines : of each array in the whole launch, (arrays + 1,).
    """
    result, free_share = np.ones(len(lines)), 1.0
    for level in sorted(set(priority[lines > 0].tolist()), reverse=True):
        result[priority == level] = max(NEWEST, free_share)
        free_share -= min(free_share, float(lines[priority == level].sum()) / size)
    return result


def competing(lines: Reals, priority: Ints, share: Reals) -> Reals | float:
    """Lines that compete for L2 with each array's, scaled to a whole L2; one number if all have one priority."""
    if (priority == priority[0]).all():
        return float(lines.sum())
    same = priority[:, None] == priority
    return np.asarray(same @ lines / share)


def keepable(board: Gpu, sizes: Mapping[str, int]) -> dict[str, int]:
    """Arrays that can persist in L2 where it does not hold all arrays, the largest KEPT_MOST, with their bytes."""
    if sum(sizes.values()) <= (board.get("l2_size") or 0.0):
        return {}
    fitting = sorted((name for name in sizes if sizes[name] <= set_aside_bytes(board)), key=lambda name: -sizes[name])
    return {name: sizes[name] for name in fitting[:KEPT_MOST]}
