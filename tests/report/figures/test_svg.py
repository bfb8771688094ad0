"""Pictures as SVG: whole files, values at their pixels, nothing lost that can be seen."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.figure_gallery import GALLERY
from support.figure_layers import plots
from warpbound.report.figures import svg
from warpbound.report.figures.picture import (
    Axis,
    Boxes,
    Curve,
    Drawable,
    Picture,
    Points,
    Rule,
    Style,
)
from warpbound.report.figures.svg.marks import NEAR, polyline, thinned
from warpbound.report.figures.svg.scales import FAR, Scale, scale, ticks
from warpbound.report.figures.theme import DARK, LIGHT, with_styles

each = pytest.mark.parametrize("picture", GALLERY.values(), ids=GALLERY)
NAMESPACE = "{http://www.w3.org/2000/svg}"
LARGEST_B = 60_000
HOSTILE = '</text><script>alert("1")</script>&'
numbers = st.floats(-1e6, 1e6)


def tree(picture: Drawable) -> Any:
    return ET.fromstring(svg(picture))


def words(picture: Drawable) -> list[str]:
    return ["".join(one.itertext()) for one in tree(picture).iter(f"{NAMESPACE}text")]


@each
def test_a_file_is_whole_small_and_asks_for_nothing(picture: Drawable) -> None:
    text = svg(picture)
    assert len(text.encode()) < LARGEST_B
    root = ET.fromstring(text)
    assert root.tag == f"{NAMESPACE}svg"
    assert not re.search(r"href|url\((?!#)|@import|<image|<script|nan|inf\b", text)
    assert text.count("http") == 1  # the namespace


@each
def test_title_axes_legend_and_source_are_written(picture: Drawable) -> None:
    said = words(picture)
    assert picture.title in said
    assert "Source: " + picture.source.split(",")[0] in " ".join(said)
    names = {
        layer.name for one in plots(picture) for layer, _ in with_styles(one.layers) if not isinstance(layer, Rule)
    }
    for name in names - {""}:
        assert said.count(name) >= 1
    for one in plots(picture):
        titles = [axis.title for axis in (one.x, one.y, one.right, one.top) if axis is not None and axis.title]
        assert set(titles) <= set(said)
        rules = {layer.text for layer in one.layers if isinstance(layer, Rule)}
        assert rules <= set(said)


@each
def test_colours_are_classes_that_both_modes_define(picture: Drawable) -> None:
    text = svg(picture)
    style = re.search(r"<style>(.*)</style>", text, re.S)
    assert style
    light, dark = style[1].split("@media screen and (prefers-color-scheme:dark)")
    every = " ".join(re.findall(r'class="([^"]*)"', text)).split()
    used = {name for name in every if name[:2] in ("f-", "s-")}
    assert used
    for name in used:
        assert f".{name}{{" in light
        assert f".{name}{{" in dark
    assert f".f-paper{{fill:{LIGHT.paper}}}" in light
    assert f".f-paper{{fill:{DARK.paper}}}" in dark
    assert "#" not in text.replace(style[0], "").replace("url(#", "")


def one(x: list[float], y: list[float], **axis: Any) -> Picture:
    return Picture("t", Axis("x", **axis), Axis("y", span=(0.0, 10.0)), (Curve("a", x, y, Style("blue")),), "s")


def path(picture: Picture) -> list[tuple[float, float]]:
    """Corners of the blue line of the plot."""
    blue = [one for one in tree(picture).iter(f"{NAMESPACE}path") if one.get("class") == "s-blue"]
    drawn = [one.get("d") for one in blue if one.get("clip-path")]
    return [(float(a), float(b)) for a, b in re.findall(r"([-\d.]+) ([-\d.]+)", drawn[0])]


def frame(picture: Picture) -> tuple[float, float, float, float]:
    """Left, right, top, bottom of the plot."""
    rect = next(tree(picture).iter(f"{NAMESPACE}clipPath"))[0]
    x, y, width, height = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
    return x, x + width, y, y + height


def test_a_line_goes_where_its_values_say() -> None:
    picture = one([0.0, 5.0, 10.0], [0.0, 10.0, 5.0], span=(0.0, 10.0))
    left, right, top, bottom = frame(picture)
    found, middle = path(picture), (left + right) / 2
    assert np.allclose(found, [(left, bottom), (middle, top), (right, (top + bottom) / 2)], atol=0.11)


def test_a_logarithmic_axis_spaces_decades_evenly() -> None:
    picture = one([1.0, 10.0, 100.0], [0.0, 10.0, 0.0], scale="log", span=(1.0, 100.0))
    left, right, *_ = frame(picture)
    assert np.allclose([x for x, _ in path(picture)], [left, (left + right) / 2, right], atol=0.11)


def test_a_reversed_axis_runs_the_other_way() -> None:
    picture = one([0.0, 10.0], [0.0, 10.0], span=(10.0, 0.0))
    left, right, *_ = frame(picture)
    assert np.allclose([x for x, _ in path(picture)], [right, left], atol=0.11)


def test_gaps_interrupt_a_line_and_have_no_mark() -> None:
    values = np.array([1.0, np.nan, 3.0])
    assert polyline(values, values) == "M1 1M3 3"
    picture = Picture("t", Axis("x"), Axis("y"), (Points("a", [1.0, np.nan], [1.0, 2.0], (), Style("green")),), "s")
    paths = tree(picture).iter(f"{NAMESPACE}path")
    marks, swatch = (one.get("d") for one in paths if "f-green" in (one.get("class") or ""))
    assert marks.count("M") == swatch.count("M") == 1


def test_names_are_no_markup() -> None:
    picture = Picture(
        HOSTILE, Axis(HOSTILE, names=(HOSTILE,)), Axis(HOSTILE, HOSTILE),
        (Boxes(HOSTILE, [0.0], [1.0], [0.0], [1.0], (HOSTILE,)), Rule(0.5, HOSTILE)), HOSTILE, HOSTILE,
    )  # fmt: skip
    root = tree(picture)
    assert not list(root.iter(f"{NAMESPACE}script"))
    assert words(picture).count(HOSTILE) >= 6


@given(st.lists(st.tuples(st.floats(0, 700), st.floats(0, 300)), min_size=2, max_size=60))
def test_points_that_are_left_out_lie_on_the_line(points: list[tuple[float, float]]) -> None:
    x, y = np.array(points).T
    kept = np.flatnonzero(thinned(x, y))
    assert kept[0] == 0
    assert kept[-1] == len(x) - 1
    for first, last in zip(kept, kept[1:], strict=False):
        for n in range(first + 1, last):
            across, along = x[last] - x[first], y[last] - y[first]
            length = np.hypot(across, along)
            off = abs(across * (y[n] - y[first]) - along * (x[n] - x[first])) / length if length else 0.0
            assert off <= NEAR + 1e-9


def test_a_straight_line_needs_its_ends_and_a_corner_stays() -> None:
    x = np.linspace(0.0, 100.0, 101)
    assert thinned(x, 2 * x).sum() == 2
    assert np.flatnonzero(thinned(x, np.abs(x - 40))).tolist() == [0, 40, 100]


@given(numbers, numbers, st.floats(0, 1))
def test_scales_keep_ends_and_order(first: float, last: float, share: float) -> None:
    if abs(last - first) < 1e-3:
        return
    over = Scale(first, last, 50.0, 650.0)
    start, here, end = over.at([first, first + share * (last - first), last])
    assert (start, end) == (pytest.approx(50.0), pytest.approx(650.0))
    assert here == pytest.approx(50.0 + 600.0 * share, abs=1e-3)


def test_what_lies_far_outside_is_kept_near_and_nonsense_is_a_gap() -> None:
    over = Scale(1.0, 10.0, 0.0, 100.0, log=True)
    assert over.at([1e300])[0] <= FAR
    assert np.isnan(over.at([0.0, -1.0])).all()


@given(numbers, st.floats(1e-3, 1e6), st.integers(2, 12))
def test_ticks_are_even_within_the_axis_and_not_too_many(low: float, width: float, most: int) -> None:
    axis = Axis("x", span=(low, low + width))
    found = [value for value, _ in ticks(axis, scale(axis, (0, 1), 0, 100), most)]
    assert 1 <= len(found) <= most + 1
    assert all(low - 1e-6 * width <= value <= low + width + 1e-6 * width for value in found)
    if len(found) > 2:
        steps = np.diff(found)
        assert np.allclose(steps, steps[0], rtol=1e-6, atol=1e-9 * max(1.0, abs(low)))
    words = [said for _, said in ticks(axis, scale(axis, (0, 1), 0, 100), most)]
    if abs(low) < 1e3 * width:
        assert len(set(words)) == len(words)


@given(st.floats(1e-6, 1e6), st.floats(1.5, 1e9), st.integers(2, 12))
def test_ticks_of_a_logarithmic_axis_are_round(low: float, factor: float, most: int) -> None:
    axis = Axis("x", scale="log", span=(low, low * factor))
    found = [value for value, _ in ticks(axis, scale(axis, (0, 1), 0, 100), most)]
    assert all(low * 0.999 <= value <= low * factor * 1.001 for value in found)
    assert all(f"{value:.0e}"[0] in "125" for value in found)
    assert len(found) <= max(most + 1, 9)


@pytest.mark.parametrize("most, said", [
    (8.0, ["0", "2", "4", "6", "8"]), (0.02, ["0", "0.005", "0.01", "0.015", "0.02"]),
    (2e4, ["0", "5k", "10k", "15k", "20k"]), (1e7, ["0", "2.5M", "5M", "7.5M", "10M"]),
])  # fmt: skip
def test_ticks_are_written_short(most: float, said: list[str]) -> None:
    axis = Axis("x", span=(0.0, most))
    assert [words for _, words in ticks(axis, scale(axis, (0, 1), 0, 100), 4)] == said
