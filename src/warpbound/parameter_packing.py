"""An argument as the bytes of the parameter that a kernel declares, and whether its elements suit that parameter."""

import builtins
import re
from pathlib import Path

import numpy as np

from warpbound.errors import InputError
from warpbound.kernel_argument import DTYPES, FLOATS, Argument, Where, bfloat_bits, scalar_of

_DECLARED = {
    "float": "f32", "double": "f64", "__half": "f16", "half": "f16", "__nv_bfloat16": "bf16", "bool": "bool",
    "int": "i32", "unsigned": "u32", "unsigned int": "u32", "uint": "u32",
    "long long": "i64", "unsigned long long": "u64",
    "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "size_t": "u64",
}  # fmt: skip


def pack(argument: Argument, size_B: int, declared: str = "") -> builtins.bytes:
    """The scalar or struct as the `size_B` bytes of its parameter, little-endian.

    declared : the parameter's C type where known: then 2 is 2.0f to a float, 2.5 is refused by an int, and a vector
    (float4, __half2) has the number in every element.
    Without it and without a dtype, an integer takes the parameter's size and a float is the IEEE type of
    that size. InputError where it does not fit.
    """
    value = argument.value
    plain = " ".join(word for word in declared.split() if word != "const")
    vector = re.fullmatch(r"(\w+?)([234])", plain)
    if value is not None and argument.dtype is None and vector and vector[1] in _DECLARED:
        return int(vector[2]) * pack(argument, size_B // int(vector[2]), vector[1])
    dtype = argument.dtype or _DECLARED.get(plain)
    if value is not None and dtype is not None:
        value = scalar_of(value, dtype, Where(f"argument '{argument.name}'", InputError, Path()))
    elif isinstance(value, float):
        dtype = {2: "f16", 4: "f32"}.get(size_B, "f64")
    packed = argument.bytes or b""
    is_number = size_B in (1, 2, 4, 8, 16) or value == 0  # 0 is a struct of zeros
    if value is not None and dtype == "bf16":
        packed = bfloat_bits(np.array([value], np.float32)).tobytes()
    elif value is not None and dtype is not None:
        with np.errstate(over="ignore"):  # as in C, a number that is too large becomes inf
            packed = np.array(value).astype(DTYPES[dtype]).tobytes()
    elif value is not None and is_number and -(1 << 8 * size_B - 1) <= value < 1 << 8 * size_B:
        packed = (int(value) % (1 << 8 * size_B)).to_bytes(size_B, "little")
    if len(packed) != size_B:
        reason = f"argument '{argument.name}' does not fit its parameter of {size_B} bytes."
        struct = "Give a struct as bytes, or as a file with them: --arg NAME=@params.bin."
        raise InputError(reason, "Give it the dtype that the kernel declares." if is_number else struct)
    return packed


def declared_dtype(c_type: str) -> str | None:
    """The dtype of a scalar, or of the elements behind a pointer, of that C type; None for structs and vectors."""
    words = re.sub(r"\b(const|volatile|__restrict__|__restrict|restrict)\b|\*", " ", c_type)
    return _DECLARED.get(" ".join(words.split()))


def check_elements(argument: Argument, declared: str) -> None:
    """Raise InputError if an array's elements do not have the size of the type that its parameter points to.

    Integers may be narrower than declared, as packed ones are; pointers to vectors, structs and bytes accept any array.
    """
    base = re.sub(r"\b(const|volatile|__restrict__|__restrict|restrict)\b", " ", declared)
    pointee = _DECLARED.get(" ".join(base.removesuffix("]").rstrip(" [*").split()))
    if argument.kind == "array" and argument.is_rows and base.count("*") + base.count("[") == 1 and pointee is not None:
        reason = f"argument '{argument.name}' is an array of pointers; its parameter is declared `{declared.strip()}`."
        raise InputError(reason, f"Give an array of {pointee}, without the star.")
    if argument.kind != "array" or pointee is None or not re.search(r"[*\[]", base) or base.count("*") > 1:
        return
    type_name = str(argument.dtype)
    wide, size = DTYPES[type_name].itemsize, DTYPES[pointee].itemsize
    if wide > size or (wide < size and {type_name, pointee} <= {*FLOATS}):
        reason = (
            f"argument '{argument.name}' is an array of {type_name}; its parameter is declared `{declared.strip()}`."
        )
        raise InputError(reason, f"Give elements of {pointee}, or view the same bytes as such.")
