"""Section 7.2: "latencies" of warps that are summed."""

import numpy as np

from warpbound.models import baghsorkhi_2010
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import TURNS, baghsorkhi, basic, refined
from warpbound.reproduce.volkov_2016.chapter_7 import LANES, adds, adds_figure, worst
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Latency, throughput, and how far off against the refined model."""
    machine = machines(given)[given["machine"]]
    n = np.arange(1.0, machine.max_warps + 1)
    alone = float(1 / baghsorkhi(machine, given["full"], 0.0))
    odd = _superlinear(machine, given["alphas"][0])
    return {
        "CPI at the peak of memory": LANES / given["stream_ops"],
        "alpha 0, latency at 24 warps": alone,
        "alpha 0, too low by": given["share_at_full"] * machine.memory_throughput * alone,
        "warps to the peak of memory": _until_nothing_exposed(machine),
        "superlinear from warps": odd[0],
        "superlinear to warps": odd[-1],
        **{
            f"alpha {alpha:g}": {f"{w:g} warps": adds(baghsorkhi, machine, w, alpha) for w in given["warps"]}
            for alpha in given["alphas"]
        },
        "alpha 32, most over": worst(baghsorkhi, refined, machine, 32.0, n),
        "alpha 1, most under": worst(refined, baghsorkhi, machine, 1.0, n),
        "alpha 8, most under": worst(refined, baghsorkhi, machine, 8.0, n),
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Both models against occupancy."""
    machine = machines(given)[given["machine"]]
    n = np.arange(1.0, machine.max_warps + 1)
    models = {"baghsorkhi_2010": baghsorkhi, "volkov_2016": basic}
    return tuple(adds_figure("Baghsorkhi and others", machine, alpha, n, models) for alpha in given["alphas"])


def _superlinear(machine: Machine, alpha: float) -> list[float]:
    """Occupancies where one warp more adds more than its share."""
    n = np.arange(1.0, machine.max_warps + 1)
    rate = baghsorkhi(machine, n, alpha)
    faster = rate[1:] / rate[:-1] > n[1:] / n[:-1] * (1 + 1e-12)
    return [float(warps) for warps in n[1:][faster]]


def _until_nothing_exposed(machine: Machine) -> float:
    """Warps, not whole, at which the exposed latency of an access has come down to its transfer."""
    x = baghsorkhi_2010.Inputs(
        np.array([1.0, 2.0]), 0.0, TURNS, 1 / machine.alu_throughput, machine.alu_latency,
        1 / machine.memory_throughput, machine.memory_latency,
    )  # fmt: skip
    exposed, transfer = np.asarray(baghsorkhi_2010.exposed_latency(x)), np.asarray(baghsorkhi_2010.transfer(x))
    return float(1.0 + (exposed[0] - transfer[0]) / (exposed[0] - exposed[1]))
