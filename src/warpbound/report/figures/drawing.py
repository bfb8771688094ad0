"""Pictures in Plotly's terms: a dictionary {data, layout} that the report embeds, or a Plotly Figure."""

import importlib
from typing import Any

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.report.figures.log_ticks import prefixed, steps
from warpbound.report.figures.picture import Axis, Drawable, Panels, Picture, Rule
from warpbound.report.figures.theme import LIGHT, Theme, with_styles
from warpbound.report.figures.traces import TRACES, Spec, markup, rule_line, rule_text

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
LINE_OF_SOURCE = 95  # characters
FAR_OUT = 20.0  # an axis that starts farther from 0 than this many spans shows all digits
PETA = 1e15
WITH_PREFIX = 1e4  # numbers from there on have k, M, G; small ones none
PANEL_HEIGHT, PANEL_GAP, TITLE_HEIGHT = 210, 85, 40  # pixels
MANY_COLUMNS, PANEL_LETTERS = 3, 24  # what a label may have below one of so many panels on a page of paper
GAP_X, GAP_X_WITH_RIGHT = 0.07, 0.16  # between panels, as shares of the plot's width


def figure(picture: Drawable, theme: Theme = LIGHT) -> Any:
    """A plotly.graph_objects.Figure with title and source. Raises WarpboundError where Plotly is not installed."""
    return graph_objects().Figure(_titled(spec(picture, theme), picture, theme))


def graph_objects() -> Any:
    """Plotly's module of figures. Raises WarpboundError where it is not installed."""
    try:
        return importlib.import_module("plotly.graph_objects")
    except ImportError as missing:
        raise WarpboundError(
            "Drawing needs Plotly, which is not installed.", "Install it with: pip install 'warpbound[figures]'"
        ) from missing


