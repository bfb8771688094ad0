"""What the views show is what Python callers get: the same functions on the same numbers, and no view refuses."""

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from support.page_states import entry
from warpbound import compile, launch, machine
from warpbound.errors import InputError
from warpbound.model_inputs.answers import inputs_of
from warpbound.models import hong_kim_2009, x_model_2016
from warpbound.models.volkov_2016 import mixes
from warpbound.page import kernel_sources
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.quick_prediction import quick_curve, quick_seconds
from warpbound.page.slider_estimates import with_kernel
from warpbound.page.slider_table import sections
from warpbound.page.slider_updates import Canvas, LiveRequest, answer
from warpbound.page.sliders import gpu_controls, set_gpu_controls
from warpbound.page.state import State
from warpbound.page.subject import ARGUMENTS
from warpbound.page.views import VIEWS, draw_view, second_picture
from warpbound.page.views.camping import camping_controls
from warpbound.page.views.latency_hiding import BARE_MIX
from warpbound.page.work_overrides import work_controls
from warpbound.report import figures
from warpbound.report.figures.picture import Curve, Picture, Points
from warpbound.report.formatting import RESOURCE_WORDS
from warpbound.report.html.illustrations import figures_of_view
from warpbound.residency import occupancy
from warpbound.time_model.parameter_fallbacks import parameter_fallbacks

pytestmark = pytest.mark.cuda
SOURCES = ("example:saxpy", "example:reduction", "bare", "paper:hong-kim-sepia/0", "paper:volkov-vector-add/0")


def picture(state: State, service: AnalysisService) -> Picture:
    found = draw_view(state.view, service.analyze(state), dict(state.values)).picture
    assert isinstance(found, Picture)
    return found


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_of_every_source_draws_or_says_why_not(service: AnalysisService, source: str, view: str) -> None:
    subject = service.analyze(State(source=source, gpu="gtx280" if source.startswith("paper") else "h200"))
    found = draw_view(view, subject, {})
    assert found.picture is not None or found.words or view in ("sass", "verdict")  # tables below
    if found.picture is not None:
        assert figures.spec(found.picture)["data"]
    again = second_picture(view, subject, {})
    assert again is None or figures.spec(again)["data"]
    for control in VIEWS[view].controls(subject):
        assert control.low <= control.value <= control.high, control.key


@pytest.mark.parametrize("view", VIEWS)
def test_every_slider_moves_something_without_a_fault(service: AnalysisService, view: str) -> None:
    subject = service.analyze(State(source="bare"))
    still = draw_view(view, subject, {})
    for control in VIEWS[view].controls(subject):
        for value in (control.low, control.high):
            moved = draw_view(view, subject, {control.key: value})
            assert moved.picture is not None or moved.words, (control.key, value)
    assert draw_view(view, subject, {}).words == still.words


def test_while_moving_the_time_is_that_of_the_analysis(service: AnalysisService) -> None:
    subject = service.analyze(State(source="example:saxpy"))
    assert subject.entry is not None
    assert quick_seconds(subject) == pytest.approx(entry(subject)["time_s"], rel=1e-9)
    warps, rate = quick_curve(subject)
    expected = entry(subject)["figures"]["curve"]["predicted"]["warpbound"]
    assert warps.tolist() == pytest.approx(expected[0])
    assert rate.tolist() == pytest.approx(expected[1], rel=1e-9)


def test_bandwidth_needs_no_estimate(service: AnalysisService) -> None:
    state = State(source="example:saxpy", values=(("gpu.dram_achievable_bandwidth", 2000.0),))
    exact, quick = service.analyze(state), service.estimate(state)
    assert quick.estimated
    assert exact.entry is not None
    assert quick_seconds(quick) == pytest.approx(entry(exact)["time_s"], rel=1e-6)
    assert entry(exact)["time_s"] > 1.5 * entry(service.analyze(replace(state, values=())))["time_s"]


def test_a_latency_is_estimated_near_what_the_schedule_gives(service: AnalysisService) -> None:
    state = State(source="example:saxpy", values=(("gpu.dram_latency", 1373.0),))
    exact, quick = service.analyze(state), service.estimate(state)
    assert exact.facts is not None
    assert quick.facts is not None
    assert quick.facts.work.latency == pytest.approx(exact.facts.work.latency, rel=0.1)
    assert quick.facts.work.latency > 1.5 * service.estimate(State(source="example:saxpy")).facts.work.latency  # type: ignore[union-attr]


