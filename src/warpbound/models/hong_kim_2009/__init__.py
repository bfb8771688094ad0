"""MWP and CWP: how many warps wait for memory together, how many compute meanwhile.

Source   S. Hong, H. Kim, "Memory-level and Thread-level Parallelism Aware GPU Architecture
         Performance Analytical Model", the extended version of their ISCA 2009 paper.  Numbers
         of equations (1 to 31), tables and algorithms are its own; all checked against the text.
Models   cycles of a whole kernel on a GPU without caches whose SM runs one warp at a time:
         `predict`, every intermediate of its Table 2 by `terms`, MWP's limits by `mwp_limits`.
         Where the paper contradicts itself or leaves a gap, `predict` takes the reading that its
         own examples support, and a function ending in `as_published` the printed one:
         compute-bound kernels go to Eq. 24 (31 and not 35 cycles in case 5 as printed); Eq. 29
         gives N and not 0 for no independent request, and MWP may then exceed N, which needs
         Eq. 17 without its cap and Eq. 22 with Mem_cycles N / MWP; Eq. 31 has one factor per kind
         of instruction and none on memory; a block has whole warps; a kernel without memory
         instructions takes Comp_cycles x N, its weights (Eqs. 13, 14) are 0, hence Mem_L,
         Departure_delay and the cost of barriers, and MWP is N; where bandwidth pushes MWP below
         1, MWP - 1 counts as 0 (the paper does not go there).  `periods` has Eqs. 1 to 4, `paths`
         divergence, `coalescing` the algorithms.  #Coal_per_mw is 1 and in no equation.
Omits    caches, shared memory conflicts, arithmetic latency (a warp is always ready to issue),
         unequal warps.  Eq. 23 can fall below the time it takes to issue: compare `cpi` with
         `issue_floor`.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Bounds, Real, Stack, bounds, stack
from warpbound.models.hong_kim_2009 import coalescing, paths, periods
from warpbound.models.hong_kim_2009.quotients import quotient
from warpbound.quick_dataclasses import dataclass

__all__ = [
    "Inputs",
    "Terms",
    "coalescing",
    "cpi",
    "cpi_as_published",
    "mwp_limits",
    "paths",
    "periods",
    "predict",
    "predict_as_published",
    "terms",
    "terms_as_published",
]

THREADS_PER_WARP = 32.0


@dataclass(frozen=True)
class Inputs:
    """Symbols as in Table 1; counts of instructions are those of one thread, hence of one warp."""

    freq: Real                  # Freq                    SM clock                         [cycle/s]
    mem_bandwidth: Real         # Mem_Bandwidth           DRAM to GPU cores                [B/s]
    mem_latency: Real           # Mem_LD                  round trip of a transaction      [cycle]
    departure_uncoal: Real      # Departure_del_uncoal    between two transactions         [cycle]
    departure_coal: Real        # Departure_del_coal      between two transactions         [cycle]
    threads_per_block: Real     # #Threads_per_block                                       [thread/block]
    blocks: Real                # #Blocks                 in the launch                    [block]
    active_sms: Real            # #Active_SMs             see `paths.active`               [SM]
    active_blocks: Real         # #Active_blocks_per_SM   see `paths.active`               [block/SM]
    comp_insts: Real            # #Comp_insts             all but global memory            [inst/warp]
    uncoal_mem_insts: Real      # #Uncoal_Mem_insts                                        [inst/warp]
    coal_mem_insts: Real        # #Coal_Mem_insts                                          [inst/warp]
    synch_insts: Real           # #Synch_insts            also among #Comp_insts           [inst/warp]
    uncoal_per_mw: Real         # #Uncoal_per_mw          transactions of an access        [1/inst]
    load_bytes: Real            # Load_bytes_per_warp                                      [B/inst]
    issue_cycles: Real = 4.0    # Issue_cycles                                             [cycle/inst]
    m_factor: Real = 1.0        # M_Factor                mean of the computation, Eq. 31  [1]
    ind_mem_req: Real = 0.0     # #ind_mem_req            need not wait for an earlier one [inst/warp]


@dataclass(frozen=True)
class Terms:
    """The intermediates of Table 2, in its order."""

    warps: Real             # N                     [warp/SM]
    departure_delay: Real   # Departure_delay       [cycle]
    mem_l: Real             # Mem_L                 [cycle]
    mwp_full: Real          # MWP_Without_BW_full   [warp/SM]
    bw_per_warp: Real       # BW_per_warp           [B/s]
    mwp_peak_bw: Real       # MWP_peak_BW           [warp/SM]
    mwp: Real               # MWP                   [warp/SM]; independent requests count as warps: may exceed N
    comp_cycles: Real       # Comp_cycles           [cycle]
    mem_cycles: Real        # Mem_cycles            [cycle]
    cwp_full: Real          # CWP_full              [warp/SM]
    cwp: Real               # CWP                   [warp/SM]
    rep: Real               # #Rep                  [1]
    npwb: Real              # NpWB                  [warp/block]


def predict(x: Inputs) -> Stack:
    """Cycles of the launch: waiting for memory, computing, and waiting at barriers."""
    t = terms(x)
    memory, computation = _execution(x, t, memory_dominates=np.asarray(np.greater_equal(t.cwp, t.mwp)))
    return stack("cycle", memory=memory, computation=computation, barrier=synch_cost(x, t))  # eq. 28


def predict_as_published(x: Inputs) -> Stack:
    """The same by the printed dispatch and equations: Eqs. 17, 22, 23, 26, 29 and 31, and fractions of a warp."""
    t, mem = terms_as_published(x), mem_insts(x)
    comp_p = periods.computation_period(t.comp_cycles, mem)
    more = np.multiply(comp_p, np.subtract(t.mwp, 1.0))
    waiting = quotient(np.multiply(t.mem_cycles, t.warps), t.mwp, 0.0)
    few = np.equal(t.mwp, t.warps) & np.equal(t.cwp, t.warps)
    dominates = (np.greater_equal(t.cwp, t.mwp) | np.greater(t.comp_cycles, t.mem_cycles)) & np.greater(mem, 0)
    memory = np.where(few, t.mem_cycles, np.where(dominates, waiting, t.mem_l))
    busy = np.where(dominates, more, t.comp_cycles * t.warps)
    computation = np.where(few, t.comp_cycles + more, busy)
    others = t.departure_delay * np.subtract(t.npwb, 1.0)
    barrier = others * x.synch_insts * x.active_blocks * t.rep                                 # eq. 26
    return stack("cycle", memory=memory * t.rep, computation=computation * t.rep, barrier=barrier)  # eq. 22 to 24, 28


def terms(x: Inputs) -> Terms:
    """Every intermediate of the prediction."""
    warps_per_block = np.ceil(np.divide(x.threads_per_block, THREADS_PER_WARP))
    n = warps_per_block * x.active_blocks                                                    # eq. 20
    parallel = paths.parallel_warps(n, mem_insts(x), x.ind_mem_req)
    cycles = periods.comp_cycles(x.issue_cycles, x.m_factor, x.comp_insts, mem_insts(x))
    return _terms(x, warps_per_block, parallel, cycles)


def terms_as_published(x: Inputs) -> Terms:
    """The same as printed; without independent requests Eq. 5, which the paper then means."""
    warps_per_block = np.divide(x.threads_per_block, THREADS_PER_WARP)
    n = warps_per_block * x.active_blocks                                                    # eq. 20
    independent = paths.parallel_warps_as_published(n, mem_insts(x), x.ind_mem_req)
    parallel = np.where(np.greater(x.ind_mem_req, 0), np.minimum(n, independent), n)         # eq. 5, 17, 29, 30
    total = np.add(x.comp_insts, mem_insts(x))
    return _terms(x, warps_per_block, parallel, periods.comp_cycles(x.issue_cycles, x.m_factor, total, 0.0))


def mwp_limits(x: Inputs) -> Bounds:
    """What bounds MWP: departures from the SM, DRAM bandwidth, or the warps there are."""
    t = terms(x)
    independent = paths.parallel_warps(t.warps, mem_insts(x), x.ind_mem_req)
    return bounds("warp/SM", departure=t.mwp_full, bandwidth=t.mwp_peak_bw, warps=independent)  # eq. 30


def mem_insts(x: Inputs) -> Real:
    """#Mem_insts, memory instructions of a warp."""
    return np.add(x.uncoal_mem_insts, x.coal_mem_insts)


