"""Watts and clocks predicted from the kernel alone, against readings: with the board's own parameters, and without it.

Source   power/watts.csv, which names its own: readings of rows of the corpus `intensities`.
Models   240 rows of an array, repeated until the board holds a clock. *Held back*: no reading of the judged board is
         fitted. Of A100 and A40 other boards of the kind remain; L40 and L40S get each other's parameters; the GH200
         gets the A100's, in proportion to the power limit, and to the SMs and the highest clock.
Omits    the clock of rows at the highest clock: where nothing binds, it says nothing of the prediction.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from statistics import mean

import msgspec

from warpbound.analysis.answer import reworked, work_of
from warpbound.analysis.case import Case, case_of
from warpbound.analysis.settings import SUSTAINED, Settings
from warpbound.analysis.static import Work
from warpbound.analysis.sustained_clock import settled
from warpbound.board_parameters import PARAMETERS, UNITS
from warpbound.errors import InputError
from warpbound.machine import Gpu, gpu, override
from warpbound.power.calibrate import Reading, calibrated, mean_watts, readings, top_hz
from warpbound.power.draw import FIT_PARAMETERS, PowerParameters
from warpbound.validate.corpus import Corpus, Row
from warpbound.validate.row_prediction import row_case
from warpbound.validate.scores import ALL

CORPUS = "intensities"
GIGA = 1e9
MANY_ROWS = "rows=240"  # of an array: so many that starting the launch does not count
IN_PLACE_OF = {"l40": "l40s", "l40s": "l40"}  # boards whose parameters serve as they are
SCALED_FROM = {"gh200": "a100-sxm-40gb"}
RowOfCorpus = tuple[Corpus, Row]


class Held(msgspec.Struct, frozen=True):
    """What a board draws while a launch repeats, and the clock that it holds."""

    watts: float
    clock_MHz: float


class PowerRow(msgspec.Struct, frozen=True):
    """A row with a reading. own : predicted from the board's file. held_back : from readings of other boards.

    gpu : the board that was read. slowed : whether it ran below its highest clock.
    """

    corpus: str
    gpu: str
    label: str
    slowed: bool
    measured: Held
    own: Held
    held_back: Held


class PowerLine(msgspec.Struct, frozen=True):
    """Mean absolute relative errors over n rows of a board, or of ALL; of clocks over the slowed rows, if any."""

    corpus: str
    gpu: str
    n: int
    watts: float
    watts_held_back: float
    slowed: int
    clock: float | None
    clock_held_back: float | None


def power_rows(
    rows: Iterable[RowOfCorpus], progress: Callable[[Iterable[RowOfCorpus]], Iterable[RowOfCorpus]] = iter
) -> Iterator[PowerRow]:
    """Predictions for those of the rows that have a reading."""
    for corpus, row in progress([(corpus, row) for corpus, row in rows if _reading(corpus, row) is not None]):
        if (reading := _reading(corpus, row)) is not None:
            yield power_row(corpus, row, reading)


def power_lines(rows: Sequence[PowerRow]) -> Iterator[PowerLine]:
    """Scores by corpus and board; of all boards last."""
    for corpus in dict.fromkeys(row.corpus for row in rows):
        of_corpus = [row for row in rows if row.corpus == corpus]
        for board in (*dict.fromkeys(row.gpu for row in of_corpus), ALL):
            yield _line(corpus, board, [row for row in of_corpus if board in (ALL, row.gpu)])


def power_row(corpus: Corpus, row: Row, reading: Reading) -> PowerRow:
    """The row at the clock that the board holds, and at the one that it would hold with others' parameters."""
    board, measured_row = gpu(reading.board), row_case(corpus, row, (MANY_ROWS,))
    settings = Settings(clock=SUSTAINED, cache=measured_row.settings.cache)
    case = case_of(measured_row.program, board, measured_row.launch, settings)
    work = work_of(case)
    unseen = replace(case, gpu=with_power(board, held_back(reading.board, reading.device)))
    return PowerRow(
        corpus.name, reading.board, row.label(corpus.shared), reading.clock_hz < top_hz(reading.board),
        Held(mean_watts(reading), reading.clock_hz / 1e6), _held(case, work), _held(unseen, work),
    )  # fmt: skip


@cache
def held_back(board: str, device: str) -> PowerParameters:
    """Parameters of a board's kind from readings of other boards."""
    others = [x for x in readings() if (x.board, x.device) != (board, device)]
    if (relative := IN_PLACE_OF.get(board)) is not None:
        return calibrated(others)[relative]
    if (relative := SCALED_FROM.get(board)) is not None:
        other, own, theirs = calibrated(others)[relative], gpu(board), gpu(relative)
        by_clock = own.value("sm_count") * top_hz(board) / (theirs.value("sm_count") * top_hz(relative))
        by_limit = own.value("tdp") / theirs.value("tdp")
        return replace(
            other, standing_power=other.standing_power * by_limit, clocked_power=other.clocked_power * by_clock
        )
    return calibrated(others)[board]


def with_power(board: Gpu, p: PowerParameters) -> Gpu:
    """The board with these parameters of its power."""
    return override(board, {name: getattr(p, name) / UNITS[PARAMETERS[name].units[0]] for name in FIT_PARAMETERS})


def _held(case: Case, work: Work) -> Held:
    at_rest, _ = settled(case, work, reworked)
    if at_rest.held_clock is None:
        raise InputError(f"{case.gpu.name} has no clock under {case.program.title}.", "Give its power parameters.")
    operation = at_rest.held_clock.operation
    return Held(operation.watts, operation.clock_hz / 1e6)


def _reading(corpus: Corpus, row: Row) -> Reading | None:
    """The first reading of the same work at the same rate: of the board, or of the L40 that runs as an L40S."""
    if corpus.name != CORPUS:
        return None
    operations, steps = GIGA * float(row.words["Gop/s"]), int(row.words["steps"])
    same = (x for x in _readings() if (x.steps, x.operations) == (steps, operations))
    return next((x for x in same if x.board in (row.gpu, f"{row.gpu}s")), None)


_readings = cache(readings)


def _line(corpus: str, board: str, rows: Sequence[PowerRow]) -> PowerLine:
    slowed = [row for row in rows if row.slowed]
    return PowerLine(
        corpus, board, len(rows),
        mean(abs(row.own.watts / row.measured.watts - 1.0) for row in rows),
        mean(abs(row.held_back.watts / row.measured.watts - 1.0) for row in rows),
        len(slowed),
        mean(abs(row.own.clock_MHz / row.measured.clock_MHz - 1.0) for row in slowed) if slowed else None,
        mean(abs(row.held_back.clock_MHz / row.measured.clock_MHz - 1.0) for row in slowed) if slowed else None,
    )  # fmt: skip
