"""Cost of each recorded access in the memory system, by opcode, width and addresses.

Source   Rules of `coalescing` and `banks`. Local memory: NVIDIA, CUDA C++ Programming Guide, "Local Memory":
         consecutive 32-bit words belong to consecutive lanes.
Models   Stores occupy the L1 stages as loads do (assumed: only loads were measured). LDSM and STSM take one wavefront
         per 8 x 8 matrix when rows do not conflict. Shared atomics serve one lane per bank and wavefront (assumed:
         lanes cannot share a read-modify-write), except increments by one (ATOMS.POPC.INC) of a single address, which
         count their lanes first: on an RTX 3060 Ti 32 such warps take 1162 cycles with everything else of their block
         (corpus `counts-of-zeros`); one lane at a time would leave 138 cycles for the rest.
Omits    Texture addresses; constant banks; asynchronous bulk copies.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.trace import Accesses
from warpbound.memory import banks
from warpbound.memory.caches import READ, UPDATE, WRITE
from warpbound.memory.coalescing import LANES, SECTOR_B, Addresses, Counts, Lanes, distinct, distinct_first
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes, matrices

KINDS = {"load": READ, "store": WRITE, "atomic": UPDATE, "reduction": UPDATE}  # of opcodes
_ROWS = 1 << 16  # rows worked on at a time: bounds the memory
_BANK_ROWS_B = np.uint64(256)  # a shift by that much leaves every lane in its bank, in all modes
_LINE_FACTOR = np.uint64(0xC2B2AE3D27D4EB4F)  # odd, its bits well mixed: products spread evenly over 64 bits
_LANE_FACTORS = np.random.default_rng(0).integers(1, 1 << 63, LANES).astype(np.uint64) * 2 + 1


@dataclass(frozen=True)
class Cost:
    """Cost of each access of one space, shape (n,) each.

    kind : READ, WRITE, UPDATE, or -1 where the opcode is no load, store or atomic.
    sectors : distinct 32-byte sectors. ideal_sectors : as many as would hold the distinct bytes.
    wavefronts, ideal_wavefronts : cycles of the data path as addressed, and without any conflict.
    narrow : further cycles of an L1 that hands over 64 bytes per cycle, not 128; 0 for shared memory.
    pieces : 128-byte lines of which a store or an atomic has one sector; 0 for loads and for shared memory.
    lanes : active ones. same_address : lanes on the most wanted address (what an atomic serialises).
    """

    kind: NDArray[np.int8]
    sectors: Counts
    ideal_sectors: Counts
    wavefronts: Counts
    ideal_wavefronts: Counts
    narrow: Counts
    pieces: Counts
    lanes: Counts
    same_address: Counts

    @property
    def excess(self) -> Counts:
        """Wavefronts that conflicts cost."""
        return self.wavefronts - self.ideal_wavefronts


@dataclass(frozen=True)
class SectorList:
    """The sectors of all accesses, access by access: row of the access and sector number, shape (m,) each."""

    row: NDArray[np.int64]
    sector: NDArray[np.int64]


def kind(instruction: Instruction, space: str) -> int:
    """READ, WRITE or UPDATE; -1 for what is none. LDGSTS reads global memory and writes shared memory."""
    if instruction.traits.kind == "copy":
        return WRITE if space == "shared" else READ
    return KINDS.get(instruction.traits.kind, -1)


def bypasses_l1(instruction: Instruction) -> bool:
    """Whether a load never hits in L1: volatile, relaxed at GPU scope or wider, cp.async past L1."""
    modifiers = set(instruction.modifiers)
    return "BYPASS" in modifiers or ("STRONG" in modifiers and not modifiers & {"SM", "CTA"})


def global_cost(accesses: Accesses, instructions: tuple[Instruction, ...], widest: int = 32) -> Cost:
    """Cost of accesses that go through the L1: global, and local at its physical addresses.

    widest : bytes per lane of one row; accesses that are wider have been split into several rows.
    """
    cost = _empty(accesses, instructions, "global")
    for rows, instruction in _chunks(accesses, instructions):
        addresses, active = accesses.addresses[rows], accesses.active[rows]
        size = min(widest, lane_bytes(instruction))
        _fill_lanes(cost, rows, addresses, active)
        stages = banks.l1_wavefronts(addresses, active, size)
        cost.sectors[rows] = distinct(addresses >> np.uint64(5), active)
        if kind(instruction, "global") in (WRITE, UPDATE):
            lines = distinct(addresses >> np.uint64(7), active)
            cost.pieces[rows] = (4 * lines - cost.sectors[rows]) // 3  # the others are whole
        cost.ideal_sectors[rows] = -(-distinct(addresses, active) * size // SECTOR_B)
        cost.wavefronts[rows] = stages.cycles
        cost.ideal_wavefronts[rows] = -(-cost.lanes[rows] * size // (4 * banks.BANKS))
        cost.narrow[rows] = np.maximum(0, -(-cost.lanes[rows] * size // (2 * banks.BANKS)) - stages.cycles)
    return cost


def shared_cost(accesses: Accesses, instructions: tuple[Instruction, ...], arch: int) -> Cost:
    """Cost of accesses to shared memory on sm `arch`."""
    cost = _empty(accesses, instructions, "shared")
    for rows, instruction in _chunks(accesses, instructions):
        addresses, active, size = accesses.addresses[rows], accesses.active[rows], lane_bytes(instruction)
        if instruction.traits.width == "matrices":
            active = active & (np.arange(LANES) < 8 * matrices(instruction))
        _fill_lanes(cost, rows, addresses, active)
        first, pattern = _patterns(addresses, active)
        addresses, active = addresses[first], active[first]
        wavefronts = banks.wavefronts(addresses, active, size, arch)
        actual = wavefronts.actual
        if kind(instruction, "shared") == UPDATE:
            merged = ("POPC" in instruction.modifiers) & (distinct(addresses, active) == 1)
            actual = np.where(merged, actual, np.maximum(actual, banks.lanes_per_bank(addresses, active)))
        cost.ideal_wavefronts[rows] = wavefronts.ideal[pattern]
        cost.wavefronts[rows] = actual[pattern]
    return cost


def sector_list(accesses: Accesses, part: float = 1.0) -> SectorList:
    """Distinct sectors of every access, shape (m,), in the accesses' order; of that part of all lines."""
    rows, sectors = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for start in range(0, len(accesses.warp), _ROWS):
        some = slice(start, start + _ROWS)
        sector, first = distinct_first(accesses.addresses[some] >> np.uint64(5), accesses.active[some])
        row, sector = np.nonzero(first)[0] + start, sector[first]
        selection = slice(None) if part >= 1 else (sector >> np.uint64(2)) * _LINE_FACTOR < np.uint64(part * 2.0**64)
        rows.append(row[selection])
        sectors.append(sector[selection])
    return SectorList(np.concatenate(rows), np.concatenate(sectors).astype(np.int64))


