"""Index expressions in C syntax, such as a[blockIdx.x * blockDim.x + threadIdx.x * 2], as affine forms.

Source   Hong and Kim, extended version of ISCA 2009, section 3.4.5, whose algorithms read such expressions.
Models   C's integer operators, casts to integer types, min and max, several subscripts. Names without a value are
         unknowns: a name that is added alone may have any alignment; a name that multiplies something is the length of
         a row and aligned. A clamp to a value of the whole warp is ignored.
Omits    Conditions, calls, loaded indices.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from warpbound.errors import CommandError
from warpbound.memory import affine
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import ALIGNED, Form
from warpbound.quick_dataclasses import dataclass

LONGEST = 400  # characters
_CAST = re.compile(r"\(\s*(?:const\s+)?(?:(?:unsigned|signed)\s*)?(?:int|long|long long|size_t|short|u?int\d+_t)?\s*\)")
_SUFFIX = re.compile(r"\b(0x[0-9a-fA-F]+|\d+)[uUlL]+\b")
_BUILT_IN = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_WAY_OUT = "Write it like a[blockIdx.x * blockDim.x + threadIdx.x * 2], with + - * / % << >> & | ^ ~, min and max."
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b, "&": lambda a, b: a & b, "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b, "/": lambda a, b: _truncated(a, b), "%": lambda a, b: a - b * _truncated(a, b),
    "min": np.minimum, "max": np.maximum,
}  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """A parsed access: the array's name and its subscripts."""

    text: str
    array: str
    subscripts: tuple[ast.expr, ...]

    def names(self) -> tuple[str, ...]:
        """Single names in the subscripts, in order: neither functions that are called nor CUDA's vectors."""
        functions = {id(node.func) for part in self.subscripts for node in ast.walk(part) if isinstance(node, ast.Call)}
        result = [node for part in self.subscripts for node in ast.walk(part) if isinstance(node, ast.Name)]
        own = [
            node.id
            for node in sorted(result, key=lambda node: node.col_offset)
            if id(node) not in functions and node.id not in (*_BUILT_IN, "warpSize")
        ]
        return tuple(dict.fromkeys(own))


def parse(text: str) -> Expression:
    """An access typed by a user. Raises CommandError where it is none."""
    if len(text) > LONGEST:
        raise CommandError(f"The expression has {len(text)} characters.", f"At most {LONGEST} are read.")
    plain = _SUFFIX.sub(r"\1", _CAST.sub("", text.strip().rstrip(";")))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's advice on what it reads as Python
            node: ast.expr = ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise CommandError(f"{text!r} is not an index expression.", _WAY_OUT) from None
    subscripts: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        subscripts.insert(0, node.slice)
        node = node.value
    if not subscripts:
        return Expression(text, "", (node,))
    if not isinstance(node, ast.Name):
        raise CommandError(f"{text!r} does not begin with the name of an array.", _WAY_OUT)
    return Expression(text, node.id, tuple(subscripts))


def index(expression: Expression, threads: Threads, values: Mapping[str, int], shape: tuple[int, ...] = ()) -> Form:
    """The element that every thread of a block reaches, counted from the array's first.

    values : numbers for names. shape : extents of the array; the first may be left out. Raises CommandError where
    the expression is not affine in its unknowns.
    """
    scope = _Scope(expression.text, threads, values)
    return _settled(scope.element(expression, shape))


def derivative(
    expression: Expression, threads: Threads, values: Mapping[str, int], shape: tuple[int, ...] = ()
) -> Form | None:
    """Change of the index from threadIdx.x to threadIdx.x + 1; None where threads differ in it."""
    here = _Scope(expression.text, threads, values).element(expression, shape)
    next_element = _Scope(expression.text, threads, values, ahead=1).element(expression, shape)
    change = affine.subtract(next_element, here)
    same = all(np.ndim(c) == 0 or bool(np.all(c == np.asarray(c).flat[0])) for c in change.terms.values())
    if not same:
        return None
    return Form({name: np.int64(np.asarray(c).flat[0]) for name, c in change.terms.items()})


def spelled(form: Form) -> str:
    """A form that is equal for all threads, in C notation."""
    parts = []
    for name, coefficient in sorted(form.terms.items(), key=lambda term: (-len(term[0]), term[0])):
        factors = [word.removeprefix(ALIGNED) for word in name]
        number = int(np.asarray(coefficient).flat[0])
        parts.append(" * ".join(factors if factors and number == 1 else [str(number), *factors]))
    return " + ".join(parts) or "0"


