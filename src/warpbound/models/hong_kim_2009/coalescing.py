"""Coalesced or not, and how many transactions: the paper's static rules for an index linear in the thread.

Source   S. Hong, H. Kim, extended version of ISCA 2009, Algorithms 1 and 2; their steps were
         checked against the text.
Models   an access of `size` bytes per thread to an array at element `start` for the first thread
         of a half-warp and `increment` further on for each next one.
Omits    what the hardware does with it: Algorithm 2 is the paper's estimate and mostly too high.
"""

from collections.abc import Sequence
from math import ceil

HALF_WARP = 16


def coalesced(size: int, increment: int, starts: Sequence[int]) -> bool:
    """Algorithm 1, compute capability 1.0 and 1.1; a refused access makes 32 transactions per warp.

    starts : element of the first thread of every half-warp.
    """
    aligned = all(start % HALF_WARP == 0 for start in starts)  # eq. alg. 1
    return size in (4, 8, 16) and increment == 1 and aligned   # eq. alg. 1


def segment_bytes(size: int) -> int:
    """Bytes of a transaction for words of this size."""
    return {1: 32, 2: 64}.get(size, 128)  # eq. alg. 2


def transactions(size: int, increment: int, starts: Sequence[int]) -> int:
    """Algorithm 2, compute capability 1.2 and 1.3: transactions of a half-warp, between 1 and 16."""
    return min(max(transactions_as_published(size, abs(increment), starts), 1), HALF_WARP)  # eq. alg. 2


def transactions_as_published(size: int, increment: int, starts: Sequence[int]) -> int:
    """The same as printed: 0 for a broadcast, and more than there are threads for a long stride."""
    misaligned = int(any(start % HALF_WARP for start in starts))                        # eq. alg. 2
    return misaligned + ceil(increment * HALF_WARP * size / segment_bytes(size))        # eq. alg. 2


def per_warp(half_warp: int) -> int:
    """#Coal_per_mw or #Uncoal_per_mw of an access that makes so many transactions per half-warp.

    One transaction counts as coalesced, one per warp; more count as uncoalesced, for both halves.
    """
    return 1 if half_warp == 1 else 2 * half_warp  # eq. sec. 3.4.5
