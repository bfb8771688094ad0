"""Pictures in Plotly's terms: one dictionary that the report embeds as it is, or a Plotly Figure of the same."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from warpbound.errors import WarpboundError
from warpbound.report.figures.picture import (
    Arrows,
    Axis,
    Band,
    Bars,
    Boxes,
    Curve,
    Drawable,
    Layer,
    Look,
    Panels,
    Picture,
    Points,
    Rule,
    numbers,
)  # fmt: skip
from warpbound.report.figures.theme import CYCLE, LIGHT, Theme

Spec = dict[str, Any]
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
LINE_OF_SOURCE = 95  # characters
PANEL_HEIGHT, PANEL_GAP, TITLE_HEIGHT = 210, 85, 40  # pixels
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
    for number, (one, place) in enumerate(zip(pictures, _places(picture), strict=True), 1):
        _panel(one, number, place, theme, (data, layout))
    if isinstance(picture, Panels):
        rows = -(-len(pictures) // picture.columns)
        layout["height"] = PANEL_HEIGHT * rows + PANEL_GAP * (rows - 1) + 150
        _legend_once(data)
        _titles_outside(layout, picture)
        layout["annotations"] += [_panel_title(p.title, at) for p, at in zip(pictures, _places(picture), strict=True)]
    else:
        layout["height"] = picture.height
    return {"data": data, "layout": layout}


def colour_changes(one: Any, other: Any) -> dict[str, str]:
    """Texts in which two drawings of one picture differ, as one has them and as the other has: their colours."""
    if isinstance(one, dict):
        pairs = [(inner, other[key]) for key, inner in one.items()]
    elif isinstance(one, list):
        pairs = list(zip(one, other, strict=True))
    else:
        return {one: other} if isinstance(one, str) and one != other else {}
    return {light: dark for pair in pairs for light, dark in colour_changes(*pair).items()}


def _base(theme: Theme) -> Spec:
    return {
        "font": {"family": FONT, "size": 13, "color": theme.colours["ink"]},
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


def _titled(drawn: Spec, picture: Drawable, theme: Theme) -> Spec:
    subtitle = "<br>".join(wrapped(f"Source: {picture.source}", LINE_OF_SOURCE))
    drawn["layout"]["title"] = {
        "text": f"<b>{markup(picture.title)}</b>", "x": 0.0, "xref": "paper", "xanchor": "left",
        "yref": "container", "y": 1.0, "yanchor": "top", "pad": {"t": 14},
        "font": {"size": 17},
        "subtitle": {"text": subtitle, "font": {"size": 12, "color": theme.colours["muted"]}},
    }  # fmt: skip
    extra = TITLE_HEIGHT + 16 * (1 + subtitle.count("<br>"))
    drawn["layout"]["margin"] = drawn["layout"]["margin"] | {"t": drawn["layout"]["margin"]["t"] + extra}
    drawn["layout"]["height"] += extra
    return drawn


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters, escaped for Plotly."""
    import textwrap

    return [markup(line) for line in textwrap.wrap(text, width)]


