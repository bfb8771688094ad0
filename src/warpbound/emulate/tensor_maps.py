"""Tensor maps: the 128 bytes that describe a tensor in global memory and a box of it to the copy engine.

Source   Which bits hold a field: what compilers make of PTX's tensormap.replace for sm_90 and sm_100, field by field.
         What the fields mean: PTX ISA, "Tensors" (bounds, strides, swizzling modes) and "tensormap.replace".
Omits    Refused: im2col, interleaved layouts, swizzles of atoms above 16 bytes, the padded types of 4 and 6 bits.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import InputError
from warpbound.kernel_argument import DTYPES, Argument
from warpbound.quick_dataclasses import dataclass

MAP_B = 128
# element types by their number: name, bits
TYPES = (
    ("u8", 8), ("u16", 16), ("u32", 32), ("s32", 32), ("u64", 64), ("s64", 64), ("f16", 16), ("f32", 32), ("f32", 32),
    ("f64", 64), ("bf16", 16), ("f32", 32), ("f32", 32), ("b4", 4),
)  # fmt: skip
_SWIZZLES = {0: 0, 1: 1, 2: 3, 3: 7}  # mode (none, 32, 64, 128 bytes) -> bits from 7 on that change those from 4 on
_FLOATS = frozenset({"f16", "f32", "f64", "bf16"})
_WIDEST = 16  # bytes that a swizzle moves together

Places = NDArray[np.int64]


@dataclass(frozen=True)
class TensorMap:
    """A tensor of elements of `bits` bits, the innermost axis first in every tuple.

    extents : elements along each axis. strides_B : from one index to the next, of all axes but the first.
    box, steps : elements of a box along each axis, and how far they lie apart. swizzle : mode, 0 to 3.
    """

    address: int
    kind: str
    bits: int
    extents: tuple[int, ...]
    strides_B: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int = 0
    fills_nan: bool = False

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that a box holds along each axis."""
        return tuple(-(-size // step) for size, step in zip(self.box, self.steps, strict=True))

    @property
    def row_B(self) -> int:
        """Bytes of a row of the box."""
        return self.counts[0] * self.bits // 8


def decode(raw: bytes) -> TensorMap | str:
    """The map in 128 bytes, or why it cannot be followed."""
    words = [int.from_bytes(raw[at : at + 4], "little") for at in range(0, 64, 4)]
    kinds, rank = words[2], (words[2] >> 4 & 7) + 1
    number = kinds >> 7 & 15
    if number >= len(TYPES):
        return "its elements are of a padded type of 4 or 6 bits"
    if kinds >> 11 & 3:
        return "its layout is interleaved"
    if kinds >> 19 & 3 or kinds >> 22 & 1:
        return "its swizzle moves more than 16 bytes at once"
    if rank > 5 or not words[0] | words[1]:
        return "it describes no tensor: it was not filled in, or the fence behind that is missing"
    kind, bits = TYPES[number]
    strides = tuple((words[3 + i] | (words[7] >> 4 * i & 15) << 32) << 4 for i in range(rank - 1))
    return TensorMap(
        words[0] | words[1] << 32, kind, bits,
        extents=tuple(words[8 + i] + 1 for i in range(rank)), strides_B=strides,
        box=tuple(raw[0x37 + i] + 1 for i in range(rank)),
        steps=tuple((words[13] >> 3 * i & 7) + 1 for i in range(rank)),
        swizzle=kinds >> 13 & 3, fills_nan=bool(kinds >> 15 & 1) and kind in _FLOATS,
    )  # fmt: skip


def encode(tensor_map: TensorMap) -> bytes:
    """The 128 bytes of a map, as `decode` reads them."""
    rank = len(tensor_map.box)
    number = TYPES.index((tensor_map.kind, tensor_map.bits))
    words = [0] * 16
    words[0], words[1] = tensor_map.address & 0xFFFF_FFFF, tensor_map.address >> 32
    words[2] = (rank - 1) << 4 | number << 7 | tensor_map.swizzle << 13 | int(tensor_map.fills_nan) << 15
    for i, stride in enumerate(tensor_map.strides_B):
        words[3 + i] = stride >> 4 & 0xFFFF_FFFF
        words[7] |= (stride >> 36 & 15) << 4 * i
    for i, extent in enumerate(tensor_map.extents):
        words[8 + i] = extent - 1
    words[13] = sum((step - 1) << 3 * i for i, step in enumerate(tensor_map.steps))
    raw = bytearray(b"".join(word.to_bytes(4, "little") for word in words).ljust(MAP_B, b"\0"))
    for i, size in enumerate(tensor_map.box):
        raw[0x37 + i] = size - 1
    return bytes(raw)


def swizzled(addresses: Places, mode: int) -> Places:
    """Shared addresses of bytes under a swizzle of 32, 64 or 128 bytes (modes 1 to 3)."""
    return np.asarray(addresses ^ (addresses >> 7 & _SWIZZLES[mode]) << 4)


_BY_DTYPE = {  # of an argument -> of a map, where the names differ
    "i8": "u8", "i16": "u16", "i32": "s32", "i64": "s64", "bool": "u8",
}  # fmt: skip


def map_of_array(argument: Argument) -> bytes:
    """The map of an array in C order with the argument's boxes; the address is left 0. Raises InputError."""
    dtype, name = str(argument.dtype), argument.name
    size_B, row_B = DTYPES[dtype].itemsize, argument.box[-1] * DTYPES[dtype].itemsize
    strides_B = [size_B * prod(argument.shape[axis:]) for axis in range(len(argument.shape) - 1, 0, -1)]
    if row_B % 16 or any(stride % 16 for stride in strides_B) or row_B > argument.swizzle > 0:
        reason = f"argument '{name}': rows of {row_B} bytes in a box, strides of {strides_B} bytes"
        hint = "Both are multiples of 16 bytes, and a row of a box is at most as long as the swizzle."
        raise InputError(f"{reason}, are none that a tensor map describes.", hint)
    return encode(TensorMap(
        0, _BY_DTYPE.get(dtype, dtype), 8 * size_B, extents=argument.shape[::-1], strides_B=tuple(strides_B),
        box=argument.box[::-1], steps=(1,) * len(argument.box), swizzle=(0, 32, 64, 128).index(argument.swizzle),
    ))  # fmt: skip


@dataclass(frozen=True)
class Pieces:
    """Boxes cut into pieces of `size` bytes that stay together. addresses, inside : (boxes, pieces), in the order of
    the box in shared memory; inside : None where no piece is outside the tensor."""

    size: int
    addresses: NDArray[np.uint64]
    inside: NDArray[np.bool_] | None


def pieces(tensor_map: TensorMap, start: Sequence[Places]) -> Pieces:
    """The boxes whose first elements are at `start`, (boxes,) for each axis."""
    return _pieces(tensor_map, start, tensor_map.counts[1:])


def gathered(tensor_map: TensorMap, column: Places, rows: Places) -> Pieces:
    """Rows of a matrix from `column` on, (boxes,), at any places `rows`, (boxes, n), each a row of a box."""
    n = rows.shape[1]
    boxes = _pieces(tensor_map, [np.repeat(column, n), rows.reshape(-1)], (1,))
    inside = None if boxes.inside is None else boxes.inside.reshape(len(rows), -1)
    return Pieces(boxes.size, boxes.addresses.reshape(len(rows), -1), inside)


def _pieces(tensor_map: TensorMap, start: Sequence[Places], outer: tuple[int, ...]) -> Pieces:
    bits, inner = tensor_map.bits, start[0].astype(np.int64)
    spread = tensor_map.steps[0] > 1
    parts = inner * bits // 8 | tensor_map.row_B | tensor_map.extents[0] * bits // 8 | tensor_map.address | _WIDEST
    together = int(np.bitwise_or.reduce(np.atleast_1d(parts)))
    size = bits // 8 if spread else min(_WIDEST, together & -together)
    step_B = tensor_map.steps[0] * bits // 8 if spread else size
    first, others = _grid(tensor_map.row_B // size, outer)
    along = (inner * bits // 8)[:, None] + (first * step_B)[None, :]
    inside = (along >= 0) & (along < tensor_map.extents[0] * bits // 8)
    total = along
    for axis, index in enumerate(others, 1):
        at = start[axis].astype(np.int64)[:, None] + (index * tensor_map.steps[axis])[None, :]
        inside &= (at >= 0) & (at < tensor_map.extents[axis])
        total = total + at * tensor_map.strides_B[axis - 1]
    addresses = (total + tensor_map.address).view(np.uint64)
    return Pieces(size, addresses, None if inside.all() else inside)


@lru_cache(64)
def _grid(along: int, outer: tuple[int, ...]) -> tuple[Places, tuple[Places, ...]]:
    """Number of every piece within its row, and of its row along every other axis."""
    number = np.arange(along * prod(outer))
    first, rest, others = number % along, number // along, []
    for count in outer:
        others.append(rest % count)
        rest = rest // count
    return first, tuple(others)
