"""The way of sampled accesses through L1, L2 and DRAM: which SM and when, and which level answers.

Source   Write-through L1 without allocation on a store, invalidated between launches, and atomics in L2:
         NVIDIA, CUDA C++ Programming Guide and PTX ISA, cache operators, for compute capability 7.0 and later.
Models   Block b stands in the queue of SM b mod SMs and runs with the blocks of its turn: as many as an SM
         holds; turns follow one another. Within a turn all warps advance together, access by access; or, as far
         as `lead` says so, the older ones ahead. Where fewer blocks of a turn were sampled than run together, the
         sample gets its share of the cache: of L1 by blocks; of L2, then empty as a turn begins, by the data in use.
Omits    Blocks that start as others end; traffic of other launches.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses, Trace
from warpbound.machine import Gpu
from warpbound.memory import caches, l2_partitions, warp_runahead
from warpbound.memory.caches import READ, Outcome, Stream
from warpbound.memory.l2_partitions import SIDES, side_of
from warpbound.memory.requests import SectorList
from warpbound.memory.sorted_order import HIGH, begins_of_groups, distinct, first_of_each, groups, order_by

L1, L2, DRAM = 0, 1, 2
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Facts:
    """What one launch finds on its machine; sizes in bytes, 0 for a cache that is not there.

    arch : number of the sm. l1_bytes : what the carve-out leaves of one SM. blocks_per_sm : resident ones.
    l2_sides_bytes : of both sides together of an L2 that has two; 0 where it is one.
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
    """Where and when each sampled block runs, shape (b,) each: SM, turn, number within SM and turn.

    l1_share : of the blocks that share its SM's L1, in the turns that were sampled, those that were.
    """

    sm: NDArray[np.int64]
    turn: NDArray[np.int64]
    seat: NDArray[np.int64]
    l1_share: NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Accesses on their way through the caches, shape (n,) each.

    kind : READ, WRITE or UPDATE. cached : whether the L1 may answer. rank : place in time when warps keep step.
    ahead : gives the place in time when a share of the warps leads; None where none may. sm, turn : of its block.
    moment : when, in whole accesses since its block began. l1_share : as the Schedule has it, of its block.
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
    """What the L1s say of each sector of a SectorList, shape (m,) each; as Levels has it."""

    hit: NDArray[np.bool_]
    led: NDArray[np.bool_]
    repeated: NDArray[np.bool_]


@dataclass(frozen=True)
class Levels:
    """What answered each sector of a SectorList, shape (m,) each.

    level : L1, L2 or DRAM; for a store L2. first : first touch of the sector past L1 in its turn.
    repeated : loads that an L1 without end would answer: its SM has loaded the sector before.
    led : loads that L1 answers or not as older warps run ahead. together : number of the loads past L1 of one sector
    that all SMs do at once, -1 for others. far : loads past L1 that the reader's side of L2 has lost. once : those that
    all SMs do at once and L2 has lost since it served them in this turn.
    written_back : sectors that L2 wrote to DRAM. left_dirty : changed sectors still in L2 at the end.
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

    carveout_KiB : what the launch asks for; without it the smallest that holds them and that drivers set.
    L1 is what shared memory leaves of both, or an L1 of its own; 1.x has none.
    """
    known = gpu.limits
    needed_KiB = max(shared_per_sm / 1024, known.least_carveout_KiB if carveout_KiB is None else carveout_KiB)
    carveout = min((size for size in known.carveouts_KiB if size >= needed_KiB), default=max(known.carveouts_KiB))
    total, l2_size = known.unified_l1_shared_KiB, gpu.get("l2_size") or 0.0
    return Facts(
        arch=gpu.arch,
        sm_count=int(gpu.value("sm_count")),
        blocks_per_sm=max(1, blocks_per_sm),
        l1_bytes=1024 * ((known.l1_KiB or 0) if total is None else total - carveout),
        l2_bytes=round(l2_size * (gpu.get("l2_reach") or 1.0)),
        l2_sides_bytes=round(l2_size) if "l2_far_latency" in gpu.parameters else 0,
        lead_reach=gpu.get("l1_lead_reach") or 1.0,
    )


def l2_of(machine: Facts, part: float) -> caches.Cache:
    """That part of the L2."""
    return caches.l2(machine.l2_bytes * part)


def schedule(trace: Trace, machine: Facts) -> Schedule:
    """SM and turn of every sampled block."""
    sm = trace.blocks % machine.sm_count
    turn = _turns(trace.blocks // machine.sm_count, machine.blocks_per_sm)
    _, seat = _counts_and_ranks(turn * machine.sm_count + sm)
    return Schedule(sm, turn, seat, _l1_shares(sm, np.where(seat == 0, turn, -1), trace.of_blocks, machine))


def _l1_shares(
    sm: NDArray[np.int64], begins: NDArray[np.int64], of_blocks: int, machine: Facts
) -> NDArray[np.float64]:
    """l1_share of a Schedule, (b,); begins : the turn of the first sampled block of each, -1 for the others, (b,)."""
    in_queue = -(-(of_blocks - sm) // machine.sm_count)
    held = np.minimum(machine.blocks_per_sm, in_queue - begins // machine.blocks_per_sm * machine.blocks_per_sm)
    together = np.bincount(sm, np.where(begins >= 0, held, 0))
    return np.asarray(np.minimum(1.0, np.bincount(sm) / np.maximum(1, together)))[sm]


def _turns(queue: NDArray[np.int64], held: int) -> NDArray[np.int64]:
    """Turn of each block, (b,), named after the place in the queue where it begins.

    queue : of each block, its place in the queue of its SM. Sampled blocks are together when they are less than the
    `held` blocks of an SM apart.
    """
    begins, places = list[int](), np.unique(queue)
    for place in places.tolist():
        begins.append(begins[-1] if begins and place - begins[-1] < held else place)
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
    """Which traced warps of an SM's turn lead at the same time, (w,), as `lead.generations` has it."""
    block = block_of_warp(trace)
    together = plan.turn[block] * (plan.sm.max(initial=0) + 1) + plan.sm[block]
    return warp_runahead.generations(together, np.lexsort((trace.warps[:, 1], plan.seat[block], together)), leaders)


def moments_of_rows(trace: Trace, spaces: tuple[Accesses, ...]) -> NDArray[np.float64]:
    """When each row of the spaces happens, one space after the other, (n,), as `moments` has it."""
    warps = len(trace.warps)
    span = np.stack([np.bincount(one.warp, minlength=warps) for one in spaces]).max(axis=0)
    return np.concatenate([moments(one.warp.astype(np.int64), span) for one in spaces])


def order_of_rows(
    trace: Trace, plan: Schedule, warp: NDArray[np.int32], when: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Rank in time of every row, (n,), from its traced warp and when it happens since that warp began."""
    block = block_of_warp(trace)[warp]
    within = trace.warps[warp, 1]
    order = np.lexsort((within, plan.sm[block], plan.seat[block], when, plan.turn[block]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def near(touched: SectorList, rows: Rows, machine: Facts, part: float, method: str) -> Near:
    """What the L1s answer; part : of all lines those that are followed. method : "estimate" or "exact"."""
    kind = rows.kind[touched.row]
    found = Near(*(np.zeros(len(kind), bool) for _ in range(3)))
    if not machine.l1_bytes:
        return found
    mine = np.flatnonzero((kind == READ) & rows.cached[touched.row])
    row = touched.row[mine]
    order = rows.ahead
    ahead = None if order is None else lambda leaders: order(leaders)[row]
    loads = warp_runahead.Loads(touched.sector[mine], rows.sm[row], rows.rank[row], ahead)
    simulate = caches.SIMULATIONS[method]
    said = _from_l1(loads, rows.l1_share[row], machine.l1_bytes * part, machine.lead_reach, simulate)
    found.hit[mine], found.led[mine] = said.hit, said.led
    found.repeated[mine] = warp_runahead.repeated(loads)
    return found


def levels(
    touched: SectorList, rows: Rows, said: Near, where: tuple[Facts, float, Reals], how: tuple[str, str]
) -> Levels:
    """What answers each sector beyond what the L1s have said.

    where : the machine; of all lines those that are followed; of L2 what is the sample's in the turn of each sector,
    (m,): where that is not all, the sample does not find there what other turns brought. how : "estimate" or "exact",
    and "cold" or "warm" (after an equal launch).
    """
    machine, part, share = where
    kind = rows.kind[touched.row]
    level = np.where(said.hit, L1, L2).astype(np.int8)
    past = np.flatnonzero(level == L2)
    past = past[order_by(rows.rank[touched.row[past]])]
    stream = Stream(touched.sector[past], kind[past], np.zeros(len(past), np.int64))
    row = touched.row[past]
    asked = l2_partitions.Asked(stream, rows.sm[row], how[1] == "warm")
    outcome, lost = _from_l2(asked, rows.turn[row], share[past], (machine, part), caches.SIMULATIONS[how[0]])
    level[past[~outcome.hit & (stream.kind != caches.WRITE)]] = DRAM
    first = np.zeros(len(kind), bool)
    first[past[first_in_turn(rows.turn[row], stream.sector)]] = True
    far, once, together = np.zeros(len(kind), bool), np.zeros(len(kind), bool), np.full(len(kind), -1)
    far[past] = lost
    far &= kind == READ
    reads = np.flatnonzero((level != L1) & (kind == READ))
    row = touched.row[reads]
    some = reads[asked_together(touched.sector[reads], rows.moment[row], rows.sm[row])]
    together[some] = groups(rows.moment[touched.row[some]], touched.sector[some])
    far[some] = any_of(SIDES * together[some] + side_of(rows.sm[touched.row[some]]), far[some])
    once[some] = any_of(together[some], (level == DRAM)[some] & ~first[some])
    return Levels(level, first, said.repeated, said.led, together, far, once, outcome.written_back, outcome.left_dirty)


def _from_l2(
    asked: l2_partitions.Asked,
    turn: NDArray[np.int64],
    share: Reals,
    where: tuple[Facts, float],
    simulate: Callable[..., Outcome],
) -> tuple[Outcome, NDArray[np.bool_]]:
    """What L2 says, (m,), and which accesses their own side has lost, (m,).

    share : of L2, for each access, the same in a turn; turns of equal shares follow one another in one L2. where : the
    machine, and of all lines those that are followed.
    """
    hit, lost = np.zeros(len(share), bool), np.zeros(len(share), bool)
    written = left = 0.0
    changes = (np.diff(turn) != 0) & (np.diff(share) != 0)
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), len(share)] if len(share) else []
    for begin, end in itertools.pairwise(bounds):
        mine = slice(begin, end)
        found, lost[mine] = _looked_up(l2_partitions.part_of(asked, mine, float(share[begin])), where, simulate)
        hit[mine] = found.hit
        written, left = written + found.written_back, left + found.left_dirty
    return Outcome(hit, written, left), lost


def _looked_up(
    asked: l2_partitions.Asked, where: tuple[Facts, float], simulate: Callable[..., Outcome]
) -> tuple[Outcome, NDArray[np.bool_]]:
    """The same of accesses that all have the same share."""
    machine, part = where
    if machine.l2_sides_bytes:
        return l2_partitions.looked_up(asked, part * machine.l2_sides_bytes, simulate)
    outcome: Outcome = simulate(asked.stream, caches.l2(part * machine.l2_bytes * asked.share), asked.before)
    return outcome, np.zeros(len(asked.sm), bool)


def _from_l1(
    loads: warp_runahead.Loads,
    share: NDArray[np.float64],
    size_bytes: float,
    reach: float,
    simulate: Callable[..., Outcome],
) -> warp_runahead.Lookup:
    """What L1s say of which each load has that share, (m,)."""
    found = warp_runahead.Lookup(np.zeros(len(share), bool), np.zeros(len(share), bool))
    for one in np.unique(share):
        mine = np.flatnonzero(share == one)
        said = warp_runahead.looked_up(warp_runahead.part_of(loads, mine), caches.l1(size_bytes * one), reach, simulate)
        found.hit[mine], found.led[mine] = said.hit, said.led
    return found


def asked_together(
    sector: NDArray[np.int64], moment: NDArray[np.int64], sm: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Which reads are of a sector that all sampled SMs, two or more of them, read at the same moment, (m,)."""
    if not len(sm) or sm.min() == sm.max():
        return np.zeros(len(sector), bool)
    order = order_by(moment, sector, sm)
    sm, begins = sm[order], begins_of_groups(order, moment, sector)
    readers = np.add.reduceat(begins | (np.diff(sm, prepend=-1) != 0), np.flatnonzero(begins), dtype=np.int64)
    found = np.empty(len(sm), bool)
    found[order] = (readers == len(distinct(sm)))[np.cumsum(begins) - 1]
    return found


def any_of(group: NDArray[np.int64], marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether any entry of the same group is marked, (m,); groups are numbered from 0."""
    return np.asarray(np.bincount(group, marked) > 0)[group] if marked.any() else marked


def first_in_turn(turn: NDArray[np.int64], sector: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions where a sector is first touched in a turn; turns ascend."""
    begins = np.ones(len(turn), bool)
    begins[1:] = turn[1:] != turn[:-1]
    return first_of_each((np.cumsum(begins) - 1) << HIGH | sector)


def _counts_and_ranks(key: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each entry's value occurs, and how often it occurred before, shape (n,) each."""
    order = np.argsort(key, kind="stable")
    _, start, inverse, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    del start
    begins = np.cumsum(count) - count
    rank = np.empty(len(key), np.int64)
    rank[order] = np.arange(len(key)) - begins[inverse[order]]
    return count[inverse], rank
