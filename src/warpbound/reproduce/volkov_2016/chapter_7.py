"""Chapter 7: the models of others on the synthetic family, section by section up to 7.8."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from warpbound.bounds import Real
from warpbound.models import baghsorkhi_2010, huang_2014
from warpbound.models.hong_kim_2009.periods import cwp_full
from warpbound.models.volkov_2016 import mixes
from warpbound.models.volkov_2016.little import bytes_per_second, concurrency, inst_per_cycle
from warpbound.report.figure_series import Axis, Figure, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import (
    LANES,
    OCCUPANCY,
    THESIS,
    adds,
    adds_plot,
    loads_plot,
    machines,
    worst,
)
from warpbound.synthetic_family.comparison import whole_warps
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import (
    TURNS,
    baghsorkhi,
    basic,
    hong_kim,
    huang,
    huang_contended,
    huang_greedy,
    huang_inputs,
    latency_alone,
    modelled_curves,
    refined,
    sim,
    zhang_owens,
    zhang_owens_added,
)

CASES = ("memory_only", "between", "adds_only")


def section_7_1(inputs: ItemInputs) -> Numbers:
    """Section 7.1: MWP, CWP and times without arithmetic latency; throughput over that of the latency bound."""
    machine, alpha, few = machines(inputs)[inputs["machine"]], inputs["alpha"], inputs["few_warps"]
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


def section_7_1_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Both models against occupancy."""
    models = {"hong_kim_2009": hong_kim, "volkov_2016": basic}
    yield adds_plot("Hong and Kim", machines(inputs)[inputs["machine"]], inputs["alpha"], models, "Figure 7.1")


def section_7_2(inputs: ItemInputs) -> Numbers:
    """Section 7.2: a sum of the warps' latencies: latency, throughput, extremes over the refined model."""
    machine = machines(inputs)[inputs["machine"]]
    n = machine.occupancies
    alone = float(1 / baghsorkhi(machine, inputs["full"], 0.0))
    rate = baghsorkhi(machine, n, inputs["alphas"][0])
    superlinear = n[1:][rate[1:] / rate[:-1] > n[1:] / n[:-1] * (1 + 1e-12)]  # a warp more adds more than its share
    return {
        "CPI at the peak of memory": LANES / inputs["stream_ops"],
        "alpha 0, latency at 24 warps": alone,
        "alpha 0, too low by": inputs["share_at_full"] * machine.memory_throughput * alone,
        "warps to the peak of memory": _until_nothing_exposed(machine),
        "superlinear from warps": superlinear[0],
        "superlinear to warps": superlinear[-1],
        **{
            f"alpha {alpha:g}": {f"{w:g} warps": adds(baghsorkhi, machine, w, alpha) for w in inputs["warps"]}
            for alpha in inputs["alphas"]
        },
        "alpha 32, most over": worst(baghsorkhi, refined, machine, 32.0, n),
        "alpha 1, most under": worst(refined, baghsorkhi, machine, 1.0, n),
        "alpha 8, most under": worst(refined, baghsorkhi, machine, 8.0, n),
    }


def section_7_2_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 7.2, without additions and with some; Figure 7.3, with more: both models against occupancy."""
    machine, models = machines(inputs)[inputs["machine"]], {"baghsorkhi_2010": baghsorkhi, "volkov_2016": basic}
    yield loads_plot("Baghsorkhi and others", machine, models, "Figure 7.2a")
    for alpha, place in zip(inputs["alphas"], ("Figure 7.2b", "Figure 7.3"), strict=True):
        yield adds_plot("Baghsorkhi and others", machine, alpha, models, place)


def _until_nothing_exposed(machine: Machine) -> float:
    """The number of warps (a fraction) at which the exposed latency of an access equals its transfer time."""
    x = baghsorkhi_2010.Inputs(
        np.array([1.0, 2.0]), 0.0, TURNS, 1 / machine.alu_throughput, machine.alu_latency,
        1 / machine.memory_throughput, machine.memory_latency,
    )  # fmt: skip
    exposed, transfer = np.asarray(baghsorkhi_2010.exposed_latency(x)), np.asarray(baghsorkhi_2010.transfer(x))
    return float(1.0 + (exposed[0] - transfer[0]) / (exposed[0] - exposed[1]))


def sections_7_3_and_7_4(inputs: ItemInputs) -> Numbers:
    """Sections 7.3 and 7.4: largest ratios, machine by machine, and the section's own arithmetic on bandwidth."""
    rows = {name: _row(inputs, machines(inputs)[name], alpha) for name, alpha in inputs["alphas"].items()}
    slow = inputs["departure"]
    return {
        **rows,
        "C2050": _c2050(inputs),
        "Fermi, departure delay of 32 cycles": {
            "bandwidth": bytes_per_second(1 / slow["delay"], slow["clock_GHz"], slow["sms"], inputs["line_bytes"])
        },
    }


