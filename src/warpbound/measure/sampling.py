"""From repeated samples to one record: when to stop, statistics of stamps, words and counts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.measure.case import SHARES, STAMP_WORDS, Array
from warpbound.quick_dataclasses import dataclass

Ticks = NDArray[np.int64]
SM_BIT = 48  # more cycles than a launch takes
GENERATIONS = 3            # generations of warps on an SM from which on the first need not count
PARTS = 20                 # parts of an SM's time for each of which the mean number of resident warps is kept
MAD_TO_SIGMA = 1.4826      # of a normal distribution
MEDIAN_TO_MEAN = 1.2533    # standard error of the median over that of the mean, for a normal distribution


@dataclass(frozen=True)
class Stopping:
    """Repeat until the median's relative standard error is below `noise`, with `fewest` to `most` samples and at most
    `seconds` of GPU time."""

    noise: float = 0.002
    fewest: int = 5
    most: int = 40
    seconds: float = 1.0

    def enough(self, samples: Sequence[float], seconds: float) -> bool:
        """Whether to stop now, after `seconds`."""
        if len(samples) >= self.most or (seconds >= self.seconds and len(samples) >= 3):
            return True
        return len(samples) >= self.fewest and noise(samples) <= self.noise


EFFORTS = {"quick": Stopping(0.003, 5, 15, 0.4), "full": Stopping(0.0015, 9, 60, 3.0)}


def noise(samples: Sequence[float]) -> float:
    """Relative standard error of the median, from the median absolute deviation."""
    values = np.asarray(samples, dtype=np.float64)
    median = float(np.median(values))
    if len(values) < 2 or median == 0.0:
        return 0.0
    sigma = MAD_TO_SIGMA * float(np.median(np.abs(values - median)))
    return MEDIAN_TO_MEAN * sigma / float(np.sqrt(len(values))) / abs(median)


def stamp_statistics(stamps: NDArray[np.uint64]) -> dict[str, Any]:
    """Statistics of the stamps (warps, 3): start, end and SM of every warp.

    duration : cycles from the first start to the last end, of the slowest SM; latency : mean cycles of a warp;
    fastest : of the quickest warp; warps : most resident at once, on the SM with the fewest; mean_warps : average
    over time and SMs; over_time : mean resident warps of an SM in each of PARTS equal parts of `duration`; turnover :
    warps that an SM carries from start to end per cycle, see `_turnover`; sms : with at least one warp. SM clocks are
    not synchronised: nothing is compared between SMs.
    """
    order = np.argsort(stamps[:, 2], kind="stable")
    start, end, sm = (stamps[order, at].astype(np.int64) for at in range(STAMP_WORDS))
    first = np.flatnonzero(np.diff(sm, prepend=-1))
    durations = np.maximum.reduceat(end, first) - np.minimum.reduceat(start, first)
    busy = np.add.reduceat(end - start, first) / np.maximum(durations, 1)
    peaks = _peaks(start, end, sm)
    return {
        "duration": float(durations.max()), "latency": float((end - start).mean()),
        "fastest": float((end - start).min()), "warps": float(peaks.min()), "mean_warps": float(busy.mean()),
        "turnover": _turnover(start, end, first, peaks), "sms": float(len(first)),
        "over_time": _over_time(start, end, first),
    }  # fmt: skip


def _turnover(start: Ticks, end: Ticks, first: Ticks, peaks: Ticks) -> float:
    """Warps per cycle and SM while the SM is full, without filling and draining.

    With many generations of warps, from the last start of the second one to the last start of all: at both ends warps
    of all ages are resident. Where all warps are resident at once, from the last start to the first end. A warp counts
    with the share of its life that lies between. Mean over SMs; 0 where no SM was ever full.
    """
    many = np.diff(first, append=len(start))
    sm = np.repeat(np.arange(len(first)), many)
    ordered = start[np.lexsort((start, sm))]
    second = np.where(many >= GENERATIONS * peaks, 2, 1)
    begin = ordered[first + second * peaks - 1]
    stop = np.where(many > peaks, ordered[first + many - 1], np.minimum.reduceat(end, first))
    inside = np.maximum(np.minimum(end, stop[sm]) - np.maximum(start, begin[sm]), 0)
    lives, full = np.add.reduceat(inside / np.maximum(end - start, 1), first), stop > begin
    return float((lives[full] / (stop - begin)[full]).mean()) if full.any() else 0.0


def _over_time(start: Ticks, end: Ticks, first: Ticks) -> list[float]:
    """Mean resident warps of an SM in each of PARTS equal parts of the slowest SM's time; each from its first start."""
    origin = np.repeat(np.minimum.reduceat(start, first), np.diff(first, append=len(start)))
    beginning, ended = start - origin, end - origin
    edges = np.linspace(0.0, float(ended.max()), PARTS + 1)
    # warp cycles before an edge: of the starts and ends there
    time_between_edges = [float((np.minimum(ended, edge) - np.minimum(beginning, edge)).sum()) for edge in edges]
    return np.round(np.diff(time_between_edges) * PARTS / (max(1.0, edges[-1]) * len(first)), 3).tolist()  # type: ignore[no-any-return]


def _peaks(start: Ticks, end: Ticks, sm: Ticks) -> Ticks:
    """Most intervals open at once on every SM, `sm` ascending; an interval that ends when another starts does not
    overlap it.

    SM, time and whether it is a start form one integer key, because sorting takes most of the time.
    """
    first = np.flatnonzero(np.diff(sm, prepend=-1))
    origin = np.repeat(np.minimum.reduceat(start, first), np.diff(first, append=len(sm)))
    place = sm << SM_BIT
    events = np.sort(np.concatenate([place | (end - origin) << 1, place | (start - origin) << 1 | 1]))
    # the steps of each SM add up to 0, so that one running sum over all SMs is right for each
    opened = np.cumsum(2 * (events & 1) - 1)
    return np.asarray(np.maximum.reduceat(opened, np.flatnonzero(np.diff(events >> SM_BIT, prepend=-1))))


def median_of(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each quantity, and of each number of one that has several."""
    return {name: np.median([value[name] for value in values], axis=0).tolist() for name in values[0]}


def histogram(words: Sequence[NDArray[np.uint32]]) -> dict[str, Any]:
    """Distinct words and their counts."""
    values, counts = np.unique(np.concatenate(words), return_counts=True)
    return {"values": values.tolist(), "counts": counts.tolist()}


def distribution(words: Sequence[NDArray[np.uint32]]) -> dict[str, Any]:
    """Quantiles, mean and number of all words."""
    together = np.concatenate(words)
    return {"quantiles": np.quantile(together, SHARES).tolist(), "mean": float(together.mean()),
            "count": len(together)}  # fmt: skip


def quantile(values: Sequence[float], counts: Sequence[float], share: float) -> float:
    """The value up to which a share of the counted ones lies."""
    total = np.cumsum(np.asarray(counts, dtype=np.float64))
    return float(values[int(np.searchsorted(total, share * total[-1]))])


def otsu_threshold(values: Array, counts: Array) -> float:
    """The threshold that leaves the least variance within both classes (Otsu); `values` ascending."""
    weight, moment = np.cumsum(counts), np.cumsum(counts * values)
    below, right = weight[:-1], weight[-1] - weight[:-1]
    means = moment[:-1] / below, (moment[-1] - moment[:-1]) / right
    between = below * right * (means[0] - means[1]) ** 2 if len(values) > 1 else [0.0]
    return float(values[int(np.argmax(between))])
