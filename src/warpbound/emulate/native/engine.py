"""Which engine executes the blocks of a launch: the interpreter in C where there is one, else NumPy's handlers."""

from collections.abc import Callable
from functools import partial
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import Chunk, Kernel
from warpbound.emulate.native.code import code_of
from warpbound.emulate.native.library import interpreter
from warpbound.emulate.native.native_chunk import NativeChunk, ThreadRows

MakeChunk = Callable[[Kernel, NDArray[np.int64], int], Chunk]  # of blocks; the place of their first warp


def chunk_maker(kernel: Kernel) -> MakeChunk:
    """What makes the chunks of a launch that is executed for its results; its arrays are filled."""
    code = code_of(kernel) if kernel.memory.image.make_contents() else None
    return Chunk if code is None else partial(NativeChunk, code=code, rows=ThreadRows(kernel, code))


def compile_in_background() -> None:
    """Compile the interpreter in another thread, unless it is in the cache."""
    Thread(target=interpreter, daemon=True).start()
