"""Rounds: what an L2 of one side has of data that launches in a queue go over in the same order, again and again.

Source   queued launches that read as much as they write, on an L40 and an A40, around the size of L2: the rows of the
         corpus `launches-elsewhere` that are marked as fitted (docs/model-notes/l2-cyclic-reuse.md).
Models   What a launch changes stays longer than what it reads alone, which makes room first: the changed data are found
         as long as they and READ_STAYS of the others fit. Both go little by little, by UNEVEN more or less than the
         size, where half of the data are changed; all at once where all or none are.
Omits    Why. A launch that changes what the one before read, as a program does that swaps its buffers, moves as many
         bytes in the same way, but DRAM is then written where it is said to be read.
"""

import numpy as np
from numpy.typing import NDArray

READ_STAYS = 0.45  # of a round, where what is changed stays for a whole one
UNEVEN = 0.13      # of L2's size
SHARP = 1e-6       # less than this is all at once
Reals = NDArray[np.float64]


def found(data: Reals | float, changed: Reals | float, of_all: float) -> Reals:
    """Share that L2 still has.

    data : what is gone over, in sizes of L2. changed : part of it that the launches change, by array; of_all : of all.
    """
    uneven = 4.0 * of_all * (1.0 - of_all) * UNEVEN
    lasting = np.multiply(data, of_all + (1.0 - of_all) * READ_STAYS)
    return np.asarray(np.multiply(changed, _fits(lasting, uneven)) + np.subtract(1.0, changed) * _fits(data, uneven))


def _fits(data: Reals | float, uneven: float) -> Reals:
    """1 for less than fits, 0 for more, between them evenly."""
    data = np.asarray(data, np.float64)
    if uneven < SHARP:
        return np.asarray(data < 1.0, np.float64)
    return np.clip((1.0 + uneven - data) / (2.0 * uneven), 0.0, 1.0)
