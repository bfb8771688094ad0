"""Section 3.10 from source: curves that `warpbound curve` gives of examples/papers, kept as points."""

from collections.abc import Iterator

import numpy as np

from warpbound.machine import gpu
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.report.formatting import capital
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import OCCUPANCY, THESIS

PER_CENT = 100.0


def figs_3_7_to_3_11(inputs: ItemInputs) -> Numbers:
    """Occupancy that reaches most of a kernel's own best throughput, and the best of another kernel."""
    whole = inputs["max_warps"]
    return {
        "occupancy for most of its own best": {
            name: PER_CENT * _reaching(inputs, name, inputs["full"] * max(inputs["curves"][name]["GB_s"])) / whole
            for name in inputs["full_of"]
        },
        "occupancy for the best of the other": {
            name: PER_CENT * _reaching(inputs, name, max(inputs["curves"][other]["GB_s"])) / whole
            for name, other in inputs["cases"]
        },
    }


def _reaching(inputs: ItemInputs, name: str, rate: float) -> float:
    """Warps that reach a rate, interpolated between the kept points; NaN where no occupancy reaches it."""
    own = inputs["curves"][name]
    if rate > max(own["GB_s"]):
        return float(np.nan)
    return float(np.interp(rate, own["GB_s"], own["warps"]))


def figs_3_7_to_3_11_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Both cases of each kernel."""
    for place, names in inputs["drawn"].items():
        curves = {name: inputs["curves"][name] for name in names}
        lines = tuple(series(name, own["warps"], own["GB_s"], "both") for name, own in curves.items())
        title = f"{capital(names[0].partition(',')[0])} from source, {gpu(curves[names[0]]['board']).name}"
        y = Axis("throughput", "GB/s")
        yield Figure(title, OCCUPANCY, y, lines, f"{THESIS}, {place}: the prediction for another GPU")
