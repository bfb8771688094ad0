"""Table 4.2: additions per cycle at any occupancy and intensity."""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.volkov_2016 import mixes
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """At half of the full occupancy."""
    return {
        name: {
            f"alpha {alpha:g}": float(adds(machine, given["share_of_full"] * machine.max_warps, alpha))
            for alpha in given["rows"]
        }
        for name, machine in machines(given).items()
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """One for each machine: throughput against occupancy, a line for each intensity."""
    return tuple(_figure(machine, given["alphas"]) for machine in machines(given).values())


def adds(machine: Machine, warps: Real, alpha: float) -> NDArray[np.float64]:
    """Additions per cycle per SM, lane by lane."""
    x = machine.mix(warps, alpha)
    return np.asarray(mixes.adds_per_cycle(x, mixes.predict(x).rate))


def _figure(machine: Machine, alphas: list[float]) -> Figure:
    n = np.arange(1.0, machine.max_warps + 1)
    return Figure(
        f"Synthetic family on {machine.name}",
        Axis("occupancy", "warp/SM"),
        Axis("throughput", "add/cycle/SM"),
        tuple(series(f"alpha {alpha:g}", n, adds(machine, n, alpha)) for alpha in alphas),
        "Volkov 2016, Table 4.2",
    )
