"""Workload, Gpu and Residency to the Inputs of probabilistic multithreading: each issue slot with its share of warps.

Assumes   mu is the warp's instructions over its latency, both of the warp alone.
"""

from typing import Any

from warpbound.model_inputs.launch_facts import LaunchFacts, answer_of, present
from warpbound.models.chen_aamodt_2009 import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload.files.lanes import issue_rate

WANTED = {"alone": "the latency of one warp (latency.parts or latency.phases) and its instructions"}


def known(x: LaunchFacts) -> dict[str, Any]:
    slots, work = issue_rate(x.gpu), x.work
    alone = work.warp_instructions / work.latency if work.latency and work.warp_instructions else None
    slots = max(1.0, slots)  # a slot that is open every other cycle is still one slot
    return present(
        threads=None if x.warps_per_sm is None else x.warps_per_sm / slots,
        alone=None if alone is None else min(1.0, alone),
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    rate = float(prediction.rate)
    insts = x.work.warp_instructions
    warp_rate = issue_rate(x.gpu) * rate / insts if insts else 0.0
    return answer_of(prediction, x.seconds(warp_rate), "per issue slot; no bandwidth")
