"""A question of an agent: a kernel, a board, a launch; short names, values as in the options of `warpbound analyze`."""

from dataclasses import field
from pathlib import Path
from typing import Any

from warpbound import machine
from warpbound.analysis import answer_cache
from warpbound.analysis.settings import Settings
from warpbound.errors import CommandError
from warpbound.kernel_launch import Launch, launch
from warpbound.machine import Gpu
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.program.source_files import display_names
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult


@dataclass(frozen=True)
class Question:
    """One kernel on one board.

    source : path of a file, or CUDA C++ text. launch_file : as of `--launch`; grid, block, args (name -> number or text
    as after `--arg NAME=`), constants and smem override it. parameters : of the board, as of `--set`.
    """

    source: str
    gpu: str = ""
    kernel: str | None = None
    grid: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    args: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    smem: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    launch_file: str | None = None
    cache: str = "warm"
    parameters: dict[str, float] = field(default_factory=dict)


def board_of(question: Question) -> Gpu:
    """The board, with its overridden parameters. CommandError where none is named."""
    own = launch_of(question)
    name = question.gpu or (own.gpu if own else None)
    if not name:
        raise CommandError("No GPU is named.", 'Give gpu, for example "h200".')
    board = machine.gpu(name)
    return machine.override(board, question.parameters) if question.parameters else board


def launch_of(question: Question) -> Launch | None:
    """The launch, if the question has one."""
    if not question.launch_file and not (question.grid and question.block):
        if question.grid or question.block:
            raise CommandError("A launch needs grid and block.", "Give both, or neither for a static answer.")
        return None
    return launch(
        question.launch_file, grid=question.grid or None, block=question.block or None, smem=question.smem,
        args=question.args or None, constants=question.constants or None,
    )  # fmt: skip


def program_of(question: Question) -> Program:
    """The one kernel that is asked about. CommandError where there are several and none is named."""
    kernels = kernels_of(question)
    if len(kernels) > 1:
        names = ", ".join(display_names(kernels))
        raise CommandError(f"The source holds {len(kernels)} kernels: {names}.", "Name one as `kernel`.")
    return kernels[0]


def kernels_of(question: Question) -> tuple[Program, ...]:
    """Every kernel of the source, or the one named."""
    own = launch_of(question)
    source = file_of(question.source) or question.source
    kernel = question.kernel or (own.kernel if own else None)
    return programs(source, board_of(question), kernel, options_of(question))


def options_of(question: Question) -> Options:
    """How the source is compiled: macros, folders and options of the question and of its launch."""
    own = launch_of(question)
    defines = {**(own.defines if own else {}), **{name: str(value) for name, value in question.defines.items()}}
    include, extra = (own.include, own.options) if own else ((), ())
    return Options(tuple(defines.items()), include, extra)


def answer(question: Question) -> KernelResult:
    """The whole answer. Raises what `warpbound.analyze` raises."""
    settings = Settings(cache=question.cache)
    return answer_cache.answer(program_of(question), board_of(question), launch_of(question), settings)


def file_of(source: str) -> Path | None:
    """The file that a source of one line names; None of a text."""
    return Path(source) if "\n" not in source and "{" not in source else None
