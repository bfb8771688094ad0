"""Files that include another one: a kernel whose file does not compile by itself is compiled as a part of them."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from warpbound.program.repository_headers import files_below, root_of

COMPILED = (".cu", ".cpp", ".cc", ".cxx", ".c")  # what a build gives to the compiler
LARGEST_B = 1 << 20  # largest file that is searched for #include lines
_READ = (*COMPILED, ".cuh", ".h", ".hpp", ".hxx", ".inl", ".inc")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.M)


def includers(path: Path, most: int = 3) -> tuple[Path, ...]:
    """The files to compile that include `path`, also by way of headers: the most direct first, then the nearest.

    Files of the repository around `path` alone.
    """
    start = path.resolve()
    files_so_far, level, result = {start}, [start], list[Path]()
    while level and len(result) < most:
        above = [each for target in level for each in _includers(target) if each not in files_so_far]
        level = sorted(dict.fromkeys(above), key=lambda each: (-len(os.path.commonpath([start, each])), str(each)))
        files_so_far.update(level)
        result += [each for each in level if each.suffix in COMPILED]
    return tuple(result[:most])


def _includers(target: Path) -> Iterator[Path]:
    """The files whose #include lines lead to `target`: from their own folder, or by the end of its path."""
    for includer, words in _lines(root_of(target.parent)).get(target.name, ()):
        parts = tuple(part for part in Path(words).parts if part not in (".", ".."))
        here = Path(os.path.normpath(includer.parent / words))
        if here == target or (target.parts[-len(parts) :] == parts and not here.is_file()):
            yield includer


@cache
def _lines(root: Path) -> dict[str, tuple[tuple[Path, str], ...]]:
    """The #include lines of a repository by the name of the file that they include: (includer, words of the line)."""
    result: dict[str, list[tuple[Path, str]]] = {}
    for path in files_below(root):
        if path.suffix not in _READ:
            continue
        try:
            raw = path.read_bytes() if path.stat().st_size <= LARGEST_B else b""
        except OSError:
            continue
        for words in dict.fromkeys(_INCLUDE.findall(raw)):
            spelled = words.decode(errors="replace")
            result.setdefault(Path(spelled).name, []).append((path, spelled))
    return {name: tuple(lines) for name, lines in result.items()}
