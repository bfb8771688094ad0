"""Scores of predicted times, worked out by hand, and one launch of the corpus through the whole chain."""

from dataclasses import replace

import pytest

from warpbound.errors import WarpboundError
from warpbound.machine import Gpu, gpu
from warpbound.measure import judging
from warpbound.measure.case import Record

BOARD = gpu("h200")


def record(example: str, launch: str, seconds: float) -> Record:
    return Record({"example": example, "launch": launch, "cache": "warm"}, {"seconds": seconds}, 5, 0.0, 1.98e9)


SAID = {"tile32-rows8-pad0": 1.0, "tile16-rows16-pad1": 3.0, "1/1": 2.0, "1/4": 0.5}


def fixed(one: Record, board: Gpu) -> tuple[float, float, float]:
    said = SAID.get(judging.key_of(one)[1])
    if said is None:
        raise WarpboundError("no.", "none")
    return said, 0.9 * said, 1.1 * said


ROWS = [
    record("transpose", "1/1", 2.0), record("transpose", "tile32-rows8-pad0", 2.5),
    record("transpose", "tile16-rows16-pad1", 2.9), record("transpose", "1/4", 0.4),
    record("transpose", "tile32-rows4-pad1", 9.0), replace(record("transpose", "1/1", 7.0), stable=False),
]  # fmt: skip


def test_errors_by_hand() -> None:
    rows = list(judging.judged(ROWS, {"catalogue": BOARD}, fixed))
    assert len(rows) == 5  # without the one at another clock
    found = judging.score(rows, "catalogue")
    assert found is not None
    errors = [0.0, 0.6, 3 / 2.9 - 1, 0.25]
    assert found.launches == 4  # one was refused
    assert found.mean == pytest.approx(sum(errors) / 4)
    assert found.worst == pytest.approx(0.6)
    assert found.within == pytest.approx(2 / 4)
    assert found.regret == pytest.approx(2.5 / 2.0 - 1)  # pad0 is said to be the quickest, 1/1 is
    assert judging.score(rows, "measured") is None


def test_the_table_has_a_line_for_each() -> None:
    rows = list(judging.judged(ROWS, {"catalogue": BOARD, "measured": BOARD}, fixed))
    lines = judging.table(rows, ("catalogue", "measured"))
    assert len(lines) == 2 + 5
    assert "4 launches, mean error 22.1 %" in lines[0]
    assert "regret of the tunings 25.0 %" in lines[0]
    assert "refused" in lines[-1]


@pytest.mark.cuda
def test_a_launch_of_the_corpus_is_predicted() -> None:
    whole, low, high = judging.predicted(record("transpose", "1/1", 1.0), BOARD)
    quarter, _, _ = judging.predicted(record("transpose", "1/4", 1.0), BOARD)
    assert low < whole < high
    assert 2.0 < whole / quarter < 5.0
    bytes_moved = 2 * 4 * 8192**2
    assert whole > bytes_moved / BOARD.value("dram_bandwidth")
