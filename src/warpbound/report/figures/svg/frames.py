"""One plot of a drawing: its frame, axes with ticks, grid and titles, and its layers."""

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Axis, Boxes, Picture, Rule
from warpbound.report.figures.svg.marks import MARKS, Plot, place, rule, text
from warpbound.report.figures.svg.scales import Scale, extents, scale, ticks
from warpbound.report.figures.theme import with_styles

LETTER = 6.3  # pixels that a letter of a tick takes
TICK, GAP = 5.0, 4.0
BETWEEN_X, BETWEEN_Y = 62.0, 38.0  # pixels from tick to tick, at least about
TITLE = 20.0  # height of the words beside an axis, px


@dataclass(frozen=True)
class Box:
    """Pixels of the whole drawing."""

    left: float
    top: float
    right: float
    bottom: float


def framed(picture: Picture, outside: Box, number: int) -> str:
    """A picture with its axes within a box; number : of the plot in the drawing, from 1 on."""
    box = _within(picture, outside)
    x_extent, y_extent = extents(picture)
    plot = Plot(
        scale(picture.x, x_extent, box.left, box.right), scale(picture.y, y_extent, box.bottom, box.top), f"c{number}"
    )
    clip = (
        f'<clipPath id="{plot.clip}"><rect x="{place(box.left)}" y="{place(box.top)}" '
        f'width="{place(box.right - box.left)}" height="{place(box.bottom - box.top)}"/></clipPath>'
    )
    parts = [clip, *_axes(picture, plot, box)]
    for layer, style in with_styles(picture.layers):
        parts.append(rule(layer, plot) if isinstance(layer, Rule) else MARKS[type(layer)](layer, style, plot))
    return "\n".join(part for part in parts if part)


def _within(picture: Picture, outside: Box) -> Box:
    """What is left of a box when ticks and titles have their room."""
    top = outside.top + (2 * TITLE if picture.top else 8.0)
    bottom = outside.bottom - 2 * TITLE
    left = outside.left + _beside(picture, picture.y, top, bottom) + 2.0
    room = _beside(picture, picture.right, top, bottom) - 8.0 if picture.right else 0.0
    return Box(left, top, outside.right - 10.0 - room, bottom)


def _beside(picture: Picture, axis: Axis, top: float, bottom: float) -> float:
    """Pixels that an upright axis takes: its longest tick and its title."""
    labels = ticks(axis, scale(axis, extents(picture)[1], bottom, top), _most(bottom - top, BETWEEN_Y))
    longest = max((len(words) for _, words in labels), default=0)
    return LETTER * longest + TICK + GAP + (TITLE if axis.title else 0.0)


def _most(length: float, between: float) -> int:
    return max(2, round(length / between))


@dataclass(frozen=True)
class Side:
    """An axis with its scale at the pixel `at`; out : 1 where its words lie below or right of it, else -1."""

    axis: Axis
    over: Scale
    at: float
    out: float


def _axes(picture: Picture, plot: Plot, box: Box) -> list[str]:
    across, along = _most(box.right - box.left, BETWEEN_X), _most(box.bottom - box.top, BETWEEN_Y)
    filled = any(isinstance(layer, Boxes) for layer in picture.layers)
    parts = [] if filled else [_grid(picture, plot, box, across, along)]
    parts += _flat(Side(picture.x, plot.x, box.bottom, 1.0), across)
    parts += _upright(Side(picture.y, plot.y, box.left, -1.0), along)
    if picture.right is not None:
        over = scale(picture.right, (0.0, 1.0), box.bottom, box.top)
        parts += _upright(Side(picture.right, over, box.right, 1.0), along)
    if picture.top is not None:
        over = scale(picture.top, (0.0, 1.0), box.left, box.right)
        parts += _flat(Side(picture.top, over, box.top, -1.0), across)
    return parts


def _grid(picture: Picture, plot: Plot, box: Box, across: int, along: int) -> str:
    upright = "".join(
        f"M{place(x)} {place(box.top)}V{place(box.bottom)}"
        for x in plot.x.at([value for value, _ in ticks(picture.x, plot.x, across)])
    )
    flat = "".join(
        f"M{place(box.left)} {place(y)}H{place(box.right)}"
        for y in plot.y.at([value for value, _ in ticks(picture.y, plot.y, along)])
    )
    return f'<path class="grid" d="{upright}{flat}"/>'


def _flat(side: Side, most: int) -> list[str]:
    """A horizontal axis."""
    labels = ticks(side.axis, side.over, most)
    places = side.over.at([value for value, _ in labels])
    line = f"M{place(side.over.start)} {place(side.at)}H{place(side.over.end)}"
    line += "".join(f"M{place(x)} {place(side.at)}v{place(TICK * side.out)}" for x in places)
    words = side.at + (TICK + 12.0 if side.out > 0 else -TICK - GAP)
    title = words + (TITLE - 2.0 if side.out > 0 else 3.0 - TITLE)
    parts = [f'<path class="axis" d="{line}"/>']
    parts += [text(label, (x, words), "tick", "middle") for x, (_, label) in zip(places, labels, strict=True)]
    return [*parts, text(side.axis.title, ((side.over.start + side.over.end) / 2, title), "", "middle")]


def _upright(side: Side, most: int) -> list[str]:
    """A vertical axis."""
    labels = ticks(side.axis, side.over, most)
    places = side.over.at([value for value, _ in labels])
    line = f"M{place(side.at)} {place(side.over.start)}V{place(side.over.end)}"
    line += "".join(f"M{place(side.at)} {place(y)}h{place(TICK * side.out)}" for y in places)
    anchor, x = ("start" if side.out > 0 else "end"), side.at + side.out * (TICK + GAP)
    parts = [f'<path class="axis" d="{line}"/>']
    parts += [text(label, (x, y + 4.0), "tick", anchor) for y, (_, label) in zip(places, labels, strict=True)]
    if side.axis.title:
        away = x + side.out * (LETTER * max((len(label) for _, label in labels), default=0) + 12.0)
        middle = (side.over.start + side.over.end) / 2
        parts.append(text(side.axis.title, (away, middle), "", "middle", 90 * side.out))
    return parts
