"""Tensor memory of Blackwell's data-centre chips (tcgen05): where sums of products lie, 128 rows of 512 columns.

A cell has 32 bits. An address has the row in its upper and the column in its lower half. Each block has a tensor memory
of its own here; a GPU shares that of an SM among its blocks.

Source   PTX ISA, "Tensor Memory", "tcgen05.alloc", and the shapes of "tcgen05.ld" and "tcgen05.st". How compilers
         allocate was read off code of sm_100a. Lanes of 16x64b: CUTLASS, copy_traits_sm100.hpp.
Models   What a load, a store or a product does is done at once; waits and fences find nothing to do.
         In packed halves (.PACK16BIT, .EXPAND16BIT) a register has the lower halves of two neighbouring cells.
Omits    Refused: packed halves other than of 32-bit shapes, shifts.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_pairs import blocks_of, members
from warpbound.emulate.bulk_copies import UNIT_B, Numbers, Warps, issuing, uniform
from warpbound.emulate.mbarrier import LATE, arrive_watched
from warpbound.emulate.mbarrier_log import Kind, MbarrierAccess
from warpbound.emulate.memory_windows import OFFSET_BITS, SHIFTS, Window
from warpbound.emulate.operand_access import Site, unsupported, write_predicate
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, BadAccess, State
from warpbound.program.instruction import RZ, Operand
from warpbound.program.tensor_memory_moves import PACKED, columns_moved, moved_shape
from warpbound.quick_dataclasses import dataclass

ROWS, COLUMNS = 128, 512
_UNIT = 32  # columns that are allocated together
_WORDS = ROWS * COLUMNS + UNIT_B  # the last one states which units are taken
_LOWER_HALF = np.uint32(0xFFFF)


def memory(x: State) -> NDArray[np.uint32]:
    """The tensor memory of every block of the chunk, (blocks, words)."""
    if "tensor" not in x.windows:
        x.windows["tensor"] = Window("tensor", 4 * _WORDS, x.windows["shared"].owner)
    words: NDArray[np.uint32] = x.windows["tensor"].elements(4)
    return words.reshape(-1, _WORDS)


def cells(x: State, warps: Warps, address: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Places in `memory` this many rows and columns behind an address; rows and columns broadcast to one shape."""
    row, column = address >> 16, address & 0xFFFF
    beyond = (row + rows.max() >= ROWS) | (column + columns.max() >= COLUMNS)
    if beyond.any():
        worst = int(beyond.argmax())
        last = int(row[worst] + rows.max()), int(column[worst] + columns.max())
        reason = f"row {last[0]}, column {last[1]} of tensor memory do not exist"
        raise BadAccess(int(warps.own[worst]) * LANES, reason)
    return np.asarray((row * COLUMNS + column)[:, None, None] + rows * COLUMNS + columns)


def address_of(operand: Operand) -> Callable[[State, Warps], Numbers]:
    """The address that tmem[UR+offset] names."""
    register = next((term.index for term in operand.terms), RZ)
    offset = int(operand.value)
    return lambda x, warps: uniform(x, register, warps) + offset


# --- registers to tensor memory and back ---


@dataclass(frozen=True)
class Layout:
    """Lanes of a warp that take part, (n,), and row and column of each number that they move, (n, numbers)."""

    lanes: Numbers
    rows: Numbers
    columns: Numbers


