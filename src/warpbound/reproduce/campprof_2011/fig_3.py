"""Figure 3: time in one partition over time in all of them, at full occupancy; and over active warps."""

import numpy as np

from warpbound.adapt.partition_benchmarks import GROUPS, Benchmarks, shipped
from warpbound.models.campprof_2011 import SIZES, WORDS
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Slow-down of reads and writes of each size."""
    table = _table(given)
    found = {}
    for operation in ("reads", "writes"):
        for size, word in zip(SIZES, WORDS, strict=True):
            warps, free = _times(table, operation, word)
            _, camped = _times(table, f"camped_{operation}", word)
            found[f"{operation} of {size} B"] = float((camped / free)[warps == given["warps"]][0])
    return found


def figures(given: Given) -> tuple[Figure, ...]:
    """64-byte reads with and without camping."""
    table = _table(given)
    lines = {"without camping": "reads", "with camping": "camped_reads"}
    return (
        Figure(
            "Time of the 64-byte read micro-benchmark",
            Axis("active warps per SM", "warp/SM"),
            Axis("time", "s"),
            tuple(series(words, *_times(table, group, 4), "both") for words, group in lines.items()),
            "CampProf, Figure 3: simulated",
        ),
    )


def _table(given: Given) -> Benchmarks:
    table = shipped(given["gpu"])
    if table is None:
        raise ValueError(f"{given['gpu']} has no benchmark data")
    return table


def _times(table: Benchmarks, group: str, word: int) -> tuple[np.ndarray, np.ndarray]:
    if group not in GROUPS:
        raise ValueError(f"there is no regression {group}")
    rows = table.group(group) & (table.word == word)
    return table.warps[rows], table.time[rows]
