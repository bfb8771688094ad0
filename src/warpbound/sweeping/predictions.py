"""The answers of one unit of work: code is compiled and executed once for all its boards and parameters.

Models   as `analyze`. The clock of a configuration is the one that its own board sustains: changed parameters of the
         board affect neither the clock nor the power model.
Omits    intervals; `analyze --set` has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.answer import reworked, work_of
from warpbound.analysis.case import Case, checked_case
from warpbound.analysis.settings import Settings
from warpbound.analysis.static import Work
from warpbound.analysis.sustained_clock import settled
from warpbound.analysis.timing import idle_s, launch_of, longest_s_of, merged_arrays, share_of_waves
from warpbound.analysis.working_blocks import Execute
from warpbound.emulate import Trace
from warpbound.emulate import trace as execute_blocks
from warpbound.emulate.limits import PATIENCE_S, Limits
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu, override
from warpbound.power import activity, watts
from warpbound.program import Program
from warpbound.program.source_files import variants
from warpbound.quick_dataclasses import dataclass
from warpbound.sweeping.board_arrays import ARRAYS, parameters_at
from warpbound.sweeping.plan import Axis, Plan
from warpbound.sweeping.work_units import WorkUnit
from warpbound.time_model import predict_launch
from warpbound.time_model.parameter_grid import predict_grid

Array = NDArray[np.float64]
NO_TIME = "No time: the launch could not be executed."


@dataclass(frozen=True)
class Configuration:
    """One tuning on one board. points : of parameters, parameter -> (points,); numbers and words of each point."""

    macros: Mapping[str, str]
    gpu: str
    kernel: str | None
    facts: Mapping[str, float | None]
    points: Mapping[str, Array]
    numbers: Mapping[str, Array]
    words: Mapping[str, NDArray[np.object_]]


@dataclass(frozen=True)
class _Answers:
    """Numbers at points, each (points,); None where a power model is missing."""

    time_s: Array
    bottleneck: NDArray[np.object_]
    power_W: Array


def configurations(plan: Plan, unit: WorkUnit) -> Iterator[Configuration]:
    """The answers of a unit, tuning by tuning and board by board."""
    options = [
        replace(unit.subject.options, defines=(*unit.subject.options.defines, *tuning.macros.items()))
        for tuning in unit.tunings
    ]
    variants_: Sequence[Program | WarpboundError]
    try:
        variants_ = variants(unit.subject.source, unit.boards[0], unit.subject.kernel, options)
    except WarpboundError as problem:
        variants_ = [problem] * len(options)
    for tuning, program in zip(unit.tunings, variants_, strict=True):
        execute = _remembering(plan.settings)
        for board in unit.boards:
            yield _configuration(plan, dict(tuning.macros), board, (tuning.launch, program), execute)


def _remembering(settings: Settings) -> Execute:
    """The emulator, with a cache of the blocks that it has executed for one program and launch."""
    patience = PATIENCE_S if settings.patience_s is None else settings.patience_s
    traces: dict[tuple[int | None, ...], Trace] = {}

    def execute(program: Program, launch: Launch, blocks: list[int], /, *, at_once: int | None = None) -> Trace:
        key = at_once, *blocks
        if key not in traces:
            limits = Limits(patience, "refuse")
            traces[key] = execute_blocks(program, launch, blocks, limits=limits, at_once=at_once)
        return traces[key]

    return execute


def _configuration(
    plan: Plan, macros: dict[str, str], board: Gpu, parts: tuple[Any, Program | WarpboundError], execute: Execute
) -> Configuration:
    launch, program = parts
    columns = _columns(plan.axes, board)
    count = plan.points_per_configuration
    numbers = {name: np.full(count, np.nan) for name in ("time_s", "own_time_s", "power_W", "warps_per_sm")}
    words = {name: np.full(count, None, dtype=object) for name in ("bottleneck", "error")}
    title = program.title if isinstance(program, Program) else None
    facts: dict[str, float | None] = {}
    try:
        for part in (launch, program):
            if isinstance(part, WarpboundError):
                raise part
        own, work = _own(program, board, launch, plan.settings, execute)  # type: ignore[arg-type]
        facts = _facts(program, own)  # type: ignore[arg-type]
        own_time = float(_answers(own, work, {}, 1).time_s[0])
        numbers["own_time_s"][:] = own_time
        for changes, place in _made_anew(plan.axes, columns):
            _fill((own, work, execute), changes, {n: columns[n][place] for n in columns if n in ARRAYS},
                  place, (numbers, words))  # fmt: skip
    except WarpboundError as problem:
        words["error"][:] = str(problem)
    return Configuration(macros, board.key, title, facts, columns, numbers, words)


def _columns(axes: Sequence[Axis], board: Gpu) -> dict[str, Array]:
    """Every combination of the values, the last parameter changing fastest: parameter -> (points,)."""
    each = [axis.on(board) for axis in axes]
    grids = np.meshgrid(*each, indexing="ij") if each else []
    return {axis.parameter: grid.ravel() for axis, grid in zip(axes, grids, strict=True)}


def _made_anew(
    axes: Sequence[Axis], columns: Mapping[str, Array]
) -> Iterator[tuple[dict[str, float], NDArray[np.int64]]]:
    """Values of the parameters for which the work is computed again, and the points that have them."""
    names = [axis.parameter for axis in axes if axis.parameter not in ARRAYS]
    count = len(next(iter(columns.values()))) if columns else 1
    if not names:
        yield {}, np.arange(count)
        return
    for values in product(*(np.unique(columns[name]).tolist() for name in names)):
        same = np.logical_and.reduce([columns[name] == value for name, value in zip(names, values, strict=True)])
        yield dict(zip(names, values, strict=True)), np.flatnonzero(same)


def _own(program: Program, board: Gpu, launch: Launch, settings: Settings, execute: Execute) -> tuple[Case, Work]:
    """The case with the board's own values, at the clock that it sustains. Raises InputError if it has no time."""
    case = checked_case(program, board, launch, settings)
    case, work = settled(case, work_of(case, execute), reworked)
    if case.blocks is None or work.whole.warps is None:
        raise InputError(NO_TIME if work.not_executed is None else f"No time: {work.not_executed}.", "Give arguments.")
    return case, work


