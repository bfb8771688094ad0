"""The tunings of a kernel: every combination of its macros' values, each with the launch that its expressions give."""

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from warpbound.errors import CommandError, WarpboundError
from warpbound.kernel_launch import Launch, override

MOST = 100_000  # combinations that are asked about in one go
_WAY_OUT = "Write integers, names of macros, + - * / % ( ), comparisons, and, or, not, min, max and cdiv(a, b)."
_DEEPEST = 50  # of an expression's parts within each other
_OPERATORS: dict[type[ast.AST], Callable[..., int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.And: lambda *sides: all(sides), ast.Or: lambda *sides: any(sides),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "cdiv": lambda a, b: -(-a // b)}

Macros = Mapping[str, str]


@dataclass(frozen=True)
class Shape:
    """The launch as expressions of the macros; None keeps the value of the launch file.

    grid, block : one to three, with commas. smem : bytes of dynamic shared memory. where : a tuning takes part only
    if this is true.
    """

    grid: str | None = None
    block: str | None = None
    smem: str | None = None
    where: str | None = None


@dataclass(frozen=True)
class Tuning:
    """One combination with its launch, or the error of its expressions."""

    macros: Macros
    launch: Launch | WarpboundError

    @property
    def name(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.macros.items())


def tunings(macros: Mapping[str, Sequence[object]], shape: Shape, launch: Launch) -> list[Tuning]:
    """Every combination that `shape.where` admits, the last macro changing fastest.

    Raises CommandError where an expression is malformed or nothing is left.
    """
    values = {name: [str(value) for value in each] for name, each in macros.items()}
    count = 1
    for name, each in values.items():
        if not each or len(set(each)) < len(each):
            raise CommandError(f"The values of {name} are not one or more different ones.", "Write TILE=16,32,64.")
        count *= len(each)
    if count > MOST:
        raise CommandError(f"{count} combinations are too many.", f"At most {MOST} are asked about at once.")
    combinations = [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]
    admitted = [combination for combination in combinations if shape.where is None or number(shape.where, combination)]
    if not admitted:
        raise CommandError(f"--where `{shape.where}` is false for all {count} combinations.", "Weaken it.")
    return [Tuning(combination, _launch(combination, shape, launch)) for combination in admitted]


def _launch(macros: Macros, shape: Shape, launch: Launch) -> Launch | WarpboundError:
    """The launch of one combination; an expression whose value no launch can have is this combination's error alone."""
    sizes = {name: [number(part, macros) for part in parts(text)]
             for name, text in (("grid", shape.grid), ("block", shape.block)) if text is not None}  # fmt: skip
    smem = None if shape.smem is None else number(shape.smem, macros)
    try:
        return override(launch, **sizes, smem=smem)  # type: ignore[arg-type]
    except WarpboundError as problem:
        return problem


def number(text: str, macros: Macros) -> int:
    """The value of an expression; `/` rounds down as between positive integers in C.

    Raises CommandError where it is none, where it divides by 0 or names a macro that is no integer.
    """
    return _value(_parsed(text), text, macros)


@cache
def _parsed(text: str) -> ast.expr:
    plain = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CommandError(f"`{text}` is not an expression.", _WAY_OUT) from None


def _value(node: ast.expr, text: str, macros: Macros, depth: int = 0) -> int:
    if depth > _DEEPEST:
        raise CommandError(f"`{text}` is nested too deeply.", "Write it with fewer parentheses.")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in macros:
            defined = ", ".join(macros) or "none"
            raise CommandError(f"`{text}` names {node.id}, which no --define defines.", f"Defined are {defined}.")
        return _integer(node.id, macros[node.id])
    operation = _operation(node)
    if operation is None:
        raise CommandError(f"`{text}` is not an expression of macros.", _WAY_OUT)
    of, sides = operation
    try:
        return int(of(*(_value(side, text, macros, depth + 1) for side in sides)))
    except ZeroDivisionError:
        raise CommandError(f"`{text}` divides by 0.", "Leave that value of the macro out.") from None


def _operation(node: ast.expr) -> tuple[Callable[..., int], list[ast.expr]] | None:
    """Operator and operands of a node; None for a node that expressions do not allow."""
    match node:
        case ast.UnaryOp(op=op, operand=side) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)], [side]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)], [left, right]
        case ast.BoolOp(op=op, values=sides):
            return _OPERATORS[type(op)], sides
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)], [left, right]
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name], [left, right]
    return None


def _integer(name: str, value: str) -> int:
    try:
        return int(value, 0)
    except ValueError:
        raise CommandError(
            f"{name}={value} is no integer, and an expression uses it.", "Leave it out of the expressions."
        ) from None


def parts(text: str) -> list[str]:
    """Parts of a list, split at commas outside parentheses."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces
