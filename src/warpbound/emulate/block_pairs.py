"""Pairs of blocks (cta_group::2 of tcgen05): two of a cluster whose ranks differ in the last bit. One of their threads
starts the work of the tensor memories and tensor cores of both.

The even block allocates for both and tells the odd one the place, by a store that ends a transaction of the other
block's barrier (STAS). Barrier and turn lie in shared memory that the system reserves.

Source   PTX ISA, "CTA pair", "tcgen05.alloc", "st.async". What lies where in reserved shared memory was read off code
         of sm_100a, which never sets it up: a barrier of one arrival, and whose turn it is (0 in the odd block, whose
         first test must fail until the even block has arrived; 1 in the even block, whose first test must succeed).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import memory_operand, window_address
from warpbound.emulate.bulk_copies import Warps
from warpbound.emulate.loads_and_stores import active, checked_window, elements_of, width
from warpbound.emulate.mbarrier import LATE, arrive_watched
from warpbound.emulate.mbarrier_log import Kind, MbarrierAccess
from warpbound.emulate.memory_windows import OFFSET_BITS, SHIFTS, Window
from warpbound.emulate.operand_access import Site, raw
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, State, whole
from warpbound.identity_cache import remember
from warpbound.program.instruction import Operand
from warpbound.program.kernel import Program

PAIR = 2
_BARRIER, _TURN = 0x48, 0x50  # in reserved shared memory
_WORD_B = 4


def blocks_of(here: Site) -> int:
    """How many blocks an instruction works for: a pair with .2CTA."""
    return PAIR if here.has("2CTA") else 1


def members(warps: Warps, blocks: int) -> Iterator[Warps]:
    """The issuing warps, once for each block that they work for; of a pair, the even block comes first."""
    if blocks == 1:
        yield warps
        return
    even = warps.first + (warps.block - warps.first) // PAIR * PAIR
    for rank in range(PAIR):
        yield Warps(warps.own, even + rank, warps.first)


@remember(4)
def _allocates_in_pairs(program: Program) -> bool:
    return any(x.opcode == "UTCATOMSWS" and "2CTA" in x.modifiers for x in program.instructions)


def reserved_for_pairs(program: Program, window: Window) -> Window:
    """Shared memory, its reserved part as the system leaves it for allocations in pairs."""
    if not _allocates_in_pairs(program):
        return window
    pieces = window.bytes.reshape(-1, window.size)
    barrier = LATE.expectation.put(np.array([-1])) | LATE.pending.put(np.array([-1]))
    pieces[:, _BARRIER : _BARRIER + 8] = barrier.view(np.uint8)
    turn = (np.arange(len(pieces), dtype=np.uint32) % PAIR ^ 1).view(np.uint8).reshape(-1, _WORD_B)
    pieces[:, _TURN : _TURN + _WORD_B] = turn
    return window


@executes("STAS")
def store_and_signal(here: Site) -> Handler:
    """STAS: a store to shared memory of the cluster, whose bytes end transactions of a barrier beside it."""
    size, operand, source = width(here), memory_operand(here), here.instruction.operands[-1]
    first = operand.terms[0]
    address = window_address(operand, here)
    barrier = raw(Operand(first.kind, first.text, index=first.index + 1), here)
    words = [raw(Operand(source.kind, source.text, index=source.index + i), here) for i in range(max(1, size // 4))]

    def handler(x: State) -> None:
        places, window = checked_window(x, "shared", address(x), size), x.windows["shared"]
        signals = _places(x, whole(x, barrier(x)))
        values = [word(x) for word in words]
        if x.mask is not None:
            places, signals, values = places[x.mask], signals[x.mask], [active(value, x.mask) for value in values]
        if window.written is not None:
            window.note_written(places, size)
        window.elements(size)[places] = elements_of(values, size, len(places))
        none = np.zeros(len(signals), np.int64)
        warps = np.flatnonzero(x.active()) // LANES
        arrive_watched(x, MbarrierAccess(Kind.ARRIVAL, signals), warps, LATE, [none, none, none - size])

    return handler


def _places(x: State, addresses: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Numbers of the barriers at addresses of the cluster, of every selected lane."""
    window, offsets = x.windows["shared"], addresses & np.uint32((1 << OFFSET_BITS) - 1)
    return window.base_of(addresses >> OFFSET_BITS, 8, x.index) + (offsets >> SHIFTS[8])
