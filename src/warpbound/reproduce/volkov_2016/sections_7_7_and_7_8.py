"""Sections 7.7 and 7.8: a queue whose utilisation may exceed 1."""

from dataclasses import replace
from typing import Any

import numpy as np

from warpbound.models import huang_2014
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import huang_contended, huang_inputs
from warpbound.reproduce.volkov_2016.chapter_7 import LANES, adds
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Utilisation, delay and time where memory is asked for more than it has."""
    toy, fermi = _synthetic(given), machines(given)["Fermi"]
    some, stride = huang_inputs(toy, given["some"], 0.0, 1.0), given["stride_2"]
    wide = huang_inputs(fermi, stride["warps"], 0.0, stride["requests"])
    case = given["fermi"]
    greedy = huang_2014.predict_greedy(huang_inputs(fermi, case["warps"], case["alpha"], 1.0)).total
    return {
        "synthetic GPU": {
            "s": some.service,
            "rho at 32 warps": _rho(huang_inputs(toy, given["full"], 0.0, 1.0)),
            "rho at 29 warps": _rho(some),
            "delay at 29 warps": huang_2014.bandwidth_delay(some, some.intervals[0]),
            "CPI at 29 warps": huang_2014.predict(some).total,
            "singular at": given["some"] / _rho(some),
        },
        "Fermi": {
            "34 warps, alpha 32, round robin": adds(huang_contended, fermi, case["warps"], case["alpha"]),
            "34 warps, alpha 32, greedy": LANES * case["alpha"] / (greedy * (case["alpha"] + 1)),
            "singular at": case["warps"] / _rho(huang_inputs(fermi, case["warps"], 0.0, 1.0)),
        },
        "Fermi, stride 2": {
            "requests of 17 warps": huang_2014.core_requests(wide, wide.intervals[0]),
            "delay at 17 warps": huang_2014.bandwidth_delay(wide, wide.intervals[0]),
            "CPI at 17 warps": huang_2014.predict(wide).total,
        },
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figure 7.10: throughput round the singularity."""
    cases = ((_synthetic(given), given["alpha"]), (machines(given)["Fermi"], given["fermi"]["alpha"]))
    return tuple(_figure(machine, alpha) for machine, alpha in cases)


def _figure(machine: Machine, alpha: float) -> Figure:
    n = np.arange(1.0, machine.max_warps + 1)
    return Figure(
        f"Huang and others with bandwidth, {machine.name}, alpha {alpha:g}",
        Axis("occupancy", "warp/SM"),
        Axis("throughput", "add/cycle/SM"),
        (series("huang_2014, round robin", n, adds(huang_contended, machine, n, alpha)),),
        "Volkov 2016, Figure 7.10: the model",
    )


def _rho(x: huang_2014.Inputs) -> Any:
    return huang_2014.utilisation(x, x.intervals[0])


def _synthetic(given: Given) -> Machine:
    """The GPU of Huang and others: one instruction per cycle; its other limits are not asked for here."""
    table = given["synthetic"]
    return replace(
        machines(given)["Fermi"],
        name="synthetic GPU",
        memory_latency=table["mem_lat"],
        alu_latency=table["alu_lat"],
        sm_count=table["sms"],
        clock_Hz=table["clock_GHz"] * 1e9,
        pin_bandwidth=table["pins_GBs"] * 1e9,
        max_warps=table["max_warps"],
        contention=None,
    )
