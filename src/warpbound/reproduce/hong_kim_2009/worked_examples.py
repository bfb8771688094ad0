"""Worked examples: Figures 5 to 8 and 27, Tables 2, 3 and 7, and the paper's scenarios by simulation."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warpbound.bounds import Stack
from warpbound.models.hong_kim_2009 import Inputs, barrier_cost, cpi, equation_taken, predict, terms
from warpbound.models.hong_kim_2009.paths import divergent_insts, divergent_insts_as_published, m_factor, mean_m_factor
from warpbound.models.hong_kim_2009.periods import (
    comp_cycles,
    computation_dominates,
    computation_period,
    cwp_full,
    few_warps,
    memory_dominates,
    memory_dominates_by_figure,
)
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.scenarios import run_scenario

GLOBAL = "ld.global"
BARRIER = "bar.sync"
ISSUE_CYCLES = 4.0
PAPER = "hong_kim_2009"


def figs_5_to_8(inputs: ItemInputs) -> Numbers:
    """Figures 5 to 8: times of the figures, then of Equation 23 and the printed dispatch where they differ."""
    cases = inputs["cases"]
    first, busy = cases["Case 1"], cases["Case 5"]
    return {
        **{name: _time(case).total for name, case in cases.items()},
        "CWP of case 1": cwp_full(first["mem"], first["comp"]),
        "Case 1, Equation 23": memory_dominates(first["mem"], first["comp"], first["n"], first["mwp"]).total,
        "Case 5, printed dispatch": memory_dominates(busy["mem"], busy["comp"], busy["n"], busy["mwp"]).total,
    }


def _time(case: Mapping[str, Any]) -> Stack:
    whole_mem, whole_comp = case["periods"] * case["mem"], case["periods"] * case["comp"]
    if case["kind"] == "memory":
        return memory_dominates_by_figure(whole_mem, case["comp"], case["n"], case["mwp"])
    if case["kind"] == "computation":
        return computation_dominates(case["mem"], whole_comp, case["n"])
    return few_warps(whole_mem, whole_comp, case["comp"], case["n"], case["mwp"])


def table_2(inputs: ItemInputs) -> Numbers:
    """Table 2: one kernel through every equation, and the numbers with the paper's intermediate rounding."""
    x, rounded = _figure_13(inputs), inputs["rounded_mwp"]
    t, prediction = terms(x), predict(x)
    many = memory_dominates(t.mem_cycles, computation_period(t.comp_cycles, x.uncoal_mem_insts), t.warps, rounded)
    sms, bandwidth = x.active_sms, x.mem_bandwidth
    return {
        "#Comp_insts": x.comp_insts,
        "#Uncoal_Mem_insts": x.uncoal_mem_insts,
        "#Synch_insts": x.synch_insts,
        "N": t.warps,
        "Departure_delay": t.departure_delay,
        "Mem_L": t.mem_l,
        "MWP_Without_BW_full": t.mwp_full,
        "BW_per_warp": t.bw_per_warp / 1e9,
        "MWP_peak_BW": t.mwp_peak_bw,
        "MWP_peak_BW, of BW_per_warp 0.175": bandwidth / (inputs["rounded_bw_per_warp"] * sms),
        "MWP": t.mwp,
        "Comp_cycles": t.comp_cycles,
        "Mem_cycles": t.mem_cycles,
        "CWP_full": t.cwp_full,
        "CWP": t.cwp,
        "#Rep": t.rep,
        "Equation taken": equation_taken(x),
        "Exec_cycles_app": prediction.parts["memory"] + prediction.parts["computation"],
        "Exec_cycles_app, of MWP 2.28": many.total * t.rep,
        "Synch_cost": prediction.parts["barrier"],
        "Synch_cost, of MWP 2.28": barrier_cost(t.departure_delay, rounded, x.synch_insts, x.active_blocks, t.rep),
        "Final cycles": prediction.total,
        "CPI": cpi(x),
    }


def _figure_13(inputs: ItemInputs) -> Inputs:
    """Counts of Figure 13's loop: all but loads from global memory is computation, barriers too."""
    count: Counter[str] = Counter(inputs["body"])
    turns = inputs["iterations"]
    empty = Inputs(**inputs["kernel"], comp_insts=0.0, uncoal_mem_insts=0.0, synch_insts=0.0)
    return replace(
        empty,
        comp_insts=float(turns * (count.total() - count[GLOBAL])),
        uncoal_mem_insts=float(turns * count[GLOBAL]),
        synch_insts=float(turns * count[BARRIER]),
    )


def table_3(inputs: ItemInputs) -> Numbers:
    """Table 3: what follows from its own clocks and counts of SMs.

    Cores, and their peak at two flop a cycle, three where the special units multiply too.
    """
    return {name: _row(inputs, name) for name in inputs["gpus"]}


def _row(inputs: ItemInputs, name: str) -> dict[str, float]:
    machine = inputs["machines"][name]
    cores = inputs["cores_per_sm"] * machine["sms"]
    clock = inputs["exact_clock_GHz"].get(name, machine["freq_GHz"])
    return {"cores": cores, "peak": cores * inputs["flop_per_cycle"][name] * clock}


def table_7(inputs: ItemInputs) -> Numbers:
    """Table 7 and Figure 27: what the model is fed where instructions or paths differ.

    Factors, a mix of instructions, and blocks executed by a warp that takes three routes.
    """
    mix, measured = inputs["mix"], inputs["measured_factors"]
    blocks = dict.fromkeys((block for route in inputs["routes"] for block in route), 1.0)
    factor = mean_m_factor(mix["insts"], mix["factors"])
    return {
        "M_Factor from the manual": {name: m_factor(rate) for name, rate in inputs["operations_per_cycle"].items()},
        "M_Factor of section 6.2": {name: measured[name] for name in ("modulo", "integer multiplication")},
        "Comp_cycles of a mix": comp_cycles(ISSUE_CYCLES, factor, sum(mix["insts"]), 0.0),
        "blocks, rejoining": divergent_insts(inputs["routes"], blocks),
        "blocks, sum of all paths": divergent_insts_as_published(inputs["routes"], blocks),
    }


def simulated(inputs: ItemInputs) -> Numbers:
    """Figures 5 to 8, 11, 24 and section 6.4 by simulation: cycles, and statements of the text about them."""
    free, meeting = (run_scenario(PAPER, name).cycles for name in inputs["barrier"])
    requests = {name: run_scenario(PAPER, scenario).cycles for name, scenario in inputs["requests"].items()}
    costs = {
        f"program A over B, {blocks}": run_scenario(PAPER, a).cycles - run_scenario(PAPER, b).cycles
        for blocks, (a, b) in inputs["programs"].items()
    }
    few, more, most = costs.values()
    return {
        **{case: run_scenario(PAPER, scenario).cycles for case, scenario in inputs["cases"].items()},
        "barriers of Figure 11": meeting - free,
        **{f"{name} requests": cycles for name, cycles in requests.items()},
        "independent requests are sooner done": requests["independent"] < requests["dependent"],
        **costs,
        "a barrier costs more with more blocks": few < more < most,
    }
