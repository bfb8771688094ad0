"""Traffic by memory partition, on machines whose address mapping is known.

Source   NVIDIA, "Optimizing Matrix Transpose in CUDA", 2009: 6 partitions of 256 bytes on the 8- and 9-series,
         8 on the 200-series, in turn over the address space.
Models   Transactions as issued, none merged in the memory controller.
Omits    The hashed mappings of Fermi and later, which are not published.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.coalescing import Addresses, Lanes, distinct_first
from warpbound.quick_dataclasses import dataclass

PARTITION_B = 256
_SEGMENT_B = 32


@dataclass(frozen=True)
class Spread:
    """Distinct 32-byte segments of requests by partition, shape (partitions,)."""

    segments: NDArray[np.int64]

    @property
    def camping(self) -> float:
        """Traffic of the fullest partition over the mean: 1 is even, the number of partitions is the worst."""
        total = self.segments.sum()
        return float(self.segments.max() * len(self.segments) / total) if total else 1.0


def partition(addresses: Addresses, partitions: int) -> NDArray[np.int64]:
    """Partition of each byte address."""
    return (addresses // np.uint64(PARTITION_B) % np.uint64(partitions)).astype(np.int64)


def spread(addresses: Addresses, active: Lanes, partitions: int) -> Spread:
    """How accesses (n, 32) spread over 6 or 8 partitions; half-warps are requests of their own, as on 1.x."""
    halves = (len(addresses), 2, 16)
    segment, first = distinct_first(
        addresses.reshape(halves) // np.uint64(_SEGMENT_B), active.reshape(halves)
    )
    home = partition(segment[first] * np.uint64(_SEGMENT_B), partitions)
    return Spread(np.bincount(home, minlength=partitions))


def concurrent_spread(
    addresses: Addresses, active: Lanes, moment: NDArray[np.int64], partitions: int
) -> NDArray[np.float64]:
    """Camping at each moment, shape (moments,): accesses of one moment meet in the partitions."""
    moments, which = np.unique(moment, return_inverse=True)
    return np.array(
        [spread(addresses[which == k], active[which == k], partitions).camping for k in range(len(moments))]
    )
