"""Scores of predicted times, worked out by hand, and one launch of the corpus through the whole chain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from warpbound.analysis.answer import work_of
from warpbound.analysis.timing import launch_prediction
from warpbound.machine import Gpu, gpu, override
from warpbound.measure import corpus_judgement
from warpbound.measure.case import Record
from warpbound.measure.corpus import prediction
from warpbound.measure.corpus.prediction import Key, Prediction, State, case_for, times

BOARD = gpu("h200")


def record(example: str, launch: str, seconds: float) -> Record:
    return Record({"example": example, "launch": launch, "cache": "warm"}, {"seconds": seconds}, 5, 0.0, 1.98e9)


SAID = {"tile32-rows8-pad0": 1.0, "tile16-rows16-pad1": 3.0, "1/1": 2.0, "1/4": 0.5}


def fixed(key: Key, states: Sequence[State], boards: Mapping[str, Gpu]) -> list[dict[str, Prediction]]:
    said = SAID.get(key[1])
    if said is None:
        return [dict[str, Prediction](dict.fromkeys(boards, "it has no time.")) for _ in states]
    row: dict[str, Prediction] = dict.fromkeys(boards, (said, 0.9 * said, 1.1 * said))
    return [row for _ in states]


def silent(line: str) -> None:
    """Nobody listens."""


ROWS = [
    record("transpose", "1/1", 2.0), record("transpose", "tile32-rows8-pad0", 2.5),
    record("transpose", "tile16-rows16-pad1", 2.9), record("transpose", "1/4", 0.4),
    record("transpose", "tile32-rows4-pad1", 9.0), replace(record("transpose", "1/1", 7.0), stable=False),
]  # fmt: skip


def test_errors_by_hand() -> None:
    rows = corpus_judgement.judge(ROWS, {"catalogue": BOARD}, silent, fixed)
    assert len(rows) == 5  # without the one at another clock
    found = corpus_judgement.score(rows, "catalogue")
    assert found is not None
    errors = [0.0, 0.6, 3 / 2.9 - 1, 0.25]
    assert found.launches == 4  # one was refused
    assert found.mean == pytest.approx(sum(errors) / 4)
    assert found.worst == pytest.approx(0.6)
    assert found.within == pytest.approx(2 / 4)
    assert found.regret == pytest.approx(2.5 / 2.0 - 1)  # pad0 is said to be the quickest, 1/1 is
    assert corpus_judgement.score(rows, "measured") is None


def test_the_table_has_a_line_for_each() -> None:
    rows = corpus_judgement.judge(ROWS, {"catalogue": BOARD, "measured": BOARD}, silent, fixed)
    lines = corpus_judgement.table(rows, ("catalogue", "measured"))
    assert len(lines) == 2 + 5
    assert "4 launches, mean error 22.1 %" in lines[0]
    assert "regret of the tunings 25.0 %" in lines[0]
    assert "catalogue refused: it has no time.  measured refused" in lines[-1]


def test_what_one_launch_meets_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a fault of ours nor a launch that this version does not know."""

    def faulty(*asked: object) -> None:
        raise NameError("name 'x' is not defined")

    monkeypatch.setattr(prediction, "case_for", faulty)
    rows = corpus_judgement.judge([ROWS[0], record("gone", "1/1", 1.0)], {"catalogue": BOARD}, silent)
    assert [row.refused for row in rows] == [{"catalogue": "NameError: name 'x' is not defined"}]
    assert corpus_judgement.table(rows, ("catalogue",))[0] == "catalogue: no launch could be predicted."


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_judgement, "REPORT_EVERY_S", 0.0)
    told: list[str] = []
    corpus_judgement.judge(ROWS, {"catalogue": BOARD}, told.append, fixed)
    assert told[0].startswith("1 of 5 kernels and launches predicted, about ")
    assert told[-1].endswith(" 0 s left")


@pytest.mark.cuda
def test_a_launch_of_the_corpus_is_predicted() -> None:
    quick = override(BOARD, {"dram_latency": 300.0})
    boards = {"catalogue": BOARD, "measured": quick}
    (whole, cold), (quarter,) = (
        times(("transpose", name), states, boards)
        for name, states in {"1/1": [("warm", 1980.0), ("cold", 1980.0)], "1/4": [("warm", 1980.0)]}.items()
    )
    assert not isinstance(whole["catalogue"], str)
    seconds, low, high = whole["catalogue"]
    assert low < seconds < high
    assert whole["measured"] != whole["catalogue"]
    assert not isinstance(cold["catalogue"], str)
    assert not isinstance(quarter["catalogue"], str)
    assert cold["catalogue"][0] >= seconds
    assert 2.0 < seconds / quarter["catalogue"][0] < 5.0
    assert seconds > 2 * 4 * 8192**2 / BOARD.value("dram_bandwidth")


@pytest.mark.cuda
def test_what_is_remembered_changes_no_time() -> None:
    """Executed once for both states of the caches, and each time anew."""
    key, boards = ("spmv_banded", "lanes4-1/4"), {"catalogue": BOARD}
    together = times(key, [("warm", 1980.0), ("cold", 1980.0)], boards)
    for state, found in zip(("warm", "cold"), together, strict=True):
        case = case_for(key, BOARD, state, 1980.0)
        timed = launch_prediction(case, work_of(case))
        assert timed is not None
        assert found["catalogue"] == pytest.approx((timed.time_s, *timed.interval), rel=1e-12)


@pytest.mark.cuda
def test_processes_answer_as_one_does() -> None:
    rows = [r for r in ROWS if corpus_judgement.key_of(r)[1] in ("1/1", "1/4") and r.stable]
    boards = {"catalogue": BOARD}
    found = corpus_judgement.judge(rows, boards, silent)
    alone = [times(corpus_judgement.key_of(r), [corpus_judgement.state_of(r)], boards)[0] for r in rows]
    assert [row.predictions for row in found] == alone
