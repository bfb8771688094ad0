"""Hong and Kim's timelines: Figures 5 to 8, 11 and 24, and the programs of section 6.4.

Source   S. Hong, H. Kim, extended version of ISCA 2009; figures are not in its text, which states what they show.
Models   one processor that runs one computation period at a time; memory waiting periods that overlap, at most MWP
         of them; requests that leave the SM a departure delay apart.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from warpbound.simulate.experiment import Access, Experiment, Launch, Machine, Station, Step, Stream
from warpbound.simulate.scenarios.scenario import Scenario
from warpbound.simulate.warp_state import Reason

SOURCE = "Hong and Kim 2009, "
MEMORY = 420.0    # Table 6, Mem_LD, cycles
DEPARTURE = 4.0   # Table 6, Departure_del_coal of the FX5600, cycles
ISSUE = 4.0       # section 2.3: 32 lanes over 8 units, cycles
FREELY, MEETING = 2, 3  # steps of `synchronised`
PROGRAM_A, PROGRAM_B = (0, 1, 2, 3, 4), (0, 1, 2, 4)
TURNS = 10        # of the programs of section 6.4, which does not tell how often their lines run


def periods(computation: float, memory: float, warps: int, turns: int, at_once: int) -> Experiment:
    """`warps` warps that compute and then wait for memory, `turns` times; `at_once` of them may have requests in
    memory."""
    return Experiment(
        machine=Machine(policy="oldest", room=at_once),
        steps=(period(computation, memory, "value", ("value",)),),
        streams=(Stream((0,), turns),),
        launch=Launch(((0,) * warps,)),
    )


def period(computation: float, memory: float, value: str, waits: tuple[str, ...]) -> Step:
    """One computation period and the memory waiting period at its end."""
    return Step(
        name="period",
        issue=computation,
        stall=computation,
        latency=memory,
        access=Access(offset=computation),
        writes=value,
        waits=waits,
        blames=Reason.LONG_SCOREBOARD,
    )


def case(number: int, figure: str, x: Experiment) -> Scenario:
    assumed = "computation and memory periods of 1 and 3 (case 5: 4 and 3), oldest first"
    return Scenario(f"case {number}", f"{SOURCE}Figure {figure}", x, assumed)


def independent_requests() -> Scenario:
    """Two warps, two accesses each, the second of which does not need the first."""
    x = periods(1, 3, 2, 1, 0)
    both = (period(1, 3, "first", ()), period(1, 3, "second", ()))
    return _figure_24(Experiment(x.machine, both, (Stream((0, 1)),), x.launch), "independent")


def dependent_requests() -> Scenario:
    """The same, but the second access needs the first."""
    return _figure_24(periods(1, 3, 2, 2, 0), "dependent")


def _figure_24(x: Experiment, which: str) -> Scenario:
    assumed = "two warps with two accesses each, periods of 1 and 3 cycles"
    return Scenario(f"{which} memory accesses", f"{SOURCE}Figure 24", x, assumed)


def synchronised(turns: int, warps: int, blocks: int, wait: int) -> Experiment:
    """Periods of 1 and 12 cycles, requests 2 apart; after each a warp goes on `FREELY` or `MEETING` its block."""
    compute = Step("compute", issue=1, stall=1)
    load = Step(
        "load", issue=0, stall=0, latency=12, access=Access(demand={"departure": 2.0}), writes="value",
        blames=Reason.LONG_SCOREBOARD,
    )  # fmt: skip
    alone = Step("wait", issue=0, stall=0, waits=("value",))
    return Experiment(
        machine=Machine(policy="oldest", stations=(Station("departure"),)),
        steps=(compute, load, alone, replace(alone, name="barrier", barrier=True)),
        streams=(Stream((0, 1, wait), turns),),
        launch=Launch(((0,) * warps,), resident=blocks, blocks=blocks),
    )


def figure_11(title: str, wait: int) -> Scenario:
    assumed = "four warps, four periods of 1 and 12 cycles, departures 2 apart"
    return Scenario(title, f"{SOURCE}Figure 11", synchronised(4, 4, 1, wait), assumed)


def program(warps: int, blocks: int, lines: tuple[int, ...]) -> Experiment:
    """Lines 9 to 13 of Figure 29 on the FX5600's numbers: `PROGRAM_A` with the barrier, `PROGRAM_B` without."""
    touch = Access(demand={"departure": DEPARTURE})
    load = Step("ld.global", ISSUE, ISSUE, latency=MEMORY, access=touch, writes="f1", blames=Reason.LONG_SCOREBOARD)
    move = Step("mov", ISSUE, ISSUE, latency=ISSUE, writes="f2")
    multiply = Step("mul", ISSUE, ISSUE, latency=ISSUE, writes="f3", waits=("f1", "f2"))
    meet = Step("bar.sync", ISSUE, ISSUE, barrier=True, latency=ISSUE)
    store = Step("st.global", ISSUE, ISSUE, latency=MEMORY, access=touch, waits=("f3",))
    return Experiment(
        machine=Machine(policy="oldest", stations=(Station("departure"),)),
        steps=(load, move, multiply, meet, store),
        streams=(Stream(lines, TURNS),),
        launch=Launch(((0,) * warps,), resident=blocks, blocks=blocks),
    )


def section_6_4(name: str, blocks: int, lines: tuple[int, ...]) -> Scenario:
    assumed = f"4 warps in each of {blocks} blocks, the lines executed {TURNS} times, coalesced"
    title = f"program {name}, {blocks} block{'s' * (blocks > 1)}"
    return Scenario(title, f"{SOURCE}section 6.4", program(4, blocks, lines), assumed)


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "fig-5a": lambda: case(1, "5a", periods(1, 3, 8, 1, 2)),
    "fig-5b": lambda: case(2, "5b", periods(1, 3, 4, 2, 2)),
    "fig-6a": lambda: case(3, "6a", periods(1, 3, 8, 1, 8)),
    "fig-6b": lambda: case(4, "6b", periods(1, 3, 4, 2, 8)),
    "fig-7": lambda: case(5, "7", periods(4, 3, 8, 1, 8)),
    "fig-8a": lambda: case(6, "8a", periods(1, 3, 1, 1, 8)),
    "fig-8b": lambda: case(7, "8b", periods(1, 3, 2, 1, 2)),
    "fig-11a": partial(figure_11, "no barrier", FREELY),
    "fig-11b": partial(figure_11, "a barrier after each memory period", MEETING),
    "fig-24-dependent": dependent_requests,
    "fig-24-independent": independent_requests,
    "program-a-bl1": partial(section_6_4, "A", 1, PROGRAM_A),
    "program-b-bl1": partial(section_6_4, "B", 1, PROGRAM_B),
    "program-a-bl2": partial(section_6_4, "A", 2, PROGRAM_A),
    "program-b-bl2": partial(section_6_4, "B", 2, PROGRAM_B),
    "program-a-bl4": partial(section_6_4, "A", 4, PROGRAM_A),
    "program-b-bl4": partial(section_6_4, "B", 4, PROGRAM_B),
}
