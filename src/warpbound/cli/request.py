"""The request of a command line: files, boards, launch and settings; and the answer for each kernel and board."""

import errno
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from warpbound.analysis import Settings
from warpbound.analysis.overrides import overridden, parsed
from warpbound.analysis.settings import static_patience
from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.forked_process import forked, processors
from warpbound.freed_memory import keep_freed_memory
from warpbound.kernel_argument import Argument, parse_argument
from warpbound.kernel_launch import Launch, blamed, launch, parse_dim
from warpbound.machine import Gpu, listed
from warpbound.program import Program, programs
from warpbound.program.compile_options import Options, compiler_name
from warpbound.program.cuda import compiler_of
from warpbound.program.source_files import LARGEST_FILE_B, display_names
from warpbound.quick_dataclasses import dataclass
from warpbound.result.refusal import Refusal, refusal
from warpbound.size_expressions import parts

if TYPE_CHECKING:
    from warpbound.analysis.sweeps.ranking import Ranking

T = TypeVar("T")
Step = tuple[Path | bytes, Gpu, str]  # a source, a GPU, a compiler
Analysis = Callable[[Program, Gpu, Launch | None, Settings], T]

STEPS_EACH = 8  # sources and GPUs that are worth another process
_MACRO = re.compile(r"[A-Za-z_]\w*(?:\([\w, .]*\))?")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The options of `analyze` as typed."""

    files: tuple[str, ...]
    gpus: str | None
    kernel: str | None
    grid: str | None
    block: str | None
    cluster: str | None
    smem: int | None
    carveout: int | None
    persist: str | None = None
    args: tuple[str, ...]
    consts: tuple[str, ...] = ()
    launch_file: str | None
    defines: tuple[str, ...]
    include: tuple[str, ...]
    nvrtc: tuple[str, ...]
    settings: tuple[str, ...]
    cache: str
    clock: str
    patience: float | None = None
    lenient: bool = False
    models: str = ""
    views: str = ""
    power_limit: float | None = None
    compiler: str = "auto"
    build: str | None = None


@dataclass(frozen=True, kw_only=True)
class RankWords:
    """The options of `rank` as typed."""

    gpu: str | None
    kernel: str | None
    grid: str | None
    block: str | None
    smem: str | None
    where: str | None
    args: tuple[str, ...]
    consts: tuple[str, ...]
    launch_file: str | None
    defines: tuple[str, ...]
    include: tuple[str, ...]
    nvrtc: tuple[str, ...]
    settings: tuple[str, ...]
    cache: str
    clock: str
    patience: float | None


@dataclass(frozen=True)
class Request:
    """Files, boards, the launch if there is one, how to compile and how to answer."""

    sources: tuple[Path | bytes, ...]
    gpus: tuple[Gpu, ...]
    kernel: str | None
    launch: Launch | None
    options: Options
    settings: Settings
    compilers: tuple[str, ...] = ("nvrtc",)


def parse_request(**options: Any) -> Request:
    """The request of `analyze`'s options, checked before any work. Raises CommandError or InputError."""
    words = Words(**options)
    own_launch = _launch(words)
    if words.gpus is None and not (own_launch and own_launch.gpu):
        _require_one(words.files)
    boards = _gpus(words.gpus, own_launch, words.settings)
    defines = tuple(parse_define(word) for word in words.defines)
    file_defines = tuple(own_launch.defines.items()) if own_launch else ()
    return Request(
        sources=_sources(words.files),
        gpus=boards,
        kernel=words.kernel or (own_launch.kernel if own_launch else None),
        launch=own_launch,
        options=Options(
            defines=(*file_defines, *defines),
            include=(*(own_launch.include if own_launch else ()), *_folders(words.include)),
            extra=(*(own_launch.options if own_launch else ()), *words.nvrtc),
            build=Path(words.build) if words.build else None,
        ),
        settings=Settings(
            _clock(words.clock), words.cache, _models(words.models), view_names(words.views), words.patience,
            "pass" if words.lenient else "refuse", power_limit_W=words.power_limit,
        ),  # fmt: skip
        compilers=_compilers(words.compiler),
    )


