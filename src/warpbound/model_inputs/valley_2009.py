"""Workload and Gpu to the Inputs of the valley model: every thread of the chip shares one cache, its last.

Assumes   a processing element is an FP32 lane that needs a cycle per instruction; the cache is L2, the bandwidth the
          best measured one of DRAM; a miss brings what a lane asks for. Every thread has the locality of a thread of
          the executed warp, in its share of that cache: alpha of 1 where no line comes again. Lines that warps share
          count for each, as the model has it.
"""

from typing import Any

from warpbound.l2_clock import l2_cycles
from warpbound.model_inputs.accesses import accesses
from warpbound.model_inputs.launch_facts import WARP, LaunchFacts, answer_of, present
from warpbound.models.valley_2009 import Inputs, hit_rate, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload.files.lanes import fp32_lanes

LOCALITY = "alpha and beta, how the hit rate falls with the threads that share the cache: inputs.valley_2009"
WANTED = {
    "alpha": LOCALITY,
    "beta": LOCALITY,
    "cache_capacity": "a cache: this machine has none",
    "cache_latency": "a cache: this machine has none",
    "memory_fraction": "the number of instructions and a global access",
    "operand_bytes": "the number of instructions and a global access",
    "memory_latency": "the latency of DRAM",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    a, memory = accesses(x), x.work.memory
    insts = x.work.warp_instructions
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    return present(
        elements=fp32_lanes(x.gpu) * x.gpu.value("sm_count"),
        clock=x.clock_hz,
        cpi=1.0,
        cache_capacity=x.gpu.get("l2_size"),
        cache_latency=l2_cycles(x.gpu, x.clock_hz),
        memory_latency=x.dram_cycles,
        bandwidth=x.gpu.value("dram_achievable_bandwidth"),
        operand_bytes=32.0 * sectors / (a.count * WARP) if a.count else None,
        threads=None if x.warps_per_sm is None else WARP * x.warps_per_sm * x.active_sms,
        memory_fraction=a.count / insts if a.count and insts else None,
        **_locality(x),
    )


def _locality(x: LaunchFacts) -> dict[str, float]:
    """alpha, and beta of a thread: a lane has its part of what a warp touches."""
    own = x.locality
    if own is None:
        return {}
    return {"alpha": max(1.0, own.alpha), "beta": own.beta / WARP if own.beta > 0 else 1.0}


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    warps, insts = x.warps, x.work.warp_instructions * WARP
    time_s = warps * insts / rate if warps and insts and rate else None
    return answer_of(prediction, time_s, f"instructions of all threads; in-order lanes; {_note(inputs, x)}")


def _note(inputs: Inputs, x: LaunchFacts) -> str:
    """Which locality was taken, and how well its curve follows the executed reuse."""
    hits = f"L2 hits {100.0 * float(hit_rate(inputs)):.0f} %"
    own = x.locality
    if own is None or inputs.alpha != max(1.0, own.alpha):
        return hits
    return f"{hits} by one warp's locality, whose curve is off by {own.residual:.2f}"
