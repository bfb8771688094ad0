"""Section 4.9: the same warps under three names, when switching costs nothing."""

import numpy as np

from warpbound.models import saavedra_barrera_1990
from warpbound.models.hong_kim_2009.periods import cwp_full
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Warps that fill one wait."""
    found = {name: _row(machine, given["alphas"][name]) for name, machine in machines(given).items()}
    alike = all(np.allclose(list(row.values()), row["Agarwal"], rtol=1e-12) for row in found.values())
    return {"all three equal": alike, **found}


def _row(machine: Machine, alpha: float) -> dict[str, float]:
    run = (alpha + 1.0) / machine.alu_throughput
    x = saavedra_barrera_1990.Inputs(1.0, run, machine.memory_latency, 0.0)
    return {
        "Agarwal": float(saavedra_barrera_1990.threads_needed_agarwal(x)),
        "Saavedra-Barrera": float(saavedra_barrera_1990.threads_needed(x)),
        "Hong and Kim": float(cwp_full(machine.memory_latency, run)),
    }
