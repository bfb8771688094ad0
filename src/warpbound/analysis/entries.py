"""Typed results into the plain values of the report's JSON: one function per key of the contract."""

from collections import Counter
from collections.abc import Sequence

from warpbound.entry import Entry as Entry
from warpbound.isa.opcodes import OpcodeFacts
from warpbound.latency import LEVELS
from warpbound.machine import Gpu
from warpbound.memory.requests import width
from warpbound.memory.static_accesses import Predicted
from warpbound.predict import Prediction
from warpbound.program import Program
from warpbound.program.instruction import Instruction
from warpbound.residency import Residency
from warpbound.schedule import Schedule
from warpbound.whatif import WhatIf
from warpbound.workload import Memory, Workload

NEVER = 1e6  # threads per SM: a resource that takes more to keep busy, hundreds of times what fits, is hardly used
FLOP = ("fp16", "bf16", "fp32", "fp64", "tensor")
MEMORY = (
    "global_load_requests", "global_store_requests", "l1_sectors_load", "l1_sectors_store", "l2_sectors_read",
    "l2_sectors_written", "dram_bytes_read", "dram_bytes_written", "shared_wavefronts_load", "shared_wavefronts_store",
)  # fmt: skip
HIT_RATES = ("l1_hit_rate", "l2_hit_rate")


def program_entry(program: Program, facts: Sequence[OpcodeFacts]) -> Entry:
    """What the kernel is, whatever the launch: sizes in bytes, counts of the instructions that can be reached."""
    blocks = [program.flow.blocks[number] for number in sorted(program.flow.reachable)]
    reached = [index for block in blocks for index in range(block.first, block.last)]
    return {
        "name": program.name,
        "source": program.source_name,
        "arch": f"sm_{program.arch}",
        "registers": program.registers,
        "shared_bytes": program.shared_bytes,
        "local_bytes": program.local_bytes,
        "spill_bytes_stored": program.spills[0],
        "spill_bytes_loaded": program.spills[1],
        "barriers": program.barriers,
        "max_threads_per_block": program.max_threads,
        "parameters": [
            {"name": p.name, "type": p.type, "offset": p.offset, "bytes": p.size} for p in program.parameters
        ],
        "instructions": len(reached),
        "mix": dict(Counter(facts[index].pipe for index in reached).most_common()),
    }


def occupancy_entry(residency: Residency) -> Entry:
    """Blocks and warps per SM, what limits them and the smallest change that admits more."""
    return {
        "blocks_per_sm": residency.blocks_per_sm,
        "warps_per_sm": residency.warps_per_sm,
        "max_warps_per_sm": residency.max_warps_per_sm,
        "limiters": list(residency.limiters),
        "block_limits": {name: count for name, count in residency.block_limits.items() if count < 2**31 - 1},
        "next_step": " ".join(step.sentence for step in residency.next_step) or None,
    }


def latency_entry(work: Workload, by_level: dict[str, float]) -> Entry:
    """Least time of one warp and where it goes; `by_level` repeats it with all global loads served there."""
    return {
        "cycles": work.latency,
        "parts": work.parts,
        "by_level": by_level,
        "load_phases": list(work.phases),
    }


def bounds_entry(prediction: Prediction) -> list[Entry]:
    """Every bound, the tightest first: SM cycles per unit of work, share of the resource's time in use."""
    return [
        {"resource": name, "cycles_per_warp": cycles, "utilization": min(1.0, prediction.utilization[name])}
        for name, cycles in sorted(prediction.cycles.items(), key=lambda item: -item[1])
    ]


def piece_entry(work: Workload, prediction: Prediction, threads: dict[str, float], gpu: Gpu) -> Entry:
    """A loop or a straight part: what one pass costs one warp, and what saturates each resource.

    threads : resource -> threads per SM whose passes would keep it busy all the time. P counts them for DRAM on
    the whole chip, Q for instruction issue on one SM, as the interval analysis does.
    """
    finite = {name: count for name, count in threads.items() if count < NEVER}
    return {
        "title": work.title,
        "lines": list(work.lines),
        "latency_cycles": work.latency,
        "latency_parts": work.parts,
        "load_phases": list(work.phases),
        "warp_instructions": work.warp_instructions,
        "by_pipe": work.by_pipe,
        "flop_per_thread": {kind: count / 32 for kind, count in work.flop.items() if count},
        "demand": {name: cycles for name, cycles in prediction.cycles.items() if name != "latency"},
        "bottleneck": prediction.bottleneck,
        "threads_to_saturate": finite,
        "P": finite["dram"] * gpu.value("sm_count") if "dram" in finite else None,
        "Q": finite.get("issue"),
        "trip_count": None,
    }


