"""Figure 4.5: most warps are needed between memory- and compute-bound kernels."""

import numpy as np

from warpbound.models.volkov_2016 import mixes
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Both ends and the cusp; the formula's cusp for the machine that the thesis names."""
    return {name: _row(machine, formula=name == given["of_formula"]) for name, machine in machines(given).items()}


def figures(given: Given) -> tuple[Figure, ...]:
    """Warps needed, a line for each machine."""
    alpha = np.geomspace(1 / given["largest_alpha"], given["largest_alpha"], given["steps"])
    lines = [
        series(name, alpha, mixes.warps_needed(machine.mix(0.0, alpha)).total)
        for name, machine in machines(given).items()
    ]
    return (
        Figure(
            "Warps that hide latency",
            Axis("arithmetic intensity alpha", "1", "log"),
            Axis("warps needed", "warp/SM"),
            tuple(lines),
            "Volkov 2016, section 4.5 and Figure 4.5",
        ),
    )


def _row(machine: Machine, *, formula: bool) -> Numbers:
    alone = machine.mix(0.0, 0.0)
    peak = mixes.cusp_intensity(alone)
    row = {
        "alpha = 0, warps": mixes.warps_needed(alone).total,
        "alpha = infinity, warps": machine.alu_latency * machine.alu_throughput,
        "cusp, alpha": peak,
        "cusp, warps": mixes.warps_needed(machine.mix(0.0, peak)).total,
    }
    if formula:
        row["cusp of the formula, alpha"] = mixes.cusp_intensity_as_published(alone)
        row["cusp of the formula, warps"] = mixes.cusp_warps_as_published(alone)
    return row
