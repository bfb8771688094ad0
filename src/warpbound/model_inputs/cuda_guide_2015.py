"""Workload, Gpu and Residency to the Inputs of the vendor's rule of thumb.

Assumes   the accesses of model_inputs/accesses.py; one instruction takes one issue slot.
"""

from typing import Any

from warpbound.model_inputs.accesses import accesses
from warpbound.model_inputs.launch_facts import LaunchFacts, answer_of, present
from warpbound.models.cuda_guide_2015 import Inputs, predict
from warpbound.result.kernel import ModelAnswer

WANTED = {"alu_per_mem": "a global access", "mem_latency": "the latency of DRAM"}


def known(x: LaunchFacts) -> dict[str, Any]:
    a = accesses(x)
    return present(
        warps=x.warps_per_sm,
        alu_per_mem=a.arithmetic / a.count if a.count else None,
        mem_latency=a.latency,
        inst_time=a.issue_each,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    arithmetic = accesses(x).arithmetic
    warp_rate = rate / arithmetic if arithmetic else 0.0
    return answer_of(prediction, x.seconds(warp_rate), "arithmetic alone; no bandwidth")
