"""Streams that repeat themselves: what is counted instead of issued is what would have been issued."""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.issue_streams import streams
from support.sass_listing import code
from warpbound.program.instruction import Instruction
from warpbound.schedule import Schedule, Wait, control_words, dependences, duration, repeated_streams, schedule
from warpbound.schedule.warp_clock import Parts, WarpClock
from warpbound.schedule.warp_state import Warp

Code = tuple[list[Instruction], list[Wait]]


def one_by_one(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Warp:
    """The same warp, every instruction issued."""
    told = any(one.control is not None for one in instructions)
    warp = Warp(instructions, waits, control_words.step if told else dependences.step)
    warp.run(stream)
    return warp


def same_books(found: Schedule, warp: Warp) -> None:
    assert found.issue == pytest.approx(warp.issue)
    assert found.waited == pytest.approx(warp.waited)
    assert found.producer == tuple(warp.producer)
    assert [phase.loads for phase in found.phases] == [phase.loads for phase in warp.phases]
    assert [phase.waited for phase in found.phases] == pytest.approx([phase.waited for phase in warp.phases])
    assert found.cycles == pytest.approx(warp.end)
    assert sum(found.parts.values()) == pytest.approx(warp.end)


@st.composite
def repeating(draw: st.DrawFn) -> tuple[Code, list[int]]:
    """Code cut in three, its middle repeated, and within the middle perhaps an inner loop."""
    instructions, plain = draw(streams())
    waits = [replace(one, loads=draw(st.booleans())) for one in plain]
    size = len(instructions)
    first, inner, last, end = sorted(draw(st.lists(st.integers(0, size), min_size=4, max_size=4)))
    within = [*range(first, inner), *list(range(inner, last)) * draw(st.integers(1, 9)), *range(last, end)]
    return (instructions, waits), [*range(first), *within * draw(st.integers(1, 40)), *range(end, size)]


@given(repeating())
@settings(max_examples=100, deadline=None)
def test_books_are_those_of_every_instruction_issued(made: tuple[Code, list[int]]) -> None:
    (instructions, waits), stream = made
    warp = one_by_one(stream, instructions, waits)
    same_books(schedule(stream, instructions, waits), warp)
    assert duration(stream, instructions, waits) == pytest.approx(warp.end)


@given(repeating())
@settings(max_examples=100, deadline=None)
def test_books_without_control_words(made: tuple[Code, list[int]]) -> None:
    (instructions, waits), stream = made
    bare = [replace(one, control=None) for one in instructions]
    varied = [replace(one, gaps=(2.0, 9.0, 4.0)) if one.loads else one for one in waits]
    same_books(schedule(stream, bare, varied), one_by_one(stream, bare, varied))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_parts_make_up_the_stream(stream: list[int]) -> None:
    whole = stream * 7
    found: list[int] = []
    ends = [0]
    for first, size, turns in repeated_streams.parts(np.array(whole)):
        found += whole[first : first + size] * turns
        ends.append(first + size * turns)
        assert first == ends[-2]
    assert found == whole
    assert all(early < late for early, late in pairwise(ends))


@pytest.mark.parametrize("loads", [True, False])  # one that opens a phase, one that does not
def test_a_load_before_the_loop_and_awaited_behind_it_keeps_its_time(loads: bool) -> None:  # noqa: FBT001
    instructions = code("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B------:R-:W1:-:S01  LDS R4, [R5]
        B-1----:R-:W-:-:S05  FADD R6, R4, R6
        B------:R-:W-:Y:S05  BRA 0x10
        B0-----:R-:W-:-:S05  FADD R7, R0, R6
        B------:R-:W-:-:S15  EXIT
    """)
    waits = [Wait(500, 11, (("dram", 1.0),), "global", loads=loads), Wait(24, 9, (("shared", 1.0),), "shared"),
             *[Wait(4, 0)] * 4]  # fmt: skip
    for turns, waited in ((10, 159), (100, 0)):  # 34 cycles a turn
        done = schedule([0, *[1, 2, 3] * turns, 4, 5], instructions, waits)
        assert done.waited[3 * turns + 1] == waited
        assert [(phase.loads, phase.waited) for phase in done.phases] == [((0,), waited)] * loads


def test_a_hundred_thousand_turns_are_not_issued_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    instructions = code("""
        B------:R-:W0:-:S01  LDG.E R0, [R2.64]
        B0-----:R-:W-:-:S05  FADD R7, R0, R6
        B------:R-:W-:Y:S05  BRA 0x0
        B------:R-:W-:-:S15  EXIT
    """)
    waits = [Wait(500, 11, (("dram", 1.0),), "global", loads=True), *[Wait(4, 0)] * 3]
    issued, plain = [0], Warp.run

    def counted(self: Warp, stream: Sequence[int], following: int | None = None) -> None:
        issued[0] += len(stream)
        plain(self, stream, following)

    monkeypatch.setattr(Warp, "run", counted)
    done = schedule([0, 1, 2] * 100_000 + [3], instructions, waits)
    assert issued[0] < 100
    assert done.cycles == pytest.approx(510 * 100_000 + 1)
    assert {field.name for field in fields(done)} >= {"issue", "phases"}
    assert len(done.phases) == 100_000
    assert done.phases[-1].loads == (299_997,)


class Alternating:
    """A warp whose state after every other turn is the same."""

    def __init__(self) -> None:
        self.turns = 0

    def whole_state(self) -> int:
        return self.turns % 2

    def run(self, body: Sequence[int], after: int | None = None) -> None:
        self.turns += 1

    def again(self, runs: int, times: int) -> None:
        assert times > 0
        self.turns += runs * times


@pytest.mark.parametrize("turns", range(2, 9))
def test_every_turn_is_counted_once_where_states_alternate(turns: int) -> None:
    warp = Alternating()
    repeated_streams._repeat(warp, [0], turns, None)
    assert warp.turns == turns


@given(repeating(), st.integers(1, 9), st.floats(0, 50))
@settings(max_examples=25, deadline=None)
def test_a_clock_without_books_tells_the_same_cycles(made: tuple[Code, list[int]], size: int, held: float) -> None:
    """Part by part, with a wait for others behind every third."""
    (instructions, waits), stream = made
    if not any(instruction.control for instruction in instructions):
        return
    clock, warp = WarpClock(Parts(instructions, waits)), Warp(instructions, waits, control_words.step)
    for number, first in enumerate(range(0, len(stream), size)):
        part = stream[first : first + size]
        clock.run(np.array(part, np.int32).tobytes())
        warp.run(part)
        assert (clock.free, clock.last) == pytest.approx((warp.free, warp.issue[-1]), abs=1e-3)
        if number % 3 == 2:
            clock.hold_until(clock.free + held)
            warp.hold_until(warp.free + held)
