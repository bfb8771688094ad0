"""Registers, predicates and uniform registers of a chunk of blocks, as the executing lane group sees them.

A chunk is W warps of 32 lanes; a row holds one register of all its L = 32 W lanes. The group that
executes is all lanes (index and mask None), all warps with some lanes off (mask), or some warps
(index, and mask where not all their lanes take part). Values are arrays over the lanes of the
selected warps, or scalars where every lane has the same.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.aligned_buffers import FmaScratch, aligned
from warpbound.emulate.global_memory import Image
from warpbound.emulate.lane_queries import every
from warpbound.emulate.mbarrier_log import MbarrierAccess
from warpbound.emulate.memory_windows import Window

Value = Any  # an array over the selected lanes (or warps, for uniform registers), or a NumPy scalar
Mask = NDArray[np.bool_]
Words = NDArray[np.uint32]

LANES = 32
NORMAL, FRESH = 1, 2  # of a register: surely without a subnormal float32; never written
UNIFORM_REGISTERS = 272  # sm_100 and later have more than the 63 of older machines
BARRIER_REGISTERS = 16
FEW_LANES = 1024  # whose pairs of registers are kept: more would take as much memory as the registers

_WITHIN = np.arange(LANES)


def ballots(lanes: Mask) -> Words:
    """One word per warp: bit i is lane i."""
    return np.packbits(lanes, bitorder="little").view(np.uint32)


def whole(x: "State", value: Value) -> NDArray[Any]:
    """A value as an array over the selected lanes."""
    return np.asarray(value) if np.ndim(value) else np.full(x.selected_lanes, value)


class Recorder(Protocol):
    """Interface that receives every memory access of the executing group, and every read of unwritten state."""

    def access(self, x: "State", space: str, addresses: NDArray[Any]) -> None: ...

    def bulk(self, own: NDArray[np.int64], places: NDArray[np.int64], inside: Mask | None) -> None: ...

    def bulk_shared(self, low: int, high: int) -> None: ...

    def again(self, space: str) -> Callable[[], None]: ...

    def fresh(self, space: str) -> None: ...

    def uncomputed(self, what: str) -> None: ...

    def arrive(self, at: int, warps: NDArray[np.int64]) -> None: ...

    def at_mbarrier(self, clock: int, access: MbarrierAccess, own: NDArray[np.int64], over: Mask) -> None: ...


class BadAccess(Exception):
    """An invalid memory access: the lane among the selected ones, and the problem."""

    def __init__(self, lane: int, problem: str) -> None:
        super().__init__(problem)
        self.lane = lane
        self.problem = problem


class State:
    """Registers of the warps of a chunk, and the lane group that executes.

    windows : "shared" and "local" memory.
    special : special registers by name, rows over all lanes or scalars.
    """

    image: Image
    windows: dict[str, Window]
    special: Mapping[str, Value]

    def __init__(self, warps: int, registers: int, uniform_registers: int = UNIFORM_REGISTERS) -> None:
        self.warp_count = warps
        self.lane_count = warps * LANES
        file = aligned(registers + 4, self.lane_count, np.uint32)
        self.rows = list(file)
        self.float_rows = list(file.view(np.float32))
        self.normal = bytearray([FRESH]) * max(registers + 4, 256)  # what is known of each register
        self.version = [0] * max(registers + 4, 256)  # how often each register has been written
        self.predicate_file = np.zeros((8, self.lane_count), np.bool_)
        self.predicate_file[-1] = True
        self.predicates = list(self.predicate_file)
        self.uniform: list[Value] = [np.uint32(0)] * uniform_registers
        self.uniform_predicates: list[Value] = [np.bool_(0)] * 7 + [np.bool_(1)]
        self._return_words: dict[str, Words] = {}
        self._pairs: dict[int, tuple[tuple[int, int, int], NDArray[np.uint64]]] = {}
        self._every = np.ones(self.lane_count, np.bool_)
        self._every.flags.writeable = False
        self.index: NDArray[np.int64] | None = None
        self.warps: NDArray[np.int64] | None = None
        self.mask: Mask | None = None
        self.selected_lanes = self.lane_count
        self.recorder: Recorder | None = None
        self.changed = False  # whether an atomic has changed memory; the reader resets it
        self.clock = 0
        self.turn = 0  # how often a group has been selected

    @cached_property
    def fma_scratch(self) -> FmaScratch:
        return FmaScratch(self.lane_count)

    @cached_property
    def convergence(self) -> list[Words]:
        """Barrier registers: a mask of lanes in each lane."""
        return list(np.zeros((BARRIER_REGISTERS, self.lane_count), np.uint32))

    def select(self, lanes: Mask | None) -> None:
        """Make `lanes` (one flag for each of the chunk; None for all) the group that executes."""
        self.index = self.warps = self.mask = None
        self.selected_lanes = self.lane_count
        self.turn += 1
        if lanes is None or every(lanes):
            return
        any_lane = np.asarray(lanes.reshape(-1, LANES).any(axis=1))
        if every(any_lane):
            self.mask = lanes
            return
        self.warps = np.flatnonzero(any_lane)
        self.index = (self.warps[:, None] * LANES + _WITHIN).ravel()
        self.selected_lanes = len(self.index)
        mask = lanes[self.index]
        self.mask = None if every(mask) else mask

    # --- lanes ---

    def active(self) -> Mask:
        """The active lanes of the selected warps; read-only."""
        return self._every[: self.selected_lanes] if self.mask is None else self.mask

    def spread(self, lanes: Mask) -> Mask:
        """Flags of selected lanes as flags of the whole chunk."""
        if self.index is None:
            return lanes
        whole = np.zeros(self.lane_count, np.bool_)
        whole[self.index] = lanes
        return whole

    def of_selected(self, row: NDArray[Any]) -> NDArray[Any]:
        """The values of a row over the whole chunk for the selected lanes."""
        return row if self.index is None else row.take(self.index)

    def return_words(self, part: str) -> Words:
        """A word of the register for return addresses, over the whole chunk."""
        return self._return_words.setdefault(part, np.zeros(self.lane_count, np.uint32))

    def selected_warps(self) -> NDArray[np.int64]:
        return np.arange(self.warp_count) if self.warps is None else self.warps

    # --- vector registers ---

    def note_fresh(self, register: int) -> None:
        """Report the read of a register that was never written; it holds zeros."""
        self.normal[register] = NORMAL
        if self.recorder is not None:
            self.recorder.fresh(f"register R{register}")

    def get(self, register: int) -> Words:
        if self.normal[register] == FRESH:
            self.note_fresh(register)
        row: Words = self.rows[register]
        return row if self.index is None else row.take(self.index)

    def put(self, register: int, value: Value) -> None:
        self.normal[register] = False
        self.version[register] += 1
        self.assign(self.rows[register], value)

    def put_float(self, register: int, value: Value) -> None:
        self.normal[register] = False
        self.version[register] += 1
        self.assign(self.float_rows[register], value)

    def swap_scratch_row(self, register: int) -> None:
        """Swap `fma_scratch.floats` with the register's row: the result becomes the register, the old row scratch."""
        scratch, row, floats = self.fma_scratch, self.rows[register], self.float_rows[register]
        self.rows[register], self.float_rows[register] = scratch.words, scratch.floats
        scratch.words, scratch.floats = row, floats
        self.normal[register] = False
        self.version[register] += 1

    def arithmetic(self) -> "np.errstate":
        """The context in which handlers run: nothing raises, underflow is noted."""
        return np.errstate(all="ignore", under="call", call=self._note_underflow)

    def _note_underflow(self, problem: str, flags: int) -> None:
        self.fma_scratch.note(problem, flags)

    def assign(self, row: NDArray[Any], value: Value) -> None:
        """Write `value` to the active lanes of a row of the chunk."""
        if self.mask is None:
            if self.index is None:
                row[...] = value
            else:
                row[self.index] = value
        elif self.index is None:
            np.copyto(row, value, where=self.mask)
        else:
            row[self.index[self.mask]] = value[self.mask] if np.ndim(value) else value

    def put_pair(self, register: int, value: Value) -> None:
        """Write 64-bit values (uint64, int64 or float64) to two registers."""
        halves = np.ascontiguousarray(value).reshape(-1).view(np.uint32)
        if len(halves) == 2:
            self.put(register, halves[0])
            self.put(register + 1, halves[1])
        else:
            self.put(register, halves[0::2])
            self.put(register + 1, halves[1::2])

    def get_pair(self, register: int) -> NDArray[np.uint64]:
        """Two registers as one number of 64 bits; of few lanes it is kept for the next read, and read-only."""
        stamp = self.turn, self.version[register], self.version[register + 1]
        before = self._pairs.get(register)
        if before is not None and before[0] == stamp:
            return before[1]
        pair = np.empty((self.selected_lanes, 2), np.uint32)
        pair[:, 0] = self.get(register)
        pair[:, 1] = self.get(register + 1)
        numbers = pair.view(np.uint64)[:, 0]
        if self.selected_lanes <= FEW_LANES:
            numbers.flags.writeable = False
            self._pairs[register] = stamp, numbers
        return numbers

    # --- uniform registers: one value per warp ---

    def get_uniform(self, register: int) -> Value:
        """The uniform register: one value per selected warp, or a scalar."""
        value = self.uniform[register]
        return value if self.warps is None or not value.ndim else value.take(self.warps)

    def broadcast(self, register: int) -> Value:
        """A uniform register, broadcast to the lanes."""
        value = self.get_uniform(register)
        return np.repeat(value, LANES) if value.ndim else value

    def put_uniform(self, register: int, value: Value) -> None:
        self.uniform[register] = self._merged(self.uniform[register], value)

    def put_uniform_predicate(self, register: int, value: Value) -> None:
        self.uniform_predicates[register] = self._merged(self.uniform_predicates[register], value)

    def get_uniform_predicate(self, register: int) -> Value:
        value = self.uniform_predicates[register]
        return value if self.warps is None or not value.ndim else value.take(self.warps)

    def _merged(self, old: Value, value: Value) -> Value:
        """The uniform register after the active warps wrote `value`; the old array stays as it was."""
        active_warps = None if self.mask is None else self.mask.reshape(-1, LANES).any(axis=1)
        if active_warps is not None and active_warps.all():
            active_warps = None
        if self.warps is None and active_warps is None:
            return value
        merged = np.array(np.broadcast_to(old, self.warp_count))
        value = np.broadcast_to(value, len(merged) if self.warps is None else len(self.warps))
        if self.warps is None:
            merged[active_warps] = value[active_warps]
        elif active_warps is None:
            merged[self.warps] = value
        else:
            merged[self.warps[active_warps]] = value[active_warps]
        return merged

    # --- predicates ---

    def get_predicate(self, register: int) -> Mask:
        row = self.predicates[register]
        return row if self.index is None else row.take(self.index)

    def put_predicate(self, register: int, value: Value) -> None:
        self.assign(self.predicates[register], value)
