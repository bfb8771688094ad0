"""Cost of each recorded access in the memory system, by opcode, width and addresses.

Source   Rules of `coalescing` and `banks`. Local memory: NVIDIA, CUDA C++ Programming Guide, "Local Memory":
         consecutive 32-bit words belong to consecutive lanes.
Models   Stores occupy the L1 stages as loads do (assumed: only loads were measured). LDSM and STSM take one wavefront
         per 8 x 8 matrix when rows do not conflict. Shared atomics serve one lane per bank and wavefront (assumed:
         lanes cannot share a read-modify-write), except increments by one (ATOMS.POPC.INC) of a single address, which
         count their lanes first: on an RTX 3060 Ti 32 such warps take 1162 cycles with everything else of their block
         (corpus `counts-of-zeros`); one lane at a time would leave 138 cycles for the rest.
Omits    Texture addresses; constant banks; the side of bulk copies that is in shared memory.
"""

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_patterns import packed
from warpbound.emulate.trace import Accesses
from warpbound.memory import banks
from warpbound.memory.aligned_units import listed, numbered, units
from warpbound.memory.caches import READ, UPDATE, WRITE
from warpbound.memory.coalescing import LANES, SECTOR_B, Addresses, Counts, Lanes, distinct
from warpbound.memory.sorted_order import order_and_begins
from warpbound.native_loops import accesses as native
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes, matrices
from warpbound.quick_dataclasses import dataclass

KINDS = {"load": READ, "texture": READ, "store": WRITE, "atomic": UPDATE, "reduction": UPDATE}  # of opcodes
NOWHERE = np.uint64(2**64 - 1)  # an address that no lane has
_ROWS = 1 << 16  # rows worked on at a time: bounds the memory


@dataclass(frozen=True)
class Cost:
    """Cost of each access of one space, shape (n,) each.

    kind : READ, WRITE, UPDATE, or -1 where the opcode is no load, store or atomic.
    sectors : distinct 32-byte sectors. ideal_sectors : as many as would hold the distinct bytes.
    wavefronts, ideal_wavefronts : cycles of the data path as addressed, and without any conflict.
    narrow : further cycles of an L1 that hands over 64 bytes per cycle, not 128; 0 for shared memory.
    pieces : 128-byte lines of which a store or an atomic has one sector; 0 for loads and for shared memory.
    lanes : active ones. same_address : lanes on the address that most lanes share (an atomic serialises these).
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

    def rows(self, which: NDArray[np.int64]) -> "Cost":
        """The cost of the accesses at these places."""
        return Cost(**{field.name: getattr(self, field.name)[which] for field in fields(self)})

    @property
    def excess(self) -> Counts:
        """Wavefronts that conflicts cost."""
        return self.wavefronts - self.ideal_wavefronts


@dataclass(frozen=True)
class SectorList:
    """The sectors of all accesses, access by access: row of the access and sector number, shape (m,) each.

    addresses : different ones of the access in that sector, (m,).
    """

    row: NDArray[np.int64]
    sector: NDArray[np.int64]
    addresses: NDArray[np.int64]

    def some(self, which: NDArray[np.int64]) -> "SectorList":
        """The sectors at these places."""
        return SectorList(self.row[which], self.sector[which], self.addresses[which])


def kind(instruction: Instruction, space: str) -> int:
    """READ, WRITE or UPDATE; -1 for other instructions. LDGSTS reads global memory and writes shared memory; of bulk
    copies only the side of global memory is recorded."""
    traits = instruction.traits
    if traits.kind == "copy":
        return WRITE if space == "shared" else READ
    if traits.kind == "bulk_copy":
        if space not in traits.loads | traits.stores:
            return -1
        if {"S", "G"} <= set(instruction.modifiers):  # a run of bytes: where to, where from
            stores = instruction.modifiers.index("G") < instruction.modifiers.index("S")
        else:
            stores = "global" in traits.stores
        return (UPDATE if "RED" in instruction.opcode else WRITE) if stores else READ
    if traits.kind == "surface":
        return WRITE if traits.result == "none" else READ
    return KINDS.get(traits.kind, -1)


def bypasses_l1(instruction: Instruction) -> bool:
    """Whether a load never hits in L1: volatile, relaxed at GPU scope or wider, cp.async past L1, bulk copies."""
    modifiers = set(instruction.modifiers)
    if instruction.traits.kind == "bulk_copy":
        return True
    return "BYPASS" in modifiers or ("STRONG" in modifiers and not modifiers & {"SM", "CTA"})


def global_cost(accesses: Accesses, instructions: tuple[Instruction, ...], widest: int = 32) -> Cost:
    """Cost of accesses that go through the L1: global, and local at its physical addresses.

    widest : bytes per lane of one row; accesses that are wider have been split into several rows.
    """
    forms, form = _forms(accesses)
    cost = _empty(forms, instructions, "global")
    for rows, instruction in _chunks(forms, instructions):
        some = forms.rows(rows)
        addresses, active = some.addresses, some.active
        size = min(widest, lane_bytes(instruction))
        _fill_lanes(cost, rows, addresses, active)
        cost.sectors[rows] = distinct(addresses >> np.uint64(5), active)
        if kind(instruction, "global") in (WRITE, UPDATE):
            lines = distinct(addresses >> np.uint64(7), active)
            cost.pieces[rows] = (4 * lines - cost.sectors[rows]) // 3  # the others are whole
        cost.ideal_sectors[rows] = -(-distinct(addresses, active) * size // SECTOR_B)
        cost.wavefronts[rows] = banks.l1_data_wavefronts(addresses, active, size)
        cost.ideal_wavefronts[rows] = -(-cost.lanes[rows] * size // (4 * banks.BANKS))
    each = cost.rows(form)
    cycles = np.maximum(each.wavefronts, _tag_wavefronts(accesses))
    narrow = np.ceil(banks.narrow_cycles(each.ideal_sectors, cycles)).astype(np.int64)
    return replace(each, wavefronts=cycles, narrow=narrow)


def _tag_wavefronts(accesses: Accesses) -> Counts:
    """Cycles of the L1's tag stage, (n,)."""
    lines = units(accesses.patterns, 7)
    by_c = native.tag_cycles(accesses.pattern, accesses.base, lines.parts)
    if by_c is not None:
        return by_c
    result = np.minimum(1, lines.count)[accesses.pattern]
    several = np.flatnonzero(lines.count[accesses.pattern] > 1)
    for start in range(0, len(several), _ROWS):
        rows = several[start : start + _ROWS]
        row, line, _ = listed(accesses.rows(rows), lines)
        result[rows] = banks.tag_wavefronts(row, line, len(rows))
    return result


