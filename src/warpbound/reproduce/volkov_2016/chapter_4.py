"""Chapter 4: the synthetic family of kernels under the basic model, and older estimates of needed occupancy."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.machine import gpu
from warpbound.models import cuda_guide_2015, saavedra_barrera_1990
from warpbound.models.hong_kim_2009.periods import cwp_full
from warpbound.models.volkov_2016 import mixes, schemes
from warpbound.models.volkov_2016.little import concurrency, inst_per_cycle, warps_holding
from warpbound.models.volkov_2016.mixes import Mix, warps_needed
from warpbound.models.volkov_2016.readings import instructions, share, throughput_in_passes, warps_per_sm, yearly_factor
from warpbound.report.figure_series import Axis, Figure, series, series_over
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.volkov_2016.machines import (
    ADDS,
    ALPHA,
    LANES,
    OCCUPANCY,
    THESIS,
    WARPS_NEEDED,
    adds,
    machines,
    needed_plots,
)
from warpbound.synthetic_family.comparison import needed
from warpbound.synthetic_family.machine import Machine
from warpbound.synthetic_family.predictors import basic, chen_aamodt, chen_aamodt_fourth, refined
from warpbound.workload.files.lanes import fp32_lanes

MODELS = {"basic": basic, "refined": refined}
APART = "Arithmetic and memory apart"
REFINED = "refined model, for measurements"
KINDS = {"SFU": "SFU instructions", "smem": "shared memory accesses"}


def table_4_1(inputs: ItemInputs) -> Numbers:
    """Table 4.1: three throughputs of each machine; arithmetic is capped by single issue."""
    rows = {}
    for name in inputs["gpus"]:
        m = inputs["machines"][name]
        issue = m["schedulers"] / m["issue_cycles"]
        rows[name] = {
            "mem_thru": inst_per_cycle(m["peak_GBs"] * 1e9, m["clock_GHz"] * 1e9, m["sms"], inputs["line_bytes"]),
            "alu_thru": min(m["cores"] / LANES, issue),
            "issue_thru": issue,
        }
    return rows


def table_4_2(inputs: ItemInputs) -> Numbers:
    """Table 4.2: additions per cycle at half of the full occupancy, for several intensities."""
    half = inputs["share_of_full"]
    return {
        name: {f"alpha {alpha:g}": adds(basic, machine, half * machine.max_warps, alpha) for alpha in inputs["rows"]}
        for name, machine in machines(inputs).items()
    }


def table_4_2_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each machine: throughput against occupancy, a line for each intensity."""
    for name, machine in machines(inputs).items():
        n = machine.occupancies
        lines = {f"alpha {alpha:g}": adds(basic, machine, n, alpha) for alpha in inputs["alphas"]}
        yield Figure(f"Synthetic family on {name}", OCCUPANCY, ADDS, series_over(n, lines), f"{THESIS}, Table 4.2")


def section_4_3(inputs: ItemInputs) -> Numbers:
    """Section 4.3: warps that hide the latency of arithmetic or of memory; the uncoalesced accesses of Figure 4.3."""
    rows = {name: _warps(machine, inputs["warps_at_90"][name]) for name, machine in machines(inputs).items()}
    g80, maxwell = machines(inputs)["G80"], machines(inputs)["Maxwell"]
    multiply_add = concurrency(inputs["multiply_add_latency"], g80.alu_throughput)
    g80_at_90 = warps_per_sm(inputs["warps_at_90"]["G80"], g80.schedulers)
    halved = throughput_in_passes(maxwell.memory_throughput, inputs["stride"])
    at_95 = warps_per_sm(inputs["maxwell_at_95"], maxwell.schedulers)
    random = inputs["machines"]["Maxwell"]["throughput"]["random"]
    return {
        **rows,
        "Maxwell, 95 %": {"occupancy": at_95, "over the model's": share(at_95, rows["Maxwell"]["memory"])},
        "G80, multiply-add": {"ratio at 90 %": share(g80_at_90, multiply_add)},
        "stride 2": {
            "throughput": halved,
            "warps": concurrency(inputs["stride_2_latency"], halved),
            "at 90 %": warps_holding(rows["Maxwell"]["at 90 %"], inputs["stride"]),
        },
        "random": {
            "throughput": instructions(random, maxwell.schedulers),
            "warps": concurrency(inputs["random_latency"], inputs["random_IPC"]),
            "at 90 %": warps_per_sm(inputs["random_at_90"], maxwell.schedulers),
        },
    }


