"""Figures 25 and 26: requests of one warp that need not wait for each other."""

import numpy as np

from warpbound.models.hong_kim_2009 import Inputs, predict
from warpbound.models.hong_kim_2009.paths import parallel_warps, parallel_warps_as_published
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.hong_kim_2009.machines import on, warps_to
from warpbound.reproduce.item import Given, Numbers

FLAT = 1.05   # times the time of one warp
ALIKE = 1.05  # ratio of two times that are about the same


def numbers(given: Given) -> Numbers:
    """Section 6.1's three observations, and Equation 29 in both readings."""
    few, many = given["few"], float(given["most_warps"])
    dep = {n: _cycles(given, n, 0.0) for n in (1.0, few, many)}
    indep = {n: _cycles(given, n, given["independent"]) for n in (few, many)}
    loads = given["mem_insts"]
    return {
        "flat for few warps": dep[few] < FLAT * dep[1.0],
        "dependent is slower for few warps": dep[few] > ALIKE * indep[few],
        "alike for many warps": dep[many] < ALIKE * indep[many],
        "time of 8 warps over that of 1": dep[few] / dep[1.0],
        "dependent, 8 warps": dep[few],
        "independent, 8 warps": indep[few],
        "Equation 29 as printed is N without independent requests": bool(
            np.isclose(parallel_warps_as_published(few, loads, 0.0), few)
        ),
        "Equation 29 as adopted, no independent request": parallel_warps(few, loads, 0.0),
        "Equation 29 as adopted, half independent": parallel_warps(few, loads, given["independent"]),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Cycles against warps, every warp with the same work."""
    n = warps_to(given["most_warps"])
    lines = [("dependent", 0.0), ("independent", given["independent"])]
    return (
        Figure(
            f"Dependent and independent loads on {given['gpu']}",
            Axis("warps", "warp/SM"),
            Axis("time", "cycle"),
            tuple(series(name, n, predict(_inputs(given, n, count)).total) for name, count in lines),
            "Hong and Kim 2009, Figures 25 and 26: the model",
        ),
    )


def _cycles(given: Given, warps: float, independent: float) -> float:
    return float(predict(_inputs(given, warps, independent)).total)


def _inputs(
    given: Given, warps: float | np.ndarray[tuple[int], np.dtype[np.float64]], independent: float
) -> Inputs:
    return on(
        given,
        given["gpu"],
        blocks=np.multiply(warps, given["machines"][given["gpu"]]["sms"]),
        active_blocks=warps,
        comp_insts=given["comp_insts"],
        coal_mem_insts=given["mem_insts"],
        ind_mem_req=independent,
    )
