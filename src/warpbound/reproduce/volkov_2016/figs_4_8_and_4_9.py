"""Figures 4.8 and 4.9: the cusp is not a matter of memory alone."""

import numpy as np

from warpbound.bounds import Real
from warpbound.models.volkov_2016.mixes import Mix, warps_needed
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers

LANES = 32.0
WORDS = {"SFU": "SFU instructions", "smem": "shared memory accesses"}


def numbers(given: Given) -> Numbers:
    """Occupancy that attains one of the peaks."""
    return {
        kind: {
            name: {f"alpha {alpha:g}": warps_needed(mix(given, kind, name, alpha)).total for alpha in given["alphas"]}
            for name in names
        }
        for kind, names in given["kinds"].items()
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """One for each kind of instruction."""
    alpha = np.geomspace(1 / 64, 512, given["steps"])
    return tuple(
        Figure(
            f"Warps that hide the latency of {WORDS[kind]}",
            Axis("additions per other instruction alpha", "1", "log"),
            Axis("warps needed", "warp/SM"),
            tuple(series(name, alpha, warps_needed(mix(given, kind, name, alpha)).total) for name in names),
            "Volkov 2016, section 4.7, Tables 6.1 and 6.2",
        )
        for kind, names in given["kinds"].items()
    )


def mix(given: Given, kind: str, name: str, alpha: Real) -> Mix:
    """Additions with SFU instructions or shared memory accesses."""
    m = given["machines"][name]
    own = m["latency"][kind]
    return Mix(
        warps=0.0,
        alu_per_op=alpha,
        op_latency=given["fed_to_add"].get(name, {}).get(kind, own),
        alu_latency=m["alu_lat"],
        op_throughput=m["throughput"][kind] * m["schedulers"] / LANES,
        alu_throughput=m["alu_thru"],
        issue_throughput=m["issue_thru"],
        op_to_op_latency=own,
    )
