"""Every number that a slider sets, against Python: what is shown and exported is what the same call answers."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

import warpbound
from support.page_states import MATMUL, entry, state
from support.paths import EXAMPLES
from warpbound import analysis, machine
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import Settings
from warpbound.errors import WarpboundError
from warpbound.isa.limits import MEANINGS, settable
from warpbound.model_inputs.answers import inputs_of
from warpbound.page import export
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.launch_sliders import launch_controls
from warpbound.page.quick_prediction import quick_seconds
from warpbound.page.slider_table import section_json, sections
from warpbound.page.state import Texts
from warpbound.page.views import VIEWS, draw_view
from warpbound.report.document import schema
from warpbound.residency import occupancy

pytestmark = pytest.mark.cuda


def analyzed(name: str, board: Any = "h200", **changes: Any) -> dict[str, Any]:
    program = warpbound.compile(EXAMPLES / f"{name}.cu", "h200")
    launch = warpbound.kernel_launch.launch(EXAMPLES / f"{name}.toml", **changes)
    return warpbound.analyze(program, board, launch)


def analyzed_views(name: str, board: machine.Gpu) -> dict[str, Any]:
    """With what the page shows of the code."""
    program = warpbound.compile(EXAMPLES / f"{name}.cu", "h200")
    launch = warpbound.kernel_launch.launch(EXAMPLES / f"{name}.toml")
    return analysis.analyze(program, board, launch, Settings(views=("sass", "figures")))


# ---------------------------------------------------------------- limits of an SM


@pytest.mark.parametrize("name", [name for name in MEANINGS if name in settable(machine.gpu("h200").limits)])
def test_occupancy_with_a_limit_moved_is_that_of_the_changed_machine(service: AnalysisService, name: str) -> None:
    own = settable(machine.gpu("h200").limits)[name]
    for value in {max(MEANINGS[name].least, own // 2), 2 * own}:
        asked = state(
            "bare", "occupancy", **{f"gpu__{name}": float(value), "block__threads": 200, "block__registers": 77}
        )
        board = machine.override(machine.gpu("h200"), {name: value})
        try:
            held = occupancy(board, 200, 77, 0)
            start = f"{held.blocks_per_sm} blocks and {held.warps_per_sm} of {held.max_warps_per_sm} warps"
        except WarpboundError as error:
            start = error.reason
        for found in (service.analyze(asked), service.estimate(asked)):
            assert draw_view("occupancy", found, dict(asked.values)).words[0].startswith(start), value


def test_the_whole_analysis_follows_a_limit(service: AnalysisService) -> None:
    asked = state(MATMUL, gpu__max_warps_per_sm=32.0)
    board = machine.override(machine.gpu("h200"), {"max_warps_per_sm": 32})
    expected = analyzed("matmul_tiled", board)
    found = service.analyze(asked)
    assert entry(found)["time_s"] == pytest.approx(expected["time_s"])
    assert entry(found)["occupancy"] == expected["occupancy"]
    assert entry(found)["occupancy"]["warps_per_sm"] == 32
    assert entry(found)["figures"]["limits"] == {"max_warps_per_sm": 32.0}


# ---------------------------------------------------------------- the launch


@pytest.mark.parametrize(
    ("values", "changes"),
    [
        ({"launch__grid__x": 32, "launch__grid__y": 16}, {"grid": (32, 16)}),
        ({"launch__smem": 40000}, {"smem": 40000}),
        ({"launch__arg__n": 1024}, {"args": {"n": 1024}}),
    ],
)  # fmt: skip
def test_a_launch_by_sliders_is_that_of_the_command_line(
    service: AnalysisService, values: dict[str, float], changes: dict[str, Any]
) -> None:
    used, _ = launch_controls(service.own(state(MATMUL)).launch)
    keys = {key.replace("__", ".") for key in values}
    assert keys <= {one.key for one in used}
    found = service.analyze(state(MATMUL, **values))
    expected = analyzed("matmul_tiled", **changes)
    assert entry(found)["time_s"] == pytest.approx(expected["time_s"])
    assert entry(found)["launch"] == expected["launch"]
    assert [one["key"] for one in entry(found)["set_by_hand"]] == sorted(keys)


def test_block_size_by_slider(service: AnalysisService) -> None:
    asked = state("example:saxpy", "occupancy", launch__block__x=512, launch__grid__x=1000)
    expected = analyzed("saxpy", grid=(1000,), block=(512,))
    found = service.analyze(asked)
    assert entry(found)["time_s"] == pytest.approx(expected["time_s"])
    assert draw_view("occupancy", found, {}).words[0].startswith(f"{64 * 32 // 512} blocks and 64 of 64 warps")


@pytest.mark.parametrize(
    "values", [{"launch__grid__x": 32768}, {"launch__block__x": 128}, {"gpu__max_blocks_per_sm": 2}]
)
def test_while_moving_waves_and_residency_are_counted_anew(service: AnalysisService, values: dict[str, float]) -> None:
    """Saxpy's warps do the same whatever the grid, as long as caches keep nothing: the estimate is the analysis."""
    own, asked = state(), state(**values)
    service.own(own)
    quick, exact = service.estimate(asked), service.analyze(asked)
    assert quick.estimated
    assert not exact.estimated
    assert quick_seconds(quick) == pytest.approx(entry(exact)["time_s"], rel=0.03)
    assert quick_seconds(quick) != pytest.approx(entry(service.own(own))["time_s"], rel=0.1)


