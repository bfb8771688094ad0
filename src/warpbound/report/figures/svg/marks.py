"""Layers of a picture as elements of SVG; colours are classes, so that one file serves light and dark."""

import math
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

import numpy as np

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Arrows, Band, Bars, Boxes, Curve, Points, Rule, Style, numbers
from warpbound.report.figures.svg.scales import Reals, Scale

NEAR = 0.15  # pixels by which a line may leave out its points
SMALL, LARGE, STAR = 3.2, 4.6, 9.0  # radii of marks on curves, of points, of stars
DASHES = {
    "solid": "", "dot": "1.5 3.5", "dash": "7 4", "dashdot": "7 3 1.5 3", "longdash": "12 4",
}  # fmt: skip


def _star(points: int, inner: float) -> list[tuple[float, float]]:
    """A polygon with `points` tips, every second corner at the inner radius."""
    angles = [math.pi * n / points for n in range(2 * points)]
    radii = [1.0 if n % 2 == 0 else inner for n in range(2 * points)]
    return [(r * math.sin(a), -r * math.cos(a)) for a, r in zip(angles, radii, strict=True)]


_PLUS = [(-.35, -1), (.35, -1), (.35, -.35), (1, -.35), (1, .35), (.35, .35), (.35, 1), (-.35, 1), (-.35, .35),
         (-1, .35), (-1, -.35), (-.35, -.35)]  # fmt: skip
