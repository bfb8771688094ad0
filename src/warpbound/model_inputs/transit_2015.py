"""Workload, Gpu and Residency to the Inputs of the Transit model, in the units of one SM: threads are warps.

Assumes   a request is a global access that leaves the chip; the rest of the instructions, and of the latency, is
          computation. L is what a warp waits per request, so that requests in flight together count once. M is FP32
          lanes over 32, as in Table II of the X-model; R is the best measured DRAM rate.
"""

from typing import Any

from warpbound.model_inputs.accesses import MEMORY_CAUSES, dram_bytes, off_chip, per_cycle
from warpbound.model_inputs.launch_facts import WARP, LaunchFacts, answer_of, present
from warpbound.models.transit_2015 import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload.files.lanes import fp32_lanes

WANTED = {
    "intensity": "an access that leaves the chip, and the number of instructions",
    "ms_throughput": "an access that leaves the chip, and the number of instructions",
    "latency": "the latency of DRAM",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    requests = off_chip(x)
    if not requests or not x.work.warp_instructions:
        return present(threads=x.warps_per_sm, lanes=fp32_lanes(x.gpu) / WARP, latency=x.dram_cycles)
    waited = sum(x.work.parts.get(cause, 0.0) for cause in MEMORY_CAUSES)
    return present(
        threads=x.warps_per_sm,
        intensity=x.work.warp_instructions / requests,
        lanes=fp32_lanes(x.gpu) / WARP,
        latency=waited / requests if waited else x.dram_cycles,
        ms_throughput=per_cycle(x, "dram_achievable_bandwidth", dram_bytes(x) / requests),
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    warp_rate = rate * float(inputs.intensity) / x.work.warp_instructions if x.work.warp_instructions else 0.0
    return answer_of(prediction, x.seconds(warp_rate), "per SM; no cache in this model")
