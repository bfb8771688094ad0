"""Rounds of loops in a steady state: recorded from three executed ones, not executed.

Models   What a `steady_loops.SteadyLoop` admits. Three rounds are executed and watched. If every changing register,
         every address and every operand of a comparison has taken two equal steps, and every predicate and lane mask
         stayed, all later rounds are alike until a comparison changes its result, a word wraps around, or an address
         leaves its array. The rounds before that are counted and their addresses recorded; the last ones are executed.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.counted_rounds import ENDLESS, RELATIONS, as_number, compared, rounds_unchanged
from warpbound.emulate.emulator import Chunk
from warpbound.emulate.operand_access import Read, raw, site
from warpbound.emulate.recorded_accesses import Piece
from warpbound.emulate.repeated_accesses import moved
from warpbound.emulate.state import State, Value
from warpbound.emulate.steady_loops import SteadyLoop, shift_of, sources_of, steady_loops
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes
from warpbound.quick_dataclasses import dataclass

if TYPE_CHECKING:
    from warpbound.emulate.trace_recorder import Counts, Recording

SETTLED = 2  # rounds in a row after which a loop is watched
WATCHED = 3  # rounds that show two steps
LAST = 2  # rounds before the end of a steady state that are executed
FEWEST = 4  # rounds that are worth leaving out
PATIENCE = 1024  # arrivals, at most, for which a loop that did not become steady is left alone
LARGEST = 1 << 22  # instructions of a stream that are added at once


@dataclass(frozen=True)
class _Round:
    """One executed round: what was written by each needed instruction, the operands of comparisons, the accesses."""

    words: list[Value]
    flags: list[Value]
    operands: list[tuple[Value, Value]]
    accesses: list[tuple[str, Piece]]


class SteadyRounds:
    """Watches the loops of one chunk."""

    def __init__(self, chunk: Chunk, recording: "Recording") -> None:
        self.chunk, self.recording = chunk, recording
        kernel = chunk.kernel
        loops = steady_loops(kernel.program, recording.removable) if kernel.memory.image.tell_stray is None else {}
        self.loops = {at: x for at, x in loops.items() if not any(chunk.polls[x.first : x.branch])}
        self.comparisons: dict[int, tuple[Read, Read]] = {}
        for loop in self.loops.values():
            for at in loop.comparisons:
                here = site(kernel.program.instructions[at], kernel.memory.constants, kernel.program.arch)
                first, second = (raw(operand, here) for operand in compared(here.instruction))
                self.comparisons[at] = first, second
        self.shifted = {
            at: shifted
            for loop in self.loops.values()
            for at in loop.writers
            if (shifted := self._shifted(kernel.program.instructions[at])) is not None
        }
        self._arrived = (-1, -1, -1)  # loop, turn and steps of the last arrival
        self._in_a_row = 0
        self._wait: dict[int, int] = {}  # arrivals at a loop for which it is left alone
        self._failures: dict[int, int] = {}

    def _shifted(self, one: Instruction) -> tuple[Read, np.uint32] | None:
        """The number that a sum shifts, and by how much."""
        kernel, shift = self.chunk.kernel, shift_of(one)
        if shift is None:
            return None
        return raw(sources_of(one)[0], site(one, kernel.memory.constants, kernel.program.arch)), np.uint32(shift)

    def may_be(self, at: int) -> bool:
        """Whether the loop at `at`, at which the chunk has arrived, is worth watching now."""
        chunk, loop = self.chunk, self.loops[at]
        last = at, chunk.x.turn, chunk.steps - (loop.branch - loop.first + 1)
        self._in_a_row = self._in_a_row + 1 if self._arrived == last else 0
        self._arrived = at, chunk.x.turn, chunk.steps
        if self._wait.get(at, 0) > 0:
            self._wait[at] -= 1
            return False
        return self._in_a_row >= SETTLED

    def run(self, at: int) -> int | None:
        """Execute some rounds and leave out those that follow from them.

        Returns where to go on, as a handler does; None where the loop is not over, and its next round may be executed.
        """
        loop, rounds, before = self.loops[at], list[_Round](), None
        for left in range(WATCHED - 1, -1, -1):
            before = self.recording.counts_of(loop.first, loop.branch + 1) if not left else None
            move, one = self._watched(loop)
            rounds.append(one)
            if move != loop.first:
                return loop.branch + 1 if move is None else move
            if self.chunk.flow.groups.ready:
                return None
        count = min(self._alike(loop, rounds), LARGEST // (loop.branch - loop.first + 1))
        self._in_a_row = 0
        if count < FEWEST or before is None:
            self._failures[at] = self._failures.get(at, 0) + 1
            self._wait[at] = min(PATIENCE, 4 << self._failures[at])
        else:
            self._leave_out(loop, rounds, count, before)
        return None

    def _watched(self, loop: SteadyLoop) -> tuple[int | None, _Round]:
        """Execute a round."""
        chunk, recording = self.chunk, self.recording
        x, handlers = chunk.x, chunk.handlers
        one = _Round([], [], [], [])
        recording.seen = one.accesses
        try:
            for at in range(loop.first, loop.branch):
                chunk.at = at
                recording.note(x, at)
                if at in self.comparisons:
                    first, second = self.comparisons[at]
                    one.operands.append((_kept(first(x)), _kept(second(x))))
                if at in self.shifted:
                    source, by = self.shifted[at]
                    one.words.append(source(x) << by)
                handlers[at](x)
                for name in loop.writers.get(at, ()):
                    (one.flags if "P" in name else one.words).append(_kept(_read(x, name)))
        finally:
            recording.seen = None
        one.words.extend(_kept(_read(x, name)) for name in loop.changed if "P" not in name)
        chunk.at = loop.branch
        recording.note(x, loop.branch)
        move = handlers[loop.branch](x)
        chunk.steps += loop.branch - loop.first
        x.clock += loop.branch - loop.first
        chunk.wrote = chunk.wrote or any(chunk.writes[loop.first : loop.branch])
        return move, one

    def _alike(self, loop: SteadyLoop, rounds: list[_Round]) -> int:
        """Rounds after the last one that are like it."""
        code, endless = self.chunk.kernel.program.instructions, int(ENDLESS)
        flags = [one.flags for one in rounds]
        if not all(_equal(a, b) for pair in pairwise(flags) for a, b in zip(*pair, strict=True)):
            return 0
        if len({len(one.accesses) for one in rounds}) > 1:
            return 0
        counts = [_until_a_word_wraps(*words) for words in zip(*(one.words for one in rounds), strict=True)]
        operands = zip(*(one.operands for one in rounds), strict=True)
        counts += [
            _until_decided_otherwise(code[at].modifiers, list(each))
            for at, each in zip(loop.comparisons, operands, strict=True)
        ]
        for each in zip(*(one.accesses for one in rounds), strict=True):
            counts.append(self._until_outside([piece for _, piece in each], {space for space, _ in each}))
        fewest = min(counts, default=endless)
        return 0 if fewest >= endless else fewest - LAST

    def _until_outside(self, pieces: list[Piece], spaces: set[str]) -> int:
        """Rounds for which an access goes on in equal steps inside its arrays."""
        before, middle, now = pieces
        if len(spaces) > 1 or len({piece.instruction for piece in pieces}) > 1:
            return 0
        active = now.active
        if active is not None and not all(x.active is not None and np.array_equal(x.active, active) for x in pieces):
            return 0
        step, lanes = _step(middle, now), slice(None) if active is None else active
        if not np.array_equal(step[lanes], _step(before, middle)[lanes]):
            return 0
        at, step = now.addresses[lanes].astype(np.int64), step[lanes]
        if not step.any():
            return int(ENDLESS)
        if spaces != {"global"}:
            return 0
        size, limit = lane_bytes(self.chunk.kernel.program.instructions[now.instruction]), int(ENDLESS)
        for array in self.chunk.kernel.memory.image.allocations:
            inside = (at >= array.start) & (at < array.end)
            room = np.where(step > 0, array.end - size - at, at - array.start)[inside & (step != 0)]
            if len(room):
                limit = min(limit, int((room // np.abs(step[inside & (step != 0)])).min()))
        return limit

    def _leave_out(self, loop: SteadyLoop, rounds: list[_Round], count: int, before: "tuple[Counts, Counts]") -> None:
        """Count and record that many rounds, and move the registers on."""
        x, recording = self.chunk.x, self.recording
        recording.repeat(loop.first, loop.branch + 1, count, before)
        last = [(space, piece, _step(old, piece)) for (_, old), (space, piece) in
                zip(rounds[-2].accesses, rounds[-1].accesses, strict=True)]  # fmt: skip
        steps = [(piece, step) for space, piece, step in last if space == "global"]
        done = recording.extend(steps, count) if len(steps) == len(last) and self._contents_known(steps) else 0
        for number in range(done + 1, count + 1):
            if recording.is_full(loop.first, loop.branch):
                recording.drop(len(last) * (count + 1 - number))
                break
            for space, piece, step in last:
                if space != "global":
                    recording.append(space, piece)
                    continue
                recording.append(space, further := moved(piece, number * step))
                self._note_contents(further)
        changed = [name for name in loop.changed if "P" not in name]
        end = len(rounds[-1].words)
        for name, old, now in zip(
            changed, rounds[-2].words[end - len(changed) :], rounds[-1].words[end - len(changed) :], strict=True
        ):
            if not _equal(now, old):
                _write(x, name, now + (now - old) * np.uint32(count))
        x.clock += count * (loop.branch - loop.first + 1)

    def _contents_known(self, steps: list[tuple[Piece, NDArray[np.int64]]]) -> bool:
        """Whether nothing has to be noted of what is read or written: all is known, or reported already."""
        unknown = self.chunk.kernel.memory.image.has_unknown
        reported = set[int]().union(*self.recording.unknown.values())
        return not unknown or all(piece.instruction in reported for piece, _ in steps)

    def _note_contents(self, piece: Piece) -> None:
        """Report reads of unknown contents, and writes that make them known."""
        image, one = self.chunk.kernel.memory.image, self.chunk.kernel.program.instructions[piece.instruction]
        places = piece.addresses.astype(np.int64, copy=False)
        if one.traits.kind == "load":
            image.look(places, lane_bytes(one))
        else:
            image.note_stored(places if piece.active is None else places[piece.active], lane_bytes(one))


def _step(old: Piece, now: Piece) -> NDArray[np.int64]:
    """How far each lane's address has moved, (lanes,)."""
    return now.addresses.astype(np.int64) - old.addresses.astype(np.int64)


