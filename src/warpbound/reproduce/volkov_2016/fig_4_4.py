"""Figure 4.4: how memory bandwidth lags behind arithmetic, year by year."""

import numpy as np
from numpy.typing import NDArray

from warpbound.machine import gpu
from warpbound.models.volkov_2016.readings import yearly_factor
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.workload.files.lanes import fp32_lanes


def numbers(given: Given) -> Numbers:
    """Yearly factors of groups of boards."""
    groups = {**given["groups"], "all": list(given["boards"])}
    found = {name: fitted_factor(_years(given, boards), ratios(boards)) for name, boards in groups.items()}
    return {**found, "thesis' tables, 2006 to 2014": _between_ends(given)}


def figures(given: Given) -> tuple[Figure, ...]:
    """Every board of the catalogue whose year is known, GeForce apart from the others."""
    geforce = given["groups"]["GeForce to today"]
    others = [name for name in given["boards"] if name not in geforce]
    return (
        Figure(
            "Memory over arithmetic throughput",
            Axis("year of release", "1"),
            Axis("pin bandwidth per FP32 lane and cycle", "B", "log"),
            tuple(
                series(name, _years(given, boards), ratios(boards), "points")
                for name, boards in (("GeForce", geforce), ("other boards", others))
            ),
            "Volkov 2016, Figure 4.4, with the values of `warpbound gpus`",
        ),
    )


def ratios(boards: list[str]) -> NDArray[np.float64]:
    """Bytes that the pins move for each cycle of an FP32 lane."""
    return np.array([_ratio(name) for name in boards])


def fitted_factor(year: NDArray[np.float64], ratio: NDArray[np.float64]) -> float:
    """How much faster arithmetic than memory grows, by least squares on the logarithm."""
    return float(np.exp(-np.polyfit(year, np.log(ratio), 1)[0]))


def _between_ends(given: Given) -> float:
    """The same of the thesis' oldest and newest GPU alone."""
    oldest, newest = (given["machines"][name] for name in given["ends"])
    first, last = (m["pins_GBs"] / (m["cores"] * m["sms"] * m["clock_GHz"]) for m in (oldest, newest))
    return float(yearly_factor(first, last, given["years_between"]))


def _ratio(name: str) -> float:
    board = gpu(name)
    lanes = fp32_lanes(board) * board.value("sm_count")
    return board.value("dram_bandwidth") / (lanes * board.value("boost_clock"))


def _years(given: Given, boards: list[str]) -> NDArray[np.float64]:
    return np.array([float(given["boards"][name]["year"]) for name in boards])