def _forms(accesses: Accesses) -> tuple[Accesses, Counts]:
    """One access for each instruction and pattern, at base 0, and the number of that access for each row."""
    patterns = len(accesses.patterns.offsets)
    highest = int(accesses.instruction.max(initial=-1)) + 1
    keys = accesses.instruction.astype(np.int64) * patterns + accesses.pattern
    present, form = numbered(keys, highest * patterns)
    instruction, pattern = np.divmod(present, max(1, patterns))
    nothing = np.zeros(len(present), np.int32)
    return replace(
        accesses, instruction=instruction.astype(np.int32), warp=nothing, base=np.zeros(len(present), np.uint64),
        pattern=pattern.astype(np.int32), times=None,
    ), form  # fmt: skip


def shared_cost(accesses: Accesses, instructions: tuple[Instruction, ...], arch: int) -> Cost:
    """Cost of accesses to shared memory on sm `arch`."""
    forms, form = _forms(accesses)
    cost = _empty(forms, instructions, "shared")
    for rows, instruction in _chunks(forms, instructions):
        some = forms.rows(rows)
        addresses, active = some.addresses, some.active
        if instruction.traits.width == "matrices":
            active = active & (np.arange(LANES) < 8 * matrices(instruction))
        _fill_lanes(cost, rows, addresses, active)
        wavefronts = _shared_wavefronts(instruction, addresses, active, arch)
        cost.ideal_wavefronts[rows] = wavefronts.ideal
        cost.wavefronts[rows] = wavefronts.actual
    return cost.rows(form)


def _shared_wavefronts(instruction: Instruction, addresses: Addresses, active: Lanes, arch: int) -> banks.Wavefronts:
    """Wavefronts of accesses to shared memory; a count of lanes (POPC) of one address is not done lane by lane."""
    size = lane_bytes(instruction)
    if kind(instruction, "shared") != UPDATE:
        return banks.wavefronts(addresses, active, size, arch)
    atomic = banks.atomic_wavefronts(addresses, active, size, arch)
    if "POPC" not in instruction.modifiers:
        return atomic
    plain = banks.wavefronts(addresses, active, size, arch)
    return replace(atomic, actual=np.where(distinct(addresses, active) == 1, plain.actual, atomic.actual))


def sector_list(accesses: Accesses, part: float = 1.0) -> SectorList:
    """Distinct sectors of every access, shape (m,), in the accesses' order; only for that share of all lines."""
    none = np.zeros(0, np.int64)
    rows, sectors, addresses = [none], [none], [none]
    each = units(accesses.patterns, 5)
    for start in range(0, len(accesses.warp), _ROWS):
        row, sector, count = listed(accesses.rows(slice(start, start + _ROWS)), each, part)
        rows.append(row + start)
        sectors.append(sector)
        addresses.append(count)
    return SectorList(np.concatenate(rows), np.concatenate(sectors), np.concatenate(addresses))


