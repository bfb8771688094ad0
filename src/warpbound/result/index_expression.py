"""The cost of a typed index expression under every rule of coalescing: what `coalescing` prints."""

import msgspec
from msgspec import UNSET, UnsetType

from warpbound.result.quantities import Space


class GlobalRule(msgspec.Struct, frozen=True, kw_only=True):
    """Transactions and bytes of one warp's request under one rule; efficiency: bytes asked for over bytes moved."""

    compute_capability: str
    transactions_per_request: float
    bytes_per_request: float
    efficiency: float
    coalesced: bool


class BankRule(msgspec.Struct, frozen=True, kw_only=True):
    """Wavefronts of one warp's request to shared memory, and those that it would take without bank conflicts."""

    compute_capability: str
    wavefronts_per_request: float
    without_conflict: float


class Algorithm1(msgspec.Struct, frozen=True):
    """Of Hong and Kim: compute capability 1.0 and 1.1."""

    coalesced: bool
    transactions_per_warp: int


class Algorithm2(msgspec.Struct, frozen=True):
    """Of Hong and Kim: compute capability 1.2 and 1.3."""

    transactions_per_half_warp: int
    transactions_per_warp: int


class HongKimCoalescing(msgspec.Struct, frozen=True, kw_only=True):
    """The paper's two algorithms, or the reason why they do not apply."""

    reason: str | UnsetType = UNSET
    increment: int | UnsetType = UNSET
    half_warps_aligned: bool | UnsetType = UNSET
    algorithm_1: Algorithm1 | UnsetType = UNSET
    algorithm_2: Algorithm2 | UnsetType = UNSET


class IndexCost(msgspec.Struct, frozen=True, kw_only=True):
    """constants : names whose value is not given. derivative : elements from one thread to the next, by threadIdx.x."""

    expression: str
    space: Space
    element_bytes: int
    block: list[int]
    constants: list[str]
    derivative: str | None
    rules: list[GlobalRule] | list[BankRule]
    hong_kim_2009: HongKimCoalescing | None
    reason: str
    remedy: str
