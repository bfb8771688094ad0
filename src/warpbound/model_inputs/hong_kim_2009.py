"""Workload, Gpu and launch to the Inputs of Hong & Kim: a machine without caches, memory as DRAM sees it.

Assumes   every global access reaches DRAM. On boards for which the authors fitted departure delays, these and the
          latency that was fitted with them hold, and a sector is a transaction; on later ones the delay is the one
          at which the lines of an SM use its share of the pin bandwidth, and accesses of more than one line's worth of
          sectors are uncoalesced. Accesses of more sectors than their bytes need are uncoalesced, with their own mean;
          the others are coalesced (Eqs. 12 to 15). M_Factor is how much longer than issuing it the computation occupies
          its busiest pipe (Eq. 31). Loads of one phase but the first are independent (Eq. 29).
"""

from typing import Any

from warpbound.machine import Gpu
from warpbound.model_inputs.launch_facts import LaunchFacts, present
from warpbound.model_inputs.resources import demand
from warpbound.models.hong_kim_2009 import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload import Memory, Workload
from warpbound.workload.files.lanes import fp32_lanes, issue_rate

LINE_B = 128.0
SECTOR_B = 32.0
NEAR = 1.0 + 1e-9
COMPUTING = ("alu", "fma", "fp64", "xu", "tensor", "tmem", "uniform")  # pipes that access no global memory
DELAY_NOTE = "departure delays are derived from bandwidth, and every access is assumed to reach DRAM"
SIZE = "the size of the launch: launch.blocks (or threads) with threads_per_block"
WANTED = {
    "blocks": SIZE,
    "threads_per_block": SIZE,
    "active_sms": SIZE,
    "active_blocks": "the resident blocks: launch.blocks_per_sm, or threads_per_block with registers and shared_bytes",
    "mem_latency": "the latency of DRAM",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    issue_cycles = 32.0 / fp32_lanes(x.gpu) if x.gpu.arch < 30 else 1.0 / issue_rate(x.gpu)
    return present(
        freq=x.clock_hz,
        mem_bandwidth=x.gpu.value("dram_bandwidth"),
        mem_latency=_fitted_latency(x.gpu) or x.dram_cycles,
        threads_per_block=_real(x.threads_per_block),
        blocks=_real(x.blocks),
        active_sms=None if x.blocks is None else min(x.gpu.value("sm_count"), float(x.blocks)),
        active_blocks=x.blocks_per_sm,
        synch_insts=x.work.barriers,
        issue_cycles=issue_cycles,
        **_departures(x),
        **_accesses(x, issue_cycles),
    )


def _departures(x: LaunchFacts) -> dict[str, float]:
    line_cycles = LINE_B * x.clock_hz / (x.gpu.value("dram_bandwidth") / x.gpu.value("sm_count"))
    return {
        "departure_uncoal": x.gpu.get("departure_delay_uncoalesced") or line_cycles,
        "departure_coal": x.gpu.get("departure_delay_coalesced") or line_cycles,
    }


def _accesses(x: LaunchFacts, issue_cycles: float) -> dict[str, float]:
    work, memory, from_fit = x.work, x.work.memory, _is_fitted(x.gpu)
    requests = memory.global_load_requests + memory.global_store_requests
    spread = memory.sectors_per_request or 0.0
    ideal = memory.ideal_sectors / requests if requests and memory.ideal_sectors else spread
    uncoalesced, sectors = min(requests, memory.uncoalesced_requests), memory.uncoalesced_sectors
    if not uncoalesced and spread > ideal * NEAR:  # a file with totals alone
        uncoalesced, sectors = requests, spread * requests
    transactions = sectors / uncoalesced if uncoalesced else 1.0
    computation = max(0.0, work.warp_instructions - requests)
    return {
        "comp_insts": computation,
        "uncoal_mem_insts": uncoalesced,
        "coal_mem_insts": requests - uncoalesced,
        "uncoal_per_mw": max(1.0, transactions if from_fit else transactions * SECTOR_B / LINE_B),
        "load_bytes": max(SECTOR_B, (ideal if from_fit else spread) * SECTOR_B),
        "m_factor": _m_factor(x, computation * issue_cycles),
        "ind_mem_req": _independent(work, memory, requests),
    }


def _m_factor(x: LaunchFacts, issued_cycles: float) -> float:
    """Mean over the computation: SM cycles of its busiest pipe over those of issuing it, at least 1."""
    if not issued_cycles:
        return 1.0
    occupied = demand(x.work, x.gpu, x.clock_hz)
    return max(1.0, *(occupied[pipe] / issued_cycles for pipe in COMPUTING))


def _independent(work: Workload, memory: Memory, requests: float) -> float:
    """Loads that need not wait for an earlier one: those of each phase but its first, by the phases' mean."""
    if not work.phases:
        return 0.0
    share = 1.0 - len(work.phases) / sum(work.phases)
    return max(0.0, min(share * memory.global_load_requests, requests - 1.0))


def _is_fitted(gpu: Gpu) -> bool:
    return gpu.get("departure_delay_uncoalesced") is not None


def _fitted_latency(gpu: Gpu) -> float | None:
    """Mem_LD as fitted together with the departure delays, where the board quotes it."""
    delay, latency = gpu.parameters.get("departure_delay_uncoalesced"), gpu.parameters.get("dram_latency")
    if delay is None or latency is None:
        return None
    quoted = {latency.source: latency.value} | {claim.source: claim.value for claim in latency.others}
    return quoted.get(delay.source)


def _real(count: int | None) -> float | None:
    return None if count is None else float(count)


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    cycles = float(prediction.total)
    rate = x.warps / (float(inputs.active_sms) * cycles) if x.warps and cycles else None
    note = "every access is assumed to reach DRAM" if _is_fitted(x.gpu) else DELAY_NOTE
    return ModelAnswer(cycles / float(inputs.freq), rate, "warp/cycle/SM", str(prediction.bottleneck), note)