def sections_7_3_and_7_4_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 7.4, the curves that Zhang and Owens measure, modelled; 7.5 and 7.6, their model; 7.7, that of Sim."""
    thesis, alphas = machines(inputs), inputs["alphas"]
    first, *newer = alphas
    source = f"{THESIS}, Figure 7.4: modelled, not measured"
    for kind, rate in modelled_curves(thesis[first]).items():
        y = Axis("throughput", "op/cycle/SM")
        lines = series_over(thesis[first].occupancies, {kind: rate}, "both")
        yield Figure(f"{kind} alone, {first}", OCCUPANCY, y, lines, source)
    models = {"zhang_owens_2011": zhang_owens, "times added": zhang_owens_added, "volkov_2016": basic}
    yield adds_plot("Zhang and Owens", thesis[first], alphas[first], models, "Figure 7.5")
    for name in newer:
        yield adds_plot("Zhang and Owens", thesis[name], alphas[name], models, "Figure 7.6")
    for name in inputs["sim"]:
        both = {"sim_2012": sim, "volkov_2016": basic}
        yield adds_plot("Sim and others", thesis[name], alphas[name], both, "Figure 7.7")


def _row(inputs: ItemInputs, machine: Machine, alpha: float) -> dict[str, float]:
    row = {"Zhang and Owens, most over": worst(zhang_owens, basic, machine, alpha, machine.occupancies)}
    if machine.name not in inputs["sim"]:
        return row
    # Unrounded throughput, from the GB/s of Table 6.4: Maxwell's 29.9 needs it.
    peak = machine.accesses_per_cycle(inputs["machines"][machine.name]["peak_GBs"] * 1e9)
    row["MWP_peak_bw"] = float(concurrency(machine.memory_latency, peak))
    row["Sim, most over"] = worst(sim, refined, machine, alpha, whole_warps(machine))
    return row | {f"Sim, {w:g} warps": float(adds(sim, machine, w, alpha)) for w in inputs["sim_warps"]}


def _c2050(inputs: ItemInputs) -> dict[str, float]:
    board, line = inputs["c2050"], inputs["line_bytes"]
    pins = inst_per_cycle(board["pins_GBs"] * 1e9, board["clock_GHz"] * 1e9, board["sms"], line)
    alone = board["clock_GHz"] * line / board["latency"]
    return {
        "MWP_peak_bw": float(concurrency(board["latency"], pins)),
        "bandwidth of a warp": alone,
        "bandwidth of 22 warps": alone * board["departing"] * board["sms"],
    }


def sections_7_5_and_7_6(inputs: ItemInputs) -> Numbers:
    """Sections 7.5 and 7.6: estimates of both scheduling policies at full occupancy, without a limit of memory."""
    fermi, kepler, maxwell = (
        machines(inputs)[inputs[kind]["machine"]] for kind in CASES
    )
    full, endless = inputs["adds_only"]["warps_per_scheduler"] * maxwell.schedulers, inputs["endless_alpha"]
    warps, alpha = inputs["between"]["warps"], inputs["between"]["alpha"]
    rate = huang(fermi, inputs["memory_only"]["warps"], 0.0)
    traffic = bytes_per_second(rate, fermi.clock_Hz, fermi.sm_count, inputs["line_bytes"])
    excess = {
        f"excess of greedy, {words}": 100 * (1 / (1 - 1 / cycles) - 1) for words, cycles in inputs["latencies"].items()
    }
    return {
        "Fermi, alpha 0, round robin": np.divide(traffic, 1e9),
        "Maxwell, adds only, round robin": adds(huang, maxwell, full, endless),
        "Maxwell, adds only, greedy": adds(huang_greedy, maxwell, full, endless),
        "Kepler, alpha 32, round robin": adds(huang, kepler, warps, alpha),
        "Kepler, alpha 32, greedy": adds(huang_greedy, kepler, warps, alpha),
        "Kepler, alpha 32, basic model": adds(basic, kepler, warps, alpha),
        "Kepler, all instructions": LANES * (alpha + 1) * huang(kepler, warps, alpha),
        **excess,
    }


def sections_7_5_and_7_6_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 7.8, memory alone and both kinds; Figure 7.9, additions alone: both policies against occupancy."""
    models = {"round robin": huang, "greedy-then-oldest": huang_greedy, "volkov_2016": basic}
    loads, between, adds_only = (machines(inputs)[inputs[case]["machine"]] for case in CASES)
    yield loads_plot("Huang and others", loads, models, "Figure 7.8a")
    yield adds_plot("Huang and others", between, inputs["between"]["alpha"], models, "Figure 7.8b")
    yield adds_plot("Huang and others", adds_only, inputs["endless_alpha"], models, "Figure 7.9")


