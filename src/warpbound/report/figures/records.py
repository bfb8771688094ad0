"""Figures of papers from their data: any record with title, axes, series and source."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from warpbound.report.figures.picture import Axis, Curve, Layer, Numbers, Picture, Points, numbers
from warpbound.report.figures.theme import nth

_KINDS = ("points", "curve", "both")
SMALL_S = 0.5  # seconds below which a time is given in smaller units


def recorded(record: Any) -> Picture:
    """A record of a figure, such as `report.series.Figure`, as a Picture.

    record : an object or a mapping with title, x, y, series, source and, if there are, caption and rules.
    x, y : label, unit ("1" or none: a pure number) and, if there are, scale and span.
    series : name, x, y and, if there is, kind, one of points (as measured values are drawn), curve, both.
    Raises KeyError for what is missing, ValueError for an unknown kind.
    """
    series = _get(record, "series")
    y, factor = _readable(_axis(_get(record, "y")), [_get(line, "y") for line in series])
    layers = tuple(_series(line, number, factor) for number, line in enumerate(series))
    return Picture(
        title=_get(record, "title"),
        x=_axis(_get(record, "x")),
        y=y,
        layers=layers,
        source=_get(record, "source"),
        caption=_get(record, "caption", ""),
    )


def _readable(axis: Axis, values: Sequence[Numbers]) -> tuple[Axis, float]:
    """Seconds of which none is large as milli- or microseconds, and the factor for that."""
    every = np.concatenate([numbers(own) for own in values]) if values else np.zeros(0)
    most = float(np.nanmax(np.abs(every), initial=0.0, where=np.isfinite(every)))
    if axis.unit != "s" or axis.scale == "log" or most == 0 or most >= SMALL_S:
        return axis, 1.0
    unit, factor = ("ms", 1e3) if most >= SMALL_S / 1e3 else ("us", 1e6)
    return replace(axis, unit=unit), factor


def _series(line: Any, number: int, factor: float) -> Layer:
    name, x, kind = _get(line, "name"), _get(line, "x"), _get(line, "kind", "curve")
    y = factor * numbers(_get(line, "y"))
    if kind not in _KINDS:
        raise ValueError(f"series {name!r}: kind {kind!r} is none of {', '.join(_KINDS)}")
    style, marks = nth(number)
    if kind == "points":
        return Points(name, x, y, (), style)
    return Curve(name, x, y, style, style.symbol if kind == "both" else marks)


def _axis(axis: Any) -> Axis:
    span = _get(axis, "span", None)
    unit = _get(axis, "unit", "")
    return Axis(
        _get(axis, "label"), "" if unit == "1" else unit, _get(axis, "scale", "linear"), tuple(span) if span else None
    )


def _get(record: Any, name: str, *absent: Any) -> Any:
    value = record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)
    if value is None:
        if absent:
            return absent[0]
        raise KeyError(name)
    return value