def section_4_3_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 4.2: occupancies by year; Figure 4.3: accesses of Maxwell that are not coalesced."""
    years = [inputs["year"][name] for name in inputs["gpus"]]
    title, source = "Warps that hide arithmetic and memory latency", f"{THESIS}, Figure 4.2, with Tables 6.3 and 6.4"
    yield Figure(title, Axis("year", "1"), WARPS_NEEDED, series_over(years, occupancies(inputs)), source)
    yield from fig_4_3_figures(inputs)


def occupancies(inputs: ItemInputs) -> dict[str, list[float]]:
    """Warps per SM, machine by machine: the model's, then what the thesis measured."""
    rows = [_warps(machine, 0.0) for machine in machines(inputs).values()]
    schedulers = [machine.schedulers for machine in machines(inputs).values()]
    keys = {"arithmetic, Table 6.3": "adds_at_peak", "memory at 90 %, Table 6.4": "warps_at_90",
                "memory at 95 %, Table 6.4": "warps_at_95"}  # fmt: skip
    return {kind: [row[kind] for row in rows] for kind in ("arithmetic", "memory")} | {
        name: [inputs[key][gpu] * count for gpu, count in zip(inputs["gpus"], schedulers, strict=True)]
        for name, key in keys.items()
    }


def fig_4_3_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figure 4.3: the model with the latency and the peak that the thesis quotes for each pattern, and for streams."""
    maxwell = machines(inputs)["Maxwell"]
    n, y = np.arange(0.0, maxwell.max_warps + 0.5, 0.5), Axis("throughput", "access/cycle/SM")
    patterns = {
        "stride-2": (inputs["stride_2_latency"], throughput_in_passes(maxwell.memory_throughput, inputs["stride"])),
        "random": (inputs["random_latency"], inputs["random_IPC"]),
    }
    for name, (latency, peak) in patterns.items():
        lines = {name: np.minimum(n / latency, peak)}
        source = f"{THESIS}, Figure 4.3: the model"
        yield Figure(f"{name.capitalize()} accesses on Maxwell", OCCUPANCY, y, series_over(n, lines), source)


def _warps(machine: Machine, per_scheduler_at_90: float) -> dict[str, float]:
    arithmetic = float(concurrency(machine.alu_latency, machine.alu_throughput))
    at_90 = float(warps_per_sm(per_scheduler_at_90, machine.schedulers))
    return {
        "arithmetic": arithmetic,
        "memory": float(concurrency(machine.memory_latency, machine.memory_throughput)),
        "at 90 %": at_90,
        "ratio at 90 %": float(share(at_90, arithmetic)),
    }


def fig_4_4(inputs: ItemInputs) -> Numbers:
    """Figure 4.4: the factor a year by which arithmetic grows faster than memory bandwidth, by groups of boards."""
    groups = {**inputs["groups"], "all": list(inputs["boards"])}
    factors = {name: _fitted_factor(*_years_and_ratios(inputs, boards)) for name, boards in groups.items()}
    oldest, newest = (inputs["machines"][name] for name in inputs["ends"])
    first, last = (m["pins_GBs"] / (m["cores"] * m["sms"] * m["clock_GHz"]) for m in (oldest, newest))
    return {**factors, "thesis' tables, 2006 to 2014": yearly_factor(first, last, inputs["years_between"])}


def fig_4_4_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Every board of the catalogue whose year is known, GeForce apart from the others."""
    geforce = inputs["groups"]["GeForce to today"]
    groups = {"GeForce": geforce, "other boards": [name for name in inputs["boards"] if name not in geforce]}
    yield Figure(
        "Memory over arithmetic throughput",
        Axis("year of release", "1"),
        Axis("pin bandwidth per FP32 lane and cycle", "B", "log"),
        tuple(series(name, *_years_and_ratios(inputs, boards), "points") for name, boards in groups.items()),
        f"{THESIS}, Figure 4.4, with the values of `warpbound gpus`",
    )


