"""Counters and a simulated time straight from a kernel: its first blocks executed, their accesses simulated."""

from dataclasses import dataclass

from warpbound.emulate import trace
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.residency import occupancy
from warpbound.simulate.partition_patterns import counters
from warpbound.simulate.partition_traces import traced
from warpbound.simulate.partitions import Pattern, machine_of, simulate

WAVES = 2  # that are executed; the rest of the grid is taken to be like them


@dataclass(frozen=True)
class Executed:
    """What was found. counters : of the whole launch. time : of the whole launch on the simulated memory [s].

    warps : active per SM. waves : how often the executed blocks fit into the grid.
    """

    counters: dict[str, float]
    grid: int
    block: int
    warps: int
    time: float
    notes: tuple[str, ...]


def executed(program: Program, launch: Launch, gpu: Gpu) -> Executed:
    """The launch on a board with known partitions. InputError where it cannot run there or accesses nothing."""
    machine = machine_of(gpu)
    grid, block = _product(launch.grid), _product(launch.block)
    held = occupancy(gpu, block, program.registers, program.shared_bytes + launch.smem, grid_blocks=grid)
    if not held.blocks_per_sm:
        limits = ", ".join(held.limiters)
        raise InputError(
            f"{program.title}: not one block of {block} threads fits on an SM of {gpu.name} ({limits}).",
            "Use a smaller block.",
        )
    per_sm = int(held.blocks_per_sm)
    chosen = min(grid, WAVES * per_sm * machine.sm_count)
    seen = trace(program, launch, list(range(chosen)))
    if seen.stopped:
        raise InputError(f"{program.title} could not be executed: {seen.stopped}.", "Give its arguments.")
    pattern: Pattern = traced(program, seen)
    if not len(pattern.address):
        raise InputError(f"{program.title} accesses no global memory.", "There is nothing that could camp.")
    whole = grid / chosen
    return Executed(
        counters={name.removesuffix("b"): count * whole for name, count in counters(pattern).items()},
        grid=grid,
        block=block,
        warps=int(held.warps_per_sm),
        time=simulate(pattern, machine, per_sm).seconds * whole,
        notes=_notes(program, gpu, grid, chosen),
    )


def _notes(program: Program, gpu: Gpu, grid: int, chosen: int) -> tuple[str, ...]:
    notes = [
        f"counters and time are of sm_{program.arch} code, executed and run on the simulated partitions of {gpu.name}",
        "every load is waited for by itself; no cache of a later machine takes part",
    ]
    if chosen < grid:
        notes.append(f"the first {chosen} of {grid} blocks were executed; the others are taken to be like them")
    return tuple(notes)


def _product(size: tuple[int, int, int]) -> int:
    return size[0] * size[1] * size[2]