def instructions_entry(work: Workload | None) -> Entry:
    """Of the whole launch; nulls where it is not known."""
    if work is None or work.warps is None:
        return {"warp_instructions": None, "thread_instructions": None, "by_pipe": {}}
    return {
        "warp_instructions": round(work.warp_instructions * work.warps),
        "thread_instructions": round(work.thread_instructions * work.warps),
        "by_pipe": {pipe: round(count * work.warps) for pipe, count in work.by_pipe.items()},
    }


def memory_entry(memory: Memory | None, l1_hit_rate: float | None = None, l2_hit_rate: float | None = None) -> Entry:
    """Of the whole launch; nulls where it is not known."""
    if memory is None:
        return dict.fromkeys((*MEMORY, "sectors_per_request", *HIT_RATES))
    known: Entry = {name: round(getattr(memory, name)) for name in MEMORY}
    known["sectors_per_request"] = memory.sectors_per_request
    return known | {"l1_hit_rate": l1_hit_rate, "l2_hit_rate": l2_hit_rate}


def flop_entry(work: Workload | None) -> Entry:
    """Of the whole launch, FMA = 2; nulls where it is not known."""
    if work is None or work.warps is None:
        return dict.fromkeys(FLOP)
    return {kind: round(work.flop.get(kind, 0.0) * work.warps) for kind in FLOP}


def whatif_entry(whatifs: Sequence[WhatIf]) -> list[Entry]:
    """Sorted by gain."""
    return [{"change": w.change, "speedup": w.speedup, "why": w.why} for w in whatifs]


def lines_entry(program: Program, work: Workload) -> list[Entry]:
    """Source lines by the cycles they cost one warp, the dearest first."""
    rows = []
    for (file, line), parts in work.lines_by_cause.items():
        cycles = sum(parts.values())
        if cycles > 0:
            own = {cause: count for cause, count in parts.items() if count}
            text = program.source_line(line) if _same_file(program, file) else ""
            rows.append({"file": file, "line": line, "text": text, "cycles": cycles, "parts": own})
    return sorted(rows, key=lambda row: -row["cycles"])


def _same_file(program: Program, file: str) -> bool:
    return file.rpartition("/")[2] == program.source_name.rpartition("/")[2]


def accesses_entry(program: Program, known: Predicted) -> list[Entry]:
    """Every memory access, mean of its executions; counts are null where neither code nor execution tells."""
    rows: list[Entry] = []
    for (index, space), access in sorted(known.items()):
        one, told = program.instructions[index], access.sectors + access.wavefronts > 0
        in_global = told and space == "global"
        rows.append(
            {
                "address": one.address,
                "text": one.text,
                "line": one.place.outermost.line if one.place else None,
                "space": space,
                "bytes_per_lane": width(one),
                "stride_bytes": access.stride,
                "row_stride_bytes": access.row_stride,
                "transactions": access.transactions if in_global else None,
                "sectors": access.sectors if in_global else None,
                "ideal_sectors": access.ideal_sectors if in_global else None,
                "wavefronts": access.wavefronts if told else None,
                "ideal_wavefronts": access.ideal_wavefronts if told else None,
                "depends_on": access.depends_on or None,
                "served": dict(zip(LEVELS, access.served, strict=True)) if access.served else None,
            }
        )
    return rows


def sass_entry(program: Program, timed: Schedule, facts: Sequence[OpcodeFacts]) -> list[Entry]:
    """Every instruction with its control word; where the path of one warp leads through it, when and why it waits."""
    first = {index: position for position, index in reversed(list(enumerate(timed.stream)))}
    critical = {timed.stream[position] for position in timed.critical}
    rows = []
    for index, (one, fact) in enumerate(zip(program.instructions, facts, strict=True)):
        position = first.get(index)
        producer = timed.producer[position] if position is not None else -1
        rows.append(
            {
                "address": one.address,
                "text": one.text,
                "pipe": fact.pipe,
                "control": _control(one),
                "line": one.place.outermost.line if one.place else None,
                "issue": timed.issue[position] if position is not None else None,
                "waited": timed.waited[position] if position is not None else None,
                "waits_for": program.instructions[timed.stream[producer]].address if producer >= 0 else None,
                "critical": index in critical,
            }
        )
    return rows


def _control(one: Instruction) -> Entry | None:
    if one.control is None:
        return None
    word = one.control
    return {
        "stall": word.stall,
        "yield": word.yields,
        "write_scoreboard": word.write,
        "read_scoreboard": word.read,
        "wait": list(word.wait),
        "reuse": word.reuse,
    }


def unknown_opcodes(program: Program, facts: Sequence[OpcodeFacts]) -> list[str]:
    """Opcodes that the tables do not know, with how often they stand in the code."""
    found = Counter(one.mnemonic for one, fact in zip(program.instructions, facts, strict=True) if not fact.known)
    return [f"{name} x{count}" for name, count in found.most_common()]
