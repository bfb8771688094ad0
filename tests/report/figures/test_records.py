"""Figures of what papers print: many series, records as they are."""


import pytest

from support.figure_layers import at, points
from warpbound.report import figures
from warpbound.report.figures.picture import Curve

# ---------------------------------------------------------------- records of papers


def test_many_series_are_told_apart() -> None:
    series = [{"name": str(n), "x": [1.0, 2.0], "y": [1.0, 2.0]} for n in range(40)]
    axes = {"x": {"label": "x"}, "y": {"label": "y"}}
    picture = figures.recorded({"title": "many", "source": "a paper", "series": series} | axes)
    told = {(layer.style, layer.marks) for layer in picture.layers if isinstance(layer, Curve)}
    assert len(told) == 40


def test_a_record_of_a_paper_is_drawn_as_it_is() -> None:
    record = {
        "title": "Figure 1", "source": "a paper", "x": {"label": "warps", "unit": "1", "scale": "log"},
        "y": {"label": "time", "unit": "s"},
        "series": [
            {"name": "model", "x": [1, 2], "y": [3.0, 4.0]}, {"name": "seen", "x": [1], "y": [3.5], "kind": "points"},
        ],
    }  # fmt: skip
    picture = figures.recorded(record)
    assert (picture.x.title, picture.y.title, picture.x.scale) == ("warps", "time, s", "log")
    assert at(picture.named("model"), 1.5) == 3.5
    assert points(picture, "seen") == [(1.0, 3.5)]
    with pytest.raises(KeyError):
        figures.recorded({"title": "no series", "source": "", "x": {"label": "x"}, "y": {"label": "y"}})
    with pytest.raises(ValueError, match="'scribble'"):
        figures.recorded(record | {"series": [{"name": "a", "x": [], "y": [], "kind": "scribble"}]})
