"""L1 hits when older warps run ahead of younger ones: hits on data that are slightly larger than L1.

Source   Schedulers that prefer the oldest ready warp: T. Rogers, M. O'Connor and T. Aamodt, "Cache-conscious wavefront
         scheduling", MICRO 2012, show that such an order hits in an L1 that thrashes when all warps progress equally.
         How much data still allows runahead, `l1_lead_reach` of the GPU, is measured: te42kyfo/gpu-benches, gpu-cache.
         SLOW, one number for all GPUs, comes from the L2 counters there (docs/model-notes/l1-warp-runahead.md).
Models   Two orders of the accesses of one SM: all warps in step, or with leaders. Leaders are the oldest warps, as many
         as L1 holds the data of; they hit and run at full speed, the others at SLOW of it. When the leaders end, the
         same number of the oldest others leads. The number of leaders, in eighths of the warps, is the one with the
         most hits. A load hits if it hits in step, or if it hits with leaders and runahead can begin: if it would hit
         in step in a cache `reach` times as large. The latter loads are `led`; their hits and misses come at different
         times.
Omits    How long runahead takes to begin, and whether it does: near the end of the reach two runs of one launch may
         differ by the whole difference.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import READ, Cache, Outcome, Stream
from warpbound.memory.sorted_order import first_of_each, order_by
from warpbound.quick_dataclasses import dataclass

SLOW = 1 / 3  # speed of a warp that misses L1, relative to one that hits
MANY = 50_000  # loads; with more, an eighth of the lines selects the number of leaders
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed
LEADERS = tuple(eighths / 8 for eighths in range(7, 0, -1))


@dataclass(frozen=True)
class Loads:
    """Sectors that warps load through the L1s, shape (m,) each.

    sector : number. sm : the SM of the L1. rank : position in time of the access when warps keep step. ahead : gives
    the position when a share of an SM's warps leads; None where no warp may run ahead.
    """

    sector: NDArray[np.int64]
    sm: NDArray[np.int64]
    rank: NDArray[np.int64]
    ahead: Callable[[float], NDArray[np.int64]] | None


def part_of(loads: Loads, selected: NDArray[np.int64]) -> Loads:
    """The loads at these positions."""
    order = loads.ahead
    ahead = None if order is None else lambda leaders: order(leaders)[selected]
    return Loads(loads.sector[selected], loads.sm[selected], loads.rank[selected], ahead)


@dataclass(frozen=True)
class Lookup:
    """Result of loads in an L1 that is empty at the start, shape (m,) each.

    hit : the L1 had the sector. led : it misses while warps keep step, but may hit once older warps run ahead.
    """

    hit: NDArray[np.bool_]
    led: NDArray[np.bool_]


def generations(together: NDArray[np.int64], by_age: NDArray[np.int64], leaders: float) -> NDArray[np.int64]:
    """Generation of each warp, (w,): the warps of generation 0 lead first, then those of 1, 2, ...

    together : the same number for warps that run side by side on one SM, (w,). by_age : warps sorted by `together`,
    then by age, the oldest first, (w,). leaders : share of the warps that leads, at least one warp.
    """
    group = together[by_age]
    begins = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    count = np.diff(np.append(begins, len(group)))
    age = np.arange(len(group)) - np.repeat(begins, count)
    at_once = np.maximum(1, (leaders * count).astype(np.int64))
    result = np.empty(len(group), np.int64)
    result[by_age] = age // np.repeat(at_once, count)
    return result


def delayed(when: NDArray[np.float64], generation: NDArray[np.int64], length: float) -> NDArray[np.float64]:
    """Times of accesses with leaders, from their times at full speed, any shape.

    generation : of the access's warp. length : duration of a warp at full speed, in the unit of `when`. Each generation
    runs at SLOW until the one before ends, so it begins to lead at (1 - (1 - SLOW)^g) / SLOW lengths.
    """
    leads = length * (1.0 - (1.0 - SLOW) ** generation) / SLOW
    return np.where(when < SLOW * leads, when / SLOW, leads + when - SLOW * leads)


def lookup(loads: Loads, cache: Cache, reach: float, simulate: Callable[[Stream, Cache], Outcome]) -> Lookup:
    """Which loads hit, and which depend on runahead."""
    in_step = _hits(loads, loads.rank, cache, simulate)
    nothing = Lookup(in_step, np.zeros(len(in_step), bool))
    if reach <= 1 or loads.ahead is None or not (repeated(loads) & ~in_step).any():
        return nothing
    led = ~in_step & _hits(loads, loads.rank, replace(cache, ways=int(cache.ways * reach)), simulate)
    if not led.any():
        return nothing
    hits = [led & _hits(loads, ahead, cache, simulate) for ahead in _promising(loads, cache, led, simulate)]
    return Lookup(in_step | max(hits, key=np.count_nonzero), led)


def _promising(
    loads: Loads, cache: Cache, led: NDArray[np.bool_], simulate: Callable[[Stream, Cache], Outcome]
) -> list[NDArray[np.int64]]:
    """Orders of the loads, (m,) each, for the shares of leaders that may give most hits.

    With many loads, an eighth of the lines in an eighth of the cache selects the best two.
    """
    orders = [loads.ahead(share) for share in LEADERS] if loads.ahead else []
    if len(loads.sector) <= MANY:
        return orders
    some = (loads.sector >> 2).astype(np.uint64) * _MIX >> np.uint64(61) == 0
    small = replace(cache, ways=max(1, cache.ways // 8))
    part = Loads(loads.sector[some], loads.sm[some], loads.rank[some], None)
    hits = [np.count_nonzero(led[some] & _hits(part, order[some], small, simulate)) for order in orders]
    return [orders[k] for k in np.argsort(hits)[-2:]]


def repeated(loads: Loads) -> NDArray[np.bool_]:
    """Which loads repeat a sector that their SM loaded before, in step, (m,)."""
    order = order_by(loads.rank)
    result = np.ones(len(order), bool)
    result[order[first_of_each((loads.sm << 44 | loads.sector)[order])]] = False
    return result


def _hits(
    loads: Loads, rank: NDArray[np.int64], cache: Cache, simulate: Callable[[Stream, Cache], Outcome]
) -> NDArray[np.bool_]:
    """Which loads hit in one order of time, (m,)."""
    order = order_by(loads.sm, rank)
    stream = Stream(loads.sector[order], np.full(len(order), READ, np.int8), loads.sm[order])
    hit = np.empty(len(order), bool)
    hit[order] = simulate(stream, cache).hit
    return hit
