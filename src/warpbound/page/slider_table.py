"""The table of controls of a view: each number with its unit, range and effect."""

from collections.abc import Sequence
from typing import Any

from warpbound import machine
from warpbound.board_parameters import PARAMETERS
from warpbound.page.kernel_sources import computes_residency
from warpbound.page.launch_sliders import launch_controls, written_controls
from warpbound.page.sliders import Control, gpu_controls, limit_controls, renamed, set_gpu_controls
from warpbound.page.state import State
from warpbound.page.subject import Change, Subject, partition_board_key, partition_prefix
from warpbound.page.views import VIEWS
from warpbound.page.views.view import BOARD, KERNEL, LIMITS, PARTITIONS, RUN
from warpbound.page.work_overrides import block_controls, threads_control, work_controls
from warpbound.quick_dataclasses import dataclass

IMAGINE = "Set any of them to build a hypothetical machine."
RUNS = "An estimate while you move a slider; on release the kernel is executed again."
DESCRIBED = "The file's launch; counts per launch are divided among the blocks that are set."
COUNTS = (
    "Work of one warp, in place of the counts. Tables and exports follow when you release; machine code, loops "
    "and single accesses stay those of the compiled kernel."
)
HOLDS = "What one SM holds, and in which units it allocates it."
SIMULATED = "When you release, its micro-benchmarks are simulated again, which takes some seconds."
FIRST_SHOWN = 6  # numbers of a board that are shown before the list is expanded
DIGITS = 6  # digits shown of a number that the models use in full until it is set by hand
OF_PARTITIONS = sorted(
    (name for name, parameter in PARAMETERS.items() if parameter.partition_rank),
    key=lambda name: PARAMETERS[name].partition_rank,
)
LIMITS_OF_RUNS = ("max_warps_per_sm", "max_threads_per_block")


@dataclass(frozen=True)
class Section:
    """Controls of one kind. first : number shown before the list is expanded; open : whether any is."""

    title: str
    note: str
    controls: Sequence[Control]
    first: int
    open: str = ""


@dataclass(frozen=True)
class SliderDefaults:
    """Values of numbers that are not set by hand; derived ones follow the numbers that are set.

    own : with no number set. kernel : with all numbers set but the kernel's. view : with all numbers set but the
    models' own symbols.
    """

    own: Subject
    kernel: Subject
    view: Subject


def sections(defaults: SliderDefaults, state: State) -> list[Section]:
    """Of the view that the state shows."""
    view = VIEWS[state.view]
    groups = {
        RUN: _run, KERNEL: _kernel, BOARD: _board, LIMITS: _limits, PARTITIONS: _partitions,
    }  # fmt: skip
    controls = view.controls(defaults.own if state.view == "occupancy" else defaults.view)
    parts = [Section("This view", "", controls, len(controls), "open")]
    parts += [groups[name](defaults, state) for name in view.sets]
    return [part for part in parts if part.controls]


def _run(defaults: SliderDefaults, state: State) -> Section:
    own = defaults.own
    if own.written and own.facts is not None:
        controls = written_controls(own.facts, threads_control(own))
        return Section("The launch", DESCRIBED, controls, len(controls), "open")
    launch_rows, rest = launch_controls(own.launch) if own.compiled else ([], [])
    return Section("The launch", RUNS, [*launch_rows, *rest], len(launch_rows), "open")


def _kernel(defaults: SliderDefaults, state: State) -> Section:
    counts_override = defaults.own.entry is not None and computes_residency(state.source) and state.view != "occupancy"
    block = block_controls(defaults.own) if counts_override else []
    every = [*work_controls(defaults.kernel), *block]
    return Section("The kernel", COUNTS, every, 1 if defaults.kernel.facts is not None else len(every))


def _board(defaults: SliderDefaults, state: State) -> Section:
    own = defaults.own
    every = set_gpu_controls(defaults.view.gpu, own.gpu, dict(state.values)) if own.entry is not None else []
    return Section("The GPU", IMAGINE, every, FIRST_SHOWN, "open")


def _limits(defaults: SliderDefaults, state: State) -> Section:
    own = defaults.own
    every = limit_controls(own.gpu) if own.entry is not None or state.view == "occupancy" else []
    return Section("SM limits", HOLDS, every, FIRST_SHOWN, "open" if state.view == "occupancy" else "")


def _partitions(defaults: SliderDefaults, state: State) -> Section:
    board = machine.gpu(partition_board_key(state.gpu))
    every = {control.key.partition(".")[2]: control for control in (*gpu_controls(board), *limit_controls(board))}
    names = [name for name in (*OF_PARTITIONS, *LIMITS_OF_RUNS) if name in every]
    controls = renamed([every[name] for name in names], partition_prefix(state.gpu))
    return Section(board.name, SIMULATED, controls, 4, "open")


def changes(defaults: SliderDefaults, state: State) -> tuple[Change, ...]:
    """All numbers that are set by hand, in the order of the address."""
    controls: dict[str, Control] = {}
    views: dict[str, list[str]] = {}
    for name in VIEWS:
        for part in sections(defaults, State(source=state.source, gpu=state.gpu, view=name, values=state.values)):
            for control in part.controls:
                controls[control.key] = control
                views.setdefault(control.key, []).append(name)
    return tuple(
        Change(key, controls[key].label, controls[key].unit, value, controls[key].value, tuple(views[key]))
        for key, value in state.values
        if key in controls
    )


def section_json(part: Section) -> dict[str, Any]:
    """A section as JSON for the browser."""
    return {
        "title": part.title,
        "note": part.note,
        "open": bool(part.open),
        "controls": [_as_json(control) for control in part.controls[: part.first]],
        "more": [_as_json(control) for control in part.controls[part.first :]],
    }


def _as_json(control: Control) -> dict[str, Any]:
    own = control.value if float(control.value).is_integer() else float(f"{control.value:.{DIGITS}g}")
    return {
        "key": control.key, "label": control.title, "own": own, "low": control.low, "high": control.high,
        "step": control.step, "origin": control.origin,
    }  # fmt: skip