def test_hiding_shows_the_bounds_of_the_report(service: AnalysisService) -> None:
    state = State(source="example:reduction", view="hiding")
    own_entry = service.analyze(state).kernel
    assert own_entry is not None
    shown = {one.name: one for one in picture(state, service).layers if isinstance(one, Curve)}
    (own,) = figures_of_view("bounds", own_entry)
    assert isinstance(own, Picture)
    named = {one.name: one for one in own.layers if isinstance(one, Curve) and one.name.startswith("bound: ")}
    assert {name for name in shown if name.startswith("bound: ")} == set(named)
    for name, line in named.items():
        assert np.asarray(shown[name].y).tolist() == pytest.approx(np.asarray(line.y).tolist(), nan_ok=True), name
    words = draw_view("hiding", service.analyze(state), {}).words[0]
    assert RESOURCE_WORDS[str(own_entry.bottleneck)] in words
    assert np.asarray(shown["volkov_2016"].y).tolist() == pytest.approx(
        own_entry.figures.curve.predicted["volkov_2016"][1]  # type: ignore[union-attr]
    )


def test_sliders_alone_are_volkovs_mix(service: AnalysisService) -> None:
    state = State(source="bare", view="hiding", values=(("mix.alu_per_op", 48.9), ("mix.warps", 20.0)))
    mix = replace(BARE_MIX, alu_per_op=48.9, warps=20.0)
    star = picture(state, service).named("these sliders")
    assert isinstance(star, Points)
    assert star.y == [pytest.approx(float(mixes.predict(mix).rate))]
    words = draw_view("hiding", service.analyze(state), dict(state.values)).words[0]
    assert f"{float(mixes.warps_needed(mix).total):.1f} warps would hide" in words
    assert words.startswith("Latency binds")


def test_the_papers_graphs_take_inputs_from_adapters_and_sliders(service: AnalysisService) -> None:
    state = State(source="example:reduction", view="x", values=(("x.intensity", 40.0),))
    subject = service.analyze(state)
    assert subject.facts is not None
    x = replace(inputs_of("x_model_2016", subject.facts), intensity=40.0)
    said = draw_view("x", subject, dict(state.values)).words[0]
    assert f"k = {float(x_model_2016.reached(x)):.3g} of" in said
    terms = hong_kim_2009.terms(replace(inputs_of("hong_kim_2009", subject.facts), mem_latency=2000.0))
    said = draw_view("mwp", subject, {"mwp.mem_latency": 2000.0}).words[0]
    assert f"MWP = {float(terms.mwp):.3g}, CWP = {float(terms.cwp):.3g}" in said


def test_what_dominates_is_what_the_model_says(service: AnalysisService) -> None:
    """By the equation that its time is taken from, not by the greater of MWP and CWP alone."""
    for source, changed, said in (
        ("example:saxpy", {}, "add up"),  # CWP = N < MWP: Equation 22
        ("bare", {}, "memory dominates"),
        ("bare", {"mwp.comp_insts": 3000.0}, "computation dominates"),
    ):
        assert said in draw_view("mwp", service.analyze(State(source=source, view="mwp")), changed).words[0]


def test_a_timeline_is_told_in_a_sentence(service: AnalysisService) -> None:
    subject = service.analyze(State(source="example:saxpy", view="timeline"))
    assert subject.entry is not None
    events = entry(subject)["figures"]["timeline"]
    for_memory = sum(end - start for start, end, kind in events if kind == "waits for lsu")
    issued = sum(kind == "issues" for _, _, kind in events)
    said = draw_view("timeline", subject, {}).words[0]
    assert said.startswith(f"In its first {events[-1][1]:.0f} cycles one warp issues {issued} instructions and waits ")
    assert f"{for_memory:.0f} cycles for memory" in said


def test_large_rates_have_one_prefix(service: AnalysisService) -> None:
    said = draw_view("roofline", service.analyze(State(source="bare", view="roofline")), {"roof.intensity": 4.0}).words[
        0
    ]
    assert re.search(r"\b18.2 Tflop/s can be attained", said)


