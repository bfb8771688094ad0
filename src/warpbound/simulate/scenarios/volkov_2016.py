"""Volkov's pictures of warps and of occupancy: chapters 3 and 5, Figures 4.7, 6.3 and 6.5.

Source   V. Volkov, EECS-2016-143; figures are not in its text, which states what they show.
Models   latencies and throughputs as the thesis prints them; schedulers that it does not know are chosen here.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import NormalDist

import numpy as np

from warpbound.simulate.experiment import (
    Access,
    Experiment,
    Launch,
    Machine,
    Pipe,
    Station,
    Step,
    Stream,
    two_exponentials,
)
from warpbound.simulate.scenarios.scenario import Scenario
from warpbound.simulate.synthetic_family import ENDLESS, idle_tail
from warpbound.simulate.warp_state import Reason

SOURCE = "Volkov 2016, "
TOGETHER: tuple[float, ...] = ()
TILED = (0.0, 1.0, 2.0, 12.0, 13.0, 14.0)  # starts at which the six warps of Figure 4.7 never meet
LISTED_LOAD = 512.0  # what Listing 3.3 implies; Table 6.2 has 513
KEPLER_CYCLES = 1.0 / 0.1338               # Table 4.1, of an SM's share of memory for one access
KEPLER_MEMORY = {"memory": KEPLER_CYCLES}
KEPLER_GROWTH_OF_ALL = 32.0                # b of Table 6.5, cycles
KEPLER_GROWTH = 2.0 * KEPLER_GROWTH_OF_ALL / KEPLER_CYCLES - 1.0  # squared variation of one server's service times
SERVERS = 2  # in series, with the same growth: single latencies scatter as a bell curve, as in Figure 6.5
TURNS = 30
ROUNDS, LOADS = 60, 200  # of blocks, and of one warp: Figure 5.1 has neither number
UNFAIR, SPEEDS = 30.0, 16  # difference of a warp's loads from the mean, cycles: standard deviation, and kinds


def mixture(offsets: tuple[float, ...], warps: int, adders: int) -> Experiment:
    """A load of 12 cycles and four additions of 3, one addition per cycle on each adder; two warps issue per cycle.

    The counted span is a multiple of 24 and of 27 cycles, the periods of the two cases.
    """
    load = Step(
        "load", latency=12, access=Access(), writes="value", waits=("value",), blames=Reason.LONG_SCOREBOARD
    )
    add = Step("add", pipe="alu", busy=1, latency=3, writes="value", waits=("value",))
    return Experiment(
        machine=Machine(schedulers=max(2, adders), policy="oldest", pipes=(Pipe("alu", shared=adders == 1),)),
        steps=(load, add),
        streams=(Stream((0, 1, 1, 1, 1), ENDLESS),),
        launch=Launch(((0,) * warps,), offsets=offsets),
        warm=24.0 * 27.0,
        horizon=24.0 * 27.0 * (1 + TURNS),
    )


def figure_3_2() -> Scenario:
    x = mixture((0.0, 8.0, 16.0), 3, 3)
    return Scenario("three warps, half of their time in memory", f"{SOURCE}Figure 3.2", x, "latencies of Figure 4.7")


def figure_4_7(offsets: tuple[float, ...]) -> Scenario:
    title = "six warps, started so that they never meet" if offsets else "six warps, started together"
    return Scenario(title, f"{SOURCE}Figure 4.7", mixture(offsets, 6, 1), "oldest first, over two schedulers")


def listing_3_3() -> Scenario:
    """Two warps that reach a barrier after paths of different length, on the GTX 480."""
    skip = Step("@P0 BRA, not taken", stall=28)
    take = Step("@P0 BRA, taken", stall=32)
    load = Step("LD", latency=LISTED_LOAD, access=Access(), writes="R1", blames=Reason.LONG_SCOREBOARD)
    add = Step("FADD", stall=6, latency=18, writes="R1", waits=("R1",))
    meet = Step("BAR.RED.POPC", latency=34, barrier=True)
    x = Experiment(
        machine=Machine(schedulers=2),
        steps=(skip, take, load, add, meet),
        streams=(Stream((0, 2, 3, 4, 3)), Stream((1, 4, 3))),
        launch=Launch(((0, 1),)),
    )
    return Scenario("barrier after paths of different length", f"{SOURCE}Listing 3.3", x)


def section_3_8() -> Scenario:
    """One warp of vector addition on the GTX 680: pairs issue together, else an instruction every 3 cycles."""
    listing = (  # name, pairs with the next, latency, result, sources
        ("MOV R1", True, 9.0, "R1", ()),
        ("S2R R3", False, 9.0, "R3", ()),
        ("S2R R0", False, 9.0, "R0", ()),
        ("IMAD R2", False, 9.0, "R2", ("R0", "R3")),
        ("ISCADD R3", True, 9.0, "A3", ("R2",)),
        ("ISCADD R0", False, 9.0, "A0", ("R2",)),
        ("LD R3", False, 301.0, "X", ("A3",)),
        ("LD R0", True, 301.0, "Y", ("A0",)),
        ("ISCADD R2", False, 9.0, "A2", ("R2",)),
        ("FADD R3", False, 9.0, "Z", ("X", "Y")),
        ("ST R3", True, 0.0, "", ("A2", "Z")),
        ("EXIT", False, 0.0, "", ()),
    )
    steps = tuple(
        Step(
            name, stall=0.0 if pairs else 3.0, latency=latency, writes=result, waits=sources, pairs=pairs, tail=201.0,
            blames=Reason.LONG_SCOREBOARD if name.startswith("LD") else Reason.WAIT,
        )
        for name, pairs, latency, result, sources in listing
    )  # fmt: skip
    x = Experiment(Machine(schedulers=4), steps, (Stream(tuple(range(12))),), Launch(((0,),)))
    return Scenario("one warp of vector addition", f"{SOURCE}section 3.8", x)


def streaming(warps_per_block: int, blocks: int, turns: int) -> Experiment:
    """Dependent loads on the GTX 680 with 64 warps; single latencies scatter, waiting grows with load."""
    scatter = 301.0 * (1.0 - 280.0 / 303.0)
    load = Step(
        "load", latency=301.0 - scatter, access=Access(spread=scatter, demand=KEPLER_MEMORY), writes="value",
        waits=("value",), blames=Reason.LONG_SCOREBOARD,
    )  # fmt: skip
    memory = Station("memory", two_exponentials(KEPLER_GROWTH))
    return Experiment(
        machine=Machine(schedulers=4, stations=(memory,), tail=idle_tail()),
        steps=(load,),
        streams=(Stream((0,), turns),),
        launch=Launch(((0,) * warps_per_block,), resident=64 // warps_per_block, blocks=blocks, block_start=200.0),
    )


def figure_5_1(number: str) -> Scenario:
    """Waves of 16 blocks whose ends drift apart; some warps are always a little slower, as on a real SM."""
    x = streaming(4, 16 * ROUNDS, LOADS)
    (load,) = x.steps
    slower = [UNFAIR * NormalDist().inv_cdf((speed + 0.5) / SPEEDS) for speed in range(SPEEDS)]
    speeds = np.random.default_rng(1).integers(0, SPEEDS, (64, 4))
    unfair = replace(
        x,
        steps=tuple(replace(load, latency=load.latency + more) for more in slower),
        streams=tuple(Stream((speed,), LOADS) for speed in range(SPEEDS)),
        launch=replace(x.launch, warps=tuple(map(tuple, speeds.tolist())), block_interval=30.0),
    )
    assumed = (
        f"dependent loads, {LOADS} a warp; the loads of one warp all take some cycles more or less than the mean, "
        f"with a standard deviation of {UNFAIR:g}; 200 cycles to replace a block (section 3.7 has 150 to 300)"
    )
    return Scenario("64 warps in blocks of 4, drifting apart", f"{SOURCE}Figure {number}", unfair, assumed)


def figure_5_3(warps_per_block: int) -> Scenario:
    x = streaming(warps_per_block, 8192 // warps_per_block, 40)
    return Scenario(f"64 warps in blocks of {warps_per_block}", f"{SOURCE}Figure 5.3", x, "dependent loads, 40 a warp")


def reciprocal_roots(warps: int) -> Scenario:
    """Blocks of that many warps, one at a time, on the GTX 680: MUFU.RSQ of 9 cycles, 8 lanes for each scheduler."""
    step = Step("MUFU.RSQ", pipe="xu", busy=4, latency=9, writes="value", waits=("value",))
    x = Experiment(
        machine=Machine(schedulers=4, policy="round_robin", pipes=(Pipe("xu"),)),
        steps=(step,),
        streams=(Stream((0,), 2000),),
        launch=Launch(((0,) * warps,), blocks=10, block_start=200.0),
    )
    assumed = "2000 instructions a warp, 10 blocks one after the other, round robin"
    return Scenario(f"{warps} warps on four schedulers", f"{SOURCE}Figure 5.2", x, assumed)


def figure_5_4(blocks: int, turns: int) -> Scenario:
    """Shared memory on the 8800 GTX: 38 cycles, 6 lanes a cycle (Tables 6.1 and 6.2), blocks of 10 warps."""
    load = Step(
        "LDS", issue=2, stall=2, pipe="shared", busy=32.0 / 6.0, latency=38, writes="value", waits=("value",),
        blames=Reason.SHORT_SCOREBOARD, throttle=Reason.MIO_THROTTLE,
    )  # fmt: skip
    x = Experiment(
        machine=Machine(schedulers=1, policy="oldest", pipes=(Pipe("shared"),)),
        steps=(load,),
        streams=(Stream((0,), turns),),
        launch=Launch(((0,) * 10,), resident=2, blocks=blocks, block_start=200.0),
    )
    title = "persistent blocks" if blocks == 2 else "oversubscribed"
    return Scenario(title, f"{SOURCE}Figure 5.4", x, "oldest first; the same work in 2 or in 80 blocks")


def loaded_latency(warps: int) -> Scenario:
    """Dependent loads of this many endless warps on the GTX 680; their single latencies are in the event log."""
    x = streaming(1, 64, 40)
    (load,), cycles = x.steps, 2000.0 * 301.0
    share = KEPLER_GROWTH_OF_ALL / SERVERS / KEPLER_CYCLES  # of Table 6.5's growth, in services of one server
    stations = tuple(Station(f"memory {n}", two_exponentials(2.0 * share - 1.0)) for n in range(SERVERS))
    demand = dict.fromkeys([station.name for station in stations], KEPLER_CYCLES)
    endless = replace(
        x,
        machine=replace(x.machine, stations=stations),
        steps=(replace(load, access=replace(load.access or Access(), demand=demand)),),
        streams=(Stream((0,), ENDLESS),),
        launch=Launch(((0,),), resident=warps, blocks=warps),
        warm=cycles / 10,
        horizon=cycles,
    )
    title = f"latency under load, {warps} warp{'s' * (warps > 1)}"
    assumed = f"{SERVERS} servers one after the other, as latency grows under load as Table 6.5 says"
    return Scenario(title, f"{SOURCE}Figures 6.3 and 6.5", endless, assumed)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "fig-3.2": figure_3_2,
    "fig-3.3": partial(figure_5_1, "3.3"),
    "listing-3.3": listing_3_3,
    "section-3.8": section_3_8,
    "fig-4.7-tiled": partial(figure_4_7, TILED),
    "fig-4.7-together": partial(figure_4_7, TOGETHER),
    "fig-5.1": partial(figure_5_1, "5.1"),
    "fig-5.2-16": partial(reciprocal_roots, 16),
    "fig-5.2-17": partial(reciprocal_roots, 17),
    "fig-5.3-4": partial(figure_5_3, 4),
    "fig-5.3-32": partial(figure_5_3, 32),
    "fig-5.4-persistent": partial(figure_5_4, 2, 40_000),
    "fig-5.4-oversubscribed": partial(figure_5_4, 80, 1_000),
    "fig-6.5-idle": partial(loaded_latency, 1),
    "fig-6.5-half": partial(loaded_latency, 32),
    "fig-6.5-full": partial(loaded_latency, 64),
}