def local_words(
    accesses: Accesses, instructions: tuple[Instruction, ...], warp_base: NDArray[np.uint64]
) -> Accesses:
    """Local accesses at physical addresses, one row per 4 bytes or less of an access.

    warp_base : where the local memory of each warp begins, shape (warps,); word i of lane l stands 128 i + 4 l
    bytes from there.
    """
    by_instruction = np.array([max(1, lane_bytes(instruction) // 4) for instruction in instructions] or [1])
    words = by_instruction[accesses.instruction]
    row = np.repeat(np.arange(len(words)), words)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(words) - words, words)
    offset = accesses.addresses[row] + np.uint64(4) * nth.astype(np.uint64)[:, None]
    lane = np.arange(LANES, dtype=np.uint64) * np.uint64(4)
    physical = offset // np.uint64(4) * np.uint64(128) + lane + offset % np.uint64(4)
    base = warp_base[accesses.warp[row]][:, None]
    return Accesses(accesses.instruction[row], accesses.warp[row], base + physical, accesses.active[row])


def _patterns(addresses: Addresses, active: Lanes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that differ by more than a shift of whole rows of banks, and which of them each row is like.

    Patterns are told apart by a 64-bit sum; two of them meet with a probability below 1e-9 per million rows.
    """
    if active.all():
        lowest = addresses.min(axis=1, keepdims=True)
        shifted = addresses - lowest // _BANK_ROWS_B * _BANK_ROWS_B
    else:
        lowest = np.where(active, addresses, np.uint64(1 << 62)).min(axis=1, keepdims=True)
        shifted = np.where(active, addresses - lowest // _BANK_ROWS_B * _BANK_ROWS_B, np.uint64(1 << 40))
    _, first, pattern = np.unique(shifted @ _LANE_FACTORS, return_index=True, return_inverse=True)
    return first, pattern


def _empty(accesses: Accesses, instructions: tuple[Instruction, ...], space: str) -> Cost:
    kinds = np.array([kind(instruction, space) for instruction in instructions] or [-1], np.int8)
    zeros = (np.zeros(len(accesses.warp), np.int64) for _ in range(8))
    return Cost(kinds[accesses.instruction], *zeros)


def _fill_lanes(cost: Cost, rows: NDArray[np.int64], addresses: Addresses, active: Lanes) -> None:
    cost.lanes[rows] = active.sum(axis=1)
    updates = cost.kind[rows] == UPDATE
    if updates.any():
        cost.same_address[rows[updates]] = _most_wanted(addresses[updates], active[updates])


def _most_wanted(addresses: Addresses, active: Lanes) -> Counts:
    """Active lanes on the address that most of them share, shape (n,)."""
    same = (addresses[:, :, None] == addresses[:, None, :]) & active[:, None, :] & active[:, :, None]
    return np.asarray(same.sum(axis=2).max(axis=1), dtype=np.int64)


def _chunks(
    accesses: Accesses, instructions: tuple[Instruction, ...]
) -> Iterator[tuple[NDArray[np.int64], Instruction]]:
    """Rows of one instruction at a time, and of those not too many at once."""
    if not len(accesses.instruction):
        return
    order = np.argsort(accesses.instruction, kind="stable")
    numbers, starts = np.unique(accesses.instruction[order], return_index=True)
    for number, rows in zip(numbers, np.split(order, starts[1:]), strict=True):
        for start in range(0, len(rows), _ROWS):
            yield rows[start : start + _ROWS], instructions[number]
