"""The simpler models: units, arrays, more never hurts, and where it does as their critics found."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import positive
from warpbound.models import baghsorkhi_2010 as baghsorkhi
from warpbound.models import chen_aamodt_2009 as chen
from warpbound.models import cuda_guide_2015 as guide
from warpbound.models import huang_2014 as huang
from warpbound.models import saavedra_barrera_1990 as saavedra
from warpbound.models import sim_2012 as sim
from warpbound.models import zhang_owens_2011 as zhang
from warpbound.models.huang_2014 import Interval

quick = settings(max_examples=40, deadline=None)


GUIDE = {
    "warps": positive(1, 64), "alu_per_mem": positive(0.1, 500),
    "mem_latency": positive(50, 1000), "inst_time": positive(0.1, 8),
}  # fmt: skip
SAAVEDRA = {
    "threads": positive(1, 64), "run": positive(1, 500), "latency": positive(1, 1000), "switch": positive(0, 50),
}  # fmt: skip
CHEN = {"threads": positive(1, 64), "alone": positive(0.001, 1)}
BAGHSORKHI = {
    "warps": positive(1, 64), "alu_insts": positive(0, 1000), "mem_insts": positive(1, 100),
    "issue_time": positive(0.25, 8), "alu_latency": positive(2, 40), "mem_time": positive(1, 100),
    "mem_latency": positive(50, 1000), "sync_insts": positive(0, 10),
}  # fmt: skip
ZHANG = {
    "alu_insts": positive(0.1, 1000), "mem_insts": positive(0.1, 100),
    "alu_rate": positive(0.1, 128), "mem_rate": positive(0.01, 32),
}  # fmt: skip
SIM = {
    "warps": positive(1, 64), "insts": positive(1, 1000), "mem_insts": positive(0.1, 100),
    "alu_latency": positive(2, 40), "alu_time": positive(0.25, 8), "mem_latency": positive(50, 1000),
    "mwp_peak_bw": positive(1, 64), "departure_delay": positive(0.1, 20),
}  # fmt: skip
HUANG = {
    "warps": positive(1, 64), "first": positive(1, 10), "alu_latency": positive(2, 40),
    "mem_latency": positive(50, 1000), "executions": positive(0.1, 100),
    "requests": positive(0, 4), "cores": positive(1, 100), "service": positive(0.01, 2),
}  # fmt: skip


def warp(**draw: Any) -> huang.Inputs:
    """An interval that ends in an access, and others that end in arithmetic."""
    return huang.Inputs(
        draw["warps"],
        (
            Interval(draw["first"], draw["mem_latency"], requests=draw["requests"]),
            Interval(1.0, draw["alu_latency"], executions=draw["executions"]),
        ),
        draw["cores"],
        draw["service"],
    )


ANSWERS: dict[str, tuple[dict[str, Any], Callable[..., Any]]] = {
    "guide": (GUIDE, lambda **d: guide.predict(guide.Inputs(**d)).rate),
    "guide needs": (GUIDE, lambda **d: guide.warps_needed(guide.Inputs(**d))),
    "saavedra": (SAAVEDRA, lambda **d: saavedra.predict(saavedra.Inputs(**d)).rate),
    "agarwal": (SAAVEDRA, lambda **d: saavedra.predict_agarwal(saavedra.Inputs(**d)).rate),
    "chen": (CHEN, lambda **d: chen.predict(chen.Inputs(**d)).rate),
    "baghsorkhi": (BAGHSORKHI, lambda **d: baghsorkhi.predict(baghsorkhi.Inputs(**d)).total),
    "zhang": (ZHANG, lambda **d: zhang.predict(zhang.Inputs(**d)).rate),
    "sim": (SIM, lambda **d: sim.predict(sim.Inputs(**d)).total),
    "huang": (HUANG, lambda **d: huang.predict(warp(**d)).total),
    "huang greedy": (HUANG, lambda **d: huang.predict_greedy(warp(**d)).total),
}


@pytest.mark.parametrize("name", ANSWERS)
@quick
@given(data=st.data())
def test_arrays_agree_with_scalars(name: str, data: Any) -> None:
    fields, answer = ANSWERS[name]
    draws = data.draw(st.lists(st.fixed_dictionaries(fields), min_size=1, max_size=4))
    together = answer(**{field: np.array([draw[field] for draw in draws]) for field in fields})
    assert np.shape(together) == (len(draws),)
    for i, draw in enumerate(draws):
        assert answer(**draw) == pytest.approx(together[i], rel=1e-12)


# Chen and Aamodt's unit is the cycle that issues one instruction and Huang's the one that a warp does not wait: fixed.
TIMES = {  # fields in the unit of time, or in its reciprocal, and the power of the change in which the answer grows
    "guide": (("mem_latency", "inst_time"), -1),
    "guide needs": (("mem_latency", "inst_time"), 0),
    "saavedra": (("run", "latency", "switch"), 0),
    "agarwal": (("run", "latency", "switch"), 0),
    "baghsorkhi": (("issue_time", "alu_latency", "mem_time", "mem_latency"), 1),
    "sim": (("alu_latency", "alu_time", "mem_latency", "departure_delay"), 1),
    "zhang": (("alu_rate", "mem_rate"), 1),
}


@pytest.mark.parametrize("name", TIMES)
@quick
@given(data=st.data(), unit=positive(0.01, 100))
def test_a_change_of_time_unit_only_rescales(name: str, data: Any, unit: float) -> None:
    fields, answer = ANSWERS[name]
    cycles, power = TIMES[name]
    draw = data.draw(st.fixed_dictionaries(fields))
    changed = draw | {field: draw[field] * unit for field in cycles}
    assert answer(**changed) == pytest.approx(answer(**draw) * unit**power)


HELPS = {
    "guide": ("warps",),
    "saavedra": ("threads", "run"),
    "agarwal": ("threads",),
    "chen": ("threads", "alone"),
    "zhang": ("alu_rate", "mem_rate"),
}


@pytest.mark.parametrize("name", HELPS)
@quick
@given(data=st.data(), factor=positive(1, 10))
def test_more_never_hurts(name: str, data: Any, factor: float) -> None:
    fields, answer = ANSWERS[name]
    draw = data.draw(st.fixed_dictionaries(fields))
    for field in HELPS[name]:
        grown = min(draw[field] * factor, 1.0) if field == "alone" else draw[field] * factor
        assert answer(**draw | {field: grown}) >= answer(**draw) * (1 - 1e-12)


@quick
@given(draw=st.fixed_dictionaries(GUIDE), factor=positive(1, 10))
def test_a_longer_wait_needs_more_warps(draw: dict[str, float], factor: float) -> None:
    answer = ANSWERS["guide needs"][1]
    assert answer(**draw | {"mem_latency": draw["mem_latency"] * factor}) >= answer(**draw)


@quick
@given(draw=st.fixed_dictionaries(BAGHSORKHI), factor=positive(1, 10))
def test_slower_memory_never_speeds_a_warp_up(draw: dict[str, float], factor: float) -> None:
    answer = ANSWERS["baghsorkhi"][1]
    for field in ("mem_time", "mem_latency"):
        assert answer(**draw | {field: draw[field] * factor}) >= answer(**draw) * (1 - 1e-12)


@quick
@given(draw=st.fixed_dictionaries(SIM), factor=positive(1, 10))
def test_more_bandwidth_never_slows_sim_down_while_memory_dominates(draw: dict[str, float], factor: float) -> None:
    x = sim.Inputs(**draw)
    wider = dataclasses.replace(x, mwp_peak_bw=x.mwp_peak_bw * factor)
    assert sim.memory(wider) <= sim.memory(x) * (1 + 1e-12)
    if sim.cwp(x) <= sim.mwp(x) or sim.cwp(wider) > sim.mwp(wider):
        assert sim.predict(wider).total <= sim.predict(x).total * (1 + 1e-9)


def test_slower_arithmetic_may_speed_baghsorkhi_up() -> None:
    """More cycles between waits hide more of the waits: that the paper's warps take turns shows here."""
    x = baghsorkhi.Inputs(16.0, 110.0, 10.0, 4.0, 20.0, 37.0, 444.0)
    faster = dataclasses.replace(x, issue_time=1.0, alu_latency=5.0)
    assert baghsorkhi.predict(faster).total > baghsorkhi.predict(x).total


