"""Arguments of a Triton kernel: tensors and numbers as Triton's compiler and the launch take them."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError
from warpbound.kernel_launch import Argument, parse_argument
from warpbound.quick_dataclasses import dataclass

# Types of elements, as PyTorch, NumPy or `--arg` write them -> (in a launch, in Triton). To a launch an 8-bit float is
# a byte.
_TYPES = {
    ("float16", "f16"): ("f16", "fp16"),
    ("bfloat16", "bf16"): ("bf16", "bf16"),
    ("float32", "f32"): ("f32", "fp32"),
    ("float64", "f64"): ("f64", "fp64"),
    ("bool",): ("bool", "u1"),
    ("float8_e4m3fn",): ("u8", "fp8e4nv"),
    ("float8_e5m2",): ("u8", "fp8e5"),
    ("int8", "i8"): ("i8", "i8"),
    ("uint8", "u8"): ("u8", "u8"),
    ("int16", "i16"): ("i16", "i16"),
    ("uint16", "u16"): ("u16", "u16"),
    ("int32", "i32"): ("i32", "i32"),
    ("uint32", "u32"): ("u32", "u32"),
    ("int64", "i64"): ("i64", "i64"),
    ("uint64", "u64"): ("u64", "u64"),
}
_BY_NAME = {name: types for names, types in _TYPES.items() for name in names}
_SCALARS = {in_triton: in_launch for in_launch, in_triton in _TYPES.values() if not in_triton.startswith("fp8")}


@dataclass(frozen=True)
class Tensor:
    """An array in global memory as Triton's compiler sees it: a type, and an address that is a multiple of 16."""

    dtype: str  # Triton's name
    argument: Argument  # as the launch takes it

    def data_ptr(self) -> int:
        """The address; arrays of a launch begin at multiples of 256."""
        return 0

    def ptr_range(self) -> int:
        """Bytes from the address to the end, as far as the compiler may count on it: 32 bits reach all."""
        return 0


def tensor(value: object, name: str) -> Tensor | None:
    """The array that `value` is: an Argument, text as `--arg` takes it, a NumPy array, or anything with `shape` and
    `dtype` (a PyTorch tensor on any device, "meta" too); None where it is no array.

    Contents come from memory of the host only, and from types that NumPy has; the address of another array is never
    read. CommandError where the type of the elements is unknown.
    """
    if isinstance(value, Argument):
        own = replace(value, name=name)
        return Tensor(_types(own.dtype or "", name)[1], own) if own.kind == "array" else None
    if isinstance(value, str):
        parsed = parse_argument(f"{name}={value}")
        return Tensor(_types(parsed.dtype or "", name)[1], parsed) if parsed.kind == "array" else None
    if not hasattr(value, "shape") or not hasattr(value, "dtype") or isinstance(value, np.generic):
        return None
    in_launch, in_triton = _types(str(value.dtype).rpartition(".")[2], name)
    array = _host_array(value)
    if array is not None:
        return Tensor(in_triton, Argument(name, "array", in_launch, array.shape, bytes=array.tobytes()))
    extents = _extents(tuple(int(extent) for extent in value.shape), _strides(value))
    return Tensor(in_triton, Argument(name, "array", in_launch, extents))


def operand(value: object, name: str) -> object:
    """A value as Triton's compiler takes it: a Tensor, a number or None. CommandError for all else."""
    array = tensor(value, name)
    if array is not None:
        return array
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, bool | int | float | None):
        hint = "Give a tensor, a NumPy array or a number."
        raise CommandError(f"argument '{name}' is of type {type(value).__name__}.", hint)
    return value


def argument(value: object, name: str, type_: str) -> Argument:
    """A Tensor or a number of Triton's type `type_` as the launch takes it."""
    if isinstance(value, Tensor):
        return value.argument
    dtype = _SCALARS.get(type_)
    number = value if isinstance(value, bool | int | float) else 0
    return Argument(name, "scalar", dtype=dtype, value=float(number) if dtype in ("f32", "f64") else number)


def launch_arguments(names: Sequence[str], arguments: Sequence[Argument], values: Sequence[object]) -> list[Argument]:
    """The arguments under the names of their parameters; a tensor that comes twice is an alias of the first."""
    first: dict[int, str] = {}
    bound = []
    for name, own, value in zip(names, arguments, values, strict=True):
        shared = own.kind == "array" and not isinstance(value, str)
        earlier = first.setdefault(id(value), name) if shared else name
        bound.append(replace(own, name=name) if earlier == name else Argument(name, "alias", alias=earlier))
    return bound


def _types(word: str, name: str) -> tuple[str, str]:
    if word not in _BY_NAME:
        known = ", ".join(names[0] for names in _TYPES)
        raise CommandError(f"argument '{name}' has elements of type {word}.", f"Known are {known}.")
    return _BY_NAME[word]


def _host_array(value: Any) -> NDArray[Any] | None:
    """The elements as they lie in memory, from the first to the last; None where the host has no contents."""
    if not isinstance(value, np.ndarray):
        if str(getattr(value, "device", "")) != "cpu" or str(value.dtype).rpartition(".")[2] not in np.sctypeDict:
            return None
        value = np.asarray(value.detach() if hasattr(value, "detach") else value)
    if value.flags.c_contiguous or min(value.strides) < 0:
        return np.ascontiguousarray(value)
    extents = _extents(value.shape, [stride // value.itemsize for stride in value.strides])
    return np.lib.stride_tricks.as_strided(value, extents, (value.itemsize,))


def _strides(value: Any) -> list[int]:
    """Elements from one index of an axis to the next; those of C order where the value does not tell."""
    if callable(getattr(value, "stride", None)):
        return [int(stride) for stride in value.stride()]
    return _in_c_order(value.shape)


def _in_c_order(shape: Sequence[int]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _extents(shape: tuple[int, ...], strides: Sequence[int]) -> tuple[int, ...]:
    """The shape of the memory that an array takes: its own, or one row where its strides leave gaps or swap axes."""
    if list(strides) == _in_c_order(shape):
        return shape
    return (1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)),)
