"""Sections 7.9 and 7.10: errors of every model on the synthetic family, and the occupancy that each requires."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.volkov_2016.readings import overstatement
from warpbound.report.figure_series import Axis, Figure, series, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import ALPHA, OCCUPANCY, THESIS, machines, needed_plots
from warpbound.simulate.synthetic_family import Setting, throughput
from warpbound.synthetic_family.comparison import Ratios, alphas, needed, ratios
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import PREDICTORS, refined

FROM_SHARE = "volkov_2016 at alpha 0, from the share of the peak in Table 6.4"
NOT_COMPARED = ("volkov_2016, contention", "roofline_2009")  # the reference itself; no occupancy in it
SHOWN = ("volkov_2016", "volkov_2016, contention", "sim_2012", "zhang_owens_2011", "huang_2014, round robin")


def section_7_9(inputs: ItemInputs) -> Numbers:
    """Section 7.9: extremes over all intensities of the models that the thesis shows on each machine."""
    at, thesis = alphas(inputs["steps"]), machines(inputs)
    rows: dict[str, dict[str, Real]] = {}
    for name, models in inputs["rows"].items():
        rows[name] = {}
        for model in models:
            x = ratios(PREDICTORS[model], refined, thesis[name], at)
            rows[name] |= {f"{model}, least": np.min(x.least), f"{model}, most": np.max(x.most)}
        rows[name][FROM_SHARE] = overstatement(inputs["share_at_linear"][name])
    return rows


def section_7_9_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each machine with all models, two lines each."""
    at, over = alphas(inputs["steps"]), Axis("estimate over reference", "1", "log")
    source = f"{THESIS}, Figures 7.11 to 7.13, with the refined model in place of measurements"
    for machine in machines(inputs).values():
        every = errors(machine, at)
        lines = {f"{name}, {side}": getattr(x, side) for name, x in every.items() for side in ("least", "most")}
        title = f"Throughput over the refined model's, {machine.name}"
        yield Figure(title, ALPHA, over, series_over(at, lines), source)


def errors(machine: Machine, at: NDArray[np.float64]) -> dict[str, Ratios]:
    """Each model's throughput over the reference's."""
    models = {name: model for name, model in PREDICTORS.items() if name not in NOT_COMPARED}
    return {name: ratios(model, refined, machine, at) for name, model in models.items()}


def section_7_9_simulated(inputs: ItemInputs) -> Numbers:
    """Section 7.9 with a reference that anyone can run: extremes of each model over the simulated SM."""
    machine, n, alpha, reference = _simulated(inputs)
    rows: dict[str, float] = {}
    for model in SHOWN:
        ratio = PREDICTORS[model](machine, n, alpha) / reference
        rows |= {f"{model}, least": float(ratio.min()), f"{model}, most": float(ratio.max())}
    return rows


def section_7_9_simulated_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Simulated throughput and the models, against occupancy."""
    machine, n, intensities, reference = _simulated(inputs)
    for alpha, simulated in zip(intensities.flat, reference, strict=True):
        lines = [series(name, n, PREDICTORS[name](machine, n, float(alpha))) for name in SHOWN]
        yield Figure(
            f"Models and simulation, {machine.name}, alpha {alpha:g}",
            OCCUPANCY,
            Axis("throughput", "access/cycle/SM"),
            (*lines, series("simulated", n, simulated, "points")),
            f"{THESIS}, section 7.9, with a simulation in place of measurements",
        )


def _simulated(inputs: ItemInputs) -> tuple[Machine, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The machine, warps, intensities as a column, and accesses per cycle by simulation, shape (alphas, warps)."""
    machine = machines(inputs)[inputs["machine"]]
    warps = np.arange(float(inputs["every"]), machine.max_warps + 1, inputs["every"])
    alpha = np.array(inputs["alphas"])[:, None]
    return machine, warps, alpha, throughput(machine, warps, alpha, Setting(rounds=inputs["rounds"]))


def section_7_10(inputs: ItemInputs) -> Numbers:
    """Section 7.10: whether the needed occupancy peaks in between: cusp, none, or that the model never gets there."""
    at = alphas(inputs["steps"])
    return {
        name: {model: _peak(model, machine, at, inputs["share"]) for model in PREDICTORS}
        for name, machine in machines(inputs).items()
    }


def section_7_10_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each machine."""
    return needed_plots(inputs, PREDICTORS, f"Warps for {inputs['share']:.0%} of a peak,", "Figure 7.14: the models")


def _peak(model: str, machine: Machine, at: NDArray[np.float64], share: float) -> str:
    warps = needed(PREDICTORS[model], machine, at, share)
    if warps.cusp:
        return "cusp"
    return "never attained" if np.isnan(warps.warps).all() else "none"
