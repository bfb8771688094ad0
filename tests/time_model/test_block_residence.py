"""Blocks that are replaced only when their last warp ends, event by event, against the flow balance."""

import heapq
from dataclasses import replace

import numpy as np
import pytest

from warpbound.time_model.block_residence import Block, in_step, residence, taking_turns
from warpbound.time_model.flow_balance import Flow, Queue, balance

EULER = 0.5772156649  # the largest of k exponential tails is ln k + this, on average; fits put it into the block start
START, LATENCY, TAIL = 180.0, 400.0, 60.0


def simulate(blocks: int, warps: int, lines: int, service: float, rounds: int = 250) -> float:
    """Blocks per unit of time: one server, first come first served, `service` per line; then an exponential tail.

    A block starts `START` after the one it replaces has ended; its warps then ask for their lines at once, and it
    ends with the last line of its last warp.
    """
    chance = np.random.default_rng(7)
    events = [(START + chance.uniform(0, LATENCY), slot) for slot in range(blocks)]
    heapq.heapify(events)
    free, ended, begun = 0.0, 0, 0.0
    per_block = warps * lines
    while ended < rounds * blocks:
        now, slot = heapq.heappop(events)
        served = max(free, now) + service * np.arange(1, per_block + 1)
        free = served[-1]
        end = np.max(served + LATENCY + chance.exponential(TAIL, per_block))
        ended += 1
        if ended == 50 * blocks:  # what came before is the start, not the steady state
            begun = now
        heapq.heappush(events, (end + START, slot))
    return (rounds - 50) * blocks / (now - begun)


def predicted(blocks: int, warps: int, lines: int, service: float) -> float:
    own = Block(START + EULER * TAIL, 0.0, LATENCY, 0.0, TAIL, float(np.log(lines)), float(warps), 0.0)
    met = 1.0 - 1.0 / blocks
    line = Queue(warps * lines * service, 0.25 * warps * lines * service, met)
    return float(balance(Flow(float(blocks), float(residence(own)), {"server": line})).rate)


@pytest.mark.parametrize("lines", [1, 2, 4])
@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("blocks", [4, 32])
def test_far_from_saturation_the_last_line_is_all(blocks, warps, lines):
    service = 1e-3 * LATENCY / (blocks * warps * lines)
    off = 0.015 if warps * lines >= 4 else 0.045  # ln k + 0.577 is too little for one line or two
    assert predicted(blocks, warps, lines, service) == pytest.approx(simulate(blocks, warps, lines, service), rel=off)


@pytest.mark.parametrize("warps", [1, 4, 16])
@pytest.mark.parametrize("load, off", [(0.3, 0.025), (0.6, 0.04), (1.0, 0.025), (1.5, 0.01), (4.0, 0.01)])
def test_up_to_saturation(warps, load, off):
    """load : demand of all blocks over the residence of one, so that 1 is the knee of the two bounds."""
    blocks, lines = 16, 2
    service = load * (START + LATENCY + TAIL * (np.log(warps * lines) + EULER)) / (blocks * warps * lines)
    off += 0.025 if warps == 1 else 0.0
    assert predicted(blocks, warps, lines, service) == pytest.approx(simulate(blocks, warps, lines, service), rel=off)


def test_without_the_last_line_it_would_be_far_off():
    blocks, warps, lines, service = 16, 16, 2, 1e-3
    mean = blocks / (START + LATENCY + TAIL)
    assert mean / simulate(blocks, warps, lines, service) > 1.15


NEAR, FAR, SHARE_OF_LATENCY = 200.0, 570.0, 0.1  # two levels of memory, and the scale of a tail


