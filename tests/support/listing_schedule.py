"""Issue times of a listing on a GPU, in one call: compared with the worked examples of papers.

Source   the rules of `schedule`, with latencies and tables of the GPU (`latency`).
"""

from collections.abc import Sequence
from pathlib import Path

from warpbound.errors import InputError
from warpbound.latency import memory_latency, waits
from warpbound.machine import Gpu, clock, gpu
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.schedule import Schedule, Wait, schedule, steady, together
from warpbound.workload.static_paths import loops, whole


def straight_line(source: Path | str, board: str | Gpu) -> Schedule:
    """One warp alone through the listing, every loop once, from its first issue. Raises InputError where it is none."""
    program, timing = _timed(source, board)
    return schedule(whole(program), program.instructions, timing)


def iteration(source: Path | str, board: str | Gpu) -> Schedule:
    """One iteration of the listing's innermost loop in its steady state. Raises InputError where it has no loop."""
    program, timing = _timed(source, board)
    inner = [loop for loop in loops(program) if loop.innermost]
    if not inner:
        raise InputError(f"{program.source_name} has no loop.", "Give a listing with a branch back.")
    return steady(inner[0].stream, program.instructions, timing)


def block_of_warps(source: Path | str, board: str | Gpu, ways: Sequence[Sequence[int]]) -> tuple[Schedule, ...]:
    """The warps of one block, which wait for each other at barriers; a way is the instructions of one warp, from 0."""
    program, timing = _timed(source, board)
    return together(ways, program.instructions, timing)


def _timed(source: Path | str, board: str | Gpu) -> tuple[Program, tuple[Wait, ...]]:
    machine = gpu(board)
    (program,) = programs(source, machine, None, Options())
    return program, waits(program.instructions, memory_latency(machine, clock(machine, "boost")))
