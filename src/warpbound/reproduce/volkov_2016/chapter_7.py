"""What the sections of chapter 7 share: additions per cycle of several models against occupancy."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import Throughput

LANES = 32.0
ENDLESS = 1e6  # additions to an access, from which on memory does not count


def adds(model: Throughput, machine: Machine, warps: float | NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Additions per cycle per SM, lane by lane."""
    return np.asarray(LANES * alpha * model(machine, warps, alpha))


def worst(
    over: Throughput, under: Throughput, machine: Machine, alpha: float, warps: NDArray[np.float64]
) -> float:
    """Largest ratio of the first to the second over these occupancies."""
    return float(np.max(over(machine, warps, alpha) / under(machine, warps, alpha)))


def adds_figure(
    title: str, machine: Machine, alpha: float, warps: NDArray[np.float64], models: Mapping[str, Throughput]
) -> Figure:
    """A line for each model."""
    return Figure(
        f"{title}, {machine.name}, alpha {_alpha(alpha)}",
        Axis("occupancy", "warp/SM"),
        Axis("throughput", "add/cycle/SM"),
        tuple(series(name, warps, adds(model, machine, warps, alpha)) for name, model in models.items()),
        "Volkov 2016, chapter 7: the models",
    )


def _alpha(alpha: float) -> str:
    """Very large ones stand for arithmetic alone."""
    return f"{alpha:g}" if alpha < ENDLESS else "infinite"
