"""Races on shared memory: accesses by different warps of a block whose order decides the contents.

Models   two accesses of one byte between the same two barriers by different warps, at least one of which changes the
         byte, and which are not both atomic. A store of the value that is there already is no race.
Omits    lanes of one warp; synchronisation by other means than the block's barrier 0 (`unchecked` names them).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.emulator import STEP_LIMIT, Chunk, make_ready
from warpbound.emulate.mbarrier_log import MbarrierAccess
from warpbound.emulate.memory_windows import Window
from warpbound.emulate.state import LANES, Mask, State
from warpbound.emulate.trace_recorder import guard_of
from warpbound.kernel_launch import Launch
from warpbound.program.instruction import RZ, Instruction
from warpbound.program.kernel import Program
from warpbound.program.registers import lane_bytes, matrices
from warpbound.quick_dataclasses import dataclass

SEVERAL = -2  # warps that have read a byte since the last barrier; NOBODY: none
NOBODY = -1
_LOCKS = ("CAS", "EXCH")
_WORD_B = 4
_STORES = ("store", "copy")
_ATOMICS = ("atomic", "reduction")

Cells = NDArray[np.int64]


@dataclass(frozen=True)
class Race:
    """Two accesses (instruction indices, the earlier one first) of a byte of shared memory by two warps of a block."""

    first: int
    second: int
    warps: tuple[int, int]
    address: int
    block: int


def unchecked(program: Program) -> str:
    """The synchronisation of a kernel other than barrier 0; empty if there is none."""
    for instruction in program.instructions:
        if instruction.traits.kind == "barrier" and not instruction.traits.is_block_barrier:
            return f"`{instruction.opcode}`"
        numbers = [x.value for x in instruction.operands if x.kind == "immediate"]
        if instruction.traits.is_block_barrier and ("ARV" in instruction.modifiers or any(numbers)):
            return "a named barrier"
        if instruction.opcode == "ATOMS" and any(word in instruction.modifiers for word in _LOCKS):
            return f"`{instruction.opcode}` that may be a lock"
    return ""


def shared_races(program: Program, launch: Launch, blocks: Sequence[int]) -> tuple[Race, ...]:
    """Races in these blocks of a launch, one for each pair of instructions; none where `unchecked` states why not.

    Raises InputError where a block does not run to its end.
    """
    if unchecked(program) or not any("shared" in each.traits.spaces for each in program.instructions):
        return ()
    kernel = make_ready(program, launch)
    if kernel.cluster_size > 1:
        return ()
    races: dict[tuple[int, int], Race] = {}
    run_blocks(kernel, np.asarray(blocks, np.int64), STEP_LIMIT, lambda chunk: _stepper(chunk, races))
    return tuple(races[pair] for pair in sorted(races))


def _stepper(chunk: Chunk, races: dict[tuple[int, int], Race]) -> Callable[[int], int | None]:
    """Executes an instruction and compares its accesses with earlier ones."""
    x, handlers, instructions = chunk.x, chunk.handlers, chunk.kernel.program.instructions
    if not isinstance(x.recorder, _Watch):
        x.recorder = _Watch(chunk, races)
    watch = x.recorder
    barriers = [instruction.traits.is_block_barrier for instruction in instructions]
    guards = [guard_of(chunk.kernel, at) if barrier else None for at, barrier in enumerate(barriers)]

    def step(at: int) -> int | None:
        watch.at = at
        if barriers[at]:
            guard = guards[at]
            meeting = x.active() if guard is None else x.active() & guard(x)
            watch.intervals[watch.lanes(x)[meeting]] += 1
        move: int | None = handlers[at](x)
        watch.settle()
        return move

    return step


class _Last:
    """The last access of each byte: by which warp, with which instruction, in which interval between barriers."""

    def __init__(self, count: int) -> None:
        self.warp: Cells = np.full(count, NOBODY, np.int64)
        self.at: Cells = np.zeros(count, np.int64)
        self.interval: Cells = np.full(count, -1, np.int64)
        self.atomic = np.zeros(count, np.bool_)
        self.changed = np.zeros(count, np.bool_)


@dataclass(frozen=True)
class _Bytes:
    """Bytes that one instruction accesses, one after the other: place in the chunk's shared memory, warp, interval."""

    places: Cells
    warps: Cells
    intervals: Cells

    def where(self, mask: Mask) -> "_Bytes":
        return _Bytes(self.places[mask], self.warps[mask], self.intervals[mask])