@pytest.mark.parametrize("alpha, faster", [(11.0, [7, 8, 9, 10, 11]), (32.0, [2, 3, 4])])
def test_baghsorkhi_grows_faster_than_its_warps(alpha: float, faster: list[int]) -> None:
    """Section 7.2: a warp more raises the throughput per warp, on the G80 at these occupancies and no other."""
    n = np.arange(1.0, 25.0)
    rate = baghsorkhi.lanes_per_cycle(baghsorkhi.Inputs(n, alpha * 1e9, 1e9, 4.0, 20.0, 37.0, 444.0))
    steps = np.diff(rate / n) > 1e-9 * rate[1:]
    assert n[1:][steps].tolist() == faster


@quick
@given(n=st.integers(1, 24), alpha=st.floats(0, 512))
def test_baghsorkhi_s_longest_path_is_the_summary_that_the_thesis_prints(n: int, alpha: float) -> None:
    """Section 7.2: max(37, x, 440 - (n - 2) x) with x = alpha max(4, 20 / n) + 4, of very many turns."""
    turns = 1e12
    found = baghsorkhi.predict(baghsorkhi.Inputs(float(n), alpha * turns, turns, 4.0, 20.0, 37.0, 444.0)).total / turns
    x = alpha * max(4.0, 20.0 / n) + 4.0
    assert found == pytest.approx(max(37.0, x, 440.0 - (n - 2) * x), rel=1e-9)


