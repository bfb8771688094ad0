"""What must hold of Hong and Kim's model for any input, and against warps that take turns one by one."""

import dataclasses
import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.strategies import grown, positive
from warpbound.models import hong_kim_2009 as hong_kim

quick = settings(max_examples=60, deadline=None)


counts = st.just(0.0) | positive(1, 500)
hong_kim_draws = st.fixed_dictionaries(
    {
        "freq": positive(1e8, 3e9),
        "mem_bandwidth": positive(1e9, 1e12),
        "mem_latency": positive(50, 1000),
        "departure_uncoal": positive(1, 50),
        "departure_coal": positive(1, 50),
        "threads_per_block": st.integers(1, 512),
        "blocks": st.integers(1, 1000),
        "active_sms": st.integers(1, 30),
        "active_blocks": st.integers(1, 8),
        "comp_insts": counts,
        "uncoal_mem_insts": counts,
        "coal_mem_insts": counts,
        "synch_insts": counts,
        "uncoal_per_mw": st.integers(2, 32),
        "load_bytes": positive(32, 512),
        "m_factor": positive(1, 35),
    }
)
hong_kims = st.builds(lambda draw: hong_kim.Inputs(**draw), hong_kim_draws)
CYCLES = ["mem_latency", "departure_uncoal", "departure_coal", "issue_cycles", "freq"]


@quick
@given(x=hong_kims, unit=positive(0.01, 100))
def test_hong_kim_rescales_with_the_cycle(x: hong_kim.Inputs, unit: float) -> None:
    finer = x
    for field in CYCLES:
        finer = grown(finer, field, unit)
    assert hong_kim.predict(finer).total == pytest.approx(hong_kim.predict(x).total * unit)
    assert hong_kim.seconds(finer) == pytest.approx(hong_kim.seconds(x))


@quick
@given(draws=st.lists(hong_kim_draws, min_size=1, max_size=4))
def test_hong_kim_broadcasts(draws: list[dict[str, float]]) -> None:
    together = hong_kim.Inputs(**{name: np.array([draw[name] for draw in draws]) for name in draws[0]})
    for predict in (hong_kim.predict, hong_kim.predict_as_published):
        for i, draw in enumerate(draws):
            alone = predict(hong_kim.Inputs(**draw))
            assert alone.total == pytest.approx(predict(together).total[i], rel=1e-12)
            assert all(np.isfinite(part) for part in alone.parts.values())
        assert all((part >= 0).all() for part in hong_kim.predict(together).parts.values())
    assert np.all(np.isfinite(hong_kim.cpi(together)))
    assert np.all(np.isfinite(hong_kim.issue_floor(together)))


@quick
@given(x=hong_kims)
def test_hong_kim_without_memory_only_computes(x: hong_kim.Inputs) -> None:
    none = dataclasses.replace(x, uncoal_mem_insts=0.0, coal_mem_insts=0.0, comp_insts=10.0)
    parts = hong_kim.predict(none).parts
    assert parts["memory"] == 0
    assert hong_kim.cpi(none) == pytest.approx(hong_kim.issue_floor(none))
    assert hong_kim.terms(none).cwp == 1
    nothing = dataclasses.replace(none, comp_insts=0.0)
    assert hong_kim.predict(nothing).total == 0
    assert hong_kim.terms(nothing).cwp == 1
    assert hong_kim.cpi(nothing) == hong_kim.issue_floor(nothing) == nothing.issue_cycles


@quick
@given(x=hong_kims, factor=positive(1, 4))
def test_more_work_never_takes_hong_kim_less(x: hong_kim.Inputs, factor: float) -> None:
    for field in ("blocks", "synch_insts"):
        assert hong_kim.predict(grown(x, field, factor)).total >= hong_kim.predict(x).total * (1 - 1e-12)


@quick
@given(x=hong_kims, factor=positive(1, 10))
def test_bandwidth_helps_hong_kim_within_a_case(x: hong_kim.Inputs, factor: float) -> None:
    """While the same equation holds; Eq. 23 needs two memory instructions or N warps to spare for it."""
    x = dataclasses.replace(x, coal_mem_insts=x.coal_mem_insts + 2.0, synch_insts=0.0)
    wider = grown(x, "mem_bandwidth", factor)
    lowest = hong_kim.terms(x).mwp
    if hong_kim.equation_taken(x) == hong_kim.equation_taken(wider) and lowest >= 2:
        assert hong_kim.predict(wider).total <= hong_kim.predict(x).total * (1 + 1e-9)


TILED = hong_kim.Inputs(1e9, 80e9, 420, 10, 4, 128, 80, 16, 5, 27, 6, 0, 6, 32, 128)  # Table 2
STREAM = dataclasses.replace(TILED, comp_insts=200, uncoal_mem_insts=0, coal_mem_insts=6)


def test_bandwidth_may_hurt_hong_kim_where_the_case_changes() -> None:
    """Eq. 23 leaves out the computation that memory covers, Eq. 24 counts it: at MWP = CWP time jumps."""
    below = dataclasses.replace(STREAM, mem_bandwidth=19.5e9)
    above = dataclasses.replace(STREAM, mem_bandwidth=20e9)
    assert (hong_kim.equation_taken(below), hong_kim.equation_taken(above)) == (23, 24)
    assert hong_kim.predict(above).total > 1.2 * hong_kim.predict(below).total
    assert hong_kim.cpi(below) < hong_kim.issue_floor(below)  # the smaller one cannot be


