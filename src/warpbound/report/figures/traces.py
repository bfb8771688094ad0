"""Layers of a picture as Plotly's traces, shapes and annotations."""

from collections.abc import Callable
from typing import Any

import numpy as np

from warpbound.report.figures.picture import Arrows, Band, Bars, Boxes, Curve, Picture, Points, Rule, Style, numbers
from warpbound.report.figures.theme import Theme

Spec = dict[str, Any]
DIGITS = 7  # significant digits of a coordinate: more are invisible and enlarge the file


def markup(text: str) -> str:
    """Text with the characters escaped that Plotly reads as markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _list(values: Any) -> list[float | None]:
    own = numbers(values)
    plain: list[float | None] = [float(f"{value:.{DIGITS}g}") for value in own.tolist()]
    for gap in np.flatnonzero(~np.isfinite(own)).tolist():
        plain[gap] = None
    return plain


def _line(style: Style, theme: Theme) -> Spec:
    return {"color": theme.colours[style.colour], "dash": style.dash, "width": style.width}


def _faint(style: Style, theme: Theme, share: float) -> str:
    """The style's colour mixed with the paper: opaque, so that print and screens agree."""
    parts = zip(_rgb(theme.colours[style.colour]), _rgb(theme.paper), strict=True)
    return "#" + "".join(f"{round(share * colour + (1 - share) * paper):02x}" for colour, paper in parts)


def _halo(theme: Theme) -> str:
    """Paper around the letters of a text that may stand on a line."""
    return ", ".join(f"{side} 2px {theme.paper}" for side in ("1px 0", "-1px 0", "0 1px", "0 -1px"))


def _rgb(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def _curve(layer: Curve, style: Style, theme: Theme) -> list[Spec]:
    trace: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(layer.x), "y": _list(layer.y),
        "mode": "lines" if layer.marks == "none" else "lines+markers", "line": _line(style, theme),
    }  # fmt: skip
    if layer.marks != "none":
        trace["marker"] = {"symbol": layer.marks, "size": 7, "color": theme.colours[style.colour]}
    if not layer.name:
        trace |= {"showlegend": False, "hoverinfo": "skip"}
    return [trace]


def _points(layer: Points, style: Style, theme: Theme) -> list[Spec]:
    size = 14 if style.symbol.startswith("star") else 10
    trace: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(layer.x), "y": _list(layer.y),
        "mode": "markers+text" if layer.texts else "markers",
        "marker": {
            "symbol": style.symbol, "size": size, "color": theme.colours[style.colour],
            "line": {"width": 1, "color": theme.paper},
        },
        "cliponaxis": False,
    }  # fmt: skip
    if layer.texts:
        places = layer.place if isinstance(layer.place, str) else list(layer.place)
        trace |= {"text": [markup(text) for text in layer.texts], "textposition": places}
        trace["textfont"] = {"shadow": _halo(theme)}
    if not layer.name:
        trace["showlegend"] = False
    if style.symbol == "none":
        trace |= {"mode": "text", "hoverinfo": "skip"}
        del trace["marker"]
    if layer.hover:
        trace |= {"hovertext": [markup(text) for text in layer.hover], "hoverinfo": "text"}
    return [trace]


def _band(layer: Band, style: Style, theme: Theme) -> list[Spec]:
    edge = {"width": 1, "color": theme.colours[style.colour], "dash": style.dash}
    low: Spec = {
        "type": "scatter", "x": _list(layer.x), "y": _list(layer.low), "mode": "lines", "line": edge,
        "showlegend": False, "hoverinfo": "skip", "name": markup(layer.name), "legendgroup": markup(layer.name),
    }  # fmt: skip
    high = low | {
        "y": _list(layer.high), "fill": "tonexty", "fillcolor": _faint(style, theme, 0.22), "showlegend": True,
    }  # fmt: skip
    return [low, high]


def _bars(layer: Bars, style: Style, theme: Theme) -> list[Spec]:
    return [
        {
            "type": "bar", "orientation": "h", "name": markup(layer.name), "y": _list(layer.at),
            "base": _list(layer.start), "x": _list(layer.length), "text": [markup(text) for text in layer.texts],
            "textposition": "inside", "insidetextanchor": "middle", "offset": -0.3, "width": 0.6,
            "marker": {
                "color": _faint(style, theme, 1.3 * style.fill), "line": {"color": theme.paper, "width": 1},
                "pattern": {
                    "shape": _PATTERNS.get(style.dash, ""), "fillmode": "overlay", "fgcolor": theme.paper,
                    "fgopacity": 0.5, "size": 6,
                },
            },
            "insidetextfont": {"color": theme.ink}, "textangle": 0,
        }
    ]  # fmt: skip


