"""Trace: executions, lane masks and addresses of the sampled blocks of a launch, per instruction."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_patterns import Patterns, packed
from warpbound.emulate.mbarrier_log import MbarrierLog
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Accesses:
    """Warp-wide memory accesses in the order they were executed, one row each (n rows).

    Accesses of shared memory that a warp repeats with the same addresses are one row, at the place of the first.

    instruction : index into Program.instructions, shape (n,).
    warp : row of Trace.warps, shape (n,).
    base : byte address from which the lanes' offsets count, shape (n,); shared and local ones count from their window.
    pattern : number of the pattern of lanes, shape (n,). patterns : the offsets and which lanes take part.
    times : how often each row was executed, shape (n,); None: once.
    """

    instruction: NDArray[np.int32]
    warp: NDArray[np.int32]
    base: NDArray[np.uint64]
    pattern: NDArray[np.int32]
    patterns: Patterns
    times: NDArray[np.int64] | None = None

    @property
    def addresses(self) -> NDArray[np.uint64]:
        """Byte address of every lane, shape (n, 32), 256 bytes a row; the base where a lane takes no part."""
        return self.patterns.offsets[self.pattern] + self.base[:, None]

    @property
    def active(self) -> NDArray[np.bool_]:
        """Lanes that took part, shape (n, 32)."""
        return self.patterns.active[self.pattern]

    def rows(self, which: Any) -> "Accesses":
        """Some of the rows, as an index of the first axis chooses them."""
        return replace(
            self, instruction=self.instruction[which], warp=self.warp[which], base=self.base[which],
            pattern=self.pattern[which], times=None if self.times is None else self.times[which],
        )  # fmt: skip

    def repeated(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values of the rows, (n,), times as often as they were executed."""
        return np.asarray(values if self.times is None else values * self.times, np.float64)


def accesses_of(
    instruction: NDArray[np.int32],
    warp: NDArray[np.int32],
    addresses: NDArray[np.uint64],
    active: NDArray[np.bool_],
    times: NDArray[np.int64] | None = None,
) -> Accesses:
    """Accesses by the addresses of their lanes and which take part, (n, 32) each."""
    small = packed(addresses, active)
    return Accesses(instruction, warp, small.base, small.pattern, small.patterns, times)


@dataclass(frozen=True)
class Trace:
    """The executions, lane masks and accesses of the sampled blocks.

    blocks : linear numbers of the emulated blocks, shape (b,); of_blocks : blocks in the grid.
    warps : (block, warp in block) per traced warp, shape (w, 2), blocks as linear numbers.
    executed : times each warp issued each instruction, shape (w, instructions).
    threads : lanes active and predicated on, summed over those times, same shape.
    streams : for some warps (row of `warps` -> instruction indices in issue order), shape (steps,).
    accesses : by space: global, shared, local, constant (indexed only), texture.
    unknown : what depended on unknown contents and what was assumed instead.
    arrays : (name, address, bytes) of what the launch has in global memory.
    stopped : why a sampled block did not run to its end; empty when all did.
    waited : it stopped because it waited for a value that no executed block wrote; other blocks may write it.
    dropped : accesses beyond those that are kept.
    rounds : of persistent blocks, how many times as many accesses they make as in the iterations that were executed.
    ungiven : why the launch has no result: contents that nobody gave decide branches.
    mbarrier_log : what the warps of one block or cluster do at mbarriers, where the code has some.
    bulk_extents : bulk copy -> the first byte of shared memory that it touched, and the end.
    longest : stream of the longest warp, where that was recorded apart, shape (steps,).
    """

    blocks: NDArray[np.int64]
    of_blocks: int
    warps: NDArray[np.int64]
    executed: NDArray[np.int64]
    threads: NDArray[np.int64]
    streams: dict[int, NDArray[np.int32]]
    accesses: dict[str, Accesses]
    unknown: tuple[str, ...] = ()
    arrays: tuple[tuple[str, int, int], ...] = ()
    stopped: str = ""
    waited: bool = False
    notes: tuple[str, ...] = field(default=())
    dropped: int = 0
    rounds: float = 1.0
    ungiven: tuple[str, ...] = ()
    mbarrier_log: MbarrierLog | None = None
    longest: NDArray[np.int32] | None = None
    bulk_extents: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def only_blocks(trace: Trace, blocks: NDArray[np.int64]) -> Trace:
    """The trace of some of its blocks, in their order: without the other blocks of their clusters."""
    rows = np.flatnonzero(np.isin(trace.warps[:, 0], blocks))
    rows = rows[np.lexsort(trace.warps[rows].T[::-1])]
    place = np.full(len(trace.warps), -1)
    place[rows] = np.arange(len(rows))
    accesses = {}
    for space, access in trace.accesses.items():
        own = access.rows(place[access.warp] >= 0)
        accesses[space] = replace(own, warp=place[own.warp].astype(np.int32))
    return replace(
        trace, blocks=blocks, warps=trace.warps[rows], executed=trace.executed[rows], threads=trace.threads[rows],
        streams={int(place[row]): stream for row, stream in trace.streams.items()}, accesses=accesses,
    )  # fmt: skip