def sections_7_7_and_7_8(inputs: ItemInputs) -> Numbers:
    """Sections 7.7 and 7.8: utilisation, delay and time of a queue whose utilisation may exceed 1."""
    toy, fermi = _synthetic(inputs), machines(inputs)["Fermi"]
    some, stride = huang_inputs(toy, inputs["some"], 0.0, 1.0), inputs["stride_2"]
    wide = huang_inputs(fermi, stride["warps"], 0.0, stride["requests"])
    case = inputs["fermi"]
    greedy = huang_2014.predict_greedy(huang_inputs(fermi, case["warps"], case["alpha"], 1.0)).total
    return {
        "synthetic GPU": {
            "s": some.service,
            "rho at 32 warps": _rho(huang_inputs(toy, inputs["full"], 0.0, 1.0)),
            "rho at 29 warps": _rho(some),
            "delay at 29 warps": huang_2014.bandwidth_delay(some, some.intervals[0]),
            "CPI at 29 warps": huang_2014.predict(some).total,
            "singular at": inputs["some"] / _rho(some),
        },
        "Fermi": {
            "34 warps, alpha 32, round robin": adds(huang_contended, fermi, case["warps"], case["alpha"]),
            "34 warps, alpha 32, greedy": LANES * case["alpha"] / (greedy * (case["alpha"] + 1)),
            "singular at": case["warps"] / _rho(huang_inputs(fermi, case["warps"], 0.0, 1.0)),
        },
        "Fermi, stride 2": {
            "requests of 17 warps": huang_2014.core_requests(wide, wide.intervals[0]),
            "delay at 17 warps": huang_2014.bandwidth_delay(wide, wide.intervals[0]),
            "CPI at 17 warps": huang_2014.predict(wide).total,
        },
    }


def sections_7_7_and_7_8_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 7.10: throughput near the singularity."""
    models, place = {"huang_2014, round robin": huang_contended}, "Figure 7.10"
    cases = ((_synthetic(inputs), inputs["alpha"]), (machines(inputs)["Fermi"], inputs["fermi"]["alpha"]))
    for machine, alpha in cases:
        yield adds_plot("Huang and others with bandwidth", machine, alpha, models, place)


def _rho(x: huang_2014.Inputs) -> Real:
    return huang_2014.utilisation(x, x.intervals[0])


def _synthetic(inputs: ItemInputs) -> Machine:
    """The GPU of Huang and others: one instruction per cycle; its other limits are not used here."""
    table = inputs["synthetic"]
    return replace(
        machines(inputs)["Fermi"],
        name="synthetic GPU",
        memory_latency=table["mem_lat"],
        alu_latency=table["alu_lat"],
        sm_count=table["sms"],
        clock_Hz=table["clock_GHz"] * 1e9,
        pin_bandwidth=table["pins_GBs"] * 1e9,
        max_warps=table["max_warps"],
        contention=None,
    )
