"""Launches of the corpus predicted: compiled and executed once, then timed on every board, warm and cold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from warpbound.analysis.case import Case, case_of
from warpbound.analysis.executed import work_from
from warpbound.analysis.sampled import cache_facts, run_sample
from warpbound.analysis.settings import Settings
from warpbound.analysis.timing import launch_prediction
from warpbound.emulate import Trace, trace
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Launch, override
from warpbound.machine import Gpu
from warpbound.measure.corpus.subjects import Tuning, launches, subjects
from warpbound.memory.traffic_counts import Traffic
from warpbound.program import Program, programs
from warpbound.workload.dynamic import Sample

Key = tuple[str, str]  # subject, launch
Time = tuple[float, float, float]  # seconds, with the interval
Answer = Time | str  # a time, or why there is none
State = tuple[str, float]  # of the caches, warm or cold; SM clock, MHz


def way_of(key: Key) -> Tuning:
    """How a launch is run."""
    return launches(subjects()[key[0]])[key[1]]


def case_for(key: Key, board: Gpu, cache_state: str, clock_MHz: float | str, built_for: Gpu | None = None) -> Case:
    """Everything the models need. cache_state : warm or cold. built_for : a board of the same architecture."""
    name, way = key[0], way_of(key)
    asked = override(subjects()[name].launch, grid=way.grid, block=way.block, defines=dict(way.defines))
    settings = Settings(clock=clock_MHz, cache=cache_state)
    return case_of(_program(name, tuple(way.defines.items()), built_for or board), board, asked, settings)


@cache
def _program(name: str, defines: tuple[tuple[str, str], ...], board: Gpu) -> Program:
    subject = subjects()[name]
    return programs(subject.source, board, subject.launch.kernel, subject.options(dict(defines)))[0]


def times(key: Key, states: Sequence[State], boards: Mapping[str, Gpu]) -> list[dict[str, Answer]]:
    """Of each state, board's label -> time, or why there is none: what one launch meets must not cost the others.

    The blocks are executed once, and followed through the caches once for each state and each board's caches.
    """
    memory, built = _Memory(), next(iter(boards.values()))
    found = []
    for cache_state, clock_MHz in states:
        row: dict[str, Answer] = {}
        for label, board in boards.items():
            same = built if built.compute_capability == board.compute_capability else board
            try:
                row[label] = memory.time(case_for(key, board, cache_state, clock_MHz, same))
            except WarpboundError as refused:
                row[label] = refused.reason
            except Exception as failed:  # noqa: BLE001  (a fault of ours, said with the launch)
                row[label] = f"{type(failed).__name__}: {failed}"
        found.append(row)
    return found


@dataclass
class _Memory:
    """What was executed of one launch."""

    traces: dict[tuple[int, ...], Trace] = field(default_factory=dict)
    followed: dict[tuple[object, ...], tuple[Trace, Sample, Traffic | None]] = field(default_factory=dict)

    def execute(self, program: Program, launch: Launch, blocks: list[int]) -> Trace:
        """The emulator's answer, remembered."""
        place = tuple(blocks)
        if place not in self.traces:
            self.traces[place] = trace(program, launch, blocks)
        return self.traces[place]

    def time(self, case: Case) -> Time:
        """Seconds. Raises InputError where the blocks cannot be executed."""
        if case.launch is None:
            raise InputError("there is no launch.", "Give one.")
        place = (case.settings.cache, cache_facts(case), case.residency.blocks_per_sm, case.gpu.value("sm_count"))
        if place not in self.followed:
            self.followed[place] = run_sample(case, case.launch, self.execute)
        seen, chosen, moved = self.followed[place]
        if moved is None:
            raise InputError(f"{case.program.title} was not executed: {seen.stopped}", "See `warpbound analyze`.")
        timed = launch_prediction(case, work_from(case, seen, chosen, moved))
        if timed is None:
            raise InputError(f"{case.program.title} has no time.", "See `warpbound analyze`.")
        return (timed.time_s, *timed.interval)
