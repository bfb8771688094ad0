"""Thresholds of occupancy: the resident blocks at each number of registers, bytes of shared memory and block size.

Source   The rules of `residency`, evaluated for every value at once.
"""

from typing import Any

import numpy as np

from warpbound.distinct_values import distinct
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import IntArray, ResidencySweep, occupancy

PROPERTIES = ("registers", "shared", "threads")


@dataclass(frozen=True)
class Rung:
    """The most registers per thread or bytes per block that admit this many blocks; or one block size.

    change : registers | shared | threads. now : whether the present launch is on this rung.
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


def ladder(request: BlockRequest, change: str) -> tuple[Rung, ...]:
    """Every number of resident blocks that other values of one property allow, the largest first.

    Registers and shared memory: the largest value of each rung. Threads: every block size in whole warps, the one
    with most resident warps first. Values that admit no block are left out.
    """
    rules = request.gpu.limits
    now = getattr(request, change)
    if change == "registers":
        values = np.arange(1, rules.max_registers_per_thread + 1)
    elif change == "shared":
        values = np.arange(0, rules.max_shared_per_block + 1, rules.shared_unit)
        values = distinct(np.append(np.maximum(0, values - rules.reserved_shared_per_block), [now, *values[-1:]]))
    else:
        size = rules.warp_size
        values = distinct(np.append(np.arange(size, rules.max_threads_per_block + 1, size), now))
    sweep = _swept(request, change, values)
    if change == "threads":
        order = np.lexsort((-values, -sweep.warps_per_sm))
        return tuple(_rung(change, values, sweep, i, int(values[i]) == now) for i in order if sweep.blocks_per_sm[i])
    last = np.flatnonzero(np.append(np.diff(sweep.blocks_per_sm) != 0, [1]))
    below = [-1, *values[last[:-1]]]
    return tuple(
        _rung(change, values, sweep, i, bool(low < now <= values[i]))
        for i, low in zip(last, below, strict=True)
        if sweep.blocks_per_sm[i]
    )


def _swept(request: BlockRequest, change: str, settings: IntArray) -> ResidencySweep:
    values = {name: np.asarray(getattr(request, name)) for name in PROPERTIES} | {change: settings}
    sweep: ResidencySweep = occupancy(
        request.gpu, values["threads"], values["registers"], values["shared"], request.carveout
    )
    return sweep


def _rung(change: str, values: IntArray, sweep: ResidencySweep, at: Any, now: Any) -> Rung:
    return Rung(
        change=change,
        at_most=int(values[at]),
        blocks_per_sm=int(sweep.blocks_per_sm[at]),
        warps_per_sm=int(sweep.warps_per_sm[at]),
        occupancy=float(sweep.occupancy[at]),
        limiters=tuple(name for name, mask in sweep.binds.items() if mask[at]),
        now=now,
    )
