"""With its own terms switched off, the time model is the older models; and it obeys physics."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.time_model_boards import A100, CLOCK, silent
from warpbound.machine import gpu, override
from warpbound.model_inputs import volkov_2016 as adapted
from warpbound.models import transit_2015, volkov_2016
from warpbound.models.volkov_2016 import contention
from warpbound.models.volkov_2016.mixes import Mix
from warpbound.time_model import dram
from warpbound.time_model.block_residence import Block, lead, residence
from warpbound.time_model.flow_balance import Flow, Queue, Space, balance, waiting
from warpbound.time_model.launch import launch_time, steady
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.parameters import CALIBRATED, FITTED, fitted_parameters
from warpbound.time_model.streams import from_l2, workload
from warpbound.time_model.waves import Pace, duration, split

POSITIVE = st.floats(0.01, 100.0)


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("name", ["init", "read", "scale", "triad", "stencil3", "stencil5"])
@pytest.mark.parametrize("blocks", [1, 2, 8, 16])
def test_without_tails_and_waiting_it_is_volkov_s_min(name, blocks):
    work, values, warps = workload(name, A100, CLOCK), silent(), 4.0
    found = steady(ActiveWork(work, A100, CLOCK, warps, A100.value("sm_count")), values, float(blocks))
    started = replace(work, latency=work.latency + values.block_start * CLOCK)
    volkov = volkov_2016.predict(adapted.inputs(started, A100, blocks * warps, CLOCK))
    assert found.balance.rate * warps / CLOCK == pytest.approx(volkov.rate, rel=1e-9)


def test_the_wait_is_at_the_memory_when_it_binds_and_at_nothing_when_it_does_not():
    values = silent()
    few, many = (
        steady(ActiveWork(workload("triad", A100, CLOCK), A100, CLOCK, 4.0, 108.0), values, n) for n in (1.0, 16.0)
    )
    assert many.balance.utilization["dram"] == pytest.approx(1.0)
    assert few.balance.utilization["dram"] < 0.5


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_with_one_hyperbola_it_is_volkov_s_contention(n, a, b, c):
    """Section 6.4 of his thesis, without arithmetic."""
    mix = Mix(n, 0.0, a, 1.0, c, np.inf, np.inf)
    published = contention.predict_one_term(mix, contention.Memory(a, (b,), (c,)))
    found = balance(Flow(n, a, {"memory": Queue(1.0 / c, b)}))
    assert found.rate == pytest.approx(published.rate, rel=1e-6)


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_with_one_warp_per_block_and_no_waiting_it_is_transit_s_equilibrium(n, z, m, latency, r):
    """min(R, M/Z, n/(L + Z)), Z at one lane per thread."""
    published = transit_2015.predict(transit_2015.Inputs(n, z, m, latency, r))
    queues = {"memory": Queue(1.0 / r), "lanes": Queue(z / m)}
    assert balance(Flow(n, latency + z, queues)).rate == pytest.approx(published.rate, rel=1e-9)


def test_with_endless_warps_it_is_the_roofline():
    values = fitted_parameters(A100).values
    x = ActiveWork(workload("triad", A100, CLOCK), A100, CLOCK, 4.0, 108.0)
    found = steady(x, values, 1e9).balance
    carried = found.rate * 4 * 768 * 108
    assert carried == pytest.approx(dram.capacity(values.dram, 1 / 3), rel=1e-4)
    roof = steady(x, replace(silent(), dram_read_capacity=2039e9, dram_write_capacity=2039e9), 1e9).balance
    assert roof.rate * 4 * 768 * 108 == pytest.approx(A100.value("dram_bandwidth"), rel=1e-9)


def mixed(lost: float, warps: float):
    """The copy-like stream with a share of its lines in DRAM, the rest in L2: one block, and the queues."""
    near, far = from_l2(workload("scale", A100, CLOCK), A100, CLOCK), workload("scale", A100, CLOCK)
    parts = {"fixed": near.parts["fixed"], "l2": (1 - lost) * near.parts["l2"], "dram": lost * far.parts["dram"]}
    moved = {name: lost * getattr(far.memory, name) for name in ("dram_bytes_read", "dram_bytes_written")}
    work = replace(near.with_memory(**moved), parts=parts, latency=sum(parts.values()))
    found = steady(ActiveWork(work, A100, CLOCK, warps, 108.0), fitted_parameters(A100).values, 2.0)
    return found.lone_block, found.flow.queues


@pytest.mark.parametrize("lost, warps, farther", [(0.0, 8.0, 0.0), (1.0, 8.0, 0.0), (0.3, 1.0, 0.0), (0.5, 2.0, 0.25)])
def test_a_block_waits_for_the_level_of_its_slowest_warp(lost, warps, farther):
    """One level, or one warp: nothing; of two warps half in L2, a quarter of the blocks wait for it unpaid."""
    gap = (A100.value("dram_latency") - A100.value("l2_latency")) / CLOCK
    assert np.ravel(mixed(lost, warps)[0].farther)[0] == pytest.approx(farther * gap)


def test_what_crosses_the_lower_edge_of_l2_passes_it_once_more():
    """Per warp 8 sectors read and 8 written, the latter dearer; with nothing found 8 come and 8 leave besides."""
    kept, lost = (np.ravel(mixed(share, 4.0)[1]["l2"].demand)[0] for share in (0.0, 1.0))
    cost = fitted_parameters(A100).values.l2_write_cost
    assert lost / kept == pytest.approx((8 + 8 * cost + 16) / (8 + 8 * cost))


@pytest.mark.parametrize("key", sorted(CALIBRATED) + ["h200", "rtx-2080-ti", "k40"])
@pytest.mark.parametrize("name", ["init", "read"])
def test_l2_never_keeps_a_stream_from_the_rate_that_dram_carries(key, name):
    board = gpu(key)
    x = ActiveWork(workload(name, board, CLOCK), board, CLOCK, 4.0, board.value("sm_count"))
    queues = steady(x, fitted_parameters(board).values, 4.0).flow.queues
    assert np.ravel(queues["l2"].demand)[0] <= np.ravel(queues["dram"].demand)[0] * (1 + 1e-9)


def test_one_warp_with_one_line_has_no_last_one():
    alone = Block(1.0, 0.0, 5.0, 2.0, 0.7, 0.0, 1.0, 2.0)
    assert residence(alone) == 8.0
    assert residence(replace(alone, warps=np.e)) == pytest.approx(8.7)
    assert residence(replace(alone, own_lines=2.0, store=0.5)) == pytest.approx(8.0 + 1.4 + 0.5)
    assert residence(replace(alone, busy=6.0, spread=0.0)) == 12.0  # the pipe's 6 instead of one warp's 2
    assert residence(replace(alone, busy=6.0, segments=4.0, spread=0.0)) == 9.0
    assert residence(replace(alone, busy=6.0, segments=4.0, joins=4.0, spread=0.0)) == 12.0
    assert lead(replace(alone, segments=5.0)) == 2.0


# ---------------------------------------------------------------- pieces


def test_bus_turns_cost_most_in_an_even_mixture():
    x = dram.Dram(100.0, 80.0, 0.1, 100.0, 30.0, 20.0)
    assert dram.capacity(x, np.array([0.0, 1.0])).tolist() == pytest.approx([100.0, 80.0])
    assert 1 / dram.capacity(x, 0.5) == pytest.approx(0.5 / 100 + 0.5 / 80 + 0.1 / 100)
    assert dram.wait(x, np.array([0.0, 0.5, 1.0])).tolist() == pytest.approx([30.0, 35.0, 0.0])


def test_spaces_bound_the_rate_by_little_s_law():
    memory = {"dram": Queue(0.001)}
    x = Flow(50.0, 10.0, memory, {"misses": Space(8.0, 4.0, 5.0, "dram")})
    assert balance(x).rate == pytest.approx(8 / (4 * 5))
    assert balance(replace(x, population=1.0)).rate == pytest.approx(0.1)
    slower = replace(x, queues={"dram": Queue(0.001, wait=100.0)})
    assert balance(slower).rate < balance(x).rate
    often = replace(slower, spaces={"misses": replace(x.spaces["misses"], times=10.0)})  # a tenth of the wait each time
    assert balance(slower).rate < balance(often).rate <= balance(x).rate


def test_waves():
    x = split(np.array([3.0, 4.0, 5.0, 0.5]), 4.0)
    assert x.full.tolist() == [0, 1, 1, 0]
    assert x.rest.tolist() == [3, 0, 1, 0.5]
    alone = Pace(np.array([0.3, 0.4, 0.1, 0.1]), 10.0, 0.0)  # residence 10 at every population, nothing in use
    assert duration(x, Pace(0.4, 10.0, 0.0), alone).tolist() == pytest.approx([10, 10, 20, 10])
    busy = Pace(0.4, 10.0, 1.0)  # a lead on top of the demand, which the rest alone has to wait out, too
    assert duration(x, busy, busy).tolist() == pytest.approx([3 / 0.4 + 10, 20, 5 / 0.4 + 10, 1 / 0.4 + 10])
    half = Pace(0.4, 7.0, 0.5)  # 5 of the 10 are idle: 2 of the lead find no room there
    assert duration(split(8.0, 4.0), half, half) == pytest.approx(22)


# ---------------------------------------------------------------- invariants


FLOW = st.builds(
    lambda n, r, d, b, kappa: Flow(n, r, {"chip": Queue(d, b), "pipe": Queue(0.4 * d, kappa * d, max(0.0, 1 - 1 / n))}),
    POSITIVE, POSITIVE, POSITIVE, st.floats(0.0, 100.0), st.floats(0.0, 1.0),
)  # fmt: skip


@given(FLOW)
def test_population_is_residence_and_waiting_times_rate(x):
    found = balance(x)
    there = x.residence + sum(found.waiting.values())
    full = any(share > 1 - 1e-6 for share in found.utilization.values())
    assert full or found.rate * there == pytest.approx(x.population, rel=1e-6)
    assert all(share <= 1 + 1e-9 for share in found.utilization.values())
    assert found.rate <= x.population / x.residence * (1 + 1e-12)


@given(FLOW, st.floats(0.1, 10.0))
def test_another_unit_of_time_only_rescales(x, unit):
    queues = {name: Queue(q.demand * unit, q.wait * unit, q.newcomers) for name, q in x.queues.items()}
    other = balance(Flow(x.population, x.residence * unit, queues))
    assert other.rate * unit == pytest.approx(balance(x).rate, rel=1e-6)


@given(FLOW, st.floats(1.0, 10.0))
def test_more_of_anything_never_hurts(x, more):
    before = balance(x).rate * (1 - 1e-9)
    assert balance(replace(x, population=x.population * more)).rate >= before
    assert balance(replace(x, residence=x.residence / more)).rate >= before
    faster = {name: replace(q, demand=q.demand / more) for name, q in x.queues.items()}
    assert balance(replace(x, queues=faster)).rate >= before


@given(POSITIVE, st.floats(0.0, 0.99), POSITIVE)
def test_waiting_grows_with_the_rate_and_vanishes_without(wait, share, demand):
    queue = Queue(demand, wait)
    assert waiting(queue, 0.0) == 0.0
    assert waiting(queue, share / demand) == pytest.approx(wait * share / (1 - share))
    assert waiting(Queue(demand), 1.0 / demand) == 0.0


def test_arrays_agree_with_scalars():
    values, warps = fitted_parameters(A100).values, np.array([1.0, 3.0, 8.0, 32.0])
    work = workload("scale", A100, CLOCK)
    together = steady(ActiveWork(work, A100, CLOCK, warps, 108.0), values, 2.0).balance.rate
    alone = [float(steady(ActiveWork(work, A100, CLOCK, w, 108.0), values, 2.0).balance.rate) for w in warps.tolist()]
    assert together.tolist() == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("name", ["init", "read", "scale", "triad"])
def test_more_bandwidth_or_less_latency_never_takes_longer(name):
    def seconds(board):
        x = ActiveWork(workload(name, board, CLOCK), board, CLOCK, 8.0, 108.0)
        values = fitted_parameters(board).values
        return float(launch_time(x, values, steady(x, values, 4.0), 500.0))

    now = seconds(A100)
    assert seconds(override(A100, {"dram_read_capacity": 3000, "dram_write_capacity": 3000})) <= now
    assert seconds(override(A100, {"l2_bandwidth": 9000})) <= now
    assert seconds(override(A100, {"dram_latency": 700})) >= now
    for parameter in FITTED:
        if parameter not in ("dram_read_capacity", "dram_write_capacity"):
            more = 2 * A100.parameters[parameter].value
            assert seconds(override(A100, {parameter: more})) >= now
