"""What one unit of work asks of each resource, in SM cycles: the common ground of all throughput bounds.

Source   V. Volkov, EECS-2016-143, section 3.6: a resource's bound is its time per warp.
Models   issue slots and pipes of four sub-cores shared evenly, SM-wide data paths, an even share of the chip's
         L2 and DRAM rates.
Omits    uneven sub-cores and SMs; address-divergence, branch and barrier units (ADU, CBU), which are counted
         but bound nothing here.
"""

from warpbound.isa.limits import limits
from warpbound.machine import Gpu
from warpbound.workload import Workload

SECTOR_B = 32
_UNITS = {  # unit of isa/families.toml -> resource of the reports
    "alu": "alu", "aluheavy": "alu", "alulite": "alu", "fma": "fma", "fmaheavy": "fma", "fmalite": "fma",
    "fp16": "fma", "fp64": "fp64", "xu": "xu", "uniform": "uniform", "lsu": "lsu", "tex": "lsu", "tensor": "tensor",
}  # fmt: skip
RESOURCES = ("issue", "alu", "fma", "fp64", "xu", "tensor", "uniform", "lsu", "shared", "l1", "l2", "dram")


def demand(work: Workload, gpu: Gpu, clock_hz: float) -> dict[str, float]:
    """SM cycles that one unit of work occupies each resource it uses; every name in RESOURCES."""
    sub_cores = limits(gpu.compute_capability).sub_cores
    memory = work.memory
    cycles = dict.fromkeys(RESOURCES, 0.0)
    cycles["issue"] = work.warp_instructions / sub_cores
    for unit, busy in work.units.items():
        resource = _UNITS.get(unit)
        if resource:
            cycles[resource] = max(cycles[resource], busy / sub_cores)
    for kind, multiply_adds in work.tensor.items():
        cycles["tensor"] += multiply_adds / tensor_rate(gpu, kind)
    cycles["shared"] = (
        memory.shared_wavefronts_load + memory.shared_wavefronts_store + memory.shared_wavefronts_atomic
    )
    cycles["l1"] = memory.l1_wavefronts * 128 / gpu.value("l1_bandwidth")
    l2_bytes = SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written)
    cycles["l2"] = l2_bytes / per_sm_cycle(gpu, "l2_bandwidth", clock_hz)
    dram_bytes = memory.dram_bytes_read + memory.dram_bytes_written
    cycles["dram"] = dram_bytes / per_sm_cycle(gpu, "dram_achievable_bandwidth", clock_hz)
    return cycles


def per_sm_cycle(gpu: Gpu, parameter: str, clock_hz: float) -> float:
    """A rate of the whole chip, B/s, as B per cycle and SM."""
    return gpu.value(parameter) / (clock_hz * gpu.value("sm_count"))


def tensor_rate(gpu: Gpu, kind: str) -> float:
    """Multiply-adds per cycle and SM; a type the board does not list runs at the rate of fp16."""
    return gpu.get(f"tensor_{kind}") or gpu.get("tensor_fp16") or gpu.value("tensor_fp16")
