"""From repeated samples to one record: when to stop, and what stamps and words say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import SHARES

Array = NDArray[np.float64]
STAMPS = 3   # of a warp: start, end, SM
SM_BIT = 48  # cycles of a launch take less
GENERATIONS = 3            # of warps on an SM, from which the first one need not count
MAD_TO_SIGMA = 1.4826      # of a normal distribution
MEDIAN_TO_MEAN = 1.2533    # standard error of the median, in units of that of the mean, for a normal distribution


@dataclass(frozen=True)
class Stopping:
    """Repeat until the median's relative standard error is below `noise`, after `fewest`; at most `most` samples
    or `seconds` of GPU time."""

    noise: float = 0.002
    fewest: int = 5
    most: int = 40
    seconds: float = 1.0

    def enough(self, samples: Sequence[float], spent: float) -> bool:
        """Whether to stop now."""
        if len(samples) >= self.most or (spent >= self.seconds and len(samples) >= 3):
            return True
        return len(samples) >= self.fewest and noise(samples) <= self.noise


EFFORTS = {"quick": Stopping(0.003, 5, 15, 0.4), "full": Stopping(0.0015, 9, 60, 3.0)}


def noise(samples: Sequence[float]) -> float:
    """Relative standard error of the median, from the median absolute deviation."""
    values = np.asarray(samples, dtype=np.float64)
    middle = float(np.median(values))
    if len(values) < 2 or middle == 0.0:
        return 0.0
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(values - middle)))
    return MEDIAN_TO_MEAN * sigma / float(np.sqrt(len(values))) / abs(middle)


def of_stamps(stamps: NDArray[np.uint64]) -> dict[str, float]:
    """What the stamps (warps, 3) say: start, end and SM of every warp.

    duration : cycles from the first start to the last end, of the slowest SM; latency : mean cycles of a warp;
    fastest : of the quickest warp; warps : most resident at once, on the SM with the fewest; mean_warps : average
    over time and SMs; turnover : warps that an SM carries from start to end per cycle, see `_turnover`; sms : that
    had a warp. SM clocks are not synchronised: nothing is compared between SMs.
    """
    order = np.argsort(stamps[:, 2], kind="stable")
    start, end, sm = (stamps[order, at].astype(np.int64) for at in range(STAMPS))
    first = np.flatnonzero(np.diff(sm, prepend=-1))
    durations = np.maximum.reduceat(end, first) - np.minimum.reduceat(start, first)
    busy = np.add.reduceat(end - start, first) / np.maximum(durations, 1)
    peaks = _peaks(start, end, sm)
    return {
        "duration": float(durations.max()), "latency": float((end - start).mean()),
        "fastest": float((end - start).min()), "warps": float(peaks.min()), "mean_warps": float(busy.mean()),
        "turnover": _turnover(start, end, first, peaks), "sms": float(len(first)),
    }  # fmt: skip


def _turnover(
    start: NDArray[np.int64], end: NDArray[np.int64], first: NDArray[np.int64], peaks: NDArray[np.int64]
) -> float:
    """Warps per cycle and SM while the SM is full: neither filling up nor running empty counts.

    Where warps come in many generations, from the last start of the second one to the last start of all: at both ends
    warps of all ages are there. Where all are there at once, from the last start to the first end. A warp counts with
    the share of its life that lies between. Mean over SMs; 0 where none was ever full.
    """
    many = np.diff(first, append=len(start))
    sm = np.repeat(np.arange(len(first)), many)
    ordered = start[np.lexsort((start, sm))]
    second = np.where(many >= GENERATIONS * peaks, 2, 1)
    begin = ordered[first + second * peaks - 1]
    stop = np.where(many > peaks, ordered[first + many - 1], np.minimum.reduceat(end, first))
    inside = np.maximum(np.minimum(end, stop[sm]) - np.maximum(start, begin[sm]), 0)
    lived, full = np.add.reduceat(inside / np.maximum(end - start, 1), first), stop > begin
    return float((lived[full] / (stop - begin)[full]).mean()) if full.any() else 0.0


def _peaks(start: NDArray[np.int64], end: NDArray[np.int64], sm: NDArray[np.int64]) -> NDArray[np.int64]:
    """Most intervals open at once on every SM, `sm` ascending; one that ends when another starts does not overlap it.

    SM, time and whether it is a start make one number, for a single sort is what takes the time.
    """
    first = np.flatnonzero(np.diff(sm, prepend=-1))
    begun = np.repeat(np.minimum.reduceat(start, first), np.diff(first, append=len(sm)))
    place = sm << SM_BIT
    events = np.sort(np.concatenate([place | (end - begun) << 1, place | (start - begun) << 1 | 1]))
    # an SM's steps add up to nothing, so that one sum over all of them serves each
    opened = np.cumsum(2 * (events & 1) - 1)
    return np.asarray(np.maximum.reduceat(opened, np.flatnonzero(np.diff(events >> SM_BIT, prepend=-1))))


def median_of(values: Sequence[dict[str, float]]) -> dict[str, float]:
    """Each quantity's median."""
    return {name: float(np.median([value[name] for value in values])) for name in values[0]}


def histogram(words: Sequence[NDArray[np.uint32]]) -> dict[str, Any]:
    """All words counted."""
    values, counts = np.unique(np.concatenate(words), return_counts=True)
    return {"values": values.tolist(), "counts": counts.tolist()}


def distribution(words: Sequence[NDArray[np.uint32]]) -> dict[str, Any]:
    """Quantiles, mean and number of all words."""
    together = np.concatenate(words)
    return {"quantiles": np.quantile(together, SHARES).tolist(), "mean": float(together.mean()),
            "count": len(together)}  # fmt: skip


def quantile(values: Sequence[float], counts: Sequence[float], share: float) -> float:
    """The value below which a share of the counted ones lies."""
    total = np.cumsum(np.asarray(counts, dtype=np.float64))
    return float(values[int(np.searchsorted(total, share * total[-1]))])


def parted(values: Array, counts: Array) -> float:
    """The cut that leaves the least variance within both parts (Otsu); `values` ascending."""
    weight, moment = np.cumsum(counts), np.cumsum(counts * values)
    left, right = weight[:-1], weight[-1] - weight[:-1]
    apart = left * right * (moment[:-1] / left - (moment[-1] - moment[:-1]) / right) ** 2 if len(values) > 1 else [0.0]
    return float(values[int(np.argmax(apart))])
