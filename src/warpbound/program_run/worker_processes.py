"""Blocks of a large launch executed by several processes on the memory that they share.

A launch is divided if no block can wait for another or take part of its work, and no update of memory has to be atomic
across processes. Each process takes every n-th chunk of blocks.
"""

import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.block_execution import run_blocks
from warpbound.emulate.device_heap import uses_heap
from warpbound.emulate.emulator import STEP_LIMIT, Kernel
from warpbound.emulate.launch_memory import waits_for_grid
from warpbound.emulate.livelock import polls
from warpbound.emulate.native.engine import chunk_maker
from warpbound.errors import InputError
from warpbound.forked_process import forked
from warpbound.program_run.device_memory import HeapImage
from warpbound.quick_dataclasses import dataclass

WORTH = 3_000_000  # warp instructions from which on processes are started: a tenth of a second


@dataclass(frozen=True)
class Part:
    """The outcome of one process. strays : as in the image. seconds : of its processor time. problem : reason and hint
    of the error that ended it."""

    output: list[bytes]
    allocations_read: set[int]
    stored: set[int]
    strays: int
    seconds: float
    problem: tuple[str, str] | None = None


def run_all_blocks(kernel: Kernel, image: HeapImage, instructions: float) -> float:
    """Execute the whole grid; the processor time that another process needs beyond this one, s.

    instructions : warp instructions. Raises InputError as `run_blocks` does.
    """
    blocks = kernel.whole_clusters(np.arange(kernel.block_count))
    processes = min(len(os.sched_getaffinity(0)), len(blocks) // kernel.cluster_size)
    if processes < 2 or instructions < WORTH or not divisible(kernel):
        run_blocks(kernel, blocks, STEP_LIMIT, make_chunk=chunk_maker(kernel))
        return 0.0
    parts = _in_processes([partial(_part, kernel, image, own) for own in shares(kernel, blocks, processes)])
    if image.output is not None:
        image.output += [text for part in parts for text in part.output]
    image.strays = sum(part.strays for part in parts)
    for part in parts:
        image.read |= part.allocations_read
        image.stored |= part.stored
    for part in parts:
        if part.problem is not None:
            raise InputError(*part.problem)
    return max(part.seconds for part in parts) - parts[0].seconds


def divisible(kernel: Kernel) -> bool:
    """Whether the blocks may be executed by processes that do not wait for each other."""
    code = kernel.program.instructions
    alone = not waits_for_grid(kernel.program) and not uses_heap(kernel.program) and kernel.breadth == 1
    return alone and not any(polls(x) or x.traits.is_global_atomic for x in code)


def shares(kernel: Kernel, blocks: NDArray[np.int64], processes: int) -> list[NDArray[np.int64]]:
    """The blocks of each process: chunks in turn; smaller chunks where there are few."""
    size = kernel.cluster_size
    step = max(size, min(kernel.blocks_per_chunk(), len(blocks) // processes // size * size))
    chunks = [blocks[start : start + step] for start in range(0, len(blocks), step)]
    return [np.concatenate(chunks[i::processes]) for i in range(processes) if chunks[i::processes]]


def _part(kernel: Kernel, image: HeapImage, blocks: NDArray[np.int64]) -> Part:
    image.output = [] if image.output is not None else None
    problem, began = None, time.thread_time()
    try:
        run_blocks(kernel, blocks, STEP_LIMIT, make_chunk=chunk_maker(kernel))
    except InputError as error:
        problem = error.reason, error.hint
    return Part(image.output or [], image.read, image.stored, image.strays, time.thread_time() - began, problem)


def _in_processes(tasks: list[Callable[[], Part]]) -> list[Part]:
    """The results of all tasks: this process does the first, a new process each of the others."""
    started = [forked(task) for task in tasks[1:]]
    parts = [tasks[0]()]
    for process, end in started:
        try:
            parts.append(end.recv())
        except EOFError:
            parts.append(Part([], set(), set(), 0, 0.0, ("A process of the emulator has died.", "")))
        process.join()
    return parts
