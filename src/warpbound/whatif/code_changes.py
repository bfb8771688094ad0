"""Changes of the code, one at a time, each with its physical reason."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil, log2

from warpbound.isa.latency_classes import architecture_latency
from warpbound.isa.opcodes import opcode_facts
from warpbound.latency import memory_latency
from warpbound.memory.counters import COUNTERS
from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place, predict
from warpbound.quick_dataclasses import dataclass
from warpbound.whatif.alternative import Alternative, without
from warpbound.whatif.parallelism import ILP, doubled, fewer_waits, interleaved
from warpbound.whatif.reduction_trees import shuffled
from warpbound.workload import Memory, Workload

SECTOR_B, SECTORS_PER_LINE = 32.0, 4
WARP = 32.0
DIVERGENT = 0.8        # share of active lanes below which less divergence is a change worth trying
MOSTLY = 0.5           # share of shared-memory wavefronts from which on the words name atomics
WIDEST_B = 16.0        # bytes that a lane can access at once
NO_WASTE = 1.1         # most sectors over those needed, and most bytes requested over those touched, of a stream
MORE = 1.05            # least gain of a pair over the better of its two changes, and of wide accesses over narrow ones
INTEGER_PIPES = ("alu", "fma", "uniform")
READ_AGAIN = 1.5       # times that a byte comes from L2, from which on keeping it nearer is worth trying
FP64_LATENCY = "fp64_latency"  # the number of a board that a wait for an FP64 result follows
FMA_CYCLES = 2.0       # cycles of one sub-core's unit for an FP32 instruction of a warp, if the kernel has none itself
EASINGS = {  # resource -> demand that the change leaves, what to change
    "issue": (0.75, "a quarter fewer instructions (wider accesses, unrolled loops, less index arithmetic)"),
    "fetch": (0.0, "less code in the hot loop, so that the L0 instruction cache holds it (a smaller `#pragma unroll`)"),
    "alu": (0.75, "a quarter fewer integer, logic and comparison instructions"),
    "fma": (0.75, "a quarter fewer multiplications and additions"),
    "fp64": (0.5, "half the FP64 instructions (FP32 where it is exact enough)"),
    "xu": (0.5, "half the special functions and conversions"),
    "tensor": (0.5, "operands of half the width on the tensor cores"),
    "tmem": (0.5, "half the loads and stores of tensor memory (each sum read once, in whole tiles)"),
    "uniform": (0.75, "a quarter fewer uniform instructions"),
    "lsu": (0.5, "half the load and store instructions (64- and 128-bit accesses)"),
    "shared": (0.5, "half the shared-memory traffic (register tiling: more results per thread, operands kept in "
                    "registers)"),
    "l1": (0.5, "half the L1 traffic (operands kept in registers or shared memory)"),
    "l2": (0.5, "half the L2 traffic (tiles kept in shared memory or L1)"),
    "dram": (0.5, "half the DRAM traffic (narrower types, or data kept on the chip between uses)"),
}
MOVED_ONCE = "half the {level} traffic (narrower types, or kernels joined into one: each byte is moved once already)"
NEARER = "data that are read again kept on the SM (tiles, a larger L1 carve-out)"
COALESCED = "coalesced global accesses"
TILES = "coalesced global accesses into tiles kept on the SM"
WIDE = "128-bit accesses ({count} neighbouring elements per thread)"
KEPT = "a sum kept in a register, stored once after its loop{where}"


@dataclass(frozen=True)
class Repeated:
    """Accesses of one unit of work at addresses that it has stored to before, which a register would save.

    memory : their traffic. accesses : load and store instructions. rounds : between whose loads such stores stand in
    one pass of the loop. lines : of the source, that store.
    """

    memory: Memory
    accesses: float
    rounds: int
    lines: tuple[int, ...] = ()


def of_the_work(work: Workload, place: Place, once: float = 0.0, scattered: float = 0.0) -> Iterator[Alternative]:
    """All changes that do not depend on the residency.

    once : different sectors that a block loads, over all. scattered : sectors that gathers need beyond those that would
    hold their bytes, over all sectors.
    """
    for find in (_no_conflicts, _exchanging, _no_divergence, _no_spills, _single_precision, _spread_atomics,
                 _wide):  # fmt: skip
        if (alternative := find(work, place)) is not None:
            yield alternative
    spread, near = _coalesced(work, place, scattered), nearer(work, place, once)
    if spread and near and any(work.tensor.values()) and _wastes_sectors(work.memory):
        both = nearer(spread.work, place, once, once * work.memory.l1_sectors_load) or spread
        why = f"{spread.why}, as each lane loads the operands that the tensor cores take from it"
        yield replace(both, change=TILES, why=why)
    else:
        yield from (each for each in (spread, near) if each)


def _wastes_sectors(memory: Memory) -> bool:
    """Whether accesses take notably more sectors than would hold their bytes, as fragments loaded lane by lane do."""
    return memory.l1_sectors_load + memory.l1_sectors_store > NO_WASTE * memory.ideal_sectors


def _words(memory: Memory, resource: str) -> str:
    """What to change; where a level moves each byte about once, keeping data nearer by would save nothing."""
    moved_B = {
        "l1": SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store),
        "l2": SECTOR_B * (memory.l2_sectors_read + memory.l2_sectors_written),
        "dram": memory.dram_bytes_read + memory.dram_bytes_written,
    }
    is_once = resource in moved_B and moved_B[resource] <= NO_WASTE * memory.touched_bytes
    return MOVED_ONCE.format(level=resource.upper()) if is_once else EASINGS[resource][1]


def demand_reductions(work: Workload, place: Place, cycles: Mapping[str, float]) -> Iterator[Alternative]:
    """Less demand on each used resource, even if another one then binds."""
    for resource, (share, _) in EASINGS.items():
        if resource in cycles:
            why = f"it takes {number(cycles[resource])} SM cycles per {work.unit}"
            yield Alternative(_words(work.memory, resource), why, scaled_demand(work, resource, share), place)


def pair(work: Workload, place: Place, cycles: Mapping[str, float], near: float) -> Alternative | None:
    """Both changes where the second tightest resource, or latency, is within `near` of the tightest."""
    order = sorted((name for name in cycles if name in EASINGS or name == "latency"), key=lambda name: -cycles[name])
    if len(order) < 2 or cycles[order[1]] < near * cycles[order[0]]:
        return None
    changed, units, words = work, 1.0, []
    for name in sorted(order[:2], key=lambda name: name == "latency"):
        if name == "latency":
            changed, units = doubled(changed), 2.0
            words.append(ILP)
        else:
            changed = scaled_demand(changed, name, EASINGS[name][0])
            words.append(_words(work.memory, name))
    first, second = (number(cycles[name]) for name in order[:2])
    why = f"{order[0]} and {order[1]} bind together, {first} and {second} SM cycles per {work.unit}"
    return Alternative("; and ".join(words), why, changed, place, units)


def _no_conflicts(work: Workload, place: Place) -> Alternative | None:
    memory = work.memory
    extra = memory.shared_conflict_wavefronts
    total = memory.shared_wavefronts_load + memory.shared_wavefronts_store + memory.shared_wavefronts_atomic
    if not extra > 0:
        return None
    better = scaled_demand(work, "shared", 1.0 - extra / total)
    if memory.shared_wavefronts_atomic > MOSTLY * total:
        why = f"atomics whose lanes meet in one bank take {extra:.3g} of {total:.3g} shared-memory wavefronts"
        return Alternative("shared-memory atomics on separate addresses (a copy per warp)", why, better, place)
    why = f"bank conflicts take {extra:.3g} of {total:.3g} shared-memory wavefronts"
    return Alternative("no shared-memory bank conflicts", why, better, place)


def _coalesced(work: Workload, place: Place, scattered: float = 0.0) -> Alternative | None:
    """As many sectors as would hold the requested bytes; the others are waste, in DRAM, too.

    scattered : as of `of_the_work`; no order of lanes or data spares these.
    """
    memory = work.memory
    spread, sectors = memory.sectors_per_request, memory.l1_sectors_load + memory.l1_sectors_store
    if spread is None or not 0 < memory.ideal_sectors < sectors:
        return None
    least = memory.ideal_sectors + scattered * sectors
    if least >= sectors:
        return None
    share = least / sectors
    better = scaled_demand(work, "l2", share)
    dram_bytes = memory.dram_bytes_read + memory.dram_bytes_written
    if dram_bytes > SECTOR_B * least:
        better = scaled_demand(better, "dram", SECTOR_B * least / dram_bytes)
    wavefronts = min(memory.l1_wavefronts, max(_requests(memory), least / SECTORS_PER_LINE))
    narrow = min(wavefronts, memory.l1_narrow + memory.l1_wavefronts - wavefronts)
    better = better.with_memory(l1_sectors_load=share * memory.l1_sectors_load, l1_narrow=narrow,
                                l1_sectors_store=share * memory.l1_sectors_store, l1_wavefronts=wavefronts,
                                store_pieces=_pieces(memory, spread * share))  # fmt: skip
    why = f"{spread:.1f} sectors per request where {spread * share:.1f} hold the same bytes"
    if not _wastes_sectors(memory) and wavefronts < memory.l1_wavefronts:
        before, after = (count / _requests(memory) for count in (memory.l1_wavefronts, wavefronts))
        why = f"{before:.1f} wavefronts of L1 per request where {after:.1f} bring the same sectors: whole lines"
    return Alternative(COALESCED, why, better, place)


def _requests(memory: Memory) -> float:
    """Instructions that go through L1: each takes a wavefront at least."""
    return memory.global_load_requests + memory.global_store_requests + memory.local_requests


def _pieces(memory: Memory, sectors: float) -> float:
    """Pieces of lines if every store has this many adjacent sectors; those of atomics stay."""
    of_stores = min(memory.store_pieces, memory.l1_sectors_store)
    each = (SECTORS_PER_LINE * ceil(sectors / SECTORS_PER_LINE) - sectors) / (SECTORS_PER_LINE - 1)
    return memory.store_pieces - of_stores + min(of_stores, memory.global_store_requests * each)


def _exchanging(work: Workload, place: Place) -> Alternative | None:
    """Fewer barriers: without those of trees if there are some, else without any."""
    return shuffled(work, place) or _no_barriers(work, place)


def _no_barriers(work: Workload, place: Place) -> Alternative | None:
    if round(work.barriers) < 1:
        return None
    fewer = scaled_demand(work, "issue", max(0.0, 1.0 - work.barriers / max(work.warp_instructions, work.barriers)))
    other_joins = None if work.joins is None else max(0.0, work.joins - work.barriers)  # at mbarriers
    free = without(replace(fewer, barriers=0.0, joins=other_joins), {"barrier": 0.0})
    where = f"each of {work.barriers:.0f} barriers" if work.barriers >= 1.5 else "the barrier"
    why = f"at {where} all warps of a block wait for the last one"
    return Alternative("no barriers (independent warps, or warp shuffles)", why, free, place)


def _no_divergence(work: Workload, place: Place) -> Alternative | None:
    on = work.thread_instructions / (WARP * work.warp_instructions) if work.warp_instructions else 1.0
    if on >= DIVERGENT:
        return None
    full = replace(
        without(scaled_demand(work, "issue", on), {"issue": on, "fixed": on, "constant": on}),
        units={unit: on * busy for unit, busy in work.units.items()},
    )
    why = f"{100 * on:.0f} % of the lanes are active on average"
    return Alternative("no divergence (lanes of one warp on one path)", why, full, place)


def _no_spills(work: Workload, place: Place) -> Alternative | None:
    memory = work.memory
    sectors = memory.l1_sectors_load + memory.l1_sectors_store
    if not memory.local_sectors > 0 or not sectors:
        return None
    share = max(0.0, 1.0 - memory.local_sectors / sectors)
    units = work.units | {"lsu": max(0.0, work.units.get("lsu", 0.0) * (1.0 - _share_of_local(work)))}
    fewer = scaled_demand(work, "issue", 1.0 - memory.local_requests / (work.warp_instructions or 1.0))
    free = replace(
        without(fewer, dict.fromkeys(("l1", "l2", "dram"), share)),
        units=units,
        memory=replace(
            memory, l1_wavefronts=share * memory.l1_wavefronts, l1_narrow=share * memory.l1_narrow,
            store_pieces=share * memory.store_pieces,
            l2_sectors_read=share * memory.l2_sectors_read,
            l2_sectors_written=share * memory.l2_sectors_written, dram_bytes_read=share * memory.dram_bytes_read,
            dram_bytes_written=share * memory.dram_bytes_written,
        ),
    )  # fmt: skip
    why = f"spills and local arrays make {100 * (1 - share):.0f} % of the sectors that L1 moves"
    return Alternative("no spills and no local arrays (more registers, smaller tiles)", why, free, place)


def _share_of_local(work: Workload) -> float:
    accesses = work.by_pipe.get("lsu", 0.0)
    return min(1.0, work.memory.local_requests / accesses) if accesses else 0.0


def _single_precision(work: Workload, place: Place) -> Alternative | None:
    count = work.by_pipe.get("fp64", 0.0)
    if not count:
        return None
    own = work.by_pipe.get("fma", 0.0)
    each = work.units.get("fma", 0.0) / own if own else FMA_CYCLES
    units = work.units | {"fp64": 0.0, "fma": work.units.get("fma", 0.0) + each * count}
    busy = number(work.units.get("fp64", 0.0))
    why = f"{number(count)} FP64 instructions per {work.unit} keep the pipe of a sub-core busy for {busy} cycles"
    single = replace(_at_fp32_latency(work, place), units=units)
    return Alternative("FP32 instead of FP64 arithmetic", why, single, place)


def _at_fp32_latency(work: Workload, place: Place) -> Workload:
    """The same path where each wait for an FP64 result is one for an FP32 result."""
    whole, waited = work.board_waits.get(FP64_LATENCY, (0.0, 0.0))
    slow = place.gpu.get(FP64_LATENCY) or architecture_latency(FP64_LATENCY, place.gpu.arch)
    fast = opcode_facts("FFMA", (), place.gpu.arch).latency or 0.0
    if not (whole > 0 and slow > fast):
        return work
    fixed = work.parts.get("fixed", 0.0)
    saved = min(fixed, waited, (1.0 - fast / slow) * whole)
    return replace(work, latency=work.latency - saved, parts=work.parts | {"fixed": fixed - saved})


def _spread_atomics(work: Workload, place: Place) -> Alternative | None:
    hottest = work.memory.hottest_updates
    if not hottest > 0:
        return None
    updates = number(hottest * (work.warps or 1.0))
    why = f"one line of memory is updated in {updates} steps, and L2 takes them one after the other"
    spread = work.with_memory(hottest_updates=0.0)
    return Alternative("atomics on separate addresses (a copy per block, sums within a warp first)", why, spread, place)


def nearer(work: Workload, place: Place, once: float = 0.0, least: float = 0.0) -> Alternative | None:
    """Repeated reads come from L1 or shared memory instead of L2; None if blocks themselves hardly read again.

    once : different sectors that a block loads, over all that it loads; 0: not known. least : sectors that L2 sends in
    any case, because a block loads each of its own once.
    """
    memory = work.memory
    read_B, distinct_B = SECTOR_B * memory.l2_sectors_read, memory.touched_bytes
    if not distinct_B > 0 or read_B < READ_AGAIN * distinct_B or once * READ_AGAIN > 1.0:
        return None
    share = min(1.0, max(distinct_B, SECTOR_B * least) / read_B)
    level = memory_latency(place.gpu, place.clock_hz)
    waiting = {name: work.parts.get(name, 0.0) for name in ("l2", "dram")}
    at_l1 = (1.0 - share) * sum(cycles * level.l1 / level.at(name) for name, cycles in waiting.items())
    near = without(work, {"l2": share, "dram": share})
    near = replace(near, latency=near.latency + at_l1, parts=near.parts | {"l1": near.parts.get("l1", 0.0) + at_l1})
    near = near.with_memory(
        l2_sectors_read=share * memory.l2_sectors_read,
        l2_sectors_far=share * memory.l2_sectors_far,
        dram_bytes_read=min(memory.dram_bytes_read, distinct_B),
    )
    why = f"every byte comes from L2 {read_B / distinct_B:.1f} times on average"
    return Alternative(NEARER, why, near, place)


def _wide(work: Workload, place: Place) -> Alternative | None:
    """Streams of narrow elements, several in a 16-byte access: fewer accesses, and waits shared by the elements.

    If floats are computed, arithmetic stays as it is; else all of it counts as arithmetic of addresses and loops. A
    loop has fewer iterations: None if loads in flight do as well. Without a loop, a warp takes more elements.
    """
    memory, requests = work.memory, work.memory.global_load_requests + work.memory.global_store_requests
    asked_B, moved_B = SECTOR_B * memory.ideal_sectors, SECTOR_B * (memory.l1_sectors_load + memory.l1_sectors_store)
    stream = moved_B <= NO_WASTE * asked_B and asked_B <= NO_WASTE * memory.touched_bytes
    if work.barriers or memory.hottest_updates or not requests or not asked_B > 0 or not stream:
        return None
    width_B = 2.0 ** ceil(round(log2(asked_B / (WARP * requests)), 3))
    count = int(WIDEST_B // max(width_B, 1.0))
    if count < 2:
        return None
    saved = requests * (1.0 - 1.0 / count)
    lsu_share = max(0.0, 1.0 - saved / work.by_pipe["lsu"]) if work.by_pipe.get("lsu") else 1.0
    computes = any(work.flop.values())
    rest = max(0.0, 1.0 - saved / work.warp_instructions) if computes else 1.0 / count
    fewer = scaled_demand(scaled_demand(work, "issue", rest), "lsu", lsu_share)
    for pipe in () if computes else INTEGER_PIPES:
        fewer = scaled_demand(fewer, pipe, 1.0 / count)
    wavefronts = min(memory.l1_wavefronts, max(memory.l1_wavefronts - saved, memory.ideal_sectors / SECTORS_PER_LINE))
    narrow_path = min(wavefronts, memory.l1_narrow + memory.l1_wavefronts - wavefronts)
    fewer = fewer.with_memory(
        global_load_requests=memory.global_load_requests / count, l1_wavefronts=wavefronts, l1_narrow=narrow_path,
        global_store_requests=memory.global_store_requests / count,
    )  # fmt: skip
    fewer = fewer.with_memory(store_pieces=_pieces(fewer.memory, count * memory.ideal_sectors / requests))
    rounds = len(work.phases) >= count
    narrow, wide = (fewer_waits(each, count) if rounds else interleaved(each, count) for each in (work, fewer))
    if rounds and predict(wide, place).rate < MORE * predict(narrow, place).rate:
        return None
    why = f"a lane accesses {width_B:.0f} B at a time, and {WIDEST_B:.0f} B are one access"
    units, apart = (1.0, float(count)) if rounds else (float(count), 1.0)
    return Alternative(WIDE.format(count=count), why, wide, place, units, apart=apart)


def kept_in_register(work: Workload, place: Place, again: Repeated) -> Alternative:
    """A value that each iteration stores at one address is stored once; no load waits for such a store any more."""
    memory = Memory(**{name: max(0.0, getattr(work.memory, name) - getattr(again.memory, name)) for name in COUNTERS})
    lsu_share = max(0.0, 1.0 - again.accesses / work.by_pipe["lsu"]) if work.by_pipe.get("lsu") else 1.0
    issue_share = max(0.0, 1.0 - again.accesses / work.warp_instructions)
    fewer = scaled_demand(scaled_demand(work, "issue", issue_share), "lsu", lsu_share)
    result = replace(fewer, memory=memory)
    if again.rounds > 1 and work.phases:
        result = fewer_waits(result, again.rounds)
    where = f" (line{'s' * (len(again.lines) > 1)} {', '.join(map(str, again.lines))})" if again.lines else ""
    why = f"a {work.unit} stores or loads {number(again.accesses)} times where it has stored before"
    return Alternative(KEPT.format(where=where), why, result, place)


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


