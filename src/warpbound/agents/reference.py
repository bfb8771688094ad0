"""NumPy expressions that an agent gives as the reference of a kernel, evaluated without Python's own `eval`."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError

_BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_UNARY: dict[type[ast.AST], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Invert: operator.invert}
_FUNCTIONS = (
    "abs", "arange", "argsort", "ceil", "concatenate", "cos", "cumsum", "diff", "dot", "einsum", "exp", "flip",
    "float16", "float32", "float64", "floor", "int32", "int64", "log", "log2", "matmul", "max", "maximum", "mean",
    "min", "minimum", "ones_like", "outer", "pad", "prod", "repeat", "reshape", "roll", "round", "sin", "sort",
    "sqrt", "stack", "sum", "tanh", "tile", "transpose", "uint32", "var", "where", "zeros_like",
)  # fmt: skip
_METHODS = ("astype", "cumsum", "flatten", "max", "mean", "min", "reshape", "sum", "transpose")
_WAY_OUT = f"Write names of arguments, numbers, operators, indexes and np.FUNCTION: {', '.join(_FUNCTIONS)}."
LONGEST = 2000  # characters


def evaluated(expression: str, arrays: Mapping[str, Any]) -> NDArray[Any]:
    """The value of a NumPy expression over named arrays and numbers.

    Raises CommandError where the text is no expression, names something else, or NumPy refuses it.
    """
    if len(expression) > LONGEST:
        raise CommandError(f"The reference has {len(expression)} characters.", f"The limit is {LONGEST}.")
    try:
        tree = ast.parse(expression, mode="eval")
        return np.asarray(_value(tree.body, arrays))
    except SyntaxError as problem:
        raise CommandError(f"The reference `{expression}` is not an expression.", _WAY_OUT) from problem
    except (TypeError, ValueError, ArithmeticError, IndexError, MemoryError, RecursionError) as problem:
        raise CommandError(f"The reference `{expression}` fails: {problem}.", "Check shapes and types.") from problem


def _value(node: ast.AST, arrays: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | bool() | str() | None):
            return node.value
        case ast.Name():
            if node.id in arrays:
                return arrays[node.id]
            raise CommandError(f"The reference names '{node.id}'.", f"Arguments are {', '.join(arrays)}.")
        case ast.BinOp() | ast.UnaryOp() | ast.Compare():
            return _operated(node, arrays)
        case ast.Subscript():
            return _value(node.value, arrays)[_index(node.slice, arrays)]
        case ast.Tuple() | ast.List():
            return tuple(_value(part, arrays) for part in node.elts)
        case ast.Attribute(attr="T"):
            return _value(node.value, arrays).T
        case ast.Call():
            return _called(node, arrays)
    raise _refusal(node)


def _operated(node: ast.BinOp | ast.UnaryOp | ast.Compare, arrays: Mapping[str, Any]) -> Any:
    match node:
        case ast.BinOp() if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](_value(node.left, arrays), _value(node.right, arrays))
        case ast.UnaryOp() if type(node.op) in _UNARY:
            return _UNARY[type(node.op)](_value(node.operand, arrays))
        case ast.Compare(ops=[comparison], comparators=[right]) if type(comparison) in _BINARY:
            return _BINARY[type(comparison)](_value(node.left, arrays), _value(right, arrays))
    raise _refusal(node)


def _index(node: ast.AST, arrays: Mapping[str, Any]) -> Any:
    """The contents of brackets: slices, or values."""
    match node:
        case ast.Slice():
            return slice(*(part and _value(part, arrays) for part in (node.lower, node.upper, node.step)))
        case ast.Tuple():
            return tuple(_index(part, arrays) for part in node.elts)
    return _value(node, arrays)


def _refusal(node: ast.AST) -> CommandError:
    return CommandError(f"The reference has `{ast.unparse(node)}`, which is not evaluated here.", _WAY_OUT)


def _called(node: ast.Call, arrays: Mapping[str, Any]) -> Any:
    """A function of NumPy, or a method of an array."""
    arguments = [_value(argument, arrays) for argument in node.args]
    options = {word.arg: _value(word.value, arrays) for word in node.keywords if word.arg}
    match node.func:
        case ast.Attribute(value=ast.Name(id="np")) if node.func.attr in _FUNCTIONS:
            return getattr(np, node.func.attr)(*arguments, **options)
        case ast.Attribute() if node.func.attr in _METHODS:
            return getattr(_value(node.func.value, arrays), node.func.attr)(*arguments, **options)
    raise CommandError(f"The reference calls `{ast.unparse(node.func)}`.", _WAY_OUT)