def test_the_camping_band_is_that_of_the_kernel_itself(service: AnalysisService) -> None:
    """As `campprof predict KERNEL.cu --launch` has it, application line included; sliders then change it."""
    from warpbound.camping.kernel_counters import executed
    from warpbound.camping.prediction import Measured, benchmarks_of, predicted

    board = machine.gpu("gtx280")
    program = compile(kernel_sources.example_file("transpose_naive"), "t4")
    ran = executed(program, launch(kernel_sources.example_file("transpose_naive").with_suffix(".toml")), board)
    own = Measured(ran.counters, ran.grid, ran.block, ran.warps, ran.time)
    expected = predicted(own, board, benchmarks_of(board))
    state = State(source="example:transpose_naive", view="camping")
    shown = {one.name: one for one in picture(state, service).layers if isinstance(one, Curve)}
    assert np.asarray(shown["application"].y).tolist() == pytest.approx([1e3 * t for t in expected.application_s])
    worst = next(one for name, one in shown.items() if name.startswith("worst"))
    assert np.asarray(worst.y).tolist() == pytest.approx([1e3 * t for t in expected.worst_s])
    words = draw_view("camping", service.analyze(state), {}).words
    assert f"Degree of camping {expected.degree:.2f}" in words[0]
    faster = draw_view("camping", service.analyze(state), {"camp.time_ms": 500.0 * (ran.time or 0.0)}).words
    degree = predicted(replace(own, time=ran.time / 2), board, benchmarks_of(board)).degree
    assert f"Degree of camping {degree:.2f}" in faster[0]


def test_a_kernel_that_cannot_run_there_has_a_band_without_a_line(service: AnalysisService) -> None:
    state = State(source="example:matmul_tiled", view="camping")
    found = draw_view("camping", service.analyze(state), {})
    assert isinstance(found.picture, Picture)
    assert not any(getattr(one, "name", "") == "application" for one in found.picture.layers)
    assert any("1024 threads per block are not possible" in word for word in found.words)


def test_an_old_board_is_asked_about_its_partitions_though_no_compiler_writes_code_for_it(
    service: AnalysisService,
) -> None:
    """Which counters a kernel has there is found with newer code, whatever board is chosen."""
    chosen = State(source="example:saxpy", gpu="gtx280", view="camping")
    there = draw_view("camping", service.analyze(chosen), {})
    assert there.words == draw_view("camping", service.analyze(replace(chosen, gpu="h200")), {}).words
    assert any(one.name == "application" for one in there.picture.layers if isinstance(one, Curve))
    moved = replace(chosen, values=(("launch.grid.x", 1024.0),))
    assert service.estimate(moved).facts is not None
    assert camping_controls(service.analyze(moved))[6].value == 1024
    on_another = draw_view("camping", service.analyze(replace(chosen, gpu="fx5600")), {})
    assert on_another.words[0].startswith("On NVIDIA Quadro FX 5600")
    with pytest.raises(InputError, match=r"compute capability 1.3"):
        service.analyze(replace(chosen, view="occupancy"))


def test_occupancy_is_that_of_the_calculator(service: AnalysisService) -> None:
    values = {"block.threads": 200.0, "block.registers": 77.0, "block.shared_bytes": 30000.0}
    found = occupancy(machine.gpu("l4"), 200, 77, 30000)
    words = draw_view("occupancy", service.analyze(State(source="bare", gpu="l4")), values).words
    assert words[0].startswith(f"{found.blocks_per_sm} blocks and {found.warps_per_sm} of")


def test_every_number_of_a_board_has_a_control() -> None:
    board = machine.gpu("h200")
    controls = {one.key.removeprefix("gpu."): one.value for one in gpu_controls(board)}
    assert set(controls) == {*board.parameters, *parameter_fallbacks(board)}
    assert all(controls[name] == one.value for name, one in {**board.parameters, **parameter_fallbacks(board)}.items())


