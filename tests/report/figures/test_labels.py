"""Words beside marks touch no curve: measured in the drawn SVG, with its own coordinates."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from support.figure_gallery import CACHED, LAUNCH
from warpbound.models.x_model_2016 import Inputs
from warpbound.report import figures
from warpbound.report.figures.labels import AT_END, BESIDE, Box, Plot, _box, all_lifted, labelled, lifted, words_of
from warpbound.report.figures.picture import Curve, Points, Rule, narrowed, numbers
from warpbound.report.figures.theme import LIGHT
from warpbound.report.figures.traces import rule_text

LINE_PX = 16.0  # that words may reach beyond a plot a little narrower than they were measured on
LETTER, ABOVE, BELOW = 6.5, 10.0, 3.0  # px of words of 13 px

MACHINES = {
    "the paper's": CACHED,
    "few threads": replace(CACHED, threads=60.0),
    "many threads": replace(CACHED, threads=400.0),
    "little intensity": replace(CACHED, intensity=20.0),
    "much locality": replace(CACHED, alpha=12.0),
    "no cache": Inputs(105.0, 1.0, 128.0, 96.0, 600.0, 0.6),
    "a slow memory": replace(CACHED, latency=2000.0, ms_throughput=0.1),
}


def boxes(drawing: str, start: str) -> dict[str, tuple[float, float, float, float]]:
    """Words that begin so -> left, right, top, bottom, in the file's coordinates."""
    found = {}
    for one in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text"):
        words = "".join(one.itertext())
        if words.startswith(start):
            x, y, long = float(one.attrib["x"]), float(one.attrib["y"]), LETTER * len(words)
            anchor = re.search(r"text-anchor[=:]\"?(\w+)", ElementTree.tostring(one, "unicode"))
            left = x - {"end": long, "middle": long / 2}.get(anchor[1] if anchor else "", 0.0)
            found[words] = (left, left + long, y - ABOVE, y + BELOW)
    return found


