"""What the rows of a trace are: warps of blocks, arrays in global memory, instructions in issue order."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import Kernel
from warpbound.emulate.global_memory import TRACED_BASE
from warpbound.emulate.state import LANES


def arrays_of(kernel: Kernel) -> tuple[tuple[str, int, int], ...]:
    """(name, address, bytes) of what the launch has in global memory."""
    return tuple(
        (allocation.name, TRACED_BASE + allocation.start, allocation.end - allocation.start)
        for allocation in kernel.memory.image.allocations
    )


def warps_of(kernel: Kernel, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """(block, warp in block) of each warp of these blocks, (warps, 2)."""
    per_block = kernel.lanes_per_block // LANES
    return np.stack([np.repeat(blocks, per_block), np.tile(np.arange(per_block), len(blocks))], axis=1)


def joined(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Parts of a stream, one behind the other."""
    return np.concatenate([np.empty(0, np.int32), *parts])