def ranking_request(source: str, **options: Any) -> "Ranking":
    """The tunings that the options of `rank` request. Raises CommandError or InputError."""
    from warpbound.analysis.sweeps.ranking import ranking_of  # which loads pools of processes
    from warpbound.analysis.sweeps.tunings import Shape

    words = RankWords(**options)
    missing = [f"--{name}" for name in ("grid", "block") if not getattr(words, name)]
    if missing and not words.launch_file:
        raise CommandError(f"A launch needs {' and '.join(missing)}.", "Add them as expressions, or --launch FILE.")
    own: dict[str, Any] = {"args": arguments(words.args), "constants": arguments(words.consts, "--const")}
    base = launch(words.launch_file, **own) if words.launch_file else launch(grid=1, block=1, **own)
    boards = _gpus(words.gpu, base, words.settings)
    if len(boards) > 1:
        raise CommandError(f"{len(boards)} GPUs are named; `rank` takes one.", "Name one with --gpu.")
    macros = [parse_define(word) for word in words.defines]
    if len(dict(macros)) < len(macros):
        raise CommandError("A macro was defined twice.", "Give all its values at once, as --define TILE=16,32.")
    return ranking_of(
        source,
        boards[0],
        {name: [value.strip() for value in parts(values)] for name, values in macros},
        base,
        Shape(words.grid, words.block, words.smem, words.where),
        words.kernel,
        words.nvrtc,
        _folders(words.include),
        Settings(_clock(words.clock), words.cache, patience_s=words.patience),
    )


