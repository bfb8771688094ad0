"""Workload, Gpu and Residency to the Inputs of Zhang & Owens, with modelled curves in place of measured ones.

Assumes   the accesses of model_inputs/accesses.py; throughput of each kind alone is warps over its latency up to its
          peak, which for arithmetic is issue and for memory the best measured DRAM rate.
"""

from typing import Any

from warpbound.model_inputs.accesses import accesses, per_cycle
from warpbound.model_inputs.launch_facts import LaunchFacts, answer_of, present
from warpbound.models.zhang_owens_2011 import Inputs, modelled, predict
from warpbound.result.kernel import ModelAnswer

WANTED = {
    "mem_rate": "the latency of DRAM, and the resident warps: launch.warps_per_sm",
    "alu_rate": "the resident warps: launch.warps_per_sm",
}


def known(x: LaunchFacts) -> dict[str, Any]:
    a, warps = accesses(x), x.warps_per_sm
    rates: dict[str, Any] = {}
    if warps is not None:
        rates["alu_rate"] = modelled(warps, a.arithmetic_latency, 1.0 / a.issue_each)
        if a.latency:
            peak = per_cycle(x, "dram_achievable_bandwidth", a.bytes_each)
            rates["mem_rate"] = modelled(warps, a.latency, peak)
    return present(alu_insts=a.arithmetic, mem_insts=a.count, **rates)


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    return answer_of(prediction, x.seconds(float(prediction.rate)), "curves are modelled, not measured")
