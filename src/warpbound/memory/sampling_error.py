"""Standard errors of a launch's traffic that come from the sampling of its blocks, from the sample alone.

Source   Spread of a mean and of a ratio with a finite population: W. Cochran, "Sampling Techniques", 1977. Random
         groups, here two halves: K. Wolter, "Introduction to Variance Estimation", 1985. Rule of succession: what n
         blocks do not show is the share 1 / (n + 2) of the others.
Models   Four independent parts. Scatter: the spread of blocks that represent others, or the difference between two
         halves of the sample, each extrapolated by itself, whichever is larger. Drift: the distance of the whole
         sample's result from the mean of the halves, that is, its dependence on the number of sampled blocks. Ends:
         the first and the last block represent themselves; where they differ from the others, more blocks may be like
         them (where the last block does a part of the others' work, only those at the far sides of the grid). Order:
         DRAM reads that would be saved if resident blocks came to shared data at different times, as in a gather, and
         not all after the others, as assumed; or if lines that neighbours share were full, whichever is more. DRAM
         reads of several blocks are shared between them.
         Where blocks are of several classes, scatter is what the classes do not explain, and each half has blocks of
         every class; where most are alone in their class, scatter and the order of reads are all.
Omits    What no sampled block shows, above all data that only blocks far apart share. Halves keep the L1 results, so
         the error of L1 has scatter of blocks and ends alone.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.block_neighbours import extents
from warpbound.memory.caches import READ
from warpbound.memory.coalescing import SECTOR_B
from warpbound.memory.dram import DramTraffic
from warpbound.memory.hierarchy import L1, Levels
from warpbound.memory.served_levels import PastL1, ServedSectors, beyond
from warpbound.memory.traffic_counts import Errors

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
ROUNDING = 1e-9  # of a count: a smaller error counts as none
BY_AXES = 2  # blocks along each axis that show what adjacent ones share


def errors(sectors: ServedSectors, of_blocks: int) -> Errors | None:
    """Standard errors of the traffic of `sectors`; None with fewer than two blocks that represent others."""
    past_l1 = sectors.past_l1
    weights = _weights(past_l1)
    if len(weights) >= of_blocks:
        return Errors()
    if (weights > 1).sum() < 2:
        return None
    each = _by_block(past_l1, sectors.weight, sectors.levels, sectors.traffic, weights)
    totals = {name: float(weights @ values) for name, values in each.items()}
    like = _like_ends(past_l1, sectors.weight, weights)
    less = float(np.hypot(max(sectors.traffic.unordered, sectors.traffic.unpacked), sectors.traffic.unseen / 2))
    order = {"fetched": less, "missed": less / SECTOR_B}
    single = _mostly_alone_in_class(past_l1, weights)
    parts = [] if single else [half(past_l1, blocks) for blocks in halves(past_l1)]
    apart = [_totals(part, *beyond(part)) for part in parts]

    def of(name: str, by: str = "") -> float:
        """Of a total, or of its ratio to another one."""
        below = totals[by] if by else 1.0
        if below <= 0:
            return 0.0
        ratio = totals[name] / below
        values = each[name] - (ratio * each[by] if by else 0.0)
        scatter, ends = _spread(values, weights, like, _class_effect(past_l1, values))
        if single:
            return float(np.linalg.norm([scatter, order.get(name, 0.0)])) / below
        first, second = (part[name] / max(1.0, part[by]) if by else part[name] for part in apart)
        scatter = max(scatter / below, abs(first - second) / 2)
        drift = ratio - (first + second) / 2
        result = float(np.linalg.norm([scatter, drift, ends / below, order.get(name, 0.0) / below]))
        return result if result > ROUNDING * ratio else 0.0

    return Errors(of("hits", "loads"), of("read"), of("missed", "past"), of("fetched"), of("written"))


def halves(past_l1: PastL1) -> tuple[Flags, Flags]:
    """Two halves of the sampled blocks, (b,) each: every other one of those alone.

    Both have the blocks that represent only themselves, neighbours, which show the sharing of adjacent blocks, and
    blocks that are the only ones of their class. If all blocks have neighbours, one half has the first blocks and the
    other the last; if these would not show neighbours along each axis, both have all.
    """
    numbers, weights = past_l1.sample.blocks, _weights(past_l1)
    order, patch = np.argsort(numbers, kind="stable"), BY_AXES ** len(extents(past_l1.sample.grid))
    inner = order[weights[order] > 1]
    steps = np.diff(numbers[inner]) == 1
    alone = ~(np.append(steps, False) | np.append(False, steps))
    classes = _classes(past_l1)
    several = np.bincount(classes[inner], minlength=len(numbers))[classes[inner]] > 1
    parted = inner[alone & several] if alone.any() else inner[: len(inner) * (len(inner) >= 2 * patch)]
    place = np.arange(len(parted))
    later = _place_in_class(classes[parted]) % 2 == 1 if alone.any() else place >= len(parted) / 2
    result = np.ones((2, len(numbers)), bool)
    result[0, parted[later]] = result[1, parted[~later]] = False
    return result[0], result[1]


def _classes(past_l1: PastL1) -> NDArray[np.int64]:
    """The class of each sampled block, (b,), below the number of blocks; 0 for all where they are not distinguished."""
    of_class = past_l1.how.of_class
    if of_class is None:
        return np.zeros(len(past_l1.sample.blocks), np.int64)
    return np.asarray(np.unique(of_class, return_inverse=True)[1].ravel(), np.int64)


def _place_in_class(classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries before each one are of the same class, (n,)."""
    order = np.argsort(classes, kind="stable")
    place = np.empty(len(classes), np.int64)
    place[order] = np.arange(len(classes)) - np.searchsorted(classes[order], classes[order])
    return place


