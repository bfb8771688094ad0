"""Matrix products into tensor memory (tcgen05.mma): UTCHMMA, UTCQMMA, UTCIMMA.

One thread starts a product: D, in tensor memory, is A B, or A B + D. A lies in tensor memory, or in shared memory at
the place that a descriptor of 64 bits gives; B lies in shared memory. A word of 32 bits, the instruction descriptor,
gives types and shape. Sums are taken in float64 and rounded once; the hardware's own order and truncation are not
documented. A sum in FP16 takes the lower half of its cell.

The left factor may be sparse (.sp): half of it is kept, and metadata in tensor memory give the places.
A pair of blocks (.2CTA) multiplies together: each has the rows of A that it computes, and half of the columns of B.

Products with scales are those of scaled_products. FP6 and FP4 lie in shared memory as FP8 would, but each 16 neighbours
in a row at the start of their 16 bytes.

Source   PTX ISA, "Instruction descriptor" (E2M3 = 3, E3M2 = 4, E2M1 = 5), "Shared memory descriptor" and "Data path
         layout organization" of tcgen05 (letters A, B, D, F). FP6 and FP4: CUDA driver API,
         CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B and 16U4_ALIGN16B; Colfax Research, "Sub-byte GEMM on NVIDIA Blackwell
         GPUs".
         Where the metadata of a row lie is printed there as pictures; in words in CUTLASS, mma_traits_sm100.hpp
         (`tmem_e_frg`): of 8 bits in the row's own lane, 1 bit for each number; of 16 and 32 bits as for mma.sp, rows g
         and g + 8 of 16 in lanes g (first half of the depth) and g + 8 of these 16.
Omits    Refused: sparse factors of 64 rows, of FP6 or FP4, or with a selector; FP6 and FP4 in tensor memory, .WS,
         masks of lanes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.block_pairs import PAIR, blocks_of, members
from warpbound.emulate.bulk_copies import Numbers, Warps, issuing, uniform
from warpbound.emulate.float8 import FORMATS
from warpbound.emulate.matrix_products import ELEMENTS, Element
from warpbound.emulate.operand_access import Site, predicate, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.sparse_products import chunks, placed
from warpbound.emulate.state import State
from warpbound.emulate.tensor_memory import COLUMNS, ROWS, address_of, cells, memory
from warpbound.emulate.warpgroup_products import Factor
from warpbound.program.instruction import Operand
from warpbound.program.product_shapes import SHAPE
from warpbound.quick_dataclasses import dataclass

_PACKED = ((3, "E2M3", 6), (4, "E3M2", 6), (5, "E2M1", 4))
FP8_AND_LESS = {  # number in the instruction descriptor -> element, with and without scales
    0: ELEMENTS["E4M3"], 1: ELEMENTS["E5M2"],
    **{number: Element(8, FORMATS[name].decode, bits) for number, name, bits in _PACKED},
}  # fmt: skip
_TYPES: dict[str, dict[int, Element]] = {  # opcode -> number in the instruction descriptor -> element
    "UTCHMMA": {0: ELEMENTS["F16"], 1: ELEMENTS["BF16"], 2: ELEMENTS["TF32"]},
    "UTCQMMA": FP8_AND_LESS,
    "UTCIMMA": {0: ELEMENTS["U8"], 1: ELEMENTS["S8"]},
}
_STEP_BITS = 256  # of a row of A along the depth
_SELECTOR = 3  # bits of an instruction descriptor: which part of the metadata
_SUMS: dict[int, type[np.generic]] = {0: np.float16, 1: np.float32, 2: np.int32}  # by their number in the descriptor
_NAMED = frozenset({"BF16", "TF32", "2CTA", "SP"})
_CODES, _BYTE = 8, 8  # codes of chunks in a cell; bits
_ROWS_OF_GROUP = 16  # of 64 rows, each 16 lie in lanes of their own 32
_FEW_ROWS, ALL_ROWS = 64, 128  # that a block computes


@dataclass(frozen=True)
class Shape:
    """The fields of an instruction descriptor. rows : of A and of the sum in each block; columns : of the sum; sums :
    its type; blocks : 2 for a pair; sparse : 1 if half of each row of A is kept."""

    first: Element
    second: Element
    rows: int
    columns: int
    sums: type[np.generic]
    negative: bool
    first_by_depth: bool
    second_by_depth: bool
    blocks: int
    sparse: int = 0

    @property
    def depth(self) -> int:
        return _STEP_BITS // self.first.bits << self.sparse

    @property
    def left(self) -> Factor:
        """What is kept of A."""
        return Factor(self.rows, self.depth >> self.sparse, self.first, self.first_by_depth)

    @property
    def right(self) -> Factor:
        """The part of B that lies in one block."""
        return Factor(self.columns // self.blocks, self.depth, self.second, self.second_by_depth)

    @property
    def lanes(self) -> Numbers:
        """The row of tensor memory of each row of A, if A lies there."""
        row = np.arange(self.rows)
        spread = self.rows == _FEW_ROWS and self.blocks == 1
        return row % _ROWS_OF_GROUP + row // _ROWS_OF_GROUP * 32 if spread else row

    @property
    def side_by_side(self) -> bool:
        """Whether the sum lies in neighbouring rows and columns of tensor memory, in order."""
        return self.rows == ALL_ROWS

    @property
    def places(self) -> tuple[Numbers, Numbers]:
        """Row and column of tensor memory of each number of the sum; a pair with 64 rows each folds the columns."""
        column = np.arange(self.columns)
        if self.rows != _FEW_ROWS or self.blocks == 1:
            return self.lanes[:, None], column
        half = self.columns // PAIR
        return self.lanes[:, None] + column // half * _FEW_ROWS, column % half


def shape_of(word: int, here: Site) -> Shape:
    """The shape in an instruction descriptor; refuses what is not executed."""
    types = _TYPES[here.instruction.opcode]
    first, second = (types.get(word >> shift & 7) for shift in (7, 10))
    blocks = blocks_of(here)
    rows, columns = ((word >> 24 & 31) << 4) // blocks, (word >> 17 & 63) << 3
    sparse = word >> 2 & 1
    sums = _SUMS.get(word >> 4 & 3)
    plain = rows in (_FEW_ROWS, ALL_ROWS) and (here.instruction.opcode == "UTCIMMA") == (sums is np.int32)
    plain &= not sparse or (rows == ALL_ROWS and not word & _SELECTOR and (first is None or not first.packed))
    if first is None or second is None or sums is None or not plain:
        raise unsupported(here.instruction, f", instruction descriptor {word:#x}")
    if first.packed and not here.instruction.operands[0].text.startswith("gdesc"):
        raise unsupported(here.instruction, " with FP6 or FP4 in tensor memory")
    return Shape(
        first, second, rows, columns, sums, negative=bool((word >> 13 ^ word >> 14) & 1),
        first_by_depth=not word >> 15 & 1, second_by_depth=not word >> 16 & 1, blocks=blocks,
        sparse=sparse,
    )  # fmt: skip


@executes("UTCHMMA UTCIMMA")
def multiply(here: Site) -> Handler:
    """D = A B, plus D where the predicate holds."""
    a, b, d, *others = here.instruction.operands
    description = next((x for x in others if x.text.startswith("idesc")), None)
    flag = next((x for x in others if x.kind == "uniform_predicate"), None)
    plain = len(others) == 3 and all(word in _NAMED or SHAPE.match(word) for word in here.modifiers)
    if not plain or description is None or flag is None:
        raise unsupported(here.instruction)
    adding, register, target = predicate(flag, here), description.terms[0].index, address_of(d)
    metadata = address_of(others[0])

    def handler(x: State) -> None:
        everyone = issuing(x)
        words = uniform(x, register, everyone)
        keep = np.broadcast_to(adding(x), x.selected_lanes // 32)[everyone.own]
        for word in distinct(words):
            warps, shape = everyone.some(words == word), shape_of(int(word), here)
            right = right_factor(x, b, warps, shape).transpose(0, 2, 1)
            for member in members(warps, shape.blocks):
                left = read_factor(x, a, member, shape.left, shape.lanes)
                if shape.sparse:
                    left = placed(left, _codes(x, member, metadata(x, member), shape), shape.first.bits)
                product = np.matmul(left, right)
                add_product(x, (member, target(x, member)), shape, product, keep[words == word])

    return handler


def read_factor(
    x: State, operand: Operand, warps: Warps, factor: Factor, lanes: Numbers | None = None
) -> NDArray[np.float64]:
    """A or B of every warp, (warps, extent, depth)."""
    if operand.text.startswith("gdesc"):
        words = [uniform(x, operand.terms[0].index + part, warps).astype(np.uint64) for part in (0, 1)]
        return factor.read(x, words[0] | words[1] << np.uint64(32), warps.block)
    per_column = 32 // factor.element.bits
    assert lanes is not None
    columns = np.arange(factor.depth // per_column)
    places = cells(x, warps, address_of(operand)(x, warps), lanes[:, None], columns)
    packed = memory(x)[warps.block[:, None, None], places]
    parts = [packed >> np.uint32(factor.element.bits * i) for i in range(per_column)]
    raw = np.stack(parts, axis=3).reshape(*packed.shape[:2], factor.depth)
    mask = np.uint32((1 << factor.element.bits) - 1)
    return np.asarray(factor.element.decode(raw & mask), np.float64)


def _codes(x: State, warps: Warps, address: Numbers, shape: Shape) -> NDArray[np.uint32]:
    """The codes of the chunks of every row of A, (warps, rows, chunks)."""
    row, code = np.arange(shape.rows)[:, None], np.arange(chunks(shape.depth, shape.first.bits))[None, :]
    lane, column, place = row + 0 * code, code // _CODES, code % _CODES + 0 * row
    if shape.first.bits > _BYTE:
        half = _CODES // 2
        lane, column = row % 8 + code // half * 8 + row // 16 * 16, 0 * code
        place = row // 8 % 2 * half + code % half
    words = memory(x)[warps.block[:, None, None], cells(x, warps, address, lane, column)]
    return np.asarray(words >> (4 * place).astype(np.uint32) & np.uint32(15))


def right_factor(x: State, b: Operand, warps: Warps, shape: Shape) -> NDArray[np.float64]:
    """B of every warp, (warps, columns, depth); of a pair, the columns of the even block first."""
    return np.concatenate([read_factor(x, b, member, shape.right) for member in members(warps, shape.blocks)], axis=1)


def add_product(
    x: State, where: tuple[Warps, Numbers], shape: Shape, product: NDArray[Any], keep: NDArray[np.bool_]
) -> None:
    """Write the product, plus what is there for the warps that keep it; where : the warps and their addresses."""
    warps, address = where
    product = -product if shape.negative else product
    if shape.side_by_side:
        cells(x, warps, address, np.array([shape.rows - 1]), np.array([shape.columns - 1]))  # which exist
        table = memory(x)[:, : ROWS * COLUMNS].reshape(-1, ROWS, COLUMNS)
        for at, block in enumerate(warps.block.tolist()):
            row, column = int(address[at]) >> 16, int(address[at]) & 0xFFFF
            target = table[block, row : row + shape.rows, column : column + shape.columns]
            target[:] = _sum(product[at], target if keep[at] else None, shape)
        return
    words, blocks, places = memory(x), warps.block[:, None, None], cells(x, warps, address, *shape.places)
    old = np.where(keep[:, None, None], words[blocks, places], np.uint32(0)) if keep.any() else None
    words[blocks, places] = _sum(product, old, shape)


def _sum(product: NDArray[Any], old: NDArray[np.uint32] | None, shape: Shape) -> NDArray[np.uint32]:
    """The words of a product, plus what these words hold."""
    half = shape.sums is np.float16
    if old is not None:
        old_words = np.ascontiguousarray(old)
        product = product + (old_words.astype(np.uint16) if half else old_words).view(shape.sums)
    if shape.sums is np.int32:
        return product.astype(np.int64).astype(np.uint32)
    rounded = product.astype(shape.sums)
    return rounded.view(np.uint16).astype(np.uint32) if half else rounded.view(np.uint32)
