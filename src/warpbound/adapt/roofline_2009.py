"""Workload and Gpu to the Inputs of the roofline: all flop of the launch against the bytes that reach DRAM."""

from warpbound.isa.limits import limits
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import tensor_rate
from warpbound.machine import Gpu
from warpbound.models.roofline_2009 import Inputs
from warpbound.workload import Workload

_FASTEST = {"fp32": ("FFMA", 2), "fp64": ("DFMA", 2), "fp16": ("HFMA2", 4), "bf16": ("HFMA2", 4)}
WARP = 32


def inputs(work: Workload, gpu: Gpu, clock_hz: float) -> Inputs:
    """Peak of the mixture of types that the kernel uses; intensity inf where no byte reaches DRAM."""
    flop = sum(work.flop.values())
    dram_bytes = work.memory.dram_bytes_read + work.memory.dram_bytes_written
    ideal_s = sum(count / peak(gpu, kind, clock_hz, work) for kind, count in work.flop.items() if count)
    return Inputs(
        intensity=flop / dram_bytes if dram_bytes else float("inf"),
        peak_flops=flop / ideal_s if ideal_s else float("inf"),
        peak_bandwidth=gpu.value("dram_bandwidth"),
    )


def peak(gpu: Gpu, kind: str, clock_hz: float, work: Workload) -> float:
    """Peak flop/s of one type on the whole chip."""
    if kind == "tensor":
        used = max(work.tensor, key=lambda t: work.tensor[t], default="fp16")
        per_cycle = 2 * tensor_rate(gpu, used)
    else:
        opcode, operations = _FASTEST[kind]
        cycles = max(opcode_facts(opcode, (), gpu.arch).demand.values())
        per_cycle = operations * WARP * limits(gpu.compute_capability).sub_cores / cycles
    return per_cycle * clock_hz * gpu.value("sm_count")
