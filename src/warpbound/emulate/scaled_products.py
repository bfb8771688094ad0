"""Matrix products into tensor memory with a scale for each block of a row (tcgen05.mma.block_scale): UTCQMMA with two
more operands, UTCOMMA.

A scale is a byte, 2 ** (code - 127), for 32 neighbours along the depth of a row of A or a column of B. It lies in
tensor memory: of row r in row r % 32 and column r // 32; the instruction descriptor says in which byte of the cell. The
factors are multiplied by their scales first; sums are taken in float64 and rounded once, as without scales.

Source   PTX ISA, "Instruction descriptor" of .kind::mxf8f6f4 and .kind::mxf4, "Scale factor ID", "Layout
         of the scale factors"; the operands (one pair of registers has the addresses of both
         factors' scales) were read off code of Triton for sm_100a.
Omits    Refused: FP6, FP4 beside FP8, scales of UE4M3, blocks of 16, sparse factors, pairs of blocks.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.bulk_copies import Numbers, Warps, issuing, uniform
from warpbound.emulate.float8 import FORMATS, powers_of_two
from warpbound.emulate.matrix_products import Element
from warpbound.emulate.operand_access import Site, predicate, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State
from warpbound.emulate.tensor_memory import address_of, cells, memory
from warpbound.emulate.tensor_memory_products import FP8_AND_LESS, Shape, add_product, multiply, read_factor
from warpbound.emulate.warpgroup_products import Factor

E2M1 = Element(4, FORMATS["E2M1"].decode)
_TYPES: dict[str, dict[int, Element]] = {
    "UTCQMMA": FP8_AND_LESS,
    "UTCOMMA": {1: E2M1},
}
_BLOCK = 32  # neighbours that share a scale
_OPERANDS_WITH_SCALES = 4  # behind the sum: scales, instruction descriptor, scales, predicate
_ADDRESS = 0x3FFF_FFFF  # the upper bits of a scale's address repeat its byte
_ROWS_OF_SCALES = 32


def shape_with_scales(word: int, here: Site) -> Shape:
    """The shape in an instruction descriptor with scales; refuses what is not executed."""
    types = _TYPES[here.instruction.opcode]
    first, second = (types.get(word >> shift & 7) for shift in (7, 10))
    rows, columns = (word >> 24 & 31) << 4, (word >> 17 & 63) << 3
    by_powers = word >> 23 & 1
    packed = first is not None and first.packed and not here.instruction.operands[0].text.startswith("gdesc")
    if first is None or second is None or packed or word >> 2 & 1 or not by_powers or rows != 2 * 64:
        raise unsupported(here.instruction, f", instruction descriptor {word:#x}")
    return Shape(
        first, second, rows, columns, whole=False, negative=bool((word >> 13 ^ word >> 14) & 1),
        first_by_depth=not word >> 15 & 1, second_by_depth=not word >> 16 & 1,
    )  # fmt: skip


@executes("UTCQMMA UTCOMMA")
def multiply_scaled(here: Site) -> Handler:
    """D = (A scaled) (B scaled), plus D where the predicate holds; without scales as other products."""
    a, b, d, *others = here.instruction.operands
    if here.instruction.opcode == "UTCQMMA" and len(others) < _OPERANDS_WITH_SCALES:
        return multiply(here)
    if len(others) != _OPERANDS_WITH_SCALES or not others[1].text.startswith("idesc"):
        raise unsupported(here.instruction)
    _, description, scales, flag = others
    of_a, of_b = (scales.terms[0].index + part for part in (0, 1))
    adding, register, target = predicate(flag, here), description.terms[0].index, address_of(d)

    def handler(x: State) -> None:
        everyone = issuing(x)
        words = uniform(x, register, everyone)
        keep = np.broadcast_to(adding(x), x.selected_lanes // 32)[everyone.own]
        for word in np.unique(words):
            warps, shape = everyone.some(words == word), shape_with_scales(int(word), here)
            rows = Factor(shape.rows, shape.depth, shape.first, shape.first_by_depth)
            columns = Factor(shape.columns, shape.depth, shape.second, shape.second_by_depth)
            matrix = read_factor(x, a, warps, rows, shape.lanes) * _scales(x, of_a, warps, rows, int(word) >> 29 & 3)
            right = read_factor(x, b, warps, columns) * _scales(x, of_b, warps, columns, int(word) >> 4 & 3)
            product = np.matmul(matrix, right.transpose(0, 2, 1))
            places = cells(x, warps, target(x, warps), shape.lanes[:, None], np.arange(shape.columns))
            add_product(x, (warps, places), -product if shape.negative else product, keep[words == word], shape.whole)

    return handler


def _scales(x: State, register: int, warps: Warps, factor: Factor, byte: int) -> NDArray[np.float64]:
    """The scale of every element of a factor, (warps, extent, depth). register : has the address of the scales;
    byte : where the first of a row lies in its cell."""
    row = np.arange(factor.extent)
    address: Numbers = uniform(x, register, warps) & _ADDRESS
    places = cells(x, warps, address, row[:, None] % _ROWS_OF_SCALES, row[:, None] // _ROWS_OF_SCALES)
    words = memory(x)[warps.block[:, None, None], places]
    codes = words >> (8 * (byte + np.arange(factor.depth // _BLOCK))).astype(np.uint32) & np.uint32(0xFF)
    return np.repeat(powers_of_two(codes), _BLOCK, axis=2)
