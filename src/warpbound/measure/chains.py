"""Chains of dependent loads that many warps follow at once: length, order in memory, where each thread starts."""

import numpy as np

from warpbound.measure.case import Buffer, Step
from warpbound.measure.device import Facts
from warpbound.quick_dataclasses import dataclass

SECTOR = 32
SECTORS = {"stream": 4, "stride2": 8, "random": 32}  # sectors of one load of a warp
LEVELS = ("l1", "l2", "dram")
HOW = {"l1": "ca", "l2": "cg", "dram": "cg"}         # cache operator of the loads: ca may hit L1, cg does not
ENTRIES = 1 << 27      # least entries of a chain in device memory: 512 MB
BEYOND = 8             # least multiple of L2, so that L2 has evicted an entry before it is read again
L1_ENTRIES = 1 << 12   # 16 KiB
GAP = {"stream": 1, "stride2": 2, "random": 16}      # entries between two visited ones; random: every second sector
MOST_ORDERED = 1 << 23  # most entries of a random chain, whose order the host makes
PARAMETERS = "const u32 *array, const u32 *order, u32 count, u32 gap, u32 apart, u32 touched"


@dataclass(frozen=True)
class Chain:
    """A chain in memory. args : of a kernel whose parameters begin with PARAMETERS."""

    buffers: tuple[Buffer, ...]
    setup: tuple[Step, ...]
    args: tuple[str | np.generic, ...]


def chain_in(level: str, pattern: str, threads: int, facts: Facts) -> Chain:
    """A chain at a level for `threads` threads side by side; no entry is read again before all others are."""
    beyond = max(ENTRIES, BEYOND * facts.l2_size // 4 // 32 * 32)
    entries = {"l1": L1_ENTRIES, "l2": facts.l2_size // 16 // 32 * 32, "dram": beyond}[level]
    return chain_of(entries, level, pattern, threads)


def chain_of(entries: int, level: str, pattern: str, threads: int) -> Chain:
    """The same through an array of `entries` 32-bit words."""
    gap = GAP[pattern]
    if pattern == "random":
        gap = max(gap, entries // MOST_ORDERED)
    count, lines = entries // gap, np.uint32(entries if level == "l1" else 0)
    array = Buffer("array", 4 * entries)
    if pattern == "random":
        weave = Step("weave_random", (1024,), 256, ("array", "order", np.uint32(count), np.uint32(gap)))
        args = ("array", "order", np.uint32(count), np.uint32(gap), np.uint32(max(1, count // threads)), lines)
        return Chain((array, Buffer("order", 4 * count, "order")), (weave,), args)
    step = 32 * gap if level == "l1" else gap * threads % entries or 32 * gap
    weave = Step("weave", (1024,), 256, ("array", np.uint32(entries), np.uint32(step)))
    return Chain((array,), (weave,), ("array", np.uint64(0), np.uint32(count), np.uint32(gap), np.uint32(1), lines))