def test_a_kernel_with_other_numbers_than_its_own(service: AnalysisService) -> None:
    """Each number acts on what it is about, and a number set to its own value changes nothing."""
    subject = service.analyze(State(source="example:saxpy"))
    own = {one.key: one.value for one in work_controls(subject)}
    assert subject.facts is not None
    assert quick_seconds(with_kernel(subject, own)) == pytest.approx(quick_seconds(subject))
    parts = {key: value for key, value in own.items() if key.startswith("work.parts.")}
    assert {key.removeprefix("work.parts.") for key in parts} <= set(subject.facts.work.parts)
    read = own["work.memory.dram_bytes_read"]
    more = with_kernel(subject, {"work.memory.dram_bytes_read": 4 * read})
    assert more.facts is not None
    assert more.facts.work.memory.dram_bytes_read == 4 * read
    assert 2.0 < quick_seconds(more) / quick_seconds(subject) < 4.0  # it reads twice what it writes, and DRAM binds
    slow = with_kernel(subject, {"work.parts.dram": 2 * own["work.parts.dram"]})
    assert slow.facts is not None
    grown = slow.facts.work.latency - subject.facts.work.latency
    assert grown == pytest.approx(own["work.parts.dram"])
    few = {"work.warps_per_sm": 8.0}
    assert quick_seconds(with_kernel(subject, few)) > 1.5 * quick_seconds(subject)
    star = draw_view("hiding", with_kernel(subject, few), few).picture
    assert isinstance(star, Picture)
    assert star.named("this launch").x == [8.0]  # type: ignore[union-attr]
    twice = with_kernel(subject, {"work.flop.fp32": 2 * own["work.flop.fp32"]})
    flop = draw_view("roofline", twice, {}).words[0]
    assert flop != draw_view("roofline", subject, {}).words[0]


@pytest.mark.parametrize("source", ["example:reduction", "paper:volkov-vector-add/0"])
def test_every_number_of_a_kernel_can_be_at_either_end(service: AnalysisService, source: str) -> None:
    subject = service.analyze(State(source=source, gpu="gtx980" if source.startswith("paper") else "h200"))
    for control in work_controls(subject):
        for value in (control.low, control.high):
            for view in ("verdict", "hiding", "roofline", "x", "mwp"):
                found = draw_view(view, with_kernel(subject, {control.key: value}), {})
                assert found.picture is None or figures.spec(found.picture)["data"], (control.key, view)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("source", ["bare", "example:saxpy", "paper:volkov-vector-add/0"])
@pytest.mark.parametrize("view", VIEWS)
def test_an_address_may_hold_any_number(service: AnalysisService, source: str, view: str) -> None:
    """A sentence or a figure of bounded size, never a fault: a link may come from anybody."""
    subject = service.analyze(State(source=source, view=view))
    there = State(source=source, view=view)
    listed = [one for part in sections(service.slider_defaults(there), there) for one in part.controls]
    keys = [one.key for one in (*listed, *work_controls(subject)) if one not in gpu_controls(subject.gpu)[6:]]
    for key in keys:
        for value in (0.0, -1.0, 1e-300, 1e12, 1e300):
            asked = LiveRequest({"source": source, "gpu": "h200"}, view, {key: value}, Canvas())
            told = answer(service, asked)
            assert len(msgspec.json.encode(told)) < 200_000, (key, value)
            if value in (1e-300, 1e300) or (value < 0 and not key.startswith(ARGUMENTS)):
                assert told["figures"] == [None], (key, value)
                assert "is out of range" in told["words"][0], (key, value)


def test_what_follows_from_a_number_that_is_set_stands_where_the_board_has_it() -> None:
    own = machine.gpu("h200")
    values = {"gpu.dram_bandwidth": 2400.0}
    board = machine.override(own, {"dram_bandwidth": 2400.0})
    shown = {one.key: one.value for one in set_gpu_controls(board, own, values)}
    assert shown["gpu.dram_bandwidth"] == own.parameters["dram_bandwidth"].value  # to go back to
    carried = own.parameters["dram_achievable_bandwidth"].value * 2400.0 / own.parameters["dram_bandwidth"].value
    assert shown["gpu.dram_achievable_bandwidth"] == pytest.approx(carried)


def test_the_lists_hold_what_is_shipped() -> None:
    assert {"saxpy", "matmul_tiled"} <= set(kernel_sources.examples())
    assert len(kernel_sources.papers()) > 50
