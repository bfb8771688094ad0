"""Placement of labels so that they cross no curve: beside the mark, or farther away with a leader line.

Distances are checked at two plot sizes, normal and phone. At sizes between them labels may come closer to curves;
a halo keeps them readable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Curve, Layer, Points, Rule, Span, Style, numbers

USUAL, NARROW = (600.0, 280.0), (212.0, 242.0)  # width and height of a plot between its axes, px; NARROW: on a phone
LETTER, LINE = 7.0, 16.0      # of its words, px
BESIDE, AT_END = 8.0, 1.0     # from the middle of a mark, and from the end of a thin line, px
GAP, APART = 3.0, 5.0         # px between labels and anything else, and between two lines of a label
SIDES = (
    "top right", "top left", "bottom right", "bottom left", "top center", "bottom center", "middle right", "middle left"
)  # fmt: skip
SHARES = np.arange(0.1, 0.95, 0.02)  # places of the words of a level rule, as shares of the plot's width
AWAY = range(-208, 209, 16)   # px up or down, farther off
ASIDE = range(-150, 151, 20)  # px to the side
NEAREST, AT_ONCE = 28.0, 16   # px, farther off; places that are looked at together
_AROUND = [(float(x), float(y)) for y in AWAY for x in ASIDE if np.hypot(x, y) >= NEAREST]
_LEADER = Style("muted", "solid", "none", width=1.0)

Line = tuple[NDArray[np.float64], NDArray[np.float64]]  # x and y of its points, px
Place = tuple[float, float]  # px
Box = tuple[float, float, float, float]  # left, right, bottom, top, px


@dataclass(frozen=True)
class Plot:
    """x, y : first and last value shown. curves, rules : lines, each shape (n,) twice, in px. size : width, height."""

    x: Span
    y: Span
    curves: tuple[Line, ...] = ()
    rules: tuple[Line, ...] = ()
    size: tuple[float, float] = USUAL

    @classmethod
    def of(
        cls, x: Span, y: Span, curves: Sequence[Curve], rules: Sequence[Rule], size: tuple[float, float] = USUAL
    ) -> "Plot":
        """A plot of these spans with these lines."""
        empty = cls(x, y, size=size)
        ends = [([rule.at, rule.at], list(y)) if rule.along == "y" else (list(x), [rule.at, rule.at]) for rule in rules]
        return cls(
            x, y, tuple(empty.place(numbers(rule.x), numbers(rule.y)) for rule in curves),
            tuple(empty.place(numbers(across), numbers(up)) for across, up in ends), size,
        )  # fmt: skip

    def place(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
        """In px from the lower left corner."""
        width, height = self.size
        return width * (x - self.x[0]) / (self.x[1] - self.x[0]), height * (y - self.y[0]) / (self.y[1] - self.y[0])

    def value(self, left: float, up: float) -> tuple[float, float]:
        """Of a place in px."""
        return (
            self.x[0] + left / self.size[0] * (self.x[1] - self.x[0]),
            self.y[0] + up / self.size[1] * (self.y[1] - self.y[0]),
        )


def labelled(points: Points, plot: Plot, occupied: list[Box]) -> list[Layer]:
    """The marks with each label in free space; `taken`: boxes of the labels placed so far, extended here."""
    own = [points.place] * len(points.texts) if isinstance(points.place, str) else list(points.place)
    beside, sides, layers = list(points.texts), list(own), list[Layer]()
    for number, at in enumerate(zip(*plot.place(numbers(points.x), numbers(points.y)), strict=True)):
        words = points.texts[number]
        place, side = _free_place(at, words, own[number], plot, occupied)
        occupied.append(_box(place, words, side, _apart(place, at)))
        sides[number] = side
        if place != at:
            beside[number] = ""
            layers += _leader(at, place, words, side, plot)
    return [*layers, Points(points.name, points.x, points.y, tuple(beside), points.style, tuple(sides), points.hover)]


def lifted(rule: Rule, plot: Plot, occupied: Sequence[Box] = ()) -> Rule:
    """A rule with its words clear of curves and other words: beside a vertical rule as low as possible, on the left if
    possible; along a horizontal one as near to their own place as possible. Without free space, the rule unchanged."""
    if rule.along == "y":
        lifts = np.arange(0.0, 1.0, 2 * GAP / plot.size[1]).tolist()
        candidates = [replace(rule, side=side, lift=lift) for side in ("left", "right") for lift in lifts]
    else:
        shares = sorted((float(share) for share in SHARES), key=lambda share: abs(share - rule.share))
        candidates = [rule, *(replace(rule, share=share) for share in shares)]
    boxes = np.array([words_of(place, plot) for place in candidates])
    low_enough = np.flatnonzero(boxes[:, 3] <= plot.size[1])
    clear = low_enough[_clear(boxes[low_enough], plot.curves, ())]
    free = clear[_clear(boxes[clear], (), occupied)]
    best = (*free, *clear)
    return candidates[best[0]] if best else rule


def all_lifted(rules: Sequence[Rule], plot: Plot) -> tuple[list[Rule], list[Box]]:
    """All rules with labels clear of curves and of one another; and the boxes of these labels."""
    lifted_rules: list[Rule] = []
    for rule in rules:
        lifted_rules.append(lifted(rule, plot, [words_of(other, plot) for other in lifted_rules]))
    return lifted_rules, [words_of(rule, plot) for rule in lifted_rules]


def words_of(rule: Rule, plot: Plot) -> Box:
    """Box of a rule's own label: beside a vertical rule, above a horizontal one."""
    long = LETTER * len(rule.text)
    if rule.along == "y":
        across = float(plot.place(numbers(rule.at), numbers(plot.y[0]))[0][0])
        foot = rule.lift * plot.size[1]
        left = across - (LINE if rule.side == "left" else 0.0)
        return left, left + LINE, foot + GAP, foot + long
    up = float(plot.place(numbers(plot.x[0]), numbers(rule.at))[1][0])
    middle = rule.share * plot.size[0]
    return middle - long / 2, middle + long / 2, up, up + LINE


