"""Matrix products of a warp: HMMA, IMMA, DMMA, QMMA, BMMA (sparse too), and what loads their fragments.

A register of lane l = 4 g + t holds E = 32 / bits neighbouring elements. For A it is row g (+ 8 in odd
registers of a 16-row shape) from column E t (+ 4 E per further pair of registers); for B column g of rows
E t (+ 4 E per register); C and D hold columns 2 t and 2 t + 1 of row g, then of row g + 8.
Sums are taken in float64 and rounded once; the hardware's own order and truncation are not documented.

Source   PTX ISA, "Matrix Fragments for mma", for every shape and type. Numbers of 6 bits lie in the lower bits of a
         byte, those of 4 bits two bits above: CUTLASS, mma_traits_sm120.hpp (`fp4_shift_A`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import memory_operand, window_address
from warpbound.emulate.float8 import FORMATS
from warpbound.emulate.loads_and_stores import checked_window
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.sparse_products import expanded
from warpbound.emulate.state import LANES, State, Value
from warpbound.program.instruction import RZ, Operand
from warpbound.quick_dataclasses import dataclass

_LANE = np.arange(LANES)
_GROUP, _IN_GROUP = _LANE // 4, _LANE % 4
SHAPES = {
    "16816": (16, 8, 16), "1688": (16, 8, 8), "1684": (16, 8, 4), "884": (8, 8, 4), "8x8x4": (8, 8, 4),
    "8816": (8, 8, 16), "16832": (16, 8, 32), "16864": (16, 8, 64), "8832": (8, 8, 32),
    "88128": (8, 8, 128), "168128": (16, 8, 128), "168256": (16, 8, 256),
    "16x8x4": (16, 8, 4), "16x8x8": (16, 8, 8), "16x8x16": (16, 8, 16),
}  # fmt: skip


@dataclass(frozen=True)
class Element:
    """How the elements of A or B are coded: bits that each takes, and from unsigned integers to numbers.

    packed : bits of each of 16 neighbours that lie in a row at the start of their 16 bytes; 0: no such gaps.
    """

    bits: int
    decode: Callable[[NDArray[np.uint32]], NDArray[Any]]
    packed: int = 0


def _integer_element(bits: int, signed: bool) -> Element:  # noqa: FBT001  (a property of the type)
    def decode(raw: NDArray[np.uint32]) -> NDArray[Any]:
        value = raw.astype(np.int64)
        return value - (value >> (bits - 1) << bits) if signed else value

    return Element(bits, decode)


ELEMENTS: dict[str, Element] = {
    "F16": Element(16, lambda raw: raw.astype(np.uint16).view(np.float16).astype(np.float64)),
    "BF16": Element(16, lambda raw: (raw << np.uint32(16)).view(np.float32).astype(np.float64)),
    "TF32": Element(32, lambda raw: (raw & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)),
    **{name: Element(8, kind.decode) for name, kind in FORMATS.items() if name != "E2M1"},
    "E2M1": Element(8, lambda raw: FORMATS["E2M3"].decode(raw & np.uint32(0x3C))),  # in the middle of a byte
    **{f"{sign}{bits}": _integer_element(bits, sign == "S") for bits in (4, 8) for sign in "SU"},
}  # fmt: skip
BIT = _integer_element(1, signed=False)


def registers_of(x: State, operand: Operand, count: int) -> list[NDArray[np.uint32]]:
    """Consecutive registers of the selected warps, each (warps, 32); zeros for RZ."""
    if operand.index == RZ:
        return [np.zeros((x.selected_lanes // LANES, LANES), np.uint32)] * count
    return [x.get(operand.index + i).reshape(-1, LANES) for i in range(count)]


def left_matrix(registers: list[NDArray[np.uint32]], element: Element, rows: int, depth: int) -> NDArray[Any]:
    """A of every warp, (warps, rows, depth)."""
    per = 32 // element.bits
    tall = rows // 8
    matrix = np.zeros((len(registers[0]), rows, depth))
    for i, words in enumerate(registers):
        row = _GROUP + 8 * (i % tall)
        for e in range(per):
            column = per * _IN_GROUP + e + 4 * per * (i // tall)
            matrix[:, row, column] = element.decode(_bits(words, element.bits, e))
    return matrix


def right_matrix(registers: list[NDArray[np.uint32]], element: Element, depth: int) -> NDArray[Any]:
    """B of every warp, (warps, depth, 8)."""
    per = 32 // element.bits
    matrix = np.zeros((len(registers[0]), depth, 8))
    for i, words in enumerate(registers):
        for e in range(per):
            row = per * _IN_GROUP + e + 4 * per * i
            matrix[:, row, _GROUP] = element.decode(_bits(words, element.bits, e))
    return matrix


def _bits(words: NDArray[np.uint32], bits: int, place: int) -> NDArray[np.uint32]:
    if bits == 32:
        return words
    return words >> np.uint32(bits * place) & np.uint32((1 << bits) - 1)


@executes("HMMA IMMA BMMA")
def multiply(here: Site) -> Handler:
    """HMMA, IMMA, QMMA: D = A B + C; BMMA: C and how many bits A and B have in common, or how many differ (.XOR)."""
    shape = next((SHAPES[m] for m in here.instruction.modifiers if m in SHAPES), None)
    if shape is None:
        raise unsupported(here.instruction)
    rows, _, depth = shape
    first, second = elements_of(here)
    a, b, c, *metadata = [operand for operand in here.instruction.operands[1:] if operand.kind == "register"]
    output = here.instruction.operands[0]
    stored = depth // 2 if here.has("SP") else depth
    a_count, b_count = rows * stored * first.bits // 1024, max(1, 8 * depth * second.bits // 1024)
    selector = int(here.instruction.operands[-1].value) if here.has("SP") else 0
    whole = here.instruction.traits.tensor in ("int8", "int1")
    half = not whole and "F32" not in here.instruction.modifiers
    saturate, differing = here.has("SAT"), here.has("XOR")

    def handler(x: State) -> None:
        left = left_matrix(registers_of(x, a, a_count), first, rows, stored)
        if stored < depth:
            left = expanded(left, registers_of(x, metadata[0], 1)[0], first.bits, selector)
        right = right_matrix(registers_of(x, b, b_count), second, depth)
        product = np.matmul(left, right)
        if differing:
            product = left.sum(axis=2)[:, :, None] + right.sum(axis=1)[:, None, :] - 2 * product
        addend = accumulator(registers_of(x, c, _words(rows, half)), rows, half, whole)
        total = product + addend
        if whole and saturate:
            total = np.clip(total, -(2.0**31), 2.0**31 - 1)
        for i, word in enumerate(accumulated(total, half, whole)):
            x.put(output.index + i, word.reshape(-1))

    return handler


def elements_of(here: Site) -> tuple[Element, Element]:
    """The elements of A and of B, by the modifiers and the opcode."""
    names = [m for m in here.instruction.modifiers if m in ELEMENTS]
    type_ = here.instruction.traits.tensor
    if type_ == "int1":
        return BIT, BIT
    if type_ == "fp16":
        name = next((m for m in names if m in ("BF16", "TF32")), "F16")
        return ELEMENTS[name], ELEMENTS[name]
    if type_ == "fp8":
        names = [m for m in names if m != "F16"]
    if len(names) < 2:
        raise unsupported(here.instruction)
    return ELEMENTS[names[0]], ELEMENTS[names[1]]


def _words(rows: int, half: bool) -> int:  # noqa: FBT001  (the type of C)
    return rows // 8 * (1 if half else 2)


def accumulator(registers: list[NDArray[np.uint32]], rows: int, half: bool, whole: bool) -> NDArray[Any]:  # noqa: FBT001
    """C of every warp, (warps, rows, 8)."""
    matrix = np.zeros((len(registers[0]), rows, 8))
    for i, words in enumerate(registers):
        if half:
            for e in (0, 1):
                value = _bits(words, 16, e).astype(np.uint16).view(np.float16)
                matrix[:, _GROUP + 8 * i, 2 * _IN_GROUP + e] = value
        else:
            matrix[:, _GROUP + 8 * (i // 2), 2 * _IN_GROUP + i % 2] = words.view(np.int32 if whole else np.float32)
    return matrix


def accumulated(total: NDArray[Any], half: bool, whole: bool) -> list[NDArray[np.uint32]]:  # noqa: FBT001
    """D as the registers of the lanes."""
    words: list[NDArray[np.uint32]] = []
    for block in range(total.shape[1] // 8):
        pair = [total[:, _GROUP + 8 * block, 2 * _IN_GROUP + e] for e in (0, 1)]
        if half:
            low, high = (half.astype(np.float16).view(np.uint16).astype(np.uint32) for half in pair)
            words.append(low | high << np.uint32(16))
        elif whole:
            words += [half.astype(np.int64).astype(np.uint32) for half in pair]
        else:
            words += [half.astype(np.float32).view(np.uint32) for half in pair]
    return words


@executes("DMMA")
def multiply_double(here: Site) -> Handler:
    """DMMA: 8x8x4 and the larger shapes of sm_90, elements in register pairs."""
    rows, _, depth = next((SHAPES[m] for m in here.instruction.modifiers if m in SHAPES), (8, 8, 4))
    output, a, b, c = here.instruction.operands[:4]
    tall = rows // 8

    def pairs(x: State, operand: Operand, count: int) -> list[Value]:
        if operand.index == RZ:
            return [np.zeros((x.selected_lanes // LANES, LANES))] * count
        return [x.get_pair(operand.index + 2 * i).view(np.float64).reshape(-1, LANES) for i in range(count)]

    def handler(x: State) -> None:
        warps = x.selected_lanes // LANES
        left, right, total = np.zeros((warps, rows, depth)), np.zeros((warps, depth, 8)), np.zeros((warps, rows, 8))
        for i, value in enumerate(pairs(x, a, tall * depth // 4)):
            left[:, _GROUP + 8 * (i % tall), _IN_GROUP + 4 * (i // tall)] = value
        for i, value in enumerate(pairs(x, b, depth // 4)):
            right[:, _IN_GROUP + 4 * i, _GROUP] = value
        for i, value in enumerate(pairs(x, c, 2 * tall)):
            total[:, _GROUP + 8 * (i // 2), 2 * _IN_GROUP + i % 2] = value
        total += np.matmul(left, right)
        for i in range(2 * tall):
            x.put_pair(output.index + 2 * i, total[:, _GROUP + 8 * (i // 2), 2 * _IN_GROUP + i % 2].reshape(-1))

    return handler


# --- fragments through shared memory and across lanes ---


def _matrix_count(here: Site) -> int:
    return next((int(m) for m in here.instruction.modifiers if m in ("2", "4")), 1)


def transposed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """8x8 matrices of 16-bit elements held as fragments, (warps, 32), transposed."""
    elements = np.ascontiguousarray(words).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(elements.transpose(0, 2, 1)).reshape(-1, 64).view(np.uint32)


@executes("LDSM")
def load_matrix(here: Site) -> Handler:
    """LDSM: 1, 2 or 4 matrices of 8 rows of 16 bytes; lane 8 i + r gives the address of row r of matrix i."""
    if here.has("U8", "U4", "M816", "MT168", "M832", "M864"):
        raise unsupported(here.instruction)
    count, address = _matrix_count(here), window_address(memory_operand(here), here)
    output, turn = here.instruction.operands[0], here.has("MT88")

    def handler(x: State) -> None:
        places = _row_places(x, address(x), count)
        memory = x.windows["shared"].elements(16)
        for i in range(count):
            words = memory[places[:, 8 * i : 8 * i + 8]].reshape(-1, LANES)
            words = transposed(words) if turn else words
            x.put(output.index + i, words.reshape(-1))

    return handler


@executes("STSM")
def store_matrix(here: Site) -> Handler:
    """STSM."""
    count, address = _matrix_count(here), window_address(memory_operand(here), here)
    source, turn = here.instruction.operands[-1], here.has("MT88")

    def handler(x: State) -> None:
        places = _row_places(x, address(x), count)
        window = x.windows["shared"]
        memory = window.elements(16)
        for i in range(count):
            rows = places[:, 8 * i : 8 * i + 8]
            if window.written is not None:
                window.note_written(rows, 16)
            words = x.get(source.index + i).reshape(-1, LANES)
            words = transposed(words) if turn else words
            memory[rows] = words.reshape(-1, 8, 4)

    return handler


def _row_places(x: State, addresses: NDArray[np.uint32], count: int) -> NDArray[np.int64]:
    """Places of the rows among the elements of 16 bytes, (warps, 32); only the first 8 * count lanes give one."""
    giving = np.tile(np.arange(LANES) < 8 * count, x.selected_lanes // LANES)
    mask = x.mask
    x.mask = giving if mask is None else mask & giving
    try:
        places = checked_window(x, "shared", addresses, 16)
    finally:
        x.mask = mask
    return places.reshape(-1, LANES)


@executes("MOVM")
def move_matrix(here: Site) -> Handler:
    """MOVM.16.MT88: a fragment transposed."""
    source, output = here.sources[0], here.output
    if not here.has("MT88") or output is None:
        raise unsupported(here.instruction)
    return lambda x: x.put(output.index, transposed(x.get(source.index).reshape(-1, LANES)).reshape(-1))
