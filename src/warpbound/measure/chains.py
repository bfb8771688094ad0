"""Chains that many warps follow at once: how long they are, how they are woven, where each thread begins."""

from dataclasses import dataclass

import numpy as np

from warpbound.measure.case import Buffer, Step
from warpbound.measure.device import Facts

SECTOR = 32
SECTORS = {"stream": 4, "stride2": 8, "random": 32}  # of one load of a warp
LEVELS = ("l1", "l2", "dram")
HOW = {"l1": "ca", "l2": "cg", "dram": "cg"}         # which loads may hit L1
ENTRIES = 1 << 27      # 512 MB, in device memory, or more:
BEYOND = 8             # times L2, so that an entry that is read again comes from device memory again
L1_ENTRIES = 1 << 12   # 16 KiB
GAP = {"stream": 1, "stride2": 2, "random": 16}      # entries between two that are visited: random, every second sector
MOST_ORDERED = 1 << 23  # entries of a random chain: their order is made by the host
PARAMETERS = "const u32 *array, const u32 *order, u32 count, u32 gap, u32 apart, u32 touched"


@dataclass(frozen=True)
class Laid:
    """A chain in memory. args : of a kernel that begins with PARAMETERS."""

    buffers: tuple[Buffer, ...]
    setup: tuple[Step, ...]
    args: tuple[str | np.generic, ...]


def laid(pattern: str, level: str, chains: int, facts: Facts) -> Laid:
    """For so many chains in all, side by side through the array; no entry is read again before all others are."""
    return woven(pattern, level, entries_of(level, facts), chains)


def woven(pattern: str, level: str, entries: int, chains: int) -> Laid:
    """The same through so many entries."""
    gap = GAP[pattern]
    if pattern == "random":
        gap = max(gap, entries // MOST_ORDERED)
    count, touched = entries // gap, np.uint32(entries if level == "l1" else 0)
    array = Buffer("array", 4 * entries)
    if pattern == "random":
        weave = Step("weave_random", (1024,), 256, ("array", "order", np.uint32(count), np.uint32(gap)))
        args = ("array", "order", np.uint32(count), np.uint32(gap), np.uint32(max(1, count // chains)), touched)
        return Laid((array, Buffer("order", 4 * count, "order")), (weave,), args)
    step = 32 * gap if level == "l1" else gap * chains % entries or 32 * gap
    weave = Step("weave", (1024,), 256, ("array", np.uint32(entries), np.uint32(step)))
    return Laid((array,), (weave,), ("array", np.uint64(0), np.uint32(count), np.uint32(gap), np.uint32(1), touched))


def entries_of(level: str, facts: Facts) -> int:
    """32-bit words of the array: 16 KiB, a quarter of L2, or 512 MB and eight times L2 at least."""
    beyond = max(ENTRIES, BEYOND * facts.l2_size // 4 // 32 * 32)
    return {"l1": L1_ENTRIES, "l2": facts.l2_size // 16 // 32 * 32, "dram": beyond}[level]
