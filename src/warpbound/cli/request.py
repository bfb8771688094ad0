"""From the words of the command line to questions, and from questions to entries."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from warpbound.analysis import Settings
from warpbound.analysis.overrides import overridden, parsed
from warpbound.analysis.sweeps.tunings import Shape, parts
from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.kernel_argument import Argument, parse_argument
from warpbound.kernel_launch import Launch, blamed, launch, parse_dim
from warpbound.machine import Gpu, listed
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.program.source_files import LARGEST_FILE_B, spelled
from warpbound.result.refusal import Refusal, refusal

T = TypeVar("T")
Ask = Callable[[Program, Gpu, Launch | None, Settings], T]

_MACRO = re.compile(r"[A-Za-z_]\w*(?:\([\w, .]*\))?")


class Words(TypedDict):
    """The options of `analyze` as typed."""

    files: tuple[str, ...]
    gpus: str | None
    kernel: str | None
    grid: str | None
    block: str | None
    cluster: str | None
    smem: int | None
    carveout: int | None
    args: tuple[str, ...]
    launch_file: str | None
    defines: tuple[str, ...]
    include: tuple[str, ...]
    nvrtc: tuple[str, ...]
    settings: tuple[str, ...]
    cache: str
    clock: str
    models: str
    views: str


@dataclass(frozen=True)
class Question:
    """Files, boards, the launch if there is one, how to compile and how to answer."""

    sources: tuple[Path | bytes, ...]
    gpus: tuple[Gpu, ...]
    kernel: str | None
    launch: Launch | None
    options: Options
    settings: Settings


def question(**words: Unpack[Words]) -> Question:
    """Everything the command line says, checked before any work. Raises CommandError or InputError."""
    asked = _launch(words)
    boards = _gpus(words["gpus"], asked, words["settings"])
    defines = tuple(_define(word) for word in words["defines"])
    file_defines = tuple(asked.defines.items()) if asked else ()
    return Question(
        sources=_sources(words["files"]),
        gpus=boards,
        kernel=words["kernel"] or (asked.kernel if asked else None),
        launch=asked,
        options=Options(
            defines=(*file_defines, *defines),
            include=(*(asked.include if asked else ()), *(Path(folder) for folder in words["include"])),
            extra=(*(asked.options if asked else ()), *words["nvrtc"]),
        ),
        settings=Settings(_clock(words["clock"]), words["cache"], _models(words["models"]), _views(words["views"])),
    )


def tuning_question(**words: Any) -> dict[str, Any]:
    """The arguments of `analysis.ranking.rank` that the command line says, by name. Raises CommandError or InputError.

    words : the options of `rank` as typed.
    """
    missing = [f"--{name}" for name in ("grid", "block") if not words[name]]
    if missing and not words["launch_file"]:
        raise CommandError(f"A launch needs {' and '.join(missing)}.", "Add them as expressions, or --launch FILE.")
    args = _arguments(words["args"])
    file = words["launch_file"]
    base = launch(file, args=args) if file else launch(grid=1, block=1, args=args)
    boards = _gpus(words["gpu"], base, words["settings"])
    if len(boards) > 1:
        raise CommandError(f"{len(boards)} GPUs were given.", "Tunings are ranked for one at a time.")
    macros = [_define(word) for word in words["defines"]]
    if len(dict(macros)) < len(macros):
        raise CommandError("A macro was defined twice.", "Give all its values at once, as --define TILE=16,32.")
    return {
        "gpu": boards[0],
        "macros": {name: [value.strip() for value in parts(values)] for name, values in macros},
        "launch": base,
        "shape": Shape(*(words[name] for name in ("grid", "block", "smem", "where"))),
        "kernel": words["kernel"],
        "include": words["include"],
        "options": words["nvrtc"],
        "settings": Settings(_clock(words["clock"]), words["cache"]),
    }


def answer(
    asked: Question, ask: Ask[T], progress: Callable[[Iterable[Any]], Iterable[Any]]
) -> list[T | Refusal]:
    """One entry per kernel and GPU; what cannot be answered among several leaves an error entry.

    Raises the first error where nothing could be answered.
    """
    results: list[T | Refusal] = []
    failures: list[WarpboundError] = []
    for source, board in progress(_titled(asked)):
        try:
            found = programs(source, board, asked.kernel, asked.options)
            _one_kernel(found, asked.launch)
        except WarpboundError as error:
            failures.append(error)
            results.append(refusal(asked.kernel, board.key, error))
            continue
        for program in found:
            try:
                results.append(ask(program, board, asked.launch, asked.settings))
            except WarpboundError as error:
                failures.append(error)
                results.append(refusal(program.title, board.key, error))
    if len(failures) == len(results):
        raise failures[0]
    return results


def _titled(asked: Question) -> Iterator[tuple[str, tuple[Path | bytes, Gpu]]]:
    for source in asked.sources:
        for board in asked.gpus:
            name = source if isinstance(source, Path) else "-"
            yield f"{name} on {board.key}", (source, board)


def _one_kernel(found: Sequence[Program], asked: Launch | None) -> None:
    if asked is not None and len(found) > 1:
        raise InputError(
            f"{found[0].source_name} holds {len(found)} kernels ({', '.join(spelled(found))}) "
            "and the launch is of one.",
            "Name it with --kernel.",
        )


def _sources(names: Sequence[str]) -> tuple[Path | bytes, ...]:
    if names.count("-") > 1:
        raise CommandError("Standard input was given twice.", "Write - once.")
    return tuple(Path(name) if name != "-" else _standard_input() for name in names)


def _standard_input() -> bytes:
    """At most one byte more than is allowed, so that an endless stream comes to an end."""
    import sys

    if sys.stdin is None:
        raise InputError("Standard input is closed.", "Give a file, or send one to -.")
    return sys.stdin.buffer.read(LARGEST_FILE_B + 1)


def _launch(words: Words) -> Launch | None:
    changes: dict[str, Any] = {
        key: parse_dim(word) if word else None
        for key, word in (("grid", words["grid"]), ("block", words["block"]), ("cluster", words["cluster"]))
    }
    changes |= {"smem": words["smem"], "carveout": words["carveout"], "kernel": words["kernel"]}
    changes["args"] = _arguments(words["args"])
    if words["launch_file"]:
        return launch(words["launch_file"], **changes)
    if changes["grid"] or changes["block"]:
        return launch(**changes)
    said = [f"--{key}" for key in ("cluster", "smem", "carveout", "args") if changes[key]]
    if said:
        raise CommandError(f"{said[0].removesuffix('s')} needs a launch.", "Add --grid and --block, or --launch FILE.")
    return None


def _arguments(words: Sequence[str]) -> list[Argument] | None:
    found = [parse_argument(word) for word in words]
    names = [argument.name for argument in found]
    for name in names:
        if names.count(name) > 1:
            raise CommandError(f"--arg {name} was given twice.", "Give each argument once.")
    return found or None


def _gpus(names: str | None, asked: Launch | None, settings: Sequence[str]) -> tuple[Gpu, ...]:
    """Those named on the command line, else the one of the launch file."""
    if names:
        return overridden(listed(names), parsed(settings))
    if asked is None or not asked.gpu:
        raise CommandError("No GPU given.", "Add --gpu NAME; `warpbound gpus` lists them.")
    with blamed(asked.path):
        boards = listed(asked.gpu)
    return overridden(boards, parsed(settings))


def _define(word: str) -> tuple[str, str]:
    """(name, value) of a --define; without a value it is 1, as compilers have it."""
    name, equals, value = word.partition("=")
    if not _MACRO.fullmatch(name):
        raise CommandError(f"--define {word!r} is not of the form NAME=VALUE.", "Write --define TILE=32.")
    return name, value if equals else "1"


def first_last(word: str) -> tuple[int, int]:
    """Both ends of `1:64`. Raises CommandError where they are no such thing."""
    first, _, last = word.partition(":")
    if not (first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise CommandError(f"--warps {word!r} is no range.", "Write it like 1:64.")
    return int(first), int(last)


def _clock(word: str) -> str | float:
    if word in ("base", "boost"):
        return word
    try:
        return float(word)
    except ValueError:
        raise CommandError(f"--clock {word!r} is not known.", "Give base, boost or a number of MHz.") from None


def _views(words: str) -> tuple[str, ...]:
    from warpbound.report.text import DETAILS, VIEWS

    return DETAILS if words == "all" else _names(words, VIEWS, "view")


def _models(words: str) -> tuple[str, ...]:
    from warpbound.models import MODELS

    return _names(words, MODELS, "model")


def _names(words: str, known: Iterable[str], noun: str) -> tuple[str, ...]:
    """The names in a comma list, or all that are known. Raises CommandError for an unknown one."""
    there = tuple(known)
    if words == "all":
        return there
    names = tuple(name for name in words.split(",") if name)
    unknown = [name for name in names if name not in there]
    if unknown:
        raise CommandError(f"No {noun} is called {unknown[0]!r}.", f"There are {', '.join(there)} and all.")
    return names
