"""Sections 7.5 and 7.6: multithreading by a scheduling policy, and no limit of memory."""

import numpy as np

from warpbound.models.volkov_2016.little import bytes_per_second
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.predictors import basic, huang, huang_greedy
from warpbound.reproduce.volkov_2016.chapter_7 import LANES, adds, adds_figure
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Estimates at full occupancy."""
    there, endless = machines(given), given["endless_alpha"]
    fermi, maxwell, kepler = (there[given[kind]["machine"]] for kind in ("memory_only", "adds_only", "between"))
    between, full = given["between"], given["adds_only"]["warps_per_scheduler"] * maxwell.schedulers
    rate = huang(fermi, given["memory_only"]["warps"], 0.0)
    traffic = bytes_per_second(rate, fermi.clock_Hz, fermi.sm_count, given["line_bytes"])
    both = adds(huang, kepler, between["warps"], between["alpha"])
    excess = {
        f"excess of greedy, {words}": 100 * (1 / (1 - 1 / cycles) - 1) for words, cycles in given["latencies"].items()
    }
    return {
        "Fermi, alpha 0, round robin": np.divide(traffic, 1e9),
        "Maxwell, adds only, round robin": adds(huang, maxwell, full, endless),
        "Maxwell, adds only, greedy": adds(huang_greedy, maxwell, full, endless),
        "Kepler, alpha 32, round robin": both,
        "Kepler, alpha 32, greedy": adds(huang_greedy, kepler, between["warps"], between["alpha"]),
        "Kepler, alpha 32, basic model": adds(basic, kepler, between["warps"], between["alpha"]),
        "Kepler, all instructions": LANES * (between["alpha"] + 1) * huang(kepler, between["warps"], between["alpha"]),
        **excess,
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Both policies against occupancy."""
    models = {"round robin": huang, "greedy-then-oldest": huang_greedy, "volkov_2016": basic}
    cases = (("between", given["between"]["alpha"]), ("adds_only", given["endless_alpha"]))
    drawn = []
    for case, alpha in cases:
        machine = machines(given)[given[case]["machine"]]
        n = np.arange(1.0, machine.max_warps + 1)
        drawn.append(adds_figure("Huang and others", machine, alpha, n, models))
    return tuple(drawn)
