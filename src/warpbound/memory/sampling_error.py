"""Errors: how far a launch's traffic may be from what a sample of its blocks says of it, from the sample alone.

Source   Spread of a mean and of a ratio with a finite population: W. Cochran, "Sampling Techniques", 1977. Random
         groups, here two halves: K. Wolter, "Introduction to Variance Estimation", 1985. Rule of succession: what n
         blocks do not show is the share 1 / (n + 2) of the others.
Models   Four parts, as independent. Scatter: how much blocks that stand for others differ, or two halves of the
         sample, each extrapolated by itself, whichever is more. Drift: how far the answer of the whole sample is from
         the mean of its halves', that is, how much it still depends on how many blocks were sampled. Ends: the first
         and the last block stand for themselves; where they differ from the others, more blocks may be like them: of a
         last block that does a part of what the others do, only those at the far sides of the grid, where data end.
         Order: what DRAM would not send again if blocks that run at once came to shared data at different times, as in
         a gather, and not all after the others, as taken; or if lines that neighbours share were full, whichever is
         more. What several blocks need of DRAM is shared between them.
Omits    What no sampled block shows, above all data that only blocks far apart share. Halves keep the answers of L1, so
         that its error has scatter of blocks and ends alone.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.block_neighbours import extents
from warpbound.memory.caches import READ
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.dram import Moved
from warpbound.memory.hierarchy import L1, Levels
from warpbound.memory.requests import SectorList
from warpbound.memory.served_levels import Answered, Way, beyond
from warpbound.memory.traffic_counts import Errors

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
ROUNDING = 1e-9  # of a count: less is no error
BY_AXES = 2  # blocks along each axis that show what adjacent ones share


def errors(answered: Answered, of_blocks: int) -> Errors | None:
    """Of the traffic that `answered` makes; None with fewer than two blocks that stand for others."""
    way = answered.way
    weights = _weights(way)
    if len(weights) >= of_blocks:
        return Errors()
    if (weights > 1).sum() < 2:
        return None
    each = _by_block(way, answered.weight, answered.levels, answered.moved, weights)
    totals = {name: float(weights @ values) for name, values in each.items()}
    like = _like_ends(way, answered.weight, weights)
    less = max(answered.moved.unordered, answered.moved.unpacked)
    order = {"fetched": less, "missed": less / SECTOR_B}
    apart = [_totals(one, *beyond(one)) for one in (half(way, chosen) for chosen in halves(way))]

    def of(name: str, by: str = "") -> float:
        """Of a total, or of its ratio to another one."""
        below = totals[by] if by else 1.0
        if below <= 0:
            return 0.0
        ratio = totals[name] / below
        scatter, ends = _spread(each[name] - (ratio * each[by] if by else 0.0), weights, like)
        first, second = (one[name] / max(1.0, one[by]) if by else one[name] for one in apart)
        scatter = max(scatter / below, abs(first - second) / 2)
        drift = ratio - (first + second) / 2
        found = float(np.linalg.norm([scatter, drift, ends / below, order.get(name, 0.0) / below]))
        return found if found > ROUNDING * ratio else 0.0

    return Errors(of("hits", "loads"), of("read"), of("missed", "past"), of("fetched"), of("written"))


def halves(way: Way) -> tuple[Flags, Flags]:
    """Two halves of the sampled blocks, (b,) each: every other one of those alone.

    Both have the blocks that stand for themselves, and neighbours, which tell what adjacent blocks share. Where none is
    alone, one half has the first blocks and the other the last; where these would not show neighbours along each axis,
    both have all.
    """
    numbers, weights = way.sampled.blocks, _weights(way)
    order, patch = np.argsort(numbers, kind="stable"), BY_AXES ** len(extents(way.sampled.grid))
    inner = order[weights[order] > 1]
    steps = np.diff(numbers[inner]) == 1
    alone = ~(np.append(steps, False) | np.append(False, steps))
    parted = inner[alone] if alone.any() else inner[: len(inner) * (len(inner) >= 2 * patch)]
    place = np.arange(len(parted))
    later = place % 2 == 1 if alone.any() else place >= len(parted) / 2
    found = np.ones((2, len(numbers)), bool)
    found[0, parted[later]] = found[1, parted[~later]] = False
    return found[0], found[1]


def half(way: Way, chosen: Flags) -> Way:
    """The way of the sectors of some of the blocks, (b,), which stand for the others, too."""
    weights = _weights(way)
    inner = weights > 1
    more = np.where(inner, weights[inner].sum() / weights[inner & chosen].sum(), 1.0)
    seen, mine = way.seen, np.flatnonzero(chosen[way.seen.block])
    number = np.cumsum(chosen) - 1
    block = seen.block[mine]
    return replace(
        way,
        touched=SectorList(way.touched.row[mine], way.touched.sector[mine]),
        near=replace(way.near, **{name: values[mine] for name, values in vars(way.near).items()}),
        seen=replace(
            seen, sector=seen.sector[mine], kind=seen.kind[mine], block=number[block], turn=seen.turn[mine],
            weight=seen.weight[mine] * more[block],
        ),
        sampled=replace(way.sampled, blocks=way.sampled.blocks[chosen]),
        how=replace(way.how, weights=(weights * more)[chosen]),
    )  # fmt: skip


def _weights(way: Way) -> Reals:
    """Blocks that each sampled block stands for, (b,)."""
    blocks = len(way.sampled.blocks)
    given = way.how.weights
    return np.full(blocks, way.sampled.of_blocks / blocks) if given is None else given


def _totals(way: Way, found: Levels, moved: Moved) -> Mapping[str, float]:
    """Of the launch, by the names of `_by_block`."""
    each = _by_block(way, way.seen.weight, found, moved, np.ones(len(way.sampled.blocks)))
    return {name: float(values.sum()) for name, values in each.items()}


def _by_block(way: Way, weight: Reals, found: Levels, moved: Moved, weights: Reals) -> dict[str, Reals]:
    """What each sampled block does, (b,) each, from the weight of its sectors and of itself."""
    loads, in_l1 = way.seen.kind == READ, found.level == L1

    def by_block(values: Flags | Reals) -> Reals:
        return np.asarray(np.bincount(way.seen.block, weight * values, len(weights)) / weights)

    missed, stored = by_block(_evened(way.seen.sector, weight, moved.share)), by_block(~loads)
    return {
        "loads": by_block(loads), "hits": by_block(loads & in_l1), "read": by_block(loads & ~in_l1),
        "past": by_block(~in_l1), "missed": missed, "fetched": SECTOR_B * missed,
        "written": stored * moved.written / max(1.0, float(weights @ stored)),
    }  # fmt: skip


def _evened(sector: NDArray[np.int64], weight: Reals, values: Reals) -> Reals:
    """The mean of the values of the same sector, (m,)."""
    number = np.unique(sector, return_inverse=True)[1]
    above, below = np.bincount(number, weight * values), np.bincount(number, weight)
    return np.asarray(np.divide(above, below, out=np.zeros(len(below)), where=below > 0)[number])


def _like_ends(way: Way, weight: Reals, weights: Reals) -> Reals:
    """Share of the other blocks that may be like each sampled one, (b,)."""
    sampled, inner = way.sampled, weights > 1
    asked = np.bincount(way.seen.block, weight, len(weights)) / weights
    cut = (sampled.blocks == sampled.of_blocks - 1) & (asked > 0) & (asked < asked[inner].mean())
    rows = sampled.of_blocks / sampled.row
    sides = sum(1 / blocks for blocks in (sampled.row, rows) if blocks > 1)
    unseen = 1 / (inner.sum() + 2)
    return np.asarray(np.where(cut, min(sides, unseen), unseen))


def _spread(values: Reals, weights: Reals, like: Reals) -> tuple[float, float]:
    """Standard error of the sum over the launch, from blocks that stand for others, and from those that do not."""
    inner = weights > 1
    count, size = int(inner.sum()), float(weights.sum())
    unseen = max(0.0, 1 - len(weights) / size)
    scatter = size * values[inner].std(ddof=1) * np.sqrt(unseen / count)
    ends = (np.abs(values - values[inner].mean()) * like)[~inner].max(initial=0.0) * size * unseen
    return float(scatter), float(ends)