def markup(text: str) -> str:
    """Text with what Plotly would take for a tag made harmless."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


# ---------------------------------------------------------------- where panels go

Place = tuple[float, float, float, float]  # left, right, bottom, top as shares of the plot


def _places(picture: Drawable) -> list[Place]:
    if isinstance(picture, Picture):
        return [(0.0, 1.0, 0.0, 1.0)]
    columns, count = picture.columns, len(picture.pictures)
    rows = -(-count // columns)
    apart = GAP_X_WITH_RIGHT if any(one.right for one in picture.pictures) else GAP_X
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
    """Panels of one label have it at the outer edges alone."""
    for number, one in enumerate(picture.pictures):
        neighbours = picture.pictures[number - 1 : number + 2] if number else picture.pictures[:2]
        if any(other.y.title != one.y.title for other in neighbours):
            continue
        suffix = "" if number == 0 else str(number + 1)
        if number % picture.columns:
            layout[f"yaxis{suffix}"]["title"] = {"text": ""}
        last = (number + 1) % picture.columns == 0 or number + 1 == len(picture.pictures)
        if one.right is not None and not last:
            layout[f"yaxis{101 + number}"]["title"] = {"text": ""}


def _legend_once(data: list[Spec]) -> None:
    """Curves of the same name in several panels have one line in the legend and are switched together."""
    seen: set[str] = set()
    for trace in data:
        name = trace.get("name", "")
        trace["legendgroup"] = name
        if name in seen:
            trace["showlegend"] = False
        seen.add(name)


# ---------------------------------------------------------------- one plot


def _panel(picture: Picture, number: int, place: Place, theme: Theme, into: tuple[list[Spec], Spec]) -> None:
    data, layout = into
    suffix = "" if number == 1 else str(number)
    x, y = f"x{suffix}", f"y{suffix}"
    layout[f"xaxis{suffix}"] = _axis(picture.x, theme) | {"domain": list(place[:2]), "anchor": y}
    layout[f"yaxis{suffix}"] = _axis(picture.y, theme) | {"domain": list(place[2:]), "anchor": x}
    for layer, look in _with_looks(picture.layers):
        if isinstance(layer, Rule):
            layout["annotations"].append(_rule_text(layer, picture, (x, y), theme))
            layout.setdefault("shapes", []).append(_rule_line(layer, (x, y), theme))
            continue
        traces = _TRACES[type(layer)](layer, look, theme)
        data += [trace | {"xaxis": x, "yaxis": y} for trace in traces]
    _second_axes(picture, number, theme, into)


def _with_looks(layers: tuple[Layer, ...]) -> Iterator[tuple[Layer, Look]]:
    taken = 0
    for layer in layers:
        if layer.look is None:
            yield layer, CYCLE[taken % len(CYCLE)]
            taken += 1
        else:
            yield layer, layer.look


def _axis(axis: Axis, theme: Theme) -> Spec:
    drawn: Spec = {
        "title": {"text": markup(axis.title), "standoff": 8},
        "type": axis.scale,
        "gridcolor": theme.grid,
        "linecolor": theme.colours["muted"],
        "zeroline": False,
        "showline": True,
        "ticks": "outside",
        "tickcolor": theme.colours["muted"],
        "automargin": True,
        "exponentformat": "SI",
        "minexponent": 6,
    }
    if axis.span is not None:
        drawn["range"] = [float(np.log10(end)) for end in axis.span] if axis.scale == "log" else list(axis.span)
    if axis.scale == "log":
        drawn |= {"dtick": 1} if _decades(axis) > 2 else {"dtick": "D2"}
        drawn["minexponent"] = 3
    if axis.names:
        drawn |= {"tickvals": list(range(len(axis.names))), "ticktext": [markup(name) for name in axis.names]}
    return drawn


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


# ---------------------------------------------------------------- layers


def _list(values: Any) -> list[float | None]:
    own = numbers(values)
    plain: list[float | None] = own.tolist()
    for gap in np.flatnonzero(~np.isfinite(own)).tolist():
        plain[gap] = None
    return plain


def _line(look: Look, theme: Theme) -> Spec:
    return {"color": theme.colours[look.colour], "dash": look.dash, "width": look.width}


def _faint(look: Look, theme: Theme, share: float) -> str:
    """The look's colour mixed with the paper: opaque, so that print and screens agree."""
    parts = zip(_rgb(theme.colours[look.colour]), _rgb(theme.paper), strict=True)
    return "#" + "".join(f"{round(share * colour + (1 - share) * paper):02x}" for colour, paper in parts)


def _rgb(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _curve(layer: Curve, look: Look, theme: Theme) -> list[Spec]:
    trace: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(layer.x), "y": _list(layer.y),
        "mode": "lines" if layer.marks == "none" else "lines+markers", "line": _line(look, theme),
    }  # fmt: skip
    if layer.marks != "none":
        trace["marker"] = {"symbol": layer.marks, "size": 7, "color": theme.colours[look.colour]}
    return [trace]


def _points(layer: Points, look: Look, theme: Theme) -> list[Spec]:
    size = 14 if look.symbol.startswith("star") else 10
    trace: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(layer.x), "y": _list(layer.y),
        "mode": "markers+text" if layer.texts else "markers",
        "marker": {
            "symbol": look.symbol, "size": size, "color": theme.colours[look.colour],
            "line": {"width": 1, "color": theme.paper},
        },
        "cliponaxis": False,
    }  # fmt: skip
    if layer.texts:
        places = layer.place if isinstance(layer.place, str) else list(layer.place)
        trace |= {"text": [markup(text) for text in layer.texts], "textposition": places}
    if not layer.name:
        trace["showlegend"] = False
    if layer.hover:
        trace |= {"hovertext": [markup(text) for text in layer.hover], "hoverinfo": "text"}
    return [trace]


def _band(layer: Band, look: Look, theme: Theme) -> list[Spec]:
    edge = {"width": 1, "color": theme.colours[look.colour], "dash": look.dash}
    low: Spec = {
        "type": "scatter", "x": _list(layer.x), "y": _list(layer.low), "mode": "lines", "line": edge,
        "showlegend": False, "hoverinfo": "skip", "name": markup(layer.name), "legendgroup": markup(layer.name),
    }  # fmt: skip
    high = low | {
        "y": _list(layer.high), "fill": "tonexty", "fillcolor": _faint(look, theme, 0.22), "showlegend": True,
    }  # fmt: skip
    return [low, high]


