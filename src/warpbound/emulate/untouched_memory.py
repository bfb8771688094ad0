"""Zero bytes that take no memory until they are touched."""

import mmap
import sys

import numpy as np
from numpy.typing import NDArray

MAP_NORESERVE = 0x4000  # of Linux; Python's own name for it came with 3.13
SPARSE_B = 1 << 22  # bytes asked for as pages that the system gives when they are touched; NumPy takes 2 MB at once


def zeros(count: int) -> NDArray[np.uint8]:
    """Zero bytes; those that nothing touches take no memory, even where there are more than the machine has."""
    if count < SPARSE_B or sys.platform != "linux":
        return np.zeros(count, np.uint8)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    try:
        return np.frombuffer(mmap.mmap(-1, count, flags=flags), np.uint8)
    except OSError as problem:
        raise MemoryError(str(problem)) from None
