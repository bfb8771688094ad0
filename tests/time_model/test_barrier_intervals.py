"""Blocks whose work differs from barrier to barrier; pipes that the warps of several blocks share."""

import heapq
from dataclasses import replace

import numpy as np
import pytest

from warpbound.machine import gpu
from warpbound.model_inputs.resources import demand
from warpbound.time_model.block_residence import (
    Block,
    in_step,
    last_warp_delay,
    pipe_contention,
    residence,
    slowest_warp_lag,
    without_pipes,
)
from warpbound.time_model.flow_balance import Flow, Queue, balance
from warpbound.time_model.launch import predict_launch, steady
from warpbound.time_model.launched_work import ActiveWork, LaunchedWork
from warpbound.time_model.parameters import BLOCK_WAIT, fitted_parameters
from warpbound.time_model.queue_demands import block, busy_with_all_blocks
from warpbound.time_model.streams import workload
from warpbound.workload import Piece
from warpbound.workload.records import OTHERS

A100 = gpu("a100-sxm-80gb")
CLOCK = 1.41e9
WARPS, WAVEFRONTS = 32.0, 33.0  # of a warp that goes through a tile with one store and one load of 32 conflicts
LOADS = Piece(1.0, 1.0, 0.5, 1.0, {"issue": 0.5, "lsu": 0.5, "shared": 1 / WAVEFRONTS, "l1": 0.5})
STORES = Piece(1.0, 0.0, 0.5, 0.0, {"issue": 0.5, "lsu": 0.5, "shared": 1 - 1 / WAVEFRONTS, "l1": 0.5})
HIDDEN = tuple(max(0.0, 1.0 - others / 2) for others in OTHERS)  # by two other warps


# ---------------------------------------------------------------- a pipe that blocks share


def simulate(blocks: int, wait: float, work: float, scatter: float, turns: int = 400) -> float:
    """Blocks per unit of time: each waits, then has `work` at a pipe that all blocks that are there share evenly.

    scatter : part of the wait that is exponential.
    """
    chance = np.random.default_rng(3)
    due = [(chance.uniform(0, wait + work), block) for block in range(blocks)]
    heapq.heapify(due)
    left: dict[int, float] = {}
    now, ended, begun = 0.0, 0, 0.0
    while ended < turns * blocks:
        first = min(left, key=lambda block: left[block]) if left else -1
        ends = now + left[first] * len(left) if left else np.inf
        comes = due[0][0] if due else np.inf
        share = (min(ends, comes) - now) / max(1, len(left))
        now, left = min(ends, comes), {block: work_left - share for block, work_left in left.items()}
        if ends <= comes:
            del left[first]
            ended += 1
            begun = now if ended == 50 * blocks else begun
            heapq.heappush(due, (now + wait * (1 - scatter) + chance.exponential(wait * scatter), first))
        else:
            left[heapq.heappop(due)[1]] = work
    return (turns - 50) * blocks / (now - begun)


