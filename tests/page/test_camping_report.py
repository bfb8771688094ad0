"""The report of a kernel on an old board: its camping band, and nothing of the newer board whose code was run."""

from dataclasses import replace

import pytest

pytest.importorskip("dash")
from warpbound.camping.prediction import COUNTERS
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.export import as_report, unavailable_buttons
from warpbound.page.state import State
from warpbound.report import html
from warpbound.report.camping import band_text
from warpbound.report.html.elements import as_html
from warpbound.result.campprof import CampingBand, CampingConfiguration

pytestmark = pytest.mark.cuda
PARTITION = State(source="example:transpose_naive", gpu="gtx280", view="camping")


def report(service: AnalysisService, state: State) -> str:
    return as_report(service.analyze(state), state).replace(html.plotly_script(), "")


def test_an_old_board_has_its_band_alone(service: AnalysisService) -> None:
    text = report(service, PARTITION)
    assert "<h1>transpose_naive on the memory partitions of NVIDIA GeForce GTX 280</h1>" in text
    assert "Tesla T4" not in text
    assert "1590 MHz" not in text  # the T4's clock
    assert "code for sm_75, grid 128 x 128, block 32 x 8, run on simulated memory partitions" in text
    assert "Degree of camping 0." in text
    assert "of 16384 blocks were executed" in text
    assert text.count("<figure id=") == 1
    assert "What to do first" not in text  # an analysis is nobody's there


def test_numbers_set_by_hand_are_named(service: AnalysisService) -> None:
    set_by_hand = replace(PARTITION, values=(("camp.time_ms", 50.0), ("camp.warps", 8.0)))
    text = report(service, set_by_hand)
    assert "Active warps 8 per SM (32)" in text
    assert '<td class="number">8*</td>' in text
    nothing = replace(PARTITION, values=tuple((f"camp.{name}", 0.0) for name in COUNTERS))
    why = unavailable_buttons(service.analyze(nothing), nothing)
    assert set(why) == {"as-json", "as-html"}
    assert why["as-json"].startswith("Every counter is 0.")


def test_a_newer_board_keeps_its_analysis(service: AnalysisService) -> None:
    text = report(service, replace(PARTITION, gpu="h200"))
    assert "<h1>transpose_naive on NVIDIA H200</h1>" in text
    assert "Camping in the memory partitions of an old board" in text
    assert "What to do first" in text


def test_bands_of_a_table_begin_where_they_begin() -> None:
    """Drawn with letters: blanks before them count, in a fixed width."""
    entry = CampingBand(
        schema_version="1", gpu="gtx280", advice="Leave it.", degree=None, warps_per_sm=[1, 2], best_s=[0.5, 0.0],
        worst_s=[1.0, 1.0], application_s=None, configuration=CampingConfiguration(1, 32, 2, None), counters={},
        equation="by-size", benchmarks=[], notes=[],
    )  # fmt: skip
    text = as_html(band_text(entry))
    assert f'<td class="words drawn">{16 * " "}{17 * "-"}</td>' in text
    assert f'<td class="words drawn">{33 * "-"}</td>' in text
    assert text.count("drawn") == 3  # the column's heading, too
