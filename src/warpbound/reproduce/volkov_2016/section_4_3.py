"""Section 4.3: does memory latency need more warps than arithmetic latency?"""

import numpy as np

from warpbound.models.volkov_2016.little import concurrency, warps_holding
from warpbound.models.volkov_2016.readings import instructions, share, throughput_in_passes, warps_per_sm
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Warps for either latency, and the accesses of Figure 4.3 that are not coalesced."""
    found = {name: _warps(machine, given["warps_at_90"][name]) for name, machine in machines(given).items()}
    maxwell = machines(given)["Maxwell"]
    halved = throughput_in_passes(maxwell.memory_throughput, given["stride"])
    at_95 = warps_per_sm(given["maxwell_at_95"], maxwell.schedulers)
    random = given["machines"]["Maxwell"]["throughput"]["random"]
    return {
        **found,
        "Maxwell, 95 %": {"occupancy": at_95, "over the model's": share(at_95, found["Maxwell"]["memory"])},
        "G80, multiply-add": {"ratio at 90 %": _multiply_add(given, machines(given)["G80"])},
        "stride 2": {
            "throughput": halved,
            "warps": concurrency(given["stride_2_latency"], halved),
            "at 90 %": warps_holding(found["Maxwell"]["at 90 %"], given["stride"]),
        },
        "random": {
            "throughput": instructions(random, maxwell.schedulers),
            "warps": concurrency(given["random_latency"], given["random_IPC"]),
            "at 90 %": warps_per_sm(given["random_at_90"], maxwell.schedulers),
        },
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
    at_90 = float(warps_per_sm(per_scheduler_at_90, machine.schedulers))
    return {
        "arithmetic": arithmetic,
        "memory": float(concurrency(machine.memory_latency, machine.memory_throughput)),
        "at 90 %": at_90,
        "ratio at 90 %": float(share(at_90, arithmetic)),
    }


def _multiply_add(given: Given, g80: Machine) -> float:
    """The same ratio with the longer latency of a multiply-add."""
    arithmetic = concurrency(given["multiply_add_latency"], g80.alu_throughput)
    return float(share(warps_per_sm(given["warps_at_90"]["G80"], g80.schedulers), arithmetic))
