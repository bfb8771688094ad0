"""A figure as data: axes and series, before anything is drawn."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """What an axis measures."""

    label: str
    unit: str             # "1" where there is none
    scale: str = "linear"  # linear | log


@dataclass(frozen=True)
class Series:
    """One line or set of points; x and y have one shape (points,), NaN where there is no value."""

    name: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    kind: str = "curve"  # curve | points | both


@dataclass(frozen=True)
class Figure:
    """Series on common axes, and the source of their values."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    source: str


def series(name: str, x: ArrayLike, y: ArrayLike, kind: str = "curve") -> Series:
    """A series from anything that broadcasts to points."""
    across, along = np.broadcast_arrays(np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64))
    return Series(name, across.ravel(), along.ravel(), kind)


def series_over(at: ArrayLike, lines: Mapping[str, ArrayLike], kind: str = "curve") -> tuple[Series, ...]:
    """Series that share their x, shape (points,): name -> y, shape (points,)."""
    return tuple(series(name, at, values, kind) for name, values in lines.items())
