"""Sampled accesses through L1 and L2: the SM and the time of each one, and the level that serves it.

Source   Write-through L1 without allocation on a store, invalidated between launches, and atomics in L2:
         NVIDIA, CUDA C++ Programming Guide and PTX ISA, cache operators, for compute capability 7.0 and later.
Models   Block b is in the queue of SM b mod SMs and runs with the blocks of its turn, as many as an SM holds; turns
         follow one another. Within a turn all warps advance together, access by access, or older warps run ahead
         (`warp_runahead`). Where a sample has fewer blocks of a turn than run together, it gets its share of the
         cache: of L1 by blocks; of L2, which is then empty as a turn begins, by the data in use.
Omits    Blocks that start as others end; traffic of other launches.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.trace import Accesses, Trace
from warpbound.machine import Gpu
from warpbound.memory import caches, l2_partitions, warp_runahead
from warpbound.memory.caches import READ, Outcome, Stream
from warpbound.memory.l2_partitions import SIDES, side_of
from warpbound.memory.requests import SectorList
from warpbound.memory.sorted_order import HIGH, begins_of_groups, first_of_each, groups, order_by
from warpbound.native_loops import accesses as native
from warpbound.quick_dataclasses import dataclass

L1, L2, DRAM = 0, 1, 2
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """SMs and caches of a launch; sizes in bytes, 0 for a cache that does not exist.

    arch : sm number. l1_bytes : L1 of one SM beside the shared-memory carve-out. blocks_per_sm : resident blocks.
    l2_sides_bytes : both partitions together of an L2 with two; 0 for an L2 with one.
    lead_reach : the GPU's l1_lead_reach; at 1 no warp runs ahead. completes : L2 reads a sector before it changes a
    part of it.
    """

    arch: int
    sm_count: int
    blocks_per_sm: int
    l1_bytes: int
    l2_bytes: int
    l2_sides_bytes: int = 0
    lead_reach: float = 1.0
    completes: bool = False


@dataclass(frozen=True)
class Schedule:
    """Where and when each sampled block runs, shape (b,) each: SM, turn, number within SM and turn.

    l1_share : sampled part of the blocks that share its SM's L1, in sampled turns.
    """

    sm: NDArray[np.int64]
    turn: NDArray[np.int64]
    seat: NDArray[np.int64]
    l1_share: NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Accesses to the caches, shape (n,) each.

    kind : READ, WRITE or UPDATE. cached : whether L1 may serve it. rank : position in time when warps keep step.
    ahead : gives the position when a share of the warps leads; None where none may. sm, turn : of its block.
    moment : time in whole accesses since its block began. l1_share : of its block, as in Schedule.
    """

    kind: NDArray[np.int8]
    cached: NDArray[np.bool_]
    rank: NDArray[np.int64]
    ahead: Callable[[float], NDArray[np.int64]] | None
    sm: NDArray[np.int64]
    turn: NDArray[np.int64]
    moment: NDArray[np.int64]
    l1_share: NDArray[np.float64]


@dataclass(frozen=True)
class Near:
    """Result of each sector of a SectorList in the L1s, shape (m,) each; `led` and `repeated` as in Levels."""

    hit: NDArray[np.bool_]
    led: NDArray[np.bool_]
    repeated: NDArray[np.bool_]


@dataclass(frozen=True)
class Levels:
    """The level that served each sector of a SectorList, shape (m,) each.

    level : L1, L2 or DRAM; L2 for a store. first : first access to the sector past L1 in its turn.
    repeated : loads that an L1 of unlimited size would serve: the SM has loaded the sector before.
    led : loads that hit L1 only if older warps run ahead. together : the same number for loads of one sector that all
    SMs do at once, -1 for others. far : loads past L1 that the reader's partition of L2 has lost. once : loads of all
    SMs at once that L2 has lost since it served them in this turn.
    written_back : sectors that L2 wrote to DRAM. left_dirty : written sectors still in L2 at the end.
    """

    level: NDArray[np.int8]
    first: NDArray[np.bool_]
    repeated: NDArray[np.bool_]
    led: NDArray[np.bool_]
    together: NDArray[np.int64]
    far: NDArray[np.bool_]
    once: NDArray[np.bool_]
    written_back: float
    left_dirty: float


def facts(gpu: Gpu, blocks_per_sm: int, shared_per_sm: int, carveout_KiB: int | None = None) -> Facts:
    """Facts of a board, when resident blocks take `shared_per_sm` bytes of shared memory, reserve included.

    carveout_KiB : as the launch requests; without it, the smallest that holds them and that drivers set. L1 is the
    rest of the unified memory, or a memory of its own; 1.x has none.
    """
    limits = gpu.limits
    needed_KiB = max(shared_per_sm / 1024, limits.least_carveout_KiB if carveout_KiB is None else carveout_KiB)
    carveout = min((size for size in limits.carveouts_KiB if size >= needed_KiB), default=max(limits.carveouts_KiB))
    total, l2_size = limits.unified_l1_shared_KiB, gpu.get("l2_size") or 0.0
    return Facts(
        arch=gpu.arch,
        sm_count=int(gpu.value("sm_count")),
        blocks_per_sm=max(1, blocks_per_sm),
        l1_bytes=1024 * ((limits.l1_KiB or 0) if total is None else total - carveout),
        l2_bytes=round(l2_size * (gpu.get("l2_reach") or 1.0)),
        l2_sides_bytes=round(l2_size) if "l2_far_latency" in gpu.parameters else 0,
        lead_reach=gpu.get("l1_lead_reach") or 1.0,
        completes=bool(gpu.get("dram_check_bits") or gpu.get("l2_completes_sectors")),
    )


def l2_of(machine: Facts, part: float) -> caches.Cache:
    """A part of the L2."""
    return caches.l2(machine.l2_bytes * part)


def schedule(trace: Trace, machine: Facts) -> Schedule:
    """SM and turn of every sampled block."""
    sm = trace.blocks % machine.sm_count
    turn = _turns(trace.blocks // machine.sm_count, machine.blocks_per_sm)
    _, seat = _counts_and_ranks(turn * machine.sm_count + sm)
    return Schedule(sm, turn, seat, _l1_shares(sm, np.where(seat == 0, turn, -1), trace.of_blocks, machine))


def gathering_together(trace: Trace, machine: Facts) -> Schedule:
    """Sampled blocks that gather data, on as few SMs as possible: they show what blocks of one SM share, wherever they
    are in the grid. Each SM has turns of about as many as it holds, at most as many turns as it has in the launch;
    neighbours are in different ones, if possible."""
    count, in_queue = len(trace.blocks), max(1.0, trace.of_blocks / machine.sm_count)
    resident = min(float(machine.blocks_per_sm), in_queue)
    turns = max(1, round(count / resident))
    behind = np.diff(np.sort(trace.blocks), prepend=-2) == 1
    order = np.argsort(trace.blocks, kind="stable")[np.argsort(behind, kind="stable")]
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    sm, turn = np.divmod(place * turns // count, math.ceil(in_queue / resident))
    _, seat = _counts_and_ranks(sm * turns + turn)
    return Schedule(sm, turn, seat, np.full(count, min(1.0, count / turns / resident)))


def _l1_shares(
    sm: NDArray[np.int64], begins: NDArray[np.int64], of_blocks: int, machine: Facts
) -> NDArray[np.float64]:
    """l1_share of a Schedule, (b,); begins : the turn of the first sampled block of each, -1 for the others, (b,)."""
    in_queue = -(-(of_blocks - sm) // machine.sm_count)
    resident = np.minimum(machine.blocks_per_sm, in_queue - begins // machine.blocks_per_sm * machine.blocks_per_sm)
    together = np.bincount(sm, np.where(begins >= 0, resident, 0))
    return np.asarray(np.minimum(1.0, np.bincount(sm) / np.maximum(1, together)))[sm]


def _turns(queue: NDArray[np.int64], resident: int) -> NDArray[np.int64]:
    """Turn of each block, (b,), named after the place in the queue where it begins.

    queue : position of each block in the queue of its SM. Sampled blocks run together if they are less than the
    `resident` blocks of an SM apart.
    """
    begins, places = list[int](), distinct(queue)
    for place in places.tolist():
        begins.append(begins[-1] if begins and place - begins[-1] < resident else place)
    return np.asarray(begins)[np.searchsorted(places, queue)]


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


def generations(trace: Trace, plan: Schedule, leaders: float) -> NDArray[np.int64]:
    """Which traced warps of an SM's turn lead at the same time, (w,), as `warp_runahead.generations`."""
    block = block_of_warp(trace)
    together = plan.turn[block] * (plan.sm.max(initial=0) + 1) + plan.sm[block]
    return warp_runahead.generations(together, np.lexsort((trace.warps[:, 1], plan.seat[block], together)), leaders)


def moments_of_rows(trace: Trace, spaces: tuple[Accesses, ...]) -> NDArray[np.float64]:
    """When each row of the spaces happens, one space after the other, (n,), as `moments` has it."""
    warps = len(trace.warps)
    span = np.stack([np.bincount(space.warp, minlength=warps) for space in spaces]).max(axis=0)
    return np.concatenate([moments(space.warp.astype(np.int64), span) for space in spaces])


def order_of_rows(
    trace: Trace, plan: Schedule, warp: NDArray[np.int32], when: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Rank in time of every row, (n,), from its traced warp and when it happens since that warp began."""
    block = block_of_warp(trace)
    place = groups(plan.seat[block], plan.sm[block], trace.warps[:, 1])  # of warps: small numbers are sorted quickly
    by_time = np.argsort(when)
    moment = np.empty(len(when), np.int64)
    moment[by_time] = np.cumsum(np.diff(when[by_time], prepend=when[by_time[:1]]) > 0)
    order = order_by(plan.turn[block][warp], moment, place[warp])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def near(sectors: SectorList, rows: Rows, machine: Facts, part: float, method: str) -> Near:
    """Result in the L1s; part : share of all lines that is followed. method : "estimate" or "exact"."""
    kind = rows.kind[sectors.row]
    result = Near(*(np.zeros(len(kind), bool) for _ in range(3)))
    if not machine.l1_bytes:
        return result
    own = np.flatnonzero((kind == READ) & rows.cached[sectors.row])
    row = sectors.row[own]
    order = rows.ahead
    ahead = None if order is None else lambda leaders: order(leaders)[row]
    loads = warp_runahead.Loads(sectors.sector[own], rows.sm[row], rows.rank[row], ahead)
    simulate = caches.SIMULATIONS[method]
    from_l1 = _from_l1(loads, rows.l1_share[row], machine.l1_bytes * part, machine.lead_reach, simulate)
    result.hit[own], result.led[own] = from_l1.hit, from_l1.led
    result.repeated[own] = warp_runahead.repeated(loads)
    return result


def levels(
    sectors: SectorList, rows: Rows, from_l1: Near, where: tuple[Facts, float, Reals, NDArray[np.int64]],
    how: tuple[str, str],
) -> Levels:  # fmt: skip
    """The level that serves each sector, given the result of the L1s.

    where : the machine; the share of all lines that is followed; the sample's share of L2 in the turn of each sector,
    (m,) (below 1, data of other turns are not found); the priority of each sector's array, (m,), by which arrays have
    parts of L2 of their own. how : "estimate" or "exact", and "cold" or "warm" (after an equal
    launch).
    """
    machine, part, share, priority = where
    kind = rows.kind[sectors.row]
    level = np.where(from_l1.hit, L1, L2).astype(np.int8)
    past = np.flatnonzero(level == L2)
    past = past[order_by(rows.rank[sectors.row[past]])]
    stream = Stream(sectors.sector[past], kind[past], np.zeros(len(past), np.int64))
    row = sectors.row[past]
    accesses = l2_partitions.L2Accesses(stream, rows.sm[row], how[1] == "warm")
    facts_of = rows.turn[row], share[past], priority[past]
    outcome, lost = _by_priority(accesses, facts_of, (machine, part), caches.SIMULATIONS[how[0]])
    level[past[~outcome.hit & (stream.kind != caches.WRITE)]] = DRAM
    first = np.zeros(len(kind), bool)
    first[past[first_in_turn(rows.turn[row], stream.sector)]] = True
    far, once, together = np.zeros(len(kind), bool), np.zeros(len(kind), bool), np.full(len(kind), -1)
    far[past] = lost
    far &= kind == READ
    reads = np.flatnonzero((level != L1) & (kind == READ))
    row = sectors.row[reads]
    some = reads[read_together(sectors.sector[reads], rows.moment[row], rows.sm[row])]
    together[some] = groups(rows.moment[sectors.row[some]], sectors.sector[some])
    far[some] = any_of(SIDES * together[some] + side_of(rows.sm[sectors.row[some]]), far[some])
    once[some] = any_of(together[some], (level == DRAM)[some] & ~first[some])
    written_back, left_dirty = outcome.written_back, outcome.left_dirty
    return Levels(level, first, from_l1.repeated, from_l1.led, together, far, once, written_back, left_dirty)


def _by_priority(
    accesses: l2_partitions.L2Accesses,
    facts_of: tuple[NDArray[np.int64], Reals, NDArray[np.int64]],
    where: tuple[Facts, float],
    simulate: Callable[..., Outcome],
) -> tuple[Outcome, NDArray[np.bool_]]:
    """The result of `_from_l2`, where arrays of each priority have a part of L2; facts_of : turn, share, priority."""
    turn, share, priority = facts_of
    each = distinct(priority)
    if len(each) <= 1:
        return _from_l2(accesses, turn, share, where, simulate)
    hit, lost = np.zeros(len(share), bool), np.zeros(len(share), bool)
    written_back = left_dirty = 0.0
    for level in each:
        own = np.flatnonzero(priority == level)
        part = l2_partitions.part_of(accesses, own, accesses.share)
        result, lost[own] = _from_l2(part, turn[own], share[own], where, simulate)
        hit[own] = result.hit
        written_back, left_dirty = written_back + result.written_back, left_dirty + result.left_dirty
    return Outcome(hit, written_back, left_dirty), lost


def _from_l2(
    accesses: l2_partitions.L2Accesses,
    turn: NDArray[np.int64],
    share: Reals,
    where: tuple[Facts, float],
    simulate: Callable[..., Outcome],
) -> tuple[Outcome, NDArray[np.bool_]]:
    """Outcome in L2, (m,), and which accesses their own partition has lost, (m,).

    share : of L2 for each access, the same within a turn; turns of equal shares follow one another in one L2. where :
    the machine, and the share of all lines that is followed.
    """
    hit, lost = np.zeros(len(share), bool), np.zeros(len(share), bool)
    written_back = left_dirty = 0.0
    changes = (np.diff(turn) != 0) & (np.diff(share) != 0)
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(share)] if len(share) else []
    for begin, end in itertools.pairwise(bounds):
        own = slice(begin, end)
        result, lost[own] = _looked_up(l2_partitions.part_of(accesses, own, float(share[begin])), where, simulate)
        hit[own] = result.hit
        written_back, left_dirty = written_back + result.written_back, left_dirty + result.left_dirty
    return Outcome(hit, written_back, left_dirty), lost


def _looked_up(
    accesses: l2_partitions.L2Accesses, where: tuple[Facts, float], simulate: Callable[..., Outcome]
) -> tuple[Outcome, NDArray[np.bool_]]:
    """The result of look-ups that all have the same share."""
    machine, part = where
    if machine.l2_sides_bytes:
        return l2_partitions.lookup(accesses, part * machine.l2_sides_bytes, simulate)
    outcome: Outcome = simulate(accesses.stream, caches.l2(part * machine.l2_bytes * accesses.share), accesses.before)
    return outcome, np.zeros(len(accesses.sm), bool)


def _from_l1(
    loads: warp_runahead.Loads,
    share: NDArray[np.float64],
    size_bytes: float,
    reach: float,
    simulate: Callable[..., Outcome],
) -> warp_runahead.Lookup:
    """Result in L1s, of which each load has this share, (m,)."""
    result = warp_runahead.Lookup(np.zeros(len(share), bool), np.zeros(len(share), bool))
    for part in distinct(share):
        own = np.flatnonzero(share == part)
        from_l1 = warp_runahead.lookup(warp_runahead.part_of(loads, own), caches.l1(size_bytes * part), reach, simulate)
        result.hit[own], result.led[own] = from_l1.hit, from_l1.led
    return result


def read_together(
    sector: NDArray[np.int64], moment: NDArray[np.int64], sm: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which reads are of a sector that all sampled SMs, at least two, read at the same moment, (m,)."""
    if not len(sm) or sm.min() == sm.max():
        return np.zeros(len(sector), bool)
    order = order_by(moment, sector, sm)
    sm, begins = sm[order], begins_of_groups(order, moment, sector)
    readers = np.add.reduceat(begins | (np.diff(sm, prepend=-1) != 0), np.flatnonzero(begins), dtype=np.int64)
    result = np.empty(len(sm), bool)
    result[order] = (readers == len(distinct(sm)))[np.cumsum(begins) - 1]
    return result


def any_of(group: NDArray[np.int64], flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether any entry of the same group is marked, (m,); groups are numbered from 0."""
    return np.asarray(np.bincount(group, flags) > 0)[group] if flags.any() else flags


def first_in_turn(turn: NDArray[np.int64], sector: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions where a sector is first touched in a turn; turns ascend."""
    begins = np.ones(len(turn), bool)
    begins[1:] = turn[1:] != turn[:-1]
    return first_of_each((np.cumsum(begins) - 1) << HIGH | sector)


def _counts_and_ranks(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each entry's value occurs, and how often it occurred before, shape (n,) each."""
    by_c = native.occurrences(key)
    if by_c is not None:
        return by_c
    order = np.argsort(key, kind="stable")
    _, start, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    del start
    begins = np.cumsum(count) - count
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - begins[inverse[order]]
    return count[inverse], rank
