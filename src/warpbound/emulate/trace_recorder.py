"""Runs sampled blocks and records the Trace."""

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.address_only_handlers import ADDRESS_ONLY
from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import Chunk, Kernel, handler_of, make_ready
from warpbound.emulate.global_memory import TRACED_BASE
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.lane_queries import every
from warpbound.emulate.launch_memory import GRID_BARRIER
from warpbound.emulate.limits import LIMITS, PASS, PATIENCE_S, Limits, stray_notes
from warpbound.emulate.livelock import Endless
from warpbound.emulate.meetings import MeetingRecorder, Meetings, Met
from warpbound.emulate.operand_access import Read, predicate, site
from warpbound.emulate.recorded_accesses import PACKED_SPACES, Piece, Rows
from warpbound.emulate.repeated_accesses import extend
from warpbound.emulate.state import LANES, Mask, State, ballots
from warpbound.emulate.steady_rounds import SteadyRounds
from warpbound.emulate.store_to_load import with_reloaded
from warpbound.emulate.straight_line_code import Straight
from warpbound.emulate.texture import COUNTED, unknown_source
from warpbound.emulate.trace import Trace, only_blocks
from warpbound.emulate.trace_rows import arrays_of, joined, warps_of
from warpbound.emulate.ungiven_contents import CONTENTS_OF, array_refusals
from warpbound.emulate.value_dependence import deciding_arrays, unknowns
from warpbound.emulate.value_slicing import Slice, slice_of
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Launch
from warpbound.program.instruction import PT
from warpbound.program.kernel import Program

SPACES = ("global", "shared", "local", "constant", "texture")
STREAMS = 8  # warps whose dynamic instructions are kept, spread over the sample
SAMPLE_STEP_LIMIT = 2_000_000  # within PATIENCE_S: a sampled block may wait for one that is not in the sample
MOST_ACCESSES = 2_000_000  # warp-wide accesses kept, over all spaces; 300 bytes each
Counts = NDArray[np.int64]
BARRIER_BITS = 40  # of the place of an mbarrier in the shared memory of a chunk
LONGEST_LOG = 50_000  # steps of one group that are counted together
WATCHED = ("shared", "local")  # spaces whose loads are checked for bytes that were never written