@pytest.mark.parametrize("scatter", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("blocks", [2, 4, 8, 16])
@pytest.mark.parametrize("load", [0.5, 1.0, 1.6])
def test_blocks_that_share_a_pipe(blocks: int, load: float, scatter: float) -> None:
    """load : work of all blocks over the residence of one, so that 1 is the knee of the two bounds."""
    work = load / blocks
    simulated = simulate(blocks, 1.0 - work, work, scatter)
    found = balance(Flow(blocks, 1.0, {"pipe": Queue(work, BLOCK_WAIT * work, 1 - 1 / blocks)}))
    assert float(found.rate) == pytest.approx(simulated, rel=0.045)


def test_without_waiting_they_would_be_far_off() -> None:
    found = balance(Flow(2, 1.0, {"pipe": Queue(0.5)}))
    assert float(found.rate) > 1.2 * simulate(2, 0.5, 0.5, 0.3)


# ---------------------------------------------------------------- from barrier to barrier


def whole(**changes: object) -> Block:
    """Two pieces: waits 8 of a line whose tail is 0.5, then 12 of a pipe for all warps, one warp's own path is 2."""
    return replace(Block(1.0, 0.5, 8.0, 2.0, 0.5, 0.0, np.e, 12.0, 2.0, 2.0, 1.0), **changes)


def in_two(x: Block) -> Block:
    first = replace(x, start=0.0, store=0.0, compute=1.0, busy=0.0, segments=1.0, joins=1.0, load_joins=1.0)
    second = replace(first, memory=0.0, busy=x.busy, load_joins=0.0)
    return replace(x, pieces=(first, second))


def test_work_that_comes_after_a_barrier_overlaps_with_no_wait_before_it() -> None:
    """8 + 1 and a tail of 0.5 before it, 1 and the 11 that the other warps take behind it."""
    found = in_two(whole())
    assert residence(found) == pytest.approx(1.5 + 9.5 + 12.0)
    assert last_warp_delay(found) == pytest.approx(0.5 + 11.0)
    assert pipe_contention(found) == pytest.approx(11.0)
    assert residence(whole()) == pytest.approx(1.5 + 10.0 + 2 * 5.0)  # spread evenly, a half hides the tail
    assert residence(without_pipes(found)) == pytest.approx(1.5 + 9.5 + 1.0)


def test_pieces_that_are_alike_are_the_work_spread_evenly() -> None:
    x = whole(busy=6.0, memory=0.0, load_joins=0.0)
    half = replace(x, start=0.0, store=0.0, compute=1.0, busy=3.0, segments=1.0, joins=1.0)
    assert residence(replace(x, pieces=(half, half))) == pytest.approx(float(residence(x)))
    both = replace(half, compute=2.0, busy=6.0, segments=2.0, joins=2.0)
    assert residence(replace(x, pieces=(both,))) == pytest.approx(float(residence(x)))


def test_a_barrier_waits_for_the_leader_of_a_tree() -> None:
    led = in_two(whole())
    led = replace(led, pieces=(led.pieces[0], replace(led.pieces[1], compute=20.0)))
    assert slowest_warp_lag(led) == pytest.approx(8.0 + 1.0 + 20.0 - 8.0 - 2.0)
    assert residence(led) == pytest.approx(1.5 + 9.5 + 20.0)


# ---------------------------------------------------------------- of a launch


def tile(**changes: object):
    """A copy of one word a lane over a tile in shared memory whose columns lie on one bank, and its barrier."""
    work = workload("scale", A100, CLOCK)
    parts = work.parts | {"barrier": 16.0, "shared": 30.0}
    work = replace(work, barriers=1.0, parts=parts, latency=sum(parts.values()), pieces=(LOADS, STORES))
    memory = {"shared_wavefronts_store": 1.0, "shared_wavefronts_load": WAVEFRONTS - 1.0}
    return replace(work.with_memory(**memory), **changes)


def stands(work, blocks: float = 2.0):
    return steady(ActiveWork(work, A100, CLOCK, WARPS, 108.0), fitted_parameters(A100).values, blocks)


def test_a_tile_is_loaded_then_turned() -> None:
    known_pieces, even = stands(tile()), stands(tile(pieces=()))
    pipe_s = WARPS * WAVEFRONTS / CLOCK
    first, second = known_pieces.lone_block.pieces
    in_l1 = WARPS * demand(tile(), A100, CLOCK)["l1"] / CLOCK  # on the same data stage as shared memory
    assert np.ravel(second.busy)[0] == pytest.approx(pipe_s * (1 - 1 / WAVEFRONTS) + in_l1 * STORES.demand["l1"])
    assert (first.load_joins, second.load_joins) == (1.0, 0.0)
    assert np.ravel(second.memory)[0] == 0
    more = np.ravel(known_pieces.residence - even.residence)[0]
    assert 0.1 * pipe_s < more < 0.55 * pipe_s  # the half that the load's tail no longer hides


def test_blocks_wait_at_the_tightest_pipe_of_each_piece() -> None:
    queues = stands(tile()).flow.queues
    shared, alone = (np.ravel(part)[0] for part in (queues["shared"].wait, queues["shared"].demand))
    assert shared == pytest.approx(BLOCK_WAIT * alone)  # with L1 on its stage, the tightest in both pieces
    assert np.ravel(queues["lsu"].wait)[0] == 0  # tightest in neither: it is in use while shared memory is
    assert np.ravel(queues["lsu"].demand)[0] > 0


def test_l1_and_shared_memory_take_turns_at_one_data_stage() -> None:
    """From 7.0 on the one that needs it longer has the time of both; before, each has its own."""
    alone = demand(tile(), A100, CLOCK)
    queues = stands(tile()).flow.queues
    at_shared, at_l1 = (np.ravel(queues[name].demand)[0] * CLOCK / WARPS for name in ("shared", "l1"))
    assert at_shared == pytest.approx(alone["shared"] + alone["l1"])
    assert at_l1 == pytest.approx(alone["l1"])
    mostly_l1 = tile().with_memory(l1_wavefronts=200.0)
    both = np.ravel(stands(mostly_l1).flow.queues["l1"].demand)[0] * CLOCK / WARPS
    assert both == pytest.approx(sum(demand(mostly_l1, A100, CLOCK)[name] for name in ("shared", "l1")))
    p100 = gpu("p100")
    older = ActiveWork(tile(), p100, 1.3e9, WARPS, 56.0)
    apart = steady(older, fitted_parameters(p100).values, 2.0).flow.queues["shared"].demand
    assert np.ravel(apart)[0] * 1.3e9 / WARPS == pytest.approx(older.busy["shared"])


def test_small_blocks_in_step_share_the_sub_cores() -> None:
    """Four blocks of three warps keep the fullest sub-core as busy as four of four do, and eight of two."""
    values, issuing = fitted_parameters(A100).values, (Piece(1.0, 1.0, 1.0, 1.0, {"issue": 1.0}),)

    def busy(warps: float, blocks: float) -> float:
        (cycles,) = busy_with_all_blocks(ActiveWork(tile(pieces=issuing), A100, CLOCK, warps, 108.0), values, blocks)
        return float(np.ravel(cycles)[0])

    assert busy(2.0, 8.0) == pytest.approx(busy(4.0, 4.0)) == pytest.approx(4 * busy(2.0, 1.0))
    assert busy(3.0, 4.0) == pytest.approx(busy(4.0, 4.0))
    assert busy(1.0, 16.0) == pytest.approx(busy(4.0, 4.0))
    assert busy(14.0, 2.0) == pytest.approx(busy(16.0, 2.0))


def test_more_warps_hide_more_of_a_latency() -> None:
    """Down to one of the four waits of 25 that the first of all warps has in any case."""
    one = Block(0.0, 0.0, 100.0, 10.0, 0.0, 0.0, 8.0, 10.0, 4.0, 1.0, 1.0)
    two = replace(one, joins=2.0, pieces=(replace(one, exposed_shares=HIDDEN),))
    assert [float(in_step(two, [200.0], others)) for others in (0.0, 1.0, 2.0, 9.0)] == [300.0, 250.0, 225.0, 225.0]


def test_loads_of_blocks_with_one_warp_on_each_sub_core_hide_what_others_issue() -> None:
    """Not those of blocks of eight warps, whose two on a sub-core begin together, and not loads again and again."""
    values, load = fitted_parameters(A100).values, replace(LOADS, exposed_shares=(1.0,) * len(OTHERS))
    work = tile(pieces=(load, STORES))

    def loading(warps: float, barriers: float = 1.0) -> tuple[float, ...]:
        x = ActiveWork(replace(work, barriers=barriers), A100, CLOCK, warps, 108.0)
        return block(x, values).pieces[0].exposed_shares

    assert loading(4.0) == loading(2.0) == ()
    assert loading(8.0) == loading(4.0, barriers=2.0) == load.exposed_shares


def test_blocks_in_step_take_longer_and_the_interval_reaches_those_that_drift_apart() -> None:
    loop = replace(LOADS, times=8.0, phases=8.0), replace(STORES, times=8.0)
    found = predict_launch(LaunchedWork(tile(barriers=15.0, phases=(1,) * 8, pieces=loop), A100, CLOCK, 864, 2.0, 32))
    assert found.apart_s < 0.97 * found.time_s


def test_without_barriers_pieces_are_no_more() -> None:
    free, never = stands(tile(barriers=0.0)), stands(tile(barriers=0.0, pieces=()))
    assert free.lone_block.pieces == ()
    assert np.ravel(free.balance.rate)[0] == np.ravel(never.balance.rate)[0]


def test_fewer_barriers_or_phases_than_were_counted() -> None:
    """Pieces are shares: half the barriers are half the joins; loads that the caches answer end no load phase."""
    often = replace(LOADS, times=8.0, phases=8.0), replace(STORES, times=8.0)
    some = stands(tile(barriers=7.0, phases=(1,) * 4, pieces=often)).lone_block.pieces
    assert [piece.joins for piece in some] == pytest.approx([4.0, 4.0])
    assert [piece.load_joins for piece in some] == pytest.approx([4.0, 0.0])
    cached = tile().with_memory(l2_sectors_read=0.0, dram_bytes_read=0.0)
    assert [piece.load_joins for piece in stands(cached).lone_block.pieces] == [0.0, 0.0]


def test_where_a_block_s_time_goes_adds_up() -> None:
    found = predict_launch(LaunchedWork(tile(), A100, CLOCK, 10_000, 2.0, int(WARPS)))
    assert sum(found.stalls.values()) == pytest.approx(2.0 / found.rate)
    assert found.stalls["mio throttle"] * CLOCK > WARPS * WAVEFRONTS / 4  # the mean warp stands in half of the crowd