def test_a_narrower_pipe_slows_what_it_binds_at_once_and_at_rest(service: AnalysisService) -> None:
    own, asked = state(MATMUL), state(MATMUL, gpu__fma_lanes=8.0)
    assert entry(service.own(own))["bottleneck"] != "fma"
    quick, exact = service.estimate(asked), service.analyze(asked)
    assert entry(exact)["bottleneck"] == "fma"
    assert quick_seconds(quick) == pytest.approx(entry(exact)["time_s"], rel=0.03)
    expected = analyzed("matmul_tiled", machine.override(machine.gpu("h200"), {"fma_lanes": 8.0}))
    assert entry(exact)["time_s"] == pytest.approx(expected["time_s"])
    parts = [section_json(part) for part in sections(service.slider_defaults(own), own)]
    assert {control["origin"] for part in parts for control in part["more"]} >= {"", "assumed", "from the architecture"}


def test_an_argument_waits_until_it_rests(service: AnalysisService) -> None:
    service.own(state())
    quick = service.estimate(state(launch__arg__n=1000000))
    assert "Arguments act when you release" in " ".join(draw_view("verdict", quick, {}).words)
    exact = service.analyze(state(launch__arg__n=1000000))
    assert entry(exact)["time_s"] == pytest.approx(analyzed("saxpy", args={"n": 1000000})["time_s"])


def test_a_launch_that_cannot_be_is_a_sentence(service: AnalysisService) -> None:
    for values in (
        {"launch__block__x": 2048},
        {"launch__grid__x": 0},
        {"launch__smem": 1e9},
        {"launch__grid__x": 1e300},
    ):
        with pytest.raises(WarpboundError):
            service.analyze(state(**values))
        with pytest.raises(WarpboundError):
            service.estimate(state(**values))


# ---------------------------------------------------------------- the kernel


def test_tables_and_exports_follow_the_kernels_numbers(service: AnalysisService) -> None:
    """Four times the bytes: what JSON and report say is what the bounds say of that work."""
    own = service.own(state())
    assert own.facts is not None
    read = own.facts.work.memory.dram_bytes_read
    asked = state(work__memory__dram_bytes_read=4 * read)
    found = service.analyze(asked)
    taken = json.loads(export.as_file(found, asked))["results"][0]
    assert taken["time_s"] == pytest.approx(quick_seconds(service.estimate(asked)))
    assert taken["time_s"] > 2 * entry(own)["time_s"]
    assert taken["memory"]["dram_bytes_read"] == pytest.approx(4 * entry(own)["memory"]["dram_bytes_read"])
    assert taken["memory"]["l2_hit_rate"] is None
    assert taken["memory"]["l1_sectors_load"] == entry(own)["memory"]["l1_sectors_load"]
    (mark,) = taken["set_by_hand"]
    assert mark == {"key": "work.memory.dram_bytes_read", "label": "Read from DRAM", "unit": "B per warp",
                    "value": 4 * read, "own": read}  # fmt: skip
    said = f"set by hand: Read from DRAM {4 * read:.6g} B per warp ({read:.6g})"
    assert said in taken["confidence"]["assumed"]
    jsonschema.Draft202012Validator(schema("analyze")).validate(json.loads(export.as_file(found, asked)))
    report = export.as_report(found, asked)
    assert said in report
    assert "Set by hand: Read from DRAM" in report
    assert export.described(found).endswith(f"Set by hand: Read from DRAM {4 * read:.6g} B per warp ({read:.6g}).")