def half(past_l1: PastL1, blocks: Flags) -> PastL1:
    """The served levels of the sectors of some blocks, (b,), which also represent the other blocks of their classes."""
    weights, classes = _weights(past_l1), _classes(past_l1)
    inner = weights > 1
    every, some = (np.bincount(classes, weights * choice, len(weights)) for choice in (inner, inner & blocks))
    more = np.where(inner, np.divide(every, some, out=np.ones(len(weights)), where=some > 0)[classes], 1.0)
    sectors, own = past_l1.dram_sectors, np.flatnonzero(blocks[past_l1.dram_sectors.block])
    number = np.cumsum(blocks) - 1
    block = sectors.block[own]
    return replace(
        past_l1,
        sectors=past_l1.sectors.some(own),
        near=replace(past_l1.near, **{name: values[own] for name, values in vars(past_l1.near).items()}),
        dram_sectors=replace(
            sectors, sector=sectors.sector[own], kind=sectors.kind[own], block=number[block],
            weight=sectors.weight[own] * more[block], partly=sectors.partly[own],
            pairs=sectors.pairs.of_blocks(blocks, own),
        ),
        sample=replace(
            past_l1.sample, blocks=past_l1.sample.blocks[blocks], of_class=_of(blocks, past_l1.sample.of_class),
            weights=None if past_l1.sample.weights is None else (weights * more)[blocks],
        ),
        how=replace(past_l1.how, weights=(weights * more)[blocks], of_class=_of(blocks, past_l1.how.of_class)),
    )  # fmt: skip


