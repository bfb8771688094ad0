"""A kernel of a Python language as a Program and a Launch, and the functions that every such front end needs.

A parameter of such a kernel is seldom what the Python function declares: an array becomes a pointer, extents and
strides, as separate parameters or as one struct. `Piece` is one of those parts, at its place in the parameter area.
"""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound import analysis, emulate
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.settings import Settings
from warpbound.errors import CommandError, InputError, MissingTool, install
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.program import Parameter, Program, programs
from warpbound.program.arch_match import compiled_arch
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import Array, under_own_names
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult
from warpbound.result.plain import Entry

OLDEST = 75  # the oldest architecture that these compilers generate code for


def need(module: str, reason: str, extra: str) -> None:
    """Import a language's module. Raises MissingTool where it is not installed."""
    try:
        import_module(module)
    except ImportError as missing:
        raise MissingTool(reason, install(extra)) from missing


@dataclass(frozen=True)
class Piece:
    """A part of the parameter area. offset, size : bytes; value : the caller's array, if the part is an array's
    address."""

    offset: int
    size: int
    argument: Argument
    value: Any = None


@dataclass(frozen=True)
class Prepared:
    """A kernel compiled for one board, with the launch that its language's own launcher would make of it.

    of_bytes : types of the elements of arrays that the launch holds as bytes, the last axis those of an element.
    """

    program: Program
    launch: Launch
    of_bytes: Mapping[str, np.dtype[Any]] = field(default_factory=dict)

    def analyze(self, gpu: str | Path | Gpu, settings: Settings) -> Entry:
        """The entry of `warpbound.analyze`."""
        return analysis.analyze(self.program, gpu, self.launch, settings)

    def record(self, gpu: Gpu, settings: Settings) -> KernelResult:
        """`analyze` as a record."""
        return analyze_kernel(self.program, gpu, self.launch, settings)

    def run(self) -> dict[str, NDArray[Any]]:
        """The arrays after the kernel, by parameter name."""
        arrays = emulate.run(self.program, self.launch)
        elements = {name: arrays[name].view(dtype)[..., 0] for name, dtype in self.of_bytes.items() if name in arrays}
        return arrays | elements


def prepared(program: Program, pieces: Sequence[Piece], launch: Launch) -> Prepared:
    """The kernel with its parameters split into `pieces`, each given by its argument."""
    parameters = tuple(Parameter(str(each.argument.name), "", each.offset, each.size) for each in pieces)
    names = [str(each.argument.name) for each in pieces]
    arguments = under_own_names(names, [each.argument for each in pieces], [each.value for each in pieces])
    return Prepared(replace(program, parameters=parameters), replace(launch, args=arguments))


def architecture(board: Gpu, language: str) -> int:
    """The architecture to compile for. InputError where the language's compiler is for later ones only."""
    arch, proxy = compiled_arch(board)
    if proxy or arch < OLDEST:
        reason = f"{language} has no compiler for {board.name} (sm_{board.arch})."
        raise InputError(reason, "Name a board from Turing on.")
    return arch


def python_program(cubin: bytes, function: Callable[..., Any], board: Gpu, kernel: str | None = None) -> Program:
    """The machine code of a Python function with the text of its file. kernel : its name, where there are several."""
    return with_python_source(programs(cubin, board, kernel, Options())[0], function)


def with_python_source(program: Program, function: Callable[..., Any]) -> Program:
    """The program under the name of the Python function, with the text of its file."""
    file = inspect.getsourcefile(function)
    text = Path(file).read_text(encoding="utf-8") if file and Path(file).is_file() else None
    return replace(program, source=text, source_name=file or "<Python>", title=function.__name__)


def pointer(array: Array, offset: int) -> Piece:
    """Where an array begins."""
    return Piece(offset, 8, array.argument, array.value)


def integer(name: str, offset: int, size: int, value: int) -> Piece:
    """A hidden number of `size` bytes."""
    return bytes_of(name, offset, int(value).to_bytes(size, "little", signed=value < 0))


def bytes_of(name: str, offset: int, contents: bytes) -> Piece:
    """A part with known contents."""
    return Piece(offset, len(contents), Argument(name, "bytes", bytes=contents))


def refusal(problem: Exception, language: str, kernel: str, arch: int) -> InputError:
    """The message of a compiler in one line: its exceptions have many types, none of them public."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    reason = lines[0] if lines else type(problem).__name__
    return InputError(f"{language} cannot compile {kernel} for sm_{arch}: {reason}", "Correct it there first.")


def three(sizes: int | Sequence[int], name: str) -> tuple[int, int, int]:
    """One to three sizes as x, y, z. CommandError for anything else."""
    numbers = [int(size) for size in np.atleast_1d(np.asarray(sizes, dtype=object))]
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise CommandError(
            f"{name} {tuple(numbers)} is not one to three sizes of 1 or more.", f"Give {name}=(X, Y, Z)."
        )
    x, y, z = numbers + [1] * (3 - len(numbers))
    return x, y, z


def given_values(own: Launch) -> tuple[list[object], dict[str, object]]:
    """The arguments of a launch file or a command line: those by position, and those by name."""
    arrays = {each.name: each for each in own.args if each.kind == "array"}
    values: dict[str | int, object] = {each.name: arrays.get(each.alias or each.name, each.value) for each in own.args}
    positional = [values[place] for place in range(len(values)) if place in values]
    return positional, {name: value for name, value in values.items() if isinstance(name, str)}


def ordered_values(own: Launch, defines: Mapping[str, str], names: Sequence[str], kernel: str) -> list[object]:
    """The values of a function's parameters, in order; macros are values too. CommandError where one is missing."""
    positional, keywords = given_values(own)
    plain = {name: plain_value(text) for name, text in (own.defines | dict(defines)).items()}
    return list(by_name(names, positional, kernel, keywords | plain).values())


def plain_value(text: str) -> Any:
    """A number, True, False or None as Python writes them; other text as it is."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def by_name(
    names: Sequence[str], args: Sequence[object], kernel: str, defaults: dict[str, object] | None = None
) -> dict[str, object]:
    """The arguments of a call by the names of the parameters. CommandError where there are too few or too many."""
    values = (defaults or {}) | dict(zip(names, args, strict=False))
    missing = [name for name in names if name not in values]
    if len(args) > len(names):
        raise CommandError(f"{kernel} takes {len(names)} arguments; {len(args)} are given.", "Leave some out.")
    if missing:
        raise CommandError(f"{kernel} has no value for '{missing[0]}'.", f"It takes {', '.join(names)}.")
    return {name: values[name] for name in names}
