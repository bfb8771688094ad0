"""The blocks of a launch that do work, and what kinds of them there are.

A launch is sampled and timed as the grid of its working blocks. Blocks that leave before they touch memory are counted
and charged for their start alone.

Models   Classes of blocks by everything that block and thread numbers decide (`emulate.block_classes`). A class is idle
         if its first block touches no memory and issues at most IDLE_SHARE of what the heaviest class issues.
         Working blocks that fill a box of the grid keep its shape; others are numbered one after the other.
Omits    Grids of more than MOST_BLOCKS blocks, code that is not executed, and kernels whose blocks share work or
         clusters: all blocks count as working, of one class.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.case import Case, product
from warpbound.distinct_values import among
from warpbound.emulate import Trace
from warpbound.emulate.block_classes import Classes, block_classes
from warpbound.emulate.clusters import cluster_of, ranks
from warpbound.emulate.launch_memory import prepare, waits_for_grid
from warpbound.emulate.value_dependence import draws_work_from_counter
from warpbound.isa.opcodes import FIRST
from warpbound.kernel_launch import Dim, Launch
from warpbound.program import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.dynamic import IdleBlocks

Ints = NDArray[np.int64]
MOST_BLOCKS = 1 << 22  # evaluated one by one: about a second
IDLE_SHARE = 0.75
LONGEST_IDLE = 100_000  # instructions of a block's warps; a block with more is not idle
MOST_IDLE_CLASSES = 16  # classes that are executed to see whether they touch memory, the lightest first
ENOUGH_WORKING = 2  # classes found to touch memory, after which no longer one is looked at


class Execute(Protocol):
    """The emulator: blocks by number, and how many of them run at the same time where that decides."""

    def __call__(self, program: Program, launch: Launch, blocks: list[int], /, *, at_once: int | None = None) -> Trace:
        """The trace of these blocks."""


@dataclass(frozen=True)
class WorkingBlocks:
    """The working blocks of a launch.

    numbers : their numbers in the launch, ascending, (w,); None: all blocks. grid : their extents.
    of_class : number of the class of each, (w,). length : instructions of a block of each class, (classes,).
    lanes : the same, times the lanes that take part.
    exact : whether blocks of a class do the same. idle : the others, None where there are none.
    """

    numbers: Ints | None
    grid: Dim
    of_class: Ints
    length: Ints
    lanes: Ints
    exact: bool
    idle: IdleBlocks | None = None

    def execute(self, launch: Launch, execute: Execute) -> Execute:
        """`execute` for these blocks: it takes and gives their numbers among the working blocks."""
        numbers = self.numbers
        if numbers is None:
            return execute

        def renumbered(program: Program, _: Launch, blocks: list[int], /, *, at_once: int | None = None) -> Trace:
            trace = execute(program, launch, numbers[blocks].tolist(), at_once=at_once)
            warps = trace.warps.copy()
            warps[:, 0] = np.searchsorted(numbers, warps[:, 0])
            place = np.searchsorted(numbers, trace.blocks)
            return replace(trace, blocks=place, of_blocks=len(numbers), warps=warps)

        return renumbered


def working_blocks(case: Case, launch: Launch, execute: Execute) -> WorkingBlocks:
    """The working blocks of a launch. Raises InputError where its arguments do not fit the kernel."""
    program, blocks = case.program, product(launch.grid)
    alone = program.arch >= FIRST and cluster_of(program, launch) == (1, 1, 1) and not waits_for_grid(program)
    cluster = cluster_of(program, launch)
    has_roles = any(instruction.traits.waits_for == "mbarrier" for instruction in program.instructions)
    if program.arch >= FIRST and cluster != (1, 1, 1) and has_roles and blocks <= MOST_BLOCKS:
        of_class = ranks(np.arange(blocks), launch.grid, cluster)
        alike = np.ones(product(cluster), np.int64)
        return WorkingBlocks(None, launch.grid, of_class, alike, alike, exact=False)
    if not 1 < blocks <= MOST_BLOCKS or not alone or draws_work_from_counter(program):
        alike = np.ones(1, np.int64)
        return WorkingBlocks(None, launch.grid, np.broadcast_to(np.int64(0), blocks), alike, alike, exact=False)
    classes = block_classes(program, launch, prepare(program, launch), np.arange(blocks))
    whole = WorkingBlocks(None, launch.grid, classes.of_block, classes.length, classes.lanes, classes.complete)
    idle = _idle_classes(program, launch, classes, execute)
    return _without(whole, classes, idle) if idle else whole


def _idle_classes(program: Program, launch: Launch, classes: Classes, execute: Execute) -> dict[int, Trace]:
    """The idle classes, each with the trace of its first block."""
    light = np.flatnonzero(classes.length <= min(IDLE_SHARE * classes.length.max(), LONGEST_IDLE))
    idle: dict[int, Trace] = {}
    working = 0
    for number in light[np.argsort(classes.length[light], kind="stable")][:MOST_IDLE_CLASSES].tolist():
        trace = execute(program, launch, [int(classes.first[number])])
        if trace.stopped:
            return {}
        if not any(len(accesses.instruction) for accesses in trace.accesses.values()):
            idle[number] = trace
            continue
        working += 1
        if working == ENOUGH_WORKING:
            break
    return idle


def _without(whole: WorkingBlocks, classes: Classes, idle: dict[int, Trace]) -> WorkingBlocks:
    """The launch without its idle classes."""
    working = ~among(classes.of_block, list(idle))
    numbers = np.flatnonzero(working)
    classes_present, of_class = np.unique(classes.of_block[numbers], return_inverse=True)
    counts = {number: int(classes.counts[number]) for number in idle}
    return WorkingBlocks(
        numbers=numbers,
        grid=_box(numbers, whole.grid),
        of_class=of_class.ravel(),
        length=classes.length[classes_present],
        lanes=classes.lanes[classes_present],
        exact=whole.exact,
        idle=IdleBlocks(
            blocks=sum(counts.values()),
            executions=np.sum([counts[n] * trace.executed.sum(axis=0) for n, trace in idle.items()], axis=0),
            threads=np.sum([counts[n] * trace.threads.sum(axis=0) for n, trace in idle.items()], axis=0),
            working=numbers,
        ),
    )


def _box(numbers: Ints, grid: Dim) -> Dim:
    """The extents of blocks that fill a box of the grid; else all along x."""
    x, y, _ = grid
    axes = numbers % x, numbers // x % y, numbers // (x * y)
    extents = [int(np.ptp(axis)) + 1 for axis in axes]
    return (extents[0], extents[1], extents[2]) if np.prod(extents) == len(numbers) else (len(numbers), 1, 1)