def test_baghsorkhi_without_accesses_is_arithmetic() -> None:
    x = baghsorkhi.Inputs(np.array([1.0, 24.0]), 100.0, 0.0, 4.0, 20.0, 37.0, 444.0)
    assert baghsorkhi.predict(x).total.tolist() == [2000.0, 400.0]
    assert baghsorkhi.lanes_per_cycle(x).tolist() == [1.6, 8.0]


@quick
@given(draw=st.fixed_dictionaries(SIM))
def test_sim_takes_no_less_than_either_part(draw: dict[str, float]) -> None:
    x = sim.Inputs(**draw)
    total = sim.predict(x).total
    one = np.where(sim.cwp(x) > sim.mwp(x), 0.0, sim.computation(x) / x.warps)
    assert total == pytest.approx(np.maximum(sim.computation(x), sim.memory(x) + one))


def test_few_warps_are_slower_in_sim_than_latency_alone() -> None:
    x = sim.Inputs(np.array([1.0, 2.0, 4.0]), 1.0, 1.0, 18.0, 1.0, 513.0, 30.7)
    assert (sim.memory(x) / 513).tolist() == pytest.approx([1.0, 2.0, 4 / 3])


def test_huang_is_singular_where_bandwidth_is_used_up() -> None:
    """Section 7.7: on the paper's own GPU beyond 28.125 warps; fewer cycles per access than none."""
    x = warp(warps=np.array([20.0, 28.0, 28.2, 29.0]), first=1.0, alu_latency=25.0, mem_latency=300.0,
             executions=16.0, requests=1.0, cores=16.0, service=2 / 3)  # fmt: skip
    delay = huang.bandwidth_delay(x, x.intervals[0])
    assert huang.is_physical(x).tolist() == [True, True, False, False]
    assert delay[1] > 10 * delay[0] > 0 > delay[3] > delay[2]
    assert huang.predict(x).total[2] < 0


@quick
@given(draw=st.fixed_dictionaries(HUANG))
def test_huang_without_requests_is_the_latency_bound(draw: dict[str, float]) -> None:
    x = warp(**draw | {"requests": 0.0, "first": 1.0})
    alone = draw["mem_latency"] + draw["executions"] * draw["alu_latency"]
    per_inst = alone / (1 + draw["executions"]) / draw["warps"]
    assert huang.predict(x).total == pytest.approx(per_inst)
    assert huang.predict(x).parts["contention"] == 0
    assert huang.predict_greedy(x).total >= huang.predict(x).total * (1 - 1e-12)
    assert huang.is_physical(x)


