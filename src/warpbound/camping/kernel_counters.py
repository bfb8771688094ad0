"""Counters and a simulated time of a kernel: its blocks are emulated, their accesses simulated."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import trace
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.residency import occupancy
from warpbound.result.campprof import MemoryBoundProof
from warpbound.simulate.partition_patterns import counters
from warpbound.simulate.partition_traces import traced
from warpbound.simulate.partition_views import elasticity
from warpbound.simulate.partitions import Machine, Pattern, machine_of, simulate

MOST_STEPS = 32             # accesses of a block that the report lists
MOST_TRANSACTIONS = 400_000  # simulated; of a larger launch, runs of neighbouring blocks at even distances
MOST_INSTRUCTIONS = 6_000_000  # most warp instructions that are emulated
FEWEST_WAVES = 4  # waves that are emulated of a launch that is larger


@dataclass(frozen=True)
class Executed:
    """Result of the emulation. counters : of the whole launch. time : of the whole launch on the simulated memory [s].

    proof : whether the memory binds, and what the same accesses cost if spread evenly over the partitions.

    warps : active per SM. partition_at : of the k-th access of the first warp of each of the blocks that start
    together, one on each SM, shape (blocks, accesses); -1 where there is none. bytes_at : of all executed blocks, by
    partition, shape (partitions,).
    """

    counters: dict[str, float]
    grid: int
    block: int
    warps: int
    time: float
    proof: MemoryBoundProof
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
    wave = per_sm * machine.sm_count
    blocks, pattern = _whole_or_sampled(program, launch, grid, wave)
    sampled_blocks = len(blocks)
    whole = grid / sampled_blocks
    home = machine.mapping(pattern.address, machine.width, machine.partitions)
    seconds = simulate(pattern, machine, per_sm).seconds
    return Executed(
        counters={name.removesuffix("b"): count * whole for name, count in counters(pattern).items()},
        grid=grid,
        block=block,
        warps=int(resident.warps_per_sm),
        time=seconds * whole,
        proof=_proof(pattern, machine, per_sm, whole),
        notes=_notes(program, gpu, grid, sampled_blocks, wave),
        partition_at=_first_accesses(pattern, machine, home),
        bytes_at=np.bincount(home, pattern.size, machine.partitions).astype(np.int64),
    )


def _whole_or_sampled(program: Program, launch: Launch, grid: int, wave: int) -> tuple[list[int], Pattern]:
    """The executed blocks and their accesses: all, or waves of neighbours at even distances. InputError for none."""
    blocks = list(range(min(grid, wave)))
    pattern, instructions = _executed(program, launch, blocks)
    if not len(pattern.address):
        raise InputError(
            f"{program.title} accesses no global memory.", "Only global accesses can camp: choose another kernel."
        )
    if len(blocks) == grid:
        return blocks, pattern
    affordable = min(MOST_TRANSACTIONS / len(pattern.address), MOST_INSTRUCTIONS / max(1, instructions))
    blocks = sampled_blocks(grid, wave, max(FEWEST_WAVES, int(affordable)))
    return blocks, _executed(program, launch, blocks)[0]


def sampled_blocks(grid: int, wave: int, waves: int) -> list[int]:
    """Numbers of the blocks of `waves` waves, from the first of the grid to its last; all blocks if it has no more."""
    if grid <= wave * waves:
        return list(range(grid))
    starts = np.linspace(0, grid - wave, waves).astype(np.int64)
    return [int(block) for block in np.unique(starts[:, None] + np.arange(wave))]


def _executed(program: Program, launch: Launch, blocks: list[int]) -> tuple[Pattern, int]:
    """The accesses of these blocks, and the warp instructions that they took."""
    traced_blocks = trace(program, launch, blocks)
    if traced_blocks.stopped:
        raise InputError(f"{program.title} could not be executed: {traced_blocks.stopped}.", "Give its arguments.")
    return traced(program, traced_blocks), int(traced_blocks.executed.sum())


def _proof(pattern: Pattern, machine: Machine, per_sm: int, whole: float) -> MemoryBoundProof:
    """Section 5.3's test with both clocks, and the time with random addresses, as many for every partition."""
    shares = elasticity(pattern, machine, per_sm)
    even = np.random.default_rng(0).permutation(np.arange(len(pattern.address)) % machine.partitions)
    spread = simulate(pattern, replace(machine, mapping=lambda *_: even), per_sm).seconds
    return MemoryBoundProof(shares.core, shares.memory, shares.binds == "memory", spread * whole)


def _first_accesses(pattern: Pattern, machine: Machine, home: NDArray[np.int64]) -> NDArray[np.int64]:
    """Partition of each access's first transaction, (blocks, accesses), for the first warp of one block per SM."""
    blocks = min(machine.sm_count, pattern.blocks)
    first_request = np.concatenate([[0], np.cumsum(pattern.requests)])
    first_transaction = np.concatenate([[0], np.cumsum(pattern.transactions)])
    partition_at = np.full((blocks, min(MOST_STEPS, int(pattern.requests.max(initial=0)))), -1, np.int64)
    for block in range(blocks):
        warp = block * pattern.block_warps
        own = np.arange(first_request[warp], first_request[warp + 1])[: partition_at.shape[1]]
        issued = pattern.transactions[own] > 0
        partition_at[block, np.flatnonzero(issued)] = home[first_transaction[own[issued]]]
    return partition_at


def _notes(program: Program, gpu: Gpu, grid: int, sampled_blocks: int, wave: int) -> tuple[str, ...]:
    notes = [
        f"counters and time are of sm_{program.arch} code, executed and run on the simulated partitions of {gpu.name}",
        "every load is waited for by itself; no cache of a later machine takes part",
    ]
    if sampled_blocks < grid:
        notes.append(
            f"{sampled_blocks} of {grid} blocks were executed, in waves of {wave} neighbours from all over the grid; "
            "the others are assumed to be like them"
        )
    return tuple(notes)


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
