"""A plan of a sweep, read from TOML.

    gpus = ["h200", "l40s"]
    target = 1.5
    [[kernels]]
    source = "gemm.cu"
    launches = ["gemm.toml"]
    grid = "2048/TILE,2048/TILE"
    block = "TILE,TILE"
    [kernels.defines]
    TILE = [16, 32]
    [parameters]
    dram_bandwidth = ["1x", "1.5x", "2x"]
    sm_count = { from = 132, to = 264, steps = 4 }
    [prices]
    h200 = 3.5
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from warpbound import machine
from warpbound.analysis.settings import Settings
from warpbound.analysis.sweeps.tunings import Shape, Tuning, tunings
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import launch
from warpbound.machine import PARAMETERS, Gpu
from warpbound.program.compile_options import Options
from warpbound.quick_dataclasses import dataclass
from warpbound.table_decoding import TableFault, decoded, suggestion

MOST_VALUES = 10_000   # most values of one parameter
MOST_POINTS = 50_000_000

Times = Annotated[str, msgspec.Meta(pattern=r"^[0-9.eE+-]+x$")]  # "1.5x": of each board's own value
Value = float | Times
Positive = Annotated[float, msgspec.Meta(gt=0)]


class _Range(msgspec.Struct, forbid_unknown_fields=True, rename={"first": "from", "last": "to"}):
    first: Value
    last: Value
    steps: Annotated[int, msgspec.Meta(ge=2, le=MOST_VALUES)]
    scale: Literal["linear", "log"] = "linear"


class _Kernel(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    launches: list[str] = []
    kernel: str | None = None
    defines: dict[str, list[str | int | float]] = {}
    grid: str | None = None
    block: str | None = None
    smem: str | None = None
    where: str | None = None
    include: list[str] = []
    options: list[str] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    gpus: list[str]
    kernels: list[_Kernel]
    parameters: dict[str, list[Value] | _Range] = {}
    prices: dict[str, Positive] = {}
    clock: str | float = "sustained"
    cache: Literal["warm", "cold"] = "warm"
    target: Positive = 1.5


@dataclass(frozen=True)
class Axis:
    """Values of one parameter of a board: in the catalogue's unit, or in times of each board's own value."""

    parameter: str
    values: tuple[float, ...]
    relative: tuple[bool, ...]

    def on(self, board: Gpu) -> tuple[float, ...]:
        """The values for this board in the catalogue's unit. Raises InputError if multiples are given and it has no own
        value."""
        own = board.parameters.get(self.parameter)
        if own is None and any(self.relative):
            reason = f"{board.name} has no value for {self.parameter}, of which the plan wants multiples."
            raise InputError(reason, "Give values in the catalogue's unit.")
        times = own.value if own else 1.0
        pairs = zip(self.values, self.relative, strict=True)
        settings = (value * times if relative else value for value, relative in pairs)
        return tuple(float(round(value)) if PARAMETERS[self.parameter].whole else value for value in settings)


@dataclass(frozen=True)
class Subject:
    """A kernel with one launch file and its tunings."""

    source: Path
    launch_name: str
    kernel: str | None
    options: Options
    tunings: tuple[Tuning, ...]


@dataclass(frozen=True)
class Plan:
    """target : how many times as fast the kernels should become. prices : board -> of one hour, in any currency."""

    path: Path
    subjects: tuple[Subject, ...]
    boards: tuple[Gpu, ...]
    axes: tuple[Axis, ...]
    prices: Mapping[str, float]
    settings: Settings
    target: float

    @property
    def points_per_configuration(self) -> int:
        """Combinations of the parameters' values."""
        return int(np.prod([len(axis.values) for axis in self.axes], dtype=np.int64)) if self.axes else 1

    @property
    def points(self) -> int:
        configurations = sum(len(subject.tunings) for subject in self.subjects) * len(self.boards)
        return configurations * self.points_per_configuration