class Recording:
    """Recorder of one trace: one row per warp; first_warp is the row of the chunk's first warp.

    While a lane group runs, it only logs instructions; they are counted when another group takes over.
    """

    def __init__(
        self,
        kernel: Kernel,
        warps: int,
        sampled: NDArray[np.int64] | None = None,
        removable: Set[int] = frozenset(),
        limits: Limits = LIMITS,
    ) -> None:
        instructions = kernel.program.instructions
        self.executed = np.zeros((len(instructions), warps), np.int64)
        self.threads = np.zeros((len(instructions), warps), np.int64)
        self.rows = {space: Rows(TRACED_BASE if space == "global" else 0, space in PACKED_SPACES) for space in SPACES}
        rows = np.arange(warps) if sampled is None else sampled
        self.streams: dict[int, list[NDArray[np.int32]]] = {
            int(rows[place]): [] for place in np.unique(np.linspace(0, len(rows) - 1, STREAMS).astype(int))
        }
        self.kept_streams = frozenset(self.streams)
        self.watch: MeetingRecorder | None = None  # of mbarriers
        self.guards = [guard_of(kernel, at) for at in range(len(instructions))]
        self.passes_unset = [instruction.traits.passes_unset for instruction in instructions]
        self.watched = [
            space for space in WATCHED if any(space in instruction.traits.loads for instruction in instructions)
        ]
        self.removable = removable
        self.idle = frozenset(
            at for at in removable if instructions[at].traits.is_arithmetic and self.guards[at] is None
        )
        self.at = 0
        self.patience_s = limits.patience_s
        self.deadline = time.thread_time() + limits.patience_s
        self.kept = self.dropped = 0
        self.noted = [0] * len(instructions)  # of those kept, by instruction
        self.unknown: dict[str, set[int]] = {}  # array, or space -> instructions that read unknown contents of it
        kernel.memory.image.tell = self.unknown_read
        self.strays: dict[int, int] = {}  # instruction -> accesses outside arrays that were let through, lane by lane
        kernel.memory.image.tell_stray = self.stray if limits.out_of_bounds == PASS else None
        self.log: list[int] = []
        self.seen: list[tuple[str, Piece]] | None = None  # the accesses since it was emptied, where somebody wants them
        self._turn = -1
        self._last: Piece | None = None  # the last access, where it was looked at
        self._warps = np.empty(0, np.int64)
        self._lanes_on: NDArray[np.int64] | int = LANES

    def stepper(self, chunk: Chunk) -> Callable[[int], int | None]:
        """A function that executes and records one instruction of the chunk."""
        handlers, x, ready = chunk.handlers, chunk.x, chunk.flow.groups.ready
        x.recorder = self
        self.first_warp = chunk.first_warp
        self.count()
        self._turn = -1  # the turns of another chunk begin anew
        for space in self.watched:
            x.windows[space].watch()
        first_warp, steps, straight, steady = chunk.first_warp, 0, Straight(chunk, self), SteadyRounds(chunk, self)

        def step(at: int) -> int | None:
            nonlocal steps
            steps += 1
            if not steps & 127 and time.thread_time() > self.deadline:
                raise chunk.too_long(f"{self.patience_s:g} s")
            if self._turn != x.turn or len(self.log) >= LONGEST_LOG:
                self._begin(x, first_warp)
            if not ready and at in steady.loops and steady.may_be(at):
                left = steady.run(at)
                if left is not None:
                    return left
            if not ready and straight.ends[at] > at + 1:
                return straight.run(at)
            self.note(x, at)
            return handlers[at](x)  # type: ignore[no-any-return]

        return step

    def note(self, x: State, at: int) -> None:
        """Log the instruction that executes next."""
        self.at = at
        self.log.append(at)
        guard = self.guards[at]
        if guard is not None:
            self.count_guarded(x, at, guard)

    def _begin(self, x: State, first_warp: int) -> None:
        """Start recording another lane group."""
        self.count()
        self._turn = x.turn
        self._warps = x.selected_warps() + first_warp
        self._lanes_on = LANES if x.mask is None else _lanes_per_warp(x.mask)

    def count(self) -> None:
        """Add the logged instructions to the counts of the group's warps."""
        if not self.log:
            return
        at, times = np.unique(self.log, return_counts=True)
        whole = len(self._warps) == self._warps[-1] - self._warps[0] + 1
        warps = slice(int(self._warps[0]), int(self._warps[-1]) + 1) if whole else self._warps
        rows = at if whole else at[:, None]
        self.executed[rows, warps] += times[:, None]
        self.threads[rows, warps] += times[:, None] * self._lanes_on
        self.issue(np.array(self.log, np.int32))
        self.log.clear()

    def issue(self, part: NDArray[np.int32]) -> None:
        """Add instructions to the streams of the group's warps."""
        for row, stream in self.streams.items():
            place = self._warps.searchsorted(row)
            if place < len(self._warps) and self._warps[place] == row:
                stream.append(part)

    def repeat(
        self, first: int, last: int, stream: NDArray[np.int32], times: int, before: tuple[Counts, Counts]
    ) -> None:
        """Count instructions first .. last - 1 that many times more, each as often as since `before`, their counts.

        stream : what a warp issues in all these times.
        """
        self.count()
        rows = np.arange(first, last)[:, None]
        for counts, earlier in zip((self.executed, self.threads), before, strict=True):
            counts[rows, self._warps] += times * (counts[rows, self._warps] - earlier)
        self.issue(stream)

    def counts_of(self, first: int, last: int) -> tuple[Counts, Counts]:
        """How often the group's warps have executed instructions first .. last - 1, and with how many lanes."""
        self.count()
        rows = np.arange(first, last)[:, None]
        return self.executed[rows, self._warps], self.threads[rows, self._warps]

    def count_guarded(self, x: State, at: int, guard: Read) -> None:
        """Subtract the lanes that the guard of an instruction switches off."""
        value = guard(x)
        if not np.ndim(value):
            if not value:
                self.threads[at, self._warps] -= self._lanes_on
        elif not every(value):
            on = _lanes_per_warp(value if x.mask is None else value & x.mask)
            self.threads[at, self._warps] += on - self._lanes_on

    def access(self, x: State, space: str, addresses: NDArray[np.generic]) -> None:
        """Record the addresses of the executing group."""
        has_room = self._room(len(self._warps))
        self._last = None
        if not has_room and self.seen is None:
            return
        mask = None if x.mask is None else x.mask.copy()
        self._last = piece = Piece(self.at, self._warps, addresses.copy(), mask, has_room)
        if self.seen is not None:
            self.seen.append((space, piece))
        if has_room:
            self.rows[space].append(piece)

    def append(self, space: str, piece: Piece) -> None:
        """Record an access of the executing group that need not be executed."""
        self.at = piece.instruction
        if self._room(len(self._warps)):
            self.rows[space].append(piece)

    def bulk(self, own: NDArray[np.int64], places: NDArray[np.int64], inside: Mask | None) -> None:
        """Record bulk copies of the warps `own` of the executing group: places of 16 bytes in the image, (own, pieces);
        32 of them are a row of the trace."""
        warps, rows = len(own), -(-places.shape[1] // LANES)
        if not self._room(warps * rows):
            return
        addresses = np.zeros((warps, rows * LANES), np.int64)
        addresses[:, : places.shape[1]] = places
        active = np.zeros(addresses.shape, np.bool_)
        active[:, : places.shape[1]] = True if inside is None else inside
        self.rows["global"].append(
            Piece(self.at, np.repeat(self._warps[own], rows), addresses.reshape(-1), active.reshape(-1))
        )

    def again(self, space: str) -> Callable[[], None]:
        """A function that records the last access again: same warps, same addresses."""
        last = self._last

        def note() -> None:
            if last is None:
                self.drop(1)
                return
            if self.seen is not None:
                self.seen.append((space, last))
            self.repeat_access(space, last, 1)

        return note

    def repeat_access(self, space: str, piece: Piece, times: int) -> None:
        """Record an access so many times more, which takes no room; it was the executing group's."""
        if piece.is_kept:
            self.rows[space].repeat(piece, times)
        else:
            self.drop(times)

    def _room(self, count: int) -> bool:
        """Whether to record so many more accesses; each instruction may always record one per warp."""
        has_room = self.kept + count <= MOST_ACCESSES or self.noted[self.at] < self.executed.shape[1]
        self.kept += count * has_room
        self.noted[self.at] += count * has_room
        self.dropped += count * (not has_room)
        return has_room

    def extend(self, round_: Sequence[tuple[Piece, NDArray[np.int64]]], rounds: int) -> int:
        """Record accesses of global memory for more rounds, as far as there is room; returns for how many."""
        each = len(self._warps)
        room = (MOST_ACCESSES - self.kept) // max(1, each * len(round_))
        done = extend(self.rows["global"], round_, min(rounds, room)) if round_ else rounds
        self.kept += done * each * len(round_)
        for piece, _ in round_:
            self.noted[piece.instruction] += done * each
        return done

    def is_full(self, first: int, last: int) -> bool:
        """Whether no more accesses of instructions first .. last - 1 are recorded."""
        warps = self.executed.shape[1]
        return self.kept >= MOST_ACCESSES and all(noted == 0 or noted >= warps for noted in self.noted[first:last])

    def drop(self, accesses: int) -> None:
        """Count accesses by all of the executing group's warps that are not recorded."""
        self.dropped += accesses * len(self._warps)

    def arrive(self, at: int, warps: NDArray[np.int64]) -> None:
        """Count an instruction once more for warps of the chunk of which another part has come to it already."""
        self.executed[at, warps + self.first_warp] += 1

    def watch_meetings(self, rows: NDArray[np.int64]) -> None:
        """Keep the streams of these rows, and what they do at mbarriers."""
        self.watch = MeetingRecorder(rows.tolist())
        self.streams |= {row: [] for row in rows.tolist() if row not in self.streams}

    def meet(self, clock: int, met: Met, own: NDArray[np.int64], over: Mask) -> None:
        """Warps `own` of the executing group are at mbarriers; over : whether that ended a phase."""
        if self.watch is not None:
            barriers = met.barriers + (self.first_warp << BARRIER_BITS)  # those of another chunk are others
            self.watch.note(replace(met, barriers=barriers), self.at, clock, self._warps[own], over)

    def meetings(self, warps: NDArray[np.int64]) -> Meetings | None:
        """What was watched; warps : (block, warp in block) by row."""
        if self.watch is None:
            return None
        streams = {row: joined(self.streams[row]) for row in self.watch.rows}
        return self.watch.meetings({row: int(warps[row, 0]) for row in self.watch.rows}, streams)

    def unknown_read(self, name: str) -> None:
        """Report that the instruction read an array with unknown contents."""
        self.unknown.setdefault(CONTENTS_OF.format(name=name), set()).add(self.at)

    def stray(self, lanes: int) -> None:
        """Count lanes of the instruction that were outside their arrays and let through."""
        self.strays[self.at] = self.strays.get(self.at, 0) + lanes

    def fresh(self, what: str) -> None:
        """Report that the instruction read shared or local memory, or a register, that was never written."""
        if not self.passes_unset[self.at]:
            name = what if what.startswith("register") else f"{what} memory"
            self.unknown.setdefault(f"{name} that was never written", set()).add(self.at)


def _lanes_per_warp(lanes: Mask) -> NDArray[np.int64]:
    return np.bitwise_count(ballots(lanes)).astype(np.int64)


def guard_of(kernel: Kernel, at: int) -> Read | None:
    """What reads the guard of an instruction; None without one."""
    instruction = kernel.program.instructions[at]
    guard = instruction.guard
    if guard is None or (guard.index == PT and not guard.invert):
        return None
    here = site(instruction, kernel.memory.constants, kernel.program.arch)
    return predicate(guard, replace(here, uniform=False))


def trace(
    program: Program,
    launch: Launch,
    blocks: Sequence[int],
    *,
    step_limit: int | None = None,
    limits: Limits = LIMITS,
) -> Trace:
    """Trace of the given blocks (linear numbers) of a launch, each run to its end.

    step_limit : of each chunk of blocks; None: SAMPLE_STEP_LIMIT, and more where `limits` are more patient. A
    block that cannot continue (fault, deadlock, step limit) ends the sample; `stopped` holds the reason.
    Raises CommandError for block numbers outside the grid.
    """
    own = slice_of(program)
    kernel = _without_values(make_ready(program, launch, {**PLAIN, **COUNTED}), own)
    numbers = np.asarray(sorted(set(blocks)), np.int64)
    if not len(numbers) or numbers[0] < 0 or numbers[-1] >= kernel.block_count:
        raise CommandError(f"blocks to trace must be among 0 to {kernel.block_count - 1}.", "Give at least one.")
    executed = kernel.whole_clusters(numbers)
    warps = warps_of(kernel, executed)
    recording = Recording(kernel, len(warps), np.flatnonzero(np.isin(warps[:, 0], numbers)), own.unneeded, limits)
    if any(instruction.traits.waits_for == "mbarrier" for instruction in program.instructions):
        chosen = kernel.whole_clusters(numbers[len(numbers) // 2 : len(numbers) // 2 + 1])
        recording.watch_meetings(np.flatnonzero(np.isin(warps[:, 0], chosen)))
    if step_limit is None:
        step_limit = round(SAMPLE_STEP_LIMIT * max(1.0, limits.patience_s / PATIENCE_S))
    problem: InputError | None = None
    try:
        run_blocks(kernel, executed, step_limit, recording.stepper)
    except InputError as error:
        problem = error
    recording.count()
    result = _trace(kernel, executed, recording, problem)
    return result if len(executed) == len(numbers) else only_blocks(result, numbers)


def _without_values(kernel: Kernel, own: Slice) -> Kernel:
    """The kernel with handlers that compute no values outside the slice, and take its short ways."""
    program, builders = kernel.program, {**PLAIN, **COUNTED, **ADDRESS_ONLY}
    handlers = list(kernel.handlers)
    for i in own.unneeded:
        handlers[i] = handler_of(program.instructions[i], kernel.memory.constants, program.arch, builders)
    return replace(kernel, handlers=tuple(handlers), short={at: way.begin for at, way in own.ways.items()})


def _trace(kernel: Kernel, blocks: NDArray[np.int64], recording: Recording, problem: InputError | None) -> Trace:
    for i, instruction in enumerate(kernel.program.instructions):
        if (name := unknown_source(instruction.traits)) and recording.executed[i].any():
            recording.unknown.setdefault(name, set()).add(i)
    dropped = f"the addresses of {recording.dropped:,} accesses were not recorded: they count as others of their line"
    notes: tuple[str, ...] = (dropped,) if recording.dropped else ()
    notes += stray_notes(kernel.program, recording.strays)
    accesses = {space: rows.joined() for space, rows in recording.rows.items()}

    def reloads(loads: Set[int]) -> Set[int]:
        return with_reloaded(kernel.program, accesses["global"], loads)

    result = Trace(
        blocks=blocks,
        of_blocks=kernel.block_count,
        warps=warps_of(kernel, blocks),
        executed=np.ascontiguousarray(recording.executed.T),
        threads=np.ascontiguousarray(recording.threads.T),
        streams={row: joined(recording.streams[row]) for row in recording.streams if row in recording.kept_streams},
        accesses=accesses,
        unknown=unknowns(kernel.program, recording.unknown, reloads),
        ungiven=array_refusals(kernel.program, recording.unknown, reloads),
        arrays=arrays_of(kernel),
        stopped="" if problem is None else str(problem),
        waited=isinstance(problem, Endless),
        dropped=recording.dropped,
        notes=notes,
        meetings=recording.meetings(warps_of(kernel, blocks)),
    )
    unasked = {allocation.name for allocation in kernel.memory.image.allocations if not allocation.known} | {
        GRID_BARRIER
    }
    return replace(result, notes=notes + deciding_arrays(kernel.program, result, unasked))
