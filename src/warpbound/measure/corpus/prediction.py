"""Predicted times of the corpus: each launch is compiled and emulated once, then predicted for every board and
cache state."""

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
from warpbound.measure.corpus.subjects import launches, subjects
from warpbound.memory.traffic_counts import Traffic
from warpbound.program import Program, programs
from warpbound.workload.dynamic import Sample

Key = tuple[str, str]  # subject, launch
Time = tuple[float, float, float]  # seconds, and the interval around them
Prediction = Time | str  # a time, or the reason why there is none
State = tuple[str, float]  # caches warm or cold; SM clock, MHz


def case_for(key: Key, board: Gpu, cache_state: str, clock_MHz: float | str, built_for: Gpu | None = None) -> Case:
    """The inputs of the models. cache_state : warm or cold. built_for : a board of the same architecture, whose machine
    code is used."""
    name, subject = key[0], subjects()[key[0]]
    tuning = launches(subject)[key[1]]
    request = override(subject.launch, grid=tuning.grid, block=tuning.block, defines=dict(tuning.defines))
    settings = Settings(clock=clock_MHz, cache=cache_state)
    return case_of(_program(name, tuple(tuning.defines.items()), built_for or board), board, request, settings)


@cache
def _program(name: str, defines: tuple[tuple[str, str], ...], board: Gpu) -> Program:
    subject = subjects()[name]
    return programs(subject.source, board, subject.launch.kernel, subject.options(dict(defines)))[0]


def times(key: Key, states: Sequence[State], boards: Mapping[str, Gpu]) -> list[dict[str, Prediction]]:
    """For each state, board label -> prediction; an error of one launch does not stop the others.

    The blocks are emulated once; the cache model runs once for each state and each board's caches.
    """
    emulated, built = _Emulated(), next(iter(boards.values()))
    rows = []
    for cache_state, clock_MHz in states:
        row: dict[str, Prediction] = {}
        for label, board in boards.items():
            same = built if built.compute_capability == board.compute_capability else board
            try:
                row[label] = emulated.time(case_for(key, board, cache_state, clock_MHz, same))
            except WarpboundError as error:
                row[label] = error.reason
            except Exception as error:  # noqa: BLE001  (an internal error, reported with the launch)
                row[label] = f"{type(error).__name__}: {error}"
        rows.append(row)
    return rows


@dataclass
class _Emulated:
    """Traces and traffic of one launch."""

    traces: dict[tuple[int | None, ...], Trace] = field(default_factory=dict)
    traffic: dict[tuple[object, ...], tuple[Trace, Sample, Traffic | None]] = field(default_factory=dict)

    def execute(self, program: Program, launch: Launch, blocks: list[int], /, *, at_once: int | None = None) -> Trace:
        """The emulator's trace, cached."""
        key = at_once, *blocks
        if key not in self.traces:
            self.traces[key] = trace(program, launch, blocks, at_once=at_once)
        return self.traces[key]

    def time(self, case: Case) -> Time:
        """Seconds. Raises InputError where the blocks cannot be emulated."""
        if case.launch is None:
            raise InputError("there is no launch.", "Give one.")
        place = (case.settings.cache, cache_facts(case), case.residency.blocks_per_sm, case.gpu.value("sm_count"))
        if place not in self.traffic:
            self.traffic[place] = run_sample(case, case.launch, self.execute)
        traced, sample, traffic = self.traffic[place]
        if traffic is None:
            raise InputError(f"{case.program.title} was not executed: {traced.stopped}", "See `warpbound analyze`.")
        prediction = launch_prediction(case, work_from(case, traced, sample, traffic))
        if prediction is None:
            raise InputError(f"{case.program.title} has no time.", "See `warpbound analyze`.")
        return (prediction.time_s, *prediction.interval)
