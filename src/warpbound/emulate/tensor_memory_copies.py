"""Copies from shared to tensor memory (tcgen05.cp): UTCCP, which brings the scales of products there.

Source   PTX ISA, "tcgen05.cp": shapes, and which rows are repeated. A descriptor of 64 bits gives the place of the
         rows, as for a factor whose depth is its bytes. Of a pair, each block copies from its own shared memory to its
         own tensor memory.
Models   A copy is done at once.
Omits    Refused: copies that unpack 4 or 6 bits to 8.
"""

import numpy as np

from warpbound.emulate.block_pairs import blocks_of, members
from warpbound.emulate.bulk_copies import issuing, uniform_pair
from warpbound.emulate.matrix_products import Element
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State
from warpbound.emulate.tensor_memory import address_of, cells, memory
from warpbound.emulate.warpgroup_products import Factor

_BYTES = Element(8, lambda raw: raw)
_WORD_B = 4
_SHAPES: dict[str, tuple[int, int, tuple[int, ...], tuple[int, ...]]] = {
    # rows and bytes of each; first rows of the pieces of 32 that are repeated, and behind which rows each piece goes
    "": (128, 32, (0,), (0,)),
    "128dp128bit": (128, 16, (0,), (0,)),
    "4dp256bit": (4, 32, (0,), (0,)),
    "4x32dp128bit": (32, 16, (0, 0, 0, 0), (0, 32, 64, 96)),
    "2x64dp128bit_lw02_lw13": (64, 16, (0, 32, 0, 32), (0, 32, 64, 96)),
    "2x64dp128bit_lw01_lw23": (64, 16, (0, 0, 32, 32), (0, 32, 64, 96)),
}
_WARP_ROWS = 32


@executes("UTCCP")
def copy_rows(here: Site) -> Handler:
    """UTCCP.T.S: rows of 16 or 32 bytes to columns of tensor memory, some shapes to the rows of several warps."""
    shape = _SHAPES.get(".".join(x for x in here.instruction.modifiers if x not in ("T", "S", "2CTA")))
    target, source = here.instruction.operands
    if shape is None or not {"T", "S"} <= here.modifiers:
        raise unsupported(here.instruction)
    count, size_B, first, to = shape
    piece = np.arange(count if len(to) == 1 else _WARP_ROWS)
    rows, lanes = (np.add.outer(np.array(starts), piece).reshape(-1) for starts in (first, to))
    factor, columns = Factor(count, size_B, _BYTES, by_depth=True), np.arange(size_B // _WORD_B)
    register, address, blocks = source.terms[0].index, address_of(target), blocks_of(here)

    def handler(x: State) -> None:
        warps = issuing(x)
        descriptors = uniform_pair(x, register, warps)
        for member in members(warps, blocks):
            values = factor.read(x, descriptors, member.block)[:, rows]
            words = np.ascontiguousarray(values.astype(np.uint8)).view(np.uint32)
            places = cells(x, member, address(x, member), lanes[:, None], columns)
            memory(x)[member.block[:, None, None], places] = words

    return handler
