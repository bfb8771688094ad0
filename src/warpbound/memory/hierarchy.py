"""The way of sampled accesses through L1, L2 and DRAM: which SM and when, and which level answers.

Source   Write-through L1 without allocation on a store, invalidated between launches, and atomics in L2:
         NVIDIA, CUDA C++ Programming Guide and PTX ISA, cache operators, for compute capability 7.0 and later.
Models   Block b stands in the queue of SM b mod SMs and runs with the blocks of its turn: as many as an SM
         holds; turns follow one another. Within a turn all warps advance together, access by access; or, as far
         as `lead` says so, the older ones ahead. Where fewer blocks of a turn were sampled than run together, the
         sample gets its share of the cache: of L1 by blocks, of L2 by the data in use.
Omits    Blocks that start as others end; traffic of other launches.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace
from warpbound.isa.limits import limits
from warpbound.machine import Gpu
from warpbound.memory import caches, lead
from warpbound.memory.caches import READ, Outcome, Stream
from warpbound.memory.requests import SectorList

L1, L2, DRAM = 0, 1, 2


@dataclass(frozen=True)
class Facts:
    """What one launch finds on its machine; sizes in bytes, 0 for a cache that is not there.

    arch : number of the sm. l1_bytes : what the carve-out leaves of one SM. blocks_per_sm : resident ones.
    l2_sides_bytes : of both sides of an L2 that has two; 0 where it is one.
    lead_reach : the GPU's l1_lead_reach; at 1 no warp runs ahead.
    """

    arch: int
    sm_count: int
    blocks_per_sm: int
    l1_bytes: int
    l2_bytes: int
    l2_sides_bytes: int = 0
    lead_reach: float = 1.0


@dataclass(frozen=True)
class Schedule:
    """Where and when each sampled block runs, shape (b,) each: SM, turn, number within SM and turn."""

    sm: NDArray[np.int64]
    turn: NDArray[np.int64]
    seat: NDArray[np.int64]
    l1_share: float  # of the blocks that share an L1 those that were sampled


@dataclass(frozen=True)
class Rows:
    """Accesses on their way through the caches, shape (n,) each.

    kind : READ, WRITE or UPDATE. cached : whether the L1 may answer. rank : place in time when warps keep step.
    ahead : gives the place in time when older warps run ahead; None where none may. sm, turn : of its block.
    """

    kind: NDArray[np.int8]
    cached: NDArray[np.bool_]
    rank: NDArray[np.int64]
    ahead: Callable[[], NDArray[np.int64]] | None
    sm: NDArray[np.int64]
    turn: NDArray[np.int64]


@dataclass(frozen=True)
class Levels:
    """What answered each sector of a SectorList, shape (m,) each.

    level : L1, L2 or DRAM; for a store L2. first : first touch of the sector past L1 in its turn.
    written_back : sectors that L2 wrote to DRAM. left_dirty : changed sectors still in L2 at the end.
    """

    level: NDArray[np.int8]
    first: NDArray[np.bool_]
    written_back: float
    left_dirty: float


def facts(gpu: Gpu, blocks_per_sm: int, shared_per_sm: int, carveout_KiB: int | None = None) -> Facts:
    """Facts of a board, when resident blocks take `shared_per_sm` bytes of shared memory, reserve included.

    carveout_KiB : what the launch asks for; without it the smallest that holds them and that drivers set.
    L1 sizes before Volta (from memory): none in use for global loads on 1.x and 3.x, what shared memory leaves of
    64 KiB on 2.x, 24 KiB on 5.x and 6.x.
    """
    known = limits(gpu.compute_capability)
    needed_KiB = max(shared_per_sm / 1024, known.least_carveout_KiB if carveout_KiB is None else carveout_KiB)
    carveout = min((size for size in known.carveouts_KiB if size >= needed_KiB), default=max(known.carveouts_KiB))
    old = {2: 64 - carveout, 5: 24, 6: 24}.get(gpu.arch // 10, 0)
    total, l2_size = known.unified_l1_shared_KiB, gpu.get("l2_size") or 0.0
    return Facts(
        arch=gpu.arch,
        sm_count=int(gpu.value("sm_count")),
        blocks_per_sm=max(1, blocks_per_sm),
        l1_bytes=1024 * (old if total is None else total - carveout),
        l2_bytes=round(l2_size * (gpu.get("l2_reach") or 1.0)),
        l2_sides_bytes=round(l2_size) if "l2_far_latency" in gpu.parameters else 0,
        lead_reach=gpu.get("l1_lead_reach") or 1.0,
    )


def l2_of(machine: Facts, part: float) -> caches.Cache:
    """That part of the L2."""
    kind = caches.sided_l2 if machine.l2_sides_bytes else caches.l2
    return kind(machine.l2_bytes * part)


def schedule(trace: Trace, machine: Facts) -> Schedule:
    """SM and turn of every sampled block."""
    sm = trace.blocks % machine.sm_count
    turn = _turns(trace.blocks, sm, machine)
    together = min(machine.blocks_per_sm, -(-trace.of_blocks // machine.sm_count))
    same_sm, seat = _counts_and_ranks(turn * machine.sm_count + sm)
    return Schedule(sm, turn, seat, min(1.0, same_sm.max(initial=1) / together))


def _turns(blocks: NDArray[np.int64], sm: NDArray[np.int64], machine: Facts) -> NDArray[np.int64]:
    """Turn of each block, (b,), named after the place in its SM's queue where the turn begins.

    Sampled blocks of one SM are together when they are less than a turn apart in its queue.
    """
    queue = blocks // machine.sm_count
    turn, begins = queue.copy(), dict[int, int]()
    for k in np.argsort(queue, kind="stable").tolist():
        begin = begins.get(int(sm[k]), -machine.blocks_per_sm)
        if queue[k] - begin >= machine.blocks_per_sm:
            begins[int(sm[k])] = begin = int(queue[k])
        turn[k] = begin
    return turn


def block_of_warp(trace: Trace) -> NDArray[np.int64]:
    """Position in trace.blocks of each traced warp's block, shape (w,)."""
    order = np.argsort(trace.blocks, kind="stable")
    return np.asarray(order[np.searchsorted(trace.blocks[order], trace.warps[:, 0])])


