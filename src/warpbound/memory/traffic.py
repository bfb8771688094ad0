"""Traffic: what a launch moves between registers, L1, L2 and DRAM, from the addresses of sampled blocks.

Source   Rules per access: `coalescing`, `banks`, `requests`. Caches and order: `caches`, `hierarchy`.
         From the sample to the grid: `footprint`, `dram`. Counts as Nsight Compute defines them.
Models   sm_70 and later. Every count of the sample is scaled by the blocks of the grid that a sampled
         block stands for.
Omits    Textures and constants beyond their requests; DRAM pages; compression; the L2 of other GPUs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace
from warpbound.errors import InputError
from warpbound.memory import caches, dram, requests
from warpbound.memory.caches import READ, UPDATE, WRITE
from warpbound.memory.footprint import Sampled
from warpbound.memory.hierarchy import (
    L1,
    Facts,
    Levels,
    Rows,
    Schedule,
    block_of_warp,
    levels,
    order_of_rows,
    schedule,
)
from warpbound.memory.records import PerInstruction, Traffic
from warpbound.memory.requests import Cost
from warpbound.memory.reuse import Locality, locality, pages, stack_distances
from warpbound.program.kernel import Program

Reals = NDArray[np.float64]
_DIGITS = 6  # after the point: hides the rounding of weights in counts that are whole
_LOCAL_BASE = 1 << 46  # where local memory is put: away from every allocation
_NOTHING = Accesses(
    np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 32), np.uint64), np.zeros((0, 32), np.bool_)
)


@dataclass(frozen=True)
class How:
    """How to look at a sample.

    cache : "warm", the launch is one of a loop of equal launches, or "cold", caches are empty before it.
    method : "estimate" from stack distances, or "exact", a simulation of every access.
    arrays : (address, bytes) of the launch's arrays in global memory; they bound what other blocks touch;
    None: those that the trace names.
    weights : blocks of the grid that each sampled block stands for, (b,); None: all the same.
    row : blocks in a row of the grid (its x extent), after which data is often wanted again; None: not known.
    """

    cache: str = "warm"
    method: str = "estimate"
    arrays: dram.Arrays | None = None
    weights: Reals | None = None
    row: int | None = None


@dataclass(frozen=True)
class _Space:
    """Accesses of one space, their cost and how many of the launch each stands for, (n,)."""

    accesses: Accesses
    cost: Cost
    weight: Reals

    def total(self, values: NDArray[Any], kind: int) -> float:
        """Whole-launch sum of per-access values over the accesses of one kind."""
        return round(float((values * self.weight)[self.cost.kind == kind].sum()), _DIGITS)

    @property
    def takes_part(self) -> NDArray[np.bool_]:
        """Accesses with an active lane, (n,)."""
        return self.cost.lanes > 0

    def requests(self, kind: int) -> float:
        """Warp instructions of one kind with an active lane."""
        return self.total(self.takes_part, kind)

    def by_instruction(self, values: NDArray[Any], size: int) -> Reals:
        """Whole-launch sum of per-access values, (instructions,)."""
        return _added(self.accesses.instruction, values * self.weight, size).round(_DIGITS)


@dataclass(frozen=True)
class _Spaces:
    """What was recorded: `words` are the local accesses at physical addresses, 4 bytes a row."""

    global_: _Space
    local: _Space
    words: _Space
    shared: _Space
    texture: _Space


@dataclass(frozen=True)
class _Answered:
    """Sectors of the global accesses and then of the local words, with the level that answers, (m,) each."""

    instruction: NDArray[np.int32]
    row: NDArray[np.int64]
    kind: NDArray[np.int8]
    weight: Reals
    levels: Levels
    moved: dram.Moved

    def count(self, chosen: NDArray[np.bool_]) -> float:
        """Whole-launch number of the chosen sectors."""
        return round(float(self.weight[chosen].sum()), _DIGITS)


def traffic(program: Program, trace: Trace, machine: Facts, how: How | None = None) -> Traffic:
    """Traffic of the whole launch that `trace` is a sample of."""
    chosen = how or How()
    if chosen.cache not in ("warm", "cold") or chosen.method not in caches.SIMULATIONS:
        raise InputError(
            f"Caches cannot be {chosen.cache!r} by {chosen.method!r}.",
            f"They are warm or cold, by {' or '.join(caches.SIMULATIONS)}.",
        )
    if not len(trace.blocks):
        raise InputError("The trace holds no block, so there is no traffic to count.", "Sample at least one.")
    plan = schedule(trace, machine)
    spaces = _spaces(program, trace, machine, plan, _warp_weights(trace, chosen))
    answered = _answer(program, trace, (spaces, machine, plan), chosen)
    return _record(trace, spaces, answered, _by_instruction(len(program.instructions), spaces, answered))


def _warp_weights(trace: Trace, how: How) -> Reals:
    """Warps of the launch that each traced warp stands for, (w,)."""
    blocks = len(trace.blocks)
    weights = np.full(blocks, trace.of_blocks / blocks) if how.weights is None else how.weights
    return np.asarray(weights[block_of_warp(trace)], dtype=np.float64)


def _spaces(
    program: Program, trace: Trace, machine: Facts, plan: Schedule, warp_weight: Reals
) -> _Spaces:
    """The recorded accesses with their costs."""
    code = program.instructions

    def space(accesses: Accesses, cost: Cost) -> _Space:
        return _Space(accesses, cost, warp_weight[accesses.warp])

    global_, local, shared, texture = (
        trace.accesses.get(name, _NOTHING) for name in ("global", "local", "shared", "texture")
    )
    words = requests.local_words(local, code, _local_bases(program, trace, plan, machine))
    return _Spaces(
        space(global_, requests.global_cost(global_, code)),
        space(local, requests.global_cost(local, code)),
        space(words, requests.global_cost(words, code, widest=4)),
        space(shared, requests.shared_cost(shared, code, machine.arch)),
        space(texture, requests.global_cost(texture, code)),
    )


def _local_bases(program: Program, trace: Trace, plan: Schedule, machine: Facts) -> NDArray[np.uint64]:
    """Where each traced warp's local memory begins, (w,): blocks take over that of those before them."""
    block = block_of_warp(trace)
    warps = int(trace.warps[:, 1].max(initial=0)) + 1
    seat = plan.sm[block] * machine.blocks_per_sm + plan.seat[block] % machine.blocks_per_sm
    place = seat * warps + trace.warps[:, 1]
    return np.asarray(_LOCAL_BASE + place * _local_bytes(program, trace)).astype(np.uint64)


