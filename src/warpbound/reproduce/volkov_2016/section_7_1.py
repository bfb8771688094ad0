"""Section 7.1: warps in memory (MWP) and computing (CWP), without arithmetic latency."""

import numpy as np

from warpbound.models.hong_kim_2009.periods import cwp_full
from warpbound.models.volkov_2016 import mixes
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.predictors import basic, hong_kim, latency_alone
from warpbound.reproduce.volkov_2016.chapter_7 import LANES, adds_figure
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """The section's intermediates, and its throughput over that of the latency bound."""
    machine, alpha, few = machines(given)[given["machine"]], given["alpha"], given["few_warps"]
    over = float(hong_kim(machine, few, alpha) / latency_alone(machine, few, alpha))
    return {
        "MWP_peak_bw": machine.memory_latency * machine.accesses_per_cycle(machine.pin_bandwidth),
        "CWP": cwp_full(machine.memory_latency, (alpha + 1) / machine.alu_throughput),
        "time of few warps": few / hong_kim(machine, few, alpha),
        "with arithmetic latency": mixes.latency(machine.mix(few, alpha)),
        "4 warps": LANES * alpha * hong_kim(machine, few, alpha),
        "saturated": LANES * alpha * hong_kim(machine, machine.max_warps, alpha),
        "most over": over,
        "most over, of the abstract": over,
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Both models against occupancy."""
    machine = machines(given)[given["machine"]]
    n = np.arange(1.0, machine.max_warps + 1)
    models = {"hong_kim_2009": hong_kim, "volkov_2016": basic}
    return (adds_figure("Hong and Kim", machine, given["alpha"], n, models),)
