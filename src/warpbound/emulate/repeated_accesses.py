"""Accesses of many iterations of a loop at once, where each warp's addresses move by constant steps.

Models   After a period of iterations every warp has moved by a multiple of a base's alignment, so its accesses have the
         same patterns of lanes at other bases: one period is packed and represents all.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_patterns import ALIGNMENT_B
from warpbound.emulate.recorded_accesses import Piece, Rows
from warpbound.emulate.state import LANES

Steps = NDArray[np.int64]
PERIODS = tuple(1 << bit for bit in range(ALIGNMENT_B.bit_length()))


def moved(piece: Piece, by: Steps) -> Piece:
    """The access this many bytes further on, lane by lane."""
    return replace(piece, addresses=piece.addresses.astype(np.int64, copy=False) + by)


def extend(rows: Rows, iteration: Sequence[tuple[Piece, Steps]], iterations: int) -> int:
    """Record an iteration's accesses for up to that many more iterations; returns for how many.

    iteration : the accesses, and the bytes by which each lane moves from one iteration to the next. Returns 0 if lanes
    of one warp move apart, or if there are few iterations.
    """
    each = [_steps_of_warps(piece, step) for piece, step in iteration]
    if any(steps is None for steps in each):
        return 0
    steps = np.concatenate([steps for steps in each if steps is not None])
    period = next(period for period in PERIODS if not (period * steps % ALIGNMENT_B).any())
    times = iterations // period
    if times < 2:
        return 0
    first_iteration = Rows(rows.base, packs=False)
    for number in range(1, period + 1):
        first_iteration.pieces += [moved(piece, number * step) for piece, step in iteration]
    first_iteration.pack(1 + period * len(steps))  # as one, of which all iterations are copies
    first, shifts = first_iteration.older[0], np.arange(times)[:, None] * (period * np.tile(steps, period))
    if rows.pieces:
        rows.pack()
    rows.keys += first_iteration.keys
    rows.older.append(
        replace(
            first, instruction=np.tile(first.instruction, times), warp=np.tile(first.warp, times),
            base=(first.base.view(np.int64) + shifts).ravel().view(np.uint64), pattern=np.tile(first.pattern, times),
        )  # fmt: skip
    )
    return times * period


def _steps_of_warps(piece: Piece, step: Steps) -> Steps | None:
    """By how much each warp that takes part moves, (warps,); None where its lanes move apart."""
    lanes = step.reshape(-1, LANES)
    if piece.active is None:
        return lanes[:, 0] if (lanes == lanes[:, :1]).all() else None
    active = piece.active.reshape(-1, LANES)
    first = lanes[np.arange(len(lanes)), active.argmax(axis=1)]
    return first[active.any(axis=1)] if (lanes == first[:, None])[active].all() else None
