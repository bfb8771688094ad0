"""The views of the papers: each shows what the model, the simulation or the partition map behind it gives."""

from dataclasses import replace

import numpy as np
import pytest

from support.page_states import state
from warpbound import machine
from warpbound.models import hong_kim_2009
from warpbound.models.interval_analysis import mxv
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.subject import Subject
from warpbound.page.views import VIEWS, draw_view, second_picture
from warpbound.page.views.mwp_and_cwp import BARE_MWP
from warpbound.report.figures.picture import Boxes, Curve, Panels, Picture, Points
from warpbound.synthetic_family.machine import on_board
from warpbound.synthetic_family.predictors import PREDICTORS


@pytest.fixture(scope="module")
def bare(service: AnalysisService) -> Subject:
    return service.analyze(state("bare"))


def picture(view: str, subject: Subject, values: dict[str, float]) -> Picture:
    found = draw_view(view, subject, values).picture
    assert isinstance(found, Picture)
    return found


SYMBOLS = {"synch_insts": 9.0, "ind_mem_req": 3.0, "m_factor": 2.5, "blocks": 320.0, "coal_mem_insts": 2.0}


@pytest.mark.parametrize("key", SYMBOLS)
def test_every_symbol_of_hong_and_kim_moves_the_time(bare: Subject, key: str) -> None:
    """One block of 4 warps. What cannot be with the others, 3 independent of 2 accesses, goes as far as it can."""
    few, value = {"mwp.active_blocks": 1.0}, SYMBOLS[key]
    moved = draw_view("mwp", bare, {**few, f"mwp.{key}": value}).words[1]
    x = replace(BARE_MWP, active_blocks=1.0, **{key: value})
    found = hong_kim_2009.predict(x)
    assert moved.startswith(f"{float(found.total):.4g} cycles, {float(found.parts['barrier']):.4g} of them at barriers")
    assert moved != draw_view("mwp", bare, few).words[1]
    assert f"mwp.{key}" in [control.key for control in VIEWS["mwp"].controls(bare)]
    most = {**few, "mwp.coal_mem_insts": 2.0, "mwp.ind_mem_req": 1.0}
    assert draw_view("mwp", bare, {**most, "mwp.ind_mem_req": 3.0}).words == draw_view("mwp", bare, most).words


def test_the_time_over_warps_passes_through_the_launch(bare: Subject) -> None:
    shown = second_picture("mwp", bare, {})
    assert isinstance(shown, Picture)
    whole = shown.named("whole launch")
    assert isinstance(whole, Curve)
    assert np.interp(20.0, np.asarray(whole.x), np.asarray(whole.y)) == pytest.approx(
        float(hong_kim_2009.predict(BARE_MWP).total)
    )


def test_every_model_stands_beside_the_reference(bare: Subject) -> None:
    shown = picture("models", bare, {"family.alpha": 8.0})
    sm = on_board(machine.gpu("h200"))
    for name in ("volkov_2016", "hong_kim_2009", "chen_aamodt_2009"):
        line = shown.named(name)
        assert isinstance(line, Curve)
        expected = PREDICTORS[name](sm, np.asarray(line.x), 8.0)
        drawn = np.asarray(line.y)
        assert drawn[~np.isnan(drawn)] == pytest.approx(expected[~np.isnan(drawn)])
    envelopes = second_picture("models", bare, {})
    assert isinstance(envelopes, Panels)
    assert {plot.title for plot in envelopes.pictures} == PREDICTORS.keys() - {"volkov_2016, contention"}


def test_latency_grows_as_the_slider_says(bare: Subject) -> None:
    still = draw_view("load", bare, {"family.growth": 0.0, "family.warps": 40.0}).words[0]
    assert ", 0 of them waiting" in still
    values = {"family.growth": 200.0, "family.warps": 64.0, "family.alpha": 0.0}
    here = picture("load", bare, values).named("these warps")
    assert isinstance(here, Points)
    (rate,), (latency,) = here.x, here.y  # type: ignore[misc]
    sm = on_board(machine.gpu("h200"))
    ceiling = sm.memory_throughput * 128.0 * sm.sm_count * sm.clock_Hz / 1e9
    assert latency == pytest.approx(sm.memory_latency + 200.0 * rate / (ceiling - rate), rel=1e-6)
    assert rate / ceiling * sm.memory_throughput * latency == pytest.approx(64.0)  # Little's law


def test_a_simulated_sm_holds_what_is_asked(bare: Subject) -> None:
    values = {"family.warps": 8.0, "sm.block": 2.0, "sm.blocks": 2.0, "sm.turns": 2.0, "family.alpha": 3.0}
    assert draw_view("simulator", bare, values).words[0].startswith("8 blocks of 2 warps, 4 at a time")
    over_time = second_picture("simulator", bare, values)
    assert isinstance(over_time, Picture)
    resident = over_time.named("resident warps")
    assert isinstance(resident, Curve)
    assert np.asarray(resident.y).max() == 8
    assert np.asarray(resident.y)[-1] == 0


@pytest.mark.parametrize("values, written", [({}, 1), ({"map.diagonal": 1.0}, 8), ({"map.padding": 4.0}, 8)])
def test_diagonal_blocks_and_padded_rows_write_all_partitions(
    bare: Subject, values: dict[str, float], written: int
) -> None:
    """Figure 8: blocks in rows write one partition only."""
    found = draw_view("partitions", bare, values)
    assert isinstance(found.picture, Panels)
    _, maps = found.picture.pictures
    touched = [one for one in maps.layers if isinstance(one, Boxes) and one.name]
    assert len(touched) == written
    assert f"{written} of 8 partitions, the fullest by {32 // written}, are written" in found.words[0]


def test_p_is_that_of_the_notes(bare: Subject) -> None:
    """MXV-LCS, 16 x 16 on a GTX 1080 with stores of one cycle: 48.6 and 268.8 threads per SM."""
    found = draw_view("threads", bare, {"mxv.store_cycles": 1.0})
    assert found.words[0].startswith("All loads first: P = 48.6 threads")
    assert "Q = 268.8 the" in found.words[0]
    best = mxv.size_needing_fewest_threads(400.0)
    assert best == 20.0
    assert found.words[0].endswith("N = 20.")
