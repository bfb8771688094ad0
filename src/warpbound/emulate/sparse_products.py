"""The left factor of a sparse product (mma.sp): registers hold half of its numbers, metadata give their places.

A code of 4 bits represents a chunk of a row: 4 numbers of 8 or 16 bits, of which two are kept (two bits give
each place), 2 numbers of TF32 with one kept (its code is that of its two halves), or 8 numbers of 4 bits with two pairs
kept.

Source   PTX ISA, "Sparse matrix storage" (chunks, codes, selector). Which lanes have the metadata of row r is printed
         there as pictures; in words in CUTLASS, tools/util/host_reorder.h (`reorder_meta`), and in the MLIR test
         sparse-mma-2-4-f16.mlir, which was run on a GPU: of 16 and 32 bits a lane has 4 codes of row g in its lower
         half and of row g + 8 in its upper half; of 4 and 8 bits lane 4 g has 8 codes of row g, the next one of row
         g + 8.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDE = 16  # bits of a number from which on a lane has codes of two rows
_CHUNK = {4: 8, 8: 4, 16: 4, 32: 2}  # numbers of a row that share a code, by their bits
_ROWS = 8  # of a block of fragments: row g belongs to lanes 4 g to 4 g + 3


def expanded(values: NDArray[Any], metadata: NDArray[np.uint32], bits: int, selector: int) -> NDArray[Any]:
    """The factor with its zeros, (warps, rows, depth).

    values : (warps, rows, depth / 2). metadata : of every lane, (warps, 32). bits : of a number; selector : of the
    instruction, which lanes of four give metadata.
    """
    return placed(values, _codes(metadata, values.shape[1], chunks(2 * values.shape[2], bits), bits, selector), bits)


def chunks(depth: int, bits: int) -> int:
    """Codes of a row of `depth` elements."""
    return depth // _CHUNK[bits]


def placed(values: NDArray[Any], codes: NDArray[np.uint32], bits: int) -> NDArray[Any]:
    """The factor with its zeros, (warps, rows, depth), from the code of every chunk, (warps, rows, chunks)."""
    warps, rows, half = values.shape
    chunk = _CHUNK[bits]
    together = max(1, chunk // 4)  # numbers that one index places
    places = np.stack([codes & 3, codes >> 2], axis=-1).astype(np.int64)  # (warps, rows, chunks, 2)
    if bits == 32:
        places = places[..., :1] >> 1
    columns = chunk * np.arange(codes.shape[2])[:, None] + together * places
    columns = (columns[..., None] + np.arange(together)).reshape(warps, rows, half)
    result = np.zeros((warps, rows, 2 * half))
    np.put_along_axis(result, columns, values, axis=2)
    return result


def _codes(
    metadata: NDArray[np.uint32], rows: int, count: int, bits: int, selector: int
) -> NDArray[np.uint32]:
    """The codes of every row, (warps, rows, count)."""
    row, code = np.arange(rows)[:, None], np.arange(count)[None, :]
    in_field = 4 if bits >= _WIDE else 8
    fields = count // in_field
    lanes_giving = fields if bits >= _WIDE else 2 * fields
    first = 4 * (row % _ROWS) + selector % (4 // lanes_giving) * lanes_giving
    if bits >= _WIDE:
        lane, shift = first + code // in_field, 16 * (row // _ROWS) + 4 * (code % in_field)
    else:
        lane, shift = first + row // _ROWS + 2 * (code // in_field), 4 * (code % in_field) + 0 * row
    return np.asarray(metadata[:, lane] >> shift.astype(np.uint32) & np.uint32(15))
