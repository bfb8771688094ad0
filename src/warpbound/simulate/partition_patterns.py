"""Access patterns for `partitions`: CampProf's micro-benchmarks and its three applications.

Source   A. M. Aji, M. Daga, W. Feng, CF 2011, sections 3.2 and 5. The code of the micro-benchmarks (Figures 4 and 5) is
         missing from the available text and is rebuilt from its description. The transposes are those of NVIDIA,
         "Optimizing Matrix Transpose in CUDA", 2009.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.simulate.partitions import Machine, Pattern, Whole

HALF_WARP = 16
ITERATIONS = 32    # of each thread of a micro-benchmark; the paper: "a fixed and known number"
LOOP_CYCLES = 12   # the access, an addition, a branch for it: 3 instructions of 4 cycles on 8 lanes (assumed)
TILE = 16
FLOAT_B = 4
INDEX_CYCLES = 16  # two-dimensional indices before an access: 4 instructions (assumed)


@dataclass(frozen=True)
class Micro:
    """One of the twelve: `operation` is read or write, `word` 2, 4 or 8 bytes, `camped` in one partition."""

    operation: str
    word: int
    camped: bool

    @property
    def transaction(self) -> int:
        """Bytes that a half-warp moves at once."""
        return HALF_WARP * self.word


MICROS = tuple(
    Micro(operation, word, camped) for operation in ("read", "write") for camped in (False, True) for word in (2, 4, 8)
)


def micro(kind: Micro, warps: int, machine: Machine, iterations: int = ITERATIONS) -> tuple[Pattern, int]:
    """The pattern with this many active warps on every SM, and the blocks of an SM that hold them.

    Up to 16 warps are one block, more are two. Block b stays within the 256 bytes of partition b mod 8, all blocks
    within one of them when camped; thread t accesses word (t + i) of these 256 bytes, i rising by 16.
    """
    per_sm = 1 if warps <= 16 else 2
    block_warps = warps // per_sm
    blocks = per_sm * machine.sm_count
    row = machine.width
    home = np.zeros(blocks, np.int64) if kind.camped else np.arange(blocks) % machine.partitions
    thread = HALF_WARP * np.arange(2 * block_warps).reshape(block_warps, 1, 2)
    step = HALF_WARP * np.arange(iterations).reshape(1, iterations, 1)
    inside = (thread + step) * kind.word % row
    address = (row * home).reshape(blocks, 1, 1, 1) + inside
    shape = (blocks * block_warps, iterations, 2)
    reads = kind.operation == "read"
    return regular(block_warps, address.reshape(shape), kind.transaction, LOOP_CYCLES, waits=reads), per_sm


def regular(block_warps: int, address: Whole, size: int, cycles: int, *, waits: bool) -> Pattern:
    """Warps with equal numbers of requests and transactions: addresses (warps, requests, transactions)."""
    warps, requests, transactions = address.shape
    each = np.ones(warps * requests, np.int64)
    return Pattern(
        block_warps,
        np.full(warps, requests, np.int64),
        transactions * each,
        cycles * each,
        np.full(len(each), waits),
        np.zeros(len(each), bool),
        address.reshape(-1).astype(np.int64),
        np.full(address.size, size, np.int64),
    )


def gem(warps: int, pieces: int, step: int = 256, size: int = 256) -> Pattern:
    """All warps read the same components from the first to the last, one every `step` bytes: GEM, Figure 7."""
    address = step * np.broadcast_to(np.arange(pieces).reshape(1, pieces, 1), (warps, pieces, 1))
    return regular(1, address, size, 0, waits=True)


def transpose(side: int, *, diagonal: bool, blocks: int | None = None) -> Pattern:
    """Transpose of side x side floats by tiles of 16 x 16, in rows or on diagonals of blocks; Figure 8.

    blocks : how many of the grid, from the first on; None: all. A warp reads two rows of the tile, waits for its
    block, and writes two rows of the transposed one, which follows the input in memory.
    """
    across = side // TILE
    number = np.arange(across * across if blocks is None else blocks)
    x, y = number % across, number // across
    if diagonal:
        x, y = (x + y) % across, x
    rows = np.arange(TILE)
    row_B = FLOAT_B * side
    reads = (TILE * y[:, None] + rows) * row_B + TILE * FLOAT_B * x[:, None]
    target = side * row_B + (TILE * x[:, None] + rows) * row_B + TILE * FLOAT_B * y[:, None]
    address = np.stack([reads.reshape(-1, 2), target.reshape(-1, 2)], axis=1)
    warps = len(address)
    alternating = np.tile([True, False], warps)
    return Pattern(
        TILE // 2,
        np.full(warps, 2, np.int64),
        np.full(2 * warps, 2, np.int64),
        np.full(2 * warps, INDEX_CYCLES, np.int64),
        alternating,
        ~alternating,
        address.reshape(-1).astype(np.int64),
        np.full(address.size, TILE * FLOAT_B, np.int64),
    )


def camped_copy(warps: int, accesses: int, machine: Machine) -> Pattern:
    """Warps that read and write 4-byte words of one partition only: the most camping possible."""
    stride = machine.width * machine.partitions
    address = np.broadcast_to(stride * np.arange(2 * accesses).reshape(1, -1, 1), (warps, 2 * accesses, 2))
    pattern = regular(1, address + 64 * np.arange(2), 64, LOOP_CYCLES, waits=True)
    return replace(pattern, waits=np.tile([True, False], warps * accesses))


def counters(pattern: Pattern) -> dict[str, int]:
    """Transactions of the launch by kind and size, under the names of the CUDA profiler: gld_32b to gst_128b."""
    load: NDArray[np.bool_] = np.repeat(pattern.waits, pattern.transactions)
    return {
        f"{name}_{size}b": int(np.count_nonzero((load == is_load) & (pattern.size == size)))
        for name, is_load in (("gld", True), ("gst", False))
        for size in (32, 64, 128)
    }
