"""Trace: what the sampled blocks of a launch really did, instruction by instruction and address by address."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Accesses:
    """Warp-wide memory accesses in the order they were executed, one row each (n rows).

    Accesses of shared memory that a warp repeats with the same addresses are one row, at the place of the first.

    instruction : index into Program.instructions, shape (n,).
    warp : row of Trace.warps, shape (n,).
    addresses : byte address of every lane, shape (n, 32); shared and local addresses count from their window.
    active : lanes that took part, shape (n, 32).
    times : how often each row was executed, shape (n,); None: once.
    """

    instruction: NDArray[np.int32]
    warp: NDArray[np.int32]
    addresses: NDArray[np.uint64]
    active: NDArray[np.bool_]
    times: NDArray[np.int64] | None = None

    def repeated(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Values of the rows, (n,), times as often as they were executed."""
        return np.asarray(values if self.times is None else values * self.times, np.float64)


@dataclass(frozen=True)
class Trace:
    """What sampled blocks did.

    blocks : linear numbers of the emulated blocks, shape (b,); of_blocks : blocks in the grid.
    warps : (block, warp in block) per traced warp, shape (w, 2), blocks as linear numbers.
    executed : times each warp issued each instruction, shape (w, instructions).
    threads : lanes active and predicated on, summed over those times, same shape.
    streams : for some warps (row of `warps` -> instruction indices in issue order), shape (steps,).
    accesses : by space: global, shared, local, constant (indexed only), texture.
    unknown : what depended on unknown contents and what was assumed instead.
    arrays : (name, address, bytes) of what the launch has in global memory.
    stopped : why a sampled block did not run to its end; empty when all did.
    waited : that is because it waited for what nothing that was executed wrote: other blocks may.
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

    def only(self, blocks: NDArray[np.int64]) -> "Trace":
        """What these of the blocks did, (n,) linear numbers; what is said of the whole stays."""
        kept = np.isin(self.warps[:, 0], blocks)
        number = np.cumsum(kept) - 1
        return replace(
            self,
            blocks=self.blocks[np.isin(self.blocks, blocks)],
            warps=self.warps[kept],
            executed=self.executed[kept],
            threads=self.threads[kept],
            streams={int(number[warp]): stream for warp, stream in self.streams.items() if kept[warp]},
            accesses={space: _of_warps(one, kept, number) for space, one in self.accesses.items()},
        )


def _of_warps(one: Accesses, kept: NDArray[np.bool_], number: NDArray[np.int64]) -> Accesses:
    """Accesses of the warps kept, (w,), by their new numbers, (w,)."""
    rows = kept[one.warp]
    times = None if one.times is None else one.times[rows]
    warp = number[one.warp[rows]].astype(np.int32)
    return Accesses(one.instruction[rows], warp, one.addresses[rows], one.active[rows], times)