def layout(here: Site) -> Layout:
    """Which cells the registers of a warp are; refuses shapes that are not executed."""
    words = moved_shape(here.instruction)
    lane, at = np.arange(LANES)[:, None], np.arange(columns_moved(here.instruction))[None, :]
    match words:
        case []:
            return Layout(lane[:, 0], lane + 0 * at, at + 0 * lane)
        case ["16dp32bit_t0_t15" | "16dp32bit_t16_t31"]:
            half = lane[:16] if words[0].endswith("t15") else lane[16:]
            return Layout(half[:, 0], half % 16 + 0 * at, at + 0 * half)
        case _ if here.has(*PACKED):
            raise unsupported(here.instruction)
        case ["16dp64bit"]:
            return Layout(lane[:, 0], lane // 4 + 8 * (lane % 2) + 0 * at, at * 2 + lane // 2 % 2)
        case ["16dp128bit"]:
            return Layout(lane[:, 0], lane // 4 + 8 * (at % 2), at // 2 * 4 + lane % 4)
        case ["16dp256bit"]:
            return Layout(lane[:, 0], lane // 4 + 8 * (at // 2 % 2), at // 4 * 8 + lane % 4 * 2 + at % 2)
    raise unsupported(here.instruction)


@executes("LDTM")
def load(here: Site) -> Handler:
    """LDTM: rows of some columns to the registers of a warp."""
    cell, output, packed = layout(here), here.instruction.operands[0], here.has("PACK16BIT")
    address = address_of(next(x for x in here.instruction.operands if x.kind == "memory"))

    def handler(x: State) -> None:
        warps = issuing(x)
        places = cells(x, warps, address(x, warps), cell.rows, cell.columns)
        words = memory(x)[warps.block[:, None, None], places]
        if packed:
            words = words[:, :, ::2] & _LOWER_HALF | words[:, :, 1::2] << np.uint32(16)
        mask_before = x.mask
        if len(cell.lanes) < LANES:  # the others keep what they have
            own = np.tile(np.isin(np.arange(LANES), cell.lanes), x.selected_lanes // LANES)
            x.mask = own if mask_before is None else own & mask_before
        for i in range(words.shape[2]):
            row = np.zeros((x.selected_lanes // LANES, LANES), np.uint32)
            row[warps.own[:, None], cell.lanes] = words[:, :, i]
            x.put(output.index + i, row.reshape(-1))
        x.mask = mask_before

    return handler


@executes("STTM")
def store(here: Site) -> Handler:
    """STTM: the registers of a warp to rows of some columns."""
    cell, source = layout(here), here.instruction.operands[-1]
    shifts = (0, 16) if here.has("EXPAND16BIT") else (0,)
    word_mask = _LOWER_HALF if here.has("EXPAND16BIT") else ~np.uint32(0)
    address = address_of(next(x for x in here.instruction.operands if x.kind == "memory"))

    def handler(x: State) -> None:
        warps = issuing(x)
        places = cells(x, warps, address(x, warps), cell.rows, cell.columns)
        words = np.zeros(places.shape, np.uint32)
        if source.index != RZ:
            for i in range(places.shape[2] // len(shifts)):
                row = x.get(source.index + i).reshape(-1, LANES)[warps.own][:, cell.lanes]
                for part, shift in enumerate(shifts):
                    words[:, :, len(shifts) * i + part] = row >> np.uint32(shift) & word_mask
        memory(x)[warps.block[:, None, None], places] = words

    return handler


# --- allocation, completion ---


@executes("UTCATOMSWS")
def allocate(here: Site) -> Handler:
    """UTCATOMSWS: .FIND_AND_SET takes neighbouring units of 32 columns, of a pair with .2CTA; .AND gives back those not
    in its mask."""
    operands = here.instruction.operands
    if here.modifiers == {"AND"}:
        mask = operands[-1].index

        def give_back(x: State) -> None:
            warps = issuing(x)
            memory(x)[warps.block, ROWS * COLUMNS] &= uniform(x, mask, warps).astype(np.uint32)

        return give_back
    if here.modifiers - {"2CTA"} != {"FIND_AND_SET", "ALIGN"}:
        raise unsupported(here.instruction)
    blocks = blocks_of(here)
    predicate, place, count = write_predicate(operands[0]), operands[1].index, operands[2].index

    def take(x: State) -> None:
        warps = issuing(x)
        if x.windows["shared"].cluster % blocks:
            raise BadAccess(int(warps.own[0]) * LANES, "a pair of blocks needs a cluster of an even number of blocks")
        units, in_use = uniform(x, count, warps), memory(x)[:, ROWS * COLUMNS]
        first, success = np.zeros(x.selected_lanes // LANES, np.uint32), np.zeros(x.selected_lanes // LANES, np.bool_)
        owners = np.stack([member.block for member in members(warps, blocks)], axis=1)
        for own, both, units_of_warp in zip(warps.own, owners, units, strict=True):
            mask, bits = (1 << int(units_of_warp)) - 1, int(np.bitwise_or.reduce(in_use[both]))
            steps = range(0, COLUMNS // _UNIT - int(units_of_warp) + 1, max(1, int(units_of_warp)))
            at = next((step for step in steps if not bits >> step & mask), None)
            if at is not None:
                in_use[both] |= np.uint32(mask << at)
                first[own], success[own] = at, True
        x.put_uniform(place, first)
        predicate(x, success)

    return take


@executes("UTCBAR")
def signal(here: Site) -> Handler:
    """UTCBAR: an arrival at a barrier once the products before it are done, which they are."""
    if here.modifiers - {"MULTICAST", "2CTA"}:
        raise unsupported(here.instruction)
    target = here.instruction.operands[0]
    register, offset = target.terms[0].index, int(target.value)
    mask = here.instruction.operands[-1].index if here.has("MULTICAST") else None

    def handler(x: State) -> None:
        warps, window = issuing(x), x.windows["shared"]
        place = uniform(x, register, warps) + offset
        ranks = range(window.cluster) if mask is not None else [-1]
        for rank in ranks:
            receivers = np.ones(len(place), np.bool_)
            blocks = warps.first + (place >> OFFSET_BITS) if window.cluster > 1 else warps.block
            if mask is not None:
                receivers, blocks = (uniform(x, mask, warps) >> rank & 1).astype(np.bool_), warps.first + rank
            at = (blocks * window.size + (place & ((1 << OFFSET_BITS) - 1)))[receivers] >> SHIFTS[8]
            none, ones = np.zeros(len(at), np.int64), np.ones(len(at), np.int64)
            arrive_watched(x, MbarrierAccess(Kind.PRODUCTS, at), warps.own[receivers], LATE, [ones, none, none])

    return handler


@executes("UVIRTCOUNT")
def nothing(here: Site) -> Handler:
    """The right to allocate, given up: each block has a memory of its own here."""
    return lambda x: None
