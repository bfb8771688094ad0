"""Barriers of the block within a pipeline: all warps continue when the last one is there."""

from collections import defaultdict

import numpy as np
import pytest

from support.sass_listing import code
from warpbound.emulate.mbarrier_log import Kind, MbarrierLog
from warpbound.latency import memory_latency, waits
from warpbound.machine import gpu
from warpbound.schedule.warp_clock import Parts
from warpbound.workload.block_meetings import with_meetings
from warpbound.workload.pipelined_block import CopyEngine, timeline

ADD, MEET, NAMED, EXIT = range(4)
LINES = ("FADD R0, R2, R4", "BAR.SYNC.DEFER_BLOCKING 0x0", "BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", "EXIT")
CODE = code("\n".join(f"B------:R-:W-:-:S04  {line}" for line in LINES))
ENGINE = CopyEngine(8.0, defaultdict(lambda: 1 / 64), defaultdict(lambda: 500.0))
LONG = [ADD] * 100  # 400 cycles


def log_of(*streams, blocks=None):
    warps = tuple(np.array([*stream, EXIT], np.int32) for stream in streams)
    nothing = frozenset[int]()
    return MbarrierLog(tuple(blocks or [0] * len(warps)), warps, ({},) * len(warps), (nothing,) * len(warps))


def course(log):
    timing = waits(CODE, memory_latency(gpu("h100-sxm"), 1.83e9))
    return timeline(log, [Parts(CODE, timing)] * len(log.blocks), ENGINE, 4)


def test_work_before_and_behind_a_meeting_adds_up():
    apart = course(log_of(LONG, LONG))
    met = course(log_of([*LONG, MEET, ADD], [ADD, MEET, *LONG]))
    barrier = course(log_of([MEET], [MEET])).cycles
    assert apart.cycles == pytest.approx(404)
    assert met.cycles == pytest.approx(2 * 400 + barrier, abs=1)
    assert met.ends[1] == pytest.approx(404 + barrier, abs=1)  # of its own; 396 of waiting
    assert met.ends[0] == pytest.approx(404 + barrier, abs=1)


def test_a_barrier_of_two_warps_holds_no_third():
    met = course(log_of([*LONG, NAMED, ADD], [ADD, NAMED, *LONG], [ADD]))
    assert met.cycles > 800
    assert met.ends[2] == 8


@pytest.mark.parametrize("streams", [
    ([ADD, MEET], [ADD]),  # a warp that never comes
    ([MEET, ADD, MEET], [MEET]),  # as often as only one of them
    ([NAMED], [NAMED], [NAMED]),  # more than the barrier counts
])  # fmt: skip
def test_what_is_no_meeting_of_all_is_none(streams):
    log = log_of(*streams)
    assert all(own == {} for own in with_meetings(log, CODE))
    assert course(log).cycles > 0


def test_blocks_of_a_cluster_meet_by_themselves():
    log = log_of([MEET], [MEET], [*LONG, MEET], [MEET], blocks=[0, 0, 1, 1])
    barriers = [own[MEET][0].barriers for own in with_meetings(log, CODE)]
    assert barriers[0] == barriers[1] != barriers[2] == barriers[3]
    assert all(own[MEET][0].kind is Kind.MEETING for own in with_meetings(log, CODE))
    assert course(log).ends[0] < 100
