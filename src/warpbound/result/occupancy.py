"""Answers of `occupancy`: one launch with every threshold, or the rows of a sweep."""

import msgspec
from msgspec import UNSET, UnsetType

from warpbound.result.quantities import Fraction, Limiters, Number, Sentence, Whole


class OccupancyRung(msgspec.Struct, frozen=True, kw_only=True):
    """The most registers per thread or bytes per block that admit this many blocks, or one block size.

    now : whether the present launch is on this rung.
    """

    at_most: Whole | UnsetType = UNSET
    threads: Whole | UnsetType = UNSET
    blocks_per_sm: Whole
    warps_per_sm: Whole
    occupancy: Fraction
    limiters: Limiters
    now: bool

    @property
    def value(self) -> int:
        """Of the property that this ladder varies."""
        return (self.at_most or 0) if self.threads is UNSET else (self.threads or 0)


class LaunchOccupancy(msgspec.Struct, frozen=True, kw_only=True):
    """One launch on one board: what fits, what limits it, the next step, and every threshold of each property."""

    gpu: str
    blocks_per_sm: Whole
    warps_per_sm: Whole
    max_warps_per_sm: Whole
    occupancy: Fraction
    limiters: Limiters
    block_limits: dict[str, Number]
    next_step: list[Sentence]
    ladders: dict[str, list[OccupancyRung]]


class OccupancyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One combination of a sweep. block : threads. registers : of a thread. smem : bytes of a block."""

    gpu: str
    block: Whole
    registers: Whole
    smem: Whole
    blocks_per_sm: Whole
    warps_per_sm: Whole
    max_warps_per_sm: Whole
    occupancy: Fraction
    limiters: Limiters
