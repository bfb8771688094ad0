"""Template arguments of a mangled kernel name, as a name expression spells them.

Source   Itanium C++ ABI, section 5.1: names, template arguments, builtin types, literals and substitutions; what
         kernels are instantiated with. Names with anything else (expressions, arrays, function types) stay as they are.
"""

import re
from collections.abc import Callable
from dataclasses import field

from warpbound.quick_dataclasses import dataclass

_BUILTIN = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
_AROUND = {"P": "{}*", "R": "{}&", "O": "{}&&", "K": "{} const", "V": "{} volatile"}
_LITERAL = re.compile(r"(n?)(\d+)E")
_SEQUENCE = re.compile(r"S([0-9A-Z]*)_")


class _Unsupported(Exception):
    """A construct that this reader does not support."""


@dataclass
class _Reader:
    """A mangled name, the position of the reader, and the parts to which later ones may refer."""

    text: str
    at: int = 2
    substitutions: list[str] = field(default_factory=list)

    def took(self, word: str) -> bool:
        result = self.text.startswith(word, self.at)
        self.at += len(word) if result else 0
        return result

    def matched(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def kept(self, word: str) -> str:
        self.substitutions.append(word)
        return word


def demangled(mangled: str) -> str | None:
    """`ns::scale<float, 4>` for `_ZN2ns5scaleIfLi4EEEvPf`; None without template arguments
    or with unsupported ones."""
    if not mangled.startswith("_Z"):
        return None
    try:
        name = _name(_Reader(mangled))
    except (_Unsupported, RecursionError):
        return None
    return name if name.endswith(">") else None


def _name(x: _Reader) -> str:
    if x.took("N"):
        return _nested(x)
    word = _source_name(x)
    if not x.text.startswith("I", x.at):
        return word
    x.kept(word)
    return word + _arguments(x)


def _nested(x: _Reader) -> str:
    name = ""
    while not x.took("E"):
        if x.text.startswith("I", x.at):
            name = name + _arguments(x)
        elif x.text.startswith("S", x.at) and not name:
            name = _substitution(x)
            continue
        else:
            name = "::".join(part for part in (name, _source_name(x)) if part)
        if not x.text.startswith("E", x.at):
            x.kept(name)
    return name


def _source_name(x: _Reader) -> str:
    result = x.matched(re.compile(r"\d+"))
    if result is None:
        raise _Unsupported
    word = x.text[x.at : x.at + int(result[0])]
    x.at += len(word)
    return "" if word.startswith("_GLOBAL__N_") else word


def _substitution(x: _Reader) -> str:
    if x.took("St"):
        return "std"
    result = x.matched(_SEQUENCE)
    number = (int(result[1], 36) + 1 if result[1] else 0) if result else len(x.substitutions)
    if number >= len(x.substitutions):
        raise _Unsupported
    return x.substitutions[number]


def _arguments(x: _Reader) -> str:
    x.at += 1
    return f"<{', '.join(_until_end(x))}>"


def _until_end(x: _Reader) -> list[str]:
    arguments: list[str] = []
    while not x.took("E"):
        arguments += _until_end(x) if x.took("J") else [_literal(x) if x.took("L") else _type(x)]
    return arguments


def _literal(x: _Reader) -> str:
    kind = _type(x)
    result = x.matched(_LITERAL)
    if result is None:
        raise _Unsupported
    if kind == "bool":
        return "true" if result[2] == "1" else "false"
    return ("-" if result[1] else "") + result[2]


def _type(x: _Reader) -> str:
    for letter, words in _AROUND.items():
        if x.took(letter):
            return x.kept(words.format(_type(x)))
    for letter, word in _BUILTIN.items():
        if x.took(letter):
            return word
    readers: tuple[tuple[str, Callable[[_Reader], str]], ...] = (("S", _substituted), ("", _class))
    return next(reader for start, reader in readers if x.text.startswith(start, x.at))(x)


def _class(x: _Reader) -> str:
    return x.kept(_name(x))


def _substituted(x: _Reader) -> str:
    name = _substitution(x)
    if name == "std":
        name = x.kept(f"std::{_source_name(x)}")
    return x.kept(name + _arguments(x)) if x.text.startswith("I", x.at) else name
