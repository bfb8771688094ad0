"""Section 7.9: each model's envelope of errors on the synthetic family."""

import numpy as np
from numpy.typing import NDArray

from warpbound.models.volkov_2016.readings import overstatement
from warpbound.report.figure_series import Axis, Figure, Series, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.comparison import Ratios, alphas, ratios
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import PREDICTORS, refined
from warpbound.reproduce.volkov_2016.machines import machines

FROM_SHARE = "volkov_2016 at alpha 0, from the share of the peak in Table 6.4"
NOT_COMPARED = ("volkov_2016, contention", "roofline_2009")  # the reference itself; no occupancy in it


def numbers(given: Given) -> Numbers:
    """Extremes over all intensities of the models that the thesis shows on each machine."""
    at, there = alphas(given["steps"]), machines(given)
    found = {
        machine: {
            f"{model}, {side}": value
            for model in models
            for side, value in _extremes(ratios(PREDICTORS[model], refined, there[machine], at)).items()
        }
        for machine, models in given["rows"].items()
    }
    measured = {name: {FROM_SHARE: overstatement(share)} for name, share in given["share_at_linear"].items()}
    return {name: found[name] | measured[name] for name in found}


def figures(given: Given) -> tuple[Figure, ...]:
    """One for each machine with all models, two lines each."""
    return tuple(_figure(machine, alphas(given["steps"])) for machine in machines(given).values())


def _extremes(found: Ratios) -> dict[str, float]:
    return {"least": float(np.min(found.least)), "most": float(np.max(found.most))}


def errors(machine: Machine, at: NDArray[np.float64]) -> dict[str, Ratios]:
    """Each model's throughput over the reference's."""
    compared = {name: model for name, model in PREDICTORS.items() if name not in NOT_COMPARED}
    return {name: ratios(model, refined, machine, at) for name, model in compared.items()}


def _figure(machine: Machine, at: NDArray[np.float64]) -> Figure:
    lines: list[Series] = []
    for name, found in errors(machine, at).items():
        lines += [series(f"{name}, least", at, found.least), series(f"{name}, most", at, found.most)]
    return Figure(
        f"Throughput over the refined model's, {machine.name}",
        Axis("arithmetic intensity alpha", "1", "log"),
        Axis("estimate over reference", "1", "log"),
        tuple(lines),
        "Volkov 2016, Figures 7.11 to 7.13, with the refined model in place of measurements",
    )