def _years_and_ratios(inputs: ItemInputs, boards: list[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Year of release, and bytes that the pins move for each cycle of an FP32 lane; shape (boards,)."""
    years = np.array([float(inputs["boards"][name]["year"]) for name in boards])
    return years, np.array([_ratio(name) for name in boards])


def _ratio(name: str) -> float:
    board = gpu(name)
    lanes = fp32_lanes(board) * board.value("sm_count")
    return board.value("dram_bandwidth") / (lanes * board.value("boost_clock"))


def _fitted_factor(year: NDArray[np.float64], ratio: NDArray[np.float64]) -> float:
    """The factor a year by which arithmetic grows faster than memory, by least squares on the logarithm."""
    return float(np.exp(-np.polyfit(year, np.log(ratio), 1)[0]))


def fig_4_5(inputs: ItemInputs) -> Numbers:
    """Figure 4.5: warps needed at both ends and at the cusp; the formula's cusp for the machine of the thesis."""
    return {name: _cusp(machine, formula=name == inputs["of_formula"]) for name, machine in machines(inputs).items()}


def fig_4_5_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Warps needed, a line for each machine."""
    alpha = np.geomspace(1 / inputs["largest_alpha"], inputs["largest_alpha"], inputs["steps"])
    lines = {name: warps_needed(machine.mix(0.0, alpha)).total for name, machine in machines(inputs).items()}
    source = f"{THESIS}, section 4.5 and Figure 4.5"
    yield Figure("Warps that hide latency", ALPHA, WARPS_NEEDED, series_over(alpha, lines), source)


def _cusp(machine: Machine, *, formula: bool) -> Numbers:
    alone = machine.mix(0.0, 0.0)
    peak = mixes.cusp_intensity(alone)
    row = {
        "alpha = 0, warps": warps_needed(alone).total,
        "alpha = infinity, warps": machine.alu_latency * machine.alu_throughput,
        "cusp, alpha": peak,
        "cusp, warps": warps_needed(machine.mix(0.0, peak)).total,
    }
    if formula:
        row["cusp of the formula, alpha"] = mixes.cusp_intensity_as_published(alone)
        row["cusp of the formula, warps"] = mixes.cusp_warps_as_published(alone)
    return row


def fig_4_6(inputs: ItemInputs) -> Numbers:
    """Figure 4.6: least occupancy, in whole warps, that reaches 90 % of one of the peaks; "none" where none does."""
    at = np.array(inputs["alphas"])
    return {
        name: {
            kind: {
                f"alpha {alpha:g}": "none" if np.isnan(warps) else warps
                for alpha, warps in zip(at, needed(model, machine, at, inputs["share"]).warps, strict=True)
            }
            for kind, model in MODELS.items()
        }
        for name, machine in machines(inputs).items()
    }


def fig_4_6_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each machine."""
    return needed_plots(inputs, MODELS, "Warps for 90 % of a peak on", "Figure 4.6: the models")


def fig_4_7(inputs: ItemInputs) -> Numbers:
    """Figure 4.7: instructions in flight when arithmetic is at its peak, and what one warp less costs."""
    spare = 10 * inputs["rate"]  # of memory and issue
    x, fewer = (
        Mix(warps, inputs["alpha"], inputs["mem_lat"], inputs["alu_lat"], spare, inputs["rate"], spare)
        for warps in (inputs["warps"], inputs["warps"] - 1)
    )
    in_flight = warps_needed(x)
    return {
        "arithmetic instructions": in_flight.parts["arithmetic"],
        "memory instructions": in_flight.parts["memory"],
        "warps": in_flight.total,
        "arithmetic rate of 6 warps": inputs["alpha"] * mixes.predict(x).rate,
        "arithmetic rate of 5 warps": inputs["alpha"] * mixes.predict(fewer).rate,
    }


def figs_4_8_and_4_9(inputs: ItemInputs) -> Numbers:
    """Figures 4.8 and 4.9: occupancy that attains one of the peaks, without memory accesses."""
    return {
        kind: {
            name: {f"alpha {x:g}": warps_needed(_mix(inputs, kind, name, x)).total for x in inputs["alphas"]}
            for name in names
        }
        for kind, names in inputs["kinds"].items()
    }


def figs_4_8_and_4_9_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """One for each kind of instruction."""
    alpha = np.geomspace(1 / 64, 512, inputs["steps"])
    intensity = Axis("additions per other instruction alpha", "1", "log")
    for kind, names in inputs["kinds"].items():
        lines = {name: warps_needed(_mix(inputs, kind, name, alpha)).total for name in names}
        number = {"SFU": "4.8", "smem": "4.9"}[kind]
        source = f"{THESIS}, Figure {number}, from Tables 6.1 and 6.2"
        title = f"Warps that hide the latency of {KINDS[kind]}"
        yield Figure(title, intensity, WARPS_NEEDED, series_over(alpha, lines), source)


def _mix(inputs: ItemInputs, kind: str, name: str, alpha: Real) -> Mix:
    """Additions with SFU instructions or shared memory accesses."""
    m = inputs["machines"][name]
    own = m["latency"][kind]
    return Mix(
        warps=0.0,
        alu_per_op=alpha,
        op_latency=inputs["fed_to_add"].get(name, {}).get(kind, own),
        alu_latency=m["alu_lat"],
        op_throughput=m["throughput"][kind] * m["schedulers"] / LANES,
        alu_throughput=m["alu_thru"],
        issue_throughput=m["issue_thru"],
        op_to_op_latency=own,
    )


def table_4_3(inputs: ItemInputs) -> Numbers:
    """Table 4.3: a rule without arithmetic latency, in the guide's own example and on the five machines."""
    example = inputs["example"]
    x = cuda_guide_2015.Inputs(1.0, example["alpha"], example["mem_lat"], example["instruction_time"])
    return {
        "example": {
            "instructions during the stall": example["mem_lat"] / example["instruction_time"],
            "guide": cuda_guide_2015.warps_needed(x),
            "with both refinements": cuda_guide_2015.warps_needed_refined(x),
        },
        **{name: _by_guide(machine, inputs["alphas"][name]) for name, machine in machines(inputs).items()},
    }


def _by_guide(machine: Machine, alpha: float) -> Numbers:
    x = machine.mix(0.0, alpha)
    guide = cuda_guide_2015.Inputs(1.0, alpha, machine.memory_latency, 1 / machine.alu_throughput)
    return {
        "guide": cuda_guide_2015.warps_needed(guide),
        "corrected": schemes.guide_warps_corrected(x),
        "model": warps_needed(x).total,
    }


def section_4_9(inputs: ItemInputs) -> Numbers:
    """Section 4.9: the number of warps that fill one wait when switching costs nothing, by three papers."""
    rows = {name: _filling_a_wait(machine, inputs["alphas"][name]) for name, machine in machines(inputs).items()}
    equal = all(np.allclose(list(row.values()), row["Agarwal"], rtol=1e-12) for row in rows.values())
    return {"all three equal": equal, **rows}


def _filling_a_wait(machine: Machine, alpha: float) -> dict[str, float]:
    cycles = (alpha + 1.0) / machine.alu_throughput
    x = saavedra_barrera_1990.Inputs(1.0, cycles, machine.memory_latency, 0.0)
    return {
        "Agarwal": float(saavedra_barrera_1990.threads_needed_agarwal(x)),
        "Saavedra-Barrera": float(saavedra_barrera_1990.threads_needed(x)),
        "Hong and Kim": float(cwp_full(machine.memory_latency, cycles)),
    }


def sections_4_10_to_4_12(inputs: ItemInputs) -> Numbers:
    """Sections 4.10 to 4.12: warps that leave nothing exposed, and extremes of schemes over the basic model."""
    rows = {name: _by_schemes(machine, inputs["alphas"][name]) for name, machine in machines(inputs).items()}
    x = machines(inputs)["Maxwell"].mix(0.0, inputs["alphas"]["Maxwell"])
    costly = Mix(**{**x.__dict__, "op_issue_slots": inputs["memory_issue_slots"]})
    overstatement = mixes.peak(x).limits["issue"] / mixes.peak(costly).limits["issue"]
    return {**rows, "memory issue of 8 cycles": {"overstatement": overstatement}}


def sections_4_10_to_4_12_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Figures 4.11 to 4.13, machine by machine, with the refined model for the points."""
    return schemes_figures(inputs)


def schemes_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Every scheme against occupancy, a figure for each machine."""
    for name, machine in machines(inputs).items():
        n, alpha = machine.occupancies, inputs["alphas"][name]
        x = machine.mix(n, alpha)
        models = {
            "overlapped": schemes.predict_overlapped(x),
            "added": schemes.predict_added(x),
            "basic model": mixes.predict(x),
        }
        lines = {scheme: mixes.adds_per_cycle(x, model.rate) for scheme, model in models.items()}
        lines[REFINED] = adds(refined, machine, n, alpha)
        title = f"{APART}, {name}, alpha {alpha:g}"
        yield Figure(title, OCCUPANCY, ADDS, series_over(n, lines), f"{THESIS}, sections 4.10 to 4.12: the models")


def _by_schemes(machine: Machine, alpha: float) -> dict[str, float]:
    x = machine.mix(machine.occupancies, alpha)
    return {
        "warps with nothing exposed": float(schemes.warps_leaving_nothing_exposed(x, machine.max_warps)),
        "overlapped, most over": float(np.max(schemes.overstatement(x))),
        "added, most under": float(np.min(schemes.understatement(x))),
    }


def section_4_13(inputs: ItemInputs) -> Numbers:
    """Section 4.13: traffic at the peak of issue, and the model's throughput over the basic model's."""
    machine, alpha = machines(inputs)[inputs["machine"]], inputs["alpha"]
    traffic = inputs["issue_IPC"] * inputs["clock_GHz"] * inputs["line_bytes"]
    third, fourth = (
        {f"{n:g} warps": model(machine, n, alpha) / basic(machine, n, alpha) for n in inputs["warps"]}
        for model in (chen_aamodt, chen_aamodt_fourth)
    )
    return {
        "traffic at the peak of issue": traffic,
        "over the pins": share(traffic, inputs["pins_GBs"]),
        "share of the basic model": third,
        "share of the basic model, fourth model": fourth,
    }
