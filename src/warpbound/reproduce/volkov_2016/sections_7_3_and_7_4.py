"""Sections 7.3 and 7.4: two models with both latencies, but not along one path."""

import numpy as np

from warpbound.models.volkov_2016.little import bytes_per_second, concurrency, inst_per_cycle
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.comparison import whole_warps
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.synthetic.predictors import basic, refined, sim, zhang_owens
from warpbound.reproduce.volkov_2016.chapter_7 import adds, adds_figure, worst
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Largest ratios, machine by machine, and the section's own arithmetic on bandwidth."""
    found = {name: _row(given, machines(given)[name], alpha) for name, alpha in given["alphas"].items()}
    slow = given["departure"]
    return {
        **found,
        "C2050": _c2050(given),
        "Fermi, departure delay of 32 cycles": {
            "bandwidth": bytes_per_second(
                1 / slow["delay"], slow["clock_GHz"], slow["sms"], given["line_bytes"]
            )
        },
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """The models against occupancy."""
    drawn = []
    for name, alpha in given["alphas"].items():
        machine = machines(given)[name]
        models = {"zhang_owens_2011": zhang_owens, "volkov_2016": basic}
        models |= {"sim_2012": sim} if name in given["sim"] else {}
        n = np.arange(1.0, machine.max_warps + 1)
        drawn.append(adds_figure("Zhang and Owens, Sim and others", machine, alpha, n, models))
    return tuple(drawn)


def _row(given: Given, machine: Machine, alpha: float) -> dict[str, float]:
    n, every = whole_warps(machine), np.arange(1.0, machine.max_warps + 1)
    row = {"Zhang and Owens, most over": worst(zhang_owens, basic, machine, alpha, every)}
    if machine.name not in given["sim"]:
        return row
    # Unrounded throughput, from the GB/s of Table 6.4: Maxwell's 29.9 needs it.
    peak = machine.accesses_per_cycle(given["machines"][machine.name]["peak_GBs"] * 1e9)
    row["MWP_peak_bw"] = float(concurrency(machine.memory_latency, peak))
    row["Sim, most over"] = worst(sim, refined, machine, alpha, n)
    return row | {f"Sim, {w:g} warps": float(adds(sim, machine, w, alpha)) for w in given["sim_warps"]}


def _c2050(given: Given) -> dict[str, float]:
    board, line = given["c2050"], given["line_bytes"]
    pins = inst_per_cycle(board["pins_GBs"] * 1e9, board["clock_GHz"] * 1e9, board["sms"], line)
    alone = board["clock_GHz"] * line / board["latency"]
    return {
        "MWP_peak_bw": float(concurrency(board["latency"], pins)),
        "bandwidth of a warp": alone,
        "bandwidth of 22 warps": alone * board["departing"] * board["sms"],
    }