def _free_place(at: Place, text: str, own: str, plot: Plot, occupied: Sequence[Box]) -> tuple[Place, str]:
    """Place and side of a label; its default side of the mark where no place is free."""
    for lines in ((*plot.curves, *plot.rules), plot.curves):
        beside = [(at, side) for side in (own, *SIDES)]
        for some in (beside, *_farther(at)):
            boxes = np.array([_box(place, text, side, _apart(place, at)) for place, side in some])
            inside = np.flatnonzero(_inside(boxes, plot.size))
            free = inside[_clear(boxes[inside], lines, occupied)]
            if len(free):
                return some[int(free[0])]
    return at, own


def _apart(place: Place, at: Place) -> float:
    return BESIDE if place == at else AT_END


def _leader(at: Place, end: Place, text: str, side: str, plot: Plot) -> list[Layer]:
    (x0, y0), (x1, y1) = plot.value(*at), plot.value(*end)
    return [Curve("", [x0, x1], [y0, y1], _LEADER), Points("", [x1], [y1], (text,), _LEADER, side)]


def _farther(at: Place) -> Iterator[list[tuple[Place, str]]]:
    """Candidate places and sides, the nearest first, in batches."""
    places = sorted(_AROUND, key=lambda offset: np.hypot(*offset))
    for first in range(0, len(places), AT_ONCE):
        some = [(at[0] + aside, at[1] + away) for aside, away in places[first : first + AT_ONCE]]
        yield [(place, side) for place in some for side in _sides(place, at)]


def _sides(led: Place, at: Place) -> tuple[str, ...]:
    """Sides of a leader line's end where the label may be: away from the mark, or level with that end."""
    up, across = "top" if led[1] > at[1] else "bottom", "right" if led[0] > at[0] else "left"
    return f"{up} {across}", f"middle {across}", f"{up} center"


def _box(at: Place, words: str, side: str, apart: float = BESIDE) -> Box:
    """Box of a label on a side of a place, at this distance from it."""
    long, (up, across) = LETTER * len(words), side.split()
    left = at[0] + {"left": -apart - long, "center": -long / 2, "right": apart}[across]
    low = at[1] + {"top": apart, "middle": -LINE / 2, "bottom": -apart - LINE}[up]
    return left, left + long, low, low + LINE


Boxes = NDArray[np.float64]  # of a Box in each row


def _inside(boxes: Boxes, size: tuple[float, float]) -> NDArray[np.bool_]:
    left, right, low, high = boxes.T
    return np.asarray((left >= 0) & (right <= size[0]) & (low >= 0) & (high <= size[1]))


def _clear(boxes: Boxes, lines: Sequence[Line], occupied: Sequence[Box]) -> NDArray[np.bool_]:
    """Which boxes keep GAP from every line and every box in `taken`."""
    left, right, low, high = boxes.T
    clear = np.ones(len(boxes), np.bool_)
    for a, b, c, d in occupied:
        clear &= (right < a) | (left > b) | (high + APART < c) | (low - APART > d)
    for line in lines:
        clear[clear] = ~_crossed(line, boxes[clear])
    return clear


def _crossed(line: Line, boxes: Boxes) -> NDArray[np.bool_]:
    """Which boxes have a segment of the line within GAP."""
    left, right, low, high = (boxes + [-GAP, GAP, -GAP, GAP]).T[:, :, None]
    x0, x1, y0, y1 = line[0][:-1], line[0][1:], line[1][:-1], line[1][1:]
    slope = np.divide(y1 - y0, x1 - x0, out=np.zeros_like(x0), where=x1 > x0)
    near = (x0 <= right) & (x1 >= left) & np.isfinite(y0) & np.isfinite(y1)
    first = y0 + slope * (np.maximum(x0, left) - x0)
    last = np.where(x1 > x0, y0 + slope * (np.minimum(x1, right) - x0), y1)  # where it is upright, y1
    hit: NDArray[np.bool_] = (near & (np.maximum(first, last) > low) & (np.minimum(first, last) < high)).any(axis=1)
    return hit