def two_levels(warps: int, far: float) -> float:
    """Mean residence of blocks whose warps each wait for one line, with a chance `far` for one from the far level."""
    chance = np.random.default_rng(11)
    latency = np.where(chance.random((100_000 // warps, warps)) < far, FAR, NEAR)
    each = latency * (1 + SHARE_OF_LATENCY * chance.exponential(1.0, latency.shape))
    return START + float(np.max(each, axis=1).mean())


@pytest.mark.parametrize("far", [0.0, 0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("warps", [4, 8, 32])
def test_a_block_waits_for_the_one_line_that_comes_from_farther(warps, far):
    mean = (1 - far) * NEAR + far * FAR
    tail = SHARE_OF_LATENCY * mean
    own = Block(START + EULER * tail, 0.0, mean, 0.0, tail, 0.0, float(warps), 0.0)
    last = replace(own, farther=((1 - far) - (1 - far) ** warps) * (FAR - NEAR))
    assert float(residence(last)) == pytest.approx(two_levels(warps, far), rel=0.045)
    if 0 < far < 1:
        assert float(residence(own)) < 0.9 * two_levels(warps, far)  # the mean of both levels is not what it waits for


# ---------------------------------------------------------------- blocks in step


STAGED = Block(0.0, 0.0, 900.0, 400.0, 0.0, 0.0, 8.0, 2100.0, 2.0, 2.0, 1.0)
LOADS = replace(STAGED, compute=100.0, busy=100.0, segments=1.0, joins=1.0)
COMPUTES = replace(STAGED, memory=0.0, compute=300.0, busy=2000.0, segments=1.0, joins=1.0, load_joins=0.0)


@pytest.mark.parametrize("blocks", [1, 2, 5, 12])
def test_blocks_that_stage_once_load_together_and_compute_together(blocks: int) -> None:
    """A latency and a little work, then the work of all of them one after the other; nothing of it overlaps."""
    one, busy = replace(STAGED, pieces=(LOADS, COMPUTES)), [blocks * 100.0, blocks * 2000.0]
    assert float(in_step(one, busy)) == pytest.approx(900 + blocks * (100 + 2000))
    held = balance(Flow(blocks, residence(one), {"fma": Queue(2100.0)}, in_step=in_step(one, busy)))
    assert float(held.rate) == pytest.approx(blocks / (900 + 2100 * blocks))


def test_blocks_of_many_barriers_load_and_compute_together_between_all_of_them() -> None:
    often = {"segments": 8.0, "joins": 8.0}
    loads, computes = replace(LOADS, load_joins=8.0, memory=8 * 900.0, **often), replace(COMPUTES, **often)
    one = replace(STAGED, memory=8 * 900.0, joins=16.0, pieces=(loads, computes))
    assert float(in_step(one, [4 * 100.0, 4 * 2000.0])) == pytest.approx(8 * 900 + 4 * (100 + 2000))


def test_trees_after_one_load_and_blocks_of_unknown_pieces_drift_apart() -> None:
    tree = replace(STAGED, joins=9.0, pieces=(LOADS, replace(COMPUTES, segments=8.0, joins=8.0)))
    assert float(in_step(tree, [400.0, 8000.0])) == 0
    assert float(in_step(STAGED, [])) == 0


# ---------------------------------------------------------------- warps that take turns


def cycles_of_a_round(warps: int, instructions: int, wait: float, rounds: int = 8) -> float:
    """One pipe that serves ready warps in turn, an instruction each; after `instructions` a warp waits for loads."""
    ready, left, ended = [0.0] * warps, [instructions] * warps, []
    now, turn = 0.0, 0
    while len(ended) < rounds:
        order = [(turn + i) % warps for i in range(warps)]
        warp = next((warp for warp in order if ready[warp] <= now), None)
        now += 1.0
        if warp is None:
            continue
        turn, left[warp] = warp + 1, left[warp] - 1
        if not left[warp]:
            left[warp], ready[warp] = instructions, now + wait
            ended += [now] if warp == warps - 1 else []
    return (ended[-1] - ended[0]) / (rounds - 1)


@pytest.mark.parametrize("warps, instructions, wait", [(2, 100, 60.0), (4, 40, 215.0), (16, 10, 400.0)])
def test_warps_served_in_turn_end_together_and_wait_together(warps: int, instructions: int, wait: float) -> None:
    one = Block(0.0, 0.0, 12 * wait, 12.0 * instructions, 0.0, 0.0, 1.0, 12.0 * instructions, rounds=12.0)
    of_all = warps * float(instructions)
    assert float(taking_turns(one, 12 * of_all)) == pytest.approx(12 * (of_all + wait))
    assert cycles_of_a_round(warps, instructions, wait) == pytest.approx(of_all + wait, rel=0.03)


def test_blocks_that_wait_once_or_at_barriers_take_no_turns() -> None:
    one = Block(5.0, 7.0, 900.0, 400.0, 0.0, 0.0, 8.0, 2100.0, rounds=3.0)
    assert float(taking_turns(one, 4000.0)) == 5 + 7 + 900 + 4000
    assert float(taking_turns(replace(one, rounds=1.0), 4000.0)) == 0
    assert float(taking_turns(replace(one, rounds=0.0), 4000.0)) == 0
