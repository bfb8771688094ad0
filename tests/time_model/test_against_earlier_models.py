"""Under their assumptions the flow balance is the earlier models: X without a cache, interval analysis, Hong & Kim."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.time_model_boards import A100, CLOCK, silent
from warpbound.models import hong_kim_2009, interval_analysis, x_model_2016
from warpbound.time_model.flow_balance import Flow, Queue, balance
from warpbound.time_model.launch import steady
from warpbound.time_model.launched_work import ActiveWork
from warpbound.time_model.streams import workload
from warpbound.time_model.waves import Pace, Waves, duration

POSITIVE = st.floats(0.01, 100.0)
SMS, LANES = 108.0, 32.0


# ---------------------------------------------------------------- X-model


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE)
def test_without_waiting_it_is_the_x_model_s_equilibrium(n, z, e, m, latency, r):
    """f(k) = g(x) / Z: min(n / (L + Z/E), R, M/Z) without a cache."""
    x = x_model_2016.Inputs(threads=n, intensity=z, ilp=e, lanes=m, latency=latency, ms_throughput=r)
    published = x_model_2016.predict_without_cache(x)
    found = balance(Flow(n, latency + z / e, {"memory": Queue(1.0 / r), "lanes": Queue(z / m)}))
    assert found.rate == pytest.approx(published.rate, rel=1e-9)


# ---------------------------------------------------------------- interval analysis


def interval(name: str, blocks: float, warps: float) -> interval_analysis.Inputs:
    """The stream as one interval: each thread loads and stores once, DRAM at the achievable rate."""
    work, values = workload(name, A100, CLOCK), silent()
    moved = work.memory.dram_bytes_read + work.memory.dram_bytes_written
    return interval_analysis.Inputs(
        executions=1.0,
        threads=SMS * blocks * warps * LANES,
        latency=work.latency + values.block_start * CLOCK,
        clock=CLOCK,
        data={"dram": moved / LANES},
        data_bandwidth={"dram": A100.value("dram_achievable_bandwidth")},
        insts={"all": work.warp_instructions},
        inst_bandwidth={"all": SMS * 4 * LANES},
    )


@pytest.mark.parametrize("name", ["read", "scale", "triad", "stencil5"])
@pytest.mark.parametrize("blocks, warps", [(1, 1), (1, 4), (2, 2), (4, 2)])
def test_at_low_occupancy_it_is_interval_analysis(name, blocks, warps):
    """One thread needs L: P threads make P phi / L intervals per second."""
    x = interval(name, blocks, warps)
    published = interval_analysis.predict(x)
    assert published.bottleneck == "latency"
    found = steady(ActiveWork(workload(name, A100, CLOCK), A100, CLOCK, float(warps), SMS), silent(), float(blocks))
    assert found.balance.rate * warps * LANES * SMS == pytest.approx(published.rate, rel=1e-9)


def test_low_occupancy_is_where_latency_binds():
    assert interval_analysis.predict(interval("triad", 1, 1)).bottleneck == "latency"
    assert interval_analysis.predict(interval("triad", 16, 4)).bottleneck == "dram"


# ---------------------------------------------------------------- Hong & Kim


def machine(**changes: float) -> hong_kim_2009.Inputs:
    """One wave on one SM: coalesced loads, computation before each."""
    usual = {
        "freq": 1e9, "mem_bandwidth": 1e15, "mem_latency": 400.0, "departure_uncoal": 10.0, "departure_coal": 4.0,
        "threads_per_block": 32.0, "blocks": 16.0, "active_sms": 1.0, "active_blocks": 16.0, "comp_insts": 8.0,
        "uncoal_mem_insts": 0.0, "coal_mem_insts": 2.0, "synch_insts": 0.0, "uncoal_per_mw": 32.0, "load_bytes": 128.0,
    }  # fmt: skip
    return hong_kim_2009.Inputs(**{**usual, **changes})


def balanced(x: hong_kim_2009.Inputs) -> tuple[float, hong_kim_2009.Terms]:
    """Cycles of the wave by flow balance: warps that compute one at a time and depart one after the other."""
    t = hong_kim_2009.terms(x)
    loads = float(np.add(x.coal_mem_insts, x.uncoal_mem_insts))
    queues = {"issue": Queue(t.comp_cycles), "memory": Queue(loads * t.departure_delay)}
    found = balance(Flow(t.warps, t.mem_cycles + t.comp_cycles, queues))
    busiest = max(float(share) for share in found.utilization.values())
    pace = Pace(found.rate, float(t.mem_l), busiest)
    return float(duration(Waves(1.0, 0.0, t.warps), pace, replace(pace, lead=0.0))), t


@given(st.integers(40, 400), st.floats(200.0, 800.0), st.floats(8.0, 60.0))
def test_where_computation_dominates_both_say_the_sum_of_it_and_one_wait(comp, latency, warps):
    """Eq. 24: Mem_L + Comp_cycles N."""
    x = machine(comp_insts=float(comp), mem_latency=latency, active_blocks=float(int(warps)), blocks=float(int(warps)))
    published, (found, t) = hong_kim_2009.predict(x), balanced(x)
    assume(hong_kim_2009.equation_taken(x) == 24.0)
    assume(float(t.warps * t.comp_cycles) > float(t.mem_cycles + t.comp_cycles))  # issue is busy all the time
    assert found == pytest.approx(float(published.total), rel=1e-9)


@given(st.floats(200.0, 2000.0), st.floats(20.0, 60.0), st.integers(24, 60))
def test_where_memory_dominates_both_say_departures(latency, delay, warps):
    """Eq. 23: Mem_cycles N / MWP + Comp_p (MWP - 1); MWP = Mem_L / departure delay makes the first N departures."""
    x = machine(mem_latency=latency, departure_coal=delay, active_blocks=float(warps), blocks=float(warps))
    assume(hong_kim_2009.equation_taken(x) == 23.0)
    published, (found, t) = hong_kim_2009.predict(x), balanced(x)
    departures = float(t.warps * 2 * t.departure_delay)
    assume(departures > float(t.mem_cycles + t.comp_cycles))  # departures are busy all the time
    assert float(published.parts["memory"]) == pytest.approx(departures, rel=1e-9)
    assert found == pytest.approx(departures + latency, rel=1e-9)  # and one wait, for the first


@given(st.floats(2000.0, 20_000.0), st.integers(1, 12))
def test_few_warps_wait_for_their_own(latency, warps):
    """Eq. 22: Mem_cycles + Comp_cycles + Comp_p (N - 1), where the balance overlaps the others' computation."""
    x = machine(mem_latency=latency, active_blocks=float(warps), blocks=float(warps), departure_coal=0.5)
    assume(hong_kim_2009.equation_taken(x) == 22.0)
    published, (found, t) = hong_kim_2009.predict(x), balanced(x)
    others = float(t.comp_cycles / 2 * (t.warps - 1))
    assert float(published.total) - found == pytest.approx(others, abs=1e-6)
