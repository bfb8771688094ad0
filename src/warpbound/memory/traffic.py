"""Traffic of a launch between registers, L1, L2 and DRAM, from the addresses of sampled blocks.

Source   Rules per access: `coalescing`, `banks`, `requests`. Caches and order: `caches`, `hierarchy`, `served_levels`.
         From the sample to the grid: `footprint`, `dram`, `sampling_error`. Counts as Nsight Compute defines them.
Models   sm_70 and later. Every count of the sample is scaled by the blocks of the grid that a sampled block represents.
Omits    Textures and constants beyond their requests; DRAM pages; compression; the L2 of other GPUs.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace
from warpbound.errors import InputError
from warpbound.memory import caches, requests
from warpbound.memory.caches import READ, UPDATE, WRITE
from warpbound.memory.hierarchy import Facts, block_of_warp, schedule
from warpbound.memory.reuse import Locality, locality, stack_distances
from warpbound.memory.sampled_accesses import Reals, Space, Spaces, spaces
from warpbound.memory.sampling_error import apart_from_class, errors
from warpbound.memory.served_levels import How, ServedSectors, serve
from warpbound.memory.traffic_counts import PerInstruction, Traffic
from warpbound.program.kernel import Program

__all__ = ["Facts", "How", "Traffic", "asked_for", "traffic", "traffic_error", "traffic_with_errors"]


def traffic(
    program: Program, trace: Trace, machine: Facts, how: How | None = None, requested: Spaces | None = None
) -> Traffic:
    """Traffic of the whole launch that `trace` is a sample of; asked : the result of `asked_for`, if it is known."""
    how = how or How()
    return _record(program, trace, how, *_followed(program, trace, machine, how, requested))


def traffic_with_errors(
    program: Program, trace: Trace, machine: Facts, how: How, requested: Spaces | None = None
) -> Traffic:
    """`traffic` with its standard errors from sampling; requested : the result of `asked_for`, if it is known."""
    sample, sectors = _followed(program, trace, machine, how, requested)
    return replace(_record(program, trace, how, sample, sectors), errors=errors(sectors, trace.of_blocks))


def _followed(
    program: Program, trace: Trace, machine: Facts, how: How, requested: Spaces | None = None
) -> tuple[Spaces, ServedSectors]:
    """The accesses of the sample and the levels that serve them."""
    if how.cache not in ("warm", "cold") or how.method not in caches.SIMULATIONS:
        raise InputError(
            f"Caches cannot be {how.cache!r} by {how.method!r}.",
            f"They are warm or cold, by {' or '.join(caches.SIMULATIONS)}.",
        )
    if not len(trace.blocks):
        raise InputError("The trace holds no block, so there is no traffic to count.", "Sample at least one.")
    sample = asked_for(program, trace, machine, how) if requested is None else requested
    return sample, serve(program, trace, (sample, machine, schedule(trace, machine)), how)


def asked_for(program: Program, trace: Trace, machine: Facts, how: How) -> Spaces:
    """The accesses of the sample with their costs, before any cache."""
    return spaces(program, trace, machine, schedule(trace, machine), _warp_weights(trace, how))


def traffic_error(trace: Trace, how: How, requested: Spaces) -> float | None:
    """The `sampling_error` of `traffic`, without a simulation of the caches."""
    return _sampling_error(trace, how, (requested.global_, requested.words, requested.shared))


def _warp_weights(trace: Trace, how: How) -> Reals:
    """Warps of the launch that each traced warp represents, (w,)."""
    blocks = len(trace.blocks)
    weights = np.full(blocks, trace.of_blocks / blocks) if how.weights is None else how.weights
    return np.asarray(weights[block_of_warp(trace)], dtype=np.float64)


def _by_instruction(size: int, sample: Spaces, sectors: ServedSectors) -> PerInstruction:
    """Everything by instruction, for the whole launch."""
    cached, shared = (sample.global_, sample.words), sample.shared
    each = (sample.global_, sample.local, sample.shared, sample.texture)
    issued = np.stack([space.by_instruction(space.takes_part, size) for space in each]).max(axis=0)
    loading = np.sum([space.by_instruction(space.cost.kind == READ, size) for space in cached], axis=0) > 0
    return PerInstruction(
        requests=issued,
        sectors=np.sum([space.by_instruction(space.cost.sectors, size) for space in cached], axis=0),
        ideal_sectors=np.sum([space.by_instruction(space.cost.ideal_sectors, size) for space in cached], axis=0),
        l1_wavefronts=np.sum([space.by_instruction(space.cost.wavefronts, size) for space in cached], axis=0),
        store_pieces=np.sum([space.by_instruction(space.cost.pieces, size) for space in cached], axis=0),
        l1_narrow=np.sum([space.by_instruction(space.cost.narrow, size) for space in cached], axis=0),
        shared_wavefronts=shared.by_instruction(shared.cost.wavefronts, size),
        shared_conflict_wavefronts=shared.by_instruction(shared.cost.excess, size),
        atomic_steps=np.sum(
            [space.by_instruction(space.cost.same_address, size) for space in (sample.global_, shared)], axis=0
        ),
        sectors_from=sectors.sectors_from(size),
        requests_from=sectors.requests_from(size, issued * loading),
        waits_from=sectors.waits_from(size, issued * loading),
        far_share=sectors.far_share(size),
    )


def _copying(program: Program) -> NDArray[np.bool_]:
    """Which instructions have the copy engine load, (instructions,)."""
    traits = [instruction.traits for instruction in program.instructions]
    return np.array([each.kind == "bulk_copy" and "global" in each.loads for each in traits], dtype=np.bool_)


def _record(program: Program, trace: Trace, how: How, sample: Spaces, levels: ServedSectors) -> Traffic:
    """The totals of the whole launch."""
    each = _by_instruction(len(program.instructions), sample, levels)
    global_, local, words, shared = sample.global_, sample.local, sample.words, sample.shared
    loads, stores = global_.requests(READ), global_.requests(WRITE)
    sectors = {kind: global_.total(global_.cost.sectors, kind) for kind in (READ, WRITE, UPDATE)}
    local_sectors = {kind: words.total(words.cost.sectors, kind) for kind in (READ, WRITE)}
    loaded, stored = sectors[READ] + local_sectors[READ], sectors[WRITE] + local_sectors[WRITE]
    wide = global_.cost.sectors > global_.cost.ideal_sectors
    in_l1 = min(loaded, levels.l1_hits)
    past_l1 = loaded - in_l1 + stored + sectors[UPDATE]
    return Traffic(
        global_load_requests=loads,
        global_store_requests=stores,
        global_atomic_requests=global_.requests(UPDATE),
        local_load_requests=local.requests(READ),
        local_store_requests=local.requests(WRITE),
        texture_requests=float(sample.texture.weight.sum()),
        l1_sectors_load=loaded,
        l1_sectors_store=stored,
        l1_wavefronts=float(each.l1_wavefronts.sum()),
        l1_narrow=float(each.l1_narrow.sum()),
        store_pieces=float(each.store_pieces.sum()),
        copied_wavefronts=float(each.l1_wavefronts[_copying(program)].sum()),
        ideal_sectors=float(each.ideal_sectors.sum()),
        uncoalesced_requests=sum(global_.total(wide, kind) for kind in (READ, WRITE)),
        uncoalesced_sectors=sum(global_.total(wide * global_.cost.sectors, kind) for kind in (READ, WRITE)),
        sectors_per_request=(sectors[READ] + sectors[WRITE]) / (loads + stores) if loads + stores else None,
        l2_sectors_read=loaded - in_l1,
        l2_sectors_led=min(loaded - in_l1, levels.led_misses),
        l2_sectors_together=min(loaded - in_l1, levels.together),
        l2_sectors_far=min(loaded - in_l1, levels.far),
        l2_sectors_cut=min(stored, levels.cut),
        l2_sectors_written=stored,
        l2_sectors_atomic=sectors[UPDATE],
        local_sectors=local_sectors[READ] + local_sectors[WRITE],
        dram_bytes_read=levels.traffic.read_bytes,
        dram_bytes_written=levels.traffic.written_bytes,
        left_in_l2_bytes=levels.traffic.dirty_bytes,
        l1_hit_rate=in_l1 / loaded if loaded else None,
        l1_repeat_rate=min(loaded, levels.l1_repeats) / loaded if loaded else None,
        l2_hit_rate=1 - min(1.0, levels.l2_misses / past_l1) if past_l1 else None,
        shared_load_requests=shared.requests(READ),
        shared_store_requests=shared.requests(WRITE),
        shared_wavefronts_load=shared.total(shared.cost.wavefronts, READ),
        shared_wavefronts_store=shared.total(shared.cost.wavefronts, WRITE),
        shared_wavefronts_atomic=shared.total(shared.cost.wavefronts, UPDATE),
        shared_conflict_wavefronts=float(each.shared_conflict_wavefronts.sum()),
        atomic_steps=float(each.atomic_steps.sum()),
        touched_bytes=levels.traffic.footprint_bytes,
        pages=global_.pages,
        locality=_locality(trace, global_.accesses),
        scale=trace.of_blocks / len(trace.blocks),
        sampling_error=_sampling_error(trace, how, (global_, words, shared)),
        by_instruction=each,
        notes=_notes(trace),
    )


def _sampling_error(trace: Trace, how: How, each_space: tuple[Space, ...]) -> float | None:
    """Standard error of the mean sectors and wavefronts of a block, as a fraction of it; classes are distinguished.

    None with fewer than two blocks that represent others.
    """
    if len(trace.blocks) >= trace.of_blocks:
        return 0.0
    block, size = block_of_warp(trace), len(trace.blocks)
    each, weight = np.zeros(size), np.zeros(size)
    for space in each_space:
        at = block[space.accesses.warp]
        accesses = space.accesses
        each += np.bincount(at, accesses.repeated(space.cost.sectors + space.cost.wavefronts), size)
        weight[at] = space.weight if accesses.times is None else space.weight / accesses.times
    others = weight > 1
    if others.sum() < 2 or not each[others].any():
        return None
    unseen = np.sqrt((1 - size / trace.of_blocks) / others.sum())
    if how.of_class is None or (how.of_class == how.of_class[0]).all():
        return float(each[others].std(ddof=1) / each[others].mean() * unseen)
    length = each if how.length is None else np.bincount(block, trace.executed.sum(axis=1), size).astype(np.float64)
    apart = apart_from_class(each[others], how.of_class[others], length[others])
    return float(np.sqrt(np.mean(apart**2)) / each[others].mean() * unseen)


def _locality(trace: Trace, accesses: Accesses) -> Locality:
    """The X-model's curve of the sampled warp with the median number of global accesses."""
    counts = np.bincount(accesses.warp, minlength=len(trace.warps))
    typical = int(np.argsort(counts, kind="stable")[len(counts) // 2]) if len(counts) else 0
    sectors = requests.sector_list(accesses.rows(np.flatnonzero(accesses.warp == typical)))
    line = sectors.sector >> 2
    new = (np.diff(line, prepend=-1) != 0) | (np.diff(sectors.row, prepend=-1) != 0)
    return locality(stack_distances(line[new]), 128)


def _notes(trace: Trace) -> tuple[str, ...]:
    """Notes on how the numbers were made."""
    blocks = len(trace.blocks)
    if blocks >= trace.of_blocks:
        return ()
    return (
        f"memory traffic of {trace.of_blocks} blocks is scaled from {blocks} sampled ones; data that other "
        "blocks bring into L2 is estimated from what the sampled blocks share and from the arrays' sizes",
    )
