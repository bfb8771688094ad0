"""Runs all blocks of a launch, chunk by chunk, and returns the arrays afterwards."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.emulator import STEP_LIMIT, Chunk, Kernel, make_ready
from warpbound.emulate.launch_checks import check_accepted
from warpbound.emulate.livelock import LivelockDetector
from warpbound.emulate.native.engine import MakeChunk, chunk_maker
from warpbound.emulate.state import LANES
from warpbound.kernel_launch import Launch, check
from warpbound.program.kernel import Program, check_program

WORTH = 4096  # warps of a launch from which on the interpreter is worth its compilation

Progress = Callable[[int, int], None]  # blocks that have ended, of how many
Stepper = Callable[[Chunk], Callable[[int], int | None]]


def run(
    program: Program, launch: Launch, *, step_limit: int = STEP_LIMIT, progress: Progress | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name (device globals given in the launch by theirs).

    progress : called with the number of finished blocks and of all blocks whenever blocks finish.
    Raises CommandError for values of another kind and sizes beyond all limits, InputError for launches that the
    architecture does not accept, bad accesses, deadlocks, loops without end and instructions that are not executed.
    """
    check_program(program)
    check(launch)
    check_accepted(program, launch)
    kernel = make_ready(program, launch)
    is_large = kernel.block_count * kernel.lanes_per_block >= WORTH * LANES
    blocks = kernel.whole_clusters(np.arange(kernel.block_count))
    run_blocks(kernel, blocks, step_limit, None, progress, chunk_maker(kernel) if is_large else Chunk)
    return kernel.memory.arrays()


def run_blocks(  # noqa: PLR0913  (each is one fact of the execution)
    kernel: Kernel,
    blocks: NDArray[np.int64],
    limit: int,
    stepper: Stepper | None = None,
    progress: Progress | None = None,
    make_chunk: MakeChunk = Chunk,
) -> None:
    """Execute blocks (whole clusters), in chunks in the given order; chunks that wait for others take turns with them.

    stepper : builds a function that replaces the plain execution of an instruction of a chunk. progress : as of
    `run`. make_chunk : of the kernel, some blocks and the place of their first warp.
    """
    size, next_block = kernel.blocks_per_chunk(), 0
    resident: list[Chunk] = []
    warps_per_block = kernel.lanes_per_block // LANES
    livelock, ended = LivelockDetector(), 0
    while resident or next_block < len(blocks):
        if next_block < len(blocks) and len(resident) < kernel.chunks_at_once:
            started = blocks[next_block : next_block + size]
            resident.append(make_chunk(kernel, started, next_block * warps_per_block))
            next_block += len(started)
        running = tuple(resident)
        for chunk in running:
            if chunk.proceed(limit, stepper(chunk) if stepper else None):
                resident.remove(chunk)
                chunk.release()
                ended += len(chunk.blocks)
                if progress is not None:
                    progress(ended, len(blocks))
        full = next_block >= len(blocks) or len(resident) >= kernel.chunks_at_once
        if full and running == tuple(resident) and livelock.detects(running):
            raise running[0].endless()
