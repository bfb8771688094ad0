"""Figure 4.6: least occupancy that reaches 90 % of one of the peaks."""

import numpy as np

from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.comparison import needed
from warpbound.reproduce.synthetic.predictors import basic, refined
from warpbound.reproduce.volkov_2016.machines import machines
from warpbound.reproduce.volkov_2016.needed_warps import needed_figures

MODELS = {"basic": basic, "refined": refined}


def numbers(given: Given) -> Numbers:
    """Whole warps; a word where no occupancy reaches it."""
    at = np.array(given["alphas"])
    return {
        name: {
            kind: {
                f"alpha {alpha:g}": "none" if np.isnan(warps) else warps
                for alpha, warps in zip(at, needed(model, machine, at, given["share"]).warps, strict=True)
            }
            for kind, model in MODELS.items()
        }
        for name, machine in machines(given).items()
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """One for each machine."""
    return needed_figures(given, MODELS, "Warps for 90 % of a peak on", "Volkov 2016, Figure 4.6: the models")
