"""Cyclic reuse in an L2 with one partition: the share of data that survives until the next launch reads it again.

Source   queued launches that read as much as they write, on an L40 and an A40, around the size of L2: the rows of the
         corpus `launches-elsewhere` that are marked as fitted (docs/model-notes/l2-cyclic-reuse.md).
Models   Lines that a launch writes stay longer than lines that it only reads, which are replaced first: written lines
         hit as long as they and READ_STAYS of the others fit. Where half of the data are written, hits end gradually,
         from UNEVEN below the size of L2 to UNEVEN above it; where all or none are written, at once.
Omits    The cause. Programs with swapped buffers write the data that the launch before has read: they move as many
         bytes, but write DRAM where the model reads it.
"""

import numpy as np
from numpy.typing import NDArray

READ_STAYS = 0.45  # share of the read data that must fit beside the written data
UNEVEN = 0.13      # of L2's size
SHARP = 1e-6       # a smaller range counts as none
Reals = NDArray[np.float64]


def kept_share(data: Reals | float, changed: Reals | float, of_all: float) -> Reals:
    """Share of the data that L2 still has when a launch reads it again.

    data : read in each round, in sizes of L2. changed : written part of it, by array; of_all : of all arrays.
    """
    uneven = 4.0 * of_all * (1.0 - of_all) * UNEVEN
    lasting = np.multiply(data, of_all + (1.0 - of_all) * READ_STAYS)
    return np.asarray(np.multiply(changed, _fits(lasting, uneven)) + np.subtract(1.0, changed) * _fits(data, uneven))


def _fits(data: Reals | float, uneven: float) -> Reals:
    """1 for data that fit, 0 for data that do not, linear between."""
    data = np.asarray(data, np.float64)
    if uneven < SHARP:
        return np.asarray(data < 1.0, np.float64)
    return np.clip((1.0 + uneven - data) / (2.0 * uneven), 0.0, 1.0)
