"""Figure 9: errors of the best case, the worst case and the application line."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from warpbound.adapt.partition_benchmarks import shipped
from warpbound.camping.validation import Judged, judged, kernels, timed
from warpbound.machine import gpu
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.simulate.partitions import machine_of

FORM = "published"


def numbers(given: Given) -> Numbers:
    """In the paper's equation, percent."""
    found = validated(given["gpu"])
    return {
        "GEM, best case": 100 * found["GEM"].best_error,
        "transpose, diagonal, best case": 100 * found["transpose, diagonal"].best_error,
        "copy in one partition, worst case": 100 * found["copy in one partition"].worst_error,
        "clique counter, line": 100 * found["clique counter"].line_error,
        "transpose, coalesced, line": 100 * found["transpose, coalesced"].line_error,
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """GEM and its best case."""
    one = validated(given["gpu"])["GEM"]
    warps = one.known.warps
    return (
        Figure(
            "GEM: time and best case",
            Axis("active warps per SM", "warp/SM"),
            Axis("time", "s"),
            (series("simulated", warps, one.times, "both"), series("best case", warps, one.band.best)),
            "CampProf, Figure 9a: simulated",
        ),
    )


@cache
def validated(board: str) -> dict[str, Judged]:
    """Each kernel of the validation by its name."""
    table, machine = shipped(board), machine_of(gpu(board))
    if table is None:
        raise ValueError(f"{board} has no benchmark data")
    return {known.name: judged(known, _times(board, known.name), table, FORM) for known in kernels(machine)}


@cache
def _times(board: str, name: str) -> NDArray[np.float64]:
    machine = machine_of(gpu(board))
    return next(timed(known, machine) for known in kernels(machine) if known.name == name)