def test_waits_pipes_and_warps_set_by_hand(service: AnalysisService) -> None:
    own = service.own(state(MATMUL))
    assert own.facts is not None
    work = own.facts.work
    slow = entry(service.analyze(state(MATMUL, work__parts__shared=3 * work.parts["shared"])))
    assert slow["latency"]["cycles"] == pytest.approx(work.latency + 2 * work.parts["shared"])
    assert sum(slow["latency"]["parts"].values()) == pytest.approx(slow["latency"]["cycles"])
    lines = sum(row["parts"].get("shared", 0.0) for row in slow["lines"])
    assert lines == pytest.approx(3 * sum(row["parts"].get("shared", 0.0) for row in entry(own)["lines"]))
    busy = entry(service.analyze(state(MATMUL, work__units__fma=10 * work.units["fma"])))
    assert busy["bottleneck"] == "fma"
    few = entry(service.analyze(state(MATMUL, work__warps_per_sm=20)))
    assert few["occupancy"]["warps_per_sm"] == 32  # whole blocks
    assert few["occupancy"]["next_step"] is None
    assert few["figures"]["curve"]["here"] == 32
    assert few["time_s"] > entry(own)["time_s"]


def test_registers_and_shared_memory_of_a_block(service: AnalysisService) -> None:
    for values, held in (
        ({"block__registers": 128.0}, occupancy("h200", 256, 128, 0)),
        ({"block__shared_bytes": 50000.0}, occupancy("h200", 256, 16, 50000)),
    ):
        found = service.analyze(state("example:saxpy", "occupancy", **values))
        assert entry(found)["occupancy"]["warps_per_sm"] == held.warps_per_sm
        assert entry(found)["occupancy"]["limiters"] == list(held.limiters)
        assert (
            draw_view("occupancy", found, {})
            .words[0]
            .startswith(f"{held.blocks_per_sm} blocks and {held.warps_per_sm} ")
        )
        program = warpbound.compile(EXAMPLES / "saxpy.cu", "h200")
        named = {key.removeprefix("block__"): round(value) for key, value in values.items()}
        launch = warpbound.kernel_launch.launch(EXAMPLES / "saxpy.toml")
        expected = case_of(replace(program, **named), machine.gpu("h200"), launch, Settings()).residency
        assert expected.warps_per_sm == held.warps_per_sm


def test_a_kernel_without_a_launch_has_a_block_to_set(service: AnalysisService) -> None:
    text = Texts().source("__global__ void f(float *x) { x[threadIdx.x] *= 2; }\n")
    found = service.analyze(state(text, "occupancy", block__threads=64))
    held = occupancy("h200", 64, entry(found)["program"]["registers"], 0)
    assert entry(found)["occupancy"]["warps_per_sm"] == held.warps_per_sm
    assert "blocks of 64 threads, set by hand" in entry(found)["confidence"]["assumed"]


def test_symbols_of_a_model_reach_its_row_and_its_figure(service: AnalysisService) -> None:
    found = service.analyze(state(view="mwp", mwp__mem_latency=900.0, mwp__freq=1000.0))
    model = entry(found)["models"]["hong_kim_2009"]
    assert model["reason"].startswith("set by hand: ")
    assert model != entry(service.own(state()))["models"]["hong_kim_2009"]
    inputs = entry(found)["figures"]["inputs"]["hong_kim_2009"]
    assert (inputs["mem_latency"], inputs["freq"]) == (900.0, 1e9)
    untouched = entry(service.own(state()))["models"]["volkov_2016"]
    assert entry(found)["models"]["volkov_2016"] == untouched


