"""From values to pixels, and which values an axis names."""

import math

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.log_ticks import decades, prefixed
from warpbound.report.figures.picture import (
    Arrows,
    Axis,
    Band,
    Bars,
    Boxes,
    Curve,
    Layer,
    Numbers,
    Picture,
    Points,
    Rule,
    numbers,
)  # fmt: skip

Reals = NDArray[np.float64]
FAR = 20_000.0  # pixels: further out nothing is seen, and renderers lose precision
MARGIN = 0.05   # share of an axis without a span that stays empty at its ends
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
WITH_PREFIX, FAR_OUT = 1e4, 20.0  # as in `drawing`


@dataclass(frozen=True)
class Scale:
    """first, last : values at the pixels `start` and `end`; of a logarithmic one positive."""

    first: float
    last: float
    start: float
    end: float
    log: bool = False

    def at(self, values: Numbers) -> Reals:
        """Pixels, shape (n,); NaN where there is no such place."""
        own = numbers(values)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (self._even(own) - self._even(self.first)) / (self._even(self.last) - self._even(self.first))
        place = self.start + share * (self.end - self.start)
        return np.where(np.isfinite(place), np.clip(place, -FAR, FAR), np.nan)

    def _even(self, values: float | Reals) -> Reals:
        own = np.asarray(values, dtype=np.float64)
        return np.log10(np.where(own > 0, own, np.nan)) if self.log else own


def scale(axis: Axis, extent: tuple[float, float], start: float, end: float) -> Scale:
    """Of an axis between two pixels; `extent` : least and largest value, for an axis without a span."""
    first, last = axis.span or _padded(axis, *extent)
    return Scale(first, last, start, end, axis.scale == "log")


def _padded(axis: Axis, low: float, high: float) -> tuple[float, float]:
    if axis.names:
        return -0.5, len(axis.names) - 0.5
    if axis.scale == "log":
        room = (high / low) ** MARGIN if high > low else 2.0
        return low / room, high * room
    room = MARGIN * (high - low) or 0.5 * abs(high) or 1.0
    return (0.0 if 0 <= low < 0.5 * high else low - room), high + room


def extents(picture: Picture) -> tuple[tuple[float, float], tuple[float, float]]:
    """Least and largest x and y of all layers; of logarithmic axes those above zero. 0 and 1 where there are none."""
    values = [_values(layer) for layer in picture.layers]
    return _extent([x for x, _ in values], picture.x), _extent([y for _, y in values], picture.y)


def _extent(values: list[list[Reals]], axis: Axis) -> tuple[float, float]:
    every = np.concatenate([np.empty(0), *(part for parts in values for part in parts)])
    usable = every[np.isfinite(every) & ((every > 0) if axis.scale == "log" else True)]
    return (float(usable.min()), float(usable.max())) if usable.size else (0.1, 1.0)


def _values(layer: Layer) -> tuple[list[Reals], list[Reals]]:
    match layer:
        case Curve() | Points():
            return [numbers(layer.x)], [numbers(layer.y)]
        case Band():
            return [numbers(layer.x)], [numbers(layer.low), numbers(layer.high)]
        case Bars():
            start = numbers(layer.start)
            return [start, start + numbers(layer.length)], [numbers(layer.at)]
        case Boxes():
            return [numbers(layer.left), numbers(layer.right)], [numbers(layer.bottom), numbers(layer.top)]
        case Arrows():
            return [numbers(layer.x0), numbers(layer.x1)], [numbers(layer.y0), numbers(layer.y1)]
        case Rule():
            here = [numbers(layer.at)]
            return (here, []) if layer.along == "y" else ([], here)


def ticks(axis: Axis, over: Scale, most: int) -> list[tuple[float, str]]:
    """Values that the axis names, with their words; at most about `most`, of an axis with names all of them."""
    low, high = sorted((over.first, over.last))
    if axis.names:
        return [(float(n), name) for n, name in enumerate(axis.names) if low <= n <= high]
    values = decades(low, high, most) if over.log else _even_steps(low, high, most)
    largest = max(abs(low), abs(high))
    if axis.scale != "log" and largest >= max(WITH_PREFIX, FAR_OUT * (high - low)):
        return [(value, f"{value:,.9g}") for value in values]
    with_prefix = axis.scale == "log" or largest >= WITH_PREFIX
    return [(value, prefixed(value) if with_prefix else f"{value:.6g}") for value in values]


def _even_steps(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(1, most)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in STEPS if size * factor >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]
