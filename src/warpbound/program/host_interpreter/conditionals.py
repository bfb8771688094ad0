"""Conditional compilation of host code: lines that the preprocessor drops become blank, macros are collected."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import field

from warpbound.quick_dataclasses import dataclass

PREDEFINED = {
    "__CUDACC__": "1", "__NVCC__": "1", "__cplusplus": "201703", "__linux__": "1", "__GNUC__": "12", "__x86_64__": "1",
    "CUDART_VERSION": "13000", "CUDA_VERSION": "13000", "__CUDACC_VER_MAJOR__": "13", "__CUDACC_VER_MINOR__": "0",
    "_LP64": "1", "NULL": "0", "INT_MAX": "2147483647", "UINT_MAX": "4294967295", "RAND_MAX": "2147483647",
    "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1", "EXIT_WAIVED": "2", "CHAR_BIT": "8", "FLT_MAX": "3.402823466e+38f",
    "M_PI": "3.14159265358979323846",
}  # fmt: skip
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)", re.S)
_DEFINITION = re.compile(r"(\w+)(\(([^()]*)\))?[ \t]*(.*)", re.S)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
_NESTED = 20  # macros within macros of a condition


@dataclass(frozen=True)
class Macro:
    """A macro; parameters is None where it takes none."""

    parameters: tuple[str, ...] | None
    body: str


@dataclass
class Preprocessor:
    """Reads files in the order of their `#include` lines. active : their text without what is dropped, by name.

    headers : contents of the user's headers by the name in the `#include`.
    """

    headers: Mapping[str, str]
    macros: dict[str, Macro]
    active: dict[str, str] = field(default_factory=dict)

    def read(self, name: str, text: str) -> None:
        """Collect the macros of a file and its headers, and keep its active text. Lines keep their numbers."""
        self.active[name] = ""
        states: list[tuple[bool, bool]] = []  # this branch is active, a branch was
        lines, logical = [], _logical_lines(text)
        for line in logical:
            match = _DIRECTIVE.match(line)
            here = all(active for active, _ in states)
            if match is None:
                lines.append(_blank(line) if not here or self._is_lone_macro(line) else line)
                continue
            word, rest = match[1], _COMMENT.sub(" ", match[2]).strip()
            if word.startswith(("if", "el", "endif")):
                self._condition(states, word, rest, is_outer_active=all(active for active, _ in states[:-1]))
            elif here:
                self._directive(word, rest)
            lines.append(_blank(line))
        self.active[name] = "\n".join(lines)

    def _is_lone_macro(self, line: str) -> bool:
        """Whether a line is a macro of statements alone: without a semicolon the grammar reads it as a type."""
        macro = self.macros.get(line.strip())
        return macro is not None and macro.parameters is None and re.search("[;{}]", macro.body) is not None

    def _condition(self, states: list[tuple[bool, bool]], word: str, rest: str, *, is_outer_active: bool) -> None:
        if word in ("if", "ifdef", "ifndef"):
            holds = rest.split()[0] in self.macros if rest.split() else False
            active = {"ifdef": holds, "ifndef": not holds}.get(word, False) if word != "if" else self.holds(rest)
            states.append((active, active))
        elif not states:
            return
        elif word == "endif":
            states.pop()
        elif word == "else":
            states[-1] = (not states[-1][1], True)
        elif is_outer_active:
            active = not states[-1][1] and self.holds(rest)
            states[-1] = (active, active or states[-1][1])

    def _directive(self, word: str, rest: str) -> None:
        if word == "undef":
            self.macros.pop(rest, None)
        elif word == "define" and (match := _DEFINITION.match(rest)):
            names = None if match[2] is None else tuple(name.strip() for name in match[3].split(","))
            self.macros[match[1]] = Macro(names, re.sub(r"\\?\s*\n", " ", match[4]).strip())
        elif word == "include":
            name = rest.strip('<>" ')
            if name in self.headers and name not in self.active:
                self.read(name, self.headers[name])

    def holds(self, condition: str) -> bool:
        """Whether the condition of an `#if` is true; one that cannot be read is false."""
        text = re.sub(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))",
                      lambda match: str(int((match[1] or match[2]) in self.macros)), condition)  # fmt: skip
        for _ in range(_NESTED):
            longer = re.sub(r"\b[A-Za-z_]\w*\b", self._number, text)
            if longer == text:
                break
            text = longer
        text = re.sub(r"(?<=\d)[uUlL]+\b", "", re.sub(r"\b[A-Za-z_]\w*\b", "0", text))
        text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
        try:
            return bool(_value(ast.parse(text.strip(), mode="eval").body))
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            return False

    def _number(self, match: re.Match[str]) -> str:
        macro = self.macros.get(match[0])
        return f"({macro.body or 0})" if macro is not None and macro.parameters is None else match[0]


_OPERATIONS: dict[type, Callable[..., int]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
}  # fmt: skip


def _value(node: ast.expr) -> int:
    """The value of a condition's expression. Raises ValueError for anything else."""
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.BoolOp(op=of, values=parts):
            return int((all if isinstance(of, ast.And) else any)(_value(part) for part in parts))
        case ast.UnaryOp(op=of, operand=part):
            return int(not _value(part)) if isinstance(of, ast.Not) else -_value(part)
        case ast.BinOp(left=a, op=of, right=b) if type(of) in _OPERATIONS:
            return _OPERATIONS[type(of)](_value(a), _value(b))
        case ast.Compare(left=a, ops=[of], comparators=[b]) if type(of) in _OPERATIONS:
            return _OPERATIONS[type(of)](_value(a), _value(b))
    raise ValueError(ast.dump(node))


def _logical_lines(text: str) -> list[str]:
    """Lines, those of a directive that a backslash continues in one piece."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and lines[-1].rstrip().endswith("\\") and lines[-1].lstrip().startswith("#"):
            lines[-1] += f"\n{line}"
        else:
            lines.append(line)
    return lines


def _blank(line: str) -> str:
    return "\n" * line.count("\n")