class _Scope:
    """Values of names, and operators on forms."""

    def __init__(self, text: str, threads: Threads, values: Mapping[str, int], ahead: int = 0) -> None:
        self.text, self.threads, self.values, self.ahead = text, threads, values, ahead

    def element(self, expression: Expression, shape: tuple[int, ...]) -> Form:
        subscripts = expression.subscripts
        rows = [affine.constant(extent) for extent in shape[-(len(subscripts) - 1) :]] if len(subscripts) > 1 else []
        if len(rows) < len(subscripts) - 1:
            rows = [affine.unknown(f"row{k}") for k in range(1, len(subscripts))]
        total = self.value(subscripts[0])
        for extent, subscript in zip(rows, subscripts[1:], strict=True):
            total = affine.add(self._product(total, extent), self.value(subscript))
        return total

    def value(self, node: ast.AST) -> Form:
        match node:
            case ast.Constant(value=int() as number) if not isinstance(number, bool) and abs(number) < 1 << 31:
                return affine.constant(number)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=ast.Name(id=vector), attr=axis) if vector in _BUILT_IN and axis in "xyz":
                return self._built_in(vector, axis.upper())
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return affine.scale(self.value(inner), -1)
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.value(inner)
            case ast.UnaryOp(op=ast.Invert(), operand=inner):
                return affine.subtract(affine.constant(-1), self.value(inner))
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATORS:
                return self._operation(_OPERATORS[type(operation)], self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=[one, other], keywords=[]):
                return self._clamped(name, self.value(one), self.value(other))
            case ast.Subscript():
                raise CommandError(
                    f"{self.text!r} takes an index from memory.",
                    "The contents of an array are not known here: give an index without a load.",
                )
        raise CommandError(f"{self.text!r} holds something that is not integer arithmetic.", _WAY_OUT)

    def _name(self, name: str) -> Form:
        if name == "warpSize":
            return affine.constant(32)
        return affine.constant(self.values[name]) if name in self.values else affine.unknown(name)

    def _built_in(self, vector: str, axis: str) -> Form:
        match vector:
            case "threadIdx":
                ahead = self.ahead if axis == "X" else 0
                return affine.add(self.threads.index(axis), affine.constant(ahead))
            case "blockDim":
                return affine.constant(self.threads.block["XYZ".index(axis)])
            case "gridDim" if axis in self.threads.grid:
                return affine.constant(self.threads.grid[axis])
        return affine.unknown(f"{vector}.{axis.lower()}")

    def _operation(self, sign: str, first: Form, second: Form) -> Form:
        match sign:
            case "+":
                return affine.add(first, second)
            case "-":
                return affine.subtract(first, second)
            case "*":
                return self._product(first, second)
        if first.exact and second.exact:
            return affine.constant(self._exact(sign, first, second))
        number = int(second.known) if second.exact and np.ndim(second.known) == 0 else 0
        result = self._by_number(sign, first, number) if number > 0 else None
        if result is None and first.uniform and second.uniform:
            return affine.unknown(f"({spelled(first)} {sign} {spelled(second)})")
        if result is None:
            raise CommandError(
                f"{self.text!r}: the result of {sign} depends on an unknown value.",
                "Give it, as in --where n=1024.",
            )
        return result

    def _by_number(self, sign: str, form: Form, number: int) -> Form | None:
        """A form and a positive number; indices are not negative, so C's division rounds down."""
        match sign:
            case "<<" if number < 31:
                return affine.scale(form, 1 << number)
            case ">>" if number < 31:
                return affine.divide(form, 1 << number)
            case "/":
                return affine.divide(form, number)
            case "%":
                return affine.remainder(form, number)
            case "&" if number & (number + 1) == 0:
                return affine.remainder(form, number + 1)
        return None

    def _exact(self, sign: str, first: Form, second: Form) -> Any:
        right = second.known
        if sign in ("/", "%") and not np.all(right):
            raise CommandError(f"{self.text!r} divides by zero.", "Check the divisor.")
        if sign in ("<<", ">>") and not np.all((right >= 0) & (right < 32)):
            raise CommandError(f"{self.text!r} shifts by less than 0 or more than 31 bits.", "Check the shift.")
        return _EXACT[sign](first.known, right)

    def _clamped(self, name: str, first: Form, second: Form) -> Form:
        if first.exact and second.exact:
            return affine.constant(_EXACT[name](first.known, second.known))
        if first.uniform != second.uniform:
            return second if first.uniform else first
        return self._operation("|", first, second)  # of two uniform values another one; else refused

    def _product(self, first: Form, second: Form) -> Form:
        product = affine.multiply(first, second)
        if product is None:
            raise CommandError(f"{self.text!r} multiplies out to too many terms.", "Give values with --where.")
        return product


def _settled(form: Form) -> Form:
    """Unknowns that multiply something are lengths of rows, and aligned."""
    terms: dict[affine.Monomial, affine.Words] = {}
    for name, coefficient in form.terms.items():
        free = [word for word in name if word.partition(".")[0] not in _BUILT_IN]
        row = bool(free) and (len(name) > 1 or np.ndim(coefficient) > 0)
        terms[tuple(sorted(ALIGNED + w if row and w in free else w for w in name))] = coefficient
    return Form(terms)


def _truncated(first: Any, second: Any) -> Any:
    """C's integer division."""
    quotient = np.abs(first) // np.abs(second)
    return np.where((first < 0) != (second < 0), -quotient, quotient)[()]
