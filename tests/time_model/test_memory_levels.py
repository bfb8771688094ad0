"""What all SMs ask of L2 at once, and hits that wait behind misses: limits, mixtures, boards without a measurement."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.machine import gpu, override
from warpbound.model_inputs.resources import demand, more_together, scaled_demand
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameters import fitted_parameters
from warpbound.time_model.queue_demands import block, flow
from warpbound.time_model.streams import from_l2, workload

CLOCK = 1.41e9
A100 = gpu("a100-sxm-80gb")
UNMEASURED = replace(
    A100, parameters={key: one for key, one in A100.parameters.items() if key != "l2_shared_read_bandwidth"}
)


def queues(board=A100, **counts):
    """Stations of a warp that reads 8 sectors, all of them past L1 unless `counts` says otherwise."""
    work = from_l2(workload("read", board, CLOCK), board, CLOCK).with_memory(**counts)
    launched = ActiveWork(work, board, CLOCK, 8.0, board.value("sm_count"))
    return flow(launched, fitted_parameters(board).values, 1.0, 1e-6).queues


def test_blocks_start_in_as_many_cycles_at_any_clock():
    work, values = workload("read", A100, CLOCK), fitted_parameters(A100).values
    at = {clock: ActiveWork(work, A100, clock, 8.0, 108.0) for clock in (CLOCK, CLOCK / 2)}
    starts = {clock: float(block(x, values).start) for clock, x in at.items()}
    assert starts[CLOCK / 2] == pytest.approx(2 * starts[CLOCK])
    assert starts[CLOCK] == pytest.approx(values.block_start * A100.value("boost_clock") / CLOCK)
    every = {clock: float(flow(x, values, 1.0, 1e-6).queues["block start"].demand) for clock, x in at.items()}
    assert every[CLOCK / 2] == pytest.approx(2 * every[CLOCK])


def test_sectors_that_all_sms_ask_for_at_once_have_a_rate_of_their_own():
    together, separate = queues(l2_sectors_together=8.0)["l2"].demand, queues()["l2"].demand
    assert together / separate == pytest.approx(5405 / 4644)
    half = queues(l2_sectors_together=4.0)["l2"].demand
    assert half == pytest.approx((together + separate) / 2)


def test_a_board_without_that_measurement_serves_them_like_others():
    assert queues(UNMEASURED, l2_sectors_together=8.0)["l2"].demand == queues(UNMEASURED)["l2"].demand
    twice = override(A100, {"l2_shared_read_bandwidth": 2 * A100.value("l2_bandwidth") / 1e9})
    assert queues(twice, l2_sectors_together=8.0)["l2"].demand == pytest.approx(queues()["l2"].demand / 2)


def test_where_l2_completes_sectors_each_part_of_one_takes_as_long_as_a_read_and_a_write():
    completing = override(A100, {"l2_completes_sectors": 1.0})
    more = queues(completing, l2_sectors_cut=3.0)["l2"].demand - queues(completing)["l2"].demand
    reads = queues(l2_sectors_read=11.0)["l2"].demand - queues(l2_sectors_read=8.0)["l2"].demand
    assert more == pytest.approx(reads)
    assert queues(l2_sectors_cut=3.0)["l2"].demand == queues()["l2"].demand


def test_it_changes_with_the_rate_of_separate_data():
    faster = override(A100, {"l2_bandwidth": 2 * 5405})
    assert faster.value("l2_shared_read_bandwidth") == pytest.approx(2 * A100.value("l2_shared_read_bandwidth"))


def test_bounds_have_the_same_rate():
    work = from_l2(workload("read", A100, CLOCK), A100, CLOCK)
    together = work.with_memory(l2_sectors_together=8.0)
    ratio = demand(together, A100, CLOCK)["l2"] / demand(work, A100, CLOCK)["l2"]
    assert ratio == pytest.approx(5405 / 4644)
    assert more_together(scaled_demand(together, "l2", 0.25).memory, A100) == pytest.approx(
        0.25 * more_together(together.memory, A100)
    )


@given(st.floats(0.01, 0.99))
def test_times_of_hits_and_of_a_lead_s_misses_add_up(miss):
    misses = 8.0 * miss
    apart = queues(l2_sectors_read=misses)
    led = queues(l2_sectors_read=misses, l2_sectors_led=misses)
    both = (1 - miss) * apart["l1"].demand + apart["l2"].demand
    assert max(led["l1"].demand, led["l2"].demand) == pytest.approx(both)
    assert np.all(both >= apart["l2"].demand)


def test_all_hits_and_all_misses_are_the_two_levels_alone():
    few = queues(l2_sectors_read=1e-9, l2_sectors_led=1e-9)
    assert few["l1"].demand == pytest.approx(queues()["l1"].demand)
    every = queues(l2_sectors_led=8.0)
    assert every["l2"].demand == pytest.approx(queues()["l2"].demand)
    assert every["l1"].demand == pytest.approx(queues()["l1"].demand)
