"""The predicted times of the corpus against the measured ones, for the catalogue's board and for the measured one."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

from warpbound.machine import Gpu
from warpbound.measure.case import Record
from warpbound.measure.corpus.predicting import Answer, Key, State, times
from warpbound.measure.corpus.subjects import launches, subjects

FULL = "1/1"


@dataclass(frozen=True)
class Judged:
    """One measured launch. predicted : board's label -> (seconds, low, high). refused : board's label -> why not."""

    key: Key
    cache: str
    seconds: float
    predicted: Mapping[str, tuple[float, float, float]]
    refused: Mapping[str, str] = field(default_factory=dict)


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


Predict = Callable[[Key, Sequence[State], Mapping[str, Gpu]], list[dict[str, Answer]]]
Tell = Callable[[str], None]
TELL_EVERY_S = 5.0


def key_of(record: Record) -> Key:
    """Subject and launch."""
    return str(record.axes["example"]), str(record.axes["launch"])


def state_of(record: Record) -> State:
    """Caches, and the clock observed in MHz."""
    return str(record.axes["cache"]), round(record.clock_Hz / 1e6, 1)


def judged(records: Iterable[Record], boards: Mapping[str, Gpu], tell: Tell, predict: Predict = times) -> list[Judged]:
    """Every stable record of the corpus on every board, in the order of the records."""
    kept = [r for r in records if r.stable and _is_known(key_of(r))]
    by_key: dict[Key, list[Record]] = {}
    for record in kept:
        by_key.setdefault(key_of(record), []).append(record)
    tasks = [(key, [state_of(record) for record in mine], boards) for key, mine in by_key.items()]
    said: dict[tuple[Key, str], dict[str, Answer]] = {}
    for (key, states, _), rows in zip(tasks, _done(predict, tasks, tell), strict=True):
        said |= {(key, cache): row for (cache, _), row in zip(states, rows, strict=True)}
    return [_judged(r, said[key_of(r), str(r.axes["cache"])]) for r in kept]


def _is_known(key: Key) -> bool:
    """Whether the corpus of this machine has the launch: a file may come from one with other examples."""
    return key[0] in subjects() and key[1] in launches(subjects()[key[0]])


def _judged(record: Record, answers: Mapping[str, Answer]) -> Judged:
    predicted = {label: answer for label, answer in answers.items() if not isinstance(answer, str)}
    refused = {label: answer for label, answer in answers.items() if isinstance(answer, str)}
    return Judged(key_of(record), str(record.axes["cache"]), float(record.value["seconds"]), predicted, refused)


def _done(predict: Predict, tasks: Sequence[Any], tell: Tell) -> Iterator[list[dict[str, Answer]]]:
    """Answers in the order of the tasks, by as many processes as there are processors; tells how far it is."""
    begun = told = time.monotonic()
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, len(tasks))
    with ExitStack() as stack:
        if workers > 1 and predict is times:
            pool = stack.enter_context(ProcessPoolExecutor(workers, get_context("spawn")))
            answers: Iterator[list[dict[str, Answer]]] = pool.map(predict, *zip(*tasks, strict=True))
        else:
            answers = (predict(*task) for task in tasks)
        for number, answer in enumerate(answers, 1):
            now = time.monotonic()
            if now - told >= TELL_EVERY_S:
                told = now
                left = (len(tasks) - number) * (now - begun) / number
                tell(f"{number} of {len(tasks)} kernels and launches predicted, about {left:.0f} s left")
            yield answer


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
            f"{label} refused: {row.refused.get(label, '')}" for label in labels
        )  # fmt: skip
        lines.append(f"{row.key[0]:16s} {row.key[1]:36s} {row.cache:4s} {1e6 * row.seconds:11.2f} us  {errors}")
    return lines