@quick
@given(warps=positive(1, 5000), latency=positive(2, 600))
def test_huang_greedy_has_its_closed_form_for_one_kind(warps: float, latency: float) -> None:
    x = huang.Inputs(warps, (Interval(1.0, latency),))
    crowded = (warps - 1) * (1 - 1 / latency) + 1
    assert huang.predict_greedy(x).total == pytest.approx(max(latency, crowded) / warps)


@quick
@given(draw=st.fixed_dictionaries(HUANG), times=st.integers(2, 9))
def test_huang_counts_repetitions_once(draw: dict[str, float], times: int) -> None:
    x = warp(**draw)
    longer = [dataclasses.replace(i, executions=i.executions * times) for i in x.intervals]
    assert huang.predict(dataclasses.replace(x, intervals=tuple(longer))).total == pytest.approx(huang.predict(x).total)


@quick
@given(draw=st.fixed_dictionaries(SAAVEDRA))
def test_bounds_meet_at_the_threads_needed(draw: dict[str, float]) -> None:
    x = saavedra.Inputs(**draw)
    for needed, predict in (
        (saavedra.threads_needed, saavedra.predict),
        (saavedra.threads_needed_agarwal, saavedra.predict_agarwal),
    ):
        met = predict(dataclasses.replace(x, threads=needed(x))).limits
        assert met["latency"] == pytest.approx(float(met["switching"]))
    free = dataclasses.replace(x, switch=0.0)
    assert saavedra.threads_needed(free) == pytest.approx(float(saavedra.threads_needed_agarwal(free)))


@quick
@given(draw=st.fixed_dictionaries(GUIDE))
def test_guide_needs_a_little_more_when_it_counts_the_access(draw: dict[str, float]) -> None:
    x = guide.Inputs(**draw)
    met = guide.predict(dataclasses.replace(x, warps=guide.warps_needed(x))).limits
    assert met["latency"] == pytest.approx(float(met["issue"]))
    issued = x.alu_per_mem * guide.warps_needed(x)
    assert issued == pytest.approx(guide.insts_to_issue(x))
    assert (guide.warps_needed_refined(x) - 1) * (x.alu_per_mem + 1) == pytest.approx(guide.insts_to_issue(x))


@quick
@given(draw=st.fixed_dictionaries(CHEN))
def test_chen_and_aamodt_s_models_are_ordered(draw: dict[str, float]) -> None:
    x = chen.Inputs(**draw)
    slack = 1e-12
    assert chen.ignored(x) <= chen.probabilistic(x) + slack <= min(1.0, chen.linear(x)) + 2 * slack


@pytest.mark.parametrize(
    "limits, name",
    [
        (guide.predict(guide.Inputs(1.0, 30.0, 600.0, 4.0)).limits, "latency"),
        (guide.predict(guide.Inputs(50.0, 30.0, 600.0, 4.0)).limits, "issue"),
        (saavedra.predict(saavedra.Inputs(1.0, 10.0, 60.0, 5.0)).limits, "latency"),
        (saavedra.predict(saavedra.Inputs(50.0, 10.0, 60.0, 5.0)).limits, "switching"),
        (zhang.predict(zhang.Inputs(100.0, 1.0, 8.0, 0.4)).limits, "arithmetic"),
        (zhang.predict(zhang.Inputs(1.0, 1.0, 8.0, 0.4)).limits, "memory"),
    ],
)
def test_each_earlier_bound_is_met(limits: dict[str, Any], name: str) -> None:
    others = [float(limit) for other, limit in limits.items() if other != name]
    assert float(limits[name]) < 0.5 * min(others)


def test_zhang_owens_on_modelled_curves_has_no_cusp() -> None:
    """Section 7.10: the need never exceeds that of one kind alone."""
    n, alpha = np.arange(1.0, 33.0), 2.0 ** np.arange(0, 9)[:, None]
    rate = zhang.predict(zhang.Inputs(alpha, 1.0, zhang.modelled(n, 24.0, 0.25), zhang.modelled(n, 434.0, 0.0277))).rate
    needed = 1 + (rate >= 0.9 * rate.max(axis=1, keepdims=True)).argmax(axis=1)
    assert needed.max() == needed[0]
    assert (np.diff(needed) <= 0).all()
