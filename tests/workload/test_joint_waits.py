"""Waits at mbarriers that part a block's work: hand-made blocks of a few warps."""


from dataclasses import replace

import numpy as np
import pytest

from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.workload.joint_waits import joint_waits
from warpbound.workload.pipelined_block import Timeline

DONE, OTHER, NEXT_BLOCK = 8, 16, 8 + (1 << 20)
ARRIVE, TEST, WORK = 3, 5, 7
STREAMS = [WORK, ARRIVE, TEST, WORK], [WORK, TEST, WORK, WORK]


def arrives(*barriers):
    return {ARRIVE: [Event(Kind.PRODUCTS, tuple((barrier, 0) for barrier in barriers))]}


def passes(*barriers, ended=1):
    return {TEST: [Event(Kind.TEST, ((barrier, ended),)) for barrier in barriers]}


def found(streams, events, blocks=(0, 0), ends=(90.0, 90.0), done=((DONE, 50.0),), **changes):
    issued, none_off = tuple(np.array(stream, np.int32) for stream in streams), (frozenset(),) * len(streams)
    mbarrier_log = MbarrierLog(tuple(blocks), issued, tuple(events), none_off)
    course = Timeline(
        cycles=90.0, waited=({},) * len(streams), fills=(), engine_busy=0.0, longest=((), 0.0), whole=True,
        phase_ends={(barrier, 0): cycle for barrier, cycle in done}, ends=tuple(ends),
    )  # fmt: skip
    return joint_waits(mbarrier_log, replace(course, **changes))


def test_both_wait_once_and_go_on():
    assert found(STREAMS, [arrives(DONE) | passes(DONE), passes(DONE)]) == ((3,), (2,))


def test_a_warp_that_does_not_wait_has_ended_by_then():
    """Else what it does behind the others' wait cannot be told from what it did before."""
    copier = [WORK, WORK]
    events = [arrives(DONE) | passes(DONE), {}]
    assert found([STREAMS[0], copier], events, ends=(90.0, 50.0)) == ((3,), (2,))
    assert found([STREAMS[0], copier], events, ends=(90.0, 51.0)) == ((), ())


def test_phases_in_turn_part_nothing():
    again = [WORK, TEST, TEST, WORK]
    assert found([STREAMS[0], again], [arrives(DONE) | passes(DONE), passes(DONE, DONE)]) == ((), ())
    assert found(STREAMS, [arrives(DONE) | passes(DONE, ended=2), passes(DONE, ended=2)]) == ((), ())


def test_of_two_waits_the_one_that_ends_first_comes_first():
    streams = [[WORK, ARRIVE, TEST, TEST, WORK], [TEST, TEST, WORK]]
    events = [arrives(DONE, OTHER) | passes(OTHER, DONE), passes(OTHER, DONE)]
    assert found(streams, events, done=[(DONE, 50.0), (OTHER, 20.0)]) == ((3, 4), (1, 2))


def test_blocks_of_a_cluster_have_as_many():
    events = [arrives(DONE) | passes(DONE), passes(NEXT_BLOCK)]
    both = found(STREAMS, events, blocks=(0, 1), done=[(DONE, 50.0), (NEXT_BLOCK, 50.0)])
    assert both == ((3,), (2,))
    assert found(STREAMS, [events[0], {}], blocks=(0, 1), ends=(90.0, 90.0)) == ((), ())


def test_a_block_that_was_not_followed_to_its_end_has_none():
    assert found(STREAMS, [arrives(DONE) | passes(DONE), passes(DONE)], whole=False) == ((), ())


@pytest.mark.parametrize("warps", [1, 2, 3])
def test_any_number_of_warps(warps):
    streams = [STREAMS[0]] + [STREAMS[1]] * (warps - 1)
    events = [arrives(DONE) | passes(DONE)] + [passes(DONE)] * (warps - 1)
    rest = found(streams, events, blocks=(0,) * warps, ends=(90.0,) * warps)
    assert rest == ((3,), *[(2,)] * (warps - 1))
