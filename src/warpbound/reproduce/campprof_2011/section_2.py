"""Section 2: what an SM of compute capability 1.2 or 1.3 holds, and what a half-warp moves."""

import numpy as np

from warpbound.machine import gpu
from warpbound.memory.coalescing import transactions
from warpbound.models.campprof_2011 import active_warps
from warpbound.reproduce.item import Given, Numbers
from warpbound.residency import occupancy


def numbers(given: Given) -> Numbers:
    """Configurations of one and two blocks, those of more, and transactions of consecutive words."""
    listed = active_warps(given["most_warps"], given["block_warps"])
    threads = 32 * np.arange(1, given["block_warps"] + 1)
    held = occupancy(gpu(given["gpu"]), threads, 0, 0)
    reached = {
        blocks * warps
        for warps, most in enumerate(np.asarray(held.blocks_per_sm).tolist(), 1)
        for blocks in range(1, int(most) + 1)
    }
    return {
        "configurations": len(listed),
        "also reached by blocks of 3, 5 and 9 warps": len(reached - set(listed)),
        "bytes of a transaction": {f"{word}-byte words": _transaction(word) for word in given["words"]},
    }


def _transaction(word: int) -> float:
    address = (word * np.arange(32, dtype=np.uint64))[None, :]
    found = transactions(address, np.ones((1, 32), bool), word, 13)
    return float(found.bytes[0] / found.count[0])