def answer_each(
    request: Request, analysis: Analysis[T], progress: Callable[[Iterable[Any]], Iterable[Any]]
) -> list[T | Refusal]:
    """One entry per kernel and GPU; among several, one without an answer becomes an error entry.

    Many GPUs are divided among the processors. Raises the first error where nothing could be answered.
    """
    keep_freed_memory()
    steps = list(_by_source(request))
    count = min(processors(), len(steps) // STEPS_EACH) if hasattr(os, "fork") else 1
    others = [partial(_answered, request, analysis, _unnamed(steps[part::count])) for part in range(1, count)]
    started = [forked(task) for task in others]
    parts = [_answered(request, analysis, progress(steps[:: max(1, count)]))]
    for task, (process, end) in zip(others, started, strict=True):
        try:
            parts.append(end.recv())
        except EOFError:  # it has died, for want of memory perhaps
            parts.append(task())
        process.join()
    answers = [parts[place % len(parts)][place // len(parts)] for place in range(len(steps))]
    failures = [problem for _, problems in answers for problem in problems]
    results = [result for some, _ in answers for result in some]
    if len(failures) == len(results):
        raise failures[0]
    return results


def _unnamed(steps: Sequence[tuple[str, Step]]) -> list[Step]:
    return [step for _, step in steps]


def _answered(
    request: Request, analysis: Analysis[T], steps: Iterable[Step]
) -> list[tuple[list[T | Refusal], list[WarpboundError]]]:
    """The entries of each step, and the errors among them."""
    answers = []
    for source, board, compiler in steps:
        results: list[T | Refusal] = []
        failures: list[WarpboundError] = []
        answers.append((results, failures))
        try:
            kernels = programs(source, board, request.kernel, replace(request.options, compiler=compiler))
            _one_kernel(kernels, request.launch)
        except WarpboundError as error:
            failures.append(error)
            results.append(refusal(request.kernel, board.key, error))
            continue
        settings = replace(request.settings, ends_s=time.thread_time() + static_patience(request.settings))
        for program in kernels:
            try:
                results.append(analysis(program, board, request.launch, settings))
            except WarpboundError as error:
                failures.append(error)
                results.append(refusal(program.title, board.key, error))
    return answers


def _by_source(request: Request) -> Iterator[tuple[str, Step]]:
    for source in request.sources:
        for board in request.gpus:
            for compiler in request.compilers:
                name = source if isinstance(source, Path) else "-"
                by = f" by {compiler}" if len(request.compilers) > 1 else ""
                yield f"{name} on {board.key}{by}", (source, board, compiler)


def _compilers(words: str) -> tuple[str, ...]:
    """The compilers of a comma list. Raises CommandError for a name that none has."""
    names = tuple(dict.fromkeys(compiler_name(word.strip()) for word in words.split(",")))
    for name in names:
        compiler_of(name)
    return names


def _one_kernel(kernels: Sequence[Program], own_launch: Launch | None) -> None:
    if own_launch is not None and len(kernels) > 1:
        raise InputError(
            f"{kernels[0].source_name} holds {len(kernels)} kernels ({', '.join(display_names(kernels))}) "
            "but a launch runs one.",
            "Name it with --kernel.",
        )


def _sources(names: Sequence[str]) -> tuple[Path | bytes, ...]:
    if names.count("-") > 1:
        raise CommandError("Standard input was given twice.", "Write - once.")
    return tuple(Path(name) if name != "-" else _standard_input() for name in names)


def _require_one(names: Sequence[str]) -> None:
    """Raise InputError where none of the files exists, which no other option would mend."""
    if not any(name == "-" or os.path.exists(name) for name in names):
        raise InputError(f"{names[0]} cannot be read ({os.strerror(errno.ENOENT)}).", "Check the path.")


def _folders(names: Sequence[str]) -> tuple[Path, ...]:
    """The folders of -I. Raises InputError for one that does not exist."""
    for name in names:
        if not os.path.isdir(name):
            raise InputError(f"-I {name}: there is no such folder.", "Check the path.")
    return tuple(map(Path, names))


def _standard_input() -> bytes:
    """At most one byte more than is allowed, so that an endless stream comes to an end."""
    import sys

    if sys.stdin is None:
        raise InputError("Standard input is closed.", "Give a file, or send one to -.")
    return sys.stdin.buffer.read(LARGEST_FILE_B + 1)


def _launch(words: Words) -> Launch | None:
    options = {key: getattr(words, key) for key in ("grid", "block", "cluster")}
    sizes = {key: parse_dim(word, f"--{key}") if word else None for key, word in options.items()}
    changes: dict[str, Any] = sizes | {"smem": words.smem, "carveout": words.carveout, "args": arguments(words.args)}
    changes["persist"] = words.persist
    changes["constants"] = arguments(words.consts, "--const")
    if words.launch_file:
        return launch(words.launch_file, kernel=words.kernel, **changes)
    if words.grid or words.block:
        return launch(kernel=words.kernel, **changes)
    if orphan := next((key for key, value in changes.items() if value), None):
        name = {"args": "arg", "constants": "const"}.get(orphan, orphan)
        raise CommandError(f"--{name} needs a launch.", "Add --grid and --block, or --launch FILE.")
    return None


def arguments(words: Sequence[str], option: str = "--arg") -> list[Argument] | None:
    """The arguments of --arg, or variables of --const; None without any. CommandError where a name is given twice."""
    explicit_arguments = [parse_argument(word) for word in words]
    names = [argument.name for argument in explicit_arguments]
    for name in names:
        if names.count(name) > 1:
            raise CommandError(f"{option} {name} was given twice.", "Give each name once.")
    return explicit_arguments or None


def _gpus(names: str | None, own_launch: Launch | None, settings: Sequence[str]) -> tuple[Gpu, ...]:
    """Those named on the command line, else the one of the launch file."""
    if names is not None:
        return overridden(listed(names), parsed(settings))
    if own_launch is None or not own_launch.gpu:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    with blamed(own_launch.path):
        boards = listed(own_launch.gpu)
    return overridden(boards, parsed(settings))


def parse_define(word: str) -> tuple[str, str]:
    """(name, value) of a --define; without a value it is 1, as compilers have it."""
    name, equals, value = word.partition("=")
    if not _MACRO.fullmatch(name):
        raise CommandError(f"--define {word!r} is not of the form NAME=VALUE.", "Write --define TILE=32.")
    return name, value if equals else "1"


def first_last(word: str) -> tuple[int, int]:
    """Both ends of `1:64`. Raises CommandError where they are no such thing."""
    first, _, last = word.partition(":")
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise CommandError(f"--warps {word!r} is not a range of warps per SM.", "Write FIRST:LAST, as in 1:64.")
    return int(first), int(last)


def _clock(word: str) -> str | float:
    if word in ("sustained", "base", "boost"):
        return word
    try:
        return float(word)
    except ValueError:
        way_out = "Give sustained, base, boost or a number of MHz."
        raise CommandError(f"--clock {word!r} is not known.", way_out) from None


def view_names(words: str) -> tuple[str, ...]:
    from warpbound.report.text import DETAILS, VIEWS

    return DETAILS if words == "all" else _names(words, VIEWS, "view")


def _models(words: str) -> tuple[str, ...]:
    from warpbound.models import MODELS

    return _names(words, MODELS, "model")


def _names(words: str, choices: Iterable[str], noun: str) -> tuple[str, ...]:
    """The names in a comma list, or all that are known. Raises CommandError for an unknown one."""
    known_names = tuple(choices)
    if words == "all":
        return known_names
    names = tuple(name for name in words.split(",") if name)
    unknown = [name for name in names if name not in known_names]
    if unknown:
        raise CommandError(f"No {noun} is called {unknown[0]!r}.", f"There are {', '.join(known_names)} and all.")
    return names