def spec(picture: Drawable, theme: Theme = LIGHT) -> Spec:
    """{data, layout}: no title and no source, for a place that has a caption of its own. Needs no Plotly."""
    pictures = picture.pictures if isinstance(picture, Panels) else (picture,)
    data: list[Spec] = []
    layout = _base(theme)
    for number, (panel, place) in enumerate(zip(pictures, _places(picture), strict=True), 1):
        _panel(panel, number, place, theme, (data, layout))
    if isinstance(picture, Panels):
        rows = -(-len(pictures) // picture.columns)
        layout["height"] = PANEL_HEIGHT * rows + PANEL_GAP * (rows - 1) + 150
        _legend_once(data)
        _titles_outside(layout, picture)
        layout["annotations"] += [_panel_title(p.title, at) for p, at in zip(pictures, _places(picture), strict=True)]
    else:
        layout["height"] = picture.height
    return {"data": data, "layout": layout}


def colour_changes(light: Any, other: Any) -> dict[str, str]:
    """Colours in which two drawings of one picture differ: the first drawing's -> the second's."""
    if isinstance(light, dict):
        pairs = [(inner, other[key]) for key, inner in light.items()]
    elif isinstance(light, list):
        pairs = list(zip(light, other, strict=True))
    else:
        return {light: other} if isinstance(light, str) and light != other else {}
    return {light: dark for pair in pairs for light, dark in colour_changes(*pair).items()}


def _base(theme: Theme) -> Spec:
    return {
        "font": {"family": FONT, "size": 13, "color": theme.ink},
        "paper_bgcolor": theme.paper,
        "plot_bgcolor": theme.paper,
        "margin": {"l": 70, "r": 30, "t": 30, "b": 60},
        "hoverlabel": {"font": {"family": FONT}},
        "legend": {
            "orientation": "h", "yref": "container", "y": 0.0, "yanchor": "bottom", "x": 0.0, "xanchor": "left",
            "font": {"size": 12}, "bgcolor": "rgba(0,0,0,0)",
        },
        "annotations": [],
    }  # fmt: skip


def _titled(figure: Spec, picture: Drawable, theme: Theme) -> Spec:
    subtitle = "<br>".join(wrapped(f"Source: {picture.source}", LINE_OF_SOURCE))
    figure["layout"]["title"] = {
        "text": f"<b>{markup(picture.title)}</b>", "x": 0.0, "xref": "paper", "xanchor": "left",
        "yref": "container", "y": 1.0, "yanchor": "top", "pad": {"t": 14},
        "font": {"size": 17},
        "subtitle": {"text": subtitle, "font": {"size": 12, "color": theme.muted}},
    }  # fmt: skip
    extra = TITLE_HEIGHT + 16 * (1 + subtitle.count("<br>"))
    figure["layout"]["margin"] = figure["layout"]["margin"] | {"t": figure["layout"]["margin"]["t"] + extra}
    figure["layout"]["height"] += extra
    return figure


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, escaped for Plotly."""
    import textwrap

    return [markup(line) for line in textwrap.wrap(text, width)]


# ---------------------------------------------------------------- where panels go

Place = tuple[float, float, float, float]  # left, right, bottom, top as shares of the plot


def _places(picture: Drawable) -> list[Place]:
    if isinstance(picture, Picture):
        return [(0.0, 1.0, 0.0, 1.0)]
    columns, count = picture.columns, len(picture.pictures)
    rows = -(-count // columns)
    apart = GAP_X_WITH_RIGHT if any(panel.right for panel in picture.pictures) else GAP_X
    width = (1.0 - apart * (columns - 1)) / columns
    gap = PANEL_GAP / (PANEL_HEIGHT * rows + PANEL_GAP * (rows - 1))
    height = (1.0 - gap * (rows - 1)) / rows
    places = []
    for number in range(count):
        row, column = divmod(number, columns)
        left, top = column * (width + apart), 1.0 - row * (height + gap)
        places.append((left, min(left + width, 1.0), max(top - height, 0.0), top))
    return places


def _panel_title(title: str, place: Place) -> Spec:
    return {
        "text": f"<b>{markup(title)}</b>", "xref": "paper", "yref": "paper", "x": place[0], "y": place[3],
        "xanchor": "left", "yanchor": "bottom", "yshift": 6, "showarrow": False, "font": {"size": 13},
    }  # fmt: skip


def _titles_outside(layout: Spec, picture: Panels) -> None:
    """Show an axis label that panels share at the outer edges only; break a label that is too long for its panel."""
    for number, panel in enumerate(picture.pictures):
        below = layout[f"xaxis{'' if number == 0 else number + 1}"]["title"]
        if picture.columns >= MANY_COLUMNS and len(below["text"]) > PANEL_LETTERS:
            below["text"] = ",<br>".join(below["text"].rsplit(", ", 1))
        neighbours = picture.pictures[number - 1 : number + 2] if number else picture.pictures[:2]
        if any(other.y.title != panel.y.title for other in neighbours):
            continue
        suffix = "" if number == 0 else str(number + 1)
        if number % picture.columns:
            layout[f"yaxis{suffix}"]["title"] = {"text": ""}
        last = (number + 1) % picture.columns == 0 or number + 1 == len(picture.pictures)
        if panel.right is not None and not last:
            layout[f"yaxis{101 + number}"]["title"] = {"text": ""}


def _legend_once(data: list[Spec]) -> None:
    """Give curves of one name in several panels one legend entry, which switches them together."""
    names: set[str] = set()
    for trace in data:
        name = trace.get("name", "")
        trace["legendgroup"] = name
        if name in names:
            trace["showlegend"] = False
        names.add(name)


# ---------------------------------------------------------------- one plot


def _panel(picture: Picture, number: int, place: Place, theme: Theme, into: tuple[list[Spec], Spec]) -> None:
    data, layout = into
    suffix = "" if number == 1 else str(number)
    x, y = f"x{suffix}", f"y{suffix}"
    layout[f"xaxis{suffix}"] = _axis(picture.x, theme) | {"domain": list(place[:2]), "anchor": y}
    layout[f"yaxis{suffix}"] = _axis(picture.y, theme) | {"domain": list(place[2:]), "anchor": x}
    for layer, style in with_styles(picture.layers):
        if isinstance(layer, Rule):
            layout["annotations"].append(rule_text(layer, picture, (x, y), theme))
            layout.setdefault("shapes", []).append(rule_line(layer, (x, y), theme))
            continue
        traces = TRACES[type(layer)](layer, style, theme)
        data += [trace | {"xaxis": x, "yaxis": y} for trace in traces]
    _second_axes(picture, number, theme, into)


def _axis(axis: Axis, theme: Theme) -> Spec:
    properties: Spec = {
        "title": {"text": markup(axis.title), "standoff": 8},
        "type": axis.scale,
        "gridcolor": theme.grid,
        "linecolor": theme.muted,
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "tickcolor": theme.muted,
        "automargin": True,
        "exponentformat": "SI",
        "minexponent": 3 if axis.span and max(axis.span) >= WITH_PREFIX else 6,
    }
    if axis.span is not None:
        properties["range"] = [float(np.log10(end)) for end in axis.span] if axis.scale == "log" else list(axis.span)
    if axis.scale == "log":
        properties |= {"dtick": 1} if _decades(axis) > 2 else _marked(axis)
        properties["minexponent"] = 3
        if axis.span and min(axis.span) >= 1.0 and max(axis.span) >= PETA:
            properties["tickformat"] = "~s"  # Plotly's own prefixes end at T
    elif axis.span and max(axis.span) >= max(WITH_PREFIX, FAR_OUT * abs(axis.span[1] - axis.span[0])):
        properties["tickformat"] = ",.9~g"
    if axis.names:
        properties |= {"tickvals": list(range(len(axis.names))), "ticktext": [markup(name) for name in axis.names]}
    return properties


def _marked(axis: Axis) -> Spec:
    """Label the ticks between powers of ten in full; Plotly writes only 2 and 5."""
    assert axis.span is not None
    ticks = steps(min(axis.span), max(axis.span))
    return {"tickvals": ticks, "ticktext": [prefixed(value) for value in ticks]} if len(ticks) > 1 else {}


def _decades(axis: Axis) -> float:
    return abs(float(np.log10(axis.span[1] / axis.span[0]))) if axis.span else 3.0


def _second_axes(picture: Picture, number: int, theme: Theme, into: tuple[list[Spec], Spec]) -> None:
    """Axes in other units over the same plot; an empty trace makes Plotly show them."""
    data, layout = into
    suffix = "" if number == 1 else str(number)
    if picture.right is not None:
        extra = _axis(picture.right, theme) | {"overlaying": f"y{suffix}", "side": "right", **_EXTRA}
        layout[f"yaxis{100 + number}"] = extra | {"anchor": f"x{suffix}"}
        data.append(_nothing(f"x{suffix}", f"y{100 + number}"))
        layout["margin"] = layout["margin"] | {"r": 80}
    if picture.top is not None:
        extra = _axis(picture.top, theme) | {"overlaying": f"x{suffix}", "side": "top", **_EXTRA}
        layout[f"xaxis{100 + number}"] = extra | {"anchor": f"y{suffix}"}
        data.append(_nothing(f"x{100 + number}", f"y{suffix}"))
        layout["margin"] = layout["margin"] | {"t": 75}


_EXTRA = {"showgrid": False, "tickmode": "auto"}  # else an overlaying axis takes over the ticks of the first


def _nothing(x: str, y: str) -> Spec:
    return {
        "type": "scatter", "x": [None], "y": [None], "xaxis": x, "yaxis": y, "showlegend": False, "hoverinfo": "skip",
    }  # fmt: skip
