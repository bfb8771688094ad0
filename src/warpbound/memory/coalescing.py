"""Coalescing: how many sectors, lines and transactions one warp-wide access to global memory costs.

Source   NVIDIA, CUDA C Programming Guide, appendix "Compute Capabilities", sections "Global Memory":
         the editions of CUDA 2 to 4 for 1.x and 2.x (from memory, not checked against a page), of
         CUDA 13 for 5.x and later; sector and line sizes as in the tables of Nsight Compute.
Models   One instruction of one warp at a time; every lane's address is a multiple of its width.
Omits    Merging of neighbouring instructions, which no documented machine does.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError
from warpbound.native_loops import accesses as native
from warpbound.quick_dataclasses import dataclass

LANES = 32
SECTOR_B = 32
LINE_B = 128

Addresses = NDArray[np.uint64]  # byte address per lane, (n, 32)
Lanes = NDArray[np.bool_]  # which lanes take part, (n, 32)
Counts = NDArray[np.int64]  # (n,)
_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True)
class Transactions:
    """What each access moves: number of transactions and their bytes, shape (n,) each."""

    count: Counts
    bytes: Counts


def sectors(addresses: Addresses, active: Lanes) -> Counts:
    """Distinct 32-byte sectors per access, shape (n,)."""
    return distinct(addresses >> np.uint64(5), active)


def lines(addresses: Addresses, active: Lanes) -> Counts:
    """Distinct 128-byte lines per access, shape (n,)."""
    return distinct(addresses >> np.uint64(7), active)


def transactions(
    addresses: Addresses, active: Lanes, width: int, arch: int, caching: str = "default"
) -> Transactions:
    """Transactions of each access of `width` bytes per lane under the rule of sm `arch` (13 for 1.3).

    caching : "l1" or "l2" where the machine leaves the choice (2.x and 3.x); "default" is what its
    compiler does: "l1" on 2.x, "l2" on 3.x.
    """
    return RULES[family(arch), _caching(arch, caching)](addresses, active, width)


def family(arch: int) -> str:
    """The rule set of sm `arch`: 10 to 11, 12 to 13, 2.x, 3.x, or 5.x and later."""
    for below, name in _FAMILIES:
        if arch < below:
            return name
    return "sectored"


def distinct(values: NDArray[np.uint64], active: Lanes) -> Counts:
    """Distinct values among the active ones of each row, shape (n,)."""
    by_c = native.distinct(values, active)
    if by_c is not None:
        return by_c[0]
    _, first = distinct_first(values, active)
    return np.asarray(first.sum(axis=-1, dtype=np.int64))


def distinct_first(values: NDArray[np.uint64], active: Lanes) -> tuple[NDArray[np.uint64], Lanes]:
    """Each row sorted, and where a distinct value of it stands first; the last axis is the row."""
    none = np.uint64(np.iinfo(np.uint64).max)  # no address reaches it: these are addresses shifted down
    ordered = np.sort(np.where(active, values, none), axis=-1)
    first = ordered != none
    first[..., 1:] &= ordered[..., 1:] != ordered[..., :-1]
    return ordered, first


def _ordered(addresses: Addresses, active: Lanes, width: int) -> Transactions:
    """1.0 and 1.1: a half-warp coalesces only if lane k holds word k of one aligned segment.

    Then one transaction of 64 bytes (4-byte words) or 128 (8-byte words), or two of 128 (16-byte words);
    otherwise, and for words of 1 or 2 bytes, 32 bytes for each active lane. Idle lanes do no harm.
    """
    addr, on = _halves(addresses), _halves(active)
    lane = np.arange(16, dtype=np.uint64)
    segment = addr - lane * np.uint64(width)  # where lane 0 would have to stand
    start = np.where(on, segment, np.uint64(0)).max(axis=-1, keepdims=True)
    in_order = ((segment == start) | ~on).all(axis=-1) & (start[..., 0] % np.uint64(16 * width) == 0)
    is_used, active_lanes = on.any(axis=-1), on.sum(axis=-1)
    count, size = {4: (1, 64), 8: (1, 128), 16: (2, 128)}.get(width, (0, 0))
    fits = in_order & (count > 0)
    transactions = np.where(fits, count * is_used, active_lanes)
    return Transactions(
        transactions.sum(axis=-1), np.where(fits, count * size * is_used, 32 * active_lanes).sum(axis=-1)
    )


def _smallest_segments(addresses: Addresses, active: Lanes, width: int) -> Transactions:
    """1.2 and 1.3: a half-warp touches segments in any order, each shrunk to the half that is used.

    Segments are of 32 bytes for 1-byte words, 64 for 2-byte words, else 128; a segment of which only
    one half is used is halved, down to 32 bytes.
    """
    sector, first = distinct_first(_halves(addresses) >> np.uint64(5), _halves(active))
    per_segment = {1: 1, 2: 2}.get(width, 4)
    segment = sector // np.uint64(per_segment)
    leads = first.copy()  # the first sector of its segment; sectors are sorted, so segments are together
    current, lead = segment[..., 0], sector[..., 0]
    total = np.zeros(first.shape[:-1], np.int64)
    size = np.where(first[..., 0], SECTOR_B, 0)
    for k in range(1, first.shape[-1]):
        same = first[..., k] & (segment[..., k] == current)
        leads[..., k] = first[..., k] & ~same
        one_half = sector[..., k] // np.uint64(2) == lead // np.uint64(2)
        larger = np.where(one_half, np.maximum(size, 64), 32 * per_segment)
        total += np.where(leads[..., k], size, 0)
        size = np.where(leads[..., k], SECTOR_B, np.where(same, larger, size))
        current = np.where(leads[..., k], segment[..., k], current)
        lead = np.where(leads[..., k], sector[..., k], lead)
    return Transactions(leads.sum(axis=(-1, -2), dtype=np.int64), (total + size).sum(axis=-1))


def _whole_lines(addresses: Addresses, active: Lanes, width: int) -> Transactions:
    """2.x and 3.x through L1: 128-byte lines; 8-byte words by half-warps, 16-byte words by quarter-warps."""
    parts = max(1, width // 4)
    shape = (len(addresses), parts, LANES // parts)
    count = distinct(addresses.reshape(shape) >> np.uint64(7), active.reshape(shape)).sum(axis=-1)
    return Transactions(count, count * LINE_B)


def _sectors(addresses: Addresses, active: Lanes, width: int) -> Transactions:
    """2.x and 3.x past L1, and all later machines: distinct 32-byte sectors of the whole warp."""
    count = sectors(addresses, active)
    return Transactions(count, count * SECTOR_B)


RULES: dict[tuple[str, str], Callable[[Addresses, Lanes, int], Transactions]] = {
    ("1.0", "l2"): _ordered,
    ("1.2", "l2"): _smallest_segments,
    ("2.x", "l1"): _whole_lines,
    ("2.x", "l2"): _sectors,
    ("3.x", "l1"): _whole_lines,
    ("3.x", "l2"): _sectors,
    ("sectored", "l1"): _sectors,
    ("sectored", "l2"): _sectors,
}

_FAMILIES = ((12, "1.0"), (20, "1.2"), (30, "2.x"), (50, "3.x"))
_DEFAULT_CACHING = {"1.0": "l2", "1.2": "l2", "2.x": "l1", "3.x": "l2", "sectored": "l1"}


def _caching(arch: int, caching: str) -> str:
    name = family(arch)
    rule = _DEFAULT_CACHING[name] if caching == "default" else caching
    if (name, rule) not in RULES:
        names = ", ".join(sorted(c for f, c in RULES if f == name))
        raise CommandError(f"Caching {caching!r} does not exist on sm_{arch}.", f"It has: default, {names}.")
    return rule


def _halves(lanes: NDArray[_T]) -> NDArray[_T]:
    return lanes.reshape(len(lanes), 2, LANES // 2)
