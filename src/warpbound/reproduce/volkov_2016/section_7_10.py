"""Section 7.10: the occupancy that each model says is needed, and whether it peaks in between."""

import numpy as np
from numpy.typing import NDArray

from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.comparison import alphas, needed
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import PREDICTORS
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.reproduce.volkov_2016.needed_warps import needed_figures


def numbers(given: Given) -> Numbers:
    """A word for each model and machine: cusp, none, or that the model never gets there."""
    at = alphas(given["steps"])
    return {
        name: {model: _word(model, machine, at, given["share"]) for model in PREDICTORS}
        for name, machine in machines(given).items()
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """One for each machine."""
    title = f"Warps for {given['share']:.0%} of a peak,"
    return needed_figures(given, PREDICTORS, title, "Volkov 2016, Figure 7.14: the models")


def _word(model: str, machine: Machine, at: NDArray[np.float64], share: float) -> str:
    found = needed(PREDICTORS[model], machine, at, share)
    if found.cusp:
        return "cusp"
    return "never attained" if np.isnan(found.warps).all() else "none"
