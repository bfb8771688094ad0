"""Predicted against measured times of the corpus, for the catalogue's board and for the measured one."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import field
from multiprocessing import get_context
from typing import Any

import numpy as np

from warpbound.machine import Gpu
from warpbound.measure.case import Record
from warpbound.measure.corpus.prediction import Key, Prediction, State, times
from warpbound.measure.corpus.subjects import launches, subjects
from warpbound.quick_dataclasses import dataclass

FULL = "1/1"


@dataclass(frozen=True)
class JudgedLaunch:
    """A measured launch. predictions : board label -> (seconds, low, high). refused : board label -> reason."""

    key: Key
    cache: str
    seconds: float
    predictions: Mapping[str, tuple[float, float, float]]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Score:
    """Relative errors over launches. within : share of the 80 % intervals that hold the measured time. regret : mean
    slowdown, over subjects, of the tuning that is predicted to be the quickest."""

    launches: int
    mean: float
    p95: float
    worst: float
    within: float
    regret: float | None


Predict = Callable[[Key, Sequence[State], Mapping[str, Gpu]], list[dict[str, Prediction]]]
Report = Callable[[str], None]
REPORT_EVERY_S = 5.0


def key_of(record: Record) -> Key:
    """Subject and launch."""
    return str(record.axes["example"]), str(record.axes["launch"])


def state_of(record: Record) -> State:
    """Caches, and the clock observed in MHz."""
    return str(record.axes["cache"]), round(record.clock_Hz / 1e6, 1)


def judge(
    records: Iterable[Record], boards: Mapping[str, Gpu], report: Report, predict: Predict = times
) -> list[JudgedLaunch]:
    """Every stable record of the corpus on every board, in the order of the records."""
    stable = [r for r in records if r.stable and _is_known(key_of(r))]
    by_key: dict[Key, list[Record]] = {}
    for record in stable:
        by_key.setdefault(key_of(record), []).append(record)
    tasks = [(key, [state_of(record) for record in same], boards) for key, same in by_key.items()]
    predictions: dict[tuple[Key, str], dict[str, Prediction]] = {}
    for (key, states, _), rows in zip(tasks, _run(predict, tasks, report), strict=True):
        predictions |= {(key, cache): row for (cache, _), row in zip(states, rows, strict=True)}
    return [_judged(r, predictions[key_of(r), str(r.axes["cache"])]) for r in stable]


def _is_known(key: Key) -> bool:
    """Whether this corpus has the launch: the file may come from a machine with other examples."""
    return key[0] in subjects() and key[1] in launches(subjects()[key[0]])


def _judged(record: Record, predictions: Mapping[str, Prediction]) -> JudgedLaunch:
    answers = {label: x for label, x in predictions.items() if not isinstance(x, str)}
    refused = {label: x for label, x in predictions.items() if isinstance(x, str)}
    return JudgedLaunch(key_of(record), str(record.axes["cache"]), float(record.value["seconds"]), answers, refused)


def _run(predict: Predict, tasks: Sequence[Any], report: Report) -> Iterator[list[dict[str, Prediction]]]:
    """Predictions in the order of the tasks, in one process per processor; reports the progress."""
    begin = last_report = time.monotonic()
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, len(tasks))
    with ExitStack() as stack:
        if workers > 1 and predict is times:
            pool = stack.enter_context(ProcessPoolExecutor(workers, get_context("spawn")))
            results: Iterator[list[dict[str, Prediction]]] = pool.map(predict, *zip(*tasks, strict=True))
        else:
            results = (predict(*task) for task in tasks)
        for number, result in enumerate(results, 1):
            now = time.monotonic()
            if now - last_report >= REPORT_EVERY_S:
                last_report = now
                left_s = (len(tasks) - number) * (now - begin) / number
                report(f"{number} of {len(tasks)} kernels and launches predicted, about {left_s:.0f} s left")
            yield result


def score(rows: Iterable[JudgedLaunch], label: str) -> Score | None:
    """Score of one board; None without predictions."""
    judged_rows = [row for row in rows if label in row.predictions]
    if not judged_rows:
        return None
    measurements = np.array([row.seconds for row in judged_rows])
    estimates, low, high = np.array([row.predictions[label] for row in judged_rows]).T
    errors = np.abs(estimates / measurements - 1.0)
    within = (low <= measurements) & (measurements <= high)
    return Score(
        len(judged_rows), float(errors.mean()), float(np.quantile(errors, 0.95)), float(errors.max()),
        float(within.mean()),
        regret(judged_rows, label),
    )  # fmt: skip


def regret(rows: Iterable[JudgedLaunch], label: str) -> float | None:
    """Mean slowdown of the chosen tunings; warm launches at full size only, which do the same work."""
    by_subject: dict[str, list[JudgedLaunch]] = {}
    for row in rows:
        labels = {FULL, *(tuning.name for tuning in subjects()[row.key[0]].tunings)}
        if row.cache == "warm" and row.key[1] in labels and label in row.predictions:
            by_subject.setdefault(row.key[0], []).append(row)
    slowdowns = []
    for same in by_subject.values():
        if len(same) > 1:
            choice = min(same, key=lambda row: row.predictions[label][0])
            slowdowns.append(choice.seconds / min(row.seconds for row in same) - 1.0)
    return float(np.mean(slowdowns)) if slowdowns else None


def table(rows: list[JudgedLaunch], labels: Iterable[str]) -> list[str]:
    """Scores, then every launch; errors in per cent."""
    lines = []
    for label in labels:
        if x := score(rows, label):
            regrets = "" if x.regret is None else f", regret of the tunings {100 * x.regret:.1f} %"
            lines.append(
                f"{label}: {x.launches} launches, mean error {100 * x.mean:.1f} %, "
                f"P95 {100 * x.p95:.1f} %, worst {100 * x.worst:.1f} %, "
                f"{100 * x.within:.0f} % inside the 80 % interval{regrets}."
            )
        else:
            lines.append(f"{label}: no launch could be predicted.")
    for row in rows:
        errors = "  ".join(
            f"{label} {100 * (row.predictions[label][0] / row.seconds - 1):+7.1f} %" if label in row.predictions else
            f"{label} refused: {row.refused.get(label, '')}" for label in labels
        )  # fmt: skip
        lines.append(f"{row.key[0]:16s} {row.key[1]:36s} {row.cache:4s} {1e6 * row.seconds:11.2f} us  {errors}")
    return lines
