"""What the report draws is what its tables say: the same bounds, the slowest stretch, words for pipes."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from support.results import record
from warpbound.analysis import Settings
from warpbound.report import figures, html
from warpbound.report.figures.picture import Arrows, Boxes, Curve, Panels, Points, numbers
from warpbound.report.formatting import RESOURCE_WORDS
from warpbound.report.html.contents import WORDS
from warpbound.report.html.illustrations import WAITED, figures_of_view
from warpbound.report.verdict import verdict

NESTED = """
__global__ void until(const int *length, float *out) {
    float sum = 0.0f;
    for (int k = 0; k < length[blockIdx.x]; k++) sum += k;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


@pytest.fixture(scope="module")
def tiled() -> dict[str, Any]:
    """A tiled matrix product, whose warps wait for L2 once an iteration."""
    program = warpbound.compile(ROOT / "examples" / "matmul_tiled.cu", "rtx-4090")
    launch = warpbound.launch(ROOT / "examples" / "matmul_tiled.toml")
    settings = Settings(models=("volkov_2016",), views=html.VIEWS)
    return warpbound.analysis.analyze(program, warpbound.gpu("rtx-4090"), launch, settings)


def curve(picture: Any, name: str) -> Curve:
    layer = picture.named(name)
    assert isinstance(layer, Curve)
    return layer


@pytest.mark.cuda
def test_the_bounds_drawn_are_those_of_the_table(tiled: dict[str, Any]) -> None:
    (picture,) = figures_of_view("bounds", record(tiled))
    rates = {bound["resource"]: 1000.0 / bound["cycles_per_warp"] for bound in tiled["bounds"]}
    for resource in ("shared", "lsu"):
        name = f"bound: {RESOURCE_WORDS[resource].removeprefix('the ')}"
        assert numbers(curve(picture, name).y) == pytest.approx(rates[resource])
    latency = curve(picture, "bound: latency")
    resident = tiled["occupancy"]["warps_per_sm"]
    assert numbers(latency.y)[0] == pytest.approx(rates["latency"] / resident)


@pytest.mark.cuda
@pytest.mark.parametrize(("columns", "blocks"), [(0, 2), (512, 1)])
def test_the_occupancy_figure_counts_columns_of_tensor_memory(tiled: dict[str, Any], columns: int, blocks: int) -> None:
    block = tiled["figures"]["block"] | {"threads": 1024, "registers": 32, "tensor_columns": columns}
    entry = tiled | {"gpu": "b200", "figures": tiled["figures"] | {"block": block, "limits": {}}}
    (panels,) = figures_of_view("occupancy", record(entry))
    assert isinstance(panels, Panels)
    for picture in panels.pictures:
        here = picture.named("this kernel")
        assert isinstance(here, Points)
        assert numbers(here.y).tolist() == [32 * blocks]


@pytest.mark.cuda
def test_latency_crosses_the_tightest_bound_at_the_warps_that_the_verdict_names(tiled: dict[str, Any]) -> None:
    (picture,) = figures_of_view("bounds", record(tiled))
    tight = RESOURCE_WORDS[tiled["bottleneck"]].removeprefix("the ")
    latency, tightest = curve(picture, "bound: latency"), curve(picture, f"bound: {tight}")
    above = numbers(latency.y) >= numbers(tightest.y)
    assert numbers(latency.x)[int(np.argmax(above))] == np.ceil(tiled["warps_needed"])


@pytest.mark.cuda
def test_the_graph_shows_the_stretch_in_which_a_warp_waits_longest(tiled: dict[str, Any]) -> None:
    graph = next(one for one in figures_of_view("sass", record(tiled)) if one.title.startswith("Execution graph"))
    path = graph.named("longest path")
    assert isinstance(path, Arrows)
    longest = np.max(numbers(path.x1) - numbers(path.x0))
    waited = max(row["waited"] or 0.0 for row in tiled["sass"])
    assert longest >= waited > 200.0


@pytest.mark.cuda
def test_a_warp_in_time_names_what_it_waits_for(tiled: dict[str, Any]) -> None:
    timeline = next(one for one in figures_of_view("sass", record(tiled)) if one.title.startswith("One warp"))
    memory = timeline.named("waits for memory")
    assert isinstance(memory, Boxes)
    own = [(start, end) for start, end, kind in tiled["figures"]["timeline"] if kind == "waits for lsu"]
    assert numbers(memory.right - numbers(memory.left)).tolist() == [end - start for start, end in own]


def test_waiting_for_any_pipe_has_words() -> None:
    table = tomllib.loads((resources.files("warpbound.isa") / "families.toml").read_text("utf-8"))
    pipes: set[str] = set()
    for row in table.values():
        pipe = row.get("pipe", {}) if isinstance(row, dict) else {}
        pipes |= {pipe} if isinstance(pipe, str) else set(pipe.values())
    assert pipes - {"none"}
    assert {f"waits for {pipe}" for pipe in pipes - {"none"}} <= set(WAITED)


@pytest.mark.cuda
def test_words_are_explained_at_the_end_and_linked_from_the_top(tiled: dict[str, Any]) -> None:
    page = html.page([record(tiled)], "warpbound analyze")
    assert page.index('href="#words"') < page.index("Verdict") < page.index('id="words"')
    assert all(f"<dt>{word}</dt>" in page for word in WORDS)


@pytest.mark.cuda
@pytest.mark.parametrize("lengths, warned", [({"fill": "ones"}, False), ({}, True)])
def test_unknown_contents_that_decide_leave_no_time(
    lengths: dict[str, str], tmp_path: Path, *, warned: bool
) -> None:
    file = tmp_path / "until.toml"
    fill = "".join(f'{key} = "{value}"\n' for key, value in lengths.items())
    file.write_text(
        'kernel = "until"\ngrid = [64, 1, 1]\nblock = [128, 1, 1]\n'
        f'[[args]]\nname = "length"\ndtype = "i32"\nshape = [64]\n{fill}'
        '[[args]]\nname = "out"\ndtype = "f32"\nshape = [8192]\n'
    )
    program = warpbound.compile(NESTED, "t4")
    said = verdict(record(warpbound.analyze(program, "t4", warpbound.launch(file))))
    lines = [str(line) for line in said.renderables]
    reason = "depend on the contents of 'length', which is not given: give it by --arg"
    assert any(reason in line for line in lines) == warned
    assert any(line.startswith("Time ") for line in lines) != warned


def test_lines_are_named_by_their_distance_and_parts_too_small_to_see_are_left_out() -> None:
    base = np.uint64(0x7F4000001000)
    picture = figures.sector_map(base + np.arange(32, dtype=np.uint64) * np.uint64(128), 4)
    assert picture.y.names[:3] == ("first", "+128 B", "+256 B")
    stack = figures.latency_stack({"k": {"issue": 1.0, "dram": 999.0, "l1": 6.0}})
    assert [layer.name for layer in stack.layers] == ["waiting for DRAM", "waiting for L1"]
