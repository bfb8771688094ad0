"""Workload, Gpu and Residency to the Inputs of GPUMech: each scheduler with its share of the warps, round robin.

Assumes   the accesses of model_inputs/accesses.py; an interval is one instruction with its latency. Every access
          contends for the pins, although the paper means only those that diverge: otherwise bandwidth would not count;
          MSHRs do not bind.
"""

from typing import Any

from warpbound.model_inputs.accesses import accesses
from warpbound.model_inputs.launch_facts import LaunchFacts, present
from warpbound.models.huang_2014 import Inputs, Interval, is_physical, predict, service_time
from warpbound.result.kernel import ModelAnswer

WANTED = {"intervals": "the latency of DRAM, and the number of instructions"}
BEYOND = "an interval needs more than the bandwidth, for which this model has no answer"


def known(x: LaunchFacts) -> dict[str, Any]:
    a = accesses(x)
    schedulers = float(x.gpu.limits.sub_cores)
    intervals = []
    if a.arithmetic:
        intervals.append(Interval(1.0, max(1.0, a.arithmetic_latency), a.arithmetic))
    if a.count and a.latency:
        intervals.append(Interval(1.0, max(1.0, a.latency), a.count, requests=1.0))
    return present(
        warps=None if x.warps_per_sm is None else x.warps_per_sm / schedulers,
        intervals=tuple(intervals) or None,
        cores=x.gpu.value("sm_count") * schedulers,
        service=service_time(x.clock_hz, x.gpu.value("dram_bandwidth"), a.bytes_each),
    )


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    prediction = predict(inputs)
    per_inst = float(prediction.total)
    physical = bool(is_physical(inputs)) and per_inst > 0
    rate = 1.0 / per_inst if per_inst else None
    insts, schedulers = x.work.warp_instructions, x.gpu.limits.sub_cores
    warp_rate = schedulers * rate / insts if rate and insts and physical else 0.0
    note = "per scheduler" if physical else BEYOND
    return ModelAnswer(x.seconds(warp_rate), rate, "inst/cycle/scheduler", str(prediction.bottleneck), note)
