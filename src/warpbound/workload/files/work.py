"""A case of a workload file on a GPU: counts to a Workload, memory latencies from the board.

Assumes   accesses without `sectors` are coalesced; without `l1_hit` and `l2_hit` they go to DRAM; the two shared
          kinds are free of bank conflicts without `wavefronts`. A machine without L1 or L2 has no hits in them.
          Further loads of a phase issue for nothing; add a phase with cause "issue" where that matters.
"""

from collections.abc import Callable
from dataclasses import fields

import msgspec

from warpbound.errors import InputError
from warpbound.l2_clock import l2_cycles
from warpbound.machine import Gpu
from warpbound.memory.banks import narrow_cycles
from warpbound.workload.files.lanes import alu_latency, pipe_cycles
from warpbound.workload.files.reading import WorkloadCase
from warpbound.workload.files.tables import Access, Phase
from warpbound.workload.records import Memory, Workload

SECTOR_B, LINE_B, WARP = 32.0, 128.0, 32.0
LISTED = 1000  # phases that are repeated one by one; more would change nothing
_CAUSE = {"alu": "fixed"}  # latency of the GPU in a phase -> cause to which it is attributed; else its own name


def work_on(case: WorkloadCase, gpu: Gpu, clock_hz: float) -> Workload:
    """One warp of the case; latency 0 where the file gives none."""
    counts = case.counts
    share = _per_warp(case)
    memory = _memory(case, share)
    scale = share(counts.per) if counts else 1.0
    pipes = _pipes(case, scale, share)
    instructions = sum(pipes.values())
    if counts and counts.instructions is not None:
        instructions = counts.instructions * scale
    parts = _parts(case, gpu, clock_hz)
    tensor = _named(counts.tensor if counts else None, scale)
    return Workload(
        title=case.name,
        unit="warp",
        lines=(0, 0),
        warp_instructions=instructions,
        thread_instructions=instructions * (counts.lanes if counts else WARP),
        by_pipe=pipes,
        units=_units(pipes, gpu),
        tensor=tensor,
        flop=_named(counts.flop if counts else None, scale),
        memory=memory,
        barriers=counts.barriers * scale if counts else 0.0,
        latency=sum(parts.values()),
        parts=parts,
        phases=_phases(case),
        warps=case.warps,
    )


def levels(gpu: Gpu, clock_hz: float) -> dict[str, float]:
    """Unloaded latency by level, in cycles at this clock; a machine without caches has DRAM and shared memory."""
    on_chip = {
        "l1": gpu.get("l1_latency"), "l2": l2_cycles(gpu, clock_hz), "shared": gpu.get("shared_latency"),
    }  # fmt: skip
    result = {level: cycles for level, cycles in on_chip.items() if cycles is not None}
    dram = gpu.get("dram_latency")
    if dram is not None:
        beyond_s = (dram - (gpu.get("l2_latency") or 0.0)) / gpu.value("latency_clock")  # the clock moves it
        result["dram"] = result.get("l2", 0.0) + beyond_s * clock_hz
    return result | {"alu": alu_latency(gpu)}


def _per_warp(case: WorkloadCase) -> Callable[[str], float]:
    def share(per: str) -> float:
        if per == "warp":
            return 1.0
        if case.warps is None:
            raise InputError(
                f"{case.origin}: counts are per launch, but launch does not say how many warps there are.",
                "Add blocks (or threads) and threads_per_block to [launch], or give the counts per warp.",
            )
        return 1.0 / case.warps

    return share


def _pipes(case: WorkloadCase, scale: float, share: Callable[[str], float]) -> dict[str, float]:
    pipes = _named(case.counts.pipes if case.counts else None, scale)
    accesses = sum(access.count * share(access.per) for access in case.access)
    if accesses:
        pipes["lsu"] = pipes.get("lsu", 0.0) + accesses
    return pipes


def _units(pipes: dict[str, float], gpu: Gpu) -> dict[str, float]:
    """Cycles of one sub-core's units; older SMs have the same cores for integers as for FP32."""
    units: dict[str, float] = {}
    for pipe, count in pipes.items():
        unit = "fma" if pipe == "alu" and gpu.arch < 70 else pipe
        cycles = count * pipe_cycles(gpu, pipe)
        if cycles:
            units[unit] = units.get(unit, 0.0) + cycles
    return units


def _memory(case: WorkloadCase, share: Callable[[str], float]) -> Memory:
    total = Memory()
    for access in case.access:
        total = total.plus(_one(access).scaled(access.count * share(access.per)))
    if case.traffic is None:
        return total
    scale = share(case.traffic.per)
    traffic_counts = msgspec.structs.asdict(case.traffic)
    counts = {f.name: traffic_counts[f.name] * scale for f in fields(Memory) if traffic_counts.get(f.name) is not None}
    if "l1_wavefronts" in counts:
        counts["l1_narrow"] = counts["l1_wavefronts"]  # taken for full lines
    return Memory(**({f.name: getattr(total, f.name) for f in fields(Memory)} | counts))


def _one(access: Access) -> Memory:
    """One instruction of this kind by a full warp."""
    if access.kind.startswith("shared"):
        wavefronts = access.wavefronts or max(1.0, WARP * access.bytes / LINE_B)
        return Memory(**{f"shared_wavefronts_{access.kind.removeprefix('shared_')}": wavefronts})
    ideal = max(1.0, WARP * access.bytes / SECTOR_B)
    sectors = access.sectors or ideal
    wide = sectors > ideal
    uncoalesced = {"uncoalesced_requests": float(wide), "uncoalesced_sectors": sectors * wide}
    beyond_l1 = sectors * (1.0 - (access.l1_hit or 0.0))
    dram = SECTOR_B * beyond_l1 * (1.0 - (access.l2_hit or 0.0))
    wavefronts = max(1.0, sectors * SECTOR_B / LINE_B)
    narrow = float(narrow_cycles(ideal, wavefronts))
    if access.kind == "load":
        return Memory(
            global_load_requests=1.0,
            l1_sectors_load=sectors,
            l1_wavefronts=wavefronts,
            l1_narrow=narrow,
            l2_sectors_read=beyond_l1,
            dram_bytes_read=dram,
            ideal_sectors=ideal,
            **uncoalesced,
        )
    return Memory(
        global_store_requests=1.0,
        l1_sectors_store=sectors,
        l1_wavefronts=wavefronts,
        l1_narrow=narrow,
        l2_sectors_written=beyond_l1,
        dram_bytes_written=dram,
        ideal_sectors=ideal,
        **uncoalesced,
    )


def _parts(case: WorkloadCase, gpu: Gpu, clock_hz: float) -> dict[str, float]:
    if case.latency is None:
        return {}
    if case.latency.parts is not None:
        return _named(case.latency.parts, 1.0)
    latencies = levels(gpu, clock_hz)
    parts: dict[str, float] = {}
    for phase in case.latency.phases or ():
        cause, cycles = _wait(phase, latencies, gpu, case.origin)
        parts[cause] = parts.get(cause, 0.0) + cycles * phase.times
    return parts


def _wait(phase: Phase, latencies: dict[str, float], gpu: Gpu, origin: str) -> tuple[str, float]:
    if phase.level is None:
        return phase.cause or "fixed", phase.cycles or 0.0
    if phase.level not in latencies:
        raise InputError(
            f'{origin}, latency.phases: {gpu.name} has no latency for "{phase.level}".',
            f"It has {', '.join(latencies)}; or give cycles and cause.",
        )
    return _CAUSE.get(phase.level, phase.level), latencies[phase.level]


def _phases(case: WorkloadCase) -> tuple[int, ...]:
    if case.latency is None or case.latency.phases is None:
        return ()
    waits = [phase for phase in case.latency.phases if phase.level in ("dram", "l2", "l1")]
    repeated = [phase.loads or 1 for phase in waits for _ in range(round(min(phase.times, LISTED)))]
    return tuple(repeated[:LISTED])


def _named(table: msgspec.Struct | None, scale: float) -> dict[str, float]:
    """The non-zero values of a table, times `scale`."""
    return {key: count * scale for key, count in msgspec.structs.asdict(table).items() if count} if table else {}
