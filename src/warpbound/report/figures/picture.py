"""The contents of a figure, independent of its drawing: numbers, names, axes and the source.

A `Picture` is made by a pure function from plain data; `drawing` turns it into Plotly's terms. Tests compare pictures.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass

Numbers = float | Sequence[float] | NDArray[Any]
Span = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """label and unit; scale: "linear" or "log"; span: first and last value shown, reversed where first > last.

    names : positions 0, 1, 2, ... carry these words instead of numbers.
    """

    label: str
    unit: str = ""
    scale: str = "linear"
    span: Span | None = None
    names: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The axis title: label and unit."""
        return f"{self.label}, {self.unit}" if self.unit else self.label


@dataclass(frozen=True)
class Style:
    """How a layer is drawn: a colour of the theme by name, a dash, a marker, a width in pixels; fill: the share of
    the colour in an area's, the rest being paper. In an SVG, marks of width 0 are small and have no outline.

    Colours: ink, muted, blue, vermilion, green, orange, sky, purple, yellow. Dashes: solid, dash, dot, dashdot,
    longdash. Symbols as Plotly names them, or "none".
    """

    colour: str = "ink"
    dash: str = "solid"
    symbol: str = "circle"
    width: float = 2.0
    fill: float = 0.45


@dataclass(frozen=True)
class Curve:
    """A line through points, shape (n,) each; NaN interrupts it. marks: "none" or a symbol at each point.

    Without a name it is not in the legend.
    """

    name: str
    x: Numbers
    y: Numbers
    style: Style | None = None
    marks: str = "none"


@dataclass(frozen=True)
class Points:
    """Marks, each with a text beside it if there are `texts`, on the side that `place` states: one for all or one each.

    `hover` is shown only when pointed at. Without a name they are not in the legend; with a style whose symbol is
    "none" the texts stand alone.
    """

    name: str
    x: Numbers
    y: Numbers
    texts: tuple[str, ...] = ()
    style: Style | None = None
    place: str | tuple[str, ...] = "top center"
    hover: tuple[str, ...] = ()


@dataclass(frozen=True)
class Band:
    """The area between two lines over the same x."""

    name: str
    x: Numbers
    low: Numbers
    high: Numbers
    style: Style | None = None


@dataclass(frozen=True)
class Bars:
    """Horizontal bars: at positions `at`, from `start` for `length`."""

    name: str
    at: Numbers
    start: Numbers
    length: Numbers
    texts: tuple[str, ...] = ()
    style: Style | None = None


@dataclass(frozen=True)
class Boxes:
    """Rectangles, shape (n,) each, with a text inside and one for pointing at."""

    name: str
    left: Numbers
    right: Numbers
    bottom: Numbers
    top: Numbers
    texts: tuple[str, ...] = ()
    style: Style | None = None


@dataclass(frozen=True)
class Arrows:
    """From (x0, y0) to (x1, y1), shape (n,) each."""

    name: str
    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    style: Style | None = None


@dataclass(frozen=True)
class Rule:
    """A straight line across the plot where x (along="y") or y (along="x") has the value `at`.

    share : how far along a level line its text stands, of the plot's width; lift : how far up an upright one it begins,
    of the plot's height; side : of an upright one, "left" or "right".
    """

    at: float
    text: str
    along: str = "y"
    share: float = 0.66
    lift: float = 0.0
    side: str = "left"
    style: Style = field(default_factory=lambda: Style("muted", "dot", width=1.2))


Layer = Curve | Points | Band | Bars | Boxes | Arrows | Rule


@dataclass(frozen=True)
class Picture:
    """One plot. right, top: second axes with a span of their own, for the same layers in other units.

    source : where the method or the numbers come from. caption : how to read it, in a sentence or two.
    narrow : the layers as a narrow screen shows them, where other places are free for their words; () : the same.
    """

    title: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    source: str
    caption: str = ""
    right: Axis | None = None
    top: Axis | None = None
    height: int = 440
    narrow: tuple[Layer, ...] = ()

    def named(self, name: str) -> Layer:
        """The layer of that name; StopIteration is a KeyError here."""
        for layer in self.layers:
            if getattr(layer, "name", getattr(layer, "text", None)) == name:
                return layer
        raise KeyError(name)


@dataclass(frozen=True)
class Panels:
    """Several plots in a grid, read row by row, under one title."""

    title: str
    pictures: tuple[Picture, ...]
    source: str
    caption: str = ""
    columns: int = 3


Drawable = Picture | Panels


def narrowed(picture: Drawable) -> Drawable:
    """The picture for a narrow screen."""
    return replace(picture, layers=picture.narrow) if isinstance(picture, Picture) and picture.narrow else picture


def numbers(values: Numbers) -> NDArray[np.float64]:
    """An array of floats, shape (n,); a scalar gets shape (1,)."""
    return np.asarray(values, dtype=np.float64).reshape(-1)
