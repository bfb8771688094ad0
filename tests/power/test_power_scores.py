"""tools/power_scores.py: what is held back, what counts as slowed, and the table of the model note."""

import pytest

from power_scores import Score, by_board, held_back, scores, table
from support.paths import ROOT
from warpbound.machine import gpu
from warpbound.power.calibrate import calibrated, readings, top_hz

NOTE = (ROOT / "docs" / "model-notes" / "power-and-clock.md").read_text(encoding="utf-8")
FITTED = {board: next(x for x in readings() if x.board == board) for board in ("a40", "l40", "l40s", "gh200")}


@pytest.mark.full
def test_the_judged_board_is_not_fitted() -> None:
    own = calibrated(readings())
    for board, reading in FITTED.items():
        assert held_back(reading) != own[board]
    without = calibrated([x for x in readings() if x.board != "l40"])
    assert held_back(FITTED["l40"]) == without["l40s"]
    assert held_back(FITTED["a40"]).standing == pytest.approx(own["a40"].standing, rel=0.2)


@pytest.mark.full
def test_a_relative_is_scaled_to_the_board() -> None:
    without = calibrated([x for x in readings() if x.board != "gh200"])["a100-sxm-40gb"]
    taken, own, other = held_back(FITTED["gh200"]), gpu("gh200"), gpu("a100-sxm-40gb")
    assert taken.standing == pytest.approx(without.standing * own.value("tdp") / other.value("tdp"))
    clocks = own.value("sm_count") * top_hz("gh200") / (other.value("sm_count") * top_hz("a100-sxm-40gb"))
    assert taken.clocked == pytest.approx(without.clocked * clocks)


def test_only_slowed_rows_count_for_the_clock() -> None:
    own = [Score("a40", 0.02, 0.5, slowed=False), Score("a40", -0.04, -0.01, slowed=True)]
    other = [Score("a40", 0.1, 0.5, slowed=False), Score("a40", 0.1, 0.03, slowed=True)]
    lines = list(table(by_board(own), by_board(other)))
    assert lines[2:] == ["| NVIDIA A40 | 2 | 3.0 % | 10.0 % | 1 | 1.0 % | 3.0 % |",
                         "| all | 2 | 3.0 % | 10.0 % | 1 | 1.0 % | 3.0 % |"]  # fmt: skip


@pytest.mark.full
@pytest.mark.cuda
def test_the_note_has_the_table() -> None:
    own = calibrated(readings())
    lines = list(table(by_board(scores(lambda x: own[x.board])), by_board(scores(held_back))))
    assert "\n".join(lines) in NOTE
    slowed, watts = float(lines[-1].split(" | ")[-1].split()[0]), float(lines[-1].split(" | ")[3].split()[0])
    assert slowed < 8
    assert watts < 12
