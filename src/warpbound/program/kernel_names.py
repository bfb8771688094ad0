"""Kernel names: mangled, plain and as titles; selecting kernels by name."""

import re
from collections.abc import Sequence

from warpbound.errors import InputError
from warpbound.program.demangling import demangled
from warpbound.program.kernel import Program

_PLAIN_NAME = re.compile(r"\d+")
_CONST = re.compile(r"\bconst\s+((?:\b(?:unsigned|signed|long|short|int|char|double)\b\s*)+|[\w:]+(?:<[^<>]*>)?)")


def named(kernels: tuple[Program, ...], kernel: str | None, source: str) -> tuple[Program, ...]:
    """The kernels that `kernel` names; all without a name. Raises InputError where there is none."""
    if not kernels:
        raise InputError(f"{source} holds no kernel.", "Give a file with a __global__ function.")
    if kernel is None:
        return kernels
    request = normalized(kernel)
    matches = tuple(program for program in kernels if request in _names(program))
    if not matches:
        raise InputError(f"{source} has no kernel `{kernel}`.", f"It holds: {', '.join(display_names(kernels))}.")
    exact = tuple(program for program in matches if request in (normalized(program.name), normalized(program.title)))
    return exact or matches


def _names(program: Program) -> set[str]:
    """What a kernel may be called: mangled, titled, plain, without namespaces; blanks do not count."""
    plain = plain_name(program.name)
    head, angle, rest = program.title.partition("<")
    bare_title = head.rpartition("::")[2] + angle + rest
    return {normalized(word) for word in (program.name, program.title, bare_title, plain, plain.rpartition("::")[2])}


def normalized(name: str) -> str:
    """Without blanks, `const` behind its type, and template arguments as manglings have them: 5, not 5u."""
    name = _CONST.sub(r"\1 const", name)
    name = re.sub(r"\bunsigned\b(?!\s+(?:int|char|short|long))", "unsigned int", name)
    return re.sub(r"\s", "", re.sub(r"(?<=[<,\s])(-?\d+)[uUlL]+\b", r"\1", name))


def display_names(kernels: Sequence[Program]) -> list[str]:
    """The titles of kernels, with the mangled name where two kernels have the same title."""
    titles = [program.title for program in kernels]
    return [
        program.title if titles.count(program.title) == 1 else f"{program.title} ({program.name})"
        for program in kernels
    ]


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