SHAPES: dict[str, list[tuple[float, float]]] = {
    "square": [(-.9, -.9), (.9, -.9), (.9, .9), (-.9, .9)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "triangle-up": [(0, -1.2), (1.1, .8), (-1.1, .8)],
    "cross": _PLUS,
    "x": [((x - y) * .71, (x + y) * .71) for x, y in _PLUS],
    "star": _star(5, 0.42),
    "pentagon": _star(5, 0.81),
    "hexagon": _star(6, 0.87),
    "bowtie": [(-1.1, -.9), (1.1, .9), (1.1, -.9), (-1.1, .9)],
    "line-ns": [(0, 0)],
}  # fmt: skip


@dataclass(frozen=True)
class Plot:
    """Where a picture's values go; clip : the id of the path that keeps lines within the frame."""

    x: Scale
    y: Scale
    clip: str

    @property
    def inside(self) -> str:
        return f' clip-path="url(#{self.clip})"'


def place(value: float) -> str:
    """A pixel to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def text(words: str, at: tuple[float, float], classes: str = "", anchor: str = "start", angle: float = 0.0) -> str:
    """One line of words at a pixel, turned about it by `angle` degrees."""
    x, y = place(at[0]), place(at[1])
    attributes = f' class="{classes}"' if classes else ""
    attributes += f' text-anchor="{anchor}"' if anchor != "start" else ""
    attributes += f' transform="rotate({place(angle)} {x} {y})"' if angle else ""
    return f'<text x="{x}" y="{y}"{attributes}>{escape(words, quote=False)}</text>'


def stroke(style: Style) -> str:
    """Attributes of a line."""
    dashes = DASHES.get(style.dash, style.dash.replace("px", "").replace(",", " "))
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f' class="s-{style.colour}" stroke-width="{style.width:g}"{dashed}'


def polyline(x: Reals, y: Reals) -> str:
    """A path through points, interrupted where one is NaN; points that change nothing to see are left out."""
    whole = np.isfinite(x) & np.isfinite(y)
    runs = np.split(np.arange(len(x)), np.flatnonzero(np.diff(whole.astype(int))) + 1)
    return "".join(_run(x[run], y[run]) for run in runs if len(run) and whole[run[0]])


def _run(x: Reals, y: Reals) -> str:
    is_needed = thinned(x, y)
    corners = [f"{place(a)} {place(b)}" for a, b in zip(x[is_needed], y[is_needed], strict=True)]
    return f"M{'L'.join(corners)}"


def thinned(x: Reals, y: Reals) -> Reals:
    """Which points a line needs: all others lie within NEAR of it.

    Source   D. Douglas, T. Peucker, "Algorithms for the reduction of the number of points", 1973.
    """
    is_needed = np.zeros(len(x), bool)
    is_needed[[0, -1]] = True
    spans = [(0, len(x) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        across, along = x[last] - x[first], y[last] - y[first]
        length = math.hypot(across, along)
        if length:
            off = np.abs(across * (y[inner] - y[first]) - along * (x[inner] - x[first])) / length
        else:
            off = np.hypot(x[inner] - x[first], y[inner] - y[first])
        worst = int(off.argmax())
        if off[worst] > NEAR:
            middle = first + 1 + worst
            is_needed[middle] = True
            spans += [(first, middle), (middle, last)]
    return is_needed


def marks(symbol: str, x: Iterable[float], y: Iterable[float], colour: str, radius: float) -> str:
    """One path with a mark at each point that there is."""
    shape, is_open = symbol.removesuffix("-open"), symbol.endswith("-open")
    shapes = "".join(_mark(shape, a, b, radius) for a, b in zip(x, y, strict=True) if a == a and b == b)
    if not shapes:
        return ""
    style = f'class="s-{colour} f-paper" stroke-width="1.6"' if is_open else f'class="f-{colour} s-paper"'
    return f'<path {style} d="{shapes}"/>'


def _mark(shape: str, x: float, y: float, radius: float) -> str:
    if shape == "circle":
        r, twice = place(radius), place(2 * radius)
        return f"M{place(x - radius)} {place(y)}a{r} {r} 0 1 0 {twice} 0a{r} {r} 0 1 0 -{twice} 0z"
    corners = [f"{place(x + radius * dx)} {place(y + radius * dy)}" for dx, dy in SHAPES[shape]]
    return f"M{'L'.join(corners)}z"


# ---------------------------------------------------------------- one function for each kind of layer


def _curve(layer: Curve, style: Style, plot: Plot) -> str:
    x, y = plot.x.at(layer.x), plot.y.at(layer.y)
    line = f'<path{stroke(style)}{plot.inside} d="{polyline(x, y)}"/>'
    return line if layer.marks == "none" else line + marks(layer.marks, x, y, style.colour, SMALL)


def _points(layer: Points, style: Style, plot: Plot) -> str:
    x, y = plot.x.at(layer.x), plot.y.at(layer.y)
    size = STAR if style.symbol == "star" else LARGE if style.width else SMALL
    markers = "" if style.symbol == "none" else marks(style.symbol, x, y, style.colour, size)
    if not style.width:
        markers = markers.replace(" s-paper", "")
    sides = [layer.place] * len(layer.texts) if isinstance(layer.place, str) else layer.place
    return markers + "".join(
        _label(words, a, b, side) for words, a, b, side in zip(layer.texts, x, y, sides, strict=False) if words
    )


def _label(words: str, x: float, y: float, side: str) -> str:
    up, across = side.split()
    anchor = {"left": "end", "center": "middle", "right": "start"}[across]
    away = {"left": -7.0, "center": 0.0, "right": 7.0}[across]
    lift = {"top": -8.0, "middle": 4.0, "bottom": 18.0}[up]
    return text(words, (x + away, y + lift), "halo", anchor)


def _band(layer: Band, style: Style, plot: Plot) -> str:
    x, low, high = plot.x.at(layer.x), plot.y.at(layer.low), plot.y.at(layer.high)
    area = polyline(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
    edges = polyline(x, low) + polyline(x, high)
    thin = stroke(Style(style.colour, style.dash, width=1.0))
    return (
        f'<path class="f-{style.colour}" fill-opacity="0.22"{plot.inside} d="{area}z"/>'
        f'<path{thin}{plot.inside} d="{edges}"/>'
    )


def _bars(layer: Bars, style: Style, plot: Plot) -> str:
    at, start, length = numbers(layer.at), numbers(layer.start), numbers(layer.length)
    boxes = Boxes(layer.name, start, start + length, at - 0.3, at + 0.3, layer.texts, layer.style)
    strong = Style(style.colour, style.dash, fill=min(1.0, 1.3 * style.fill))
    return _boxes(boxes, strong, plot)


def _boxes(layer: Boxes, style: Style, plot: Plot) -> str:
    left, right = plot.x.at(layer.left), plot.x.at(layer.right)
    top, bottom = plot.y.at(layer.top), plot.y.at(layer.bottom)
    path = "".join(
        f"M{place(a)} {place(b)}H{place(c)}V{place(d)}H{place(a)}z"
        for a, b, c, d in zip(left, top, right, bottom, strict=True)
    )
    shapes = f'<path class="f-{style.colour} s-{style.colour}" fill-opacity="{style.fill:g}"{plot.inside} d="{path}"/>'
    middle = zip(layer.texts, (left + right) / 2, (top + bottom) / 2, strict=False)
    return shapes + "".join(text(words, (x, y + 3.5), "small", "middle") for words, x, y in middle if words)


def _arrows(layer: Arrows, style: Style, plot: Plot) -> str:
    ends = (plot.x.at(layer.x0), plot.y.at(layer.y0), plot.x.at(layer.x1), plot.y.at(layer.y1))
    arrows = [_arrow(*map(float, arrow)) for arrow in zip(*ends, strict=True)]
    lines, heads = "".join(line for line, _ in arrows), "".join(head for _, head in arrows)
    solid = f'<path class="f-{style.colour}"{plot.inside} d="{heads}"/>'
    return f'<path{stroke(style)}{plot.inside} d="{lines}"/>{solid}'


def _arrow(x0: float, y0: float, x1: float, y1: float) -> tuple[str, str]:
    """The line, and the triangle at its end."""
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    back = [(x1 - 9 * dx - side * dy, y1 - 9 * dy + side * dx) for side in (-3.5, 3.5)]
    corners = "L".join(f"{place(x)} {place(y)}" for x, y in ((x1, y1), *back))
    return f"M{place(x0)} {place(y0)}L{place(x1)} {place(y1)}", f"M{corners}z"


def rule(layer: Rule, plot: Plot) -> str:
    """A straight line across the plot, its words beside it."""
    colour = f"f-{layer.style.colour} halo"
    if layer.along == "y":
        x = float(plot.x.at(layer.at)[0])
        line = f"M{place(x)} {place(plot.y.start)}V{place(plot.y.end)}"
        foot = plot.y.start + layer.lift * (plot.y.end - plot.y.start)
        words = text(layer.text, (x - 4, foot - 5), colour, angle=-90)
    else:
        y = float(plot.y.at(layer.at)[0])
        line = f"M{place(plot.x.start)} {place(y)}H{place(plot.x.end)}"
        words = text(layer.text, (plot.x.start + layer.share * (plot.x.end - plot.x.start), y - 5), colour, "middle")
    return f'<path{stroke(layer.style)}{plot.inside} d="{line}"/>{words}'


MARKS: dict[type, Callable[[Any, Style, Plot], str]] = {
    Curve: _curve,
    Points: _points,
    Band: _band,
    Bars: _bars,
    Boxes: _boxes,
    Arrows: _arrows,
}