def curves_of(drawing: str) -> list[list[tuple[float, float]]]:
    """Corners of the thick lines."""
    paths = re.findall(r'<path[^>]*stroke-width="2.6"[^>]*clip-path[^>]* d="([^"]+)"', drawing)
    return [[(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", path)] for path in paths]


def touched(box: tuple[float, float, float, float], line: list[tuple[float, float]]) -> bool:
    left, right, top, bottom = box
    for (x0, y0), (x1, y1) in pairwise(line):
        share = np.linspace(0.0, 1.0, 50)
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        if ((x > left) & (x < right) & (y > top) & (y < bottom)).any():
            return True
    return False


@pytest.mark.parametrize("machine", MACHINES)
def test_no_label_of_an_x_graph_touches_its_curves(machine: str) -> None:
    drawing = figures.svg(figures.x_graph(MACHINES[machine]))
    labels, lines = boxes(drawing, "k = "), curves_of(drawing)
    assert len(lines) == 2
    assert labels
    for words, box in labels.items():
        assert not any(touched(box, line) for line in lines), words
    every = list(labels.values())
    for number, (a, b, c, d) in enumerate(every):
        assert all(b < e or a > f or d < g or c > h for e, f, g, h in every[:number])


@pytest.mark.parametrize("size", [(208.0, 242.0), (222.0, 242.0)], ids=["report", "page"])
@pytest.mark.parametrize("machine", MACHINES)
def test_on_a_phone_no_words_touch_a_curve(machine: str, size: tuple[float, float]) -> None:
    """Words of marks off both curves and off each other, on the plots that 390 pixels leave."""
    graph = figures.x_graph(MACHINES[machine])
    assert graph.y.span is not None
    assert graph.x.span is not None
    curves = [one for one in graph.layers if isinstance(one, Curve) and one.name]
    plot = Plot.of(graph.x.span, graph.y.span, curves, [], size)
    shown = [one for one in narrowed(graph).layers if isinstance(one, Points)]
    found = {}
    for one in shown:
        places = [one.place] * len(one.texts) if isinstance(one.place, str) else one.place
        for words, place, x, y in zip(one.texts, places, np.ravel(one.x), np.ravel(one.y), strict=True):
            (across,), (up,) = plot.place(np.array([x]), np.array([y]))
            if words:
                found[words] = _box((across, up), words, place, BESIDE if one.name else AT_END)
    assert all(words.startswith("k = ") for words in found)
    assert sum(words.endswith("reached") for words in found) == 1
    for number, (words, (left, right, low, high)) in enumerate(found.items()):
        assert left >= -LINE_PX
        assert right <= size[0] + LINE_PX
        for x, y in plot.curves:
            assert not touched((left, right, low, high), list(zip(x.tolist(), y.tolist(), strict=True))), words
        for a, b, c, d in list(found.values())[:number]:
            assert right < a or left > b or high < c or low > d, words


def test_a_wide_screen_and_a_phone_show_the_same_marks() -> None:
    graph = figures.x_graph(CACHED)
    wide, narrow = ({one.name: one for one in layers if isinstance(one, Points) and one.name}
                    for layers in (graph.layers, graph.narrow))  # fmt: skip
    assert wide.keys() == narrow.keys()
    for name, one in wide.items():
        assert np.array_equal(numbers(one.x), numbers(narrow[name].x))
        assert np.array_equal(numbers(one.y), numbers(narrow[name].y))
    plain = figures.mwp_and_cwp(LAUNCH, np.arange(1.0, 65.0))
    assert narrowed(plain) is plain


def test_labels_keep_clear_of_the_words_of_lines() -> None:
    """A slow memory: the state lies in the corner, beside the words of the line of pi."""
    graph = figures.x_graph(Inputs(64.0, 0.4, 3.0, 6.0, 400.0, 0.02))
    empty = Plot.of((0.0, 64.0), graph.y.span or (0.0, 1.0), [], [])
    taken = [words_of(one, empty) for one in graph.layers if isinstance(one, Rule)]
    (label,) = [one for one in graph.layers if isinstance(one, Points) and any(one.texts)]
    (left,), (up,) = empty.place(np.array(label.x), np.array(label.y))
    side = label.place if isinstance(label.place, str) else label.place[0]
    box = _box((left, up), label.texts[0], side, BESIDE if label.name else AT_END)
    assert len(taken) == 3
    assert all(box[1] < a or box[0] > b or box[3] < c or box[2] > d for a, b, c, d in taken)


def test_words_stay_where_they_are_wanted_if_nothing_is_there() -> None:
    marks = Points("a", [50.0], [0.5], ("here",), None, "top right")
    plot = Plot.of((0.0, 100.0), (0.0, 1.0), [Curve("c", [0.0, 100.0], [0.5, 0.5])], [])
    assert labelled(marks, plot, []) == [replace(marks, place=("top right",))]


def test_words_go_to_another_side_and_then_farther_off() -> None:
    marks = Points("a", [50.0], [0.5], ("here",), None, "top right")
    rising = Curve("c", [0.0, 100.0], [0.0, 1.0])
    (beside,) = labelled(marks, Plot.of((0.0, 100.0), (0.0, 1.0), [rising], []), [])
    assert isinstance(beside, Points)
    assert beside.place != ("top right",)
    bundle = [Curve("c", [0.0, 100.0], [at, at]) for at in np.linspace(0.38, 0.62, 9)]
    line, words, left = labelled(marks, Plot.of((0.0, 100.0), (0.0, 1.0), bundle, []), [])
    assert isinstance(words, Points)
    assert isinstance(left, Points)
    assert (words.texts, left.texts, words.name, line.name) == (("here",), ("",), "", "")  # type: ignore[union-attr]
    (left_px,), (up,) = Plot((0.0, 100.0), (0.0, 1.0)).place(np.ravel(words.x), np.ravel(words.y))
    _, _, low, high = _box((float(left_px), float(up)), "here", str(words.place), AT_END)
    assert high < 0.38 * 280 or low > 0.62 * 280


def test_words_keep_off_other_words_and_off_rules_where_they_can() -> None:
    marks = Points("a", [50.0], [0.5], ("here",), None, "top right")
    plot = Plot.of((0.0, 100.0), (0.0, 1.0), [], [Rule(53.0, "rule")])
    (one,) = labelled(marks, plot, [])
    assert isinstance(one, Points)
    assert one.place == ("top left",)
    taken: list[Box] = []
    labelled(marks, plot, taken)
    (other,) = labelled(marks, plot, taken)
    assert isinstance(other, Points)
    assert other.place == ("bottom left",)


def test_words_of_an_upright_rule_begin_above_what_crosses_them() -> None:
    plot = Plot.of((0.0, 100.0), (0.0, 1.0), [Curve("c", [0.0, 100.0], [0.05, 0.05])], [])
    assert lifted(Rule(50.0, "this launch"), plot).lift == pytest.approx(0.05, abs=0.03)
    assert lifted(Rule(50.0, "this launch"), replace(plot, curves=())).lift == 0.0
    everywhere = Plot.of((0.0, 100.0), (0.0, 1.0), [Curve("c", [0.0, 100.0], [y, y]) for y in (0.2, 0.4, 0.6, 0.8)], [])
    assert lifted(Rule(50.0, "longer than what is free"), everywhere).lift == 0.0
    level = Rule(0.5, "level", along="x")
    assert lifted(level, plot) == level


def test_words_of_rules_keep_off_each_other() -> None:
    """At the right of its line where the left is taken; of a level one aside of a curve."""
    plot = Plot.of((0.0, 100.0), (0.0, 1.0), [], [])
    named, taken = all_lifted([Rule(50.0, "x" * 39), Rule(51.0, "x" * 39), Rule(51.5, "no room")], plot)
    assert [(one.side, one.lift) for one in named] == [("left", 0.0), ("right", 0.0), ("left", 0.0)]
    assert taken == [words_of(one, plot) for one in named]
    low, high = all_lifted([Rule(50.0, "psi"), Rule(51.0, "pi")], plot)[0]
    assert (low.lift, high.side) == (0.0, "left")
    assert high.lift > 0.07
    falling = Curve("c", [0.0, 100.0], [0.9, 0.3])
    level = lifted(Rule(0.5, "plateau", along="x"), Plot.of((0.0, 100.0), (0.0, 1.0), [falling], []))
    assert level.share != Rule(0.5, "").share
    text = rule_text(named[1], figures.x_graph(CACHED), ("x", "y"), LIGHT)
    assert (text["xanchor"], text["yanchor"]) == ("left", "bottom")


def test_the_launch_of_mwp_and_cwp_is_named_off_the_curves() -> None:
    drawing = figures.svg(figures.mwp_and_cwp(LAUNCH, np.arange(1.0, 65.0)))
    (found,) = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>launch: N', drawing)
    (thick,) = re.findall(r'<path[^>]*stroke-width="3.2"[^>]*clip-path[^>]* d="([^"]+)"', drawing)
    corners = np.array([[float(a), float(b)] for a, b in re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", thick)])
    assert float(found[1]) < np.interp(float(found[0]), *corners.T)  # begins above MWP, which lies low
