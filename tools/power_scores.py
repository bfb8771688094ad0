"""Watts and clocks predicted from the kernel alone, against readings: with each board's own parameters, and without it.

    python tools/power_scores.py    print the table of docs/model-notes/power-and-clock.md (a minute)

The rows are those of the corpus `intensities` with a reading in power/watts.csv. *Held back*: no reading of the judged
board is fitted. Of A100 and A40 other boards of the kind remain; L40 and L40S get each other's parameters; the GH200
gets the A100's, in proportion to the power limit, and to the SMs and the highest clock.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from warpbound.analysis.answer import reworked, work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.settings import SUSTAINED, Settings
from warpbound.analysis.sustained_clock import settled
from warpbound.machine import Gpu, gpu, override
from warpbound.power.calibrate import Reading, calibrated, mean_watts, readings, top_hz
from warpbound.power.draw import PowerParameters
from warpbound.validate.corpus import Corpus, Row, corpus
from warpbound.validate.row_prediction import row_case

GIGA = 1e9
MANY_ROWS = "rows=240"  # of an array: so many that starting the launch does not count
IN_PLACE_OF = {"l40": "l40s", "l40s": "l40"}  # boards whose parameters serve as they are
SCALED_FROM = {"gh200": "a100-sxm-40gb"}
OF_A_BOARD = {  # parameter of a board's file -> field, and its unit there
    "standing_power": ("standing", 1.0), "clocked_power": ("clocked", 1.0), "voltage_floor": ("floor", 1.0),
    "voltage_knee": ("knee", 1.0), "instruction_energy": ("instruction", 1e-12), "dram_energy": ("dram", 1e-12),
}  # fmt: skip


@dataclass(frozen=True)
class Score:
    """One row: the relative errors of watts and clock; slowed : whether the board ran below its highest clock."""

    board: str
    watts: float
    clock: float
    slowed: bool


def held_back(reading: Reading) -> PowerParameters:
    """Parameters from readings of other boards."""
    board = reading.board
    others = [row for row in readings() if (row.board, row.device) != (board, reading.device)]
    if (relative := IN_PLACE_OF.get(board)) is not None:
        return calibrated(others)[relative]
    if (relative := SCALED_FROM.get(board)) is not None:
        other, own, theirs = calibrated(others)[relative], gpu(board), gpu(relative)
        by_clock = own.value("sm_count") * top_hz(board) / (theirs.value("sm_count") * top_hz(relative))
        by_limit = own.value("tdp") / theirs.value("tdp")
        return replace(other, standing=other.standing * by_limit, clocked=other.clocked * by_clock)
    return calibrated(others)[board]


def with_power(board: Gpu, p: PowerParameters) -> Gpu:
    """The board with these parameters of its power."""
    return override(board, {name: getattr(p, field) / unit for name, (field, unit) in OF_A_BOARD.items()})


def score(rows: Corpus, row: Row, reading: Reading, board: Gpu) -> Score:
    """The prediction with the clock that the board holds, against the reading."""
    measured = row_case(rows, row, (MANY_ROWS,))
    case = case_of(measured.program, board, measured.launch, Settings(clock=SUSTAINED, cache=measured.settings.cache))
    case, _ = settled(case, work_of(case), reworked)
    assert case.held_clock is not None
    operation = case.held_clock.operation
    return Score(
        reading.board, operation.watts / mean_watts(reading) - 1.0, operation.clock_hz / reading.clock_hz - 1.0,
        reading.clock_hz < top_hz(reading.board),
    )  # fmt: skip


def pairs(rows: Corpus) -> Iterator[tuple[Row, Reading]]:
    """Rows with the first reading of the same work at the same rate."""
    for row in rows.rows:
        operations = GIGA * float(row.words["Gop/s"])
        same = (x for x in readings() if x.steps == int(row.words["steps"]) and x.operations == operations)
        if (reading := next((x for x in same if x.board in (row.gpu, f"{row.gpu}s")), None)) is not None:
            yield row, reading


def scores(parameters_of: Callable[[Reading], PowerParameters]) -> list[Score]:
    """Of all rows."""
    rows, known = corpus("intensities"), dict[tuple[str, str], Gpu]()
    result = []
    for row, reading in pairs(rows):
        key = reading.board, reading.device
        if key not in known:
            known[key] = with_power(gpu(reading.board), parameters_of(reading))
        result.append(score(rows, row, reading, known[key]))
    return result


def mean(errors: list[float]) -> str:
    return f"{100 * np.mean(np.abs(errors)):.1f} %" if errors else "-"


def table(own: Mapping[str, list[Score]], other: Mapping[str, list[Score]]) -> Iterator[str]:
    """Lines of the table."""
    yield "| board | rows | W | W, held back | rows below the highest clock | MHz | MHz, held back |"
    yield "|---|---|---|---|---|---|---|"
    for board, each in own.items():
        slow = [[x.clock for x in one[board] if x.slowed] for one in (own, other)]
        watts = [[x.watts for x in one[board]] for one in (own, other)]
        yield (f"| {'all' if board == 'all' else gpu(board).name} | {len(each)} | {mean(watts[0])} | {mean(watts[1])} "
               f"| {len(slow[0])} | {mean(slow[0])} | {mean(slow[1])} |")  # fmt: skip


def by_board(found: list[Score]) -> dict[str, list[Score]]:
    boards = dict.fromkeys(x.board for x in found)
    return {board: [x for x in found if x.board == board] for board in boards} | {"all": found}


if __name__ == "__main__":
    fitted = calibrated(readings())
    lines = table(by_board(scores(lambda x: fitted[x.board])), by_board(scores(held_back)))
    print("\n".join(lines))  # noqa: T201  (the command prints its table)
