"""Headers of the user that a source includes, so that a change in one invalidates the cache."""

import re
from collections.abc import Iterable
from dataclasses import field
from itertools import zip_longest
from pathlib import Path

from warpbound.quick_dataclasses import dataclass

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include(?:_next)?|import)\b[ \t]*(?:["<]([^">\n]+)[">]|(\S+))', re.M)
_FOLDER = re.compile(r"^(?:-I|--include-path=|-include-path=)(.+)$")
_BEFORE = re.compile(r"^(?:-include|--pre-include|-pre-include)=(.+)$")


@dataclass(frozen=True)
class Headers:
    """What `#include` lines lead to in the user's folders, through any condition.

    files : path -> contents, in the order found. spelled : text by the name as included, where it is one file.
    certain : False when some `#include` names a macro, so that not all headers are known.
    absent : what is in none of the folders, by its name -> the file that includes it, None for the text itself.
    """

    files: dict[Path, bytes]
    spelled: dict[str, str]
    certain: bool
    absent: dict[str, Path | None] = field(default_factory=dict)


def reachable(text: str, include: Iterable[Path], options: Iterable[str]) -> Headers:
    """Every header that `text` can reach in the folders of `include` and of the compiler options."""
    in_options, first = _in_options(options)
    folders = [*include, *in_options, Path()]
    pending: list[tuple[str, Path | None]] = [(text, None), *((f'#include "{name}"', None) for name in first)]
    by_name: dict[str, Path | None] = {}
    files: dict[Path, bytes] = {}
    spelled: dict[str, set[Path]] = {}
    certain = True
    while pending:
        contents, includer = pending.pop(0)
        for name, macro in _INCLUDE.findall(contents):
            certain = certain and not macro
            if name:
                by_name.setdefault(name, includer)
            for path in [folder / name for folder in folders if name]:
                if path not in files and path.is_file():
                    files[path] = path.read_bytes()
                    pending.append((files[path].decode(errors="replace"), path))
                    folders += [path.parent] if path.parent not in folders else []
                spelled.setdefault(name, set()).update({path} & files.keys())
    absent = {name: includer for name, includer in by_name.items() if not spelled.get(name)}
    alone = {name: _one(paths, files) for name, paths in spelled.items() if len(paths) == 1}
    return Headers(files, alone, certain, absent)


def _in_options(options: Iterable[str]) -> tuple[list[Path], list[str]]:
    """Include folders and pre-included headers among the compiler options."""
    folders, first = [], []
    words = list(options)
    for here, after in zip_longest(words, words[1:], fillvalue=""):
        if match := _FOLDER.match(here):
            folders.append(Path(match[1]))
        elif here in ("-I", "--include-path", "-include-path"):
            folders.append(Path(after))
        elif match := _BEFORE.match(here):
            first.append(match[1])
        elif here in ("-include", "--pre-include", "-pre-include"):
            first.append(after)
    return folders, first


def _one(paths: set[Path], files: dict[Path, bytes]) -> str:
    (path,) = paths
    return files[path].decode(errors="replace")
