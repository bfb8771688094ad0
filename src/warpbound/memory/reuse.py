"""Reuse distance: how many other lines are touched before a line is touched again, and the locality curve from it.

Source   R. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9, 1970
         (stack distance). The locality curve of the X-model is B. Jacob's et al., as restated there:
         h = 1 - (1 + S/(beta k))^(1 - alpha).
Models   Least-recently-used replacement.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.sorted_order import order_and_begins
from warpbound.quick_dataclasses import dataclass

SMALL, COUNTED = 16, 32  # of _smaller_before
PAGE_B = 2 << 20  # reach of one TLB entry: the large page that drivers use for device memory

Items = NDArray[np.int64]


@dataclass(frozen=True)
class Locality:
    """The X-model's locality: P(reuse distance > x bytes) = (1 + x/beta)^(1 - alpha).

    alpha : 1 for no reuse at all. beta : in bytes. residual : rms difference of the fitted probability.
    sizes, hits : what was fitted: hit rates of caches of so many bytes, (s,) each.
    """

    alpha: float
    beta: float
    residual: float
    sizes: tuple[float, ...] = ()
    hits: tuple[float, ...] = ()

    def hit_rate(self, bytes_each: NDArray[np.float64]) -> NDArray[np.float64]:
        """Hit rate when each of the sharers has `bytes_each` of the cache to itself."""
        return np.asarray(1 - (1 + bytes_each / self.beta) ** (1 - self.alpha))


@dataclass(frozen=True)
class Touches:
    """Items in the order they are touched, (n,), sorted once.

    order : stable, by item, (n,). begins : whether an entry of that order is the first of its item, (n,).
    """

    items: Items
    order: Items
    begins: NDArray[np.bool_]

    @property
    def lasts(self) -> Items:
        """Where each item is touched last, items ascending."""
        ends = np.append(self.begins[1:], True)[: len(self.order)]
        return np.asarray(self.order[ends])

    @property
    def previous(self) -> Items:
        """Position of the same item's last occurrence before each one, (n,); -1 where there is none."""
        result = np.full(len(self.items), -1, np.int64)
        again = np.flatnonzero(~self.begins)
        result[self.order[again]] = self.order[again - 1]
        return result

    def distances(self) -> Items:
        """Distinct other items touched since the same item was touched last, (n,); -1 for a first touch."""
        before = self.previous
        again = before >= 0
        touched_again = np.full(len(before), -1, np.int64)  # where the item of each entry is touched next
        touched_again[before[again]] = np.flatnonzero(again)
        # By their predecessors: first touches in front, in their order.
        order = np.concatenate([np.flatnonzero(~again), touched_again[touched_again >= 0]])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        # Earlier touches whose own predecessor is older than this one's: all up to that one, and of those
        # after it the ones that touch something new.
        return np.where(again, _smaller_before(rank) - before - 1, -1)

    def distances_again(self, once: Items) -> Items:
        """The distances in a second, equal round; once : those of the first.

        Only first touches differ: between the last touch of x in the first round and its first touch in the second lie
        the items that are touched last after x, and those before x that are touched first before x.
        """
        again, firsts = once.copy(), self.order[self.begins]
        by_first = np.argsort(firsts)
        rank = self.after_last[by_first]
        again[firsts[by_first]] = rank + _smaller_before(len(rank) - 1 - rank)
        return again

    @property
    def after_last(self) -> Items:
        """How many other items are touched after each item's last touch, items ascending."""
        after = np.empty(len(self.lasts), np.int64)
        after[np.argsort(self.lasts)[::-1]] = np.arange(len(after))
        return after


def touches(items: Items) -> Touches:
    """The items with their order."""
    return Touches(items, *order_and_begins(items))


def stack_distances(items: Items) -> Items:
    """Distinct other items touched since the same item was touched last, shape (n,); -1 for a first touch."""
    return touches(items).distances()


def locality(distances: Items, line_bytes: int) -> Locality:
    """The X-model's curve through one warp's stack distances (in lines; -1 for a first touch).

    Least squares over cache sizes in powers of sqrt(2); first touches never hit, so that a stream
    without reuse has alpha 1.
    """
    finite = distances[distances >= 0]
    if len(finite) == 0:
        return Locality(1.0, float(line_bytes), 0.0)
    sizes = line_bytes * 2.0 ** (np.arange(0, 2 * np.log2(finite.max() + 2) + 2) / 2)
    within = np.sort(finite) * line_bytes
    hits = np.searchsorted(within, sizes, side="left") / len(distances)
    betas = line_bytes * 2.0 ** (np.arange(-24, 4 * np.log2(sizes[-1] / line_bytes) + 24) / 4)
    exponents = np.geomspace(0.01, 64, 160)
    curve = 1 - (1 + sizes / betas[:, None, None]) ** -exponents[:, None]
    error = np.sqrt(((curve - hits) ** 2).mean(axis=-1))
    best = np.unravel_index(error.argmin(), error.shape)
    fit = 1 + float(exponents[best[1]]), float(betas[best[0]]), float(error[best])
    return Locality(*fit, tuple(sizes.tolist()), tuple(hits.tolist()))


def pages(sectors: Items, page_bytes: int = PAGE_B) -> int:
    """Distinct pages touched by sectors of 32 bytes: the required TLB reach."""
    page = sectors // (page_bytes // 32)
    page = page[np.diff(page, prepend=-1) != 0]
    low = int(page.min(initial=0))
    if int(page.max(initial=0)) - low > 4 * len(page) + 1024:
        return len(distinct(page))
    return int(np.count_nonzero(np.bincount(page - low))) if len(page) else 0


def _smaller_before(permutation: Items) -> Items:
    """Number of smaller values before each value of a permutation of 0..n-1, shape (n,).

    From the top bit down: groups share all higher bits and keep their order, so each value with the bit set has before
    it those of its group without the bit. In groups of SMALL all pairs are compared.
    """
    n = len(permutation)
    size = max(SMALL, 1 << int(n - 1).bit_length())
    values = np.arange(size)  # counts are added above COUNTED bits
    values[:n] = permutation
    half = size // 2
    while half >= SMALL:
        rows = size // (2 * half)
        bit = (values & half) != 0
        set_, clear = np.flatnonzero(bit).reshape(rows, half), np.flatnonzero(~bit).reshape(rows, half)
        before = set_ - 2 * half * np.arange(rows)[:, None] - np.arange(half)
        before <<= COUNTED
        parted = np.empty((rows, 2, half), np.int64)
        parted[:, 0] = values.take(clear)
        parted[:, 1] = values.take(set_) + before
        values, half = parted.reshape(-1), half // 2
    within = np.ascontiguousarray((values & (SMALL - 1)).astype(np.int8).reshape(-1, SMALL).T)
    few = np.zeros(within.shape, np.int8)
    for later in range(1, SMALL):
        for earlier in range(later):
            few[later] += within[earlier] < within[later]
    counts = np.empty(size, np.int64)
    counts[values & (1 << COUNTED) - 1] = (values >> COUNTED) + few.T.reshape(-1)
    return counts[permutation]
