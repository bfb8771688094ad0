"""Changes of the launch with the same code: occupancy, the shape of the grid, faster clocks."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from warpbound.board_parameters import with_followers
from warpbound.latency import memory_latency
from warpbound.machine import override
from warpbound.model_inputs.resources import scaled_demand
from warpbound.predict import Place, active_sms
from warpbound.residency import Residency
from warpbound.result.what_if import HIDE_MORE
from warpbound.whatif.alternative import Alternative, without
from warpbound.workload import Workload

FASTER = 1.1
IN_STEP = "what is on the SM and the L2 latency keep their cycles"
OWN_CLOCK = "what is on the SM keeps its cycles, L2 its time"
FILL = "fill the GPU"
HALVED = "twice the blocks with half the work each"
DOUBLED = "twice the work at once, in twice the blocks (chains of loads side by side)"
LARGER = "threads per block instead of"
THREADS = 256  # threads of a block that is large enough; the CUDA guide recommends 128 to 256
WARP = 32
REQUESTS = ("global_load_requests", "global_store_requests", "local_requests")  # of a warp, however many its lanes
_MEMORY_RATES = with_followers("dram_bandwidth")


def occupancy(work: Workload, place: Place, residency: Residency) -> Iterator[Alternative]:
    """One block more by the smallest change of each kind, all that an SM has slots for, and one block fewer."""
    larger = any(larger_blocks(work, place, residency))
    for step in residency.next_step:
        if step.change == "threads" and larger:
            continue
        why = f"{step.warps_per_sm} instead of {residency.warps_per_sm} {HIDE_MORE}"
        yield Alternative(step.sentence.rstrip("."), why, work, _with(place, step.warps_per_sm))
    limits = [name for name in residency.limiters if name in ("registers", "shared", "barriers")]
    columns, per_block = residency.block_limits.get("tensor memory"), residency.warps_per_sm // residency.blocks_per_sm
    most = residency.max_warps_per_sm if columns is None else min(residency.max_warps_per_sm, columns * per_block)
    if limits and most > residency.warps_per_sm:
        what = " and ".join("shared memory" if name == "shared" else name for name in limits)
        why = f"it keeps {most - residency.warps_per_sm} of the SM's warp slots empty"
        yield Alternative(f"no limit by {what}", why, work, _with(place, most))
    fewer = residency.warps_per_sm - residency.warps_per_sm // residency.blocks_per_sm
    if fewer > 0:
        why = f"{fewer} instead of {residency.warps_per_sm} resident warps compete less for what they share"
        yield Alternative("one block fewer per SM (throttling)", why, work, _with(place, fewer))


def _with(place: Place, warps: float) -> Place:
    return replace(place, warps_per_sm=float(warps))


def whole_waves(work: Workload, place: Place, residency: Residency) -> Iterator[Alternative]:
    """A grid that gives every SM the same number of blocks, per block of it."""
    if work.warps is None:
        return
    per_block = residency.warps_per_sm / residency.blocks_per_sm
    sms, blocks = place.gpu.value("sm_count"), work.warps / per_block
    even = blocks // sms * sms
    if 0 < even < blocks:
        why = f"{blocks:.0f} blocks on {sms:.0f} SMs leave SMs idle while the last blocks run"
        fewer = replace(work, warps=even * per_block)
        yield Alternative(f"a grid of a multiple of {sms:.0f} blocks", why, fewer, place, work_share=even / blocks)


def more_blocks(work: Workload, place: Place, residency: Residency) -> Iterator[Alternative]:
    """For a grid that leaves room on the SMs: more blocks of less work each, or, if that is a chain, twice the work.

    A grid with fewer blocks than SMs is spread over all SMs before anything else.
    """
    if work.warps is None or residency.fitting_blocks_per_sm <= residency.blocks_per_sm:
        return
    if _idle_sms(work, place, residency) > 0:
        yield from _filled(work, place, residency)
        return
    full = residency.fitting_blocks_per_sm * residency.warps_per_sm / residency.blocks_per_sm
    new_place = _with(place, min(2 * place.warps_per_sm, full))
    why = f"the grid fills {residency.blocks_per_sm} of the {residency.fitting_blocks_per_sm} blocks an SM can hold"
    yield Alternative(HALVED, why, _shared_out(work, 2), new_place, apart=2.0)
    yield Alternative(DOUBLED, why, replace(work, warps=2 * work.warps), new_place, work_share=2.0)


def larger_blocks(work: Workload, place: Place, residency: Residency) -> Iterator[Alternative]:
    """The same threads in blocks of 256: SMs start blocks one after another, and hold a limited number.

    Blocks smaller than a warp leave lanes idle: their threads then fill fewer warps.
    """
    threads, warps = residency.threads_per_block, work.warps
    if warps is None or threads >= THREADS or "threads" in residency.ruled_out:
        return
    if round(work.barriers) or work.memory.shared_wavefronts_store:
        return
    before, after = ceil(threads / WARP), THREADS // WARP
    full = threads / (WARP * before)
    then, blocks = residency.with_threads(THREADS), ceil(warps * full / after)
    new_place = replace(place, warps_per_sm=float(then.warps_per_sm), warps_per_block=after,
                    active_sms=active_sms(blocks, place.gpu.value("sm_count")))  # fmt: skip
    capacity = f"of which an SM holds {residency.blocks_per_sm}, {residency.warps_per_sm} warps"
    idle = f", and {WARP * before - threads} lanes of a warp are idle" if full < 1 else ""
    why = f"{warps / before:.0f} blocks are started, {capacity}{idle}"
    yield Alternative(f"{THREADS} {LARGER} {threads}", why, _in_full_warps(work, full), new_place, 1 / full)


def _in_full_warps(work: Workload, full: float) -> Workload:
    """The work of partly filled warps, in correspondingly fewer full warps."""
    memory = work.memory
    requests = {name: getattr(memory, name) for name in REQUESTS}
    return replace(
        work, thread_instructions=work.thread_instructions / full, memory=replace(memory.scaled(1 / full), **requests),
        flop={kind: count / full for kind, count in work.flop.items()}, warps=full * (work.warps or 0.0),
    )  # fmt: skip


def _idle_sms(work: Workload, place: Place, residency: Residency) -> float:
    """SMs that get no block."""
    per_block = residency.warps_per_sm / residency.blocks_per_sm
    return place.gpu.value("sm_count") - (work.warps or 0.0) / per_block


def _filled(work: Workload, place: Place, residency: Residency) -> Iterator[Alternative]:
    """The same work in a block for every SM, and in as many blocks as all SMs hold."""
    per_block, sms = residency.warps_per_sm / residency.blocks_per_sm, place.gpu.value("sm_count")
    blocks = (work.warps or 0.0) / per_block
    leave = "one block leaves" if blocks == 1 else f"{blocks:.0f} blocks leave"
    why = f"{leave} {sms - blocks:.0f} of {sms:.0f} SMs idle"
    for each in dict.fromkeys((1, residency.fitting_blocks_per_sm)):
        times = each * sms / blocks
        new_place = replace(_with(place, each * per_block), active_sms=sms)
        change = f"{each * sms:.0f} blocks with 1/{times:.4g} of the work each ({FILL})"
        yield Alternative(change, why, _shared_out(work, times), new_place, apart=times)
    yield Alternative(DOUBLED, why, replace(work, warps=2 * (work.warps or 0.0)), place, work_share=2.0)


def _shared_out(work: Workload, times: float) -> Workload:
    """The same work in a multiple of the warps."""
    start, share = work.parts.get("start", 0.0), 1 / times
    return replace(
        scaled_demand(work, "issue", share),
        units={unit: share * busy for unit, busy in work.units.items()},
        tensor={kind: share * count for kind, count in work.tensor.items()},
        memory=work.memory.scaled(share),
        latency=start + share * (work.latency - start),
        parts={cause: cycles if cause == "start" else share * cycles for cause, cycles in work.parts.items()},
        phases=work.phases[: ceil(share * len(work.phases))],
        barriers=share * work.barriers,
        joins=None if work.joins is None else share * work.joins,
        warps=None if work.warps is None else times * work.warps,
    )


def clocks(work: Workload, place: Place) -> Iterator[Alternative]:
    """A tenth more of the SM clock, which DRAM does not follow; a tenth more of the memory's."""
    fast = replace(place, clock_hz=FASTER * place.clock_hz)
    now, then = memory_latency(place.gpu, place.clock_hz), memory_latency(place.gpu, fast.clock_hz)
    l2_note = OWN_CLOCK if place.gpu.get("l2_clock") else IN_STEP
    longer = {level: then.at(level) / now.at(level) for level in ("l2", "dram")}
    yield Alternative("a core clock 10 % higher", l2_note, without(work, longer), fast)
    board = place.gpu
    rates = {name: FASTER * board.parameters[name].value for name in _MEMORY_RATES if name in board.parameters}
    quick = replace(place, gpu=override(board, rates))
    yield Alternative("a memory clock 10 % higher", "DRAM moves more bytes per second; its latency stays", work, quick)