def _fill(
    own: tuple[Case, Work, Execute], changes: Mapping[str, float], arrays: Mapping[str, Array],
    place: NDArray[np.int64], into: tuple[Mapping[str, Array], Mapping[str, NDArray[np.object_]]],
) -> None:  # fmt: skip
    case, work, execute = own
    numbers, words = into
    try:
        if any(case.gpu.parameters[name].value != value if name in case.gpu.parameters else True
               for name, value in changes.items()):  # fmt: skip
            changed = override(case.gpu, changes)
            settings = replace(case.settings, clock=case.clock_hz / 1e6)
            case = checked_case(case.program, changed, case.launch, settings)
            work = work_of(case, execute)
        answers = _answers(case, work, arrays, len(place))
    except WarpboundError as problem:
        words["error"][place] = str(problem)
        return
    numbers["time_s"][place], words["bottleneck"][place] = answers.time_s, answers.bottleneck
    numbers["power_W"][place] = answers.power_W
    numbers["warps_per_sm"][place] = case.residency.warps_per_sm


def _answers(case: Case, work: Work, arrays: Mapping[str, Array], points: int) -> _Answers:
    """As `analyze` answers, at each point; arrays : parameter of ARRAYS -> (points,)."""
    launch = launch_of(case, work)
    grid = predict_grid(launch, parameters_at(case.gpu, arrays), points)
    typical = predict_launch(launch)
    longest_s, flowing_s = longest_s_of(work, typical, launch), grid.time_s * share_of_waves(work, typical, launch)
    working = np.maximum(flowing_s, longest_s)
    time_s = working + np.array([idle_s(case, work, each_s, case.clock_hz) for each_s in working.tolist()])
    costs = merged_arrays(grid.costs)
    names = np.array(list(costs), dtype=object)
    bottleneck = names[np.argmax(np.stack(list(costs.values())), axis=0)]
    bottleneck = np.where(longest_s > flowing_s, "latency", bottleneck)
    power = np.full(points, np.nan)
    if case.power is not None:
        power = np.asarray(watts(case.power, activity(work.whole), time_s, case.clock_hz))
    return _Answers(time_s, bottleneck, np.broadcast_to(power, (points,)))


def _facts(program: Program, case: Case) -> dict[str, float | None]:
    return {
        "registers": program.registers,
        "shared_bytes": program.shared_bytes + (case.launch.smem if case.launch else 0),
        "spill_bytes": sum(program.spills),
        "clock_MHz": case.clock_hz / 1e6,
    }
