"""Loads of lines that are under way: by hand, and in the traffic of traces made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from support.handmade_traces import IN, LANE, MACHINE, program, trace
from warpbound.memory.pending_hits import AccessOrder, Loaded, access_order, answered_with
from warpbound.memory.traffic import How, traffic
from warpbound.program.instruction import Control


def code(*instructions):
    """(mnemonic, scoreboard that it raises or None, scoreboards that it waits for)."""
    plain = program(*(name for name, _, _ in instructions))
    words = [
        Control(1, yields=False, write_scoreboard=write, read_scoreboard=None, wait=wait, reuse=0)
        for _, write, wait in instructions
    ]
    return replace(
        plain, instructions=tuple(replace(x, control=y) for x, y in zip(plain.instructions, words, strict=True))
    )


TWO_THEN_WAIT = code(("LDG.E", 0, ()), ("LDG.E", 1, ()), ("FADD", None, (0, 1)))
WAIT_BETWEEN = code(("LDG.E", 0, ()), ("FADD", None, (0,)), ("LDG.E", 1, ()), ("FADD", None, (1,)))


def test_a_load_is_under_way_until_its_scoreboard_is_waited_for():
    stream = np.array([0, 1, 2, 0, 1, 2], np.int32)
    of = access_order(TWO_THEN_WAIT.instructions, stream, np.array([True, True, False]))
    assert (of.issued.tolist(), of.awaited.tolist()) == ([0, 1, 3, 4], [2, 2, 5, 5])
    never = access_order(TWO_THEN_WAIT.instructions, stream[:2], np.array([True, True, False]))
    assert never.awaited.tolist() == [2, 2]  # to the end of the stream


def test_a_hit_is_answered_with_the_last_miss_of_its_block_if_nobody_waited_in_between():
    of = AccessOrder(np.array([0, 1, 3, 4]), np.array([2, 2, 5, 5]))
    sector, rank = np.array([7, 7, 7, 7, 8, 7]), np.arange(6)
    hit, when = np.array([False, True, True, True, False, True]), np.array([0, 0, 1, 2, 2, 3])
    block = np.zeros(6, np.int64)
    # the first two hits come before the wait for the miss; the third and the last after it
    assert answered_with(Loaded(sector, block, rank, hit, when), of).tolist() == [0, 0, 0, 3, 4, 5]
    earlier = Loaded(sector, block, rank[::-1].copy(), hit, when)
    assert answered_with(earlier, of).tolist() == [0, 1, 2, 3, 4, 5]
    elsewhere = np.array([0, 1, 0, 0, 0, 0])  # a line that another block asked for
    assert answered_with(Loaded(sector, elsewhere, rank, hit, when), of).tolist() == [0, 1, 0, 3, 4, 5]


@pytest.mark.parametrize("kernel, second, waits", [(TWO_THEN_WAIT, 1, [0, 0, 2]), (WAIT_BETWEEN, 2, [2, 0, 0])])
def test_both_warps_of_a_block_wait_for_the_line_that_the_first_asked_for(kernel, second, waits):
    """Two warps read one line twice: three of the four loads hit, whatever they wait for."""
    one = trace([0], 1, 2, lambda block, warp: [("global", i, IN + 4 * LANE, None) for i in (0, second)])
    size = len(kernel.instructions)
    streamed = replace(one, streams={0: np.arange(size, dtype=np.int32)})
    by = traffic(kernel, streamed, MACHINE, How("cold")).by_instruction
    assert by.requests_from[[0, second]].tolist() == [[1, 0, 1], [2, 0, 0]]
    assert by.waits_from[[0, second]].tolist() == [[0, 0, 2], waits]
    without = traffic(kernel, one, MACHINE, How("cold")).by_instruction  # no stream: nothing is known of waits
    assert without.waits_from.tolist() == without.requests_from.tolist()
