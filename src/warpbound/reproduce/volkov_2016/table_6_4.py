"""Table 6.4: occupancy that memory needs, without and with the growth of its latency."""

from warpbound.models.volkov_2016 import contention
from warpbound.models.volkov_2016.contention import Memory
from warpbound.models.volkov_2016.little import concurrency
from warpbound.reproduce.item import Given, Numbers
from warpbound.reproduce.synthetic.machine import Machine
from warpbound.reproduce.volkov_2016.machines import machines


def numbers(given: Given) -> Numbers:
    """Linear is by Little's law at the unloaded latency; the others by the fit of one term."""
    return {name: _row(given, machine) for name, machine in machines(given).items()}


def _row(given: Given, machine: Machine) -> dict[str, float]:
    table = given["machines"][machine.name]
    fit = table["one_term"]
    memory = Memory(fit["a"], (fit["b"],), (machine.accesses_per_cycle(fit["c_GBs"] * 1e9),))
    peak = float(machine.accesses_per_cycle(table["peak_GBs"] * 1e9))
    linear = float(concurrency(machine.memory_latency, peak))
    alone = machine.mix(linear, 0.0)
    shares = {
        name: float(contention.warps_for(alone, memory, share * peak)) / machine.schedulers
        for name, share in given["shares"].items()
    }
    reached = float(contention.predict_one_term(alone, memory).rate) / peak
    return {"linear": linear / machine.schedulers, **shares, "share of the peak at linear": 100 * reached}
