"""Section 3.8: a real kernel, from its machine code to GB/s."""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.models.volkov_2016 import Inputs, needed_warps, predict
from warpbound.models.volkov_2016.little import bytes_per_second, inst_per_cycle
from warpbound.models.volkov_2016.one_warp import Instruction, dual_pairs, issue_events, latency_bound
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Latency and bounds."""
    pairs = dual_pairs(program(given))
    path, best = _latency(given), given["memory_GBs"] * 1e9
    per_cycle = best / (given["clock_GHz"] * 1e9 * given["sms"])
    events = issue_events(len(program(given)), len(pairs), 0)
    return {
        "Pairs issued together": len(pairs),
        "Latency of a warp": path,
        "Latency without dual issue": latency_bound(program(given), (), given["termination"]),
        "Issue bound": given["schedulers"] / events,
        "Memory": per_cycle,
        "Memory bound": per_cycle / given["bytes_per_warp"],
        "Memory bound, of 17.1 B": round(per_cycle, 1) / given["bytes_per_warp"],
        "Bandwidth per warp": gbytes(given, 1.0 / path),
        "Instruction throughput at 156 GB/s": given["instructions"] * _warps(given, given["attained_GBs"] * 1e9),
        "Warps that hide latency": needed_warps(inputs(given, 1.0)),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figure 3.6 without its points."""
    n = np.arange(1.0, given["max_warps"] + 1)
    return (
        Figure(
            "Vector add on Kepler",
            Axis("occupancy", "warp/SM"),
            Axis("throughput", "GB/s"),
            (series("model", n, gbytes(given, predict(inputs(given, n)).rate)),),
            "Volkov 2016, Figure 3.6: the model",
        ),
    )


def inputs(given: Given, warps: Real) -> Inputs:
    best = _warps(given, given["memory_GBs"] * 1e9)
    return Inputs(warps, _latency(given), {"memory": 1.0 / best})


def program(given: Given) -> list[Instruction]:
    lines = given["program"]
    delay = [given["load"] if line["name"] == "LD" else given["arithmetic"] for line in lines]
    return [
        Instruction(
            line["name"],
            waits=tuple((producer, delay[producer]) for producer in line["needs"]),
            gap=given["gap"],
            loads=line["name"] == "LD",
        )
        for line in lines
    ]


def _latency(given: Given) -> float:
    listing = program(given)
    return latency_bound(listing, dual_pairs(listing), given["termination"])


def _warps(given: Given, bytes_per_s: float) -> float:
    """Warps per cycle and SM at this traffic."""
    return float(inst_per_cycle(bytes_per_s, given["clock_GHz"] * 1e9, given["sms"], given["bytes_per_warp"]))


def gbytes(given: Given, warps: Real) -> NDArray[np.float64]:
    return np.asarray(bytes_per_second(warps, given["clock_GHz"] * 1e9, given["sms"], given["bytes_per_warp"])) / 1e9