def synch_cost(x: Inputs, t: Terms) -> Real:
    """Extra cycles of the launch at barriers."""
    return barrier_cost(t.departure_delay, t.npwb, x.synch_insts, x.active_blocks, t.rep)  # eq. 26


def barrier_cost(
    departure_delay: Real, npwb: Real, synch_insts: Real, active_blocks: Real, rep: Real
) -> Real:
    """Extra cycles for `synch_insts` barriers in each of `rep` turns of the active blocks."""
    others = np.maximum(np.subtract(npwb, 1.0), 0.0)                          # eq. 26
    return departure_delay * others * synch_insts * active_blocks * rep       # eq. 26


def cpi(x: Inputs) -> Real:
    """Cycles per warp instruction per SM, barriers left out as in the paper."""
    return _per_instruction(x, predict(x), np.ceil(np.divide(x.threads_per_block, THREADS_PER_WARP)))


def cpi_as_published(x: Inputs) -> Real:
    """The same of the printed prediction, with fractions of a warp."""
    return _per_instruction(x, predict_as_published(x), np.divide(x.threads_per_block, THREADS_PER_WARP))


def issue_floor(x: Inputs) -> Real:
    """Least CPI that issue allows; a smaller `cpi` is an artefact of the model."""
    insts = np.add(x.comp_insts, mem_insts(x))
    cycles = periods.comp_cycles(x.issue_cycles, x.m_factor, x.comp_insts, mem_insts(x))
    return quotient(cycles, insts, x.issue_cycles)  # eq. 31


