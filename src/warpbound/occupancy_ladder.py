"""What one register, one byte of shared memory or another block size would buy: the thresholds of occupancy.

Source   The rules of `residency`, asked for every value at once.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from warpbound.machine import Gpu
from warpbound.residency import IntArray, ResidencySweep, occupancy

PROPERTIES = ("registers", "shared", "threads")


@dataclass(frozen=True)
class Rung:
    """The most registers per thread or bytes per block that admit so many blocks; or one block size.

    change : registers | shared | threads. now : whether today's launch stands on this rung.
    """

    change: str
    at_most: int
    blocks_per_sm: int
    warps_per_sm: int
    occupancy: float
    limiters: tuple[str, ...]
    now: bool


@dataclass(frozen=True)
class BlockRequest:
    """One launch: threads per block, registers per thread, bytes of shared memory per block, carve-out in KiB."""

    gpu: Gpu
    threads: int
    registers: int
    shared: int
    carveout: int | None = None


def ladder(asked: BlockRequest, change: str) -> tuple[Rung, ...]:
    """Every number of blocks that another value of one property can give, the largest first.

    Registers and shared memory: the largest value of each rung. Threads: every block size in whole warps, the one
    with most resident warps first. Values that admit no block are left out.
    """
    rules = asked.gpu.limits
    now = getattr(asked, change)
    if change == "registers":
        tried = np.arange(1, rules.max_registers_per_thread + 1)
    elif change == "shared":
        tried = np.arange(0, rules.max_shared_per_block + 1, rules.shared_unit)
        tried = np.unique(np.append(np.maximum(0, tried - rules.reserved_shared_per_block), [now, *tried[-1:]]))
    else:
        size = rules.warp_size
        tried = np.unique(np.append(np.arange(size, rules.max_threads_per_block + 1, size), now))
    found = _swept(asked, change, tried)
    if change == "threads":
        order = np.lexsort((-tried, -found.warps_per_sm))
        return tuple(_rung(change, tried, found, i, int(tried[i]) == now) for i in order if found.blocks_per_sm[i])
    last = np.flatnonzero(np.append(np.diff(found.blocks_per_sm) != 0, [1]))
    below = [-1, *tried[last[:-1]]]
    return tuple(
        _rung(change, tried, found, i, bool(low < now <= tried[i]))
        for i, low in zip(last, below, strict=True)
        if found.blocks_per_sm[i]
    )


def _swept(asked: BlockRequest, change: str, tried: IntArray) -> ResidencySweep:
    values = {name: np.asarray(getattr(asked, name)) for name in PROPERTIES} | {change: tried}
    found: ResidencySweep = occupancy(
        asked.gpu, values["threads"], values["registers"], values["shared"], asked.carveout
    )
    return found


def _rung(change: str, tried: IntArray, found: ResidencySweep, at: Any, now: Any) -> Rung:
    return Rung(
        change=change,
        at_most=int(tried[at]),
        blocks_per_sm=int(found.blocks_per_sm[at]),
        warps_per_sm=int(found.warps_per_sm[at]),
        occupancy=float(found.occupancy[at]),
        limiters=tuple(name for name, mask in found.binds.items() if mask[at]),
        now=now,
    )
