"""Workload and Gpu to the Inputs of the valley model: every thread of the chip shares one cache, its last.

Assumes   a processing element is an FP32 lane that needs a cycle per instruction; the cache is L2, the bandwidth the
          best measured one of DRAM; a miss brings what a lane asks for. Locality (alpha, beta) is no count of one
          launch.
"""

from typing import Any

from warpbound.adapt.accesses import accesses
from warpbound.adapt.launch_facts import WARP, LaunchFacts, answer_of, present
from warpbound.models.valley_2009 import Inputs, predict
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
        cache_latency=x.gpu.get("l2_latency"),
        memory_latency=x.dram_cycles,
        bandwidth=x.gpu.value("dram_achievable_bandwidth"),
        operand_bytes=32.0 * sectors / (a.count * WARP) if a.count else None,
        threads=None if x.warps_per_sm is None else WARP * x.warps_per_sm * x.active_sms,
        memory_fraction=a.count / insts if a.count and insts else None,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    warps, insts = x.warps, x.work.warp_instructions * WARP
    time_s = warps * insts / rate if warps and insts and rate else None
    return answer_of(prediction, time_s, "instructions of all threads; in-order lanes")
