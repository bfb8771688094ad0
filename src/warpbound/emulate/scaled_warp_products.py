"""Products of a warp with a scale for each block of 32 along the depth (mma.block_scale of sm_120): QMMA.SF, OMMA.SF.

A scale is a byte, 2 ** (code - 127). Of row r of A the lane 4 (r % 8) + r // 8 has the scales, of column c of B the
lane 4 c, the first block in the lowest byte. The factors are multiplied by their scales first; the sum is that of QMMA.

Source   PTX ISA, "Block scaling for mma.sync"; which lanes have the scales: CUTLASS, mma_traits_sm120.hpp (SFALayout,
         SFBLayout). The order of the operands was read off code of NVRTC 13 for sm_120a.
Omits    Refused: other lanes or bytes than the first (byte-id, thread-id), scales of UE4M3 (.4X), sparse factors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.matrix_products import (
    ELEMENTS,
    SHAPES,
    accumulated,
    accumulator,
    left_matrix,
    multiply,
    registers_of,
    right_matrix,
)
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.scaled_products import E2M1, by_powers_of_two
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State
from warpbound.program.instruction import RZ

_ELEMENTS = ELEMENTS | {"E2M1": E2M1}
_BLOCK = 32  # neighbours that share a scale
_UNDERSTOOD = frozenset({"SF", "F32", "E8", "E4M3", "E5M2", "E2M1"})


@executes("QMMA OMMA")
def multiply_scaled(here: Site) -> Handler:
    """D = (A scaled) (B scaled) + C; QMMA without scales as other products."""
    if not here.has("SF") and here.instruction.opcode == "QMMA":
        return multiply(here)
    shape = next((SHAPES[m] for m in here.instruction.modifiers if m in SHAPES), None)
    names = [m for m in here.instruction.modifiers if m in _ELEMENTS]
    operands = here.instruction.operands
    from_first = operands[-1].kind == "uniform" and operands[-1].index == RZ
    if shape is None or len(names) != 2 or not from_first or not here.modifiers <= _UNDERSTOOD | SHAPES.keys():
        raise unsupported(here.instruction)
    rows, _, depth = shape
    first, second = (_ELEMENTS[name] for name in names)
    output, a, b, c, of_a, of_b = operands[:6]
    a_count, b_count = rows * depth * first.bits // 1024, 8 * depth * second.bits // 1024

    def handler(x: State) -> None:
        row, column = np.arange(rows), np.arange(8)
        left = left_matrix(registers_of(x, a, a_count), first, rows, depth)
        right = right_matrix(registers_of(x, b, b_count), second, depth)
        left = left * _scales(registers_of(x, of_a, 1)[0][:, 4 * (row % 8) + row // 8], depth)
        right = right * _scales(registers_of(x, of_b, 1)[0][:, 4 * column], depth).transpose(0, 2, 1)
        total = np.matmul(left, right) + accumulator(registers_of(x, c, rows // 4), rows, half=False, whole=False)
        for i, word in enumerate(accumulated(total, half=False, whole=False)):
            x.put(output.index + i, word.reshape(-1))

    return handler


def _scales(words: NDArray[np.uint32], depth: int) -> NDArray[Any]:
    """The scale of every element, (warps, extent, depth)."""
    places = (8 * np.arange(depth // _BLOCK)).astype(np.uint32)
    return np.repeat(by_powers_of_two(words[:, :, None] >> places & np.uint32(0xFF)), _BLOCK, axis=2)
