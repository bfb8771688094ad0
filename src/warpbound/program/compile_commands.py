"""The options that a build gives a source file, from its compile_commands.json."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from warpbound.errors import InputError
from warpbound.program.compile_options import Options

FILE = "compile_commands.json"
_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter", "--include-path", "--system-include")
_VALUED = ("-D", "-include", "--pre-include", "-std", "--std", "-maxrregcount", "--maxrregcount")
_PLAIN = ("-use_fast_math", "--use_fast_math", "--expt-relaxed-constexpr", "--extended-lambda")
_EQUAL = ("-std=", "--std=", "-maxrregcount=", "--maxrregcount=", "-ftz=", "--ftz=", "-prec-div=", "--prec-div=",
          "-prec-sqrt=", "--prec-sqrt=", "-fmad=", "--fmad=", "-include=", "--pre-include=")  # fmt: skip


def with_build(options: Options, source: Path) -> Options:
    """The options with those of the build of `options.build`; the user's own come after, and win.

    Raises InputError where the folder has no compile_commands.json, or that none for this file.
    """
    if options.build is None:
        return options
    place = options.build / FILE if options.build.is_dir() else options.build
    entry = _entry(place, source)
    folder = Path(str(entry.get("directory", ".")))
    words = list(map(str, entry["arguments"])) if "arguments" in entry else shlex.split(str(entry.get("command", "")))
    parts = list(_options(words[1:]))
    defines = tuple((name, value) for kind, name, value in parts if kind == "define")
    include = tuple(folder / name for kind, name, _ in parts if kind == "folder")
    extra = tuple(name for kind, name, _ in parts if kind == "option")
    own = {name for name, _ in options.defines}
    return replace(
        options,
        defines=(*(pair for pair in defines if pair[0] not in own), *options.defines),
        include=(*options.include, *include),
        extra=(*extra, *options.extra),
    )


def _entry(place: Path, source: Path) -> Mapping[str, Any]:
    import json

    try:
        entries = json.loads(place.read_text("utf-8"))
    except OSError as failed:
        raise InputError(
            f"{place} cannot be read ({failed.strerror}).", "Let CMake write it: -DCMAKE_EXPORT_COMPILE_COMMANDS=ON."
        ) from failed
    except ValueError as damaged:
        raise InputError(f"{place} is not JSON ({damaged}).", "Let the build write it again.") from damaged
    resolved = source.resolve()
    for entry in (each for each in entries if isinstance(each, dict)) if isinstance(entries, list) else ():
        if (Path(str(entry.get("directory", "."))) / str(entry.get("file", ""))).resolve() == resolved:
            return entry
    raise InputError(f"{place} has no entry for {source}.", "Give the folder of the build that compiles it.")


def _options(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """(define, name, value), (folder, path, "") and (option, word, "") of a command line; the rest is left out."""
    pending = list(words)
    while pending:
        word = pending.pop(0)
        folder = next((flag for flag in _FOLDERS if word.startswith(flag)), None)
        if word in (*_FOLDERS, *_VALUED) and pending:
            value = pending.pop(0)
            if word in _FOLDERS:
                yield "folder", value, ""
            elif word == "-D":
                yield _define(value)
            else:
                yield "option", f"{word}={value}", ""
        elif folder is not None:
            yield "folder", word[len(folder) :].removeprefix("="), ""
        elif word.startswith("-D"):
            yield _define(word[2:])
        elif word in _PLAIN or word.startswith(_EQUAL):
            yield "option", word, ""


def _define(word: str) -> tuple[str, str, str]:
    name, equals, value = word.partition("=")
    return "define", name, value if equals else "1"
