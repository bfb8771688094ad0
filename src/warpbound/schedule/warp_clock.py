"""Issue times of a warp without causes of stalls: a part of its stream turns a known state into a known state.

Models   `warp_state.Warp` for streams that repeat: the effect of a part on free cycle, scoreboards and queues is
         computed once for each state in which it begins, relative to the cycle at which it begins.
Omits    the causes of stalls; gaps that depend on the loads under way or on a taken branch, which only code without
         control words has.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warpbound.program.instruction import Instruction
from warpbound.schedule import control_words
from warpbound.schedule.records import Wait
from warpbound.schedule.warp_state import Board, Step

DIGITS = 6  # digits of a cycle to which two states have to agree to count as equal

Raised = tuple[tuple[Board, tuple[float, ...]], ...]  # scoreboard -> when each of its raises ends, oldest first
Queues = tuple[tuple[str, float], ...]
State = tuple[Raised, Queues, Queues]


class _Effect(NamedTuple):
    """A part's end, in cycles from its begin: of the next free slot, of the last issue, and what is under way then.

    queues : the queues that the part used.
    """

    free: float
    last: float
    raised: Raised
    uncovered: Queues
    queues: Queues


class Parts:
    """Parts of the streams of one kernel: instruction indices as bytes of int32."""

    def __init__(self, instructions: Sequence[Instruction], waits: Sequence[Wait]) -> None:
        self.instructions, self.waits, self.read_step = instructions, waits, control_words.reading(waits)
        self.steps: dict[int, Step] = {}
        self.effects: dict[tuple[bytes, State], _Effect] = {}

    def effect(self, part: bytes, state: State) -> _Effect:
        """Of a part that begins at cycle 0 in this state."""
        effect = self.effects.get((part, state))
        if effect is None:
            effect = self.effects[part, state] = self._effect(part, state)
        return effect

    def _effect(self, part: bytes, state: State) -> _Effect:
        up = {board: list(raises) for board, raises in state[0]}
        uncovered, busy_until, own = dict(state[1]), dict(state[2]), set[str]()
        free = last = 0.0
        for index in np.frombuffer(part, np.int32).tolist():
            step, wait = self.steps.get(index) or self._step(index), self.waits[index]
            last = free
            for board, left_open in step.awaited:
                raised = up.get(board, ())
                if len(raised) > left_open:
                    cut = len(raised) - left_open
                    last = max(last, *raised[:cut])
                    del up[board][:cut]
            free = last + step.gaps[0]
            if wait.queue or step.writes:
                start = max(last, busy_until.get(wait.queue, 0.0))
                if wait.busy:
                    busy_until[wait.queue] = start + wait.busy
                    own.add(wait.queue)
                until = max(start + wait.write, uncovered.pop(wait.queue, 0.0))
                for board in step.forgets:
                    up.pop(board, None)
                for board in step.writes:
                    up.setdefault(board, []).append(until)
                if wait.queue and not step.writes:
                    uncovered[wait.queue] = until
            if step.source_board is not None:
                up.setdefault(step.source_board, []).append(last + wait.source_wait)
        raises = tuple((board, tuple(raised)) for board, raised in up.items())
        return _Effect(free, last, raises, tuple(uncovered.items()), tuple((queue, busy_until[queue]) for queue in own))

    def _step(self, index: int) -> Step:
        step = self.steps[index] = self.read_step(self.instructions[index], self.waits[index])
        return step


class WarpClock:
    """One warp, alone except for the units that it shares.

    free : cycle from which it may issue. last : cycle of its last issue. uncovered : queue -> when its results without
    a scoreboard are there. taken : queue -> cycle from which its unit is free; warps of a sub-core share one.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts, self.free, self.last = parts, 0.0, 0.0
        self.raised: Raised = ()
        self.uncovered: dict[str, float] = {}
        self.taken: dict[str, float] = {}

    def run(self, part: bytes) -> None:
        """Issue a part after all that has been issued."""
        begin = self.free
        effect = self.parts.effect(part, self._state())
        self.free, self.last = begin + effect.free, begin + effect.last
        self.raised = tuple([(board, tuple([begin + end for end in ends])) for board, ends in effect.raised])
        self.uncovered = {queue: begin + end for queue, end in effect.uncovered}
        for queue, end in effect.queues:
            self.taken[queue] = begin + end

    def hold_until(self, cycle: float) -> None:
        """Stall the warp."""
        self.free = max(self.free, cycle)

    def _state(self) -> State:
        """What is under way, relative to the free cycle; raises that have ended count only behind one that has not."""
        raised = [(board, self._ahead(ends)) for board, ends in self.raised if max(ends, default=0.0) > self.free]
        open_ones = tuple(row for row in raised if row[1]) if raised else ()
        return open_ones, self._open(self.uncovered), self._open(self.taken)

    def _ahead(self, ends: tuple[float, ...]) -> tuple[float, ...]:
        ahead = [max(0.0, round(end - self.free, DIGITS)) for end in ends]
        first = next((place for place, end in enumerate(ahead) if end), len(ahead))
        return tuple(ahead[first:])

    def _open(self, queues: dict[str, float]) -> Queues:
        ahead = [(queue, round(end - self.free, DIGITS)) for queue, end in queues.items() if end > self.free]
        return tuple(sorted(row for row in ahead if row[1])) if ahead else ()
