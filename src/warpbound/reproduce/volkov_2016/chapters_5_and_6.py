"""Chapters 5 and 6: occupancy by shared memory, costs of single instructions, and memory latency under load."""

from collections.abc import Iterator

import numpy as np

from warpbound.bounds import Real
from warpbound.models.volkov_2016 import contention
from warpbound.models.volkov_2016.contention import Memory, loaded_latency
from warpbound.models.volkov_2016.little import concurrency, inst_per_cycle, warps_per_scheduler
from warpbound.models.volkov_2016.one_warp import latency_per_transaction
from warpbound.models.volkov_2016.readings import (
    added,
    at_clock,
    increase,
    share,
    shortfall,
    throughput_in_passes,
    warps_without_ilp,
)
from warpbound.report.figure_series import Axis, Figure, series, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import ADDS, LANES, OCCUPANCY, THESIS, adds, machines
from warpbound.residency import occupancy
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import basic, refined

STEP = 64  # bytes, no more than any granularity
KINDS = ("add", "SFU", "smem", "smem2")


def section_5_7(inputs: ItemInputs) -> Numbers:
    """Section 5.7: resident blocks, and whether any amount of shared memory gives the number that is missing."""
    kepler = inputs["kepler"]
    resident = occupancy(kepler["board"], kepler["threads"], 0, np.array(kepler["bytes"])).blocks_per_sm
    return {
        **{f"{size} B on Kepler": blocks for size, blocks in zip(kepler["bytes"], resident, strict=True)},
        "Kepler reaches 15 blocks": _reached(kepler),
        "G80 reaches 7 blocks": _reached(inputs["g80"]),
        "Maxwell reaches 1 block": _reached(inputs["maxwell"]),
    }


def _reached(case: ItemInputs) -> bool:
    shared = np.arange(STEP, case["largest"] + 1, STEP)
    return bool((occupancy(case["board"], case["threads"], 0, shared).blocks_per_sm == case["missing"]).any())


RANDOM = "random"


def table_6_1(inputs: ItemInputs) -> Numbers:
    """Table 6.1: operations (lanes of an instruction) per cycle and scheduler that the units of the hardware allow."""
    return {name: _unit_rates(inputs["machines"][name], inputs["line_bytes"]) for name in inputs["gpus"]}


def _unit_rates(m: ItemInputs, line_bytes: float) -> dict[str, float]:
    schedulers, slots = m["schedulers"], LANES / m["issue_cycles"]
    banks = m["banks"] / m["bank_cycles"] / schedulers
    traffic = inst_per_cycle(m["peak_GBs"] * 1e9, m["clock_GHz"] * 1e9, m["sms"], line_bytes)
    return {
        "add": min(m["cores"] / schedulers, slots),
        "SFU": m["sfus"] / schedulers,
        "smem": banks,
        "smem2": banks / 2,
        "stream": float(traffic) * LANES / schedulers,
        "random": float(traffic) / schedulers,  # a line for each lane
    }


def section_6_2(inputs: ItemInputs) -> Numbers:
    """Section 6.2: latency, throughput and occupancy of a 2-way bank conflict; occupancy by Little's law."""
    rows = {name: _conflict(inputs["machines"][name], inputs["warps"][name], inputs["ways"]) for name in inputs["gpus"]}
    increases = [row["latency, increase"] for row in rows.values()]
    return {**rows, "least increase": min(increases), "largest increase": max(increases)}


def _conflict(m: ItemInputs, warps: ItemInputs, ways: float) -> dict[str, float]:
    latency, rate = m["latency"], m["throughput"]
    free, conflicting = (concurrency(latency[kind], rate[kind]) for kind in ("smem", "smem2"))
    return {
        "latency added": float(added(latency["smem2"], latency["smem"])),
        "latency, increase": float(100 * increase(latency["smem2"], latency["smem"])),
        "throughput": float(throughput_in_passes(rate["smem"], ways)),
        "occupancy falls by": float(share(warps["smem"], warps["smem2"])),
        "occupancy falls by, Little's law": float(share(free, conflicting)),
    }


def table_6_3(inputs: ItemInputs) -> Numbers:
    """Table 6.3: warps that each kind of instruction needs, rounded up for the SM, or per scheduler where given."""
    whole = inputs["whole_per_scheduler"]
    return {
        name: {kind: _warps(inputs["machines"][name], kind, kind in whole.get(name, ())) for kind in (*KINDS, RANDOM)}
        for name in inputs["gpus"]
    }


def _warps(m: ItemInputs, kind: str, alone: object) -> float:
    sharing = 1 if alone else m["schedulers"]
    return float(warps_per_scheduler(m["latency"][kind], m["throughput"][kind], sharing))


def section_6_3(inputs: ItemInputs) -> Numbers:
    """Section 6.3: measured occupancies and bandwidths of streaming over simple estimates; a scaled measurement."""
    rows = {name: _streaming(inputs["table"][name], inputs["machines"][name]) for name in inputs["gpus"]}
    means = {f"{what}, mean": np.mean([row[what] for row in rows.values()]) for what in inputs["averaged"]}
    fermi, other = inputs["fermi"], inputs["mei_chu"]
    scaled = at_clock(other["copy_GBs"], other["full_clock_GHz"], other["clock_GHz"])
    missing = float(100 * shortfall(scaled, other["our_copy_GBs"]))
    return {
        **rows,
        **means,
        "Fermi at 95 %, from twice the work in flight": warps_without_ilp(fermi["warps"], fermi["ilp"]),
        "Mei and Chu at full memory clock": scaled,
        "Mei and Chu at full memory clock, below the best copy": missing,
        "Mei and Chu within a tenth": missing <= other["within_percent"],
    }


