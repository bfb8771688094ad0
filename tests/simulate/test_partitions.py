"""The simulator of memory partitions: conservation, Little's law, bounds, repeatability, and one run by hand."""


import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpbound.errors import InputError
from warpbound.machine import gpu
from warpbound.simulate.partition_loop import Parts, earliest, enqueue
from warpbound.simulate.partition_patterns import regular
from warpbound.simulate.partition_views import MOMENTS, busy, events, queued, show
from warpbound.simulate.partitions import (
    FEMTO,
    Machine,
    Outcome,
    Pattern,
    interleaved,
    machine_of,
    simulate,
)

quick = settings(max_examples=30, deadline=None)
PLAIN = Machine(
    sm_count=2, clock=1e9, partitions=4, width=256, bandwidth=4e9, transit=100e-9, port_cycles=2.0, in_flight=8,
    block_start=50e-9,
)  # fmt: skip


def folded(address: Any, width: int, partitions: int) -> Any:
    """In turn, shifted by the higher digits of the address: no power of two camps. Our own hash, not that of a
    machine."""
    turn, sum_of_digits = address // width, np.zeros_like(address)
    while np.any(turn):
        sum_of_digits, turn = sum_of_digits + turn % partitions, turn // partitions
    return np.asarray(sum_of_digits % partitions)


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """A few blocks of warps with requests of any kind; barriers in the same places of all warps of a launch."""
    block_warps, blocks, requests = draw(st.integers(1, 4)), draw(st.integers(1, 6)), draw(st.integers(1, 5))
    warps = blocks * block_warps
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    transactions = random.integers(0, 5, warps * requests)
    count = int(transactions.sum())
    return Pattern(
        block_warps,
        np.full(warps, requests),
        transactions,
        random.integers(0, 40, warps * requests),
        random.random(warps * requests) < 0.6,
        np.tile(random.random(requests) < 0.3, warps),
        32 * random.integers(0, 256, count),
        random.choice([32, 64, 128], count),
    )


runs = st.builds(simulate, patterns(), st.just(PLAIN), st.integers(1, 3), st.integers(0, 9))


def times(run: Outcome) -> tuple[np.ndarray, ...]:
    return tuple(getattr(run, name) for name in MOMENTS)


@quick
@given(run=runs)
def test_every_transaction_goes_its_way_once(run: Outcome) -> None:
    for earlier, later in zip(times(run)[:-1], times(run)[1:], strict=True):
        assert (later >= earlier).all()
    way = round(PLAIN.transit * FEMTO)
    assert (run.arrived - run.sent == way // 2).all()
    assert (run.replied - run.served == way - way // 2).all()
    np.testing.assert_allclose((run.served - run.started) / FEMTO, run.size / 1e9)
    assert (run.ended >= 0).all()
    for warp in range(len(run.ended)):
        assert (run.issued[run.warp == warp] <= run.ended[warp]).all()


@quick
@given(run=runs)
def test_partitions_serve_one_at_a_time_in_order_and_never_idle_while_one_waits(run: Outcome) -> None:
    for home in range(PLAIN.partitions):
        mine = np.flatnonzero(run.partition == home)
        order = mine[np.lexsort((run.started[mine], run.arrived[mine]))]
        free = np.concatenate([[0], run.served[order][:-1]])
        assert (run.started[order] == np.maximum(run.arrived[order], free)).all()


@quick
@given(run=runs)
def test_littles_law_holds(run: Outcome) -> None:
    """Mean in flight times the length of the run is the sum of the times in flight; both are counted apart."""
    assert run.in_flight_area == (run.replied - run.issued).sum()
    moments = np.unique(np.concatenate([run.arrived, run.served]))
    between = (moments[1:] + moments[:-1]) / 2
    area = (queued(run, between / FEMTO).sum(axis=1) * np.diff(moments)).sum()
    assert area == pytest.approx((run.served - run.arrived).sum(), rel=1e-6)


@quick
@given(run=runs)
def test_no_rate_is_above_its_bound(run: Outcome) -> None:
    assert run.throughput <= PLAIN.bandwidth * (1 + 1e-9)
    assert (busy(run) <= 1 + 1e-9).all()
    for sm in range(PLAIN.sm_count):
        mine = run.sm[run.warp] == sm
        gaps = np.diff(np.sort(run.sent[mine]))
        assert (gaps >= round(PLAIN.port_cycles * FEMTO / PLAIN.clock)).all()
        change = np.concatenate([run.issued[mine], run.replied[mine]])
        step = np.repeat([1, -1], mine.sum())
        there = np.cumsum(step[np.lexsort((step, change))])
        assert (there <= PLAIN.in_flight).all()


@quick
@given(pattern=patterns(), resident=st.integers(1, 3))
def test_an_sm_holds_no_more_blocks_than_fit(pattern: Pattern, resident: int) -> None:
    run = simulate(pattern, PLAIN, resident)
    ends = run.ended.reshape(pattern.blocks, -1).max(axis=1)
    sm = run.sm.reshape(pattern.blocks, -1)
    assert (sm == sm[:, :1]).all()
    for block in range(pattern.blocks):
        mine = run.warp // pattern.block_warps == block
        if not mine.any():
            continue
        earlier = np.flatnonzero((sm[:, 0] == sm[block, 0]) & (np.arange(pattern.blocks) < block))
        if len(earlier) >= resident:  # it came when one of them had ended
            place_free = np.sort(ends[earlier])[len(earlier) - resident]
            assert run.issued[mine].min() >= place_free + round(PLAIN.block_start * FEMTO)


@quick
@given(pattern=patterns(), seed=st.integers(0, 99))
def test_same_seed_same_events(pattern: Pattern, seed: int) -> None:
    first, again = simulate(pattern, PLAIN, 2, seed), simulate(pattern, PLAIN, 2, seed)
    assert first.events == again.events
    for one, other in zip(times(first), times(again), strict=True):
        assert (one == other).all()


def test_another_seed_sets_the_clocks_otherwise() -> None:
    pattern = regular(1, 256 * np.arange(8).reshape(4, 2, 1), 64, 5, waits=True)
    assert len({tuple(simulate(pattern, PLAIN, 2, seed).sent) for seed in range(5)}) == 5


@quick
@given(pattern=patterns(), turn=st.integers(1, 3))
def test_other_partitions_change_nothing(pattern: Pattern, turn: int) -> None:
    """Partitions are alike: addresses further by some partitions take the same time."""
    moved = replace(pattern, address=pattern.address + 256 * turn)
    first, other = simulate(pattern, PLAIN, 2), simulate(moved, PLAIN, 2)
    assert (first.replied == other.replied).all()
    assert (other.partition == (first.partition + turn) % 4).all()


@quick
@given(seed=st.integers(0, 10**6), warps=st.integers(2, 6))
def test_permuting_identical_warps_changes_nothing(seed: int, warps: int) -> None:
    """Warps that do the same, named otherwise: the run is the same event by event."""
    random = np.random.default_rng(seed)
    program = 32 * random.integers(0, 64, (1, 5, 2))
    pattern = regular(warps, np.repeat(program, warps, axis=0), 64, 7, waits=True)
    order = random.permutation(warps)
    again = regular(warps, np.repeat(program, warps, axis=0)[order], 64, 7, waits=True)
    first, other = simulate(pattern, PLAIN, 1), simulate(again, PLAIN, 1)
    assert (first.replied == other.replied).all()
    assert (first.ended == other.ended).all()


@quick
@given(pattern=patterns(), factor=st.floats(1, 8))
def test_one_warp_alone_never_loses_by_bandwidth(pattern: Pattern, factor: float) -> None:
    """With one warp at a time there is no order to disturb: faster memory ends no later."""
    alone = replace(pattern, block_warps=1, barrier=np.zeros_like(pattern.barrier))
    machine = replace(PLAIN, sm_count=1)
    slow = simulate(alone, machine, 1).ended.max()
    assert simulate(alone, replace(machine, bandwidth=factor * machine.bandwidth), 1).ended.max() <= slow


def test_a_warp_alone_takes_what_one_adds_up_by_hand() -> None:
    pattern = regular(1, np.array([[[0, 64], [256, 512]]]), 64, 10, waits=True)
    run = simulate(pattern, replace(PLAIN, sm_count=1), 1)
    edge = run.sent[0] - 10_000_000  # 10 cycles of 1 ns, from an edge of the SM's clock on
    assert 0 <= edge < 1_000_000
    # first: both in partition 0, the second waits for the first; 2 ns apart, 64 ns each
    assert (run.started[:2] - edge).tolist() == [60_000_000, 124_000_000]
    assert (run.replied[:2] - edge).tolist() == [174_000_000, 238_000_000]
    # then: arithmetic again, two partitions side by side
    assert (run.sent[2:] - edge).tolist() == [248_000_000, 250_000_000]
    assert (run.replied[2:] - edge).tolist() == [412_000_000, 414_000_000]
    assert run.ended.tolist() == [run.replied[3]]


def test_stores_are_not_waited_for_but_fill_what_may_be_in_flight() -> None:
    address = np.zeros((1, 6, 2), np.int64)
    free = simulate(regular(1, address, 64, 0, waits=False), replace(PLAIN, sm_count=1, in_flight=12), 1)
    assert np.diff(free.sent).max() <= 2_000_000
    full = simulate(regular(1, address, 64, 0, waits=False), replace(PLAIN, sm_count=1, in_flight=4), 1)
    assert (full.issued[4:] == np.repeat(full.replied[[1, 3, 5, 7]], 2)).all()


def test_a_barrier_keeps_the_block_together_and_a_block_follows_one_that_ended() -> None:
    address = np.zeros((4, 2, 1), np.int64)
    pattern = regular(2, address, 64, 0, waits=True)
    pattern = replace(pattern, barrier=np.tile([False, True], 4), cycles=np.repeat([0, 0, 500, 0, 0, 0, 0, 0], 1))
    run = simulate(pattern, replace(PLAIN, sm_count=1), 1)
    assert run.issued[1] == run.issued[3] == run.replied[2]
    assert run.issued[4] == run.ended[:2].max() + 50_000_000


def test_a_barrier_that_some_never_reach_is_refused() -> None:
    pattern = replace(
        regular(2, np.zeros((2, 1, 1), np.int64), 64, 0, waits=True),
        requests=np.array([2, 0]), transactions=np.array([1, 1]), barrier=np.array([False, True]),
        address=np.zeros(2, np.int64), size=np.full(2, 64),
    )  # fmt: skip
    with pytest.raises(InputError, match="waits at a barrier"):
        simulate(pattern, PLAIN, 1)


def test_nothing_to_do_takes_no_time() -> None:
    none = regular(1, np.zeros((0, 0, 0), np.int64), 64, 0, waits=True)
    assert simulate(none, PLAIN, 1).seconds == 0
    assert simulate(none, PLAIN, 1).throughput == 0


# --- mappings, machines, views ---


@pytest.mark.parametrize("mapping", [interleaved, folded])
@pytest.mark.parametrize("partitions", [6, 8])
def test_mappings_are_even_over_a_stretch_of_memory(mapping, partitions: int) -> None:
    address = 256 * np.arange(partitions**3)
    assert np.ptp(np.bincount(mapping(address, 256, partitions), minlength=partitions)) == 0


def test_folding_ends_the_camping_of_power_of_two_strides() -> None:
    address = 2048 * np.arange(4096)
    assert np.unique(interleaved(address, 256, 8)).size == 1
    assert np.bincount(folded(address, 256, 8), minlength=8).max() < 640
    pattern = regular(1, address.reshape(512, 4, 2), 64, 0, waits=True)
    machine = machine_of(gpu("gtx280"))
    camped = simulate(pattern, machine, 8).seconds
    assert simulate(pattern, replace(machine, mapping=folded), 8).seconds < camped / 3


def test_unloaded_latency_of_a_coalesced_load_is_that_of_the_catalogue() -> None:
    for name in ("gtx280", "8800gtx", "fx5600", "8800gt"):
        board = gpu(name)
        run = simulate(regular(1, np.array([[[0, 256]]]), 64, 0, waits=True), machine_of(board), 1)
        cycles = (run.replied.max() - run.sent.min()) / FEMTO * board.value("latency_clock")
        assert cycles == pytest.approx(board.value("dram_latency"), abs=1)


def test_boards_without_known_partitions_are_refused() -> None:
    with pytest.raises(InputError, match="not known"):
        machine_of(gpu("h200"))


def test_views_hear_every_event_in_order() -> None:
    run = simulate(regular(1, 256 * np.arange(12).reshape(2, 3, 2), 64, 3, waits=True), PLAIN, 1)
    heard: list[tuple[float, str]] = []
    show(run, lambda event: heard.append((float(event["time_s"]), str(event["kind"]))))
    assert len(heard) == 12 * len(MOMENTS)
    assert [time for time, _ in heard] == sorted(time for time, _ in heard)
    assert [kind for _, kind in heard].count("served") == 12
    assert set(events(run)["partition"]) == {0, 1, 2, 3}


def test_queues_are_what_has_come_and_not_been_served() -> None:
    run = simulate(regular(1, np.zeros((1, 1, 3), np.int64), 64, 0, waits=True), replace(PLAIN, port_cycles=0.0), 1)
    first = run.arrived.min() / FEMTO
    assert queued(run, first + 1e-9 * np.array([-1, 1, 65, 129, 200]))[:, 0].tolist() == [0, 3, 2, 1, 0]


@settings(max_examples=60, deadline=None)
@given(moments=st.lists(st.integers(0, 20), min_size=1, max_size=40), held=st.integers(1, 40))
def test_the_queue_gives_events_by_time_and_then_as_enqueued(moments: list[int], held: int) -> None:
    """At most `held` wait at once: then the earliest is taken before the next is enqueued."""
    fields = {name: 0 for name in Parts._fields}
    at = Parts(**(fields | {"when": 0, "what": 50, "queued": 100, "event_count": 101}))
    m, waiting = np.zeros(102, np.int64), []
    for event, time in enumerate(moments):
        enqueue(m, at, time, event)
        waiting.append((time, event))
        if len(waiting) > held:
            assert earliest(m, at) == min(waiting)
            waiting.remove(min(waiting))
    assert [earliest(m, at) for _ in range(len(waiting))] == sorted(waiting)
    assert m[at.queued] == 0


SCRIPT = """
import hashlib
from warpbound.machine import gpu
from warpbound.simulate import numba_jit
from warpbound.simulate.partition_patterns import transpose
from warpbound.simulate.partitions import machine_of, simulate
run = simulate(transpose(128, diagonal=False), machine_of(gpu("gtx280")), 2, seed=3)
print(numba_jit.COMPILED, run.events, hashlib.sha256(run.replied.tobytes() + run.ended.tobytes()).hexdigest())
"""


def test_compiled_and_plain_functions_give_the_same_run() -> None:
    pytest.importorskip("numba")
    found = []
    for off in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": off}
        command = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
    assert [state for state, *_ in found] == ["True", "False"]
    assert found[0][1:] == found[1][1:]
