"""The points of one kernel in a plane of two quantities, with the front between these two."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Axis, Curve, Layer, Picture, Points, Style
from warpbound.report.formatting import count
from warpbound.sweeping.pareto_fronts import (
    OBJECTIVES,
    FrontPoint,
    columns_of,
    front_points,
    parameters_of,
    subjects_of,
)

QUANTITIES = {  # column -> words, unit, units in one of the column's
    "time_s": ("time of a launch", "us", 1e6),
    "energy_J": ("energy of a launch", "mJ", 1e3),
    "registers": ("registers of a thread", "", 1.0),
    "cost": ("cost of a million launches", "", 1e6),
}
TIMES = " times"  # end of the columns that hold a parameter over the board's own value
MOST_DRAWN = 1500  # points of a board that are not on the front
MOST_NUMBERS = 15
DECADE = 10.0      # largest over least value from which an axis is logarithmic
_STYLES = (
    Style("blue", symbol="circle"), Style("green", symbol="square"), Style("orange", symbol="diamond"),
    Style("sky", symbol="triangle-up"), Style("purple", symbol="x"), Style("muted", symbol="circle"),
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What is drawn: a kernel with a launch, a board or "" for all, the quantities of the x and the y axis.

    x, y : a column of QUANTITIES, or a parameter of the boards as `NAME times`.
    """

    source: str
    launch: str
    gpu: str = ""
    x: str = "time_s"
    y: str = "registers"


@dataclass(frozen=True)
class Plane:
    """Points by board, each (2, points) in the figure's units; front : the least x first. unknown : points left out."""

    choice: Choice
    boards: dict[str, NDArray[np.float64]]
    front: list[FrontPoint]
    front_at: NDArray[np.float64]
    unknown: int


def choices(rows: Any) -> tuple[list[tuple[str, str]], list[str], list[str]]:
    """(source and launch of each kernel, boards, quantities that are known somewhere); rows : a pyarrow Table."""
    columns = columns_of(rows)
    pairs = [tuple(name.split("\0")) for name in dict.fromkeys(subjects_of(columns))]
    names = (*QUANTITIES, *(f"{name}{TIMES}" for name in parameters_of(columns)))
    with_values = [name for name in names if not np.isnan(columns[name]).all()]
    return [(source, launch) for source, launch in pairs], list(dict.fromkeys(columns["gpu"])), with_values


def plane(rows: Any, choice: Choice) -> Plane:
    """The points that have both quantities, and those on their Pareto front."""
    columns = columns_of(rows)
    of_choice = subjects_of(columns) == f"{choice.source}\0{choice.launch}"
    if choice.gpu:
        of_choice &= columns["gpu"] == choice.gpu
    drawable = of_choice & ~np.isnan(columns[choice.x]) & ~np.isnan(columns[choice.y])
    places = np.flatnonzero(drawable)
    at = np.stack([columns[name] * described(name)[2] for name in (choice.x, choice.y)])
    boards = {gpu: at[:, drawable & (columns["gpu"] == gpu)] for gpu in dict.fromkeys(columns["gpu"][places])}
    front = front_points(columns, places, (choice.x, choice.y), OBJECTIVES) if len(places) else []
    rows_of = {int(point): row for row, point in enumerate(columns["point"])}
    front_at = at[:, [rows_of[point.point] for point in front]]
    return Plane(choice, boards, front, front_at, int(of_choice.sum()) - len(places))


def described(name: str) -> tuple[str, str, float]:
    """Words, unit and factor of a quantity."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    return f"{name.removesuffix(TIMES)}, times the board's own", "", 1.0


def picture(plane_: Plane) -> Picture:
    """All points by board, the front as numbered points with steps between them."""
    point_count = sum(_thinned(points).shape[1] for points in plane_.boards.values())
    points = sum(points.shape[1] for points in plane_.boards.values())
    caption = (
        f"{count(points, 'point')}{f', of which {point_count} are drawn' if point_count < points else ''}; none has "
        f"less of one quantity than the {count(len(plane_.front), 'point')} of the front without more of the other."
    )
    title = f"{plane_.choice.source}, {plane_.choice.launch}"
    if plane_.choice.gpu:
        title += f" on {plane_.choice.gpu}"
    every = np.concatenate([*plane_.boards.values(), np.ones((2, 0))], axis=1)
    x, y = (_axis(name, values) for name, values in zip((plane_.choice.x, plane_.choice.y), every, strict=True))
    layers = (*_clouds(plane_), *_front(plane_))
    return Picture(title, x, y, layers, "warpbound sweep; predictions, no measurements", caption, height=460)


def _axis(name: str, values: NDArray[np.float64]) -> Axis:
    words, unit, _ = described(name)
    wide = len(values) and values.min() > 0 and values.max() > DECADE * values.min()
    return Axis(words, unit, "log" if wide else "linear")


def _clouds(plane_: Plane) -> Iterator[Layer]:
    for number, (gpu, points) in enumerate(plane_.boards.items()):
        x, y = _thinned(points)
        style = _STYLES[min(number, len(_STYLES) - 1)]
        small = Style(style.colour, symbol=style.symbol, width=0.0)
        yield Points(gpu, x, y, style=small)


def _thinned(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """A board's points; if they are too many for a figure, every n-th."""
    return points[:, :: -(-points.shape[1] // MOST_DRAWN)] if points.shape[1] > MOST_DRAWN else points


def _front(plane_: Plane) -> Iterator[Layer]:
    """The front as steps, and its points with their numbers in the table."""
    if not plane_.front:
        return
    x, y = plane_.front_at
    style = Style("vermilion", symbol="circle", width=1.5)
    yield Curve("front", np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], style)
    step = -(-len(x) // MOST_NUMBERS)
    numbers = tuple(str(place + 1) if place % step == 0 else "" for place in range(len(x)))
    hover = tuple(" ".join(filter(None, (point.gpu, point.defines, _values(point)))) for point in plane_.front)
    yield Points("", x, y, numbers, style, "top right", hover)


def _values(point: FrontPoint) -> str:
    return " ".join(f"{name}={value:.4g}" for name, value in point.parameters.items())
