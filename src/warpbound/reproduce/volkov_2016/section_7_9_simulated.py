"""Section 7.9 with a reference that anyone can run: the simulated SM."""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import PREDICTORS
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.simulate.synthetic_family import Setting, throughput

SHOWN = ("volkov_2016", "volkov_2016, contention", "sim_2012", "zhang_owens_2011", "huang_2014, round robin")


def numbers(given: Given) -> Numbers:
    """Extremes of each model over the simulation."""
    machine, n, alpha = _points(given)
    reference = simulated(machine, n, alpha, given["rounds"])
    rows: dict[str, float] = {}
    for model in SHOWN:
        ratio = PREDICTORS[model](machine, n, alpha) / reference
        for side, value in (("least", ratio.min()), ("most", ratio.max())):
            rows[f"{model}, {side}"] = float(value)
    return rows


def figures(given: Given) -> tuple[Figure, ...]:
    """Simulated throughput and the models, against occupancy."""
    machine, n, alphas = _points(given)
    reference = simulated(machine, n, alphas, given["rounds"])
    return tuple(_figure(machine, n, float(alpha), found) for alpha, found in zip(alphas.flat, reference, strict=True))


def simulated(machine: Machine, warps: Real, alpha: Real, rounds: int) -> NDArray[np.float64]:
    """The reference."""
    return throughput(machine, warps, alpha, Setting(rounds=rounds))


def _figure(machine: Machine, n: NDArray[np.float64], alpha: float, found: NDArray[np.float64]) -> Figure:
    lines = [series(name, n, PREDICTORS[name](machine, n, alpha)) for name in SHOWN]
    return Figure(
        f"Models and simulation, {machine.name}, alpha {alpha:g}",
        Axis("occupancy", "warp/SM"),
        Axis("throughput", "access/cycle/SM"),
        (*lines, series("simulated", n, found, "points")),
        "Volkov 2016, section 7.9, with a simulation in place of measurements",
    )


def _points(given: Given) -> tuple[Machine, NDArray[np.float64], NDArray[np.float64]]:
    """The machine, warps, and intensities as a column."""
    machine = machines(given)[given["machine"]]
    warps = np.arange(float(given["every"]), machine.max_warps + 1, given["every"])
    return machine, warps, np.array(given["alphas"])[:, None]
