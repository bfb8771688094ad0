"""Registers of a chunk in one place each, where the interpreter and NumPy's handlers both find them."""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.native.step import BANKS, CStep
from warpbound.emulate.state import UNIFORM_REGISTERS, State, Value

WIDTHS = 5
_POINTER, _NUMBER, _WORD = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
_PREDICATES = 8


class CChunk(ctypes.Structure):
    """`Chunk` of c/chunk.h."""

    _fields_ = (
        ("code", ctypes.POINTER(CStep)), ("length", _NUMBER), ("rows", _POINTER), ("convergence", _POINTER),
        ("uniform", _POINTER), ("predicates", _POINTER), ("uniform_predicates", _POINTER), ("row", _NUMBER),
        ("convergence_row", _NUMBER), ("predicate_row", _NUMBER), ("warp_count", _NUMBER), ("selected", _POINTER),
        ("lanes", _POINTER), ("count", _NUMBER), ("warps", _POINTER), ("masks", _POINTER), ("places", _POINTER),
        ("ready", _POINTER), ("shared", _POINTER), ("local", _POINTER), ("shared_base", _POINTER),
        ("local_base", _POINTER), ("shared_size", _NUMBER), ("local_size", _NUMBER), ("image", _POINTER),
        ("base", ctypes.c_uint64), ("slot_bits", _NUMBER), ("allocations", _NUMBER), ("starts", _POINTER),
        ("ends", _POINTER * WIDTHS), ("was_read", _POINTER), ("was_stored", _POINTER), ("banks", _POINTER * BANKS),
        ("bank_words", _NUMBER * BANKS), ("special", _POINTER), ("blocks", _POINTER), ("grid", _NUMBER * 3),
        ("block_warps", _NUMBER), ("sms", _NUMBER), ("cluster", _NUMBER), ("steps", _NUMBER), ("budget", _NUMBER),
        ("turns", _NUMBER), ("most_turns", _NUMBER), ("clock", _NUMBER), ("next", _NUMBER), ("chosen", _WORD),
        ("others", _WORD), ("polled", _WORD),
        ("wrote", _WORD), ("whole", _WORD), ("changed", _WORD),
    )  # fmt: skip


class NativeState(State):
    """The state of a chunk; rows stay where they are, and nothing is remembered of them."""

    def __init__(self, warps: int, registers: int, uniform_registers: int = UNIFORM_REGISTERS) -> None:
        super().__init__(warps, registers)
        self.uniform_file = np.zeros((uniform_registers, warps), np.uint32)
        self.uniform = list(self.uniform_file)
        self.uniform_predicate_file = np.zeros((_PREDICATES, warps), np.bool_)
        self.uniform_predicate_file[-1] = True
        self.uniform_predicates = list(self.uniform_predicate_file)
        self._nothing_known = bytes(len(self.normal))
        self.normal[:] = self._nothing_known

    def swap_scratch_row(self, register: int) -> None:
        self.put(register, self.fma_scratch.words)

    def get_pair(self, register: int) -> NDArray[np.uint64]:
        self._pairs.clear()
        return super().get_pair(register)

    def get_uniform(self, register: int) -> Value:
        return self._copied(self.uniform[register])

    def get_uniform_predicate(self, register: int) -> Value:
        return self._copied(self.uniform_predicates[register])

    def _copied(self, row: NDArray[Any]) -> NDArray[Any]:
        return row.copy() if self.warps is None else row.take(self.warps)

    def put_uniform(self, register: int, value: Value) -> None:
        self.uniform[register][...] = self._merged(self.uniform[register], value)

    def put_uniform_predicate(self, register: int, value: Value) -> None:
        self.uniform_predicates[register][...] = self._merged(self.uniform_predicates[register], value)

    def forget(self) -> None:
        """Discard what is known of registers, because they have changed."""
        self.normal[:] = self._nothing_known

    def fill(self, c: CChunk) -> None:
        """Tell the interpreter where the registers are."""
        rows = self.rows
        c.rows, c.row = _at(rows[0]), (_at(rows[1]) - _at(rows[0])) // 4
        c.predicates, c.predicate_row = _at(self.predicate_file), self.lane_count
        c.uniform, c.uniform_predicates = _at(self.uniform_file), _at(self.uniform_predicate_file)
        c.warp_count = self.warp_count

    def fill_convergence(self, c: CChunk) -> None:
        """Tell the interpreter where the barrier registers are, which few kernels need."""
        c.convergence, c.convergence_row = _at(self.convergence[0]), self.lane_count


def _at(array: NDArray[Any]) -> int:
    return array.ctypes.data


