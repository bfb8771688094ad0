"""Sectors and lines of recorded accesses, found once for each pattern of lanes."""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_patterns import Patterns
from warpbound.emulate.trace import Accesses
from warpbound.identity_cache import remember
from warpbound.memory.coalescing import distinct_first
from warpbound.native_loops import accesses as native
from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]
AT_ONCE = 1 << 12  # patterns: their arrays stay in the processor's caches
_LINE_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)  # odd, its bits well mixed: products spread evenly over 64 bits


@dataclass(frozen=True)
class Units:
    """The distinct units of 2 ** shift bytes of each pattern, ascending; bases are multiples of a unit.

    count : of each pattern, (p,). begin : place of its first one, (p,). number : from the base, pattern by pattern.
    addresses : different ones in the unit, in the same order.
    """

    shift: int
    count: Ints
    begin: Ints
    number: Ints
    addresses: Ints

    @property
    def parts(self) -> native.Units:
        """The arrays that the loops in C expect."""
        return self.shift, self.count, self.begin, self.number, self.addresses


@remember(1)
def units(patterns: Patterns, shift: int) -> Units:
    """The distinct units of each pattern."""
    starts = range(0, max(1, len(patterns.offsets)), AT_ONCE)
    parts = [_units(patterns, shift, slice(start, start + AT_ONCE)) for start in starts]
    count, number, addresses = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Units(shift, count, np.cumsum(count) - count, number, addresses)


def _units(patterns: Patterns, shift: int, part: slice) -> tuple[Ints, Ints, Ints]:
    """Counts, numbers and addresses of the units of some patterns."""
    offset, differs = distinct_first(patterns.offsets[part], patterns.active[part])
    number = (offset >> np.uint64(shift)).astype(np.int64)
    first = differs.copy()
    first[:, 1:] &= number[:, 1:] != number[:, :-1]
    own, each = number[first], np.cumsum(first[differs]) - 1
    return first.sum(axis=1, dtype=np.int64), own, np.bincount(each, minlength=len(own))


def listed(accesses: Accesses, of: Units, part: float = 1.0) -> tuple[Ints, Ints, Ints]:
    """Row, number and different addresses of every distinct unit of the accesses, row by row and ascending in each,
    (m,) each.

    part : share of all lines, chosen by a hash of their numbers, whose sectors are listed.
    """
    limit = np.uint64(part * 2.0**64) if part < 1 else np.uint64(0)
    by_c = native.listed(accesses.pattern, accesses.base, of.parts, int(_LINE_FACTOR), int(limit))
    if by_c is not None:
        return by_c
    row, number, addresses = _all_listed(accesses, of)
    own = (number >> 2).astype(np.uint64) * _LINE_FACTOR < limit if part < 1 else slice(None)
    return row[own], number[own], addresses[own]


def _all_listed(accesses: Accesses, of: Units) -> tuple[Ints, Ints, Ints]:
    count = of.count[accesses.pattern]
    row = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(row)) + np.repeat(of.begin[accesses.pattern] - (np.cumsum(count) - count), count)
    base = (accesses.base >> np.uint64(of.shift)).view(np.int64)
    return row, np.repeat(base, count) + of.number[place], of.addresses[place]


def numbered(keys: Ints, kinds: int) -> tuple[Ints, Ints]:
    """The distinct keys below `kinds`, ascending, and the number of each entry's key among them, (n,)."""
    if kinds > 16 * len(keys) + 1024:
        values, number = np.unique(keys, return_inverse=True)
        return values, number.ravel()
    values = np.flatnonzero(np.bincount(keys, minlength=kinds))
    place = np.empty(kinds, np.int64)
    place[values] = np.arange(len(values))
    return values, place[keys]
