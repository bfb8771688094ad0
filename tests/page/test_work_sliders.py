"""Every number of a launch that an answer takes can be set, or stands below with the reason why it cannot."""

from dataclasses import fields, replace
from typing import Any

import pytest

from support.page_states import entry
from warpbound.machine import Gpu, gpu
from warpbound.memory.counters import COUNTERS
from warpbound.model_inputs.answers import LaunchFacts
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.kernel_sources import papers
from warpbound.page.slider_estimates import SCHEDULED
from warpbound.page.slider_table import sections
from warpbound.page.sliders import gpu_controls, limit_controls
from warpbound.page.state import State
from warpbound.page.subject import Subject
from warpbound.page.work_overrides import GIVEN, overridden_launch, work_controls
from warpbound.workload import Memory, Workload

OF_THE_CODE = "names and places of the code"
FOLLOWS = "follows from numbers that can be set"
WITHOUT_SLIDER = {  # field of a record that answers take -> why no slider sets it
    "Workload": {
        "title": OF_THE_CODE, "unit": OF_THE_CODE, "lines": OF_THE_CODE, "lines_by_cause": OF_THE_CODE,
        "by_pipe": FOLLOWS, "latency": FOLLOWS, "warps": FOLLOWS, "issue_slots": FOLLOWS,
        "board_waits": "what an estimate scales, taken by no answer",
        "pieces": "stretches of the code between its barriers; their cycles are scaled with those of the whole",
        "joins": "where all warps wait for one mbarrier parts the pieces, as barriers do",
    },
    "LaunchFacts": {
        "work": FOLLOWS, "gpu": FOLLOWS, "clock_hz": FOLLOWS, "dram_cycles": FOLLOWS, "active_sms": FOLLOWS,
        "blocks": FOLLOWS, "blocks_per_sm": FOLLOWS, "threads_per_block": FOLLOWS, "given_by": "words",
        "locality": "alpha and beta of the X-model, which its own view sets",
    },
    "Gpu": {
        "key": "words", "name": "words", "aliases": "words", "hypothetical": "words",
        "compute_capability": "names the instruction set",
    },
}  # fmt: skip
SET_BY = {  # field -> what its sliders' names begin with
    "Workload": {
        "warp_instructions": "work.warp_instructions", "thread_instructions": "work.thread_instructions",
        "units": "work.units.", "tensor": "work.tensor.", "flop": "work.flop.", "memory": "work.memory.",
        "barriers": "work.barriers", "parts": "work.parts.", "phases": "work.loads_together",
    },
    "LaunchFacts": {"warps_per_sm": "work.warps_per_sm", "file_symbols": GIVEN},
    "Gpu": {"parameters": "gpu.", "changed_limits": "gpu."},
}  # fmt: skip
EVERYTHING = Workload(
    title="", unit="warp", lines=(0, 0), warp_instructions=100.0, thread_instructions=3200.0, by_pipe={"fma": 10.0},
    units={"fma": 20.0}, tensor={"fp16": 4096.0}, flop={"fp32": 640.0}, barriers=2.0, latency=900.0,
    parts={"fixed": 300.0, "dram": 600.0}, phases=(2, 4), warps=1000.0,
    memory=Memory(**{one.name: float(number) for number, one in enumerate(fields(Memory), 1)}),
)  # fmt: skip


def launched() -> LaunchFacts:
    given: dict[str, dict[str, Any]] = {
        "interval_analysis": {"data": {"dram": 128.0}, "lanes": 32}, "x_model_2016": {"lanes": 1.0},
    }  # fmt: skip
    return LaunchFacts(EVERYTHING, gpu("h200"), 1.4e9, 600.0, 32.0, 132.0, 100, 4.0, 256, file_symbols=given)


def keys() -> set[str]:
    board = gpu("h200")
    subject = Subject("everything", board, block=None, facts=launched())  # type: ignore[arg-type]
    return {one.key for one in (*work_controls(subject), *gpu_controls(board), *limit_controls(board))}


@pytest.mark.parametrize("record", [Workload, LaunchFacts, Gpu])
def test_every_field_has_a_slider_or_says_why_not(record: type[Any]) -> None:
    """A field that is added must be given a slider, or a reason."""
    name, known = record.__name__, keys()
    for field in fields(record):
        told = field.name in SET_BY[name], field.name in WITHOUT_SLIDER[name]
        assert told in [(True, False), (False, True)], field.name
        if told[0]:
            assert any(key.startswith(SET_BY[name][field.name]) for key in known), field.name


@pytest.mark.parametrize("name", [one.name for one in fields(Memory)])
def test_every_count_of_traffic_has_a_slider(name: str) -> None:
    assert name in COUNTERS
    assert f"work.memory.{name}" in keys()


def test_each_slider_of_the_kernel_changes_the_launch_and_nothing_else() -> None:
    own = launched()
    subject = Subject("everything", own.gpu, block=None, facts=own)  # type: ignore[arg-type]
    for one in work_controls(subject):
        if one.key == "work.warps_per_sm":
            continue
        assert overridden_launch(own, {one.key: 2.0 * one.value}) != own, one.key
    more = overridden_launch(own, {"work.loads_together": 6.0, f"{GIVEN}interval_analysis.data.dram": 7.0,
                                   "work.units.fma": 60.0, f"{GIVEN}interval_analysis.lanes": 16.0})  # fmt: skip
    assert more.work.phases == (4, 8)
    assert more.work.by_pipe == {"fma": 30.0}
    assert more.file_symbols["interval_analysis"] == {"data": {"dram": 7.0}, "lanes": 16.0}
    assert more.file_symbols["x_model_2016"] == {"lanes": 1.0}
    plain = overridden_launch(own, {"work.memory.far_off": 3.0})
    assert replace(plain, work=own.work) == own


@pytest.mark.parametrize("name", papers())
def test_every_number_that_a_paper_gives_a_model_can_be_set(service: AnalysisService, name: str) -> None:
    state = State(source=f"paper:{name}", gpu="gtx480")
    try:
        there = service.slider_defaults(state)
    except Exception:  # noqa: BLE001  (not every workload runs on every board)
        pytest.skip("no answer on this board")
    assert there.own.facts is not None
    found = {one.key for part in sections(there, state) for one in part.controls}
    for model, symbols in there.own.facts.file_symbols.items():
        for symbol in symbols if model not in ("x_model_2016", "hong_kim_2009") else ():
            assert any(key.startswith(f"{GIVEN}{model}.{symbol}") for key in found), symbol


def test_what_a_paper_gives_acts_on_its_model(service: AnalysisService) -> None:
    name = next(one for one in papers() if one.startswith("interval-mxv-lcs"))
    own = State(source=f"paper:{name}", gpu="interval-cc61")
    asked = replace(own, values=((f"{GIVEN}interval_analysis.data.dram", 1e6),))
    models = [entry(service.analyze(one))["models"]["interval_analysis"] for one in (own, asked)]
    assert models[0]["rate"] != models[1]["rate"]


# ---------------------------------------------------------------- while a slider moves


@pytest.mark.cuda
@pytest.mark.parametrize("factor", [0.6, 2.0])
@pytest.mark.parametrize("name", ["xu_latency", "shuffle_latency", "barrier_latency", "special_register_latency"])
def test_latencies_that_are_waited_for_act_while_moving(service: AnalysisService, name: str, factor: float) -> None:
    """The estimate's cycles of one warp are within 3 % of those of the schedule."""
    own = State(source="example:softmax")
    stands = {one.key: one.value for one in gpu_controls(gpu("h200"))}[f"gpu.{name}"]
    asked = replace(own, values=((f"gpu.{name}", factor * stands),))
    before, quick, exact = (one.facts for one in (service.own(own), service.estimate(asked), service.analyze(asked)))
    assert before is not None
    assert quick is not None
    assert exact is not None
    assert exact.work.latency != before.work.latency
    assert quick.work.latency == pytest.approx(exact.work.latency, rel=0.03)
    if factor > 1:
        assert abs(quick.work.latency / exact.work.latency - 1) < 0.5 * (exact.work.latency / before.work.latency - 1)


@pytest.mark.cuda
def test_latencies_that_code_counts_act_at_rest_and_the_page_says_so(service: AnalysisService) -> None:
    asked = State(source="example:softmax", values=(("gpu.alu_latency", 8.0),))
    quick, exact = service.estimate(asked), service.analyze(asked)
    assert SCHEDULED in quick.notes
    assert exact.facts is not None
    assert quick.facts is not None
    assert exact.facts.work.latency > quick.facts.work.latency