def test_every_part_and_limit_of_hong_kim_can_be_the_largest() -> None:
    cases = {
        "memory": TILED,
        "computation": dataclasses.replace(STREAM, mem_bandwidth=80e9),
        "barrier": dataclasses.replace(TILED, synch_insts=60),
    }
    for part, x in cases.items():
        assert hong_kim.predict(x).bottleneck == part
    limits = {
        "departure": TILED,
        "bandwidth": dataclasses.replace(STREAM, mem_bandwidth=10e9),
        "warps": dataclasses.replace(STREAM, active_blocks=1),
    }
    for limit, x in limits.items():
        assert hong_kim.mwp_limits(x).bottleneck == limit
        assert hong_kim.mwp_limits(x).rate == hong_kim.terms(x).mwp


def test_independent_requests_shorten_a_lone_warp_to_the_warps_they_stand_for() -> None:
    lone = dataclasses.replace(STREAM, active_blocks=1, threads_per_block=32)
    pairs = dataclasses.replace(lone, ind_mem_req=3.0)
    half = hong_kim.predict(lone).parts["memory"] / 2
    assert hong_kim.predict(pairs).parts["memory"] == pytest.approx(half)
    assert hong_kim.terms(pairs).mwp == 2 * hong_kim.terms(lone).mwp


def alternate(n: int, periods: int, computation: int, memory: int, mwp: int) -> int:
    """Cycles until n warps have computed (one at a time) and waited (mwp at a time) `periods` times."""
    ready, left, ports, sm, end = [(0, w) for w in range(n)], [periods] * n, [0] * mwp, 0, 0
    while ready:
        now, w = heapq.heappop(ready)
        sm = max(sm, now) + computation
        done = max(heapq.heappop(ports), sm) + memory
        heapq.heappush(ports, done)
        left[w], end = left[w] - 1, max(end, done)
        if left[w]:
            heapq.heappush(ready, (done, w))
    return end


PERIODS = [
    (n, periods, computation, memory, mwp)
    for n in (1, 2, 4, 8, 24)
    for periods in (1, 2, 4, 8)
    for computation in (1, 2, 5)
    for memory in (3, 10, 100)
    for mwp in (1, 2, 4, 8, 32)
]


def toy(n: int, periods: int, computation: int, memory: int, mwp: int) -> hong_kim.Inputs:
    """A kernel whose periods last as told: one memory instruction each, issued for `computation` cycles."""
    return hong_kim.Inputs(
        freq=1, mem_bandwidth=1e9, mem_latency=memory, departure_uncoal=1, departure_coal=memory / mwp,
        threads_per_block=32 * n, blocks=1, active_sms=1, active_blocks=1, comp_insts=0,
        uncoal_mem_insts=0, coal_mem_insts=periods, synch_insts=0, uncoal_per_mw=1, load_bytes=1,
        issue_cycles=computation,
    )  # fmt: skip


def test_hong_kim_is_what_alternating_warps_take() -> None:
    """Eqs. 22 and 24 exactly, Eq. 23 never more; Eq. 1 exactly where every turn is full."""
    seen = set()
    for case in PERIODS:
        n, periods, computation, memory, mwp = case
        taken, simulated = int(hong_kim.equation_taken(toy(*case))), alternate(*case)
        predicted = hong_kim.predict(toy(*case)).total
        seen.add(taken)
        if taken == 23:
            assert predicted <= simulated
        else:
            assert predicted == pytest.approx(simulated)
        if mwp < n and n % mwp == 0 and memory >= computation * mwp:
            figure = hong_kim.periods.memory_dominates_by_figure(memory * periods, computation, n, mwp)
            assert figure.total == pytest.approx(simulated)
    assert seen == {22, 23, 24}


def test_published_dispatch_falls_short_of_alternating_warps() -> None:
    case = (8, 1, 4, 3, 8)  # case 5, Figure 7
    assert hong_kim.predict_as_published(toy(*case)).total < alternate(*case)
    assert hong_kim.predict(toy(*case)).total == alternate(*case)


def test_published_equations_are_literal() -> None:
    """Eq. 17 caps MWP at N whatever Eq. 29 gives, and Eq. 22 does not divide by MWP."""
    x = dataclasses.replace(toy(1, 1, 4, 3, 8), freq=1e9, mem_latency=420.0, issue_cycles=4.0, threads_per_block=32.0,
                            active_blocks=1.0, comp_insts=20.0, coal_mem_insts=10.0, uncoal_mem_insts=0.0,
                            ind_mem_req=9.0, mem_bandwidth=1e15, blocks=1.0, active_sms=1.0)  # fmt: skip
    assert hong_kim.terms_as_published(x).mwp == 1
    assert hong_kim.predict_as_published(x).total == 4320
    assert hong_kim.predict(x).total == 540  # ten requests in flight together
    narrow = dataclasses.replace(x, ind_mem_req=0.0, active_blocks=8.0, load_bytes=128.0, mem_bandwidth=1e7)
    parts = hong_kim.predict_as_published(narrow).parts
    assert parts["computation"] < 0  # Comp_p (MWP - 1) with MWP below 1
    assert hong_kim.predict(narrow).parts["computation"] == 0


def segments(size: int, increment: int, start: int) -> int:
    """Aligned pieces of memory that 16 threads touch, by their addresses."""
    piece = hong_kim.coalescing.segment_bytes(size)
    touched = {
        (start + lane * increment) * size + byte for lane in range(16) for byte in (0, size - 1)
    }
    return len({address // piece for address in touched})


def test_coalescing_rule_is_exact_when_aligned_and_mostly_too_high_otherwise() -> None:
    over = under = 0
    for size in (1, 2, 4, 8, 16):
        assert hong_kim.coalescing.transactions(size, 1, [0]) == segments(size, 1, 0)
        for increment in range(1, 33):
            for start in range(64):
                rule = hong_kim.coalescing.transactions(size, increment, [start])
                over += rule > segments(size, increment, start)
                under += rule < segments(size, increment, start)
    assert over > 50 * under > 0
