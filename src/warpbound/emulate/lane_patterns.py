"""Warp-wide accesses in little memory: each is a base address and a pattern of lanes, and few patterns are different.

Patterns are distinguished by a 64-bit sum; two of them meet with a probability below 1e-9 per million accesses.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.native_loops import lane_patterns as native
from warpbound.quick_dataclasses import dataclass

LANES = 32
ALIGNMENT_B = 256  # alignment of bases: whole cache lines, and whole rows of shared-memory banks in all modes
_INACTIVE = np.uint64(0xD6E8FEB86659FD93)  # replaces an offset; odd, so that each lane's part of the sum is its own
_LANE_FACTORS = np.array(  # odd, their bits well mixed
    [pow(0x9E3779B97F4A7C15, 2 * lane + 1, 1 << 64) ^ (lane << 33) | 1 for lane in range(1, LANES + 1)], np.uint64
)


@dataclass(frozen=True)
class Patterns:
    """offsets : of each lane from the base of its access, bytes; 0 for a lane that takes no part. active : lanes that
    take part. Shape (p, 32) each."""

    offsets: NDArray[np.uint64]
    active: NDArray[np.bool_]


@dataclass(frozen=True)
class Packed:
    """Accesses as bases and numbers of patterns, (n,) each; key : of each pattern, (p,)."""

    base: NDArray[np.uint64]
    pattern: NDArray[np.int32]
    patterns: Patterns
    key: NDArray[np.uint64]


def packed(addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None) -> Packed:
    """Accesses by the addresses of their lanes, (n, 32), and which of them take part; None: all."""
    base, sums = _bases_and_sums(addresses, active)
    key, first, pattern = _numbered(sums)
    if len(first) == len(addresses):  # no pattern occurs twice
        first_offsets, lanes = addresses - base[:, None], active
    else:
        first_offsets = addresses[first]
        first_offsets -= base[first][:, None]
        lanes = None if active is None else active[first]
    if lanes is None:
        lanes = np.ones(first_offsets.shape, np.bool_)
    else:
        np.multiply(first_offsets, lanes, out=first_offsets)  # 0 where a lane takes no part
    return Packed(base, pattern.astype(np.int32), Patterns(first_offsets, lanes), key)


def _bases_and_sums(
    addresses: NDArray[np.uint64], active: NDArray[np.bool_] | None
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The base of each access and the sum by which patterns are distinguished, (n,) each."""
    by_c = native.lane_sums(addresses, active, ALIGNMENT_B, _LANE_FACTORS, int(_INACTIVE))
    if by_c is not None:
        return by_c
    own = addresses if active is None else np.where(active, addresses, np.uint64(np.iinfo(np.uint64).max))
    base = own.min(axis=1) & np.uint64((1 << 64) - ALIGNMENT_B) if len(own) else np.empty(0, np.uint64)
    offsets = addresses - base[:, None]
    if active is not None:
        offsets[~active] = _INACTIVE
    return base, np.asarray(offsets @ _LANE_FACTORS, np.uint64)


def _numbered(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys, where each occurs first, ascending, and the number of each entry's key, (n,)."""
    by_c = native.numbered(keys)
    if by_c is not None:
        return by_c
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    order, place = np.argsort(first), np.empty(len(first), np.int64)
    place[order] = np.arange(len(first))
    return keys[first[order]], first[order], place[number.ravel()]


def joined(parts: Sequence[Packed]) -> Packed:
    """All accesses of the parts, one part after the other."""
    if not parts:
        return packed(np.empty((0, LANES), np.uint64), None)
    if len(parts) == 1:
        return parts[0]
    keys = np.concatenate([part.key for part in parts])
    key, first, number = _numbered(keys)
    starts = np.cumsum([0, *(len(part.key) for part in parts)])
    pattern = [
        number[start : start + len(part.key)].astype(np.int32)[part.pattern]
        for start, part in zip(starts, parts, strict=False)
    ]
    offsets, active = np.empty((len(key), LANES), np.uint64), np.empty((len(key), LANES), np.bool_)
    for start, part in zip(starts.tolist(), parts, strict=False):  # no copy of all patterns in between
        begin, end = np.searchsorted(first, (start, start + len(part.key)))
        own = first[begin:end] - start
        for whole, of_part in ((offsets, part.patterns.offsets), (active, part.patterns.active)):
            if len(own) == len(of_part):
                whole[begin:end] = of_part
            else:
                np.take(of_part, own, axis=0, out=whole[begin:end], mode="clip")
    base = np.concatenate([part.base for part in parts])
    return Packed(base, np.concatenate(pattern), Patterns(offsets, active), key)
