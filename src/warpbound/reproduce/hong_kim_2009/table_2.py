"""Table 2: one kernel through every equation."""

from collections import Counter
from dataclasses import replace

from warpbound.models.hong_kim_2009 import Inputs, barrier_cost, cpi, equation_taken, predict, terms
from warpbound.models.hong_kim_2009.periods import computation_period, memory_dominates
from warpbound.reproduce.item import Given, Numbers

GLOBAL = "ld.global"
BARRIER = "bar.sync"


def numbers(given: Given) -> Numbers:
    """Table 2 in its order, and what it becomes where the paper rounds on the way."""
    x, rounded = _inputs(given), given["rounded_mwp"]
    t, found = terms(x), predict(x)
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
        "MWP_peak_BW, of BW_per_warp 0.175": bandwidth / (given["rounded_bw_per_warp"] * sms),
        "MWP": t.mwp,
        "Comp_cycles": t.comp_cycles,
        "Mem_cycles": t.mem_cycles,
        "CWP_full": t.cwp_full,
        "CWP": t.cwp,
        "#Rep": t.rep,
        "Equation taken": equation_taken(x),
        "Exec_cycles_app": found.parts["memory"] + found.parts["computation"],
        "Exec_cycles_app, of MWP 2.28": many.total * t.rep,
        "Synch_cost": found.parts["barrier"],
        "Synch_cost, of MWP 2.28": barrier_cost(t.departure_delay, rounded, x.synch_insts, x.active_blocks, t.rep),
        "Final cycles": found.total,
        "CPI": cpi(x),
    }


def _inputs(given: Given) -> Inputs:
    """Counts of Figure 13's loop: all but loads from global memory is computation, barriers too."""
    count: Counter[str] = Counter(given["body"])
    turns = given["iterations"]
    empty = Inputs(**given["kernel"], comp_insts=0.0, uncoal_mem_insts=0.0, synch_insts=0.0)
    return replace(
        empty,
        comp_insts=float(turns * (count.total() - count[GLOBAL])),
        uncoal_mem_insts=float(turns * count[GLOBAL]),
        synch_insts=float(turns * count[BARRIER]),
    )
