"""Cost of a typed index expression under every coalescing rule: transactions, the reason and the remedy."""

from collections.abc import Mapping
from dataclasses import field
from math import gcd

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError
from warpbound.memory import affine, banks, coalescing
from warpbound.memory.address_arithmetic import Address
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import Form
from warpbound.memory.expressions import Expression, derivative, index, spelled
from warpbound.memory.static_lane_addresses import rows
from warpbound.models.hong_kim_2009 import coalescing as hong_kim
from warpbound.quick_dataclasses import dataclass
from warpbound.result.index_expression import (
    Algorithm1,
    Algorithm2,
    BankRule,
    GlobalRule,
    HongKimCoalescing,
    IndexCost,
)

HALF = 16
SIZES_B = (1, 2, 4, 8, 16)
RULES = (  # what it is called, sm number that represents it, caching
    ("1.0, 1.1", 10, "l2"),
    ("1.2, 1.3", 12, "l2"),
    ("2.x through L1", 20, "l1"),
    ("2.x past L1", 20, "l2"),
    ("3.x through L1", 30, "l1"),
    ("3.x past L1", 30, "l2"),
    ("5.0 and later", 50, "default"),
)
BANK_RULES = (("1.x", 10), ("2.x", 20), ("3.x", 30), ("5.0 and later", 50))


@dataclass(frozen=True)
class Access:
    """The request: an expression, bytes per element, the block, values of names, the array's shape.

    space : global or shared. arch : sm number whose rules are wanted; None for all.
    """

    expression: Expression
    element_B: int
    threads: Threads
    values: Mapping[str, int] = field(default_factory=dict)
    shape: tuple[int, ...] = ()
    space: str = "global"
    arch: int | None = None


@dataclass(frozen=True)
class _Addresses:
    """Byte addresses by warp and alignment (n, 32), which threads exist, and d/dtx in elements (None: differs)."""

    lanes: NDArray[np.uint64]
    exists: NDArray[np.bool_]
    slope: Form | None


def answer(access: Access) -> IndexCost:
    """The cost of the access under each rule. Raises CommandError where the index is not affine."""
    if access.element_B not in SIZES_B:
        raise CommandError(
            f"No instruction accesses an element of {access.element_B} bytes.",
            f"Give {', '.join(map(str, SIZES_B))}; a structure is read member by member.",
        )
    element = index(access.expression, access.threads, access.values, access.shape)
    addresses = _Addresses(
        *rows(Address(affine.scale(element, access.element_B)), access.threads),
        derivative(access.expression, access.threads, access.values, access.shape),
    )
    rules: list[GlobalRule] | list[BankRule]
    if access.space == "shared":
        rules = banks_used = _shared(access, addresses)
        reason, remedy = _bank_advice(access, addresses, banks_used)
    else:
        rules = transactions = _global(access, addresses)
        reason, remedy = _advice(access, addresses, transactions)
    return IndexCost(
        expression=access.expression.text,
        space=access.space,
        element_bytes=access.element_B,
        block=list(access.threads.block),
        constants=[name for name in access.expression.names() if name not in access.values],
        derivative=None if addresses.slope is None else spelled(addresses.slope),
        rules=rules,
        hong_kim_2009=_hong_kim(access, addresses) if access.space == "global" else None,
        reason=reason,
        remedy=remedy,
    )


def _global(access: Access, addresses: _Addresses) -> list[GlobalRule]:
    requested_bytes = float(coalescing.distinct(addresses.lanes, addresses.exists).mean()) * access.element_B
    return [
        _rule(access, addresses, rule, requested_bytes)
        for rule in RULES
        if access.arch is None or coalescing.family(access.arch) == coalescing.family(rule[1])
    ]


def _rule(access: Access, addresses: _Addresses, rule: tuple[str, int, str], requested_bytes: float) -> GlobalRule:
    """Cost under one rule; coalesced: no more transactions than consecutive elements from an aligned start."""
    name, arch, caching = rule
    size, in_order = access.element_B, _in_order(addresses, access.element_B)
    cost = coalescing.transactions(addresses.lanes, addresses.exists, size, arch, caching)
    best = coalescing.transactions(in_order, addresses.exists, size, arch, caching)
    moved_bytes = float(cost.bytes.mean())
    return GlobalRule(
        compute_capability=name,
        transactions_per_request=float(cost.count.mean()),
        bytes_per_request=moved_bytes,
        efficiency=min(1.0, requested_bytes / moved_bytes),
        coalesced=bool((cost.count <= best.count).all() and (cost.bytes <= best.bytes).all())
        and not _uncoalesced_1_0(access, arch),
    )


def _uncoalesced_1_0(access: Access, arch: int) -> bool:
    """On 1.0 and 1.1 words of 1 and 2 bytes never join."""
    return arch == 10 and access.element_B < 4


def _in_order(addresses: _Addresses, size: int) -> NDArray[np.uint64]:
    return np.broadcast_to(np.arange(32, dtype=np.uint64) * np.uint64(size), addresses.lanes.shape)


def _shared(access: Access, addresses: _Addresses) -> list[BankRule]:
    rules = []
    for name, arch in BANK_RULES:
        if access.arch is None or coalescing.family(access.arch) == coalescing.family(arch):
            cost = banks.wavefronts(addresses.lanes, addresses.exists, access.element_B, arch)
            rules.append(
                BankRule(
                    compute_capability=name,
                    wavefronts_per_request=float(cost.actual.mean()),
                    without_conflict=float(cost.ideal.mean()),
                )
            )
    return rules