def moments(warp: NDArray[np.int64], span: NDArray[np.int64]) -> NDArray[np.float64]:
    """When each access happens, in accesses of its warp's busiest space since the warp began, shape (n,).

    warp : of each access, in the order executed. span : accesses of that space, per warp.
    """
    counts, ordinal = _counts_and_ranks(warp)
    return (ordinal + 0.5) * span[warp] / counts if len(warp) else np.zeros(0)


def speeds_by_age(trace: Trace, plan: Schedule) -> NDArray[np.float64]:
    """Speed of each traced warp, (w,), when the older warps of an SM's turn run ahead of the younger ones."""
    block = block_of_warp(trace)
    together = plan.turn[block] * (plan.sm.max(initial=0) + 1) + plan.sm[block]
    return lead.speeds(together, np.lexsort((trace.warps[:, 1], plan.seat[block], together)))


def order_of_rows(
    trace: Trace,
    plan: Schedule,
    block: NDArray[np.int64],
    spaces: tuple[Accesses, ...],
    speed: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Rank in time of every row of the spaces, one space after the other.

    block : of each row, by position. speed : at which each traced warp goes through its accesses, (w,).
    """
    warps = len(trace.warps)
    span = np.max([np.bincount(one.warp, minlength=warps) for one in spaces], axis=0)
    warp = np.concatenate([one.warp for one in spaces])
    when = np.concatenate([moments(one.warp.astype(np.int64), span) for one in spaces]) / speed[warp]
    within = trace.warps[warp, 1]
    order = np.lexsort((within, plan.sm[block], plan.seat[block], when, plan.turn[block]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def levels(
    touched: SectorList, rows: Rows, machine: Facts, shares: tuple[float, float], how: tuple[str, str]
) -> Levels:
    """What answers each sector; shares : parts of an L1 and of the L2 that the sampled blocks have.

    how : "estimate" or "exact", and "cold" or "warm" (after an equal launch).
    """
    simulate = caches.SIMULATIONS[how[0]]
    kind = rows.kind[touched.row]
    level = np.full(len(kind), L2, np.int8)
    if machine.l1_bytes:
        mine = np.flatnonzero((kind == READ) & rows.cached[touched.row])
        row = touched.row[mine]
        order = rows.ahead
        ahead = None if order is None else lambda: order()[row]
        loads = lead.Loads(touched.sector[mine], rows.sm[row], rows.rank[row], ahead)
        hit = lead.hits(loads, caches.l1(machine.l1_bytes * shares[0]), machine.lead_reach, simulate)
        level[mine[hit]] = L1
    past = np.flatnonzero(level == L2)
    past = past[np.argsort(rows.rank[touched.row[past]], kind="stable")]
    stream = Stream(touched.sector[past], kind[past], np.zeros(len(past), np.int64))
    before = stream if how[1] == "warm" else None
    outcome: Outcome = simulate(stream, l2_of(machine, shares[1]), before)
    level[past[~outcome.hit & (stream.kind != caches.WRITE)]] = DRAM
    first = np.zeros(len(kind), bool)
    first[past[first_in_turn(rows.turn[touched.row[past]], stream.sector)]] = True
    return Levels(level, first, outcome.written_back, outcome.left_dirty)


def first_in_turn(turn: NDArray[np.int64], sector: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions where a sector is first touched in a turn; turns ascend."""
    begins = np.ones(len(turn), bool)
    begins[1:] = turn[1:] != turn[:-1]
    _, first = np.unique((np.cumsum(begins) - 1) << 44 | sector, return_index=True)
    return np.asarray(first, dtype=np.int64)


def _counts_and_ranks(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each entry's value occurs, and how often it occurred before, shape (n,) each."""
    order = np.argsort(key, kind="stable")
    _, start, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    del start
    begins = np.cumsum(count) - count
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - begins[inverse[order]]
    return count[inverse], rank
