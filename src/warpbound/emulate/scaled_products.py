"""Matrix products into tensor memory with a scale for each block of a row (tcgen05.mma.block_scale): UTCQMMA with two
more operands, UTCOMMA.

A scale is a byte for 32 neighbours along the depth of a row of A or a column of B, or for 16 (.4X): 2 ** (code - 127),
or E4M3 without its sign (UE4M3). It lies in tensor memory: of row r in row r % 32 and column r // 32; the instruction
descriptor states in which byte of the cell. The factors are multiplied by their scales first; sums are taken in float64
and rounded once, as without scales.

Source   PTX ISA, "Instruction descriptor" of .kind::mxf8f6f4 and .kind::mxf4, "Scale factor ID", "Layout
         of the scale factors"; the operands (one pair of registers has the addresses of both
         factors' scales) were read off code of Triton for sm_100a.
Models   Each block of a pair has the scales of its own rows of A, and those of all columns of B.
Omits    Refused: FP6 and FP4 in tensor memory, sparse factors, fewer than 128 rows in a block.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.block_pairs import blocks_of, members
from warpbound.emulate.bulk_copies import Numbers, Warps, issuing, uniform
from warpbound.emulate.float8 import FORMATS, powers_of_two
from warpbound.emulate.matrix_products import Element
from warpbound.emulate.operand_access import Site, predicate, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State
from warpbound.emulate.tensor_memory import address_of, cells, memory
from warpbound.emulate.tensor_memory_products import (
    ALL_ROWS,
    FP8_AND_LESS,
    Shape,
    add_product,
    multiply,
    read_factor,
    right_factor,
)
from warpbound.quick_dataclasses import dataclass

E2M1 = Element(4, FORMATS["E2M1"].decode)
_TYPES: dict[str, dict[int, Element]] = {"fp8": FP8_AND_LESS, "fp4": {1: E2M1}}  # by the rate of the product
_BY_POWERS = 1 << 23  # in an instruction descriptor: scales are powers of two
_OPERANDS_WITH_SCALES = 4  # behind the sum: scales, instruction descriptor, scales, predicate
_ADDRESS = 0x3FFF_FFFF  # the upper bits of a scale's address repeat its byte
_ROWS_OF_SCALES = 32


@dataclass(frozen=True)
class _Scales:
    """count : scales of a row. neighbours : elements that share a scale."""

    count: int
    neighbours: int
    decode: Callable[[NDArray[np.uint32]], NDArray[np.float64]]


def _scales_of(word: int, depth: int, here: Site) -> _Scales:
    """The scales of a factor whose rows have `depth` elements."""
    neighbours = 16 if here.has("4X") else 32
    decode = powers_of_two if word & _BY_POWERS else _unsigned
    return _Scales(depth // neighbours, neighbours, decode)


def _unsigned(codes: NDArray[np.uint32]) -> NDArray[np.float64]:
    return np.asarray(FORMATS["E4M3"].decode(codes & np.uint32(0x7F)), np.float64)


def shape_with_scales(word: int, here: Site) -> Shape:
    """The shape in an instruction descriptor with scales; refuses what is not executed."""
    types = _TYPES[here.instruction.traits.tensor]
    first, second = (types.get(word >> shift & 7) for shift in (7, 10))
    blocks = blocks_of(here)
    rows, columns = ((word >> 24 & 31) << 4) // blocks, (word >> 17 & 63) << 3
    packed = first is not None and first.packed and not here.instruction.operands[0].text.startswith("gdesc")
    if first is None or second is None or packed or word >> 2 & 1 or rows != ALL_ROWS:
        raise unsupported(here.instruction, f", instruction descriptor {word:#x}")
    return Shape(
        first, second, rows, columns, np.float32, negative=bool((word >> 13 ^ word >> 14) & 1),
        first_by_depth=not word >> 15 & 1, second_by_depth=not word >> 16 & 1, blocks=blocks,
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
        for word in distinct(words):
            warps, shape = everyone.some(words == word), shape_with_scales(int(word), here)
            kind, right = _scales_of(int(word), shape.depth, here), right_factor(x, b, warps, shape)
            for member in members(warps, shape.blocks):
                left = read_factor(x, a, member, shape.left, shape.lanes)
                left = left * _scales_at(x, (of_a, int(word) >> 29 & 3), member, shape.rows, kind)
                scaled = right * _scales_at(x, (of_b, int(word) >> 4 & 3), member, shape.columns, kind)
                product = np.matmul(left, scaled.transpose(0, 2, 1))
                add_product(x, (member, target(x, member)), shape, product, keep[words == word])

    return handler


def _scales_at(x: State, where: tuple[int, int], warps: Warps, extent: int, kind: _Scales) -> NDArray[np.float64]:
    """The scale of every element of a factor, (warps, extent, depth). where : the register with their address, and the
    byte of a cell with the first of a row."""
    register, byte = where
    row = np.arange(extent)
    address: Numbers = uniform(x, register, warps) & _ADDRESS
    places = cells(x, warps, address, row[:, None] % _ROWS_OF_SCALES, row[:, None] // _ROWS_OF_SCALES)
    words = memory(x)[warps.block[:, None, None], places]
    codes = words >> (8 * (byte + np.arange(kind.count))).astype(np.uint32) & np.uint32(0xFF)
    return np.repeat(kind.decode(codes), kind.neighbours, axis=2)