# ------------------------------------------------------------------------------- Hong and Kim


def _hong_kim(access: Access, addresses: _Addresses) -> HongKimCoalescing:
    """Algorithms 1 and 2 of the paper, where every half-warp is linear with the same step."""
    elements = addresses.lanes.astype(np.int64).reshape(-1, HALF) // access.element_B
    full = addresses.exists.reshape(-1, HALF).all(axis=1)
    steps = np.diff(elements[full], axis=1)
    if not steps.size or np.any(steps != steps.flat[0]) or abs(int(steps.flat[0])) >= 1 << 30:
        reason = "the paper's algorithms need one known step between neighbours in every whole half-warp"
        return HongKimCoalescing(reason=reason)
    step, starts = int(steps.flat[0]), [int(start) for start in elements[full][:, 0]]
    coalesced = hong_kim.coalesced(access.element_B, step, starts)
    half = hong_kim.transactions(access.element_B, step, starts)
    return HongKimCoalescing(
        increment=step,
        half_warps_aligned=all(start % HALF == 0 for start in starts),
        algorithm_1=Algorithm1(coalesced, 1 if coalesced else 2 * HALF),
        algorithm_2=Algorithm2(half, hong_kim.per_warp(half)),
    )


# ------------------------------------------------------------------------------- reasons


def _advice(access: Access, addresses: _Addresses, rules: list[GlobalRule]) -> tuple[str, str]:
    """The reason for the cost, and the remedy; none where nothing is wasted."""
    stride, row = _stride(access, addresses), access.threads.block[0]
    wasteful = any(not rule.coalesced for rule in rules)
    if stride == 0:
        remedy = "Let one thread read it, or keep it in constant memory; from 1.2 on it is one transaction anyway."
        return "every thread of a warp reads the same element", remedy if wasteful else ""
    if stride == access.element_B:
        return _neighbours(access, addresses, wasteful)
    if stride == -access.element_B:
        remedy = "Count the other way where 1.0 or 1.1 matters: order within a segment counts only there."
        return "neighbouring threads take neighbouring elements, backwards", remedy if wasteful else ""
    if stride is not None:
        return (
            f"neighbouring threads are {abs(stride) // access.element_B} elements ({abs(stride)} B) apart",
            "Make the factor of threadIdx.x 1: a structure of arrays instead of an array of structures, or a tile that "
            "is loaded in order into shared memory and read from there with the stride.",
        )
    if addresses.slope is not None and any(addresses.slope.terms.keys() - {affine.ONE}):
        return (
            f"neighbouring threads are {spelled(addresses.slope)} elements apart: they walk down a column",
            "Let threadIdx.x run along the row: swap the roles of x and y, or transpose a tile in shared memory.",
        )
    if row % 32 and access.threads.block[1] * access.threads.block[2] > 1:
        return (
            f"a warp covers {max(2, 32 // row)} rows of a block that is {row} threads wide",
            "Make blockDim.x a multiple of 32 (of 16 before 2.0).",
        )
    return "neighbours are not at one distance: the index is not linear in threadIdx.x", (
        "Make the part of the index that varies within a warp threadIdx.x itself." if wasteful else ""
    )


def _neighbours(access: Access, addresses: _Addresses, wasteful: bool) -> tuple[str, str]:  # noqa: FBT001  (a fact)
    starts = addresses.lanes[addresses.exists[:, 0], 0]
    off = int(np.gcd.reduce(np.append(starts, np.uint64(128)).astype(np.int64)))
    if access.element_B < 4 and off >= 32:
        remedy = "Let each thread take 4, 8 or 16 bytes (char4, short2, ...)."
        return "neighbouring threads take neighbouring elements of less than 4 bytes", remedy
    if not wasteful or off >= 128:
        reason = "neighbouring threads take neighbouring elements, from an aligned start"
        return reason, "" if not wasteful else "Nothing: an element this wide needs more than one transaction."
    return (
        f"neighbouring threads take neighbouring elements, but a warp begins at multiples of only {off} B",
        "Begin every warp's part at a multiple of 128 B: pad rows to that length, or shift the index so that the "
        "first thread of a warp stands there.",
    )


def _bank_advice(access: Access, addresses: _Addresses, rules: list[BankRule]) -> tuple[str, str]:
    if all(rule.wavefronts_per_request <= rule.without_conflict for rule in rules):
        return "no two lanes access different words of one bank at once", ""
    stride = _stride(access, addresses)
    if stride is None:
        return "lanes access different words of one bank", "Pad rows by one element, or permute columns by row (^)."
    share = gcd(max(1, abs(stride) // 4), 32)
    return (
        f"lanes are {abs(stride)} B apart, so only {32 // share} of 32 banks serve a warp",
        "Make the step odd in words: pad rows by one element (tile[32][33]), or permute columns by row (^).",
    )


def _stride(access: Access, addresses: _Addresses) -> int | None:
    """Bytes from each thread to the next within a warp, where that is one number."""
    both = addresses.exists[:, 1:] & addresses.exists[:, :-1]
    change = np.diff(addresses.lanes.astype(np.int64), axis=1)[both]
    if not change.size:
        return access.element_B
    first = int(change[0])
    return first if (change == first).all() and abs(first) < 1 << 30 else None