def _streaming(table: ItemInputs, machine: ItemInputs) -> dict[str, float]:
    return {
        "peak over pins": float(100 * share(machine["peak_GBs"], machine["pins_GBs"])),
        "90 % over linear": float(share(table["at_90"], table["linear"])),
        "95 % over linear": float(share(table["at_95"], table["linear"])),
    }


def table_6_4(inputs: ItemInputs) -> Numbers:
    """Table 6.4: occupancy that memory needs, by Little's law at the unloaded latency and by the fit of one term."""
    return {name: _saturating(inputs, machine) for name, machine in machines(inputs).items()}


def _saturating(inputs: ItemInputs, machine: Machine) -> dict[str, float]:
    table = inputs["machines"][machine.name]
    fit = table["one_term"]
    memory = Memory(fit["a"], (fit["b"],), (machine.accesses_per_cycle(fit["c_GBs"] * 1e9),))
    peak = float(machine.accesses_per_cycle(table["peak_GBs"] * 1e9))
    linear = float(concurrency(machine.memory_latency, peak))
    alone = machine.mix(linear, 0.0)
    shares = {
        name: float(contention.warps_for(alone, memory, share * peak)) / machine.schedulers
        for name, share in inputs["shares"].items()
    }
    reached = float(contention.predict_one_term(alone, memory).rate) / peak
    return {"linear": linear / machine.schedulers, **shares, "share of the peak at linear": 100 * reached}


def fig_6_3(inputs: ItemInputs) -> Numbers:
    """Figure 6.3, a + b X / (c - X): mean latency where Table 6.6 has the distribution, and at half of the peaks."""
    kepler = {f"{x:g} GB/s": _latency(inputs, "Kepler", x) for x in inputs["kepler_GBs"]}
    halves = {name: _latency(inputs, name, inputs["machines"][name]["peak_GBs"] / 2) for name in inputs["gpus"]}
    return {"Kepler, median": kepler, "at half of the peak": halves}


def fig_6_3_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Latency up to the attained peak."""
    shares, lines = np.linspace(0.0, inputs["largest_share"], inputs["points"]), []
    for name in inputs["gpus"]:
        m = inputs["machines"][name]
        traffic = shares * min(m["peak_GBs"], *m["c_GBs"])
        lines.append(series(name, traffic, _latency(inputs, name, traffic)))
    source = f"{THESIS}, Table 6.5; two terms for the G80"
    yield Figure(
        "Memory latency under load", Axis("throughput", "GB/s"), Axis("mean latency", "cycle"), tuple(lines), source
    )


def _latency(inputs: ItemInputs, name: str, gbytes: Real) -> Real:
    m = inputs["machines"][name]
    return loaded_latency(Memory(m["a"], tuple(m["b"]), tuple(m["c_GBs"])), gbytes)


def fig_6_4(inputs: ItemInputs) -> Numbers:
    """Figure 6.4: accesses per cycle at some occupancies, with a latency that grows with throughput."""
    machine = machines(inputs)[inputs["machine"]]
    ceiling = inputs["machines"][inputs["machine"]]["c_GBs"][0]
    return {
        "ceiling c": machine.accesses_per_cycle(ceiling * 1e9),
        **{
            f"alpha {alpha:g}": {f"{warps:g} warps": refined(machine, warps, alpha) for warps in inputs["warps"]}
            for alpha in inputs["alphas"]
        },
    }


def fig_6_4_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Additions per cycle, both models."""
    machine = machines(inputs)[inputs["machine"]]
    n = machine.occupancies
    lines = {
        f"{name}, alpha {alpha:g}": adds(model, machine, n, alpha)
        for name, model in (("basic", basic), ("refined", refined))
        for alpha in inputs["alphas"]
        if alpha
    }
    title = "Synthetic family on Kepler with memory contention"
    yield Figure(title, OCCUPANCY, ADDS, series_over(n, lines), f"{THESIS}, Figure 6.4: the model")


def section_6_6(inputs: ItemInputs) -> Numbers:
    """Section 6.6: single accesses: share of the peak, width of the middle 90 %, the slowest over the mean."""
    peak, columns = inputs["machines"]["Kepler"]["peak_GBs"], inputs["percentiles"]
    rows: dict[str, dict[str, float]] = {}
    for traffic, latencies in inputs["distribution"].items():
        at = dict(zip(columns, latencies, strict=True))
        rows[f"{traffic} GB/s"] = {
            "share of the peak": float(100 * share(float(traffic), peak)),
            "middle 90 %": float(added(at["95"], at["5"])),
        }
        if traffic in inputs["mean"]:
            rows[f"{traffic} GB/s"]["slowest over mean"] = float(share(at["max"], inputs["mean"][traffic]))
    return rows


def table_6_7(inputs: ItemInputs) -> Numbers:
    """Table 6.7: latency of serial transactions, from the latencies of streaming and of random accesses."""
    return {name: _random(inputs["machines"][name], inputs["coalesced_transactions"][name]) for name in inputs["gpus"]}


def _random(m: ItemInputs, coalesced: float) -> dict[str, float]:
    latency, rate = m["latency"], m["throughput"]
    return {
        "latency": float(latency_per_transaction(latency["random"], latency["stream"], coalesced)),
        "stream over random": float(share(rate["stream"], rate["random"])),
    }
