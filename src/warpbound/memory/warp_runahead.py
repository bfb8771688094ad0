"""The lead of older warps: how much an L1 keeps when the data of its warps exceed it a little.

Source   Schedulers that prefer the oldest ready warp: T. Rogers, M. O'Connor and T. Aamodt, "Cache-conscious wavefront
         scheduling", MICRO 2012, who show that such an order lets L1 hit where equal progress lets it thrash. The
         reach of a lead, `l1_lead_reach` of the GPU, is measured: te42kyfo/gpu-benches, gpu-cache. So is SLOW, one
         number for all GPUs, from L2's counters there (docs/model-notes/l1-warp-runahead.md).
Models   Two kinds of order of the accesses of one SM: in step, and with leaders. Leaders are the oldest warps, as many
         as L1 holds the data of; they hit and go at full speed, the others at SLOW of it. When the leaders are
         through, the oldest of the others lead, as many. Of numbers of leaders in eighths of the warps that which
         hits most is taken. A load hits if it hits in step, or with leaders while a lead can begin, which is taken to
         be so while it would hit in step in a cache `reach` times as large. Those loads are led: their hits and their
         misses come at different times.
Omits    How long a lead takes to begin, and that it need not: near the end of its reach two runs of one launch may
         differ by the whole difference.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.caches import READ, Cache, Outcome, Stream
from warpbound.memory.sorted_order import first_of_each, order_by

SLOW = 1 / 3  # pace of a warp that misses L1, in that of one that hits it
MANY = 50_000  # loads of which an eighth shows which leaders are best
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed
LEADERS = tuple(eighths / 8 for eighths in range(7, 0, -1))


@dataclass(frozen=True)
class Loads:
    """Sectors that loads ask of the L1s, shape (m,) each.

    sector : its number. sm : whose L1. rank : place in time of its access, in step. ahead : the same with leaders, from
    their share of an SM's warps, worked out when it is wanted; None where no warp may run ahead.
    """

    sector: NDArray[np.int64]
    sm: NDArray[np.int64]
    rank: NDArray[np.int64]
    ahead: Callable[[float], NDArray[np.int64]] | None


def part_of(loads: Loads, chosen: NDArray[np.int64]) -> Loads:
    """Some of the loads, by their positions."""
    order = loads.ahead
    ahead = None if order is None else lambda leaders: order(leaders)[chosen]
    return Loads(loads.sector[chosen], loads.sm[chosen], loads.rank[chosen], ahead)


@dataclass(frozen=True)
class Lookup:
    """What an L1 that was empty before says to loads, shape (m,) each.

    hit : it held the sector. led : it could not hold it while warps keep step, but may once older ones run ahead.
    """

    hit: NDArray[np.bool_]
    led: NDArray[np.bool_]


def generations(together: NDArray[np.int64], by_age: NDArray[np.int64], leaders: float) -> NDArray[np.int64]:
    """Which warps lead at the same time, (w,): 0 for those that lead first, then 1, 2, ...

    together : a number that warps share which run side by side on one SM, (w,). by_age : the warps, those that run
    together one after the other, the older first, (w,). leaders : share of them that leads, at least one warp.
    """
    group = together[by_age]
    begins = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    count = np.diff(np.append(begins, len(group)))
    age = np.arange(len(group)) - np.repeat(begins, count)
    at_once = np.maximum(1, (leaders * count).astype(np.int64))
    found = np.empty(len(group), np.int64)
    found[by_age] = age // np.repeat(at_once, count)
    return found


def delayed(when: NDArray[np.float64], generation: NDArray[np.int64], length: float) -> NDArray[np.float64]:
    """When accesses happen under leaders, from when they would at full speed, any shape.

    generation : of the access's warp. length : of a warp at full speed, in the unit of `when`. Each generation has gone
    at SLOW until the one before was through, so that it begins to lead at (1 - (1 - SLOW)^g) / SLOW lengths.
    """
    leads = length * (1.0 - (1.0 - SLOW) ** generation) / SLOW
    return np.where(when < SLOW * leads, when / SLOW, leads + when - SLOW * leads)


def looked_up(loads: Loads, cache: Cache, reach: float, simulate: Callable[[Stream, Cache], Outcome]) -> Lookup:
    """Which loads hit, and which of all depend on a lead."""
    in_step = _hits(loads, loads.rank, cache, simulate)
    nothing = Lookup(in_step, np.zeros(len(in_step), bool))
    if reach <= 1 or loads.ahead is None or not (repeated(loads) & ~in_step).any():
        return nothing
    led = ~in_step & _hits(loads, loads.rank, replace(cache, ways=int(cache.ways * reach)), simulate)
    if not led.any():
        return nothing
    tried = [led & _hits(loads, ahead, cache, simulate) for ahead in _promising(loads, cache, led, simulate)]
    return Lookup(in_step | max(tried, key=np.count_nonzero), led)


def _promising(
    loads: Loads, cache: Cache, led: NDArray[np.bool_], simulate: Callable[[Stream, Cache], Outcome]
) -> list[NDArray[np.int64]]:
    """Place in time of each load, (m,), under every share of leaders that may let most of the led ones hit.

    Of many loads an eighth of the lines, in an eighth of the cache, finds the best two.
    """
    orders = [loads.ahead(share) for share in LEADERS] if loads.ahead else []
    if len(loads.sector) <= MANY:
        return orders
    some = (loads.sector >> 2).astype(np.uint64) * _MIX >> np.uint64(61) == 0
    small = replace(cache, ways=max(1, cache.ways // 8))
    part = Loads(loads.sector[some], loads.sm[some], loads.rank[some], None)
    found = [np.count_nonzero(led[some] & _hits(part, order[some], small, simulate)) for order in orders]
    return [orders[k] for k in np.argsort(found)[-2:]]


def repeated(loads: Loads) -> NDArray[np.bool_]:
    """Which loads ask for a sector that their SM has loaded before, in step, (m,)."""
    order = order_by(loads.rank)
    found = np.ones(len(order), bool)
    found[order[first_of_each((loads.sm << 44 | loads.sector)[order])]] = False
    return found


def _hits(
    loads: Loads, rank: NDArray[np.int64], cache: Cache, simulate: Callable[[Stream, Cache], Outcome]
) -> NDArray[np.bool_]:
    """The same in one order of time."""
    order = order_by(loads.sm, rank)
    stream = Stream(loads.sector[order], np.full(len(order), READ, np.int8), loads.sm[order])
    hit = np.empty(len(order), bool)
    hit[order] = simulate(stream, cache).hit
    return hit
