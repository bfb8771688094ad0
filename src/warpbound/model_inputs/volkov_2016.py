"""Workload, Gpu and Residency to the Inputs of Volkov's bounds.

Assumes   a resource's time is that of model_inputs/resources.py; latency is unloaded. DRAM runs at its best measured
          rate.
"""

from typing import Any

from warpbound.bounds import Real
from warpbound.machine import Gpu
from warpbound.model_inputs.launch_facts import LaunchFacts, answer_of, present
from warpbound.model_inputs.resources import demand
from warpbound.models.volkov_2016 import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload import Workload

WANTED = {"busy": "instructions, accesses or operations: counts, access or memory"}


def inputs(work: Workload, gpu: Gpu, warps_per_sm: Real, clock_hz: float) -> Inputs:
    """`warps_per_sm` of any shape; resources that are not used are left out."""
    return Inputs(warps=warps_per_sm, latency=work.latency, busy=_busy(work, gpu, clock_hz))


def _busy(work: Workload, gpu: Gpu, clock_hz: float) -> dict[str, Real]:
    return {name: cycles for name, cycles in demand(work, gpu, clock_hz).items() if cycles > 0}


def known(x: LaunchFacts) -> dict[str, Any]:
    return present(
        warps=x.warps_per_sm,
        latency=x.work.latency or None,
        busy=_busy(x.work, x.gpu, x.clock_hz) or None,
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    return answer_of(prediction, x.seconds(float(prediction.rate)), None)
