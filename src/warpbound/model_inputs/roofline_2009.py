"""Workload and Gpu to the Inputs of the roofline: all flop of the launch against the bytes that reach DRAM.

Assumes   pin bandwidth; the peak of the kernel's mixture of types, all operations in multiply-adds.
"""

from collections.abc import Mapping
from typing import Any

from warpbound.isa.opcodes import opcode_facts
from warpbound.isa.traits import fastest
from warpbound.latency import tensor_rate
from warpbound.machine import Gpu
from warpbound.model_inputs.accesses import dram_bytes
from warpbound.model_inputs.launch_facts import LaunchFacts, answer_of, no_answer
from warpbound.models.roofline_2009 import Inputs, predict
from warpbound.result.kernel import ModelAnswer
from warpbound.workload import Workload
from warpbound.workload.files.lanes import old, pipe_cycles, stretch

_PIPE = {"fp64": "fp64"}  # pipe of a type; types that are not listed use the FP32 lanes
WARP = 32
MOST_STAYS = 0.5  # of the bytes touched, that DRAM moves; below, no time is given
WANTED: dict[str, str] = {}


def inputs(work: Workload, gpu: Gpu, clock_hz: float) -> Inputs:
    """Peak of the mixture of types that the kernel uses; intensity inf where no byte reaches DRAM."""
    flop = sum(work.flop.values())
    carried_bytes = work.memory.dram_bytes_read + work.memory.dram_bytes_written
    ideal_s = sum(count / peak(gpu, kind, clock_hz, work.tensor) for kind, count in work.flop.items() if count)
    return Inputs(
        intensity=flop / carried_bytes if carried_bytes else float("inf"),
        peak_flops=flop / ideal_s if ideal_s else float("inf"),
        peak_bandwidth=gpu.value("dram_bandwidth"),
    )


def peak(gpu: Gpu, kind: str, clock_hz: float, tensor: Mapping[str, float]) -> float:
    """Peak flop/s of one type on the whole chip. tensor : multiply-adds by tensor type, of which the largest counts."""
    if kind == "tensor":
        busiest_type = max(tensor, key=lambda t: tensor[t], default="fp16")
        per_cycle = 2 * tensor_rate(gpu, busiest_type)
    else:
        per_cycle = _per_cycle(gpu, kind)
    return per_cycle * clock_hz * gpu.value("sm_count")


def _per_cycle(gpu: Gpu, kind: str) -> float:
    """Operations of one SM per cycle; machines older than 7.0 do half precision no faster than single."""
    sub_cores = gpu.limits.sub_cores
    opcode = fastest(kind)
    if old(gpu) is None:
        cycles = max(opcode_facts(opcode.opcode, (), gpu.arch).demand.values()) * stretch(gpu, _PIPE.get(kind, "fma"))
        operations = opcode.flop[1] if opcode.flop else 0
        return operations * WARP * sub_cores / cycles
    cycles = pipe_cycles(gpu, _PIPE.get(kind, "fma")) or pipe_cycles(gpu, "fma")
    return 2 * WARP * sub_cores / cycles


def known(x: LaunchFacts) -> dict[str, Any]:
    return vars(inputs(x.work, x.gpu, x.clock_hz))


def answer(inputs: Inputs, x: LaunchFacts) -> ModelAnswer:
    flop, carried_bytes = sum(x.work.flop.values()), dram_bytes(x)
    warps = x.warps
    if flop <= 0 or inputs.intensity <= 0:  # fewer flop per byte than a float can hold count as none
        if carried_bytes <= 0:
            return no_answer("no flop and no DRAM traffic, so this model does not apply")
        if carried_bytes < MOST_STAYS * x.work.memory.touched_bytes:
            return no_answer("no flop, and most bytes stay in L2: this model has no memory but DRAM")
        bandwidth = float(inputs.peak_bandwidth)
        time_s = None if warps is None else carried_bytes * warps / bandwidth
        return ModelAnswer(time_s, bandwidth, "B/s", "memory", "no flop: the memory roof alone")
    prediction = predict(inputs)
    rate = float(prediction.rate)
    time_s = None if warps is None else flop * warps / rate
    return answer_of(prediction, time_s, None)
