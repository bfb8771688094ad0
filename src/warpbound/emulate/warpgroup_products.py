"""Matrix products of a warpgroup (Hopper's wgmma): HGMMA, QGMMA, IGMMA.

Four warps multiply A, 64 rows from shared memory or registers, by B from shared memory. Warp w of the four holds rows
16 w to 16 w + 15 of the sum, as a warp's own product of 16 rows would, for every 8 columns. A 64-bit descriptor states
where a factor lies: start, two strides and a swizzle. The product is there at once; the kernel's fences and waits find
nothing to do. Of a sparse A (.sp) half is kept; a register of every lane states where it belongs, in each warp as for
mma.sp (`sparse_products`).
Sums are taken in float64 and rounded once; the hardware's own order and truncation are not documented.

Source   PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and "Matrix descriptor format"; which
         uniform registers hold the descriptors was read off compiled code of sm_90a. Metadata of sparse products:
         CUTLASS, mma_traits_sm90_gmma_sparse.hpp (`ELayout`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.matrix_products import (
    Element,
    accumulated,
    accumulator,
    elements_of,
    left_matrix,
    registers_of,
)
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.sparse_products import expanded
from warpbound.emulate.state import LANES, BadAccess, State, Value
from warpbound.program.instruction import RZ, Operand
from warpbound.quick_dataclasses import dataclass

_SHAPE = re.compile(r"64x(\d+)x(\d+)$")
WARPS, _ROWS = 4, 16  # of a warpgroup, of a warp
_BYTE = 8  # bits
_ROW_B = {0: 16, 1: 128, 2: 64, 3: 32}  # swizzle mode -> bytes of a row of an atom of 8 rows
_EVERY = np.ones((), np.bool_)
_ADDRESS = (1 << 14) - 1  # fields of a descriptor count units of 16 bytes
_KNOWN = frozenset({"F32", "F16", "BF16", "TF32", "E4M3", "E5M2", "S8", "U8", "SAT", "SP"})


@dataclass(frozen=True)
class Factor:
    """A matrix in shared memory. extent : rows of A or columns of B. by_depth : neighbours in memory lie along the
    depth, else along the extent."""

    extent: int
    depth: int
    element: Element
    by_depth: bool

    def places(self, descriptors: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Byte addresses of every element, (descriptors, extent, depth).

        An atom is 8 rows as wide as the swizzle, or 16 bytes without one. Strides lead from atom to atom: down the rows
        the second of the descriptor, along them the first; the other way round without a swizzle where rows lie across
        the depth.
        """
        fields = descriptors.astype(np.int64)[:, None, None]
        start, leading, stride = ((fields >> shift & _ADDRESS) << 4 for shift in (0, 16, 32))
        width = np.array([_ROW_B[int(mode)] for mode in descriptors >> np.uint64(62)])[:, None, None]
        across, along = np.arange(self.extent)[:, None], np.arange(self.depth)[None, :] * self.element.bits // 8
        if not self.by_depth:
            across, along = np.arange(self.depth)[None, :], np.arange(self.extent)[:, None] * self.element.bits // 8
        turned = (width == _ROW_B[0]) & (not self.by_depth)
        down, right = np.where(turned, leading, stride), np.where(turned, stride, leading)
        right = np.where(self.by_depth & (width > _ROW_B[0]), width, right)
        address = start + across % 8 * width + across // 8 * down + along % width + along // width * right
        return np.asarray(address ^ (address >> 7 & (width // 16 - 1)) << 4)

    def read(self, x: State, descriptors: NDArray[np.uint64], pieces: NDArray[np.int64]) -> NDArray[np.float64]:
        """The matrices, (descriptors, extent, depth), from pieces of the chunk's shared memory."""
        window, size = x.windows["shared"], max(1, self.element.bits // 8)
        places = self.places(descriptors)
        if places.max(initial=0) + size > window.size:
            reason = f"a descriptor of a matrix leads to {places.max():#x} of {window.size:#x} bytes of shared memory"
            raise BadAccess(0, reason)
        places += pieces[:, None, None] * window.size
        if self.element.packed:
            codes = _unpacked(window.elements(1), places, self.element.packed)
            return np.asarray(self.element.decode(codes), np.float64)
        words = window.elements(size)[places // size]
        if self.element.bits < _BYTE:  # neighbours along the depth share a byte
            words = words >> (np.arange(self.depth) * self.element.bits % _BYTE).astype(np.uint8)
            words = words & ((1 << self.element.bits) - 1)
        return np.asarray(self.element.decode(words.astype(np.uint32)), np.float64)


def _unpacked(memory: NDArray[np.uint8], places: NDArray[np.int64], bits: int) -> NDArray[np.uint32]:
    """The codes of elements of this many bits, 16 in a row at the start of 16 bytes; places : of one byte for each."""
    first_bit = places % 16 * bits
    byte = places // 16 * 16 + first_bit // _BYTE
    both = memory[byte].astype(np.uint32) | memory[byte + 1].astype(np.uint32) << np.uint32(_BYTE)
    return np.asarray(both >> (first_bit % _BYTE).astype(np.uint32) & np.uint32((1 << bits) - 1))


def _read(x: State, factor: Factor, register: int, pieces: NDArray[np.int64]) -> NDArray[np.float64]:
    """The matrix that each selected warp's descriptor names; warps with the same one share the work."""
    words = [np.broadcast_to(x.get_uniform(register + i), len(pieces)).astype(np.uint64) for i in (0, 1)]
    keys = np.stack([words[0] | words[1] << np.uint64(32), pieces.astype(np.uint64)], axis=1)
    distinct, which = np.unique(keys, axis=0, return_inverse=True)
    return factor.read(x, distinct[:, 0], distinct[:, 1].astype(np.int64))[which.reshape(-1)]


@dataclass(frozen=True)
class Sum:
    """C and D: four registers for every 8 columns, or two of packed halves."""

    half: bool
    whole: bool
    saturating: bool

    @property
    def registers(self) -> int:
        return 2 if self.half else 4

    def add(self, x: State, product: NDArray[Any], source: Operand, keep: Value, output: int) -> None:
        """Write the product, plus the source's registers in the warps that keep them."""
        if self.half:
            self._add_halves(x, product, source, keep, output)
            return
        total, count = _in_registers(product), product.shape[2] // 2
        if source.index != RZ:
            own = np.stack([x.get(source.index + i) for i in range(count)]).view(np.int32 if self.whole else np.float32)
            keeps = np.repeat(np.broadcast_to(np.reshape(keep, -1), len(product)), LANES)
            total = total + np.where(keeps, own, 0)
        if self.saturating:
            total = np.clip(total, -(2.0**31), 2.0**31 - 1)
        words = total.astype(np.int64).astype(np.uint32) if self.whole else total.astype(np.float32).view(np.uint32)
        for i in range(count):
            x.put(output + i, words[i])

    def _add_halves(self, x: State, product: NDArray[Any], source: Operand, keep: Value, output: int) -> None:
        for first in range(0, product.shape[2] // 8):
            part, step = product[:, :, 8 * first : 8 * first + 8], self.registers * first
            if source.index != RZ:
                own = registers_of(x, replace(source, index=source.index + step), self.registers)
                old = accumulator(own, _ROWS, half=True, whole=False)
                part = part + np.where(np.reshape(keep, (-1, 1, 1)), old, 0.0)
            for i, word in enumerate(accumulated(part, half=True, whole=False)):
                x.put(output + step + i, word.reshape(-1))


def _in_registers(product: NDArray[Any]) -> NDArray[Any]:
    """A product, (warps, 16, columns), as the lanes' registers hold it, (registers, lanes).

    Of every 8 columns a lane has two neighbours in its row and two in the row 8 further down.
    """
    warps, rows, columns = product.shape
    parts = product.reshape(warps, rows // 8, 8, columns // 8, 4, 2).transpose(3, 1, 5, 0, 2, 4)
    return parts.reshape(columns // 2, warps * LANES)


def _selector(operands: Sequence[Operand]) -> int:
    """Which lanes give the metadata of a sparse product."""
    return next((int(operand.value) for operand in operands if operand.kind == "immediate"), 0)


@executes("HGMMA QGMMA IGMMA")
def multiply_warpgroup(here: Site) -> Handler:
    """D = A B, plus C unless the predicate states that there is none."""
    instruction = here.instruction
    shape = next(filter(None, map(_SHAPE.match, instruction.modifiers)), None)
    is_known = all(word in _KNOWN or _SHAPE.match(word) for word in instruction.modifiers)
    if shape is None or not is_known or any(operand.negate for operand in instruction.operands):
        raise unsupported(instruction)
    columns, depth = int(shape[1]), int(shape[2])
    first, second = elements_of(here)
    output, a, *others = instruction.operands
    where = next(operand for operand in (a, *others) if operand.text.startswith("gdesc"))
    registers = [operand for operand in (a, *others) if operand.kind == "register"]
    metadata = registers.pop() if here.has("SP") else None
    stored, source, selector = depth // (2 if metadata else 1), registers[-1], _selector(others)
    adding = next((operand for operand in others if operand.kind == "uniform_predicate"), None)
    whole = instruction.traits.tensor == "int8"
    kind = Sum(half=not whole and not here.has("F32"), whole=whole, saturating=whole and here.has("SAT"))
    first_factor = Factor(WARPS * _ROWS, stored, first, by_depth="tnspA" not in where.suffixes)
    second_factor = Factor(columns, depth, second, by_depth="tnspB" not in where.suffixes)
    register = where.terms[0].index

    def handler(x: State) -> None:
        warps, owner = x.selected_warps(), x.windows["shared"].owner[::LANES]
        pieces = owner[warps]
        if a.kind == "register":
            rows = left_matrix(registers_of(x, a, _ROWS * stored * first.bits // 1024), first, _ROWS, stored)
        else:
            member = (warps - np.searchsorted(owner, pieces)) % WARPS
            whole_a = _read(x, first_factor, register, pieces).reshape(len(warps), WARPS, _ROWS, stored)
            rows = whole_a[np.arange(len(warps)), member]
        if metadata is not None:
            rows = expanded(rows, registers_of(x, metadata, 1)[0], first.bits, selector)
        columns_of_b = _read(x, second_factor, register + 2, pieces)
        keep = _EVERY if adding is None else x.get_uniform_predicate(adding.index) ^ np.bool_(adding.invert)
        kind.add(x, np.matmul(rows, columns_of_b.transpose(0, 2, 1)), source, keep, output.index)

    return handler
