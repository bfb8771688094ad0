"""Figures whose words stand elsewhere on a narrow screen: what the page sends, and what a report carries."""

import json

import pytest

from support.figure_gallery import CACHED
from warpbound.report import figures, html
from warpbound.report.figures.picture import narrowed


def test_a_report_carries_both_and_a_wide_screen_shows_the_usual() -> None:
    graph = figures.x_graph(CACHED)
    many = html.Figures()
    draw_view = json.loads(many.add(graph).json)
    assert draw_view["narrow"] == figures.spec(narrowed(graph))
    assert {"data": draw_view["data"], "layout": draw_view["layout"]} == figures.spec(graph)
    assert draw_view["narrow"]["data"] != draw_view["data"]
    plain = json.loads(many.add(figures.latency_stack({"k": {"issue": 4.0, "dram": 400.0}})).json)
    assert plain.keys() == {"data", "layout"}


def test_the_page_sends_what_the_screen_shows() -> None:
    pytest.importorskip("dash")
    from warpbound.page.slider_updates import NARROW_PX, Canvas, drawing

    graph = figures.x_graph(CACHED)
    wide, narrow = (drawing(graph, Canvas("light", width)) for width in (NARROW_PX, NARROW_PX - 1))
    assert wide is not None
    assert narrow is not None
    assert wide["data"] == figures.spec(graph)["data"]
    assert narrow["data"] == figures.spec(narrowed(graph))["data"]
    assert "narrow" not in wide
