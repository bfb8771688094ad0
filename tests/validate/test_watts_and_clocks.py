"""Watts and clocks of rows with readings: what is held back, what counts as slowed, and the stored scores."""

import msgspec
import pytest
from click.testing import CliRunner

from warpbound.cli import main
from warpbound.machine import gpu
from warpbound.power.calibrate import calibrated, readings, top_hz
from warpbound.validate.corpus import corpus
from warpbound.validate.score_tables import power_cells
from warpbound.validate.validation_data import stored
from warpbound.validate.watts_and_clocks import CORPUS, Held, PowerLine, PowerRow, held_back, power_lines, power_rows

FOUND = stored()
ROWS = corpus(CORPUS).rows
SLOWED_A40 = 8  # number of a row in which the A40 runs below its highest clock


def again(numbers: range) -> list[PowerRow]:
    """Rows of the corpus through the whole chain."""
    return list(power_rows((corpus(CORPUS), ROWS[number]) for number in numbers))


def assert_same(now: PowerRow, before: PowerRow) -> None:
    assert (now.gpu, now.label, now.slowed, now.measured) == (before.gpu, before.label, before.slowed, before.measured)
    for one, other in ((now.own, before.own), (now.held_back, before.held_back)):
        assert one.watts == pytest.approx(other.watts, rel=0.01)
        assert one.clock_MHz == pytest.approx(other.clock_MHz, rel=0.01)


# ---------------------------------------------------------------- what is held back


@pytest.mark.full
def test_the_judged_board_is_not_fitted() -> None:
    own = calibrated(readings())
    for board, device in (("a40", "0"), ("l40", "0"), ("l40s", "1"), ("gh200", "0")):
        assert held_back(board, device) != own[board]
    without = calibrated([x for x in readings() if x.board != "l40"])
    assert held_back("l40", "0") == without["l40s"]
    assert held_back("a40", "0").standing_power == pytest.approx(own["a40"].standing_power, rel=0.2)


@pytest.mark.full
def test_a_relative_is_scaled_to_the_board() -> None:
    without = calibrated([x for x in readings() if x.board != "gh200"])["a100-sxm-40gb"]
    taken, own, other = held_back("gh200", "0"), gpu("gh200"), gpu("a100-sxm-40gb")
    assert taken.standing_power == pytest.approx(without.standing_power * own.value("tdp") / other.value("tdp"))
    clocks = own.value("sm_count") * top_hz("gh200") / (other.value("sm_count") * top_hz("a100-sxm-40gb"))
    assert taken.clocked_power == pytest.approx(without.clocked_power * clocks)


# ---------------------------------------------------------------- scores


def row(board: str, own: Held, other: Held, *, slowed: bool) -> PowerRow:
    return PowerRow("some", board, "", slowed, Held(100.0, 1000.0), own, other)


def test_only_slowed_rows_count_for_the_clock() -> None:
    rows = [
        row("a40", Held(102.0, 1500.0), Held(110.0, 1500.0), slowed=False),
        row("a40", Held(96.0, 990.0), Held(110.0, 1030.0), slowed=True),
        row("l40", Held(100.0, 1500.0), Held(100.0, 1500.0), slowed=False),
    ]
    lines = list(power_lines(rows))
    assert [(line.gpu, power_cells(line)) for line in lines] == [
        ("a40", ("2", "3.0", "10.0", "1", "1.0", "3.0")),
        ("l40", ("1", "0.0", "0.0", "0", "-", "-")),
        ("all", ("3", "2.0", "6.7", "1", "1.0", "3.0")),
    ]


def test_corpora_without_readings_have_none() -> None:
    assert not list(power_rows((corpus("streams"), each) for each in corpus("streams").rows))


# ---------------------------------------------------------------- the stored scores


def test_held_back_boards_are_as_near_as_promised() -> None:
    (line,) = (line for line in FOUND.power_lines if line.gpu == "all")
    assert (line.corpus, line.n, line.slowed) == (CORPUS, len(ROWS), 17)
    assert line.watts_held_back < 0.12
    assert line.clock_held_back is not None
    assert line.clock_held_back < 0.08


def test_stored_scores_follow_from_the_stored_rows() -> None:
    for line, before in zip(power_lines(FOUND.power_rows), FOUND.power_lines, strict=True):
        assert (line.gpu, line.n, line.slowed) == (before.gpu, before.n, before.slowed)
        for name in ("watts", "watts_held_back", "clock", "clock_held_back"):
            assert getattr(line, name) == pytest.approx(getattr(before, name), abs=1e-4), name


@pytest.mark.cuda
def test_a_stored_row_is_of_today_s_model() -> None:
    """A slowed row of the A40, whose watts and clock depend on every parameter of its power."""
    (now,) = again(range(13 + SLOWED_A40, 14 + SLOWED_A40))
    assert (now.gpu, now.slowed) == ("a40", True)
    assert_same(now, next(x for x in FOUND.power_rows if (x.gpu, x.label) == (now.gpu, now.label)))


@pytest.mark.full
@pytest.mark.cuda
def test_all_stored_rows_are_of_today_s_model() -> None:
    for now, before in zip(again(range(len(ROWS))), FOUND.power_rows, strict=True):
        assert_same(now, before)


# ---------------------------------------------------------------- the command


def test_the_command_shows_them() -> None:
    shown = CliRunner().invoke(main, ["validate", "--shown"]).output
    assert "watts and clocks" in shown
    assert "held back" in shown
    as_json = msgspec.json.decode(CliRunner().invoke(main, ["validate", "--shown", "--format", "json"]).stdout)
    assert msgspec.convert(as_json["power_lines"], tuple[PowerLine, ...]) == FOUND.power_lines


@pytest.mark.full
@pytest.mark.cuda
def test_the_command_scores_them_on_one_board() -> None:
    done = CliRunner().invoke(main, ["validate", CORPUS, "--gpu", "a40", "--format", "json"])
    found = msgspec.json.decode(done.stdout)
    counts = [(line["gpu"], line["n"], line["slowed"]) for line in found["power_lines"]]
    assert counts == [("a40", 13, 6), ("all", 13, 6)]
    assert len(found["power_rows"]) == 13
