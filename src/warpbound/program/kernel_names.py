"""Kernel names: mangled, plain and as titles; selecting kernels by name."""

import re
from collections.abc import Sequence

from warpbound.errors import InputError
from warpbound.program.demangling import demangled
from warpbound.program.kernel import Program

_PLAIN_NAME = re.compile(r"\d+")
_CONST = re.compile(r"\bconst\s+((?:\b(?:unsigned|signed|long|short|int|char|double)\b\s*)+|[\w:]+(?:<[^<>]*>)?)")


def named(found: tuple[Program, ...], kernel: str | None, source: str) -> tuple[Program, ...]:
    """Those of `found` that `kernel` names; all without a name. Raises InputError where there is none."""
    if not found:
        raise InputError(f"{source} holds no kernel.", "Give a file with a __global__ function.")
    if kernel is None:
        return found
    wanted = bare(kernel)
    chosen = tuple(one for one in found if wanted in _names(one))
    if not chosen:
        raise InputError(f"{source} has no kernel `{kernel}`.", f"It holds: {', '.join(spelled(found))}.")
    exact = tuple(one for one in chosen if wanted in (bare(one.name), bare(one.title)))
    return exact or chosen


def _names(program: Program) -> set[str]:
    """What a kernel may be called: mangled, titled, plain, without namespaces; blanks do not count."""
    plain = plain_name(program.name)
    head, angle, rest = program.title.partition("<")
    bare_title = head.rpartition("::")[2] + angle + rest
    return {bare(word) for word in (program.name, program.title, bare_title, plain, plain.rpartition("::")[2])}


def bare(name: str) -> str:
    """Without blanks, `const` behind its type, and template arguments as manglings have them: 5, not 5u."""
    name = _CONST.sub(r"\1 const", name)
    name = re.sub(r"\bunsigned\b(?!\s+(?:int|char|short|long))", "unsigned int", name)
    return re.sub(r"\s", "", re.sub(r"(?<=[<,\s])(-?\d+)[uUlL]+\b", r"\1", name))


def spelled(found: Sequence[Program]) -> list[str]:
    """The titles of kernels, with the mangled name where a title is not one's own."""
    titles = [one.title for one in found]
    return [one.title if titles.count(one.title) == 1 else f"{one.title} ({one.name})" for one in found]


def title_of(mangled: str) -> str:
    """`ns::scale<float>` for `_ZN2ns5scaleIfEEvPf`: plain name and, if they can be demangled, template arguments."""
    return demangled(mangled) or plain_name(mangled)


def plain_name(mangled: str) -> str:
    """`ns::saxpy` for `_ZN2ns5saxpyEifPf`; names that are not mangled come back as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    at = 3 if mangled.startswith("_ZN") else 2
    words = []
    while match := _PLAIN_NAME.match(mangled, at):
        length = int(match[0])
        word = mangled[match.end() : match.end() + length]
        words += [] if word.startswith("_GLOBAL__N_") else [word]  # a namespace without a name
        at = match.end() + length
        if not mangled.startswith("_ZN"):
            break
    return "::".join(words) or mangled
