"""Workload from the code alone: no launch values, so nothing is said of addresses but what is assumed, and named."""

from collections import Counter
from collections.abc import Callable, Sequence

from warpbound.program import Program
from warpbound.program.instruction import RZ, Instruction
from warpbound.schedule import Schedule, Wait, schedule, steady
from warpbound.workload.counting import WARP, count, facts_of
from warpbound.workload.paths import LoopPath, line_span, loops, whole
from warpbound.workload.records import Memory, Workload

SECTOR_B = 32
LINE_B = 128
COALESCED = "global accesses coalesced, shared accesses free of bank conflicts: addresses are not known"
NO_REUSE = "every global access goes to DRAM: reuse is not known"

_GLOBAL_LOADS = frozenset({"LDG", "LD", "LDGSTS"})
_GLOBAL_STORES = frozenset({"STG", "ST"})
_ATOMICS = frozenset({"RED", "ATOM", "ATOMG", "REDG"})
_SHARED_LOADS = frozenset({"LDS", "LDSM", "ATOMS"})
_SHARED_STORES = frozenset({"STS", "STSM"})
_LOCAL = frozenset({"LDL", "STL"})


def straight(program: Program, arch: int, waits: Sequence[Wait]) -> Workload:
    """The whole kernel on an architecture (90), every loop taken once; `waits` per instruction."""
    stream = whole(program)
    timed = schedule(stream, program.instructions, waits)
    return _workload(program, arch, timed, "warp", "whole kernel, loops once")


def iterations(program: Program, arch: int, waits: Sequence[Wait]) -> tuple[tuple[LoopPath, Workload], ...]:
    """One iteration of every loop in its steady state, outermost loops first."""
    return tuple((loop, _iteration(program, arch, loop, waits)) for loop in loops(program) if loop.stream)


def _iteration(program: Program, arch: int, loop: LoopPath, waits: Sequence[Wait]) -> Workload:
    first, last = loop.lines
    title = f"loop, lines {first}-{last}" if first else f"loop {loop.number}"
    return _workload(program, arch, steady(loop.stream, program.instructions, waits), "iteration", title)


def _workload(program: Program, arch: int, timed: Schedule, unit: str, title: str) -> Workload:
    times = Counter(timed.stream)
    issued = [float(times[i]) for i in range(len(program.instructions))]
    counts = count(program.instructions, facts_of(program.instructions, arch), issued, [WARP * n for n in issued])
    return Workload(
        title=title,
        unit=unit,
        lines=line_span([program.instructions[i] for i in timed.stream]),
        warp_instructions=counts.warp_instructions,
        thread_instructions=counts.thread_instructions,
        by_pipe=dict(counts.by_pipe),
        units=dict(counts.units),
        tensor=dict(counts.tensor),
        flop=dict(counts.flop),
        memory=coalesced_memory(program.instructions, issued),
        barriers=counts.barriers,
        latency=timed.cycles,
        parts=timed.parts,
        phases=tuple(len(phase.loads) for phase in timed.phases),
        lines_by_cause=timed.lines,
    )


def coalesced_memory(instructions: Sequence[Instruction], issued: Sequence[float]) -> Memory:
    """Traffic where every access is coalesced and conflict-free and nothing is found in a cache."""
    sums: dict[str, float] = {}

    def add(name: str, amount: float) -> None:
        sums[name] = sums.get(name, 0.0) + amount

    for one, times in zip(instructions, issued, strict=True):
        if times and not one.skipped:
            for name, amount in _demand(one).items():
                add(name, amount * times)
    return Memory(**sums)


def _demand(one: Instruction) -> dict[str, float]:
    """Memory counts of one execution by a full warp."""
    size = access_bytes(one)
    for opcodes, make in _RULES:
        if one.opcode in opcodes:
            return make(one, size)
    return {}


def _global_load(one: Instruction, size: int) -> dict[str, float]:
    sectors = _sectors(one, size)
    found = {
        "global_load_requests": 1.0,
        "l1_sectors_load": sectors,
        "l1_wavefronts": max(1.0, sectors * SECTOR_B / LINE_B),
        "l2_sectors_read": sectors,
        "dram_bytes_read": sectors * SECTOR_B,
    }
    if one.opcode == "LDGSTS":
        found["shared_wavefronts_store"] = _wavefronts(size)
    return found


def _global_store(one: Instruction, size: int) -> dict[str, float]:
    sectors = _sectors(one, size)
    return {
        "global_store_requests": 1.0,
        "l1_sectors_store": sectors,
        "l1_wavefronts": max(1.0, sectors * SECTOR_B / LINE_B),
        "l2_sectors_written": sectors,
        "dram_bytes_written": sectors * SECTOR_B,
    }


def _atomic(one: Instruction, size: int) -> dict[str, float]:
    """Performed at L2, which fetches the old value and keeps the new one."""
    return _global_store(one, size) | {"dram_bytes_read": _sectors(one, size) * SECTOR_B}


def _local(one: Instruction, size: int) -> dict[str, float]:
    """Stack and spills: interleaved by lane, found in L1."""
    kind = "l1_sectors_load" if one.opcode == "LDL" else "l1_sectors_store"
    return {kind: WARP * size / SECTOR_B, "l1_wavefronts": _wavefronts(size)}


def _shared_load(one: Instruction, size: int) -> dict[str, float]:
    if one.opcode == "LDSM":
        return {"shared_wavefronts_load": float(next((m for m in one.modifiers if m in ("2", "4")), "1"))}
    return {"shared_wavefronts_load": _wavefronts(size)}


def _shared_store(one: Instruction, size: int) -> dict[str, float]:
    return {"shared_wavefronts_store": _wavefronts(size)}


_RULES: tuple[tuple[frozenset[str], Callable[[Instruction, int], dict[str, float]]], ...] = (
    (_GLOBAL_LOADS, _global_load),
    (_GLOBAL_STORES, _global_store),
    (_ATOMICS, _atomic),
    (_LOCAL, _local),
    (_SHARED_LOADS, _shared_load),
    (_SHARED_STORES, _shared_store),
)


def access_bytes(one: Instruction) -> int:
    """Bytes one lane reads or writes."""
    for modifier in one.modifiers:
        if modifier in ("64", "128", "256"):
            return int(modifier) // 8
        if modifier in ("U8", "S8"):
            return 1
        if modifier in ("U16", "S16"):
            return 2
    return 4


def _sectors(one: Instruction, size: int) -> float:
    """32-byte sectors of a full warp; one where the address is the same for all its lanes."""
    address = next((x for x in one.operands if x.kind == "memory"), None)
    varying = address is None or any(x.kind == "register" and x.index != RZ for x in address.terms)
    return max(1.0, WARP * size / SECTOR_B) if varying else max(1.0, size / SECTOR_B)


def _wavefronts(size: int) -> float:
    return max(1.0, WARP * size / LINE_B)
