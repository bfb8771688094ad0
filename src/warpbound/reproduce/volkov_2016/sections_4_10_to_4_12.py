"""Sections 4.10 to 4.12: how far schemes go wrong that take arithmetic and memory apart."""

import numpy as np

from warpbound.models.volkov_2016 import mixes, schemes
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Warps that leave nothing exposed; largest and smallest ratio to the basic model over occupancy."""
    found = {name: _row(machine, given["alphas"][name]) for name, machine in machines(given).items()}
    return {**found, "memory issue of 8 cycles": {"overstatement": _of_issue(given)}}


def figures(given: Given) -> tuple[Figure, ...]:
    """Figures 4.11 and 4.12 without their points."""
    return tuple(_figure(machine, given["alphas"][name]) for name, machine in machines(given).items())


def _row(machine: Machine, alpha: float) -> dict[str, float]:
    x = machine.mix(np.arange(1.0, machine.max_warps + 1), alpha)
    return {
        "warps with nothing exposed": float(schemes.warps_leaving_nothing_exposed(x, machine.max_warps)),
        "overlapped, most over": float(np.max(schemes.overstatement(x))),
        "added, most under": float(np.min(schemes.understatement(x))),
    }


def _of_issue(given: Given) -> float:
    """Saturated throughput with an access of one issue slot over that with several, on Maxwell."""
    machine, alpha = machines(given)["Maxwell"], given["alphas"]["Maxwell"]
    slots = given["memory_issue_slots"]
    x = machine.mix(0.0, alpha)
    costly = mixes.Mix(**{**x.__dict__, "op_issue_slots": slots})
    return float(mixes.peak(x).limits["issue"] / mixes.peak(costly).limits["issue"])


def _figure(machine: Machine, alpha: float) -> Figure:
    n = np.arange(1.0, machine.max_warps + 1)
    x = machine.mix(n, alpha)
    lines = {
        "overlapped": schemes.predict_overlapped(x),
        "added": schemes.predict_added(x),
        "basic model": mixes.predict(x),
    }
    return Figure(
        f"Arithmetic and memory apart, {machine.name}, alpha {alpha:g}",
        Axis("occupancy", "warp/SM"),
        Axis("throughput", "add/cycle/SM"),
        tuple(series(name, n, mixes.adds_per_cycle(x, found.rate)) for name, found in lines.items()),
        "Volkov 2016, Figures 4.11 and 4.12: the models",
    )
