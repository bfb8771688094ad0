"""Iterations of loops in a steady state: recorded from three executed ones, not executed.

Models   Loops of the kind `steady_loops.SteadyLoop`. Three iterations are executed and watched. If they take the same
         path, and at each place of that path every changing register, every address and every operand of a comparison
         has taken two equal steps, and every predicate and lane mask stayed the same, then all later iterations are
         alike until a comparison changes its result, a word wraps around, or an address leaves its array. The
         iterations before that are counted and their addresses recorded; the last ones are executed.
"""

from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.counted_iterations import ENDLESS, RELATIONS, as_number, compared, iterations_unchanged
from warpbound.emulate.emulator import Chunk
from warpbound.emulate.fast_paths import follows, reached
from warpbound.emulate.memory_windows import SHIFTS
from warpbound.emulate.operand_access import Read, raw, site
from warpbound.emulate.recorded_accesses import Piece
from warpbound.emulate.repeated_accesses import moved
from warpbound.emulate.state import State, Value
from warpbound.emulate.steady_contents import Contents
from warpbound.emulate.steady_loops import SteadyLoop, shift_of, sources_of, steady_loops
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes
from warpbound.quick_dataclasses import dataclass

if TYPE_CHECKING:
    from warpbound.emulate.trace_recorder import Counts, Recording

SETTLED = 2  # iterations in a row after which a loop is watched
WATCHED = 3  # iterations that show two steps
LAST = 2  # iterations before the end of a steady state that are executed
FEWEST = 4  # iterations that are worth leaving out
PATIENCE = 1024  # arrivals, at most, for which a loop that did not become steady is left alone
MOST_MOVED = 1 << 12  # accesses to shared memory in omitted iterations that are recognised
LARGEST = 1 << 22  # instructions of a stream that are added at once
LONGEST_PATH = 1 << 16  # instructions of a watched iteration
MOST_WATCHED_B = 1 << 26  # most bytes of the addresses of a watched iteration
SIZE_CHECKED = 512  # instructions after which its size is looked at again


@dataclass(frozen=True)
class _Iteration:
    """One executed iteration: its path, the values written at each place, those that have to stay, the operands of
    comparisons and their places, the accesses."""

    path: list[int]
    words: list[Value]
    flags: list[Value]
    operands: list[tuple[int, Value, Value]]
    accesses: list[tuple[str, Piece]]
    sizes: dict[int, int] = field(default_factory=dict)  # of the accesses looked at so far, by id
    looked_at: list[int] = field(default_factory=list)  # how many, at each look

    def is_large(self) -> bool:
        """Whether it is too long to be watched."""
        if len(self.path) % SIZE_CHECKED:
            return False
        before = self.looked_at[-1] if self.looked_at else 0
        self.sizes.update((id(piece), piece.addresses.nbytes) for _, piece in self.accesses[before:])
        self.looked_at.append(len(self.accesses))
        return len(self.path) >= LONGEST_PATH or sum(self.sizes.values()) > MOST_WATCHED_B


@dataclass(frozen=True)
class _Left:
    """The path has left the loop, or the group meets others in it: where to continue, as a handler returns it."""

    move: int


