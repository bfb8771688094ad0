"""Whatever is simulated: nothing is lost, nothing is faster than its parts, the same seed gives the same events."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.random_experiments import experiments
from warpbound.errors import InputError
from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    deterministic,
    empirical,
    exponential,
    two_exponentials,
)
from warpbound.simulate.warp_simulation import Outcome, run
from warpbound.simulate.warp_state import Reason

FEW = settings(max_examples=40)


def executed(x: Experiment) -> np.ndarray:
    """Times each step is issued in the whole launch."""
    counts = np.zeros(len(x.steps), np.int64)
    for block in range(x.launch.blocks):
        for stream in x.launch.warps[block % len(x.launch.warps)]:
            path = np.asarray(x.streams[stream].steps, np.int64)
            counts += np.bincount(path, minlength=len(x.steps)) * x.streams[stream].repeats
    return counts


@FEW
@given(experiments())
def test_every_instruction_of_every_warp_is_issued_once(x: Experiment) -> None:
    done = run(x)
    assert done.complete
    np.testing.assert_array_equal(done.issued, executed(x))
    assert np.count_nonzero(done.log["kind"] == "issue") == done.issued.sum()
    assert np.all(done.ended >= done.started)
    requests = done.log[done.log["kind"] == "request"]
    for warp in np.unique(requests["warp"]):  # the slowest transaction counts, not the last
        assert done.ended[warp] >= requests["until"][requests["warp"] == warp].max() - 1e-6


@FEW
@given(experiments())
def test_littles_law_for_warps(x: Experiment) -> None:
    """Mean occupancy, from books kept while running, is warps per cycle times their mean latency."""
    done = run(x)
    assert done.occupancy == pytest.approx(len(done.latencies) / done.cycles * done.latencies.mean(), rel=1e-9)
    times, warps = done.occupancy_over_time()
    assert float(np.sum(np.diff(times) * warps[:-1])) == pytest.approx(done.occupancy * done.cycles, rel=1e-9)
    assert warps.max() <= x.launch.resident * len(x.launch.warps[0])


@FEW
@given(experiments(), st.floats(0.1, 0.9))
def test_littles_law_for_warps_of_a_run_that_is_cut(x: Experiment, share: float) -> None:
    """Mean occupancy is what all warps spent there before the cut, those on the way included."""
    whole = run(x)
    cut = run(replace(x, horizon=share * whole.cycles))
    assert cut.cycles <= whole.cycles
    left = np.where(np.isnan(cut.ended), cut.cycles, cut.ended)
    spent = (left - cut.started)[~np.isnan(cut.started)]
    assert cut.occupancy * cut.cycles == pytest.approx(spent.sum(), rel=1e-9, abs=1e-6)


@FEW
@given(experiments())
def test_littles_law_for_memory(x: Experiment) -> None:
    """Transactions in flight, counted at the events of the log, are their rate times their latency."""
    done = run(x)
    rows = done.log[done.log["kind"] == "request"]
    assert len(rows) == done.requests
    assert done.in_memory * done.cycles == pytest.approx(float((rows["until"] - rows["cycle"]).sum()), rel=1e-9)
    if x.machine.room and len(rows) and all(step.access is None or step.access.spread == 0 for step in x.steps):
        moments = np.concatenate([rows["until"] - 20.0, rows["until"]])
        change = np.concatenate([np.ones(len(rows)), -np.ones(len(rows))])
        order = np.lexsort((change, moments))  # those that leave go first
        assert np.cumsum(change[order]).max() <= x.machine.room


@FEW
@given(experiments())
def test_every_cycle_of_every_warp_has_one_reason(x: Experiment) -> None:
    done = run(x)
    assert all(spent >= 0 for spent in done.stalls.values())
    assert sum(done.stalls.values()) == pytest.approx(done.latencies.sum(), rel=1e-9)
    assert done.stalls["selected"] <= done.issued.sum()


@FEW
@given(experiments())
def test_no_rate_beyond_what_a_resource_allows(x: Experiment) -> None:
    done = run(x)
    counts = executed(x)
    port = sum(n * s.issue for n, s in zip(counts, x.steps, strict=True) if not s.pairs)
    paired = any(s.pairs for s in x.steps)
    if not paired:
        last = max(s.issue for s in x.steps)
        assert port <= x.machine.schedulers * (done.cycles + last)
    for pipe in x.machine.pipes:
        busy = sum(n * s.busy for n, s in zip(counts, x.steps, strict=True) if s.pipe == pipe.name)
        units = 1 if pipe.shared else x.machine.schedulers
        assert busy <= units * (done.cycles + pipe.ahead + 3.0)
    second = [s for s in x.machine.stations if s.name == "first"]  # a deterministic one
    for station in second:
        taken = sum(
            n * s.access.lines * s.access.demand[station.name]
            for n, s in zip(counts, x.steps, strict=True)
            if s.access
        )
        assert taken <= done.cycles + 2.0


@FEW
@given(experiments())
def test_no_warp_is_faster_than_its_own_instructions(x: Experiment) -> None:
    """Stalls of a warp add up; pairs issue together."""
    done = run(x)
    size = len(x.launch.warps[0])
    for warp, latency in enumerate(done.ended - done.started):
        stream = x.streams[x.launch.warps[warp // size % len(x.launch.warps)][warp % size]]
        path = [x.steps[index] for index in stream.steps] * stream.repeats
        assert latency >= sum(step.stall for step in path) - 1e-9


@FEW
@given(experiments())
def test_the_same_seed_gives_the_same_events(x: Experiment) -> None:
    once, again = run(x), run(x)
    np.testing.assert_array_equal(once.log, again.log)


@FEW
@given(experiments(), st.randoms(use_true_random=False))
def test_permuting_identical_warps_changes_nothing(x: Experiment, random: st.DataObject) -> None:
    """Every warp gets a stream of its own; those that were the same stream are then exchanged."""
    size, rows = len(x.launch.warps[0]), len(x.launch.warps)
    same = [x.streams[stream] for row in x.launch.warps for stream in row]
    origin = [stream for row in x.launch.warps for stream in row]
    places = list(range(len(same)))
    for stream in set(origin):
        mine = [place for place in places if origin[place] == stream]
        shuffled = mine[:]
        random.shuffle(shuffled)
        for place, other in zip(mine, shuffled, strict=True):
            places[place] = other
    warps = tuple(tuple(places[row * size : (row + 1) * size]) for row in range(rows))
    apart = replace(x, streams=tuple(same), launch=replace(x.launch, warps=warps))
    np.testing.assert_array_equal(run(x).log, run(apart).log)


@FEW
@given(experiments())
def test_the_horizon_cuts_and_changes_nothing_before(x: Experiment) -> None:
    whole = run(x)
    cut = run(replace(x, horizon=np.floor(whole.cycles / 2)))
    before = [row for row in cut.log.tolist() if row[0] < np.floor(whole.cycles / 2)]
    assert before == [row for row in whole.log.tolist() if row[0] < np.floor(whole.cycles / 2)][: len(before)]


# ---------------------------------------------------------------- mean-value laws of single parts


def waiting(load: float, service: np.ndarray) -> Outcome:
    """Many independent sources, each asking seldom, at one station of ten cycles: nearly Poisson arrivals."""
    sources = 400
    think = sources * 10.0 / load
    endless = 1 << 40
    ask = Step("ask", issue=0, stall=0, latency=1, access=Access(demand={"s": 10.0}), writes="v", waits=("t",))
    rest = Step("think", issue=0, stall=0, latency=0, access=Access(spread=think), writes="t", waits=("v",))
    return run(
        Experiment(
            Machine(stations=(Station("s", service),), tail=exponential()),
            (ask, rest),
            (Stream((0, 1), endless),),
            Launch(((0,),), resident=sources, blocks=sources, block_interval=think / sources),
            horizon=100 * think,
        )
    )


@pytest.mark.parametrize("load", [0.3, 0.6])
@pytest.mark.parametrize("variation", [0.0, 1.0, 5.0])
def test_waiting_follows_pollaczek_and_khinchine(load: float, variation: float) -> None:
    """M/G/1: mean waiting is s (1 + v) / 2 rho / (1 - rho); Gross et al., Fundamentals of Queueing Theory."""
    tables = {0.0: deterministic(), 1.0: exponential(), 5.0: two_exponentials(5.0)}
    done = waiting(load, tables[variation])
    used = done.rates[0] * 10.0
    squared = float((tables[variation] ** 2).mean()) - 1.0
    expected = 10.0 * (1.0 + squared) / 2.0 * used / (1.0 - used)
    waited = done.request_waiting * done.requests / done.issued[0]
    assert waited == pytest.approx(expected, rel=0.12)


MEASURED = empirical(np.array([0, 0.5, 1]), np.array([1.0, 2.0, 5.0]))


@pytest.mark.parametrize("table", [exponential(), two_exponentials(3.0), MEASURED])
def test_distributions_have_mean_one(table: np.ndarray) -> None:
    assert table.mean() == pytest.approx(1.0, rel=1e-9)
    assert np.all(np.diff(table) >= 0)


@pytest.mark.parametrize("variation", [1.5, 4.0, 8.0])
def test_two_exponentials_vary_as_asked(variation: float) -> None:
    table = two_exponentials(variation)
    assert (table**2).mean() - 1.0 == pytest.approx(variation, rel=0.06)


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(0, 6), st.sampled_from([(16.0, 1.0), (1.0, 1.0), (1.0, 4.0)]))
def test_the_least_bound_holds(warps: int, alpha: int, busy: tuple[float, float]) -> None:
    """Latency, memory, arithmetic or issue: never more than the tightest."""
    load = Step("load", latency=20, access=Access(demand={"s": busy[0]}), writes="v", waits=("v",))
    add = Step("add", pipe="alu", busy=busy[1], latency=6, writes="v", waits=("v",))
    x = Experiment(
        Machine(policy="oldest", pipes=(Pipe("alu"),), stations=(Station("s"),)),
        (load, add),
        (Stream((0,) + (1,) * alpha, 200),),
        Launch(((0,),), resident=warps, blocks=warps),
    )
    bound = min(warps / (20 + 6 * alpha), 1 / busy[0], 1 / busy[1] / alpha if alpha else np.inf, 1 / (alpha + 1))
    rate = run(x).rates[0]
    assert 0.5 * bound <= rate <= bound * (1 + 1e-9)  # warps that start together may lock into a bad phase


# ---------------------------------------------------------------- what is refused


def test_a_barrier_that_some_warps_never_reach_is_no_deadlock_once_they_have_ended() -> None:
    meet = Step("barrier", barrier=True, latency=3)
    work = Step("work", stall=50)
    x = Experiment(Machine(), (meet, work), (Stream((0, 1)), Stream((1,))), Launch(((0, 1),)))
    assert run(x).ended.tolist() == [101.0, 51.0]


def test_work_may_wait_in_front_of_a_pipe_as_far_as_it_is_said() -> None:
    """A pipe of 4 cycles: without room a warp issues every 4 cycles, with 8 cycles of room the first three at once."""
    step = Step("access", pipe="lsu", busy=4.0)
    for ahead, expected in ((0.0, [0, 4, 8, 12]), (8.0, [0, 1, 2, 4])):
        machine = Machine(pipes=(Pipe("lsu", ahead=ahead),))
        x = Experiment(machine, (step,), (Stream((0,) * 4),), Launch(((0,),)), log_rows=9)
        log = run(x).log
        assert log["cycle"][log["kind"] == "issue"].tolist() == expected


def test_a_load_waits_for_its_slowest_transaction() -> None:
    load = Step("load", latency=100, access=Access(lines=8, spread=50.0), writes="v", waits=("v",))
    log = run(Experiment(Machine(), (load,), (Stream((0,), 20),), Launch(((0,),)), log_rows=1000)).log
    issued = log["cycle"][log["kind"] == "issue"][1:]
    slowest = log["until"][log["kind"] == "request"].reshape(-1, 8).max(axis=1)[:-1]
    np.testing.assert_array_equal(issued, np.ceil(slowest))


def test_sources_may_not_be_overwritten_before_they_are_read() -> None:
    store = Step("store", frees="datum", source_wait=11.0)
    write = Step("write", waits=("datum",))
    x = Experiment(Machine(), (store, write), (Stream((0, 1)),), Launch(((0,),)), log_rows=9)
    log = run(x).log
    assert log["cycle"][log["kind"] == "issue"].tolist() == [0, 11]


def test_names_that_nothing_has_are_refused() -> None:
    step = Step("add", pipe="fma")
    x = Experiment(Machine(), (step,), (Stream((0,)),), Launch(((0,),)))
    with pytest.raises(InputError, match="fma"):
        run(x)
    with pytest.raises(InputError, match="scheduler"):
        run(replace(x, steps=(Step("add"),), machine=Machine(policy="fair")))
    with pytest.raises(InputError, match="nothing to execute"):
        run(replace(x, steps=(Step("add"),), streams=(Stream(()),)))


def test_reasons_of_one_warp_are_those_of_its_code() -> None:
    """A load of 100 cycles, then an addition of 5 that waits for it, and one that waits for that."""
    load = Step("load", latency=100, access=Access(), writes="a", blames=Reason.LONG_SCOREBOARD)
    add = Step("add", latency=5, writes="b", waits=("a", "b"))
    done = run(Experiment(Machine(), (load, add), (Stream((0, 1, 1)),), Launch(((0,),))))
    assert done.stalls["long_scoreboard"] == 99.0
    assert done.stalls["wait"] == 4.0
    assert done.stalls["selected"] == 3.0
    assert done.stalls["drain"] == 4.0
    assert sum(done.stalls.values()) == done.cycles == 110.0
