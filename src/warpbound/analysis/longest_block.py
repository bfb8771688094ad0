"""The longest block of a launch whose blocks differ: its path, and the work of its longest warp.

If one block outlasts all others by far, the launch takes as long as that block, and the waits of a typical warp do not
explain that time.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.program.kernel import Program
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule import schedule
from warpbound.workload import Workload
from warpbound.workload.dynamic import LONGEST_STREAM, Sample, longest_over_typical, repeated, stretched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warpbound.analysis.working_blocks import Execute
    from warpbound.emulate import Trace
    from warpbound.kernel_launch import Launch
    from warpbound.schedule import Wait

Stream = NDArray[np.int32]
UNEVEN = 2.0  # longest warp over the typical one from which on it has a path of its own
NEARLY = 0.9  # share of the longest warp's instructions: a recorded warp with as many shows its path
MOST_AGAIN = 2_000_000  # instructions of its block, up to which that is executed once more: about a second


@dataclass(frozen=True)
class LongestWarp:
    """Its work, as if it were the mean warp of a launch, and the start of its path in issue order."""

    work: Workload
    stream: tuple[int, ...]


def with_longest_stream(program: Program, launch: "Launch", run: "tuple[Trace, Sample]", execute: "Execute") -> "Trace":
    """The trace with the path of its longest warp; where that was not recorded, its block is executed once more."""
    trace, sample = run
    issued = trace.executed.sum(axis=1)
    longest = int(issued.argmax())
    if longest_over_typical(trace, sample) <= UNEVEN or _recorded(trace) >= NEARLY * issued[longest]:
        return trace
    block = int(trace.warps[longest, 0])
    if issued[trace.warps[:, 0] == block].sum() > MOST_AGAIN:
        return trace
    alone = execute(program, launch, [block])
    return trace if alone.stopped else replace(trace, longest=max(alone.streams.values(), key=len))


def _recorded(trace: "Trace") -> int:
    return max(map(len, trace.streams.values()), default=0)


def longest_warp(
    program: Program, run: "tuple[Trace, Sample]", waits: "Sequence[Wait]", whole: Workload
) -> LongestWarp | None:
    """The longest warp; its counts, except those of its path, grow with its instructions. None where it is about as
    long as the typical one, or where no warp of its length was recorded. whole : of the mean warp, with its start."""
    trace, sample = run
    issued = float(trace.executed.sum(axis=1).max())
    streams = [*trace.streams.values(), *([] if trace.longest is None else [trace.longest])]
    stream = max(streams, key=len, default=np.zeros(0, np.int32))
    if longest_over_typical(trace, sample) <= UNEVEN or len(stream) < NEARLY * issued:
        return None
    start, times = whole.parts.get("start", 0.0), issued / max(1.0, whole.warp_instructions)
    part = tuple(stream[:LONGEST_STREAM].tolist())
    path = stretched(schedule(part, program.instructions, waits), issued / max(1, len(part)))
    work = replace(
        whole,
        title="the longest warp",
        warp_instructions=issued,
        thread_instructions=times * whole.thread_instructions,
        by_pipe=_times(whole.by_pipe, times),
        units=_times(whole.units, times),
        tensor=_times(whole.tensor, times),
        flop=_times(whole.flop, times),
        memory=whole.memory.scaled(times),
        barriers=times * whole.barriers,
        latency=path.cycles + start,
        parts=path.parts | {"start": start},
        phases=repeated([len(phase.loads) for phase in path.phases], path.times),
        lines_by_cause=path.lines,
        issue_slots=None if whole.issue_slots is None else times * whole.issue_slots,
        pieces=(),
        board_waits=path.board_waits,
    )
    return LongestWarp(work, part)


def _times(counts: dict[str, float], times: float) -> dict[str, float]:
    return {name: times * each for name, each in counts.items()}
