"""Worked examples: Figures 4 to 8, 27 and 28, Tables 2, 3 and 7, and the paper's scenarios by simulation."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Stack
from warpbound.machine import gpu
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
from warpbound.report.figure_series import Axis, Figure, series
from warpbound.reproduce.item import ItemInputs, Numbers
from warpbound.reproduce.scenarios import run_scenario
from warpbound.residency import occupancy

WARP = 32
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
    """Table 2: the results of every equation for one kernel, exact and with the paper's intermediate rounding."""
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
    """Counts of Figure 13's loop: everything but loads from global memory counts as computation, barriers included."""
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
    """Table 3: cores and peak rates, computed from the table's clocks and numbers of SMs.

    A core does two flop a cycle, or three where the special function units multiply too.
    """
    return {name: _row(inputs, name) for name in inputs["gpus"]}


def _row(inputs: ItemInputs, name: str) -> dict[str, float]:
    machine = inputs["machines"][name]
    cores = inputs["cores_per_sm"] * machine["sms"]
    clock = inputs["exact_clock_GHz"].get(name, machine["freq_GHz"])
    return {"cores": cores, "peak": cores * inputs["flop_per_cycle"][name] * clock}


def table_7(inputs: ItemInputs) -> Numbers:
    """Table 7 and Figure 27: the model's inputs where instructions differ in cost or threads take different paths.

    The factors of the table, a mix of instructions, and the basic blocks that a warp with three paths executes.
    """
    mix, factors = inputs["mix"], inputs["measured_factors"]
    blocks = dict.fromkeys((block for route in inputs["routes"] for block in route), 1.0)
    factor = mean_m_factor(mix["insts"], mix["factors"])
    return {
        "M_Factor from the manual": {name: m_factor(rate) for name, rate in inputs["operations_per_cycle"].items()},
        "M_Factor of section 6.2": {name: factors[name] for name in ("modulo", "integer multiplication")},
        "Comp_cycles of a mix": comp_cycles(ISSUE_CYCLES, factor, sum(mix["insts"]), 0.0),
        "blocks, rejoining": divergent_insts(inputs["routes"], blocks),
        "blocks, sum of all paths": divergent_insts_as_published(inputs["routes"], blocks),
    }


def fig_28(inputs: ItemInputs) -> Numbers:
    """Figure 28: basic blocks executed on each path of Figure 27 alone, and on all paths together."""
    blocks = dict.fromkeys((block for route in inputs["routes"] for block in route), 1.0)
    alone = {f"path {n}": divergent_insts([route], blocks) for n, route in enumerate(inputs["routes"], 1)}
    return {
        **alone,
        "all paths, rejoining": divergent_insts(inputs["routes"], blocks),
        "all paths, their sum": divergent_insts_as_published(inputs["routes"], blocks),
        "a path alone is shorter than all": max(alone.values()) < divergent_insts(inputs["routes"], blocks),
    }


def fig_28_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Blocks of each path and of all."""
    rows = [value for name, value in fig_28(inputs).items() if name != "a path alone is shorter than all"]
    points = (series("basic blocks", np.arange(1.0, len(rows) + 1.0), rows, "points"),)
    x, y = Axis("paths 1 to 3, all rejoining, the sum of all", "1"), Axis("blocks that a warp executes", "1")
    yield Figure("Divergent paths", x, y, points, "Hong and Kim 2009, Figure 28: counted on Figure 27")


def fig_4(inputs: ItemInputs) -> Numbers:
    """Figure 4: the least and the greatest occupancy that a version of SVM reaches, by the counts of Table 5."""
    threads = np.array(inputs["threads"])
    occupancy = _svm_occupancy(inputs)
    return {
        "one warp to a block": float(occupancy[threads == WARP][0]),
        "most": float(occupancy.max()),
        "at the largest block": float(occupancy[-1]),
    }


def fig_4_figures(inputs: ItemInputs) -> Iterator[Figure]:
    """Occupancy against threads per block."""
    lines = (series("SVM", inputs["threads"], _svm_occupancy(inputs), "both"),)
    x, y = Axis("threads per block", "thread"), Axis("occupancy", "1")
    yield Figure(f"Occupancy of SVM on {inputs['gpu']}", x, y, lines, "Hong and Kim 2009, Figure 4: calculated")


def _svm_occupancy(inputs: ItemInputs) -> NDArray[np.float64]:
    board = gpu(inputs["machines"][inputs["gpu"]]["board"])
    resident = occupancy(board, np.array(inputs["threads"]), inputs["registers"], inputs["shared_bytes"])
    return np.asarray(resident.warps_per_sm) / board.limits.max_warps_per_sm


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