def _local_array(program: Program, trace: Trace, machine: Facts) -> tuple[int, int]:
    """Address and bytes of the local memory of all warps that are resident at once."""
    warps = int(trace.warps[:, 1].max(initial=0)) + 1
    at_once = machine.sm_count * machine.blocks_per_sm
    return _LOCAL_BASE, at_once * warps * _local_bytes(program, trace)


def _local_bytes(program: Program, trace: Trace) -> int:
    """Local memory of one warp in bytes, from the stack frame or from the highest offset seen."""
    seen = trace.accesses.get("local", _NOTHING)
    highest = int(np.where(seen.active, seen.addresses, 0).max(initial=0)) + 16
    return 32 * (max(highest, program.local_bytes) // 16 * 16 + 16)


def _answer(
    program: Program, trace: Trace, scene: tuple[_Spaces, Facts, Schedule], how: How
) -> _Answered:
    """Every sector through L1, L2 and DRAM."""
    spaces, machine, plan = scene
    parts = (spaces.global_, spaces.words)
    both = Accesses(
        *(
            np.concatenate([getattr(part.accesses, name) for part in parts])
            for name in ("instruction", "warp", "addresses", "active")
        )
    )
    past_l1 = np.array([requests.bypasses_l1(one) for one in program.instructions] or [False])
    kind = np.concatenate([part.cost.kind for part in parts])
    block = block_of_warp(trace)[both.warp]
    rank = order_of_rows(trace, plan, block, (parts[0].accesses, parts[1].accesses))
    touched = requests.sector_list(both)
    at = touched.row
    seen = dram.Seen(
        touched.sector,
        kind[at],
        block[at],
        plan.turn[block[at]],
        np.concatenate([part.weight for part in parts])[at],
    )
    arrays = tuple((start, size) for _, start, size in trace.arrays) if how.arrays is None else how.arrays
    if len(parts[1].weight):
        arrays = (*arrays, _local_array(program, trace, machine))
    at_once = machine.sm_count * machine.blocks_per_sm
    sampled = Sampled(trace.blocks, trace.of_blocks, at_once, how.row or trace.of_blocks)
    prints = dram.Prints(seen, sampled, arrays, machine.l2_bytes)
    answered = levels(
        touched,
        Rows(kind, ~past_l1[both.instruction], rank, plan.sm[block], plan.turn[block]),
        machine,
        (plan.l1_share, prints.share_of_l2),
        (how.method, how.cache if prints.complete else "cold"),
    )
    moved = dram.moved(prints, answered, how.cache)
    return _Answered(both.instruction[at], at, seen.kind, seen.weight, answered, moved)


def _by_instruction(size: int, spaces: _Spaces, answered: _Answered) -> PerInstruction:
    """Everything by instruction, for the whole launch."""
    cached, shared = (spaces.global_, spaces.words), spaces.shared
    each = (spaces.global_, spaces.local, spaces.shared, spaces.texture)
    sectors_from, requests_from = _answers_by_instruction(size, answered)
    return PerInstruction(
        requests=np.max([space.by_instruction(space.takes_part, size) for space in each], axis=0),
        sectors=np.sum([space.by_instruction(space.cost.sectors, size) for space in cached], axis=0),
        ideal_sectors=np.sum([space.by_instruction(space.cost.ideal_sectors, size) for space in cached], axis=0),
        l1_wavefronts=np.sum([space.by_instruction(space.cost.wavefronts, size) for space in cached], axis=0),
        shared_wavefronts=shared.by_instruction(shared.cost.wavefronts, size),
        shared_excess=shared.by_instruction(shared.cost.excess, size),
        atomic_steps=np.sum(
            [space.by_instruction(space.cost.same_address, size) for space in (spaces.global_, shared)], axis=0
        ),
        sectors_from=sectors_from,
        requests_from=requests_from,
    )


def _answers_by_instruction(size: int, answered: _Answered) -> tuple[Reals, Reals]:
    """Loaded sectors, and loads by their slowest sector, from L1, L2 and DRAM; (instructions, 3) each."""
    loads = answered.kind == READ
    level, share = answered.levels.level[loads], answered.moved.share[loads]
    instruction, weight, row = answered.instruction[loads], answered.weight[loads], answered.row[loads]
    parts = np.stack([level == L1, (level != L1) * (1.0 - share), share], axis=1)
    sectors = np.stack([_added(instruction, part * weight, size) for part in parts.T], axis=1)
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    if not len(starts):
        return sectors, np.zeros((size, 3))
    from_dram = np.maximum.reduceat(share, starts)
    all_l1 = np.maximum.reduceat(level, starts) == L1
    slowest = np.stack([all_l1, ~all_l1 * (1.0 - from_dram), from_dram], axis=1)
    return sectors, np.stack(
        [_added(instruction[starts], part * weight[starts], size) for part in slowest.T], axis=1
    )


def _added(instruction: NDArray[np.int32], values: Reals, size: int) -> Reals:
    """Values summed by instruction, (instructions,)."""
    return np.bincount(instruction, values, size).astype(np.float64)


def _record(trace: Trace, spaces: _Spaces, answered: _Answered, each: PerInstruction) -> Traffic:
    """The totals of the whole launch."""
    global_, local, words, shared = spaces.global_, spaces.local, spaces.words, spaces.shared
    loads, stores = global_.requests(READ), global_.requests(WRITE)
    sectors = {kind: global_.total(global_.cost.sectors, kind) for kind in (READ, WRITE, UPDATE)}
    local_sectors = {kind: words.total(words.cost.sectors, kind) for kind in (READ, WRITE)}
    in_l1 = answered.levels.level == L1
    loaded, past_l1 = answered.count(answered.kind == READ), answered.count(~in_l1)
    missed = float((answered.weight * answered.moved.share).sum())
    return Traffic(
        global_load_requests=loads,
        global_store_requests=stores,
        global_atomic_requests=global_.requests(UPDATE),
        local_load_requests=local.requests(READ),
        local_store_requests=local.requests(WRITE),
        texture_requests=float(spaces.texture.weight.sum()),
        l1_sectors_load=sectors[READ] + local_sectors[READ],
        l1_sectors_store=sectors[WRITE] + local_sectors[WRITE],
        l1_wavefronts=float(each.l1_wavefronts.sum()),
        ideal_sectors=float(each.ideal_sectors.sum()),
        sectors_per_request=(sectors[READ] + sectors[WRITE]) / (loads + stores) if loads + stores else None,
        l2_sectors_read=answered.count((answered.kind == READ) & ~in_l1),
        l2_sectors_written=answered.count(answered.kind == WRITE),
        l2_sectors_atomic=answered.count(answered.kind == UPDATE),
        local_sectors=local_sectors[READ] + local_sectors[WRITE],
        dram_bytes_read=answered.moved.read,
        dram_bytes_written=answered.moved.written,
        left_in_l2_bytes=answered.moved.left,
        l1_hit_rate=answered.count(in_l1) / loaded if loaded else None,
        l2_hit_rate=1 - missed / past_l1 if past_l1 else None,
        shared_load_requests=shared.requests(READ),
        shared_store_requests=shared.requests(WRITE),
        shared_wavefronts_load=shared.total(shared.cost.wavefronts, READ),
        shared_wavefronts_store=shared.total(shared.cost.wavefronts, WRITE),
        shared_wavefronts_atomic=shared.total(shared.cost.wavefronts, UPDATE),
        shared_excess_wavefronts=float(each.shared_excess.sum()),
        atomic_steps=float(each.atomic_steps.sum()),
        touched_bytes=answered.moved.touched,
        pages=pages(global_.accesses.addresses[global_.accesses.active]),
        locality=_locality(trace, global_.accesses),
        scale=trace.of_blocks / len(trace.blocks),
        sampling_error=_sampling_error(trace, global_, words, shared),
        by_instruction=each,
        notes=_notes(trace),
    )


def _sampling_error(trace: Trace, *spaces: _Space) -> float | None:
    """Standard error of the mean sectors and wavefronts of a block, as a fraction of it.

    None with fewer than two blocks that stand for others.
    """
    if len(trace.blocks) >= trace.of_blocks:
        return 0.0
    block, size = block_of_warp(trace), len(trace.blocks)
    each, weight = np.zeros(size), np.zeros(size)
    for space in spaces:
        at = block[space.accesses.warp]
        each += np.bincount(at, space.cost.sectors + space.cost.wavefronts, size)
        weight[at] = space.weight
    each = each[weight > 1]
    if len(each) < 2 or not each.any():
        return None
    return float(each.std(ddof=1) / each.mean() * np.sqrt((1 - size / trace.of_blocks) / len(each)))


def _locality(trace: Trace, accesses: Accesses) -> Locality:
    """The X-model's curve of the sampled warp with the median number of global accesses."""
    counts = np.bincount(accesses.warp, minlength=len(trace.warps))
    typical = int(np.argsort(counts, kind="stable")[len(counts) // 2]) if len(counts) else 0
    mine = np.flatnonzero(accesses.warp == typical)
    one = Accesses(accesses.instruction[mine], accesses.warp[mine], accesses.addresses[mine], accesses.active[mine])
    touched = requests.sector_list(one)
    line = touched.sector >> 2
    new = (np.diff(line, prepend=-1) != 0) | (np.diff(touched.row, prepend=-1) != 0)
    return locality(stack_distances(line[new]), 128)


def _notes(trace: Trace) -> tuple[str, ...]:
    """What the numbers rest on."""
    sampled = len(trace.blocks)
    if sampled >= trace.of_blocks:
        return ()
    return (
        f"Memory traffic of {trace.of_blocks} blocks is scaled from {sampled} sampled ones; data that other "
        "blocks bring into L2 is estimated from what the sampled blocks share and from the arrays' sizes.",
    )