def _bars(layer: Bars, look: Look, theme: Theme) -> list[Spec]:
    return [
        {
            "type": "bar", "orientation": "h", "name": markup(layer.name), "y": _list(layer.at),
            "base": _list(layer.start), "x": _list(layer.length), "text": [markup(text) for text in layer.texts],
            "textposition": "inside", "insidetextanchor": "middle", "offset": -0.3, "width": 0.6,
            "marker": {
                "color": _faint(look, theme, 1.3 * look.fill), "line": {"color": theme.paper, "width": 1},
                "pattern": {
                    "shape": _PATTERNS.get(look.dash, ""), "fillmode": "overlay", "fgcolor": theme.paper,
                    "fgopacity": 0.5, "size": 6,
                },
            },
            "insidetextfont": {"color": theme.colours["ink"]}, "textangle": 0,
        }
    ]  # fmt: skip


_PATTERNS = {"dash": "/", "dot": ".", "dashdot": "\\", "longdash": "-", "5px,2px,1px,2px,1px,2px": "x", "8px,3px": "|"}


def _boxes(layer: Boxes, look: Look, theme: Theme) -> list[Spec]:
    left, right, bottom, top = (numbers(v) for v in (layer.left, layer.right, layer.bottom, layer.top))
    gap = np.full_like(left, np.nan)
    x = np.stack([left, right, right, left, left, gap], axis=1).reshape(-1)
    y = np.stack([bottom, bottom, top, top, bottom, gap], axis=1).reshape(-1)
    shapes: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(x), "y": _list(y), "mode": "lines", "fill": "toself",
        "fillcolor": _faint(look, theme, look.fill), "hoverinfo": "name",
        "line": {"width": 1, "color": theme.colours[look.colour]},
    }  # fmt: skip
    if not layer.texts:
        return [shapes]
    words: Spec = {
        "type": "scatter", "x": _list((left + right) / 2), "y": _list((bottom + top) / 2), "mode": "text",
        "text": [markup(text) for text in layer.texts], "textfont": {"size": 11},
        "showlegend": False, "hoverinfo": "text", "name": markup(layer.name),
    }  # fmt: skip
    return [shapes, words]


def _arrows(layer: Arrows, look: Look, theme: Theme) -> list[Spec]:
    x0, y0, x1, y1 = (numbers(v) for v in (layer.x0, layer.y0, layer.x1, layer.y1))
    gap = np.full_like(x0, np.nan)
    heads = [0, 11, 0] * len(x0)
    return [
        {
            "type": "scatter", "name": markup(layer.name), "mode": "lines+markers", "hoverinfo": "skip",
            "x": _list(np.stack([x0, x1, gap], axis=1).reshape(-1)),
            "y": _list(np.stack([y0, y1, gap], axis=1).reshape(-1)),
            "line": _line(look, theme),
            "marker": {"symbol": "arrow", "angleref": "previous", "size": heads, "color": theme.colours[look.colour]},
        }
    ]  # fmt: skip


def _rule_line(layer: Rule, axes: tuple[str, str], theme: Theme) -> Spec:
    line = _line(layer.look, theme)
    if layer.along == "y":
        ends = {"x0": layer.at, "x1": layer.at, "y0": 0, "y1": 1, "xref": axes[0], "yref": f"{axes[1]} domain"}
    else:
        ends = {"x0": 0, "x1": 1, "y0": layer.at, "y1": layer.at, "xref": f"{axes[0]} domain", "yref": axes[1]}
    return {"type": "line", "line": line, "layer": "below"} | ends


def _rule_text(layer: Rule, picture: Picture, axes: tuple[str, str], theme: Theme) -> Spec:
    text: Spec = {
        "text": markup(layer.text), "showarrow": False, "font": {"size": 12, "color": theme.colours[layer.look.colour]},
    }  # fmt: skip
    if layer.along == "y":
        at = float(np.log10(layer.at)) if picture.x.scale == "log" else layer.at
        return text | {
            "x": at, "y": 0.01, "xref": axes[0], "yref": f"{axes[1]} domain", "textangle": -90, "xanchor": "right",
            "yanchor": "bottom",
        }  # fmt: skip
    at = float(np.log10(layer.at)) if picture.y.scale == "log" else layer.at
    return text | {
        "x": 0.66, "y": at, "xref": f"{axes[0]} domain", "yref": axes[1], "xanchor": "center", "yanchor": "bottom",
    }  # fmt: skip


_TRACES: dict[type, Callable[[Any, Look, Theme], list[Spec]]] = {
    Curve: _curve,
    Points: _points,
    Band: _band,
    Bars: _bars,
    Boxes: _boxes,
    Arrows: _arrows,
}
