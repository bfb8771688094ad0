"""Section 4.3: does memory latency need more warps than arithmetic latency?"""

import numpy as np

from warpbound.models.volkov_2016.little import concurrency
from warpbound.report.series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Warps for either latency, and the accesses of Figure 4.3 that are not coalesced."""
    found = {name: _warps(machine, given["warps_at_90"][name]) for name, machine in machines(given).items()}
    halved = machines(given)["Maxwell"].memory_throughput / 2
    return {
        **found,
        "stride 2": {"throughput": halved, "warps": concurrency(given["stride_2_latency"], halved)},
        "random": {"warps": concurrency(given["random_latency"], given["random_IPC"])},
    }


def figures(given: Given) -> tuple[Figure, ...]:
    """Figure 4.2: both occupancies, generation by generation."""
    found = [_warps(machine, 0.0) for machine in machines(given).values()]
    years = np.array([given["year"][name] for name in given["gpus"]], dtype=np.float64)
    return (
        Figure(
            "Warps that hide arithmetic and memory latency",
            Axis("year", "1"),
            Axis("warps needed", "warp/SM"),
            tuple(series(kind, years, [row[kind] for row in found]) for kind in ("arithmetic", "memory")),
            "Volkov 2016, Figure 4.2: the model",
        ),
    )


def _warps(machine: Machine, per_scheduler_at_90: float) -> dict[str, float]:
    arithmetic = float(concurrency(machine.alu_latency, machine.alu_throughput))
    return {
        "arithmetic": arithmetic,
        "memory": float(concurrency(machine.memory_latency, machine.memory_throughput)),
        "ratio at 90 %": per_scheduler_at_90 * machine.schedulers / arithmetic,
    }