def sectors_of_pages(accesses: Accesses, page_B: int) -> NDArray[np.int64]:
    """Sectors of the accesses, at least one in every page that they touch: nearly all accesses stay within one page."""
    keys = accesses.pattern.astype(np.int64), (accesses.base >> np.uint64(5)).view(np.int64)
    place, begins = order_and_begins(*keys)
    accesses = accesses.rows(place[begins])  # warps of a block read the same column
    each, per_page = units(accesses.patterns, 5), page_B // SECTOR_B
    count = each.count[accesses.pattern]
    rows = np.flatnonzero(count)
    begin, base = each.begin[accesses.pattern[rows]], (accesses.base[rows] >> np.uint64(5)).view(np.int64)
    lowest, highest = base + each.number[begin], base + each.number[begin + count[rows] - 1]
    within = lowest // per_page == highest // per_page
    return np.concatenate([lowest[within], sector_list(accesses.rows(rows[~within])).sector])


def local_words(accesses: Accesses, instructions: tuple[Instruction, ...], warp_base: NDArray[np.uint64]) -> Accesses:
    """Local accesses at physical addresses, one row per 4 bytes or less of an access.

    warp_base : where the local memory of each warp begins, shape (warps,); word i of lane l stands 128 i + 4 l
    bytes from there.
    """
    by_instruction = np.array([max(1, lane_bytes(instruction) // 4) for instruction in instructions] or [1])
    words = by_instruction[accesses.instruction]
    row = np.repeat(np.arange(len(words)), words)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(words) - words, words)
    of_rows, most = accesses.rows(row), int(words.max(initial=1))
    offset = accesses.patterns.offsets[:, None] + np.uint64(4) * np.arange(most, dtype=np.uint64)[:, None]
    lane = np.arange(LANES, dtype=np.uint64) * np.uint64(4)
    physical = offset // np.uint64(4) * np.uint64(128) + lane + offset % np.uint64(4)
    small = packed(physical.reshape(-1, LANES), np.repeat(accesses.patterns.active, most, axis=0))
    form = of_rows.pattern * most + nth  # bases of accesses and warps are multiples of those of patterns
    base = warp_base[of_rows.warp] + of_rows.base * np.uint64(32) + small.base[form]
    return replace(of_rows, base=base, pattern=small.pattern[form], patterns=small.patterns)


def _empty(accesses: Accesses, instructions: tuple[Instruction, ...], space: str) -> Cost:
    kinds = np.array([kind(instruction, space) for instruction in instructions] or [-1], np.int8)
    zeros = (np.zeros(len(accesses.warp), np.int64) for _ in range(8))
    return Cost(kinds[accesses.instruction], *zeros)


def _fill_lanes(cost: Cost, rows: NDArray[np.int64], addresses: Addresses, active: Lanes) -> None:
    cost.lanes[rows] = active.sum(axis=1)
    updates = cost.kind[rows] == UPDATE
    if updates.any():
        cost.same_address[rows[updates]] = lanes_on_hottest_address(addresses[updates], active[updates])


def lanes_on_hottest_address(addresses: Addresses, active: Lanes) -> Counts:
    """Active lanes on the address that most of them share, shape (n,)."""
    by_c = native.distinct(addresses, active)
    if by_c is not None:
        return by_c[1]
    sorted_lanes = np.sort(np.where(active, addresses, NOWHERE), axis=1)
    place = np.arange(addresses.shape[1], dtype=np.int8)
    begins = np.zeros(addresses.shape, np.int8)  # where the run of equal addresses begins
    begins[:, 1:] = np.where(sorted_lanes[:, 1:] != sorted_lanes[:, :-1], place[1:], 0)
    run = place - np.maximum.accumulate(begins, axis=1) + 1
    longest: Counts = np.where(sorted_lanes == NOWHERE, 0, run).max(axis=1).astype(np.int64)
    return longest


def _chunks(
    accesses: Accesses, instructions: tuple[Instruction, ...]
) -> Iterator[tuple[NDArray[np.int64], Instruction]]:
    """Rows of one instruction at a time, in pieces of limited size."""
    if not len(accesses.instruction):
        return
    order = np.argsort(accesses.instruction, kind="stable")
    numbers, starts = np.unique(accesses.instruction[order], return_index=True)
    for number, rows in zip(numbers, np.split(order, starts[1:]), strict=True):
        for start in range(0, len(rows), _ROWS):
            yield rows[start : start + _ROWS], instructions[number]
