"""A block as a pipeline: the product of examples/hopper by copy engines of any speed, with other numbers of stages."""

from collections import defaultdict
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpbound
from support.paths import ROOT
from warpbound.emulate.mbarrier_log import Kind
from warpbound.emulate.traced_blocks import trace
from warpbound.latency import memory_latency, waits
from warpbound.program import programs
from warpbound.program.cuda import Options
from warpbound.schedule.warp_clock import Parts
from warpbound.workload.pipeline_stages import occupied, rings, with_stages
from warpbound.workload.pipelined_block import CopyEngine, timeline

pytestmark = pytest.mark.cuda

SOURCE = ROOT / "examples" / "hopper" / "wgmma_product.cu"
TILE, DEPTH, ROUNDS = 128, 64, 16
STAGE_B = 2 * TILE * DEPTH * 2
PRODUCTS = ROUNDS * 2 * 4 * TILE // 2  # cycles: two warp groups, four products of 64 x 128 x 16 each, 2048 a cycle
SPEEDS = st.builds(
    lambda gap, per_byte, latency: engine(per_byte, latency, gap),
    st.floats(0, 200), st.floats(1 / 512, 1 / 8), st.floats(0, 3000),
)  # fmt: skip


def engine(cycles_per_byte=1 / 64, latency=500.0, gap=8.0):
    return CopyEngine(gap, defaultdict(lambda: cycles_per_byte), defaultdict(lambda: latency))


@cache
def program(stages):
    asked = warpbound.launch(SOURCE.with_suffix(".toml"))
    options = Options(defines=(("STAGES", str(stages)),), extra=asked.options)
    (found,) = programs(SOURCE, warpbound.gpu("h100-sxm"), asked.kernel, options)
    return found


def packed(matrix):
    """Tiles as wgmma reads them: slices of 16 columns, in each the 8 x 8 matrices."""
    rows, columns = matrix.shape
    parts = matrix.reshape(rows // TILE, TILE // 8, 8, columns // DEPTH, DEPTH // 16, 2, 8)
    return np.ascontiguousarray(parts.transpose(0, 3, 4, 1, 5, 2, 6))


def launch(stages, a, b):
    c = np.zeros((TILE, TILE), np.float32)
    numbers = {"n": TILE, "k": ROUNDS * DEPTH}
    smem = stages * STAGE_B
    return warpbound.launch(grid=1, block=384, smem=smem, args={"a": packed(a), "b": packed(b), "c": c} | numbers)


@cache
def block(stages):
    """What the block does at its barriers, its code, and how long instructions take."""
    own, zeros = program(stages), np.zeros((TILE, ROUNDS * DEPTH), np.float16)
    memory = memory_latency(warpbound.gpu("h100-sxm"), 1.83e9)
    return trace(own, launch(stages, zeros, zeros), [0]).mbarrier_log, own.instructions, waits(own.instructions, memory)


def course(stages, speed, log=None):
    recorded, code, timing = block(stages)
    return timeline(log or recorded, [Parts(code, timing)] * len(recorded.blocks), speed, 4)


def ring(stages, speed):
    (found,) = rings(course(stages, speed), lambda _: "one line")
    return found


def test_the_product_equals_numpys():
    a, b = np.random.default_rng(3).standard_normal((2, TILE, ROUNDS * DEPTH)).astype(np.float16)
    c = warpbound.run(program(4), launch(4, a, b))["c"]
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-4, atol=1e-3)


def test_each_stage_is_filled_in_turn_and_freed_by_its_own_barrier():
    log, *_ = block(4)
    copies = [event for events in log.events[0].values() for event in events if event.kind is Kind.COPY]
    assert len(copies) == 2 * ROUNDS
    assert sum(event.size_B for event in copies) == ROUNDS * STAGE_B
    filled = ring(4, engine())
    assert (filled.stages, len(filled.fills), filled.size_B) == (4, ROUNDS, STAGE_B)
    assert [fill.phase[1] for fill in filled.fills] == [number // 4 for number in range(ROUNDS)]
    assert [fill.freed_by[0][1] for fill in filled.fills] == [number // 4 for number in range(ROUNDS)]
    assert len({fill.freed_by[0][0] for fill in filled.fills}) == 4


def test_slow_copies_follow_each_other_without_a_pause():
    """The first begins after the set-up, the last products come after the last copy."""
    slow = course(4, engine(1 / 8))
    moving = ROUNDS * STAGE_B / 8
    assert slow.engine_busy == moving
    assert moving + 500 < slow.cycles < 1.05 * moving + 2000
    assert occupied(ring(4, engine(1 / 8))).under_way > 3


def test_quick_copies_leave_the_time_to_the_products():
    quick = course(4, engine(1 / 512, 50.0, 0.0))
    assert PRODUCTS < quick.cycles < 1.3 * PRODUCTS + 2000
    assert occupied(ring(4, engine(1 / 512, 50.0, 0.0))).under_way < 1


def test_one_stage_pays_the_latency_of_every_copy():
    longer = course(1, engine(latency=1500.0)).cycles - course(1, engine(latency=500.0)).cycles
    assert longer == pytest.approx(1000 * ROUNDS, rel=1e-6)


@pytest.mark.broad
@pytest.mark.parametrize("stages, others", [(2, (3, 4)), (4, (2, 3))])
def test_other_stages_take_as_long_as_code_that_has_them(stages, others):
    for speed in (engine(), engine(1 / 32), engine(latency=1500.0)):
        for other in others:
            changed = with_stages(block(stages)[0], ring(stages, speed), other)
            assert course(stages, speed, changed).cycles == pytest.approx(course(other, speed).cycles, rel=0.04)


@pytest.mark.broad
@settings(max_examples=12, deadline=None)
@given(SPEEDS)
def test_no_engine_beats_its_resources_and_more_stages_cost_nothing(speed):
    own = ring(4, speed)
    times = {stages: course(4, speed, with_stages(block(4)[0], own, stages)) for stages in (1, 2, 4, 6)}
    for found in times.values():
        assert found.cycles >= max(PRODUCTS, found.engine_busy)
    ordered = [times[stages].cycles for stages in sorted(times)]
    assert all(fewer >= 0.99 * more for fewer, more in zip(ordered, ordered[1:], strict=False))
    mean = occupied(own)
    assert mean.under_way + mean.landed + mean.in_use + mean.free == pytest.approx(4)
    assert min(mean.under_way, mean.landed, mean.in_use, mean.free) >= 0


def test_who_waits_for_what_was_not_recorded_has_no_course():
    log, *_ = block(4)
    alone = replace(log, events=({}, *log.events[1:]))
    events = {at: [event for event in many if event.kind is not Kind.COPY] for at, many in log.events[0].items()}
    assert course(4, engine(), alone) is not None  # nobody has to come: phases without events are over
    first = next(at for at, many in log.events[0].items() if many[0].kind is Kind.COPY)
    never = replace(log.events[0][first][0], barriers=((1 << 50, 0),))
    waiting = replace(never, kind=Kind.TEST, barriers=((1 << 50, 1),))
    stuck = replace(log, events=(events | {first: [waiting, never]}, *log.events[1:]))
    assert course(4, engine(), stuck) is None