class _Watch:
    """Recorder of a chunk's accesses of shared memory."""

    def __init__(self, chunk: Chunk, races: dict[tuple[int, int], Race]) -> None:
        self.chunk, self.races, self.at = chunk, races, 0
        self.window: Window = chunk.x.windows["shared"]
        self.reads, self.writes = _Last(len(self.window.bytes)), _Last(len(self.window.bytes))
        self.intervals: Cells = np.zeros(chunk.x.lane_count, np.int64)  # barriers that each lane has come to
        self.pending: tuple[_Bytes, NDArray[np.uint8], NDArray[np.uint8] | None] | None = None

    def lanes(self, x: State) -> Cells:
        """The selected lanes, by their place in the chunk."""
        return np.arange(x.lane_count) if x.index is None else np.asarray(x.index)

    # --- what the emulator tells ---

    def access(self, x: State, space: str, addresses: NDArray[Any]) -> None:
        instruction = self.chunk.kernel.program.instructions[self.at]
        if space != "shared":
            return
        size, lanes = lane_bytes(instruction), self.lanes(x)
        taking_part = x.active().copy()
        if instruction.traits.width == "matrices":
            taking_part &= lanes % LANES < 8 * matrices(instruction)
        lanes = lanes[taking_part]
        starts = self.window.base(1)[lanes] + np.broadcast_to(addresses, len(taking_part))[taking_part].astype(np.int64)
        places = (starts[:, None] + np.arange(size)).ravel()
        access = _Bytes(places, np.repeat(lanes // LANES, size), np.repeat(self.intervals[lanes], size))
        kind = instruction.traits.kind
        if kind in _STORES or kind in _ATOMICS:
            stored = _stored(x, instruction, size, taking_part) if kind == "store" else None
            self.pending = access, self.window.bytes[places].copy(), stored
        else:
            self._read(access)

    def bulk(self, own: Cells, places: Cells, inside: Mask | None) -> None:
        """Bulk copies come with barriers in memory, which are not checked."""

    def bulk_shared(self, low: int, high: int) -> None:
        """As of `bulk`."""

    def again(self, space: str) -> Callable[[], None]:
        """No access is recorded a second time: all are executed."""
        return lambda: None

    def fresh(self, what: str) -> None:
        """A read of memory that was never written is no race."""

    def uncomputed(self, what: str) -> None:
        """Values are not followed."""

    def arrive(self, at: int, warps: Cells) -> None:
        """Nothing is counted."""

    def at_mbarrier(self, clock: int, access: MbarrierAccess, own: Cells, over: Mask) -> None:
        """Barriers in memory are not checked."""

    # --- comparison ---

    def _read(self, access: _Bytes) -> None:
        last = self.writes
        conflicts = _other(last, access) & last.changed[access.places]
        self._note(last, access.where(conflicts))
        keep, at = self.reads, access.places
        several = (keep.interval[at] == access.intervals) & (keep.warp[at] != access.warps)
        keep.warp[at] = access.warps
        twice = keep.warp[at] != access.warps  # another warp of this instruction
        keep.warp[at[several | twice]] = SEVERAL
        keep.at[at], keep.interval[at] = self.at, access.intervals

    def settle(self) -> None:
        """Compare what the instruction has written with earlier accesses."""
        if self.pending is None:
            return
        (access, before, stored), self.pending = self.pending, None
        after = self.window.bytes[access.places]
        atomic = self.chunk.kernel.program.instructions[self.at].traits.kind in _ATOMICS
        changed = before != after
        keep, at = self.writes, access.places
        both_atomic = keep.atomic[at] & atomic
        self._note(keep, access.where(_other(keep, access) & changed & ~both_atomic))
        self._note(self.reads, access.where(_other(self.reads, access) & changed))
        keep.warp[at] = access.warps
        if stored is not None:  # two warps of this instruction store different bytes
            keep.at[at], keep.interval[at] = self.at, access.intervals
            self._note(keep, access.where((keep.warp[at] != access.warps) & (stored != after)))
        keep.at[at], keep.interval[at], keep.atomic[at] = self.at, access.intervals, atomic
        keep.changed[at] = changed

    def _note(self, last: _Last, access: _Bytes) -> None:
        """Keep the first race of each pair of instructions."""
        earlier, rows = np.unique(last.at[access.places], return_index=True)
        for first, row in zip(earlier.tolist(), rows.tolist(), strict=True):
            place, size = int(access.places[row]), self.window.size
            warps = self.chunk.kernel.lanes_per_block // LANES
            other = int(last.warp[place])
            pair = (other % warps if other >= 0 else other, int(access.warps[row]) % warps)
            block = int(self.chunk.blocks[place // size])
            self.races.setdefault((first, self.at), Race(first, self.at, pair, place % size, block))


def _other(last: _Last, access: _Bytes) -> Mask:
    """Which bytes another warp accessed in the same interval."""
    at = access.places
    return np.asarray(
        (last.interval[at] == access.intervals) & (last.warp[at] != access.warps) & (last.warp[at] != NOBODY)
    )


def _stored(x: State, instruction: Instruction, size: int, taking_part: Mask) -> NDArray[np.uint8] | None:
    """The bytes that each lane stores, one after the other; None where all lanes store the same."""
    value = instruction.operands[-1]
    if value.kind != "register" or value.index == RZ or instruction.traits.width == "matrices":
        return None
    words = [x.get(value.index + i)[taking_part] for i in range(-(-size // _WORD_B))]
    raw = np.ascontiguousarray(np.stack(words, axis=1).astype("<u4")).view(np.uint8)
    return np.asarray(raw.reshape(len(words[0]), -1)[:, :size].ravel())
