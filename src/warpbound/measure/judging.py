"""The predicted times of the corpus against the measured ones, for the catalogue's board and for the measured one."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from warpbound.analysis import work_of
from warpbound.analysis.timing import launch_prediction
from warpbound.errors import WarpboundError
from warpbound.machine import Gpu
from warpbound.measure.case import Record
from warpbound.measure.corpus.predicting import Key, case_for
from warpbound.measure.corpus.subjects import launches, subjects

FULL = "1/1"


@dataclass(frozen=True)
class Judged:
    """One measured launch. predicted : board's label -> (seconds, low, high); absent where it was refused."""

    key: Key
    cache: str
    seconds: float
    predicted: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class Score:
    """Relative errors over launches, and how many 80 % intervals held the measured time; regret: how much slower the
    tuning is that is predicted to be the quickest, mean over subjects."""

    launches: int
    mean: float
    p95: float
    worst: float
    within: float
    regret: float | None


Predict = Callable[[Record, Gpu], tuple[float, float, float]]


def key_of(record: Record) -> Key:
    """Subject and launch."""
    return str(record.axes["example"]), str(record.axes["launch"])


def predicted(record: Record, board: Gpu) -> tuple[float, float, float]:
    """Seconds with their interval, at the clock observed. Raises WarpboundError where there is no prediction."""
    case = case_for(key_of(record), board, str(record.axes["cache"]), round(record.clock_Hz / 1e6, 1))
    timed = launch_prediction(case, work_of(case))
    if timed is None:
        raise WarpboundError(f"{key_of(record)} was not executed.", "See `warpbound analyze`.")
    return (timed.time_s, *timed.interval)


def judged(records: Iterable[Record], boards: Mapping[str, Gpu], predict: Predict = predicted) -> Iterator[Judged]:
    """Every stable record of the corpus on every board."""
    for record in records:
        if record.stable and key_of(record)[1] in launches(subjects()[key_of(record)[0]]):
            found = {}
            for label, board in boards.items():
                try:
                    found[label] = predict(record, board)
                except WarpboundError:
                    continue
            yield Judged(key_of(record), str(record.axes["cache"]), float(record.value["seconds"]), found)


def score(rows: Iterable[Judged], label: str) -> Score | None:
    """Of one board; None without a single prediction."""
    mine = [row for row in rows if label in row.predicted]
    if not mine:
        return None
    measured = np.array([row.seconds for row in mine])
    said, low, high = np.array([row.predicted[label] for row in mine]).T
    errors = np.abs(said / measured - 1.0)
    held = (low <= measured) & (measured <= high)
    return Score(
        len(mine), float(errors.mean()), float(np.quantile(errors, 0.95)), float(errors.max()), float(held.mean()),
        regret(mine, label),
    )  # fmt: skip


def regret(rows: Iterable[Judged], label: str) -> float | None:
    """Warm launches at full size only: the tunings of a subject do the same work."""
    by_subject: dict[str, list[Judged]] = {}
    for row in rows:
        ways = {FULL, *(way.name for way in subjects()[row.key[0]].tunings)}
        if row.cache == "warm" and row.key[1] in ways and label in row.predicted:
            by_subject.setdefault(row.key[0], []).append(row)
    lost = []
    for mine in by_subject.values():
        if len(mine) > 1:
            chosen = min(mine, key=lambda row: row.predicted[label][0])
            lost.append(chosen.seconds / min(row.seconds for row in mine) - 1.0)
    return float(np.mean(lost)) if lost else None


def table(rows: list[Judged], labels: Iterable[str]) -> list[str]:
    """Scores, then every launch; errors in per cent."""
    lines = []
    for label in labels:
        if found := score(rows, label):
            lost = "" if found.regret is None else f", regret of the tunings {100 * found.regret:.1f} %"
            lines.append(
                f"{label}: {found.launches} launches, mean error {100 * found.mean:.1f} %, "
                f"P95 {100 * found.p95:.1f} %, worst {100 * found.worst:.1f} %, "
                f"{100 * found.within:.0f} % inside the 80 % interval{lost}."
            )
        else:
            lines.append(f"{label}: no launch could be predicted.")
    for row in rows:
        errors = "  ".join(
            f"{label} {100 * (row.predicted[label][0] / row.seconds - 1):+7.1f} %" if label in row.predicted else
            f"{label} refused" for label in labels
        )  # fmt: skip
        lines.append(f"{row.key[0]:16s} {row.key[1]:36s} {row.cache:4s} {1e6 * row.seconds:11.2f} us  {errors}")
    return lines
