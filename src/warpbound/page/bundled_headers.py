"""The compiler's headers that a pasted source may include.

A few of them include a file that a macro names (Thrust chooses its back end this way), so a source that sets the macro
chooses the file. To find the headers that lead to such an include, all includes are followed, under every condition.
"""

import re
from functools import cache
from pathlib import Path

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_INCLUDES = re.compile(
    r'^[ \t]*(?:#|%:)[ \t]*include(?P<next>_next)?\b[ \t]*(?:<([^>\n]+)>|"([^"\n]+)"|(?P<macro>[^\s<"][^\n]*))',
    re.MULTILINE,
)
_TELLS = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?:if|elif|define)\b([^\n]*)", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*")


def bundled(name: str) -> bool:
    """Whether the compiler ships a header of that name."""
    from warpbound.program.nvrtc import header_folders

    with header_folders() as places:
        return any((place / name).is_file() for place in places)


@cache
def includes_by_macro(name: str) -> bool:
    """Whether a header, or one that it includes under some condition, includes a file whose name a macro gives."""
    return None in _all_includes(name)


@cache
def known(name: str) -> frozenset[str]:
    """Every name in the conditions and macros of a header and of those that it includes under some condition."""
    names: set[str] = set()
    for header in _all_includes(name) - {None}:
        assert header is not None
        for line in _TELLS.findall(_SPLICE.sub("", header.read_text(encoding="utf-8", errors="replace"))):
            names.update(_NAME.findall(line))
    return frozenset(names)


@cache
def _all_includes(name: str) -> frozenset[Path | None]:
    """A header and all that it includes under some condition; None among them where a macro names one."""
    from warpbound.program.nvrtc import header_folders

    with header_folders() as places:
        roots = tuple(Path(place) for place in places)
        headers: set[Path | None] = {root / name for root in roots if (root / name).is_file()}
        waiting = [header for header in headers if header is not None]
        while waiting:
            new = _included(waiting.pop(), roots) - headers
            headers |= new
            waiting += [header for header in new if header is not None]
    return frozenset(headers)


@cache
def _included(header: Path, roots: tuple[Path, ...]) -> frozenset[Path | None]:
    """Every file that each of its includes may mean; None among them where a macro names one."""
    text = _SPLICE.sub("", header.read_text(encoding="utf-8", errors="replace"))
    headers: set[Path | None] = set()
    for directive in _INCLUDES.finditer(text):
        if directive["macro"]:
            headers.add(None)
            continue
        folders = (header.parent, *roots) if directive[3] else roots
        paths = (folder / (directive[2] or directive[3]) for folder in folders)
        candidates = [path for path in paths if path.is_file()]
        headers |= set(candidates) if directive["next"] else set(candidates[:1])  # the next one: any of them
    return frozenset(headers)
