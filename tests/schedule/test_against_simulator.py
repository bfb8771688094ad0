"""Issue times against a cycle-by-cycle simulator that knows nothing of the scheduler."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from support.issue_streams import BOARDS, streams, waits_of
from support.sass_listing import code
from warpbound.program.instruction import Instruction
from warpbound.schedule import CAUSES, Schedule, Wait, schedule, steady


def allowed(one: Instruction) -> dict[int, int]:
    """Counter -> how high it may be when the instruction issues."""
    assert one.control is not None
    most = dict.fromkeys(one.control.wait, 0)
    if one.opcode == "DEPBAR":
        most.setdefault(one.operands[0].index, int(one.operands[1].value))
    return most


def simulate(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> list[int]:
    """Issue cycle of each instruction: every cycle, counters fall and then the warp issues if it may.

    A counter is a list of raises, each a list of the cycles that its results still need; raises fall in order.
    """
    counters: list[list[list[list[int]]]] = [[] for _ in range(BOARDS)]
    running: list[list[int]] = []
    loose: dict[str, list[list[int]]] = {}
    unit: dict[str, int] = {}
    times: list[int] = []
    now = stalled = 0
    while len(times) < len(stream):
        for left in running:
            left[0] -= 1
        running = [left for left in running if left[0] > 0]
        for raises in counters:
            while raises and all(left[0] <= 0 for left in raises[0]):
                del raises[0]
        one, wait = instructions[stream[len(times)]], waits[stream[len(times)]]
        assert one.control is not None
        if stalled == 0 and all(len(counters[board]) <= most for board, most in allowed(one).items()):
            times.append(now)
            gap = 2 if one.control.yields and one.control.stall < 2 else max(1, one.control.stall)
            stalled = max(gap, int(wait.hold))
            delay = max(0, unit.get(wait.queue, 0) - now)
            if wait.busy:
                unit[wait.queue] = now + delay + int(wait.busy)
            results = [[delay + int(wait.write)], [int(wait.source_wait)]]
            running += results
            if one.control.write_scoreboard is not None:
                before = loose.pop(wait.queue, []) if wait.queue else []
                counters[one.control.write_scoreboard].append([*before, results[0]])
            elif wait.queue:
                loose.setdefault(wait.queue, []).append(results[0])
            if one.control.read_scoreboard is not None:
                counters[one.control.read_scoreboard].append([results[1]])
        stalled -= stalled > 0
        now += 1
    return times


@given(streams())
@settings(max_examples=300, deadline=None)
def test_issue_times_are_those_of_the_simulator(made: tuple[list[Instruction], list[Wait]]) -> None:
    instructions, waits = made
    stream = [*range(len(instructions)), *range(len(instructions))]
    done = schedule(stream, instructions, waits)
    assert list(done.issue) == simulate(stream, instructions, waits)
    _books_balance(done, done.cycles)


@given(streams())
@settings(max_examples=40, deadline=None)
def test_steady_is_what_many_iterations_tend_to(made: tuple[list[Instruction], list[Wait]]) -> None:
    instructions, waits = made
    body = range(len(instructions))
    done = steady(body, instructions, waits)
    times = simulate([*body] * 72, instructions, waits)
    # any period of at most 4 iterations divides 12; the simulator has settled after 48
    assert done.cycles == pytest.approx((times[60 * len(body)] - times[48 * len(body)]) / 12)
    _books_balance(done, done.cycles)
    assert all(0 <= load < len(body) for phase in done.phases for load in phase.loads)


def _books_balance(done: Schedule, cycles: float) -> None:
    assert sum(done.parts.values()) == pytest.approx(cycles, abs=1e-9)
    assert min(done.parts.values()) >= 0
    assert set(done.parts) == set(CAUSES)
    for cause in CAUSES:
        assert sum(line[cause] for line in done.lines.values()) == pytest.approx(done.parts[cause], abs=1e-9)


def test_a_hundred_thousand_instructions_in_a_steady_loop() -> None:
    instructions = code("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R1:W-:-:S01  STG.E [R2.64], R8
        B------:R-:W-:-:S04  FFMA R8, R0, R0, R8
        B01----:R-:W-:-:S04  FFMA R8, R0, R0, R8
        B------:R-:W-:-:S05  BRA `(.L)
    """)
    done = schedule([0, 1, 2, 3, 4] * 20_000, instructions, waits_of(instructions))
    assert done.cycles == 20_000 * 509 - 4  # 500, then FFMA 4 and BRA 5; the last stall of 5 counts 1
