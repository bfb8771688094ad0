"""Records what sampled blocks do."""

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.alike_iterations import AlikeIterations
from warpbound.emulate.emulator import Chunk, Kernel
from warpbound.emulate.global_memory import TRACED_BASE
from warpbound.emulate.lane_queries import every
from warpbound.emulate.limits import LIMITS, PASS, Limits
from warpbound.emulate.mbarrier_log import MbarrierAccess, MbarrierLog, MbarrierLogger
from warpbound.emulate.operand_access import Read, constant, predicate, site
from warpbound.emulate.recorded_accesses import PACKED_SPACES, Piece, Rows
from warpbound.emulate.repeated_accesses import extend
from warpbound.emulate.state import LANES, Mask, State, ballots
from warpbound.emulate.steady_iterations import SteadyIterations
from warpbound.emulate.straight_line_code import Straight
from warpbound.emulate.trace_rows import joined
from warpbound.emulate.unknown_contents import CONTENTS_OF
from warpbound.isa.traits import Traits
from warpbound.program.cubin import reserved_shared_B
from warpbound.program.instruction import PT

SPACES = ("global", "shared", "local", "constant", "texture")
STREAMS = 8  # warps whose dynamic instructions are kept, spread over the sample
LONG = 20_000  # instructions of groups, some 0.2 s, after which a recording asks whether it has to be exact
PRODUCTS = {"matrix": 50, "warpgroup_matrix": 500, "tensor_memory": 500}  # instructions that take as long as one
COPIES = 100  # instructions that take as long as one copy whose bytes are computed and moved
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
        sample: NDArray[np.int64] | None = None,
        removable: Set[int] = frozenset(),
        limits: Limits = LIMITS,
    ) -> None:
        instructions = kernel.program.instructions
        self.executed = np.zeros((len(instructions), warps), np.int64)
        self.threads = np.zeros((len(instructions), warps), np.int64)
        self.switched_off = np.zeros((len(instructions), warps), np.int64)  # lanes, by the instruction's guard
        self.rows = {space: Rows(TRACED_BASE if space == "global" else 0, space in PACKED_SPACES) for space in SPACES}
        rows = np.arange(warps) if sample is None else sample
        self.streams: dict[int, list[NDArray[np.int32]]] = {
            int(rows[place]): [] for place in distinct(np.linspace(0, len(rows) - 1, STREAMS).astype(int))
        }
        self.kept_streams = frozenset(self.streams)
        self.watch: MbarrierLogger | None = None  # of mbarriers
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
        self.kept = self.dropped = self.left_out = 0  # accesses; those left out with whole iterations are also dropped
        self.noted = [0] * len(instructions)  # of those kept, by instruction
        self.bulk_extents: dict[int, tuple[int, int]] = {}  # bulk copy -> first byte of shared memory, end
        self.unknown: dict[str, set[int]] = {}  # array, or space -> instructions that read unknown contents of it
        kernel.memory.image.tell = self.unknown_read
        self.strays: dict[int, int] = {}  # instruction -> accesses outside arrays that were let through, lane by lane
        kernel.memory.image.tell_stray = self.stray if limits.out_of_bounds == PASS else None
        self.failed = 0  # threads that have ended where their assertion fails
        kernel.memory.image.tell_failed = self.assertion_failed if limits.failed_assertions == PASS else None
        self.log: list[int] = []
        self.issued = 0  # instructions that groups have executed, without those of `log`
        self.weights = [0 if at in removable else _weight(each.traits) for at, each in enumerate(instructions)]
        self.products = 0  # the instructions that products and copies represent
        self.when_long: Callable[[Recording], None] | None = None  # called once, after LONG instructions
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
            x.windows[space].watch(reserved_shared_B(chunk.kernel.program.arch) if space == "shared" else 0)
        first_warp, steps, straight = chunk.first_warp, 0, Straight(chunk, self)
        steady, alike = SteadyIterations(chunk, self), AlikeIterations(chunk, self)
        loops = {*steady.loops, *alike.loops}

        def step(at: int) -> int | None:
            nonlocal steps
            steps += 1
            if not steps & 127:
                if time.thread_time() > self.deadline:
                    raise chunk.too_long(f"{self.patience_s:g} s")
                self._look_whether_long()
            elif self.products > LONG and not steps & 15:
                self._look_whether_long()
            if self._turn != x.turn or len(self.log) >= LONGEST_LOG:
                self._begin(x, first_warp)
            if at in loops:
                alike.arrive(at)
                next_at = steady.arrive(at)
                if next_at is not None:
                    return next_at
            if straight.ends[at] > at + 1 and not (ready and straight.meets_others(at)):
                return straight.run(at)
            self.note(x, at)
            return handlers[at](x)  # type: ignore[no-any-return]

        return step

    def _look_whether_long(self) -> None:
        if self.when_long is not None and self.issued + len(self.log) + self.products > LONG:
            tell, self.when_long = self.when_long, None
            self.count()
            tell(self)

    def leave_out_guards(self, instructions: Set[int]) -> None:
        """Do not look at the guards of these instructions, which are arithmetic that nobody needs."""
        self.guards = [None if at in instructions else guard for at, guard in enumerate(self.guards)]
        self.idle |= instructions

    def note(self, x: State, at: int) -> None:
        """Log the instruction that executes next."""
        self.at = at
        self.log.append(at)
        self.products += self.weights[at]
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
        self.issued += len(self.log)
        self.log.clear()

    def issue(self, part: NDArray[np.int32]) -> None:
        """Add instructions to the streams of the group's warps."""
        for row, stream in self.streams.items():
            place = self._warps.searchsorted(row)
            if place < len(self._warps) and self._warps[place] == row:
                stream.append(part)

    def repeat(
        self, first: int, last: int, stream: NDArray[np.int32], times: int, before: tuple[Counts, ...]
    ) -> None:
        """Count instructions first .. last - 1 that many times more, each as often as since `before`, their counts.

        stream : what a warp issues in all these times.
        """
        self.count()
        rows = np.arange(first, last)[:, None]
        for counts, earlier in zip((self.executed, self.threads, self.switched_off), before, strict=True):
            counts[rows, self._warps] += times * (counts[rows, self._warps] - earlier)
        self.issue(stream)

    def counts_of(self, first: int, last: int) -> tuple[Counts, ...]:
        """How often the group's warps have executed instructions first .. last - 1, with how many lanes, and how many
        their guards have switched off."""
        self.count()
        at = np.arange(first, last)[:, None], self._warps
        return self.executed[at], self.threads[at], self.switched_off[at]

    def count_guarded(self, x: State, at: int, guard: Read) -> None:
        """Subtract the lanes that the guard of an instruction switches off."""
        value = guard(x)
        if not np.ndim(value):
            if value:
                return
            off = self._lanes_on
        elif not every(value):
            off = self._lanes_on - _lanes_per_warp(value if x.mask is None else value & x.mask)
        else:
            return
        self.threads[at, self._warps] -= off
        self.switched_off[at, self._warps] += off

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

    def append(self, space: str, piece: Piece) -> bool:
        """Record an access of the executing group that need not be executed; returns whether there was room."""
        self.at = piece.instruction
        has_room = self._room(len(piece.warps))
        if has_room:
            self.rows[space].append(piece)
        return has_room

    def bulk_shared(self, low: int, high: int) -> None:
        """The executing bulk copy reaches bytes low .. high - 1 of a block's shared memory, or some of them."""
        before = self.bulk_extents.get(self.at, (low, high))
        self.bulk_extents[self.at] = min(low, before[0]), max(high, before[1])

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
        """Record an access of the executing group this many more times, which takes no room."""
        if piece.is_kept:
            self.rows[space].repeat(piece, times)
        else:
            self.drop(times)

    def _room(self, count: int) -> bool:
        """Whether to record this many more accesses; each instruction may always record one per warp."""
        has_room = self.kept + count <= MOST_ACCESSES or self.noted[self.at] < self.executed.shape[1]
        self.kept += count * has_room
        self.noted[self.at] += count * has_room
        self.dropped += count * (not has_room)
        return has_room

    def extend(self, iteration: Sequence[tuple[Piece, NDArray[np.int64]]], iterations: int) -> int:
        """Record accesses of global memory for more iterations, as far as there is room; returns for how many."""
        each = len(self._warps)
        room = (MOST_ACCESSES - self.kept) // max(1, each * len(iteration))
        iterations_added = extend(self.rows["global"], iteration, min(iterations, room)) if iteration else iterations
        self.kept += iterations_added * each * len(iteration)
        for piece, _ in iteration:
            self.noted[piece.instruction] += iterations_added * each
        return iterations_added

    def is_full(self, first: int, last: int) -> bool:
        """Whether no more accesses of the group's instructions first .. last - 1 are recorded."""
        if self.kept + len(self._warps) <= MOST_ACCESSES:
            return False
        return all(noted == 0 or noted >= self.executed.shape[1] for noted in self.noted[first:last])

    @property
    def rounds(self) -> float:
        """How many times as many accesses there are as in executed iterations."""
        all_accesses = self.kept + self.dropped
        return all_accesses / (all_accesses - self.left_out) if self.left_out else 1.0

    def drop(self, accesses: int) -> None:
        """Count accesses by all of the executing group's warps that are not recorded."""
        self.dropped += accesses * len(self._warps)

    def arrive(self, at: int, warps: NDArray[np.int64]) -> None:
        """Count an instruction once more for warps of which other lanes have executed it already."""
        self.executed[at, warps + self.first_warp] += 1

    def watch_mbarriers(self, rows: NDArray[np.int64]) -> None:
        """Keep the streams of these rows, and their events at mbarriers."""
        self.watch = MbarrierLogger(rows.tolist())
        self.streams |= {row: [] for row in rows.tolist() if row not in self.streams}

    def at_mbarrier(self, clock: int, access: MbarrierAccess, own: NDArray[np.int64], over: Mask) -> None:
        """Warps `own` of the executing group are at mbarriers; over : whether that ended a phase."""
        if self.watch is not None:
            barriers = access.barriers + (self.first_warp << BARRIER_BITS)  # those of another chunk are others
            self.watch.note(replace(access, barriers=barriers), self.at, clock, self._warps[own], over)

    def mbarrier_log(self, warps: NDArray[np.int64]) -> MbarrierLog | None:
        """What was watched; warps : (block, warp in block) by row."""
        if self.watch is None:
            return None
        streams = {row: joined(self.streams[row]) for row in self.watch.rows}
        off = {
            row: frozenset(np.flatnonzero((self.executed[:, row] > 0) & (self.threads[:, row] == 0)).tolist())
            for row in self.watch.rows
        }
        return self.watch.mbarrier_log({row: int(warps[row, 0]) for row in self.watch.rows}, streams, off)

    def unknown_read(self, name: str) -> None:
        """Report that the instruction read an array with unknown contents."""
        self.unknown.setdefault(CONTENTS_OF.format(name=name), set()).add(self.at)

    def uncomputed(self, what: str) -> None:
        """Report that the instruction returned zeros in place of a result that is not computed."""
        self.unknown.setdefault(what, set()).add(self.at)

    def stray(self, lanes: int) -> None:
        """Count lanes of the instruction that were outside their arrays and let through."""
        self.strays[self.at] = self.strays.get(self.at, 0) + lanes

    def assertion_failed(self, lanes: int) -> None:
        """Count lanes that end where their assertion fails."""
        self.failed += lanes

    def fresh(self, what: str) -> None:
        """Report that the instruction read shared or local memory, or a register, that was never written."""
        if not self.passes_unset[self.at]:
            name = what if what.startswith("register") else f"{what} memory"
            self.unknown.setdefault(f"{name} that was never written", set()).add(self.at)


def _weight(traits: Traits) -> int:
    """The number of instructions that take as long as this one, if it moves or multiplies matrices; else 0."""
    if traits.kind == "copy":
        return COPIES
    return PRODUCTS.get(traits.kind, 0) if traits.tensor else 0


def _lanes_per_warp(lanes: Mask) -> NDArray[np.int64]:
    return np.bitwise_count(ballots(lanes)).astype(np.int64)


def guard_of(kernel: Kernel, at: int) -> Read | None:
    """The function that reads an instruction's guard; None without one. At a fast path all lanes take one side."""
    if at in kernel.short:
        return constant(np.bool_(kernel.short[at] != at + 1))
    instruction = kernel.program.instructions[at]
    guard = instruction.guard
    if guard is None or (guard.index == PT and not guard.invert):
        return None
    here = site(instruction, kernel.memory.constants, kernel.program.arch)
    return predicate(guard, replace(here, uniform=False))
