"""The HTML page of a kernel that was run event by event: its figures and the numbers behind them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import html5lib
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

import warpbound
from support.paths import ROOT
from warpbound.analysis.settings import DEFAULT
from warpbound.analysis.sm_simulation import PICTURED, SHOWN, simulated
from warpbound.cli import main
from warpbound.report import html
from warpbound.report.figures.picture import Boxes, Curve, Picture, Points, numbers
from warpbound.report.html.illustrations import simulated_kernel
from warpbound.result.plain import plain
from warpbound.result.refusal import Error, Refusal
from warpbound.result.simulation import SimulatedKernel

pytestmark = pytest.mark.cuda


def entry(name: str, *views: str) -> dict[str, Any]:
    program = warpbound.compile(ROOT / "examples" / f"{name}.cu", "h200")
    launch = warpbound.launch(ROOT / "examples" / f"{name}.toml")
    return plain(simulated(program, "h200", launch, replace(DEFAULT, views=views)))


@pytest.fixture(scope="module")
def saxpy() -> dict[str, Any]:
    return entry("saxpy", "figures")


def test_figures_change_nothing_of_the_answer(saxpy: dict[str, Any]) -> None:
    bare = entry("saxpy")
    assert "figures" not in bare
    assert {key: saxpy[key] for key in bare} == bare


def test_the_simulated_point_stands_beside_the_prediction(saxpy: dict[str, Any]) -> None:
    picture = simulated_kernel(msgspec.convert(saxpy, SimulatedKernel))[0]
    assert isinstance(picture, Picture)
    here, mark = (layer for layer in picture.layers if isinstance(layer, Points))
    assert (here.name, mark.name) == ("this launch", "simulated")
    assert numbers(mark.x)[0] == numbers(here.x)[0] == 64
    # where blocks follow each other, as many warps per cycle as the time that the launch takes at this rate says
    assert numbers(mark.y)[0] == pytest.approx(numbers(here.y)[0] / saxpy["simulated_over_headline"], rel=0.05)
    assert picture.y.span is not None
    assert picture.y.span[1] > numbers(mark.y)[0]


def test_a_rate_above_every_line_is_in_the_plot(saxpy: dict[str, Any]) -> None:
    fast = saxpy | {"figures": saxpy["figures"] | {"at": (64, 500.0)}}
    picture = simulated_kernel(msgspec.convert(fast, SimulatedKernel))[0]
    assert isinstance(picture, Picture)
    assert picture.y.span == (0.0, pytest.approx(550.0))


def test_warps_in_time_are_those_of_the_run(saxpy: dict[str, Any]) -> None:
    _, in_time, resident, memory = simulated_kernel(msgspec.convert(saxpy, SimulatedKernel))
    assert isinstance(in_time, Picture)
    assert isinstance(resident, Picture)
    assert isinstance(memory, Picture)
    boxes = [layer for layer in in_time.layers if isinstance(layer, Boxes)]
    assert {one.name for one in boxes} == {"issues or computes", "waits for memory", "waits for something else"}
    assert max(float(numbers(one.right).max()) for one in boxes) == SHOWN
    (line,) = resident.layers
    assert isinstance(line, Curve)
    assert numbers(line.y).max() == 64
    assert float(numbers(line.x).max()) == pytest.approx(saxpy["outcome"]["cycles"], rel=0.01)
    area = float(np.sum(np.diff(numbers(line.x)) * numbers(line.y)[:-1]))
    assert area / saxpy["outcome"]["cycles"] == pytest.approx(saxpy["outcome"]["occupancy"], rel=0.01)
    told = len(saxpy["figures"]["latencies"])
    assert told == saxpy["outcome"]["memory"]["transactions"]  # of so short a run the log has all
    assert memory.title == f"What memory takes: the first {told} transactions"
    mean = float(np.mean(saxpy["figures"]["latencies"]))
    assert mean == pytest.approx(saxpy["outcome"]["memory"]["latency"], rel=0.01)


def test_a_long_run_tells_of_its_beginning_alone() -> None:
    found = entry("matmul_tiled", "figures")["figures"]
    assert len(found["latencies"]) < PICTURED
    last = max(end for _, _, end, _ in found["warps"])
    assert 0 < last <= SHOWN
    # up to there every warp does something at every cycle of its life: nothing is missing because the log was full
    for warp in {span[0] for span in found["warps"]}:
        own = sorted(span[1:3] for span in found["warps"] if span[0] == warp)
        assert all(end == begin for (_, end), (begin, _) in zip(own, own[1:], strict=False))


def test_the_page_has_every_figure_and_its_heading_once(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    words = ["simulate", "examples/saxpy.cu", "--launch", "examples/saxpy.toml", "--format", "html", "-o", str(out)]
    assert CliRunner().invoke(main, words, catch_exceptions=False).exit_code == 0
    text = out.read_text("utf-8")
    rest = text.replace(html.plotly_script(), "")  # which takes seconds to read
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(rest)
    captions = ["".join(one.itertext()) for one in tree.iter("figcaption")]
    assert [caption.partition(":")[0] for caption in captions] == ["Figure 1", "Figure 2", "Figure 3", "Figure 4"]
    body = " ".join("".join(part.itertext()) for part in tree.iter("main"))
    assert body.count("saxpy on NVIDIA H200") == 1
    assert "the analysis predicts" in body


def test_a_board_that_cannot_be_simulated_has_no_figure() -> None:
    assert simulated_kernel(Refusal(kernel="k", gpu="gtx280", error=Error("no.", "Choose another."))) == []