def _of(blocks: Flags, of_class: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The classes of some of the blocks, where they are known."""
    return None if of_class is None else of_class[blocks]


def _weights(past_l1: PastL1) -> Reals:
    """Blocks that each sampled block represents, (b,)."""
    blocks = len(past_l1.sample.blocks)
    weights = past_l1.how.weights
    return np.full(blocks, past_l1.sample.of_blocks / blocks) if weights is None else weights


def _totals(past_l1: PastL1, levels: Levels, traffic: DramTraffic) -> Mapping[str, float]:
    """Of the launch, by the names of `_by_block`."""
    each = _by_block(past_l1, past_l1.dram_sectors.weight, levels, traffic, np.ones(len(past_l1.sample.blocks)))
    return {name: float(values.sum()) for name, values in each.items()}


def _by_block(past_l1: PastL1, weight: Reals, levels: Levels, traffic: DramTraffic, weights: Reals) -> dict[str, Reals]:
    """What each sampled block does, (b,) each, from the weight of its sectors and of itself."""
    loads, in_l1 = past_l1.dram_sectors.kind == READ, levels.level == L1

    def by_block(values: Flags | Reals) -> Reals:
        return np.asarray(np.bincount(past_l1.dram_sectors.block, weight * values, len(weights)) / weights)

    missed = by_block(_evened(past_l1.dram_sectors.pairs.number_of_access, weight, traffic.share))
    stored = by_block(~loads)
    return {
        "loads": by_block(loads), "hits": by_block(loads & in_l1), "read": by_block(loads & ~in_l1),
        "past": by_block(~in_l1), "missed": missed, "fetched": SECTOR_B * missed,
        "written": stored * traffic.written_bytes / max(1.0, float(weights @ stored)),
    }  # fmt: skip


def _evened(number: NDArray[np.int64], weight: Reals, values: Reals) -> Reals:
    """The mean of the values of the same sector, (m,); number : of the sector."""
    above, below = np.bincount(number, weight * values), np.bincount(number, weight)
    return np.asarray(np.divide(above, below, out=np.zeros(len(below)), where=below > 0)[number])


def _like_ends(past_l1: PastL1, weight: Reals, weights: Reals) -> Reals:
    """Share of the other blocks that may be like each sampled one, (b,)."""
    sample, inner = past_l1.sample, weights > 1
    requested = np.bincount(past_l1.dram_sectors.block, weight, len(weights)) / weights
    cut = (sample.blocks == sample.of_blocks - 1) & (requested > 0) & (requested < requested[inner].mean())
    rows = sample.of_blocks / sample.row
    sides = sum(1 / blocks for blocks in (sample.row, rows) if blocks > 1)
    unseen = 1 / (inner.sum() + 2)
    return np.asarray(np.where(cut, min(sides, unseen), unseen))


def _class_effect(past_l1: PastL1, values: Reals) -> Reals:
    """The part of each block's value that its class explains, (b,); zeros where all are of one class."""
    of_class = past_l1.how.of_class
    if of_class is None or (of_class == of_class[0]).all():
        return np.zeros(len(values))
    length = past_l1.how.length
    return values - apart_from_class(values, of_class, values if length is None else length)


def _mostly_alone_in_class(past_l1: PastL1, weights: Reals) -> bool:
    """Whether most blocks that represent others are the only ones of their class: halves would differ by that alone."""
    of_class = past_l1.how.of_class
    if of_class is None:
        return False
    return bool((np.bincount(of_class)[of_class[weights > 1]] == 1).mean() > 0.5)


def _spread(values: Reals, weights: Reals, like: Reals, effect: Reals | float = 0.0) -> tuple[float, float]:
    """Standard error of the sum over the launch, from blocks that represent others, and from those that do not.

    effect : the part of each value that is no chance, as its class explains it.
    """
    inner = weights > 1
    count, size = int(inner.sum()), float(weights.sum())
    unseen = max(0.0, 1 - len(weights) / size)
    apart = values - effect
    scatter = size * apart[inner].std(ddof=1) * np.sqrt(unseen / count)
    ends = (np.abs(apart - apart[inner].mean()) * like)[~inner].max(initial=0.0) * size * unseen
    return float(scatter), float(ends)


def apart_from_class(values: Reals, of_class: NDArray[np.int64], length: Reals) -> Reals:
    """How far each block is from the mean of its class. A block that is alone in its class is compared with the
    interpolation between the blocks with the next shorter and the next longer path."""
    members = np.bincount(of_class)[of_class]
    apart = values - np.bincount(of_class, values)[of_class] / members
    order = np.argsort(length, kind="stable")
    low, at, high = order[:-2], order[1:-1], order[2:]
    part = (length[at] - length[low]) / np.maximum(1.0, length[high] - length[low])
    between = values[at] - (values[low] * (1 - part) + values[high] * part)
    apart[at] = np.where(members[at] == 1, between, apart[at])
    return np.asarray(apart)
