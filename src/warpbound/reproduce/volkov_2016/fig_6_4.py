"""Figure 6.4: throughput with a latency that grows with it."""

import numpy as np

from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.predictors import basic, refined
from warpbound.reproduce.volkov_2016.machines import machines

LANES = 32.0


def numbers(given: Given) -> Numbers:
    """Accesses per cycle at some occupancies."""
    machine = machines(given)[given["machine"]]
    ceiling = given["machines"][given["machine"]]["c_GBs"][0]
    return {
        "ceiling c": machine.accesses_per_cycle(ceiling * 1e9),
        **{
            f"alpha {alpha:g}": {f"{warps:g} warps": refined(machine, warps, alpha) for warps in given["warps"]}
            for alpha in given["alphas"]
        },
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Additions per cycle, both models."""
    machine = machines(given)[given["machine"]]
    n = np.arange(1.0, machine.max_warps + 1)
    lines = [
        series(f"{name}, alpha {alpha:g}", n, LANES * alpha * model(machine, n, alpha))
        for name, model in (("basic", basic), ("refined", refined))
        for alpha in given["alphas"]
        if alpha
    ]
    return (
        Figure(
            "Synthetic family on Kepler with memory contention",
            Axis("occupancy", "warp/SM"),
            Axis("throughput", "add/cycle/SM"),
            tuple(lines),
            "Volkov 2016, section 6.5",
        ),
    )
