"""Products of a warp with a scale for each block along the depth (mma.block_scale of sm_120): QMMA.SF, OMMA.SF.

A scale is a byte: 2 ** (code - 127) for 32 neighbours, or E4M3 without its sign for 16 (.UE4M3.4X). Of row r of A the
lane 4 (r % 8) + 2 t + r // 8 has the scales, of column c of B the lane 4 c + t, the first block in byte b; t and b of
each factor are in a uniform register. The factors are multiplied by their scales first; the sum is that of QMMA.

Source   PTX ISA, "Block scaling for mma.sync"; which lanes have the scales: CUTLASS, mma_traits_sm120.hpp (SFALayout,
         SFBLayout). The order of the operands, and the bits of t and b, were read off code of NVRTC 13 for sm_120a.
Omits    Refused: sparse factors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.float8 import FORMATS, powers_of_two
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
from warpbound.emulate.operand_access import Site, raw, unsupported
from warpbound.emulate.scaled_products import E2M1
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State

_UNDERSTOOD = frozenset({"SF", "F32", "E8", "UE4M3", "4X", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1"})
_BLOCKS = {"E8": 32, "UE4M3": 16}  # neighbours that share a scale, by its type


@executes("QMMA OMMA")
def multiply_scaled(here: Site) -> Handler:
    """D = (A scaled) (B scaled) + C; QMMA without scales as other products."""
    if not here.has("SF") and here.instruction.opcode == "QMMA":
        return multiply(here)
    shape = next((SHAPES[m] for m in here.instruction.modifiers if m in SHAPES), None)
    formats = ELEMENTS | {"E2M1": E2M1} if here.instruction.opcode == "OMMA" else ELEMENTS
    names = [m for m in here.instruction.modifiers if m in FORMATS]
    if shape is None or len(names) != 2 or not here.modifiers <= _UNDERSTOOD | SHAPES.keys():
        raise unsupported(here.instruction)
    rows, _, depth = shape
    first, second = (formats[name] for name in names)
    output, a, b, c, of_a, of_b, selector = here.instruction.operands
    places = raw(selector, here)
    a_count, b_count = rows * depth * first.bits // 1024, 8 * depth * second.bits // 1024
    kind = next(each for each in _BLOCKS if here.has(each))

    def handler(x: State) -> None:
        row, column = np.arange(rows), np.arange(8)
        where = int(np.asarray(places(x)).reshape(-1)[0])
        byte_a, lane_a, byte_b, lane_b = where & 3, where >> 2 & 1, where >> 3 & 3, where >> 5 & 3
        matrix = left_matrix(registers_of(x, a, a_count), first, rows, depth)
        right = right_matrix(registers_of(x, b, b_count), second, depth)
        words = registers_of(x, of_a, 1)[0][:, 4 * (row % 8) + 2 * lane_a + row // 8]
        matrix = matrix * _scales(words, depth, byte_a, kind)
        words = registers_of(x, of_b, 1)[0][:, 4 * column + lane_b]
        right = right * _scales(words, depth, byte_b, kind).transpose(0, 2, 1)
        total = np.matmul(matrix, right) + accumulator(registers_of(x, c, rows // 4), rows, half=False, whole=False)
        for i, word in enumerate(accumulated(total, half=False, whole=False)):
            x.put(output.index + i, word.reshape(-1))

    return handler


def _scales(words: NDArray[np.uint32], depth: int, byte: int, kind: str) -> NDArray[Any]:
    """The scale of every element, (warps, extent, depth). byte : of the first block's scale; kind : of the scales."""
    places = (8 * (byte + np.arange(depth // _BLOCKS[kind]))).astype(np.uint32)
    codes = words[:, :, None] >> places & np.uint32(0xFF)
    numbers = powers_of_two(codes) if kind == "E8" else FORMATS["E4M3"].decode(codes & np.uint32(0x7F))
    return np.repeat(numbers, _BLOCKS[kind], axis=2)
