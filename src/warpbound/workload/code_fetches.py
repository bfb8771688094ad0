"""Cycles for which the code of one warp comes from beyond the instruction cache of its sub-core.

Source   how code comes: isa/instruction_caches.toml; caches that keep what was used last: as those for data.
Models   The lines of the typical warp's path, behind a warp that took the same path, through the caches of sub-core and
         SM: each iteration of a loop that a cache cannot hold misses every line there. Lines under way are limited, so
         one comes in that part of a round trip: to the SM's cache, or on to L2 and back.
Omits    Misses of the first warps of a launch; jumps, behind which no line is under way yet; sets of a cache; warps
         whose roles take other paths; the rate at which L2 hands over code.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.isa.instruction_caches import CodePath, code_path, instruction_caches
from warpbound.machine import Gpu
from warpbound.result.execution import InstructionCacheFit
from warpbound.workload.files.lanes import FETCH
from warpbound.workload.files.work import levels
from warpbound.workload.records import Workload

INSTRUCTION_B = 16  # from Volta on


def with_fetches(work: Workload, stream: Sequence[int], board: Gpu, clock_hz: float) -> Workload:
    """The work with the time of its fetches; stream : indices of the instructions of a typical warp, or its start."""
    caches, l2_cycles = instruction_caches(board.arch), levels(board, clock_hz).get("l2", 0.0)
    cycles = fetch_cycles(stream, caches, l2_cycles, code_path())
    if not cycles:
        return work
    return replace(work, units=work.units | {FETCH: cycles * work.warp_instructions / len(stream)})


def fetch_cycles(
    stream: Sequence[int], caches: Sequence[InstructionCacheFit], l2_cycles: float, path: CodePath
) -> float:
    """Cycles for which lines of code arrive at L0 while this stream is executed; 0 where L0 holds its code.

    stream : indices of instructions, in order. caches : the nearest first. l2_cycles : from an SM to L2 and back.
    """
    lines = np.array(stream, np.int64) * INSTRUCTION_B // path.line_B
    lines = lines[np.flatnonzero(np.diff(lines, prepend=-1))]
    behind = (path.sm_cycles, path.sm_cycles + l2_cycles)  # of the caches: how long it takes to what stands behind
    cycles = before = 0.0
    for cache, round_trip in zip(caches, behind, strict=False):
        lines = _misses(lines, cache.bytes // path.line_B)
        cycles += len(lines) * (round_trip - before) / path.lines_ahead
        before = round_trip
    return cycles


def _misses(lines: NDArray[np.int64], room: int) -> NDArray[np.int64]:
    """The lines, in order, that a cache of `room` lines lacks, once it has seen the same lines before."""
    if len(distinct(lines)) <= room:
        return lines[:0]
    cache: dict[int, None] = {}  # the line that was not used for longest first
    misses: list[int] = []
    for lines_of_pass in ([], misses):
        for line in lines.tolist():
            if line in cache:
                del cache[line]
            else:
                lines_of_pass.append(line)
                if len(cache) >= room:
                    del cache[next(iter(cache))]
            cache[line] = None
    return np.array(misses, np.int64)
