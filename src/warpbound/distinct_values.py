"""The distinct values of an array, without loading `numpy.ma`, which takes as long as many of our modules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKED = 4  # possible values for each one, up to which marking them is quicker than sorting


def distinct(values: Any) -> NDArray[Any]:
    """As `np.unique` of values alone, which loads `numpy.ma`, and hashes before it sorts."""
    ordered = np.sort(values, axis=None)
    return ordered[begins(ordered)]


def distinct_below(end: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values of an array that has none below 0 or from `end` on; runs of equal values cost little."""
    if end > MARKED * len(values):
        return distinct(values[begins(values)])
    present = np.zeros(end, np.bool_)
    present[values] = True
    return np.flatnonzero(present)


def begins(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a run of equal values begins, (n,)."""
    return np.concatenate((np.ones(min(1, values.size), np.bool_), values[1:] != values[:-1]))


def distinct_without(values: Any, others: Any) -> NDArray[Any]:
    """The distinct values that are not among others, as `np.setdiff1d`."""
    own = distinct(values)
    return own[~among(own, others)]


def among(values: Any, others: Any) -> NDArray[np.bool_]:
    """Which values are among others, as `np.isin`."""
    pool, own = distinct(others), np.asarray(values)
    if not pool.size:
        return np.zeros(own.shape, np.bool_)
    place = np.minimum(np.searchsorted(pool, own), pool.size - 1)
    return np.asarray(pool[place] == own)
