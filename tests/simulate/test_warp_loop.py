"""The event loop against computations that share nothing with it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.logged_run import run_logged
from warpbound.machine import gpu
from warpbound.models.interval_analysis.scoreboard import Device, Instruction, schedule
from warpbound.simulate.experiment import Access, Experiment, Launch, Machine, Pipe, Station, Step, Stream
from warpbound.simulate.scenarios.interval_analysis import experiment as from_listing
from warpbound.simulate.synthetic_family import Setting, loads_per_cycle
from warpbound.simulate.warp_simulation import run
from warpbound.synthetic_family.machine import on_board

REGISTERS = ("R0", "R1", "R2", "R3")
DEVICE = Device({"ls": 8.0, "fp": 32.0, "half": 16.0}, {"F": 6.0, "M": 40.0})
FEW = settings(max_examples=40)


@st.composite
def listings(draw: st.DrawFn) -> tuple[Instruction, ...]:
    registers = st.lists(st.sampled_from(REGISTERS), max_size=2, unique=True).map(tuple)
    unit, latency = st.sampled_from(["ls", "fp", "half"]), st.sampled_from(["F", "M"])
    one = st.builds(Instruction, st.just("x"), unit, latency, registers, registers)
    return tuple(draw(st.lists(one, min_size=1, max_size=12)))


@FEW
@given(listings())
def test_one_warp_is_the_notes_scoreboard(program: tuple[Instruction, ...]) -> None:
    done = run_logged(from_listing(program, DEVICE))
    issued = done.log["cycle"][done.log["kind"] == "issue"]
    expected = schedule(program, DEVICE)
    np.testing.assert_array_equal(issued, expected.issue)
    assert done.cycles == max(float(expected.following), *map(float, expected.ready))


def cycle_by_cycle(
    warps: int, alpha: int, policy: str, x: tuple[float, float, float, float]
) -> list[tuple[int, int, int]]:
    """(cycle, warp, instruction) of in-order warps on one scheduler, looked at in every cycle; 6 turns each."""
    latency, interval, alu_latency, busy = x
    ready, step = [0.0] * warps, [0] * warps
    memory = alu = 0.0
    last, now, found = -1, 0, []
    while min(step) < 6 * (alpha + 1):
        can = [w for w in range(warps) if step[w] < 6 * (alpha + 1) and ready[w] <= now]
        can = [w for w in can if step[w] % (alpha + 1) == 0 or alu <= now]
        if can:
            match policy:
                case "oldest":
                    chosen = min(can)
                case "round_robin":
                    chosen = min(can, key=lambda w: (w <= last, w))
                case "greedy_then_oldest":
                    chosen = last if last in can else min(can)
                case _:
                    chosen = last if last in can else max(can)
            if step[chosen] % (alpha + 1) == 0:
                start = max(float(now), memory)
                memory, ready[chosen] = start + interval, start + latency
                found.append((now, chosen, 0))
            else:
                alu, ready[chosen] = now + busy, now + alu_latency
                found.append((now, chosen, 1))
            ready[chosen] = max(ready[chosen], now + 1)
            step[chosen], last = step[chosen] + 1, chosen
        now += 1
    return found


@FEW
@given(
    st.integers(1, 7),
    st.integers(0, 4),
    st.sampled_from(["oldest", "round_robin", "greedy_then_oldest", "greedy_then_youngest"]),
    st.sampled_from([(20.0, 1.0, 4.0, 1.0), (20.0, 3.5, 4.0, 2.0), (7.0, 5.0, 1.0, 1.0), (30.0, 0.5, 6.0, 3.0)]),
)
def test_one_scheduler_does_what_looking_every_cycle_does(
    warps: int, alpha: int, policy: str, costs: tuple[float, float, float, float]
) -> None:
    latency, interval, alu_latency, busy = costs
    load = Step("load", latency=latency, access=Access(demand={"s": interval}), writes="v", waits=("v",))
    add = Step("add", pipe="alu", busy=busy, latency=alu_latency, writes="v", waits=("v",))
    machine = Machine(policy=policy, pipes=(Pipe("alu"),), stations=(Station("s"),))
    done = run_logged(Experiment(machine, (load, add), (Stream((0,) + (1,) * alpha, 6),), Launch(((0,) * warps,))))
    rows = done.log[done.log["kind"] == "issue"]
    got = list(zip(rows["cycle"].astype(int).tolist(), rows["warp"].tolist(), rows["step"].tolist(), strict=True))
    assert got == cycle_by_cycle(warps, alpha, policy, costs)


class Sm:
    """A machine of the family with round numbers."""

    name, memory_latency, memory_throughput, alu_latency = "round", 200.0, 0.1, 4.0
    alu_throughput, issue_throughput, schedulers = 4.0, 4.0, 4


@pytest.mark.parametrize("alpha", [0.25, 0.0, 1.0, 8.0, 64.0])
@pytest.mark.parametrize("memory", ["constant", "spread"])
def test_few_warps_are_bound_by_latency_alone(alpha: float, memory: str) -> None:
    """Each at its own pace: n over the latency of one turn."""
    loads, adds = (1 / alpha, 1) if 0 < alpha < 1 else (1, alpha)
    alone = loads * Sm.memory_latency + adds * Sm.alu_latency
    assert loads_per_cycle(Sm(), 4, alpha, Setting(memory, rounds=120)) == pytest.approx(4 * loads / alone, rel=0.02)


@pytest.mark.parametrize("memory", ["constant", "spread", "exponential"])
@pytest.mark.parametrize("alpha", [0.0, 4.0, 32.0, 128.0])
@pytest.mark.parametrize("warps", [8, 24, 64])
def test_no_throughput_above_any_bound(warps: int, alpha: float, memory: str) -> None:
    """The three limits of section 4.1 exactly, but for what a window of finite length lets slip at its ends."""
    setting = Setting(memory, rounds=60)
    rate = loads_per_cycle(Sm(), warps, alpha, setting)
    latency = warps / (Sm.memory_latency + alpha * Sm.alu_latency)
    assert rate <= min(0.1, 4.0 / (alpha + 1)) * 1.02
    assert rate <= latency * 1.02


def test_enough_warps_reach_the_memorys_rate() -> None:
    assert loads_per_cycle(Sm(), 64, 0.0, Setting("constant")) == pytest.approx(0.1, rel=0.01)
    slower = loads_per_cycle(Sm(), 20, 0.0, Setting("exponential", rounds=300))
    assert slower < 0.92 * loads_per_cycle(Sm(), 20, 0.0, Setting("constant", rounds=300))


def test_blocks_wait_for_their_last_warp() -> None:
    """Two warps of 10 and 30 cycles, three blocks one after the other, 5 cycles between: 3 x 30 + 2 x 5."""
    steps = (Step("short", stall=10.0), Step("long", stall=30.0))
    x = Experiment(Machine(2), steps, (Stream((0,)), Stream((1,))), Launch(((0, 1),), blocks=3, block_start=5.0))
    done = run(x)
    assert done.cycles == 100.0
    assert done.started.tolist() == [0.0, 0.0, 35.0, 35.0, 70.0, 70.0]
    spaced = run(replace(x, launch=replace(x.launch, resident=3, block_interval=7.0)))
    assert spaced.started.tolist() == [0.0, 0.0, 7.0, 7.0, 14.0, 14.0]


def test_independent_chains_act_like_more_warps() -> None:
    """Volkov's Figure 6.2: before anything saturates, two chains of 3 warps are as fast as 6 warps, exactly twice 3."""
    sm, plain = on_board(gpu("gtx680")), Setting("constant", rounds=6)
    one, both = (loads_per_cycle(sm, 3, 2.0, replace(plain, ilp=ilp)) for ilp in (1, 2))
    assert one == pytest.approx(3 / (sm.memory_latency + 2 * sm.alu_latency), rel=0.01)
    assert both == pytest.approx(2 * one, rel=0.01)
    assert both == pytest.approx(loads_per_cycle(sm, 6, 2.0, plain), rel=0.02)
