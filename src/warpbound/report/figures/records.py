"""Figures of papers from their data: any record with title, axes, series and source."""

from collections.abc import Mapping
from typing import Any

from warpbound.report.figures.picture import Axis, Curve, Layer, Picture, Points
from warpbound.report.figures.theme import nth

_KINDS = ("points", "curve", "both")


def recorded(record: Any) -> Picture:
    """A record of a figure, such as `report.series.Figure`, as a Picture.

    record : an object or a mapping with title, x, y, series, source and, if there are, caption and rules.
    x, y : label, unit ("1" or none: a pure number) and, if there are, scale and span.
    series : name, x, y and, if there is, kind, one of points (as measured values are drawn), curve, both.
    Raises KeyError for what is missing, ValueError for an unknown kind.
    """
    layers = tuple(_series(one, number) for number, one in enumerate(_get(record, "series")))
    return Picture(
        title=_get(record, "title"),
        x=_axis(_get(record, "x")),
        y=_axis(_get(record, "y")),
        layers=layers,
        source=_get(record, "source"),
        caption=_get(record, "caption", ""),
    )


def _series(one: Any, number: int) -> Layer:
    name, x, y, kind = _get(one, "name"), _get(one, "x"), _get(one, "y"), _get(one, "kind", "curve")
    if kind not in _KINDS:
        raise ValueError(f"series {name!r}: kind {kind!r} is none of {', '.join(_KINDS)}")
    look, marks = nth(number)
    if kind == "points":
        return Points(name, x, y, (), look)
    return Curve(name, x, y, look, look.symbol if kind == "both" else marks)


def _axis(given: Any) -> Axis:
    span = _get(given, "span", None)
    unit = _get(given, "unit", "")
    return Axis(
        _get(given, "label"), "" if unit == "1" else unit, _get(given, "scale", "linear"), tuple(span) if span else None
    )


def _get(record: Any, name: str, *absent: Any) -> Any:
    found = record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)
    if found is None:
        if absent:
            return absent[0]
        raise KeyError(name)
    return found
