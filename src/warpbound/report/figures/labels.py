"""Where words beside marks stand so that they touch no curve: at a side of the mark, or farther off with a thin line.

Measured on a plot of usual size; on a narrower one words may come closer, and keep paper around their letters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figures.picture import Curve, Layer, Look, Points, Rule, Span, numbers

WIDTH, HEIGHT = 600.0, 280.0  # of a plot, px
LETTER, LINE = 7.0, 16.0      # of its words, px
BESIDE = 8.0                  # from the middle of a mark, px
GAP = 3.0                     # that stays free around words, px
SIDES = (
    "top right", "top left", "bottom right", "bottom left", "top center", "bottom center", "middle right", "middle left"
)  # fmt: skip
AWAY = (26.0, 44.0, 62.0, 80.0, 98.0)  # px up or down
ASIDE = (14.0, -14.0, 40.0, -40.0, 70.0, -70.0)
_LEADER = Look("muted", "solid", "none", width=1.0)

Line = tuple[NDArray[np.float64], NDArray[np.float64]]  # x and y of its points, px
Place = tuple[float, float]  # px
Box = tuple[float, float, float, float]  # left, right, bottom, top, px


@dataclass(frozen=True)
class Plot:
    """x, y : first and last value shown. curves, rules : lines, each shape (n,) twice, in px."""

    x: Span
    y: Span
    curves: tuple[Line, ...] = ()
    rules: tuple[Line, ...] = ()

    @classmethod
    def of(cls, x: Span, y: Span, curves: Sequence[Curve], rules: Sequence[Rule]) -> "Plot":
        """A plot of these spans with these lines."""
        empty = cls(x, y)
        ends = [([one.at, one.at], list(y)) if one.along == "y" else (list(x), [one.at, one.at]) for one in rules]
        return cls(
            x, y, tuple(empty.place(numbers(one.x), numbers(one.y)) for one in curves),
            tuple(empty.place(numbers(across), numbers(up)) for across, up in ends),
        )  # fmt: skip

    def place(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
        """In px from the lower left corner."""
        return WIDTH * (x - self.x[0]) / (self.x[1] - self.x[0]), HEIGHT * (y - self.y[0]) / (self.y[1] - self.y[0])

    def value(self, left: float, up: float) -> tuple[float, float]:
        """Of a place in px."""
        return (
            self.x[0] + left / WIDTH * (self.x[1] - self.x[0]),
            self.y[0] + up / HEIGHT * (self.y[1] - self.y[0]),
        )


def labelled(points: Points, plot: Plot, taken: list[Box]) -> list[Layer]:
    """The marks with their words where nothing is; `taken` holds the words that stand already and is added to."""
    own = [points.place] * len(points.texts) if isinstance(points.place, str) else list(points.place)
    beside, sides, layers = list(points.texts), list(own), list[Layer]()
    for number, at in enumerate(zip(*plot.place(numbers(points.x), numbers(points.y)), strict=True)):
        words = points.texts[number]
        place, side = _found(at, (words, own[number]), plot, taken)
        taken.append(_box(place, words, side))
        sides[number] = side
        if place != at:
            beside[number] = ""
            layers += _led(at, place, (words, side), plot)
    return [*layers, Points(points.name, points.x, points.y, tuple(beside), points.look, tuple(sides), points.hover)]


def lifted(rule: Rule, plot: Plot) -> Rule:
    """An upright rule whose words begin as low as they meet no curve; at the foot where they do everywhere."""
    if rule.along != "y":
        return rule
    across = float(plot.place(numbers(rule.at), numbers(plot.y[0]))[0][0])
    long = LETTER * len(rule.text)
    for foot in np.arange(0.0, HEIGHT - long, GAP):
        if not any(_crosses(line, (across - LINE, across, foot + GAP, foot + long)) for line in plot.curves):
            return replace(rule, lift=float(foot) / HEIGHT)
    return rule


def words_of(rule: Rule, plot: Plot) -> Box:
    """Where a line's own words stand: along an upright one at its left, above a level one."""
    long = LETTER * len(rule.text)
    if rule.along == "y":
        across = float(plot.place(numbers(rule.at), numbers(plot.y[0]))[0][0])
        foot = rule.lift * HEIGHT
        return across - LINE, across, foot + GAP, foot + long
    up = float(plot.place(numbers(plot.x[0]), numbers(rule.at))[1][0])
    middle = rule.share * WIDTH
    return middle - long / 2, middle + long / 2, up, up + LINE


def _found(at: Place, told: tuple[str, str], plot: Plot, taken: Sequence[Box]) -> tuple[Place, str]:
    """Where the words stand and on which side of it; on their own side of the mark where nothing is free."""
    words, own = told
    for lines in ((*plot.curves, *plot.rules), plot.curves):
        beside = ((at, side) for side in (own, *SIDES))
        farther = ((place, _side(place, at)) for place in _farther(at))
        for place, side in (*beside, *farther):
            if _free(_box(place, words, side), lines, taken):
                return place, side
    return at, own


def _led(at: Place, led: Place, told: tuple[str, str], plot: Plot) -> list[Layer]:
    (x0, y0), (x1, y1) = plot.value(*at), plot.value(*led)
    words, side = told
    return [Curve("", [x0, x1], [y0, y1], _LEADER), Points("", [x1], [y1], (words,), _LEADER, side)]


def _farther(at: Place) -> Iterator[Place]:
    places = [(aside, sign * away) for away in AWAY for sign in (1, -1) for aside in ASIDE]
    for aside, away in sorted(places, key=lambda one: np.hypot(*one)):
        yield float(at[0]) + aside, float(at[1]) + away


def _side(led: Place, at: Place) -> str:
    return f"{'top' if led[1] > at[1] else 'bottom'} {'right' if led[0] > at[0] else 'left'}"


def _box(at: Place, words: str, side: str) -> Box:
    """Of the words at a side of a place."""
    long, (up, across) = LETTER * len(words), side.split()
    left = at[0] + {"left": -BESIDE - long, "center": -long / 2, "right": BESIDE}[across]
    low = at[1] + {"top": BESIDE, "middle": -LINE / 2, "bottom": -BESIDE - LINE}[up]
    return left, left + long, low, low + LINE


def _free(box: Box, lines: Sequence[Line], taken: Sequence[Box]) -> bool:
    left, right, low, high = box
    inside = left >= 0 and right <= WIDTH and low >= 0 and high <= HEIGHT
    apart = all(right < a or left > b or high < c or low > d for a, b, c, d in taken)
    return inside and apart and not any(_crosses(line, box) for line in lines)


def _crosses(line: Line, box: Box) -> bool:
    """Whether any piece of the line, however steep, comes within GAP of the box."""
    left, right, low, high = box[0] - GAP, box[1] + GAP, box[2] - GAP, box[3] + GAP
    x, y = line
    near = np.flatnonzero((x[:-1] <= right) & (x[1:] >= left) & np.isfinite(y[:-1]) & np.isfinite(y[1:]))
    x0, x1, y0, y1 = x[near], x[near + 1], y[near], y[near + 1]
    slope = np.divide(y1 - y0, x1 - x0, out=np.zeros_like(x0), where=x1 > x0)
    first = y0 + slope * (np.maximum(x0, left) - x0)
    last = np.where(x1 > x0, y0 + slope * (np.minimum(x1, right) - x0), y1)  # where it is upright, y1
    return bool(((np.maximum(first, last) > low) & (np.minimum(first, last) < high)).any())
