"""The lead of older warps: how much an L1 keeps when the data of its warps exceed it a little.

Source   Schedulers that prefer the oldest ready warp: T. Rogers, M. O'Connor and T. Aamodt, "Cache-conscious wavefront
         scheduling", MICRO 2012, who show that such an order lets L1 hit where equal progress lets it thrash. The
         reach of a lead, `l1_lead_reach` of the GPU, is measured: te42kyfo/gpu-benches, gpu-cache.
Models   Two orders of the accesses of one SM: in step, and by age. By age the warps' speeds fall evenly from that of
         the oldest towards none: warp a of n (0: the oldest) makes 1 - (a + 1/2)/n of the oldest's accesses. A warp
         whose data stay hits, and runs ahead of those that miss, so that an order in which data stay lasts once it
         has begun: a load hits if it hits in step, or by age while a lead can begin, which is taken to be so while
         it would hit in step in a cache `reach` times as large.
Omits    How long a lead takes to begin, and that it need not: near the end of its reach two runs of one launch may
         differ by the whole difference.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import READ, Cache, Outcome, Stream


@dataclass(frozen=True)
class Loads:
    """Sectors that loads ask of the L1s, shape (m,) each.

    sector : its number. sm : whose L1. rank : place in time of its access, in step. ahead : the same by age, worked out
    when it is wanted; None where no warp may run ahead.
    """

    sector: NDArray[np.int64]
    sm: NDArray[np.int64]
    rank: NDArray[np.int64]
    ahead: Callable[[], NDArray[np.int64]] | None


def speeds(together: NDArray[np.int64], by_age: NDArray[np.int64]) -> NDArray[np.float64]:
    """Speed of each warp by age, (w,): that of the oldest is nearly 1.

    together : a number that warps share which run side by side on one SM, (w,). by_age : the warps, those that run
    together one after the other, the older first, (w,).
    """
    group = together[by_age]
    begins = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    count = np.diff(np.append(begins, len(group)))
    age = np.arange(len(group)) - np.repeat(begins, count)
    speed = np.empty(len(group))
    speed[by_age] = 1.0 - (age + 0.5) / np.repeat(count, count)
    return speed


def hits(
    loads: Loads, cache: Cache, reach: float, simulate: Callable[[Stream, Cache], Outcome]
) -> NDArray[np.bool_]:
    """Which loads hit in an L1 that was empty before, (m,)."""
    in_step = _hits(loads, loads.rank, cache, simulate)
    if reach <= 1 or loads.ahead is None:
        return in_step
    within = _hits(loads, loads.rank, replace(cache, ways=int(cache.ways * reach)), simulate)
    if not (within & ~in_step).any():
        return in_step
    return in_step | within & _hits(loads, loads.ahead(), cache, simulate)


def _hits(
    loads: Loads, rank: NDArray[np.int64], cache: Cache, simulate: Callable[[Stream, Cache], Outcome]
) -> NDArray[np.bool_]:
    """The same in one order of time."""
    order = np.lexsort((rank, loads.sm))
    stream = Stream(loads.sector[order], np.full(len(order), READ, np.int8), loads.sm[order])
    hit = np.empty(len(order), bool)
    hit[order] = simulate(stream, cache).hit
    return hit