class SteadyIterations:
    """Watches the loops of one chunk."""

    def __init__(self, chunk: Chunk, recording: "Recording") -> None:
        self.chunk, self.recording = chunk, recording
        kernel = chunk.kernel
        inside = reached(kernel.program, follows(kernel.program, kernel.short, kernel.whole_warp))
        counts = kernel.memory.image.tell_stray is None
        loops = steady_loops(kernel.program, recording.removable, inside) if counts else {}
        self.loops = {at: x for at, x in loops.items() if not any(chunk.polls[i] for i in x.body)}
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
        self._arrived: dict[int, tuple[int, int]] = {}  # loop -> steps at its last arrival, and since the one before
        self._in_a_row: dict[int, int] = {}  # arrivals as far apart as the one before
        self._wait: dict[int, int] = {}  # arrivals at a loop for which it is left alone
        self._failures: dict[int, int] = {}
        self._in_shared: dict[tuple[object, ...], Piece] = {}  # accesses of omitted iterations to shared memory

    def _shifted(self, x: Instruction) -> tuple[Read, np.uint32] | None:
        """The number that a sum shifts, and by how much."""
        kernel, shift = self.chunk.kernel, shift_of(x)
        if shift is None:
            return None
        return raw(sources_of(x)[0], site(x, kernel.memory.constants, kernel.program.arch)), np.uint32(shift)

    def arrive(self, at: int) -> int | None:
        """The chunk has arrived at the first instruction of a loop: execute and leave out iterations if it is worth it;
        as `run`."""
        return self.run(at) if at in self.loops and not self.meets_others(at) and self.may_be(at) else None

    def meets_others(self, at: int) -> bool:
        """Whether another lane group is ready inside the loop at `at`."""
        return any(place in self.loops[at].body for place in self.chunk.flow.groups.ready)

    def may_be(self, at: int) -> bool:
        """Whether the loop at `at`, at which the chunk has arrived, is worth watching now."""
        steps, (last, apart) = self.chunk.steps, self._arrived.get(at, (0, 0))
        self._in_a_row[at] = self._in_a_row.get(at, 0) + 1 if steps - last == apart else 0
        self._arrived[at] = steps, steps - last
        if self._wait.get(at, 0) > 0:
            self._wait[at] -= 1
            return False
        return self._in_a_row[at] >= SETTLED - 1

    def run(self, at: int) -> int | None:
        """Execute some iterations and omit those that follow from them.

        Returns where to continue, as a handler does; None if the loop has not ended and its next iteration may run.
        """
        loop, iterations, before = self.loops[at], list[_Iteration](), None
        first, last = min(loop.body), max(loop.body) + 1
        for iterations_left in range(WATCHED - 1, -1, -1):
            before = self.recording.counts_of(first, last) if not iterations_left else None
            this_iteration = self._watched(loop)
            if isinstance(this_iteration, _Left):
                self._put_off(at)
                return None if this_iteration.move == at else this_iteration.move
            iterations.append(this_iteration)
        count = min(self._alike(iterations), LARGEST // len(iterations[-1].path))
        self._in_a_row[at] = 0
        if count < FEWEST or before is None:
            self._put_off(at)
        else:
            self._leave_out(loop, iterations, count, before)
            self._failures[at], self._wait[at] = 0, LAST  # of the loop hardly more is left
        return None

    def _put_off(self, at: int) -> None:
        """Leave a loop alone for a while that was watched in vain."""
        self._failures[at] = self._failures.get(at, 0) + 1
        self._wait[at] = min(PATIENCE, 4 << min(8, self._failures[at]))

    def _watched(self, loop: SteadyLoop) -> _Iteration | _Left:
        """Execute an iteration."""
        this_iteration, at, meets = _Iteration([], [], [], [], []), loop.first, self.meets_others(loop.first)
        self.recording.seen = this_iteration.accesses
        try:
            while True:
                if at not in loop.body or meets or (this_iteration.path and this_iteration.is_large()):
                    return _Left(at)
                at = self._execute(loop, this_iteration, at)
                if at == loop.first:
                    break
        finally:
            self.recording.seen = None
        this_iteration.words.extend(_kept(read_value(self.chunk.x, name)) for name in loop.changed if "P" not in name)
        return this_iteration

    def _execute(self, loop: SteadyLoop, this_iteration: _Iteration, at: int) -> int:
        """Execute one instruction of an iteration and note its effects; returns the next one, or STOP."""
        chunk, recording, x = self.chunk, self.recording, self.chunk.x
        chunk.at = at
        recording.note(x, at)
        this_iteration.path.append(at)
        if at in loop.comparisons:
            first, second = self.comparisons[at]
            this_iteration.operands.append((at, _kept(first(x)), _kept(second(x))))
        this_iteration.flags.extend(_kept(read_value(x, name)) for name in loop.fixed.get(at, ()))
        if at in self.shifted:
            source, by = self.shifted[at]
            this_iteration.words.append(source(x) << by)
        move: int | None = chunk.handlers[at](x)
        for name in loop.writers.get(at, ()):
            (this_iteration.flags if "P" in name else this_iteration.words).append(_kept(read_value(x, name)))
        chunk.steps += 1
        x.clock += 1
        chunk.wrote = chunk.wrote or chunk.writes[at]
        return at + 1 if move is None else move

    def _alike(self, iterations: list[_Iteration]) -> int:
        """How many iterations follow that are like the last one."""
        code, endless = self.chunk.kernel.program.instructions, int(ENDLESS)
        if not all(a.path == b.path and len(a.accesses) == len(b.accesses) for a, b in pairwise(iterations)):
            return 0
        flags = [each.flags for each in iterations]
        if not all(_equal(a, b) for pair in pairwise(flags) for a, b in zip(*pair, strict=True)):
            return 0
        limits = self._limits(iterations, code)
        fewest = endless
        for limit in limits:
            fewest = min(fewest, limit)
            if fewest < FEWEST:
                return 0
        return 0 if fewest >= endless else fewest - LAST

    def _limits(self, iterations: list[_Iteration], code: tuple[Instruction, ...]) -> Iterator[int]:
        """For how many iterations each word, comparison and access continues as before."""
        for operands in zip(*(each.operands for each in iterations), strict=True):
            yield _until_decided_otherwise(code[operands[0][0]].modifiers, [each[1:] for each in operands])
        for words in zip(*(each.words for each in iterations), strict=True):
            yield _until_a_word_wraps(*words)
        for each in zip(*(each.accesses for each in iterations), strict=True):
            yield self._until_outside([piece for _, piece in each], {space for space, _ in each})

    def _until_outside(self, pieces: list[Piece], spaces: set[str]) -> int:
        """Iterations for which an access continues in equal steps inside its arrays."""
        before, middle, now = pieces
        if before is middle is now:
            return int(ENDLESS)
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
        if spaces == {"shared"}:
            return self._until_outside_window(now.instruction, at, step)
        if spaces != {"global"}:
            return 0
        size, limit = lane_bytes(self.chunk.kernel.program.instructions[now.instruction]), int(ENDLESS)
        for array in self.chunk.kernel.memory.image.allocations:
            inside = (at >= array.start) & (at < array.end)
            room = np.where(step > 0, array.end - size - at, at - array.start)[inside & (step != 0)]
            if len(room):
                limit = min(limit, int((room // np.abs(step[inside & (step != 0)])).min()))
        return limit

    def _until_outside_window(self, instruction: int, at: NDArray[np.int64], step: NDArray[np.int64]) -> int:
        """Iterations for which an access continues in equal steps inside the block's shared memory."""
        code, window = self.chunk.kernel.program.instructions[instruction], self.chunk.x.windows["shared"]
        if window.cluster > 1 or code.traits.width == "matrices":
            return 0
        room = np.where(step > 0, window.size - lane_bytes(code) - at, at)[step != 0]
        return int((room // np.abs(step[step != 0])).min())

    def _leave_out(
        self, loop: SteadyLoop, iterations: list[_Iteration], count: int, before: "tuple[Counts, ...]"
    ) -> None:
        """Count and record that many iterations, and advance the registers."""
        x, recording = self.chunk.x, self.recording
        first, last, path = min(loop.body), max(loop.body) + 1, np.array(iterations[-1].path, np.int32)
        recording.repeat(first, last, np.tile(path, count), count, before)
        steps, in_shared = [], []
        for (_, old), (space, piece) in zip(iterations[-2].accesses, iterations[-1].accesses, strict=True):
            if space == "global":
                steps.append((piece, _step(old, piece)))
            elif old is piece or not (step := _step(old, piece)).any():
                recording.repeat_access(space, piece, count)
            else:
                in_shared.append((piece, step))
        for piece, step in in_shared:
            self._add_shared(piece, step, count)
        contents = Contents(self.chunk.kernel, recording)
        iterations_added = recording.extend(steps, count) if contents.reads_are_noted(steps) else 0
        contents.note_stores(steps, iterations_added)
        for number in range(iterations_added + 1, count + 1 if steps else 0):
            if recording.is_full(first, last):
                recording.drop(len(steps) * (count + 1 - number))
                break
            for piece, step in steps:
                recording.append("global", further := moved(piece, number * step))
                contents.note(further)
        changed = [name for name in loop.changed if "P" not in name]
        end = len(iterations[-1].words)
        for name, old, now in zip(
            changed, iterations[-2].words[end - len(changed) :], iterations[-1].words[end - len(changed) :], strict=True
        ):
            if not _equal(now, old):
                write_value(x, name, now + (now - old) * np.uint32(count))
        x.clock += count * len(path)

    def _add_shared(self, piece: Piece, step: NDArray[np.int64], count: int) -> None:
        """Record an access to shared memory whose address moves, for this many iterations; repeats are counted."""
        recording, active = self.recording, piece.active
        parts = (piece.warps, piece.addresses, step, np.empty(0) if active is None else active)
        key = piece.instruction, count, *(part.tobytes() for part in parts)
        before = self._in_shared.get(key)
        if before is not None:
            recording.repeat_access("shared", before, 1)
            return
        addresses = piece.addresses.astype(np.int64) + np.arange(1, count + 1)[:, None] * step
        moving = Piece(
            piece.instruction, np.tile(piece.warps, count), addresses.ravel(),
            None if active is None else np.tile(active, count),
        )  # fmt: skip
        if recording.append("shared", moving) and len(self._in_shared) < MOST_MOVED:
            self._in_shared[key] = moving
        self._note_window(piece, addresses)

    def _note_window(self, piece: Piece, addresses: NDArray[np.int64]) -> None:
        """Report reads of unwritten memory, and note what is written; addresses : (iterations, lanes)."""
        x, code = self.chunk.x, self.chunk.kernel.program.instructions[piece.instruction]
        window, size = x.windows["shared"], lane_bytes(code)
        if window.written is None and window.left_out is None:
            return
        base = window.base(size) if x.index is None else window.base(size).take(x.index)
        places = base + (addresses >> SHIFTS[size])
        places = (places if piece.active is None else places[:, piece.active]).ravel()
        if "shared" in code.traits.stores:
            window.note_left_out(places, size)
        if window.written is None:
            return
        if "shared" in code.traits.stores:
            window.note_written(places, size)
        elif window.untouched(places, size).any():
            self.recording.fresh("shared")


def _step(old: Piece, now: Piece) -> NDArray[np.int64]:
    """How far each lane's address has moved, (lanes,)."""
    return now.addresses.astype(np.int64) - old.addresses.astype(np.int64)


def _until_a_word_wraps(before: Value, middle: Value, now: Value) -> int:
    """Iterations, at least, until a register of equal steps leaves the range of its kind, signed or not; else 0."""
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


def _until_decided_otherwise(modifiers: tuple[str, ...], iterations: list[tuple[Value, Value]]) -> int:
    """Iterations for which a comparison keeps its result."""
    relation = next((word for word in modifiers if word in RELATIONS), None)
    if relation is None:
        return 0
    kind, sides = np.dtype(np.uint32 if "U32" in modifiers else np.int32), []
    for before, middle, now in zip(*iterations, strict=True):
        step = now - middle
        if not _equal(step, middle - before) or ("EX" in modifiers and np.any(step)):
            return 0
        sides.append((as_number(now, kind), as_number(step, np.dtype(np.int32)), kind))
    return int(ENDLESS) if "EX" in modifiers else int(np.min(iterations_unchanged(relation, *sides)))


def _equal(first: Value, second: Value) -> bool:
    return bool(np.all(first == second))


def _kept(value: Value) -> Value:
    return value.copy() if np.ndim(value) else value


def read_value(x: State, name: str) -> Value:
    """A register or predicate by name, as the selected lanes or warps have it."""
    number = int(name.lstrip("URP"))
    if name.startswith("UP"):
        return x.get_uniform_predicate(number)
    if name.startswith("P"):
        return x.get_predicate(number)
    return x.get_uniform(number) if name.startswith("UR") else x.of_selected(x.rows[number])


def write_value(x: State, name: str, value: Value) -> None:
    if name.startswith("UR"):
        x.put_uniform(int(name[2:]), value)
    else:
        x.put(int(name[1:]), value)