def seconds(x: Inputs) -> Real:
    """Time of the launch."""
    return predict(x).total / x.freq


def arithmetic_intensity(x: Inputs) -> Real:
    """Computation per memory instruction, as in Table 5; infinite without memory."""
    return quotient(x.comp_insts, mem_insts(x), np.inf)


def equation_taken(x: Inputs) -> Real:
    """22, 23 or 24, the equation that `predict` uses; 24 without memory instructions."""
    t = terms(x)
    few, dominates = _few_warps(x, t), np.greater_equal(t.cwp, t.mwp) & np.greater(mem_insts(x), 0)
    return np.where(few, 22.0, np.where(dominates, 23.0, 24.0))


def _terms(x: Inputs, warps_per_block: Real, parallel: Real, comp_cycles: Real) -> Terms:
    mem = mem_insts(x)
    weight_uncoal = quotient(x.uncoal_mem_insts, mem, 0.0)                                   # eq. 13
    weight_coal = quotient(x.coal_mem_insts, mem, 0.0)                                       # eq. 14
    l_uncoal = x.mem_latency + np.subtract(x.uncoal_per_mw, 1.0) * x.departure_uncoal        # eq. 10
    l_coal = x.mem_latency                                                                   # eq. 11
    mem_l = l_uncoal * weight_uncoal + l_coal * weight_coal                                  # eq. 12
    delay = np.multiply(x.departure_uncoal, x.uncoal_per_mw) * weight_uncoal                 # eq. 15
    delay = delay + x.departure_coal * weight_coal                                           # eq. 15
    mwp_full = quotient(mem_l, delay, np.inf)                                                # eq. 16
    bw_per_warp = quotient(np.multiply(x.freq, x.load_bytes), mem_l, 0.0)                    # eq. 7
    mwp_peak_bw = quotient(x.mem_bandwidth, bw_per_warp * x.active_sms, np.inf)              # eq. 6
    n = warps_per_block * x.active_blocks                                                    # eq. 20
    mwp = np.minimum(np.minimum(mwp_full, mwp_peak_bw), parallel)                            # eq. 30
    mem_cycles = l_uncoal * x.uncoal_mem_insts + l_coal * x.coal_mem_insts                   # eq. 18
    cwp_full = periods.cwp_full(mem_cycles, comp_cycles)
    return Terms(
        warps=n,
        departure_delay=delay,
        mem_l=mem_l,
        mwp_full=mwp_full,
        bw_per_warp=bw_per_warp,
        mwp_peak_bw=mwp_peak_bw,
        mwp=mwp,
        comp_cycles=comp_cycles,
        mem_cycles=mem_cycles,
        cwp_full=cwp_full,
        cwp=np.minimum(cwp_full, n),                                                         # eq. 9
        rep=periods.repetitions(x.blocks, x.active_blocks, x.active_sms),
        npwb=np.minimum(mwp, warps_per_block),                                               # eq. 27
    )


def _execution(x: Inputs, t: Terms, *, memory_dominates: NDArray[np.bool_]) -> tuple[Real, Real]:
    """Cycles of the launch spent on memory and on computation, by the case that applies."""
    mem = mem_insts(x)
    comp_p = periods.computation_period(t.comp_cycles, mem)
    few = periods.few_warps(t.mem_cycles, t.comp_cycles, comp_p, t.warps, t.mwp).parts
    many = periods.memory_dominates(t.mem_cycles, comp_p, t.warps, t.mwp).parts
    busy = periods.computation_dominates(t.mem_l, t.comp_cycles, t.warps).parts
    alone, dominates = _few_warps(x, t), memory_dominates & np.greater(mem, 0)
    by_case = {
        name: np.where(alone, few[name], np.where(dominates, many[name], busy[name]))
        for name in ("memory", "computation")
    }
    return by_case["memory"] * t.rep, by_case["computation"] * t.rep                           # eq. 22 to 24


def _few_warps(x: Inputs, t: Terms) -> NDArray[np.bool_]:
    few = np.greater_equal(t.mwp, t.warps) & np.equal(t.cwp, t.warps) & np.greater(mem_insts(x), 0)
    return np.asarray(few)


def _per_instruction(x: Inputs, cycles: Stack, warps_per_block: Real) -> Real:
    insts = np.add(x.comp_insts, mem_insts(x))
    insts_per_sm = insts * warps_per_block * np.divide(x.blocks, x.active_sms)                   # eq. 25
    app = cycles.parts["memory"] + cycles.parts["computation"]
    return quotient(app, insts_per_sm, x.issue_cycles)                                           # eq. 25
