"""Traces made by hand: which warp accesses which addresses."""

import numpy as np

from warpbound.emulate.trace import Trace, accesses_of
from warpbound.memory.hierarchy import Facts
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

LANE = np.arange(32)
MACHINE = Facts(arch=80, sm_count=4, blocks_per_sm=2, l1_bytes=128 << 10, l2_bytes=4 << 20)
IN, OUT = 1 << 30, 1 << 31  # where two arrays stand


def program(*mnemonics, arch=80, local_bytes=0):
    code = tuple(
        Instruction(16 * i, name.split(".")[0], tuple(name.split(".")[1:]), (), name)
        for i, name in enumerate(mnemonics)
    )
    return Program("k", "k", arch, code, local_bytes=local_bytes)


def trace(blocks, of_blocks, warps, events):
    """events(block, warp) -> list of (space, instruction, addresses (32,), active (32,) or None)."""
    blocks = np.array(blocks)
    pairs = np.array([(b, w) for b in blocks for w in range(warps)])
    rows = {}
    for number, (block, warp) in enumerate(pairs):
        for space, instruction, addresses, active in events(int(block), int(warp)):
            on = np.ones(32, bool) if active is None else active
            rows.setdefault(space, []).append((instruction, number, np.broadcast_to(addresses, 32), on))
    accesses = {
        space: accesses_of(
            np.array([r[0] for r in found], np.int32),
            np.array([r[1] for r in found], np.int32),
            np.array([r[2] for r in found]).astype(np.uint64),
            np.array([r[3] for r in found], bool),
        )
        for space, found in rows.items()
    }
    nothing = np.zeros((len(pairs), 0), np.int64)
    return Trace(blocks, of_blocks, pairs, nothing, nothing, {}, accesses)


def copy(block, warp):
    """y[i] = x[i] with 4 warps a block: 128 bytes read and written per warp."""
    at = (block * 4 + warp) * 128 + 4 * LANE
    return [("global", 0, IN + at, None), ("global", 1, OUT + at, None)]


COPY = program("LDG.E", "STG.E")
