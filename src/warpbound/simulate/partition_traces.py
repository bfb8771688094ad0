"""Real kernels in `partitions`: transactions of an executed launch, by the rule of compute capability 1.2 and 1.3.

Source   NVIDIA, CUDA C Programming Guide, "Global Memory" for 1.2 and 1.3, as in `memory.coalescing`: a half-warp's
         segments of 128 bytes (64 for words of 2 bytes, 32 for 1), each halved while only one half is used.
Models   Each traced warp does its accesses in order and waits for its loads one by one. The instructions and block
         barriers in between come from a recorded stream with the same accesses; where there is none, its
         instructions are spread evenly and it has no barriers.
Omits    Several loads in flight. The machine code is that of the architecture it was compiled for.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import Trace
from warpbound.memory.caches import WRITE
from warpbound.memory.coalescing import Addresses, Lanes, distinct_first
from warpbound.memory.requests import kind
from warpbound.program import Program
from warpbound.program.registers import lane_bytes
from warpbound.simulate.partitions import Pattern, Whole

ISSUE_CYCLES = 4  # cycles to issue a warp instruction on eight lanes
_SEGMENT_SECTORS = {1: 1, 2: 2}  # width of a word -> 32-byte sectors of its segment, else 4
_OFFSET = np.zeros(16, np.int64)  # used sectors of a segment, a bit each -> where the transaction begins, in sectors
_LENGTH = np.zeros(16, np.int64)  # and how many sectors it has
for _used in range(1, 16):
    _low, _high = bool(_used & 3), bool(_used & 12)
    _pair = _used & 3 or _used >> 2
    _first = 0 if _low else 2
    _OFFSET[_used] = 0 if _low and _high else _first + (1 if _pair == 2 else 0)
    _LENGTH[_used] = 4 if _low and _high else 2 if _pair == 3 else 1


def half_warp_transactions(addresses: Addresses, active: Lanes, word: int) -> tuple[Whole, Whole, Whole]:
    """Row of the access, first byte and size of each transaction, (t,); of accesses (n, 32) of `word` bytes a lane."""
    halves = (-1, 16)
    sector, first = distinct_first(addresses.reshape(halves) >> np.uint64(5), active.reshape(halves))
    half = np.nonzero(first)[0]
    sectors = sector[first].astype(np.int64)
    per_segment = _SEGMENT_SECTORS.get(word, 4)
    segment = sectors // per_segment
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(half) != 0) | (np.diff(segment) != 0)])[: len(half)])
    if not len(begins):
        none = np.zeros(0, np.int64)
        return none, none, none
    sector_bits = np.bitwise_or.reduceat(1 << sectors % per_segment, begins)
    start = segment[begins] * per_segment + _OFFSET[sector_bits]
    return half[begins] // 2, 32 * start, 32 * _LENGTH[sector_bits]


def traced(program: Program, trace: Trace) -> Pattern:
    """The global accesses of the traced blocks as a pattern; all blocks have the same number of warps."""
    accesses = trace.accesses["global"]
    instructions = program.instructions
    stores = np.array([kind(instruction, "global") == WRITE for instruction in instructions] or [False])
    words = np.array([lane_bytes(instruction) for instruction in instructions] or [4])
    row, address, size = _all_transactions(accesses.addresses, accesses.active, words[accesses.instruction])
    order = np.argsort(accesses.warp, kind="stable")  # warp by warp, in each warp as executed
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    by_place = np.argsort(place[row], kind="stable")
    each = np.bincount(accesses.warp, minlength=len(trace.warps)).astype(np.int64)
    cycles, barrier = _between(program, trace, accesses.instruction[order], each)
    return Pattern(
        block_warps=max(1, len(trace.warps) // max(1, len(trace.blocks))),
        requests=each,
        transactions=np.bincount(place[row], minlength=len(order)).astype(np.int64),
        cycles=cycles,
        waits=~stores[accesses.instruction[order]],
        barrier=barrier,
        address=address[by_place],
        size=size[by_place],
    )


def _between(
    program: Program, trace: Trace, instruction: NDArray[np.int32], each: Whole
) -> tuple[Whole, NDArray[np.bool_]]:
    """SM cycles before every access, and whether a block barrier is there; accesses warp by warp, `each` of a warp."""
    period = {}
    is_access = np.zeros(len(program.instructions), bool)
    is_access[instruction] = True
    is_barrier = np.array([instruction.traits.is_block_barrier for instruction in program.instructions] or [False])
    for stream in trace.streams.values():
        at = np.flatnonzero(is_access[stream])
        crosses_barrier = np.diff(np.cumsum(is_barrier[stream])[at], prepend=0) > 0
        period[stream[at].tobytes()] = (np.diff(at, prepend=-1) * ISSUE_CYCLES, crosses_barrier)
    cycles, barrier = np.zeros(len(instruction), np.int64), np.zeros(len(instruction), bool)
    executions = trace.executed.sum(axis=1)
    ends = np.cumsum(each)
    for warp, (end, count) in enumerate(zip(ends.tolist(), each.tolist(), strict=True)):
        entries = slice(end - count, end)
        gaps = executions[warp] // max(1, count) * ISSUE_CYCLES
        cycles[entries], barrier[entries] = period.get(instruction[entries].tobytes(), (gaps, False))
    return cycles, barrier


def _all_transactions(addresses: Addresses, active: Lanes, words: NDArray[np.int64]) -> tuple[Whole, Whole, Whole]:
    """The same for accesses of several widths."""
    by_width: list[tuple[Whole, Whole, Whole]] = []
    for word in np.unique(words):
        which = np.flatnonzero(words == word)
        row, address, size = half_warp_transactions(addresses[which], active[which], int(word))
        by_width.append((which[row], address, size))
    none = np.zeros(0, np.int64)
    rows, addresses_of, sizes = zip(*by_width, strict=True) if by_width else ((), (), ())
    return np.concatenate([none, *rows]), np.concatenate([none, *addresses_of]), np.concatenate([none, *sizes])
