"""Counts of an answer: occupancy, bounds, and the instructions, traffic and operations of the whole launch."""

from collections.abc import Mapping, Sequence

from warpbound.memory.traffic_counts import Traffic
from warpbound.predict import Prediction
from warpbound.program.kernel import SHARED_NOT_TOLD, Program
from warpbound.residency import UNLIMITED, Residency
from warpbound.result.kernel import Bound, FlopCounts, Instructions, MemoryTraffic, Occupancy
from warpbound.result.quantities import FLOP_KINDS
from warpbound.workload import Memory, Workload
from warpbound.workload.instruction_counts import Counts

FROM_MEMORY = (  # of the launch; stores include atomics
    "global_load_requests", "global_store_requests", "l1_sectors_load", "l1_sectors_store", "l2_sectors_read",
    "l2_sectors_written", "dram_bytes_read", "dram_bytes_written", "shared_wavefronts_load", "shared_wavefronts_store",
)  # fmt: skip
FROM_TRAFFIC = (  # of the executed sample; stores without atomics
    "global_store_requests", "global_atomic_requests", "local_sectors", "shared_wavefronts_atomic", "touched_bytes",
    "l2_sectors_far",
)  # fmt: skip


NO_COUNTS = Counts()


def occupancy(residency: Residency, not_told: Sequence[str] = ()) -> Occupancy:
    """Blocks and warps per SM, what limits them and the smallest change that admits more.

    not_told : resources of which the block's use is unknown.
    """
    return Occupancy(
        blocks_per_sm=residency.blocks_per_sm,
        warps_per_sm=residency.warps_per_sm,
        max_warps_per_sm=residency.max_warps_per_sm,
        limiters=list(residency.limiters),
        block_limits=finite_limits(residency.block_limits),
        next_step=" ".join(step.sentence for step in residency.next_step) or None,
        not_told=list(not_told),
    )


def not_told(program: Program, smem: int) -> list[str]:
    """Shared memory, where a kernel uses it and neither its listing nor the launch gives the bytes."""
    uses = any("shared" in instruction.traits.spaces for instruction in program.instructions)
    return ["shared"] if uses and not smem and SHARED_NOT_TOLD in program.assumed else []


def finite_limits(block_limits: Mapping[str, int]) -> dict[str, int]:
    """Limiter -> blocks per SM, without limiters that do not apply."""
    return {name: count for name, count in block_limits.items() if count < UNLIMITED}


def bounds(prediction: Prediction) -> list[Bound]:
    """Every bound, the tightest first: SM cycles per unit of work, share of the resource's time in use."""
    order = sorted(prediction.cycles.items(), key=lambda item: -item[1])
    return [Bound(name, cycles, min(1.0, prediction.utilization[name])) for name, cycles in order]


def instructions(work: Workload, idle: Counts = NO_COUNTS) -> Instructions:
    """Of the whole launch; None where the number of its warps is not known. idle : of the blocks that leave at once."""
    if work.warps is None:
        return Instructions()
    pipes = dict.fromkeys((*work.by_pipe, *idle.by_pipe))
    return Instructions(
        round(work.warp_instructions * work.warps + idle.warp_instructions),
        round(work.thread_instructions * work.warps + idle.thread_instructions),
        {pipe: round(work.by_pipe.get(pipe, 0.0) * work.warps + idle.by_pipe.get(pipe, 0.0)) for pipe in pipes},
    )


def flop_counts(work: Workload) -> FlopCounts:
    """Of the whole launch, FMA = 2; None where the number of its warps is not known."""
    if work.warps is None:
        return FlopCounts()
    return FlopCounts(*(round(work.flop.get(kind, 0.0) * work.warps) for kind in FLOP_KINDS))


def memory_traffic(
    memory: Memory | None, hit_rates: tuple[float | None, float | None], traffic: Traffic | None
) -> MemoryTraffic:
    """Of the whole launch; None where it is not known. Stores and atomics count apart where blocks were executed.

    hit_rates : of L1 and of L2.
    """
    if memory is None:
        return MemoryTraffic()
    counts: dict[str, float | None] = {name: round(getattr(memory, name)) for name in FROM_MEMORY}
    counts["sectors_per_request"] = memory.sectors_per_request
    counts["l1_hit_rate"], counts["l2_hit_rate"] = hit_rates
    return MemoryTraffic(**counts | (_by_kind(traffic) if traffic else {}))


def _by_kind(traffic: Traffic) -> dict[str, float | None]:
    loads = traffic.global_load_requests + traffic.local_load_requests
    stores = traffic.global_store_requests + traffic.local_store_requests
    return {
        **{name: round(getattr(traffic, name)) for name in FROM_TRAFFIC},
        "sectors_per_request": traffic.sectors_per_request,
        "sectors_per_load": ratio(traffic.l1_sectors_load, loads),
        "sectors_per_store": ratio(traffic.l1_sectors_store, stores),
        "sectors_per_atomic": ratio(traffic.l2_sectors_atomic, traffic.global_atomic_requests),
        "shared_conflict_wavefronts": round(traffic.shared_conflict_wavefronts),
    }


def ratio(above: float, below: float) -> float | None:
    """The quotient; None if the divisor is 0."""
    return above / below if below else None