def plan(path: str | Path) -> Plan:
    """The plan of a TOML file; files that it names are relative to it. Raises InputError, CommandError."""
    path = Path(path)
    file = _read(path)
    boards = tuple(_board(name, path) for name in file.gpus)
    subjects = tuple(subject for kernel in file.kernels for subject in _subjects(kernel, path))
    if not boards or not subjects:
        raise InputError(f"{path} has no {'kernels' if boards else 'gpus'}.", "Name at least one.")
    axes = tuple(_axis(name, values, path) for name, values in file.parameters.items())
    prices = {machine.gpu(name).key: price for name, price in file.prices.items()}
    new_plan = Plan(path, subjects, boards, axes, prices, Settings(_clock(file.clock), file.cache), file.target)
    if new_plan.points > MOST_POINTS:
        raise InputError(f"{path} has {new_plan.points} points.", f"At most {MOST_POINTS} are computed in one sweep.")
    return new_plan


def _read(path: Path) -> _File:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as failed:
        reason = failed.strerror if isinstance(failed, OSError) else failed
        raise InputError(f"The plan {path} cannot be read ({reason}).", "Check the path.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}.", "Correct that line.") from None
    try:
        return decoded(document, _File)
    except TableFault as fault:
        where = f" at {fault.key}" if fault.key else ""
        hint = suggestion(fault.word, fault.known) if fault.kind == "unknown key" else "See docs/sweeps.md."
        raise InputError(f"{path}{where}: {fault.reason}.", hint) from None


def _board(name: str, path: Path) -> Gpu:
    own = path.parent / name
    board = machine.gpu(own if name.endswith(".toml") and own.is_file() else name)
    if not board.board:
        raise InputError(f"{path}: {board.name} is an architecture, not a board.", "Name a board.")
    return board


def _subjects(kernel: _Kernel, path: Path) -> list[Subject]:
    source = path.parent / kernel.source
    if not source.is_file():
        raise InputError(f"{path}: there is no file {source}.", "Write its path relative to the plan.")
    files = [path.parent / name for name in kernel.launches] or [source.with_suffix(".toml")]
    return [_subject(kernel, source, file, path) for file in files]


def _subject(kernel: _Kernel, source: Path, file: Path, path: Path) -> Subject:
    own = launch(file)
    macros = {name: [_word(value) for value in values] for name, values in kernel.defines.items()}
    shape = Shape(kernel.grid, kernel.block, kernel.smem, kernel.where)
    include = (*own.include, *(path.parent / folder for folder in kernel.include))
    fixed = tuple((name, value) for name, value in own.defines.items() if name not in macros)
    options = Options(fixed, include, (*own.options, *kernel.options))
    try:
        each = tuple(tunings(macros, shape, own))
    except WarpboundError as problem:
        raise InputError(f"{path}, {kernel.source}: {problem.reason}", problem.hint) from None
    return Subject(source, file.name, kernel.kernel or own.kernel, options, each)


def _word(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) and value != int(value) else str(value)


def _axis(name: str, values: list[Value] | _Range, path: Path) -> Axis:
    if name not in PARAMETERS:
        raise InputError(f"{path}: {name} is not a parameter of a board.", suggestion(name, PARAMETERS))
    if isinstance(values, _Range):
        first, last = _number(values.first), _number(values.last)
        if first[1] != last[1]:
            raise InputError(f"{path}: the ends of {name} are not of one kind.", 'Write both as numbers, or as "2x".')
        spaced = np.geomspace if values.scale == "log" else np.linspace
        numbers = [(float(value), first[1]) for value in spaced(first[0], last[0], values.steps)]
    else:
        numbers = [_number(value) for value in values]
    if not numbers or len(set(numbers)) < len(numbers) or min(value for value, _ in numbers) <= 0:
        raise InputError(f"{path}: the values of {name} are not different numbers above 0.", "Correct them.")
    return Axis(name, tuple(value for value, _ in numbers), tuple(relative for _, relative in numbers))


def _number(value: Value) -> tuple[float, bool]:
    return (float(value[:-1]), True) if isinstance(value, str) else (float(value), False)


def _clock(word: str | float) -> str | float:
    try:
        return float(word)
    except ValueError:
        return word
