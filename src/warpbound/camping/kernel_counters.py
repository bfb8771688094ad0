"""Counters and a simulated time of a kernel: its first blocks are emulated, their accesses simulated."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import trace
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.residency import occupancy
from warpbound.simulate.partition_patterns import counters
from warpbound.simulate.partition_traces import traced
from warpbound.simulate.partitions import Machine, Pattern, machine_of, simulate

MOST_STEPS = 32  # accesses of a block that the report lists
WAVES = 2  # emulated waves; the rest of the grid is assumed to be alike


@dataclass(frozen=True)
class Executed:
    """Result of the emulation. counters : of the whole launch. time : of the whole launch on the simulated memory [s].

    warps : active per SM. partition_at : of the k-th access of the first warp of each of the blocks that start
    together, one on each SM, shape (blocks, accesses); -1 where there is none. bytes_at : of all executed blocks, by
    partition, shape (partitions,).
    """

    counters: dict[str, float]
    grid: int
    block: int
    warps: int
    time: float
    notes: tuple[str, ...]
    partition_at: NDArray[np.int64]
    bytes_at: NDArray[np.int64]


def executed(program: Program, launch: Launch, gpu: Gpu) -> Executed:
    """The launch on a board with known partitions. InputError where it cannot run there or accesses nothing."""
    machine = machine_of(gpu)
    grid, block = _product(launch.grid), _product(launch.block)
    resident = occupancy(gpu, block, program.registers, program.shared_bytes + launch.smem, grid_blocks=grid)
    if not resident.blocks_per_sm:
        limits = ", ".join(resident.limiters)
        raise InputError(
            f"{program.title}: not one block of {block} threads fits on an SM of {gpu.name} ({limits}).",
            "Use a smaller block.",
        )
    per_sm = int(resident.blocks_per_sm)
    sampled = min(grid, WAVES * per_sm * machine.sm_count)
    traced_blocks = trace(program, launch, list(range(sampled)))
    if traced_blocks.stopped:
        raise InputError(f"{program.title} could not be executed: {traced_blocks.stopped}.", "Give its arguments.")
    pattern: Pattern = traced(program, traced_blocks)
    if not len(pattern.address):
        raise InputError(f"{program.title} accesses no global memory.", "There is nothing that could camp.")
    whole = grid / sampled
    home = machine.mapping(pattern.address, machine.width, machine.partitions)
    return Executed(
        counters={name.removesuffix("b"): count * whole for name, count in counters(pattern).items()},
        grid=grid,
        block=block,
        warps=int(resident.warps_per_sm),
        time=simulate(pattern, machine, per_sm).seconds * whole,
        notes=_notes(program, gpu, grid, sampled),
        partition_at=_first_accesses(pattern, machine, home),
        bytes_at=np.bincount(home, pattern.size, machine.partitions).astype(np.int64),
    )


def _first_accesses(pattern: Pattern, machine: Machine, home: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the first transaction of each access goes, (blocks, accesses), of the first warp of one block per SM."""
    blocks = min(machine.sm_count, pattern.blocks)
    first_request = np.concatenate([[0], np.cumsum(pattern.requests)])
    first_transaction = np.concatenate([[0], np.cumsum(pattern.transactions)])
    partition_at = np.full((blocks, min(MOST_STEPS, int(pattern.requests.max(initial=0)))), -1, np.int64)
    for block in range(blocks):
        warp = block * pattern.block_warps
        own = np.arange(first_request[warp], first_request[warp + 1])[: partition_at.shape[1]]
        there = pattern.transactions[own] > 0
        partition_at[block, np.flatnonzero(there)] = home[first_transaction[own[there]]]
    return partition_at


def _notes(program: Program, gpu: Gpu, grid: int, sampled: int) -> tuple[str, ...]:
    notes = [
        f"counters and time are of sm_{program.arch} code, executed and run on the simulated partitions of {gpu.name}",
        "every load is waited for by itself; no cache of a later machine takes part",
    ]
    if sampled < grid:
        notes.append(f"the first {sampled} of {grid} blocks were executed; the others are taken to be like them")
    return tuple(notes)


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
