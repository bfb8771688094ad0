"""The interval that is stated: what clock and form add to the spreads of parameters, and what names them."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import warpbound
from warpbound.analysis import interval
from warpbound.analysis.accuracy import ANY, Form, form
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import case_of
from warpbound.analysis.interval import (
    ACROSS,
    CLASSES,
    EDGE,
    EDGE_OF_L2,
    IN_STEP,
    SAG,
    TOGETHER,
    Interval,
    binds,
    clock_under_load,
)
from warpbound.analysis.settings import Settings
from warpbound.analysis.timing import before_form, class_of
from warpbound.machine import gpu
from warpbound.result.quantities import CLOCK_UNDER_LOAD, OWN_ERROR
from warpbound.time_model import LaunchedWork, predict_launch
from warpbound.time_model.queue_demands import QUEUES
from warpbound.time_model.streams import workload
from warpbound.workload import Memory

A100 = gpu("a100-sxm-80gb")
SOURCE = """extern "C" __global__ void chain(float* to, float x, int n) {
    float a = x, b = x, c = x, d = x;
    for (int i = 0; i < n; ++i) { a = a * x + 1; b = b * x + 2; c = c * x + 3; d = d * x + 4; }
    to[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d;
}"""


@cache
def stream():
    return predict_launch(LaunchedWork(workload("scale", A100, 1.41e9), A100, 1.41e9, 4096, 2.0, 32))


def analysed(clock: str | float):
    program = warpbound.compile(SOURCE, A100)
    arrays = {"to": np.zeros(864 * 1024, np.float32), "x": 0.5, "n": 4000}
    return warpbound.analyze(program, A100, warpbound.launch(grid=864, block=1024, args=arrays), Settings(clock=clock))


# ---------------------------------------------------------------- classes


def test_every_resource_has_a_class():
    assert set(CLASSES) >= {*QUEUES, "latency", "launch", "block start"}
    assert {binds(name, Memory()) for name in CLASSES} == {"launch", "dram", "l2", "l1", "latency", "sm"}


def test_a_lead_in_l1_is_a_class_of_its_own():
    assert binds("l1", Memory(l2_sectors_led=1.0)) == EDGE
    assert binds("l1", Memory(l2_sectors_read=1.0)) == "l1"


def test_what_crosses_l2_is_a_class_where_it_is_most_of_what_l2_answers():
    crossing = [Memory(l2_sectors_read=4.0, l2_sectors_far=far) for far in (0.0, 2.0, 2.1, 4.0)]
    assert [binds("l2", memory) for memory in crossing] == ["l2", "l2", ACROSS, ACROSS]
    assert [binds(name, crossing[-1], 1.0) for name in ("l2 far", "l1", "dram")] == [ACROSS, "l1", EDGE_OF_L2]


def test_what_dram_must_deliver_is_a_class_where_data_are_about_as_large_as_l2():
    assert [binds("dram", Memory(), share) for share in (0.0, 0.4, 0.6, 1.0, 3.9, 4.1)] == [
        "dram", "dram", EDGE_OF_L2, EDGE_OF_L2, EDGE_OF_L2, "dram"
    ]  # fmt: skip
    assert binds("l2", Memory(), 1.0) == "l2"
    assert binds("dram", Memory(l2_sectors_led=1.0), 1.0) == EDGE


def test_a_class_that_nobody_measured_takes_what_holds_of_all():
    assert form("no such class") == form(ANY)


# ---------------------------------------------------------------- the clock


def test_only_a_clock_that_nobody_gave_is_in_doubt():
    assert clock_under_load("boost", 1e9) == pytest.approx((1 - SAG) * 1e9)
    assert clock_under_load("base", 1e9) is None
    assert clock_under_load(1410.0, 1e9) is None


def test_a_slower_clock_moves_the_upper_edge_alone():
    bare = stream()
    slower = Interval.of(bare).with_slower(1.1 * bare.time_s, CLOCK_UNDER_LOAD)
    assert slower.low == bare.interval[0]
    assert 1.1 * bare.time_s < slower.high < 1.1 * bare.interval[1]
    assert slower.doubts[CLOCK_UNDER_LOAD] > 0
    same = Interval.of(bare).with_slower(0.9 * bare.time_s, CLOCK_UNDER_LOAD)
    assert same.stated_on(bare).interval == bare.interval  # never above boost


def test_arithmetic_feels_the_clock_and_says_so():
    assumed, given = analysed("boost"), analysed(1410.0)
    assert assumed["bottleneck"] == "fma"
    assert assumed["time_s"] == pytest.approx(given["time_s"])
    assert assumed["time_interval_s"][1] > 1.02 * given["time_interval_s"][1]
    assert assumed["time_interval_s"][0] == pytest.approx(given["time_interval_s"][0])
    assert CLOCK_UNDER_LOAD in {doubt["parameter"] for doubt in assumed["doubts"]}
    assert CLOCK_UNDER_LOAD not in {doubt["parameter"] for doubt in given["doubts"]}


# ---------------------------------------------------------------- warps that wait together

ROUNDS = """extern "C" __global__ void rounds(float* to, const float* x, int n) {
    float sum = 0.0f;
    #pragma unroll 1
    for (int i = 0; i < n; ++i) {
        float a = x[(blockIdx.x * n + i) * blockDim.x + threadIdx.x], v = a, w = a + 1.0f;
        for (int k = 0; k < 128; ++k) { v = v * a - 1.0f; w = w * a - 2.0f; }
        sum += v + w;
        BETWEEN
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}"""


def looping(between: str = "", rounds: int = 40, blocks: int = 864, clock: float = 1410.0):
    program = warpbound.compile(ROUNDS.replace("BETWEEN", between), A100)
    arrays = {"to": np.zeros(256 * blocks, np.float32), "x": np.zeros(256 * blocks * rounds, np.float32), "n": rounds}
    launch = warpbound.launch(grid=blocks, block=256, args=arrays)
    case = case_of(program, A100, launch, Settings(clock=clock))
    work = work_of(case)
    return case, work, before_form(case, work)


@pytest.mark.parametrize("blocks, rounds_of_blocks", [(864, 1), (2592, 3)])
def test_warps_wait_together_and_the_interval_reaches_the_time_of_warps_apart(blocks, rounds_of_blocks):
    """The pipe's time, and one wait of a warp for each round of its loop; apart, the pipe's time alone.

    The upper edge is as far away.
    """
    case, work, found = looping(blocks=blocks)
    assert found.bottleneck == "fma"
    waits = sum(work.whole.parts[level] for level in ("l1", "l2", "dram")) / case.clock_hz
    apart = found.costs["fma"] * blocks / 108
    assert waits * rounds_of_blocks > 0.03 * found.time_s
    assert found.time_s == pytest.approx(apart + rounds_of_blocks * waits, rel=0.015)
    assert apart < found.interval[0] < 1.07 * apart  # the start of the first blocks on top
    assert found.interval[0] < found.time_s / 1.03
    assert found.interval[1] == pytest.approx(found.time_s**2 / found.interval[0])
    doubt = np.log(found.time_s / found.interval[0]) / 1.28 * found.time_s
    assert found.doubts[IN_STEP] == pytest.approx(doubt, rel=0.1)


def test_warps_that_wait_once_are_not_in_doubt():
    assert IN_STEP not in looping(rounds=1)[2].doubts
    assert IN_STEP not in stream().doubts


def test_blocks_of_a_loop_with_barriers_may_drift_apart_and_have_a_class_of_their_own():
    """How long they wait for each other is in doubt on both sides."""
    case, work, found = looping("__syncthreads();")
    assert found.doubts[IN_STEP] > 0
    low, high = found.interval
    assert high == pytest.approx(found.time_s**2 / low)
    assert found.apart_s < low * 1.01
    assert class_of(found, work, case) == TOGETHER
    nearly = replace(found, apart_s=0.99 * found.time_s)
    assert class_of(nearly, work, case) == "sm"  # less than the scatter of timing


# ---------------------------------------------------------------- the form


def test_the_form_dominates_where_it_does(monkeypatch):
    monkeypatch.setattr(interval, "form", lambda _: Form("dram", 20.0, 20.0, 9, ("one",)))
    found = Interval.of(stream()).with_form("dram")
    assert max(found.doubts, key=found.doubts.get) == OWN_ERROR
    assert found.low < stream().interval[0] < stream().interval[1] < found.high


def test_launches_that_are_nearer_than_expected_narrow_the_interval(monkeypatch):
    wide = replace(stream(), interval=(0.5 * stream().time_s, 2 * stream().time_s), doubts={IN_STEP: 1.0})
    monkeypatch.setattr(interval, "form", lambda _: Form("dram", 0.5, 0.0, 9, ("one",)))
    found = Interval.of(wide).with_form("dram")
    assert found.low == pytest.approx(found.time_s * math.exp(-interval.LEAST))  # never the edge itself
    assert found.high < wide.interval[1]
    assert found.doubts[OWN_ERROR] == 0.0
    assert found.doubts[IN_STEP] == pytest.approx(math.log(found.high / found.low) / math.log(4))
