"""What one unit of work asks of each resource, in SM cycles: the common ground of all throughput bounds.

Source   V. Volkov, EECS-2016-143, section 3.6: a resource's bound is its time per warp.
Models   issue slots and pipes of the sub-cores shared evenly, SM-wide data paths, an even share of the chip's
         L2 and DRAM rates; a machine without L1 or L2 has no such path.
Omits    uneven sub-cores and SMs; address-divergence, branch and barrier units (ADU, CBU), which are counted
         but bound nothing here.
"""

from dataclasses import replace

from warpbound.isa.limits import limits
from warpbound.isa.timings import timing
from warpbound.latency import tensor_rate
from warpbound.machine import Gpu
from warpbound.workload import Workload
from warpbound.workload.files.lanes import issue_rate

SECTOR_B = 32
LINE_B = 128
FIRST_WITH_CACHES = 20
_UNITS = {  # unit of isa/families.toml -> resource of the reports
    "alu": "alu", "aluheavy": "alu", "alulite": "alu", "fma": "fma", "fmaheavy": "fma", "fmalite": "fma",
    "fp16": "fma", "fp64": "fp64", "xu": "xu", "uniform": "uniform", "lsu": "lsu", "tex": "lsu", "tensor": "tensor",
}  # fmt: skip
_TRAFFIC = {  # resource -> counts of Memory that it serves
    "shared": ("shared_wavefronts_load", "shared_wavefronts_store", "shared_wavefronts_atomic"),
    "l1": ("l1_wavefronts", "l1_narrow"),
    "l2": ("l2_sectors_read", "l2_sectors_written"),
    "dram": ("dram_bytes_read", "dram_bytes_written"),
}
RESOURCES = ("issue", "alu", "fma", "fp64", "xu", "tensor", "uniform", "lsu", "shared", "l1", "l2", "dram")


def demand(work: Workload, gpu: Gpu, clock_hz: float) -> dict[str, float]:
    """SM cycles that one unit of work occupies each resource it uses; every name in RESOURCES."""
    sub_cores = limits(gpu.compute_capability).sub_cores
    cycles = dict.fromkeys(RESOURCES, 0.0)
    cycles["issue"] = issues(work, gpu) / issue_rate(gpu)
    for unit, busy in work.units.items():
        resource = _UNITS.get(unit)
        if resource:
            cycles[resource] = max(cycles[resource], busy / sub_cores)
    for kind, multiply_adds in work.tensor.items():
        cycles["tensor"] += multiply_adds / tensor_rate(gpu, kind)
    cycles["shared"] = _traffic(work, "shared")
    if gpu.arch >= FIRST_WITH_CACHES:
        cycles["l1"] = work.memory.l1_cycles(gpu.arch, gpu.value("l1_bandwidth"))
        cycles["l2"] = SECTOR_B * _traffic(work, "l2") / per_sm_cycle(gpu, "l2_bandwidth", clock_hz)
    cycles["dram"] = _traffic(work, "dram") / per_sm_cycle(gpu, "dram_achievable_bandwidth", clock_hz)
    return cycles


def issues(work: Workload, gpu: Gpu) -> float:
    """Issue slots of one unit: a pair takes one, an access one more for each transaction beyond what it needs.

    Source   V. Volkov, EECS-2016-143, section 3.6. Where pairs are not known, every instruction takes one.
    """
    if work.issue_slots is None:
        return work.warp_instructions
    table = timing(gpu.arch, gpu.key)
    again = table.get("reissue") if table else None
    memory = work.memory
    spread = memory.l1_wavefronts - SECTOR_B * memory.ideal_sectors / LINE_B if memory.ideal_sectors else 0.0
    return work.issue_slots + (again or 0.0) * (memory.shared_conflict_wavefronts + max(0.0, spread))


def _traffic(work: Workload, resource: str) -> float:
    return float(sum(getattr(work.memory, name) for name in _TRAFFIC[resource]))


def eased(work: Workload, resource: str, factor: float) -> Workload:
    """The same work with `factor` times the demand on one resource."""
    if resource in _TRAFFIC:
        return work.with_memory(**{name: factor * getattr(work.memory, name) for name in _TRAFFIC[resource]})
    if resource == "issue":
        slots = None if work.issue_slots is None else factor * work.issue_slots
        return replace(work, warp_instructions=factor * work.warp_instructions, issue_slots=slots)
    units = {unit: busy * (factor if _UNITS.get(unit) == resource else 1.0) for unit, busy in work.units.items()}
    tensor = {kind: factor * count for kind, count in work.tensor.items()} if resource == "tensor" else work.tensor
    return replace(work, units=units, tensor=tensor)


def per_sm_cycle(gpu: Gpu, parameter: str, clock_hz: float) -> float:
    """A rate of the whole chip, B/s, as B per cycle and SM."""
    return gpu.value(parameter) / (clock_hz * gpu.value("sm_count"))
