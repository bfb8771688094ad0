"""Values of host code: numbers, what stays unknown, structs, arrays, pointers, device memory, kernels."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeAlias

from warpbound.quick_dataclasses import dataclass

INTEGER_BITS = {  # of x86-64 Linux, signed ones negative
    "char": -8, "signed char": -8, "unsigned char": 8, "uchar": 8, "int8_t": -8, "uint8_t": 8,
    "short": -16, "short int": -16, "unsigned short": 16, "unsigned short int": 16, "ushort": 16,
    "int16_t": -16, "uint16_t": 16,
    "int": -32, "signed": -32, "signed int": -32, "unsigned": 32, "unsigned int": 32, "uint": 32, "int32_t": -32,
    "uint32_t": 32, "long": -64, "long int": -64, "unsigned long": 64, "unsigned long int": 64, "ulong": 64,
    "long long": -64, "long long int": -64, "unsigned long long": 64, "unsigned long long int": 64, "int64_t": -64,
    "uint64_t": 64, "size_t": 64, "ssize_t": -64, "ptrdiff_t": -64, "uintptr_t": 64, "std::size_t": 64,
    "std::int32_t": -32, "std::uint32_t": 32, "std::int64_t": -64, "std::uint64_t": 64, "cudaTextureObject_t": 64,
    "cudaSurfaceObject_t": 64,
}  # fmt: skip
FLOAT_BYTES = {"float": 4, "double": 8, "half": 2, "__half": 2, "__nv_bfloat16": 2, "nv_bfloat16": 2, "long double": 16}
_TEXT_LIMIT = 160  # characters of a remaining expression
_PRODUCT = re.compile(r"(\d+) \* (\w+|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))")
_MOST_BITS = 4096  # largest integer, in bits


@dataclass(frozen=True)
class Unknown:
    """A value that the host code does not fix. text : the expression that remains, "" where there is none."""

    text: str = ""


@dataclass(frozen=True)
class Function:
    """A kernel or a host function as a value; template : its template arguments as text."""

    name: str
    template: tuple[str, ...] = ()

    @property
    def spelled(self) -> str:
        return f"{self.name}<{', '.join(self.template)}>" if self.template else self.name


@dataclass(eq=False)
class Cell:
    """A variable: its value and its C type."""

    value: "Value"
    type: str = ""
    name: str = ""


@dataclass(eq=False)
class Struct:
    """A struct or class object."""

    type: str
    fields: dict[str, Cell]


@dataclass(eq=False)
class HostArray:
    """An array or heap block of the host; `count` elements where that is known."""

    type: str
    count: "Value"
    cells: dict[int, Cell] = field(default_factory=dict)
    bytes: "Value" = Unknown()


@dataclass(eq=False)
class DeviceArray:
    """Memory that a cudaMalloc of some kind gives: its size in bytes, the type of its elements, its fill."""

    bytes: "Value"
    type: str
    fill: str | None = None
    line: int = 0


@dataclass(frozen=True)
class Pointer:
    """A pointer to a variable, into an array of the host or into device memory; offset in elements of `type`."""

    target: Cell | HostArray | DeviceArray
    offset: "Value" = 0
    type: str = ""  # of what it points to


@dataclass(frozen=True)
class Closure:
    """A lambda expression."""

    node: Any
    scopes: tuple[dict[str, Cell], ...]


Number = int | float
Value: TypeAlias = int | float | str | Unknown | Function | Struct | HostArray | Pointer | Closure

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "<": operator.lt, ">": operator.gt, "<=": operator.le,
    ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift,
}  # fmt: skip
_INTEGER_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def shown(value: Any) -> str:
    """A value as part of an expression."""
    match value:
        case bool():
            return str(int(value))
        case int():
            return str(value)
        case float():
            return f"{value:.9g}" if "." in f"{value:.9g}" or "e" in f"{value:.9g}" else f"{value:.9g}.0"
        case Unknown():
            return value.text or "?"
        case Function():
            return value.spelled
        case Pointer():
            target = value.target
            return f"&{target.name}" if isinstance(target, Cell) and target.name else "pointer"
    return "?"


def remaining(text: str) -> Unknown:
    """The unknown value of an expression; no text where it would be too long to read."""
    return Unknown(text if len(text) <= _TEXT_LIMIT else "")


def in_parentheses(value: Any) -> str:
    text = shown(value)
    return text if re.fullmatch(r"[\w.>:?\[\]]+(?:\([^()]*\))?|\([^()]*\)", text.replace("->", ".")) else f"({text})"


def binary(operation: str, first: Any, second: Any) -> Any:
    """`left operation right` of two numbers; of anything else what remains of it."""
    if is_number(first) and is_number(second):
        result = _computed(operation, first, second)
        if result is not None:
            return result
    elif operation == "*" and 0 in (first, second) and not isinstance(first, Struct | Pointer):
        return 0
    elif operation in ("*", "/") and is_number(second) and second == 1 and isinstance(first, Unknown):
        return first
    elif operation == "*" and is_number(first) and first == 1 and isinstance(second, Unknown):
        return second
    elif operation == "/" and isinstance(first, Unknown) and (product := _PRODUCT.fullmatch(first.text)):
        if int(product[1]) != second:
            return remaining(f"({first.text}) / {in_parentheses(second)}")
        return Unknown(product[2])  # (4 * n) / 4
    return remaining(f"{in_parentheses(first)} {operation} {in_parentheses(second)}")


def _computed(operation: str, first: Number, second: Number) -> Number | None:
    """The result as C has it; None where C leaves it undefined or it is absurdly large."""
    are_integers = isinstance(first, int) and isinstance(second, int)
    if operation in _INTEGER_ONLY and not are_integers:
        return None
    if operation in ("/", "%"):
        return _divided(operation, first, second)
    if operation in ("<<", ">>") and not 0 <= second <= 64:
        return None
    try:
        result: Number = _ARITHMETIC[operation](first, second)
    except (KeyError, OverflowError):
        return None
    if isinstance(result, bool):
        return int(result)
    return None if isinstance(result, int) and result.bit_length() > _MOST_BITS else result


def _divided(operation: str, first: Number, second: Number) -> Number | None:
    if second == 0:
        return None
    if isinstance(first, int) and isinstance(second, int):
        quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
        return quotient if operation == "/" else first - second * quotient
    return first / second


def truth(value: Any) -> bool | None:
    """Whether a condition with that value holds; None where it is unknown."""
    if is_number(value):
        return bool(value)
    return None if isinstance(value, Unknown) else True


def dim3(x: Any = 1, y: Any = 1, z: Any = 1) -> Struct:
    sizes = zip("xyz", (x, y, z), strict=True)
    return Struct("dim3", {axis: Cell(converted(size, "unsigned int"), "unsigned int") for axis, size in sizes})


def converted(value: Any, kind: str) -> Any:
    """A value as a variable of C type `kind` holds it."""
    if kind == "dim3" and not isinstance(value, Struct):
        return dim3(value)
    if not is_number(value):
        return value
    if kind in INTEGER_BITS:
        bits = INTEGER_BITS[kind]
        if isinstance(value, float) and not math.isfinite(value):
            return Unknown()
        return _wrapped(int(value), bits)
    if kind in FLOAT_BYTES:
        return float(value) if not isinstance(value, int) or abs(value) < 1 << 1000 else Unknown()
    if kind == "bool":
        return int(bool(value))
    return value


def _wrapped(value: int, bits: int) -> int:
    size = abs(bits)
    value %= 1 << size
    return value - (1 << size) if bits < 0 and value >> (size - 1) else value


def number_of(text: str) -> int | float | None:
    """The value of a C number; None for anything else."""
    word = text.replace("'", "").strip()
    if word[:1] in ("-", "+"):
        number = number_of(word[1:])
        return -number if number is not None and word[0] == "-" else number
    whole = re.fullmatch(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)[uUlLzZ]*", word)
    if whole:
        digits = whole[1]
        if re.fullmatch(r"0\d+", digits):
            return int(digits, 8) if re.fullmatch("[0-7]+", digits) else None
        return int(digits, 0)
    decimal = re.fullmatch(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFlLhH]*", word)
    return float(decimal[1]) if decimal else None


def combined(operation: str, first: Any, second: Any) -> Any:
    """`left operation right`, pointers and strings included."""
    if isinstance(first, HostArray):
        first = Pointer(first, 0, first.type)
    if isinstance(second, Pointer) and operation == "+":
        first, second = second, first
    if isinstance(first, Pointer):
        if operation in ("+", "-") and not isinstance(second, Pointer):
            return Pointer(first.target, binary(operation, first.offset, second), first.type)
        if operation in ("==", "!=") and is_number(second):
            return int(operation == "!=")
        return Unknown()
    if isinstance(first, Struct | Function | Closure) and operation in ("==", "!=") and is_number(second):
        return int(operation == "!=")
    if isinstance(first, str) or isinstance(second, str):
        return Unknown()
    return binary(operation, first, second)


def cast(value: Any, kind: str) -> Any:
    """A value as C type `kind`: pointers to device memory and heap blocks take the type that they are cast to."""
    if isinstance(value, Pointer) and kind.endswith("*") and not isinstance(value.target, Cell):
        return Pointer(value.target, value.offset, kind[:-1]) if kind != "void*" else value
    return converted(value, kind)
