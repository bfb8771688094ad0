"""Partitions of an old board and the launch of a paper's workload, set by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import warpbound
from support.page_states import MATMUL, entry, state
from support.paths import EXAMPLES
from warpbound import machine
from warpbound.analysis.workload_prediction import predicted as predicted_by_file
from warpbound.camping.benchmarks import simulated
from warpbound.camping.kernel_counters import executed
from warpbound.camping.prediction import Measured, predicted
from warpbound.errors import WarpboundError
from warpbound.page import export
from warpbound.page.analysis_service import AnalysisService, _benchmarking
from warpbound.page.slider_table import sections
from warpbound.page.state import State
from warpbound.page.views import draw_view
from warpbound.result.plain import plain
from warpbound.workload.files import read

pytestmark = pytest.mark.cuda


def test_the_camping_band_of_a_moved_board_is_campprofs(service: AnalysisService) -> None:
    pytest.importorskip("numba")
    values = {"old__memory_partitions": 4.0, "old__sm_count": 6.0, "old__max_warps_per_sm": 8.0}
    asked = state("bare", "camping", **values)
    service.own(asked)
    waiting = service.estimate(asked)
    assert "run again when you release" in " ".join(draw_view("camping", waiting, {}).words)
    found = service.analyze(asked)
    board = machine.override(
        machine.gpu("gtx280"), {"memory_partitions": 4.0, "sm_count": 6.0, "max_warps_per_sm": 8.0}
    )
    expected = predicted(Measured({"gld_64": 1e6, "gst_64": 1e6}, 1024, 256, 8), board, simulated(board))
    taken = json.loads(export.as_file(found, asked))
    assert taken["best_s"] == pytest.approx(expected.best_s)
    assert taken["worst_s"] == pytest.approx(expected.worst_s)
    assert [one["key"] for one in taken["set_by_hand"]] == sorted(key.replace("__", ".") for key in values)
    again = service.estimate(asked)  # known by now
    assert draw_view("camping", again, {}).words == draw_view("camping", found, {}).words


def test_how_far_the_runs_of_a_moved_board_are_is_said(service: AnalysisService) -> None:
    pytest.importorskip("numba")
    asked = state("bare", "camping", old__memory_partitions=5.0, old__sm_count=3.0, old__max_warps_per_sm=8.0)
    questions = _benchmarking(asked)
    for number in (0, 1, 2):
        assert {row[:3] for row in service.pool.ask(questions[number]).rows} == {("read", 2 << number, "spread")}
    waiting = service.estimate(asked)
    assert waiting.waits
    assert (
        draw_view("camping", waiting, {}).words[-1]
        == "The micro-benchmarks of the board as set are being run: 3 of 12."
    )
    found = service.analyze(asked)
    assert not found.waits
    assert not service.estimate(asked).waits


def test_a_kernel_camps_on_the_partitions_as_set(service: AnalysisService) -> None:
    pytest.importorskip("numba")
    values = {"old__partition_width": 512.0, "old__sm_count": 4.0, "old__max_warps_per_sm": 8.0}
    found = service.analyze(state("example:saxpy", "camping", **values))
    board = machine.override(machine.gpu("gtx280"), {key.removeprefix("old__"): n for key, n in values.items()})
    program = warpbound.compile(EXAMPLES / "saxpy.cu", "t4")
    ran = executed(program, warpbound.kernel_launch.launch(EXAMPLES / "saxpy.toml"), board)
    assert not isinstance(found.camping_run, str)
    assert found.camping_run.time == pytest.approx(ran.time)
    assert found.camping_run.counters == pytest.approx(ran.counters)


def test_without_numba_the_way_out_is_said(service: AnalysisService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpbound.page.analysis_service.COMPILED", False)
    with pytest.raises(WarpboundError, match=r"without Numba.*warpbound\[simulate\]"):
        service.analyze(state("bare", "camping", old__memory_partitions=6.0))


# ---------------------------------------------------------------- papers' workloads


PAPER, SEPIA = "hong-kim-sepia", "paper:hong-kim-sepia/4"


def listed(service: AnalysisService, asked: State) -> dict[str, Any]:
    return {one.key: one for part in sections(service.slider_defaults(asked), asked) for one in part.controls}


def test_a_papers_launch_is_set_as_its_file_would_say(service: AnalysisService, tmp_path: Path) -> None:
    """Blocks and threads by sliders answer what a workload file with these numbers answers."""
    there = listed(service, state(SEPIA, gpu="gtx280"))
    assert there["launch.blocks"].value == entry(service.own(state(SEPIA, gpu="gtx280")))["launch"]["blocks"]
    assert there["block.threads"].value == 64
    (case,) = [one for one in read(PAPER) if one.shape.threads_per_block == 64]
    for values, shape in (
        ({"launch__blocks": 600.0}, {"blocks": 600, "threads": None}),
        ({"block__threads": 128.0}, {"threads_per_block": 128}),
        ({"launch__blocks": 600.0, "block__registers": 40.0}, {"blocks": 600, "threads": None, "registers": 40}),
    ):
        asked = state(SEPIA, gpu="gtx280", **values)
        written = replace(case, shape=msgspec.structs.replace(case.shape, **shape))
        expected = predicted_by_file(written, machine.gpu("gtx280"), models=("hong_kim_2009",))
        for found in (service.analyze(asked), service.estimate(asked)):
            models = {name: entry(found)["models"][name] for name in expected.models}
            assert models == plain(expected)["models"]
            assert entry(found)["occupancy"] == plain(expected)["occupancy"]
            assert entry(found)["launch"] == plain(expected.launch)
        assert models["hong_kim_2009"]["time_s"] != entry(service.own(asked))["models"]["hong_kim_2009"]["time_s"]


def test_a_paper_that_gives_resident_warps_has_no_sliders_that_do_nothing(service: AnalysisService) -> None:
    there = listed(service, state("paper:volkov-vector-add/0", gpu="gtx980"))
    assert "work.warps_per_sm" in there
    assert not {"launch.blocks", "block.threads", "block.registers", "block.shared_bytes"} & set(there)


@pytest.mark.parametrize("values", [{"launch__blocks": 0.0}, {"launch__blocks": 1e300}, {"block__threads": 0.0}])
def test_a_papers_launch_that_cannot_be_is_a_sentence(service: AnalysisService, values: dict[str, float]) -> None:
    with pytest.raises(WarpboundError, match=r"is out of range|could be|threads"):
        service.analyze(state(SEPIA, gpu="gtx280", **values))


def test_instructions_set_by_hand_are_issued(service: AnalysisService) -> None:
    own = service.own(state(MATMUL))
    assert own.facts is not None
    count = own.facts.work.warp_instructions
    found = entry(service.analyze(state(MATMUL, work__warp_instructions=5 * count)))
    after = {one["resource"]: one["cycles_per_warp"] for one in found["bounds"]}
    assert after["issue"] == pytest.approx(5 * count / 4)  # sub-cores; banks of registers take less
    issued = found["instructions"]["warp_instructions"]
    assert issued == pytest.approx(5 * entry(own)["instructions"]["warp_instructions"])
    assert found["bottleneck"] == "issue"


# ---------------------------------------------------------------- timeline and machine code
