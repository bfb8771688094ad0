"""The compiler's own headers, as far as the page lets a pasted source include them.

A few of them include by macro (Thrust chooses its back end so). Who sets that macro chooses the file. Which headers
lead to such a one is found by following what they include, under every condition.
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
    """Whether the compiler brings a header of that name."""
    from warpbound.program.nvrtc import header_folders

    with header_folders() as places:
        return any((place / name).is_file() for place in places)


@cache
def by_macro(name: str) -> bool:
    """Whether a header, or one that it includes under some condition, includes a file whose name a macro gives."""
    return None in _reached(name)


@cache
def known(name: str) -> frozenset[str]:
    """Every name in the conditions and macros of a header and of those that it includes under some condition."""
    found: set[str] = set()
    for header in _reached(name) - {None}:
        assert header is not None
        for line in _TELLS.findall(_SPLICE.sub("", header.read_text(encoding="utf-8", errors="replace"))):
            found.update(_NAME.findall(line))
    return frozenset(found)


@cache
def _reached(name: str) -> frozenset[Path | None]:
    """A header and all that it includes under some condition; None among them where a macro names one."""
    from warpbound.program.nvrtc import header_folders

    with header_folders() as places:
        roots = tuple(Path(place) for place in places)
        seen: set[Path | None] = {root / name for root in roots if (root / name).is_file()}
        waiting = [one for one in seen if one is not None]
        while waiting:
            new = _included(waiting.pop(), roots) - seen
            seen |= new
            waiting += [one for one in new if one is not None]
    return frozenset(seen)


@cache
def _included(header: Path, roots: tuple[Path, ...]) -> frozenset[Path | None]:
    """Every file that each of its includes may mean; None among them where a macro names one."""
    text = _SPLICE.sub("", header.read_text(encoding="utf-8", errors="replace"))
    found: set[Path | None] = set()
    for told in _INCLUDES.finditer(text):
        if told["macro"]:
            found.add(None)
            continue
        folders = (header.parent, *roots) if told[3] else roots
        meant = [folder / (told[2] or told[3]) for folder in folders if (folder / (told[2] or told[3])).is_file()]
        found |= set(meant) if told["next"] else set(meant[:1])  # the next one: any of them
    return frozenset(found)
