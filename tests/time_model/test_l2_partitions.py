"""An L2 of two sides in time: limits, mixtures, the crossing as the tightest resource, boards with one side."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.latency import memory_latency
from warpbound.machine import gpu, override
from warpbound.model_inputs.resources import demand, far_bandwidth, scaled_demand
from warpbound.time_model import LaunchedWork, predict_launch
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameter_uncertainty import ONE_SOURCE, of_quantity, spread
from warpbound.time_model.parameters import fitted_parameters
from warpbound.time_model.queue_demands import FAR, block, flow, in_the_way, loads
from warpbound.time_model.streams import from_l2, workload
from warpbound.workload import Memory

CLOCK = 1.41e9
A100 = gpu("a100-sxm-80gb")
NEAR, CROSSING = A100.value("l2_latency"), 2819e9


def reading(far=0.0, board=A100):
    """A warp that reads 8 sectors from L2, so many of them from its far side; its latency with them."""
    work = from_l2(workload("read", board, CLOCK), board, CLOCK).with_memory(l2_sectors_far=far)
    longer = memory_latency(board, CLOCK).with_far(work.memory.far_share).l2 / memory_latency(board, CLOCK).l2
    parts = work.parts | {"l2": work.parts["l2"] * longer}
    return replace(work, parts=parts, latency=work.latency + parts["l2"] - work.parts["l2"])


def launched(far=0.0, board=A100):
    return ActiveWork(reading(far, board), board, CLOCK, 8.0, board.value("sm_count"))


def time_s(far, board=A100, blocks=20000):
    return predict_launch(LaunchedWork(reading(far, board), board, CLOCK, blocks, 8.0, 32)).time_s


def test_without_far_sectors_nothing_crosses_and_l2_is_near():
    queues = flow(launched(), fitted_parameters(A100).values, 1.0, 1e-6).queues
    assert FAR not in queues
    assert loads(launched(), fitted_parameters(A100).values).latency == pytest.approx(NEAR / CLOCK)
    one_side = replace(A100, parameters={n: q for n, q in A100.parameters.items() if "l2_far" not in n})
    assert time_s(0.0) == time_s(0.0, one_side)


@given(st.floats(0.0, 8.0))
def test_sides_that_are_alike_are_one(far):
    alike = override(A100, {"l2_far_latency": NEAR, "l2_far_bandwidth": 1e9})
    assert time_s(far, alike, 500) == pytest.approx(time_s(0.0, A100, 500), rel=1e-3)


def test_what_crosses_takes_its_own_time():
    values = fitted_parameters(A100).values
    whole, half = (flow(launched(far), values, 1.0, 1e-6).queues for far in (8.0, 4.0))
    assert whole[FAR].demand / whole["l2"].demand == pytest.approx(A100.value("l2_bandwidth") / CROSSING)
    assert half[FAR].demand == pytest.approx(whole[FAR].demand / 2)
    assert half["l2"].demand == whole["l2"].demand


def test_the_crossing_can_be_what_bounds_a_launch():
    far, near = (predict_launch(LaunchedWork(reading(f), A100, CLOCK, 20000, 8.0, 32)) for f in (8.0, 0.0))
    assert far.bottleneck == FAR
    assert near.bottleneck != FAR
    assert far.costs[FAR] == pytest.approx(32 * 8 * 32 * 108 / CROSSING)
    quicker = override(A100, {"l2_far_bandwidth": 2 * CROSSING / 1e9})
    assert time_s(8.0, quicker) < 0.9 * time_s(8.0)


def test_far_hits_come_later():
    values = fitted_parameters(A100).values
    far, near = (block(launched(f), values).memory for f in (8.0, 0.0))
    assert far / near == pytest.approx(A100.value("l2_far_latency") / NEAR)
    mixed = loads(launched(2.0), values).latency * CLOCK
    assert mixed == pytest.approx(0.75 * NEAR + 0.25 * A100.value("l2_far_latency"))
    slower = override(A100, {"l2_far_latency": 2 * A100.value("l2_far_latency")})
    assert block(launched(8.0, slower), values).memory == pytest.approx(2 * far)
    assert block(launched(0.0, slower), values).memory == pytest.approx(near)


@given(st.floats(0.0, 8.0), st.floats(0.0, 8.0))
def test_more_far_sectors_never_make_a_launch_shorter(one, other):
    less, more = sorted((one, other))
    assert time_s(less, blocks=500) <= time_s(more, blocks=500) * (1 + 1e-9)


def test_bounds_take_the_larger_of_both_and_ease_together():
    slow, fast = reading(8.0), reading(0.0)
    assert demand(slow, A100, CLOCK)["l2"] / demand(fast, A100, CLOCK)["l2"] == pytest.approx(5405e9 / CROSSING)
    assert demand(reading(1.0), A100, CLOCK)["l2"] == demand(fast, A100, CLOCK)["l2"]
    half = scaled_demand(slow, "l2", 0.5)
    assert demand(half, A100, CLOCK)["l2"] == pytest.approx(demand(slow, A100, CLOCK)["l2"] / 2)


def test_rates_of_boards():
    assert far_bandwidth(A100) == CROSSING
    assert far_bandwidth(gpu("v100-pcie")) == gpu("v100-pcie").value("l2_bandwidth")
    assert far_bandwidth(override(A100, {"l2_bandwidth": 2 * 5405})) == pytest.approx(2 * CROSSING)
    for key in ("a100-pcie-40gb", "a100-sxm-40gb", "h100-sxm", "h200", "gh200"):
        one = gpu(key)
        assert one.parameters["l2_far_bandwidth"].how == "assumed"
        assert far_bandwidth(one) / one.value("l2_bandwidth") == pytest.approx(0.52, abs=0.01)


def test_both_parameters_have_a_spread_of_their_own_and_widen_an_interval_where_they_count():
    found = fitted_parameters(A100)
    for name in ("l2_latency", "l2_far_latency"):
        assert spread(name, found, A100) == of_quantity(A100.parameters[name])
    assert spread("l2_far_bandwidth", found, A100) == ONE_SOURCE
    far = predict_launch(LaunchedWork(reading(8.0), A100, CLOCK, 20000, 8.0, 32))
    near = predict_launch(LaunchedWork(reading(0.0), A100, CLOCK, 20000, 8.0, 32))
    assert far.doubts["l2_far_bandwidth"] > 0
    assert far.doubts["l2_far_latency"] > 0
    assert near.doubts["l2_far_bandwidth"] == near.doubts["l2_far_latency"] == 0


def test_the_share_is_of_what_l2_answers():
    assert Memory(l2_sectors_read=10, l2_sectors_far=2).far_share == 0.2
    assert Memory(l2_sectors_read=10, dram_bytes_read=160, l2_sectors_far=2).far_share == 0.4
    assert Memory().far_share == Memory(l2_sectors_read=10, dram_bytes_read=320, l2_sectors_far=2).far_share == 0
    assert np.isclose(Memory(l2_sectors_read=10, l2_sectors_far=2).scaled(3).far_share, 0.2)


def test_what_dram_sends_costs_l2_as_much_as_dram_is_busy():
    """The square of its share of the time, as in an A100: 0.1, 0.25 and all at 0.4, 0.6 and 1.1 of L2's time."""
    reads = launched().work.memory
    part = [float(in_the_way(replace(reads, dram_bytes_read=1e6, dram_bytes_written=0.0), b, 1.0)) for b in
            (0.0, 0.37, 0.63, 1.0, 1.14)]  # fmt: skip
    assert part == pytest.approx([0.0, 0.137, 0.397, 1.0, 1.0], abs=1e-3)


def test_what_drives_out_changed_sectors_costs_in_full():
    memory = replace(launched().work.memory, dram_bytes_read=1e6)
    part = [float(in_the_way(replace(memory, dram_bytes_written=w), 0.5, 1.0)) for w in (0.0, 0.5e6, 1e6, 2e6)]
    assert part == pytest.approx([0.25, 0.625, 1.0, 1.0])
    assert float(in_the_way(memory, 0.0, 0.0)) >= 0.0  # no L2, no DRAM