def _until_a_word_wraps(before: Value, middle: Value, now: Value) -> int:
    """Rounds, at least, until a register of equal steps leaves the range of its kind, signed or not; 0 for others."""
    step = now - middle
    if not _equal(step, middle - before):
        return 0
    steps = np.asarray(step).view(np.int32)
    least, most = int(steps.min()), int(steps.max())
    rooms = [int(ENDLESS)]
    for kind in (np.uint32, np.int32):
        value, limits = np.asarray(now).view(kind), np.iinfo(kind)
        if most > 0:
            rooms.append((limits.max - int(value.max())) // most)
        if least < 0:
            rooms.append((int(value.min()) - limits.min) // -least)
    return min(rooms)


def _until_decided_otherwise(modifiers: tuple[str, ...], rounds: list[tuple[Value, Value]]) -> int:
    """Rounds for which a comparison keeps its result."""
    relation = next((word for word in modifiers if word in RELATIONS), None)
    if relation is None:
        return 0
    kind, sides = np.dtype(np.uint32 if "U32" in modifiers else np.int32), []
    for before, middle, now in zip(*rounds, strict=True):
        step = now - middle
        if not _equal(step, middle - before) or ("EX" in modifiers and np.any(step)):
            return 0
        sides.append((as_number(now, kind), as_number(step, np.dtype(np.int32)), kind))
    return int(ENDLESS) if "EX" in modifiers else int(np.min(rounds_unchanged(relation, *sides)))


def _equal(first: Value, second: Value) -> bool:
    return bool(np.all(first == second))


def _kept(value: Value) -> Value:
    return value.copy() if np.ndim(value) else value


def _read(x: State, name: str) -> Value:
    """A register or predicate by name, as the selected lanes or warps have it."""
    number = int(name.lstrip("URP"))
    if name.startswith("UP"):
        return x.get_uniform_predicate(number)
    if name.startswith("P"):
        return x.get_predicate(number)
    return x.get_uniform(number) if name.startswith("UR") else x.of_selected(x.rows[number])


def _write(x: State, name: str, value: Value) -> None:
    if name.startswith("UR"):
        x.put_uniform(int(name[2:]), value)
    else:
        x.put(int(name[1:]), value)
