"""Reuse distance: how many other lines are touched before a line is touched again, and the locality curve from it.

Source   R. Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 9, 1970
         (stack distance). The locality curve of the X-model is B. Jacob's et al., as restated there:
         h = 1 - (1 + S/(beta k))^(1 - alpha).
Models   Least-recently-used replacement.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.sorted_order import distinct, first_of_each, order_by
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


def stack_distances(items: Items) -> Items:
    """Distinct other items touched since the same item was touched last, shape (n,); -1 for a first touch."""
    before = previous(items)
    again = np.flatnonzero(before >= 0)
    order = order_by(before)  # first touches in front, in their order
    rank = np.empty(len(items), np.int64)
    rank[order] = np.arange(len(items))
    distances = np.full(len(items), -1, np.int64)
    # Earlier touches whose own predecessor is older than this one's: all up to that one, and of those
    # after it the ones that touch something new.
    distances[again] = _smaller_before(rank)[again] - before[again] - 1
    return distances


def previous(items: Items) -> Items:
    """Position of the same item's last occurrence before each one, shape (n,); -1 where there is none."""
    order = order_by(items)
    same = items[order][1:] == items[order][:-1]
    before = np.full(len(items), -1, np.int64)
    before[order[1:][same]] = order[:-1][same]
    return before


def distances_at_end(items: Items) -> tuple[Items, Items]:
    """Each distinct item, sorted, and how many other items are touched after its last touch."""
    backwards = items[::-1]
    from_end = first_of_each(backwards)
    after = np.empty(len(from_end), np.int64)
    after[np.argsort(from_end)] = np.arange(len(from_end))
    return backwards[from_end], after


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
