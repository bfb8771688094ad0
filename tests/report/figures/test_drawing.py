"""What holds for every figure: axes with units, sources, styles besides colours, contrast, valid for Plotly."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from support.figure_gallery import GALLERY
from support.figure_layers import plots
from warpbound import machine
from warpbound.errors import WarpboundError
from warpbound.report import figures
from warpbound.report.figures import drawing
from warpbound.report.figures.picture import Axis, Curve, Drawable, Picture, Style
from warpbound.report.figures.theme import CYCLE, DARK, FILLS, LIGHT, OKABE_ITO, Theme

each = pytest.mark.parametrize("picture", GALLERY.values(), ids=GALLERY)


@each
def test_it_has_a_source_a_caption_and_labelled_axes(picture: Drawable) -> None:
    assert picture.title
    assert picture.source
    assert picture.caption or picture.source == "a paper"
    for one in plots(picture):
        for axis in (one.x, one.y, *filter(None, (one.right, one.top))):
            assert axis.label or axis.names
            assert axis.scale in ("linear", "log")


@each
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_plotly_accepts_it_and_shows_its_source(picture: Drawable, theme: Theme) -> None:
    drawn = figures.figure(picture, theme)
    layout = drawn.to_dict()["layout"]
    assert picture.title in layout["title"]["text"]
    assert picture.source[:20] in layout["title"]["subtitle"]["text"].replace("<br>", " ")
    assert layout["paper_bgcolor"] == theme.paper


@each
def test_it_is_plain_json(picture: Drawable) -> None:
    text = json.dumps(drawing.spec(picture), allow_nan=False)
    assert json.loads(text)["data"]


@each
def test_lines_differ_in_more_than_colour(picture: Drawable) -> None:
    for one in plots(picture):
        curves = [layer for layer in one.layers if isinstance(layer, Curve)]
        styles = [layer.style or CYCLE[n % len(CYCLE)] for n, layer in enumerate(curves)]
        told = [(style.dash, style.width, curve.marks) for style, curve in zip(styles, curves, strict=True)]
        assert len(set(told)) == len(told)


@each
def test_its_colours_are_those_of_the_theme(picture: Drawable) -> None:
    allowed = {*LIGHT.colours.values(), LIGHT.paper, LIGHT.grid}
    drawn = drawing.spec(picture)
    lines = {trace["line"]["color"] for trace in drawn["data"] if "line" in trace}
    assert lines <= allowed


def test_marks_between_powers_of_ten_are_whole_numbers() -> None:
    """Plotly writes a bare 2 and 5 there."""
    picture = next(one for one in GALLERY.values() if isinstance(one, Picture) and one.y.scale == "log")
    few = drawing.spec(replace(picture, y=replace(picture.y, span=(4.5e12, 1.3e14))))["layout"]["yaxis"]
    assert few["ticktext"] == ["5T", "10T", "20T", "50T", "100T"]
    assert few["tickvals"] == pytest.approx([5e12, 1e13, 2e13, 5e13, 1e14])
    many = drawing.spec(replace(picture, y=replace(picture.y, span=(4.5e9, 1.3e14))))["layout"]["yaxis"]
    assert many["dtick"] == 1


def test_labels_below_three_panels_fit_a_page_of_paper() -> None:
    panels = figures.occupancy_against_limits(machine.gpu("h200"), figures.Block(256, 32, 0))
    layout = drawing.spec(panels)["layout"]
    titles = [layout[name]["title"]["text"] for name in ("xaxis", "xaxis2", "xaxis3")]
    assert titles == ["threads per block", "registers per thread", "shared memory,<br>KiB per block"]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_and_main_lines_stand_out_from_the_paper(theme: Theme) -> None:
    assert contrast(theme.colours["ink"], theme.paper) > 12
    assert contrast(theme.colours["muted"], theme.paper) > 4.5
    for name in ("blue", "vermilion", "green"):
        assert contrast(theme.colours[name], theme.paper) > 3


# Linear RGB as it is seen: G. Machado, M. Oliveira, L. Fernandes, IEEE TVCG 15(6), 2009, Table 1, severity 1.0.
SEEN = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "all colours": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
}
TO_XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
WHITE = [0.95047, 1.0, 1.08883]


def lab(colour: str, seen: str) -> Any:
    """CIE L*a*b* of a colour under a kind of sight."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = np.array(TO_XYZ) @ np.clip(np.array(SEEN[seen]) @ linear, 0, 1) / WHITE
    fx, fy, fz = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return np.array([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def mixed(colour: str, share: float, paper: str) -> str:
    parts = [(int(colour[i : i + 2], 16), int(paper[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * one + (1 - share) * other):02x}" for one, other in parts)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("seen", SEEN)
def test_areas_are_told_apart_with_any_colour_sight_and_carry_text(theme: Theme, seen: str) -> None:
    """Two colours differ at a glance from a distance of about 5 on; every two areas are 9 apart."""
    areas = [mixed(theme.colours[style.colour], style.fill, theme.paper) for style in FILLS]
    apart = [float(np.linalg.norm(lab(a, seen) - lab(b, seen))) for a, b in combinations(areas, 2)]
    assert min(apart) > 9.0
    assert min(contrast(area, theme.colours["ink"]) for area in areas) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("seen", SEEN)
def test_lines_are_told_apart_by_colour_too_with_any_sight(theme: Theme, seen: str) -> None:
    lines = [theme.colours[style.colour] for style in CYCLE]
    assert min(float(np.linalg.norm(lab(a, seen) - lab(b, seen))) for a, b in combinations(lines, 2)) > 6.0
    assert len({(style.dash, style.symbol) for style in CYCLE}) == len(CYCLE)


def test_the_palette_is_okabe_and_itos() -> None:
    published = (
        (0, 114, 178), (213, 94, 0), (0, 158, 115), (230, 159, 0), (86, 180, 233), (204, 121, 167), (240, 228, 66),
    )  # fmt: skip
    assert [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in published] == list(OKABE_ITO.values())


def colours(value: Any) -> Iterator[str]:
    if isinstance(value, str) and re.fullmatch(r"#[0-9a-f]{6}", value):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from colours(inner)


@each
def test_dark_differs_from_light_in_colours_alone(picture: Drawable) -> None:
    light, dark = drawing.spec(picture, LIGHT), drawing.spec(picture, DARK)
    changes = drawing.colour_changes(light, dark)
    text = re.sub("#[0-9a-f]{6}", lambda found: changes.get(found[0], found[0]), json.dumps(light))
    assert json.loads(text) == dark
    assert changes[LIGHT.paper] == DARK.paper
    assert LIGHT.colours["ink"] not in set(colours(dark))


def one_line(name: str, **axis: Any) -> Picture:
    return Picture("t", Axis("x", **axis), Axis("y"), (Curve(name, [1.0, 10.0], [1.0, float("nan")]),), "s")


def test_names_are_no_markup() -> None:
    drawn = drawing.spec(one_line("<b>a</b> & b"))
    assert drawn["data"][0]["name"] == "&lt;b&gt;a&lt;/b&gt; &amp; b"


def test_gaps_are_null_and_logarithmic_spans_are_exponents() -> None:
    drawn = drawing.spec(one_line("a", scale="log", span=(1.0, 1000.0)))
    assert drawn["data"][0]["y"] == [1.0, None]
    assert drawn["layout"]["xaxis"]["range"] == [0.0, 3.0]


def test_panels_share_one_legend_and_do_not_overlap() -> None:
    drawn = drawing.spec(GALLERY["operations"])
    shown = [trace["name"] for trace in drawn["data"] if trace.get("showlegend", True)]
    assert len(shown) == len(set(shown)) == 6
    layout = drawn["layout"]
    places = [
        (layout[f"xaxis{n}"]["domain"], layout[f"yaxis{n}"]["domain"]) for n in ("", *range(2, 10))
    ]  # fmt: skip
    for i, (x, y) in enumerate(places):
        for other_x, other_y in places[i + 1 :]:
            assert x[1] < other_x[0] or other_x[1] < x[0] or y[1] < other_y[0] or other_y[1] < y[0]


def test_a_look_of_its_own_comes_before_the_cycle() -> None:
    picture = Picture(
        "t", Axis("x"), Axis("y"), (Curve("a", [1.0], [1.0], Style("green")), Curve("b", [1.0], [1.0])), "s"
    )  # fmt: skip
    lines = [trace["line"]["color"] for trace in drawing.spec(picture)["data"]]
    assert lines == [OKABE_ITO["green"], OKABE_ITO["blue"]]


def test_without_plotly_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "plotly.graph_objects", None)
    with pytest.raises(WarpboundError, match=r"pip install 'warpbound\[figures\]'"):
        figures.figure(GALLERY["stack"])


def test_an_unknown_layer_is_a_key_error() -> None:
    stack = GALLERY["stack"]
    assert isinstance(stack, Picture)
    with pytest.raises(KeyError):
        stack.named("no such layer")