def test_a_number_stands_where_others_that_are_set_put_it(service: AnalysisService) -> None:
    """Of the kernel and of models: what follows from the board as set, until it is set itself."""
    asked = state(view="x", gpu__dram_latency=1300.0, work__parts__dram=5000.0, x__latency=50.0)
    there = {one.key: one.value for part in sections(service.slider_defaults(asked), asked) for one in part.controls}
    moved = service.analyze(state(gpu__dram_latency=1300.0))
    assert moved.facts is not None
    assert there["work.parts.dram"] == pytest.approx(moved.facts.work.parts["dram"])
    assert there["gpu.dram_latency"] == machine.gpu("h200").parameters["dram_latency"].value
    slow = service.analyze(replace(asked, values=asked.values[:-1]))
    assert slow.facts is not None
    expected = inputs_of("x_model_2016", slow.facts)
    assert there["x.latency"] == pytest.approx(expected.latency)
    (words,) = [one.words for one in service.analyze(asked).changes if one.key == "x.latency"]
    (board,) = [one.words for one in service.analyze(asked).changes if one.key == "gpu.dram_latency"]
    assert board == "DRAM latency 1300 cycle (686.5)"
    assert words == f"Memory latency, L 50 cycle ({expected.latency:.6g})"


def test_numbers_set_to_their_own_change_nothing(service: AnalysisService) -> None:
    own = service.own(state())
    assert own.facts is not None
    work = own.facts.work
    values = {f"work__parts__{cause}": cycles for cause, cycles in work.parts.items()}
    values |= {f"work__units__{unit}": cycles for unit, cycles in work.units.items()}
    found = service.analyze(state(**values, work__warps_per_sm=own.facts.warps_per_sm or 0.0))
    for name in ("time_s", "bounds", "models", "stalls"):
        assert entry(found)[name] == entry(own)[name], name


@pytest.mark.parametrize("source", ["example:reduction", "bare", "paper:volkov-vector-add/0"])
def test_every_view_lists_its_numbers_once_and_within_reach(service: AnalysisService, source: str) -> None:
    for view in VIEWS:
        if view == "camping" and source.startswith("example"):
            continue  # executes it
        asked = state(source, view, "gtx980" if source.startswith("paper") else "h200")
        every = [one for part in sections(service.slider_defaults(asked), asked) for one in part.controls]
        assert len({one.key for one in every}) == len(every), view
        assert len({one.title for one in every}) == len(every), view
        for one in every:
            assert one.low <= one.value <= one.high, one
        if source.startswith("example") and view != "partitions":  # a matrix alone
            assert {"launch.grid.x", "gpu.max_warps_per_sm"} <= {one.key for one in every}, view


# ---------------------------------------------------------------- memory partitions


@pytest.mark.parametrize("view", ["timeline", "sass"])
def test_timeline_and_machine_code_follow_a_latency_at_rest_and_say_so_before(
    service: AnalysisService, view: str
) -> None:
    own, asked = state(view=view), state(view=view, gpu__dram_latency=1400.0)
    before = service.own(own)
    said = "State before the last change; the analysis follows when you release the slider."
    assert draw_view(view, service.estimate(asked), {}).words == (said,)
    found = service.analyze(asked)
    assert said not in draw_view(view, found, {}).words
    ends = [max(end for _, end, _ in entry(one)["figures"]["timeline"]) for one in (before, found)]
    waited = [max(row["issue"] or 0.0 for row in entry(one)["sass"]) for one in (before, found)]
    expected = analyzed_views("saxpy", machine.override(machine.gpu("h200"), {"dram_latency": 1400.0}))
    assert entry(found)["sass"] == expected["sass"]
    assert ends[1] > ends[0] + 300
    assert waited[1] > waited[0] + 300
    by_hand = service.analyze(state(view=view, work__units__fma=100.0))
    assert "This view ignores kernel numbers that are set by hand" in draw_view(view, by_hand, {}).words[0]
