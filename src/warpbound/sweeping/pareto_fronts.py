"""Results of a sweep: the Pareto fronts of time, energy, registers and cost, and the boards that reach the target.

Models   Pareto fronts: points that no other point of the same kernel beats in one quantity without losing in another.
         A board reaches the target if the kernels, each with its best tuning, become `target` times as fast in the
         geometric mean as with their best tuning on the board's own values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass

Array = NDArray[np.float64]
OBJECTIVES = ("time_s", "energy_J", "registers", "cost")
EQUAL = 1e-9  # relative: numbers that differ by less are the same


@dataclass(frozen=True)
class FrontPoint:
    """One point of a kernel's front: number, words and quantities of it; None where a quantity is not known."""

    point: int
    gpu: str
    defines: str
    parameters: dict[str, float]
    quantities: dict[str, float | None]
    bottleneck: str | None


@dataclass(frozen=True)
class Front:
    kernel: str
    launch: str
    points: int
    without_answer: int
    front: list[FrontPoint]


@dataclass(frozen=True)
class Sufficient:
    """Least changes of a board that reach the target: times of its own values; speed-ups of mean and slowest kernel."""

    gpu: str
    times: dict[str, float]
    speedup: float
    least_speedup: float
    reaching: int
    kernels: int


@dataclass(frozen=True)
class Summary:
    points: int
    without_answer: int
    target: float
    fronts: list[Front]
    sufficient: list[Sufficient]
    best: list[Sufficient]


def summary(rows: Any, target: float) -> Summary:
    """rows : a pyarrow Table of a sweep."""
    columns = columns_of(rows)
    parameters = parameters_of(columns)
    reached, best = _boards(columns, parameters, target)
    failed = np.isnan(columns["time_s"])
    return Summary(rows.num_rows, int(failed.sum()), target, _fronts(columns), reached, best)


def columns_of(rows: Any) -> dict[str, Any]:
    """Numbers as float arrays, words as arrays of objects."""
    return {
        name: rows[name].to_numpy(zero_copy_only=False).astype(object if str(rows.schema.field(name).type) == "string"
                                                               else np.float64)
        for name in rows.column_names
    }  # fmt: skip


def parameters_of(columns: dict[str, Any]) -> list[str]:
    """Parameters of boards that the sweep varies."""
    return [name.removesuffix(" times") for name in columns if name.endswith(" times")]


def dominated(values: Array) -> NDArray[np.bool_]:
    """Whether another row is at least as small in every column and smaller in one; values : (rows, columns)."""
    order = np.lexsort(values.T[::-1])
    beaten = np.zeros(len(values), dtype=bool)
    for place, row in enumerate(order):
        if not beaten[row]:
            later = order[place + 1 :]
            later = later[~beaten[later]]
            others = values[later]
            beaten[later] = (others >= values[row]).all(axis=1) & (others > values[row]).any(axis=1)
    return beaten


def subjects_of(columns: dict[str, Any]) -> NDArray[np.object_]:
    """Of each row its source and launch, separated by a zero character."""
    pairs = zip(columns["source"], columns["launch"], strict=True)
    return np.array([f"{source}\0{launch}" for source, launch in pairs], dtype=object)


def _fronts(columns: dict[str, Any]) -> list[Front]:
    names = subjects_of(columns)
    fronts = []
    for name in dict.fromkeys(names):
        rows = np.flatnonzero(names == name)
        rows_with_time = rows[~np.isnan(columns["time_s"][rows])]
        objectives = [
            each for each in OBJECTIVES if len(rows_with_time) and not np.isnan(columns[each][rows_with_time]).any()
        ]
        front = front_points(columns, rows_with_time, objectives, objectives) if objectives else []
        kernel, _, launch = name.partition("\0")
        fronts.append(Front(kernel, launch, len(rows), len(rows) - len(rows_with_time), front))
    return fronts


def front_points(
    columns: dict[str, Any], rows: NDArray[np.int64], quantities: Sequence[str], varied: Sequence[str]
) -> list[FrontPoint]:
    """The rows on the Pareto front of the quantities, by the first quantity ascending; of equal points the first.

    varied : quantities that each has besides its own, None where one is not known.
    """
    values = np.stack([columns[name][rows] for name in quantities], axis=1)
    rounded = np.exp(np.round(np.log(np.maximum(values, 1e-300)) / EQUAL) * EQUAL)
    unique, first = np.unique(rounded, axis=0, return_index=True)
    best = first[~dominated(unique)]
    best_rows = rows[best[np.argsort(values[best, 0], kind="stable")]]
    return [
        FrontPoint(
            point=int(columns["point"][row]),
            gpu=columns["gpu"][row],
            defines=columns["defines"][row],
            parameters={name: float(columns[name][row]) for name in parameters_of(columns)},
            quantities={name: _known(columns[name][row]) if name in varied else None for name in OBJECTIVES},
            bottleneck=columns["bottleneck"][row],
        )
        for row in best_rows.tolist()
    ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _boards(
    columns: dict[str, Any], parameters: list[str], target: float
) -> tuple[list[Sufficient], list[Sufficient]]:
    """(the least changes of each board that reach the target, the fastest board of each that does not)."""
    reached: list[Sufficient] = []
    best: list[Sufficient] = []
    if not parameters:
        return reached, best
    for gpu in dict.fromkeys(columns["gpu"]):
        rows = np.flatnonzero(columns["gpu"] == gpu)
        times = np.stack([columns[f"{name} times"][rows] for name in parameters], axis=1)
        boards, of_row = np.unique(np.round(times, 9), axis=0, return_inverse=True)
        gains = _gains(columns, rows, of_row.ravel(), len(boards))
        mean = np.exp(np.mean(np.log(gains), axis=0))
        enough = np.flatnonzero(mean >= target * (1 - EQUAL))
        change = np.abs(np.log(boards))
        for index in enough[~dominated(change[enough])] if len(enough) else ():
            reached.append(_board(gpu, parameters, boards[index], gains[:, index], target))
        if not len(enough):
            index = int(np.argmax(mean))
            best.append(_board(gpu, parameters, boards[index], gains[:, index], target))
    return reached, best


def _gains(
    columns: dict[str, Any], rows: NDArray[np.int64], of_row: NDArray[np.int64], boards: int
) -> Array:
    """Own best time over the best time, (kernels, boards); 0 where a kernel has no answer."""
    kernels = [f"{columns['source'][row]}\0{columns['launch'][row]}" for row in rows]
    names = list(dict.fromkeys(kernels))
    number = np.array([names.index(name) for name in kernels])
    best = np.full((len(names), boards), np.inf)
    own = np.full(len(names), np.inf)
    time_s, own_s = columns["time_s"][rows], columns["own_time_s"][rows]
    with_time = ~np.isnan(time_s)
    np.minimum.at(best, (number[with_time], of_row[with_time]), time_s[with_time])
    np.minimum.at(own, number[with_time], own_s[with_time])
    finite = np.isfinite(own)
    return np.asarray(np.maximum(own[finite, None] / best[finite], 1e-9))


def _board(gpu: str, parameters: list[str], times: Array, gains: Array, target: float) -> Sufficient:
    return Sufficient(
        gpu, dict(zip(parameters, times.tolist(), strict=True)), float(np.exp(np.mean(np.log(gains)))),
        float(gains.min()), int((gains >= target * (1 - EQUAL)).sum()), len(gains),
    )  # fmt: skip
