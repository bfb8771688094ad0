"""Addresses of memory accesses, lane by lane, and the memory space of a generic address."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.operand_access import Read, Site, join, raw
from warpbound.emulate.state import State, Value
from warpbound.program.instruction import RZ, Operand

SHARED_WINDOW = 0x7E00  # upper word of the generic addresses of shared memory
LOCAL_WINDOW = 0x7E01  # upper word of the generic addresses of local memory

_SCALES = {"X4": 4, "X8": 8, "X16": 16}


def memory_operand(here: Site) -> Operand:
    return next(operand for operand in here.instruction.operands if operand.kind == "memory")


def global_address(operand: Operand, here: Site) -> Callable[[State], NDArray[np.uint64]]:
    """64-bit addresses; a register without a suffix is a pair, .U32 a zero-extended word, a uniform one a pair."""
    reads = [_wide_term(term, here) for term in operand.terms if term.index != RZ]
    return _sum(np.uint64(int(operand.value) & 0xFFFF_FFFF_FFFF_FFFF), reads)


def _sum(offset: Value, reads: list[Read]) -> Callable[[State], NDArray[Any]]:
    def address(x: State) -> NDArray[Any]:
        total = offset
        for part in reads:
            value = part(x)
            total = value if total is offset and not offset else total + value
        return total if np.ndim(total) else np.full(x.selected_lanes, total, offset.dtype)

    return address


def _wide_term(term: Operand, here: Site) -> Read:
    if "U32" in term.suffixes or "32" in term.suffixes:
        word = raw(Operand(term.kind, term.text, index=term.index), here)
        return lambda x: word(x).astype(np.uint64)
    if term.kind == "register":
        index = term.index
        return lambda x: x.get_pair(index)
    low, high = (raw(Operand(term.kind, term.text, index=term.index + part), here) for part in (0, 1))
    return lambda x: join(low(x), high(x))


def window_address(operand: Operand, here: Site) -> Callable[[State], NDArray[np.uint32]]:
    """32-bit addresses of shared or local memory."""
    reads = [_narrow_term(term, here) for term in operand.terms if term.index != RZ]
    return _sum(np.uint32(int(operand.value) & 0xFFFF_FFFF), reads)


def _narrow_term(term: Operand, here: Site) -> Read:
    scale = next((np.uint32(_SCALES[s]) for s in term.suffixes if s in _SCALES), None)
    word = raw(Operand(term.kind, term.text, index=term.index), here)
    if scale is None:
        return word
    return lambda x: word(x) * scale
