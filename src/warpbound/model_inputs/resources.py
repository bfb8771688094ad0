"""The time that one unit of work takes of each resource, in SM cycles; all throughput bounds use it.

Source   V. Volkov, EECS-2016-143, section 3.6: a resource's bound is its time per warp.
Models   issue slots and pipes of the sub-cores shared evenly, SM-wide data paths, an even share of the chip's
         L2 and DRAM rates; a machine without L1 or L2 has no such path.
Omits    instruction fetches, which the warps of a sub-core share (`time_model.queue_demands`); uneven sub-cores and
         SMs; address-divergence, branch and barrier units (ADU, CBU), which are counted but bound nothing here.
"""

from dataclasses import replace

from warpbound.identity_cache import remember
from warpbound.l2_clock import chip_rate, l2_rate
from warpbound.latency import own_timing, tensor_rate, wavefront_cycles
from warpbound.machine import Gpu
from warpbound.memory.counters import counters_on, counters_within
from warpbound.result.quantities import THROUGHPUT_RESOURCES
from warpbound.workload import Memory, Workload
from warpbound.workload.files.lanes import FETCH, PIPE_OF, issue_rate

SECTOR_B = 32
LINE_B = 128
FIRST_WITH_CACHES = 20
FIRST_OF_TWO_BANKS = 70  # of registers, of one read per cycle each; nothing issues while an instruction waits for one
_MEMORY = ("shared", "l1", "l2", "dram")  # resources that traffic occupies


@remember(4)
def demand(work: Workload, gpu: Gpu, clock_hz: float) -> dict[str, float]:
    """SM cycles that one unit of work occupies each resource it uses; every name in THROUGHPUT_RESOURCES but
    `fetch`, whose time depends on the resident warps (`fetching`)."""
    sub_cores = gpu.limits.sub_cores
    cycles = {name: 0.0 for name in THROUGHPUT_RESOURCES if name != FETCH}
    cycles["issue"] = issues(work, gpu) / issue_rate(gpu)
    for unit, busy in work.units.items():
        resource = PIPE_OF.get(unit)
        if resource in cycles and (resource != "issue" or gpu.arch >= FIRST_OF_TWO_BANKS):
            cycles[resource] = max(cycles[resource], busy / sub_cores)
    for kind, multiply_adds in work.tensor.items():
        cycles["tensor"] += multiply_adds / tensor_rate(gpu, kind)
    cycles["shared"] += wavefront_cycles(gpu) * _traffic(work, "shared")
    if gpu.arch >= FIRST_WITH_CACHES:
        cycles["l1"] = work.memory.l1_cycles(gpu.arch, gpu.value("l1_bandwidth"), gpu.get("store_piece_cost"))
        sectors = _traffic(work, "l2") + more_together(work.memory, gpu) + read_first(work.memory, gpu)
        l2_cycles = SECTOR_B * sectors / per_sm_cycle(gpu, "l2_bandwidth", clock_hz)
        crossing = SECTOR_B * work.memory.l2_sectors_far * gpu.value("sm_count") * clock_hz
        cycles["l2"] = max(l2_cycles, crossing / far_bandwidth(gpu))
    cycles["dram"] = _traffic(work, "dram") / per_sm_cycle(gpu, "dram_achievable_bandwidth", clock_hz)
    return cycles


def issues(work: Workload, gpu: Gpu) -> float:
    """Issue slots of one unit: a pair takes one, an access one more for each transaction beyond what it needs.

    Source   V. Volkov, EECS-2016-143, section 3.6. Where pairs are not known, every instruction takes one.
    """
    if work.issue_slots is None:
        return work.warp_instructions
    table = own_timing(gpu)
    again = table.get("reissue") if table else None
    memory = work.memory
    spread = memory.l1_wavefronts - SECTOR_B * memory.ideal_sectors / LINE_B if memory.ideal_sectors else 0.0
    return work.issue_slots + (again or 0.0) * (memory.shared_conflict_wavefronts + max(0.0, spread))


def fetching(work: Workload, warps: float) -> float:
    """SM cycles of a unit to fetch code where this many warps are resident: a sub-core fetches it once for its own."""
    return work.units.get(FETCH, 0.0) / warps


def more_together(memory: Memory, gpu: Gpu) -> float:
    """Sectors to add because all SMs read some of them at the same time; below 0 where that makes L2 faster.

    0 where `l2_shared_read_bandwidth` was not measured.
    """
    separate, together = gpu.get("l2_bandwidth"), gpu.get("l2_shared_read_bandwidth")
    if not separate or not together:
        return 0.0
    return (separate / together - 1.0) * min(memory.l2_sectors_together, memory.l2_sectors_read)


def read_first(memory: Memory, gpu: Gpu) -> float:
    """Sectors that L2 reads because a store changes a part of them."""
    return memory.l2_sectors_cut if gpu.get("l2_completes_sectors") else 0.0


def far_bandwidth(gpu: Gpu) -> float:
    """Rate of the chip for sectors that the reader's side of L2 lacks, B/s; that of any others where none is known."""
    return l2_rate(gpu, "l2_far_bandwidth") or l2_rate(gpu) or float("inf")


def _traffic(work: Workload, resource: str) -> float:
    return float(sum(getattr(work.memory, name) for name in counters_on(resource)))


def scaled_demand(work: Workload, resource: str, factor: float) -> Workload:
    """The same work with `factor` times the demand on one resource."""
    units = {unit: busy * (factor if PIPE_OF.get(unit) == resource else 1.0) for unit, busy in work.units.items()}
    if resource in _MEMORY:
        counts = (*counters_on(resource), *counters_within(resource))
        memory = {name: factor * getattr(work.memory, name) for name in counts}
        return replace(work.with_memory(**memory), units=units)
    if resource == "issue":
        slots = None if work.issue_slots is None else factor * work.issue_slots
        return replace(work, warp_instructions=factor * work.warp_instructions, issue_slots=slots, units=units)
    tensor = {kind: factor * count for kind, count in work.tensor.items()} if resource == "tensor" else work.tensor
    return replace(work, units=units, tensor=tensor)


def per_sm_cycle(gpu: Gpu, parameter: str, clock_hz: float) -> float:
    """A rate of the whole chip, B/s, as B per cycle and SM."""
    return chip_rate(gpu, parameter) / (clock_hz * gpu.value("sm_count"))
