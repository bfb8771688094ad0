"""Workload from the code alone: addresses that its arithmetic determines; others are assumed coalesced, and noted."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from warpbound.memory.banks import narrow_cycles
from warpbound.memory.static_accesses import Access, Predicted
from warpbound.program import Program
from warpbound.program.instruction import RZ, Instruction
from warpbound.program.registers import lane_bytes, matrices
from warpbound.schedule import Schedule, Wait, schedule, steady
from warpbound.workload.instruction_counts import WARP, count, facts_of
from warpbound.workload.records import Memory, Workload
from warpbound.workload.static_paths import LoopPath, between_barriers, line_span, loops, main_file, whole

SECTOR_B = 32
LINE_B = 128
COALESCED = "global accesses count as coalesced, shared accesses as free of bank conflicts: addresses are not known"
SOME_COALESCED = "{count} of {all} accesses count as coalesced and conflict-free: their addresses depend on {what}"
_NAMED = 3  # reasons that are written out
NO_REUSE = (
    "every sector of global memory that an iteration is the first to touch goes to DRAM: no other reuse is known"
)

_NOTHING: Predicted = MappingProxyType({})


def straight(program: Program, arch: int, waits: Sequence[Wait], prediction: Predicted = _NOTHING) -> Workload:
    """The whole kernel on an architecture (90), every loop taken once; `waits` per instruction.

    prediction : costs of accesses whose addresses follow from the code; all others are assumed coalesced.
    """
    stream = whole(program)
    warp_schedule = schedule(stream, program.instructions, waits)
    return _workload(program, arch, warp_schedule, "warp", "whole kernel, loops once", prediction)


def iterations(
    program: Program, arch: int, waits: Sequence[Wait], prediction: Predicted = _NOTHING
) -> Iterator[tuple[LoopPath, Workload]]:
    """One iteration of every loop in its steady state, outermost loops first, each when it is asked for."""
    return ((loop, _iteration(program, arch, loop, waits, prediction)) for loop in loops(program) if loop.stream)


def intervals(
    program: Program, arch: int, loop: LoopPath, waits: Sequence[Wait], prediction: Predicted = _NOTHING
) -> tuple[tuple[tuple[int, ...], Workload], ...]:
    """Instructions and work of each stretch of an iteration that ends at a barrier; none without a barrier."""
    return tuple(
        (
            part,
            _workload(
                program, arch, schedule(part, program.instructions, waits), "interval", "to a barrier", prediction
            ),
        )
        for part in between_barriers(program, loop)
    )


def _iteration(program: Program, arch: int, loop: LoopPath, waits: Sequence[Wait], prediction: Predicted) -> Workload:
    first, last = loop.lines
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    title = f"loop, {lines}{_of_header(program, loop)}" if first else f"loop {loop.number}"
    return _workload(program, arch, steady(loop.stream, program.instructions, waits), "iteration", title, prediction)


def _of_header(program: Program, loop: LoopPath) -> str:
    """The file of a loop in words, where it is not the source that was given."""
    path, file = Path(program.source_name), Path(main_file([program.instructions[i] for i in loop.stream]))
    return f" of {file.name}" if path.suffix in (".cu", ".cuh") and file.name not in ("", path.name) else ""


def _workload(  # noqa: PLR0913  (each is one fact of the stream)
    program: Program, arch: int, warp_schedule: Schedule, unit: str, title: str, prediction: Predicted
) -> Workload:
    times = Counter(warp_schedule.stream)
    own = sorted(times)
    instructions, issued = [program.instructions[i] for i in own], [float(times[i]) for i in own]
    banks, threads = [program.bank_reads[i] for i in own], [WARP * n for n in issued]
    counts = count(instructions, facts_of(instructions, arch), banks, issued, threads)
    return Workload(
        title=title,
        unit=unit,
        lines=line_span([program.instructions[i] for i in warp_schedule.stream]),
        warp_instructions=counts.warp_instructions,
        thread_instructions=counts.thread_instructions,
        by_pipe=dict(counts.by_pipe),
        units=dict(counts.units),
        tensor=dict(counts.tensor),
        flop=dict(counts.flop),
        memory=static_memory(program.instructions, dict(zip(own, issued, strict=True)), prediction),
        barriers=counts.barriers,
        latency=warp_schedule.cycles,
        parts=warp_schedule.parts,
        phases=tuple(len(phase.loads) for phase in warp_schedule.phases),
        lines_by_cause=warp_schedule.lines,
        board_waits=warp_schedule.board_waits,
        issue_slots=float(warp_schedule.issue_slots) if warp_schedule.issue_slots < len(warp_schedule.stream) else None,
    )


def static_memory(
    instructions: Sequence[Instruction], issued: Mapping[int, float], prediction: Predicted = _NOTHING
) -> Memory:
    """Traffic where nothing is found in a cache; accesses that are not `known` are coalesced and conflict-free.

    issued : how often each of the instructions is issued, by its index.
    """
    sums: dict[str, float] = {}
    for index, times in issued.items():
        if not instructions[index].skipped:
            for name, amount in _demand(index, instructions[index], prediction).items():
                sums[name] = sums.get(name, 0.0) + amount * times
    return Memory(**sums)


def assumed_coalesced(instructions: Sequence[Instruction], prediction: Predicted) -> tuple[str, ...]:
    """The note about accesses whose addresses do not follow from the code; empty without such accesses."""
    places = [
        index
        for index, instruction in enumerate(instructions)
        if _is_addressed(instruction) and not instruction.skipped
    ]
    with_address = {index for (index, _), access in prediction.items() if not access.depends_on}
    untold = [index for index in places if index not in with_address]
    if not untold or len(untold) == len(places):
        return (COALESCED,) if untold else ()
    reasons = tuple(dict.fromkeys(access.depends_on for access in prediction.values() if access.depends_on))
    what = ", ".join((*reasons[:_NAMED], *(["..."] if len(reasons) > _NAMED else []))) or "code off the analysed way"
    return (SOME_COALESCED.format(count=len(untold), all=len(places), what=what),)


def _demand(index: int, instruction: Instruction, prediction: Predicted) -> dict[str, float]:
    """Memory counts of one execution by a full warp."""
    traits = instruction.traits
    rule = _RULES.get((traits.kind, "global" if "global" in traits.spaces else "".join(traits.spaces)))
    if rule is None:
        return {}
    return rule(
        instruction, _found(index, instruction, "global", prediction), _found(index, instruction, "shared", prediction)
    )


def _is_addressed(instruction: Instruction) -> bool:
    """Whether the cost of the access depends on its addresses; local memory is interleaved by lane."""
    return bool(instruction.traits.spaces) and instruction.traits.spaces != ("local",)


def _found(index: int, instruction: Instruction, space: str, prediction: Predicted) -> Access:
    """Cost of one execution in a memory space: from its addresses, or as if coalesced."""
    access = prediction.get((index, space))
    if access is not None and not access.depends_on:
        return access
    size = lane_bytes(instruction)
    sectors, wavefronts = _sectors(instruction, size), max(1.0, WARP * size / LINE_B)
    if space == "global":
        return Access(sectors, sectors, max(1.0, sectors * SECTOR_B / LINE_B), 1.0)
    if instruction.traits.width == "matrices":
        wavefronts = float(matrices(instruction))
    return Access(0.0, 0.0, wavefronts, wavefronts)


def _global_load(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    result = {
        "global_load_requests": 1.0,
        "l1_sectors_load": access.sectors,
        "l1_wavefronts": access.wavefronts,
        "l1_narrow": float(narrow_cycles(access.ideal_sectors, access.wavefronts)),
        "l2_sectors_read": access.sectors,
        "dram_bytes_read": access.sectors * access.first_touch * SECTOR_B,
        "ideal_sectors": access.ideal_sectors,
        **_uncoalesced(access),
    }
    return result | _shared("shared_wavefronts_store", shared) if instruction.traits.kind == "copy" else result


def _global_store(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    return {
        "global_store_requests": 1.0,
        "l1_sectors_store": access.sectors,
        "l1_wavefronts": access.wavefronts,
        "l1_narrow": float(narrow_cycles(access.ideal_sectors, access.wavefronts)),
        "l2_sectors_written": access.sectors,
        "store_pieces": max(0.0, 4.0 * min(access.sectors, access.wavefronts) - access.sectors) / 3.0,
        "dram_bytes_written": access.sectors * access.first_touch * SECTOR_B,
        "ideal_sectors": access.ideal_sectors,
        **_uncoalesced(access),
    }


def _uncoalesced(access: Access) -> dict[str, float]:
    """The access among those of more sectors than its bytes need."""
    wide = access.sectors > access.ideal_sectors * (1.0 + 1e-9)
    return {"uncoalesced_requests": 1.0, "uncoalesced_sectors": access.sectors} if wide else {}


def _atomic(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    """Performed at L2, which fetches the old value and keeps the new one."""
    return _global_store(instruction, access, shared) | {"dram_bytes_read": access.sectors * SECTOR_B}


def _local(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    """Stack and spills: interleaved by lane, found in L1."""
    size = lane_bytes(instruction)
    kind = "l1_sectors_load" if instruction.traits.kind == "load" else "l1_sectors_store"
    wavefronts = max(1.0, WARP * size / LINE_B)
    sectors = WARP * size / SECTOR_B
    return {kind: sectors, "l1_wavefronts": wavefronts, "l1_narrow": float(narrow_cycles(sectors, wavefronts))}


def _shared_load(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    return _shared("shared_wavefronts_load", shared)


def _shared_store(instruction: Instruction, access: Access, shared: Access) -> dict[str, float]:
    return _shared("shared_wavefronts_store", shared)


def _shared(name: str, access: Access) -> dict[str, float]:
    return {name: access.wavefronts, "shared_conflict_wavefronts": access.wavefronts - access.ideal_wavefronts}


_RULES: Mapping[tuple[str, str], Callable[[Instruction, Access, Access], dict[str, float]]] = {  # kind and space
    ("load", "global"): _global_load, ("copy", "global"): _global_load, ("store", "global"): _global_store,
    ("atomic", "global"): _atomic, ("reduction", "global"): _atomic,
    ("load", "local"): _local, ("store", "local"): _local,
    ("load", "shared"): _shared_load, ("atomic", "shared"): _shared_load, ("reduction", "shared"): _shared_load,
    ("store", "shared"): _shared_store,
}  # fmt: skip


def _sectors(instruction: Instruction, size: int) -> float:
    """32-byte sectors of a full warp; one where the address is the same for all its lanes."""
    address = next((x for x in instruction.operands if x.kind == "memory"), None)
    varying = address is None or any(x.kind == "register" and x.index != RZ for x in address.terms)
    return max(1.0, WARP * size / SECTOR_B) if varying else max(1.0, size / SECTOR_B)
