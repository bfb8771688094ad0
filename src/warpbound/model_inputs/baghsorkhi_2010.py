"""Workload, Gpu and Residency to the Inputs of Baghsorkhi et al.: one warp's path, times added over the warps.

Assumes   the accesses of model_inputs/accesses.py; DRAM at its best measured rate.
"""

from typing import Any

from warpbound.model_inputs.accesses import accesses, per_cycle
from warpbound.model_inputs.launch_facts import LaunchFacts, present
from warpbound.models.baghsorkhi_2010 import Inputs, cycles, predict
from warpbound.result.kernel import ModelAnswer

WANTED = {
    "mem_latency": "the latency of DRAM",
    "alu_insts": "the number of instructions: counts.instructions, counts.pipes or access",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    a = accesses(x)
    return present(
        warps=x.warps_per_sm,
        alu_insts=a.arithmetic if a.arithmetic + a.count else None,
        mem_insts=a.count,
        issue_time=a.issue_each,
        alu_latency=a.arithmetic_latency,
        mem_time=1.0 / per_cycle(x, "dram_achievable_bandwidth", a.bytes_each),
        mem_latency=a.latency,
        sync_insts=x.work.barriers,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    total = float(cycles(inputs))
    rate = float(inputs.warps) / total if total else None
    bottleneck = str(prediction.bottleneck)
    return ModelAnswer(x.seconds_of_turns(total), rate, "warp/cycle/SM", bottleneck, "waits of different warps add up")