_PATTERNS = {"dash": "/", "dot": ".", "dashdot": "\\", "longdash": "-", "5px,2px,1px,2px,1px,2px": "x", "8px,3px": "|"}


def _boxes(layer: Boxes, style: Style, theme: Theme) -> list[Spec]:
    left, right, bottom, top = (numbers(v) for v in (layer.left, layer.right, layer.bottom, layer.top))
    gap = np.full_like(left, np.nan)
    x = np.stack([left, right, right, left, left, gap], axis=1).reshape(-1)
    y = np.stack([bottom, bottom, top, top, bottom, gap], axis=1).reshape(-1)
    shapes: Spec = {
        "type": "scatter", "name": markup(layer.name), "x": _list(x), "y": _list(y), "mode": "lines", "fill": "toself",
        "fillcolor": _faint(style, theme, style.fill), "hoverinfo": "name",
        "line": {"width": 1, "color": theme.colours[style.colour]},
    }  # fmt: skip
    if not layer.texts:
        return [shapes]
    words: Spec = {
        "type": "scatter", "x": _list((left + right) / 2), "y": _list((bottom + top) / 2), "mode": "text",
        "text": [markup(text) for text in layer.texts], "textfont": {"size": 11},
        "showlegend": False, "hoverinfo": "text", "name": markup(layer.name),
    }  # fmt: skip
    return [shapes, words]


def _arrows(layer: Arrows, style: Style, theme: Theme) -> list[Spec]:
    x0, y0, x1, y1 = (numbers(v) for v in (layer.x0, layer.y0, layer.x1, layer.y1))
    gap = np.full_like(x0, np.nan)
    heads = [0, 11, 0] * len(x0)
    return [
        {
            "type": "scatter", "name": markup(layer.name), "mode": "lines+markers", "hoverinfo": "skip",
            "x": _list(np.stack([x0, x1, gap], axis=1).reshape(-1)),
            "y": _list(np.stack([y0, y1, gap], axis=1).reshape(-1)),
            "line": _line(style, theme),
            "marker": {"symbol": "arrow", "angleref": "previous", "size": heads, "color": theme.colours[style.colour]},
        }
    ]  # fmt: skip


def rule_line(layer: Rule, axes: tuple[str, str], theme: Theme) -> Spec:
    line = _line(layer.style, theme)
    if layer.along == "y":
        ends = {"x0": layer.at, "x1": layer.at, "y0": 0, "y1": 1, "xref": axes[0], "yref": f"{axes[1]} domain"}
    else:
        ends = {"x0": 0, "x1": 1, "y0": layer.at, "y1": layer.at, "xref": f"{axes[0]} domain", "yref": axes[1]}
    return {"type": "line", "line": line, "layer": "above"} | ends  # "below", a line of the grid would cover it


def rule_text(layer: Rule, picture: Picture, axes: tuple[str, str], theme: Theme) -> Spec:
    text: Spec = {
        "text": markup(layer.text), "showarrow": False,
        "font": {"size": 12, "color": theme.colours[layer.style.colour], "shadow": _halo(theme)},
    }  # fmt: skip
    if layer.along == "y":
        at = float(np.log10(layer.at)) if picture.x.scale == "log" else layer.at
        return text | {
            "x": at, "y": 0.01 + layer.lift, "xref": axes[0], "yref": f"{axes[1]} domain", "textangle": -90,
            "xanchor": "right" if layer.side == "left" else "left", "yanchor": "bottom",
        }  # fmt: skip
    at = float(np.log10(layer.at)) if picture.y.scale == "log" else layer.at
    return text | {
        "x": layer.share, "y": at, "xref": f"{axes[0]} domain", "yref": axes[1], "xanchor": "center",
        "yanchor": "bottom",
    }  # fmt: skip


TRACES: dict[type, Callable[[Any, Style, Theme], list[Spec]]] = {
    Curve: _curve,
    Points: _points,
    Band: _band,
    Bars: _bars,
    Boxes: _boxes,
    Arrows: _arrows,
}
