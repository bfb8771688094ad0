"""Integer expressions of names: sizes of launches and arrays, conditions on tunings."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache

from warpbound.errors import CommandError

_WAY_OUT = "Write integers, names, + - * / % ( ), comparisons, and, or, not, min, max and cdiv(a, b)."
_DEEPEST = 50  # most levels of nesting of an expression
_OPERATORS: dict[type[ast.AST], Callable[..., int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg, ast.Not: operator.not_,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.And: lambda *sides: all(sides), ast.Or: lambda *sides: any(sides),
}  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "cdiv": lambda a, b: -(-a // b)}

Names = Mapping[str, str]


def number(text: str, names: Names) -> int:
    """The value of an expression; `/` rounds down as between positive integers in C.

    names : integers as text. Raises CommandError where it is no expression, where it divides by 0 or uses a name that
    is no integer.
    """
    return _value(_parsed(text), text, names)


@cache
def _parsed(text: str) -> ast.expr:
    plain = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ")).strip()
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CommandError(f"`{text}` is not an expression.", _WAY_OUT) from None


def _value(node: ast.expr, text: str, names: Names, depth: int = 0) -> int:
    if depth > _DEEPEST:
        raise CommandError(f"`{text}` is nested too deeply.", "Write it with fewer parentheses.")
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name | ast.Attribute):
        name = ast.unparse(node)
        if name not in names:
            valid_names = ", ".join(names) or "none"
            raise CommandError(f"`{text}` names {name}, which has no value.", f"Known are {valid_names}.")
        return _integer(name, names[name])
    operation = _operation(node)
    if operation is None:
        raise CommandError(f"`{text}` is not an expression of names.", _WAY_OUT)
    of, sides = operation
    try:
        return int(of(*(_value(side, text, names, depth + 1) for side in sides)))
    except ZeroDivisionError:
        raise CommandError(f"`{text}` divides by 0.", "Change that value.") from None


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
            f"{name}={value} is not an integer, and an expression uses it.", "Leave it out of the expressions."
        ) from None


def parts(text: str, opening: str = "([", closing: str = ")]") -> list[str]:
    """Parts of a list, split at commas outside of brackets."""
    pieces, depth = [""], 0
    for letter in text:
        depth += (letter in opening) - (letter in closing)
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces
