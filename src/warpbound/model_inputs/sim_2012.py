"""Workload, Gpu and Residency to the Inputs of Sim et al.

Assumes   the accesses of model_inputs/accesses.py; MWP's peak is the best measured DRAM rate times the latency; no
          departure delay, whose values the authors give for one machine.
"""

from typing import Any

from warpbound.model_inputs.accesses import NO_ACCESS, accesses, per_cycle
from warpbound.model_inputs.launch_facts import LaunchFacts, no_answer, present
from warpbound.models.sim_2012 import Inputs, predict
from warpbound.result.kernel import ModelAnswer

WANTED = {
    "mem_latency": "the latency of DRAM",
    "mwp_peak_bw": "the latency of DRAM",
    "mem_insts": "a global access",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    a = accesses(x)
    peak = per_cycle(x, "dram_achievable_bandwidth", a.bytes_each)
    return present(
        warps=x.warps_per_sm,
        insts=a.arithmetic + a.count or None,
        mem_insts=a.count or None,
        alu_latency=a.arithmetic_latency,
        alu_time=a.issue_each,
        mem_latency=a.latency,
        mwp_peak_bw=None if a.latency is None else peak * a.latency,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    if not inputs.mem_insts:
        return no_answer(NO_ACCESS)
    prediction = predict(inputs)
    total = float(prediction.total)
    rate = float(inputs.warps) / total if total else None
    return ModelAnswer(x.seconds_of_turns(total), rate, "warp/cycle/SM", str(prediction.bottleneck), None)
