"""L2 in a clock domain of its own: rates and the way beyond L1 follow that clock, not the SMs'."""

import numpy as np
import pytest

from warpbound.l2_clock import IN_STEP, chip_rate, l2_cycles, l2_rate
from warpbound.latency import memory_latency
from warpbound.machine import Gpu, gpu, override
from warpbound.model_inputs.resources import far_bandwidth, per_sm_cycle
from warpbound.predict import Place
from warpbound.time_model.launch import steady
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameters import fitted_parameters
from warpbound.time_model.streams import from_l2, workload
from warpbound.whatif.launch_changes import clocks
from warpbound.workload.files import levels

BOARDS = ("t4", "rtx-4090", "h200")


def at(key: str, mhz: float) -> Gpu:
    return override(gpu(key), {"l2_clock": mhz})


@pytest.mark.parametrize("key", BOARDS)
def test_without_a_clock_of_its_own_nothing_changes(key: str) -> None:
    board = gpu(key)
    assert l2_rate(board) == chip_rate(board, "l2_bandwidth") == board.value("l2_bandwidth")
    for hz in (585e6, 1.5e9):
        assert l2_cycles(board, hz) == board.value("l2_latency")


@pytest.mark.parametrize("key", BOARDS)
def test_in_step_at_the_boost_clock_it_is_the_same_board(key: str) -> None:
    """Golden: there the two definitions of L2's cycles meet."""
    board = gpu(key)
    boost_hz = board.value("boost_clock")
    own = at(key, IN_STEP * boost_hz / 1e6)
    assert l2_rate(own) == pytest.approx(l2_rate(board))
    assert memory_latency(own, boost_hz).l2 == pytest.approx(memory_latency(board, boost_hz).l2)
    assert memory_latency(own, boost_hz).dram == pytest.approx(memory_latency(board, boost_hz).dram)
    assert far_bandwidth(own) == pytest.approx(far_bandwidth(board))


@pytest.mark.parametrize("key", BOARDS)
@pytest.mark.parametrize("hz", [585e6, 1.3e9])
def test_twice_the_clock_is_twice_the_rate_and_half_the_way(key: str, hz: float) -> None:
    slow, fast = at(key, 800), at(key, 1600)
    assert per_sm_cycle(fast, "l2_bandwidth", hz) == pytest.approx(2 * per_sm_cycle(slow, "l2_bandwidth", hz))
    assert far_bandwidth(fast) == pytest.approx(2 * far_bandwidth(slow))
    before, after = memory_latency(slow, hz), memory_latency(fast, hz)
    assert after.l2 - after.l1 == pytest.approx((before.l2 - before.l1) / 2)
    assert after.l2_far - after.l1 == pytest.approx((before.l2_far - before.l1) / 2)
    assert after.dram - after.l2 == pytest.approx(before.dram - before.l2)  # beyond L2 nothing changes
    assert after.l1 == before.l1


def test_beyond_l1_a_load_keeps_its_time_when_only_the_sms_are_faster() -> None:
    board = at("t4", 855)
    slow, fast = (memory_latency(board, hz) for hz in (585e6, 1170e6))
    assert fast.l2 - fast.l1 == pytest.approx(2 * (slow.l2 - slow.l1))


def test_a_t4_at_its_base_clock() -> None:
    """By hand: 32 + (175.6 - 32) x 0.94 x 585 / 855 cycles; 1006 GB/s x 855 / (0.94 x 1590)."""
    board = at("t4", 855)
    assert memory_latency(board, 585e6).l2 == pytest.approx(124.36, abs=0.01)
    assert chip_rate(board, "l2_bandwidth") == pytest.approx(575.49e9, rel=1e-4)
    assert chip_rate(board, "dram_achievable_bandwidth") == board.value("dram_achievable_bandwidth")


@pytest.mark.parametrize("key", BOARDS)
@pytest.mark.parametrize("mhz", [None, 855.0])
def test_files_of_workloads_have_the_same_levels(key: str, mhz: float | None) -> None:
    board = gpu(key) if mhz is None else at(key, mhz)
    own, file = memory_latency(board, 1e9), levels(board, 1e9)
    assert (file["l2"], file["dram"]) == pytest.approx((own.l2, own.dram))


def steady_rate(board: Gpu, blocks: float) -> float:
    """Blocks per second and SM that read from L2 alone, with so many on each SM."""
    work = from_l2(workload("read", board, 585e6), board, 585e6)
    x = ActiveWork(work, board, 585e6, 8.0, board.value("sm_count"))
    return float(np.ravel(steady(x, fitted_parameters(board).values, blocks).balance.rate)[0])


@pytest.mark.parametrize("key", BOARDS)
def test_answers_follow_it(key: str) -> None:
    """Few warps wait for the way, many for the rate: both are quicker with a quicker L2."""
    for blocks, least in ((1.0, 1.02), (8.0, 1.9)):
        slow, fast = (steady_rate(at(key, mhz), blocks) for mhz in (100, 200))
        assert least < fast / slow < 2.001, blocks


def test_a_quicker_sm_does_not_shorten_the_way() -> None:
    board = at("t4", 855)
    work = from_l2(workload("read", board, 585e6), board, 585e6)
    place = Place(board, 585e6, 32.0, board.value("sm_count"))
    faster = next(each for each in clocks(work, place) if "core clock" in each.change)
    assert faster.work.parts["l2"] > work.parts["l2"]
    assert "L2 its time" in faster.why
