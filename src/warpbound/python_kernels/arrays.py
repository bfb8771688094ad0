"""Arrays as Python holds them (NumPy, PyTorch, CuPy, text as after `--arg NAME=`) as arguments of a launch."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError
from warpbound.kernel_argument import DTYPES
from warpbound.kernel_launch import Argument, parse_argument
from warpbound.quick_dataclasses import dataclass

_LONG_NAMES = {"bfloat16": "bf16", "float8_e4m3fn": "u8", "float8_e5m2": "u8"} | {
    dtype.name: name for name, dtype in DTYPES.items() if name != "bf16"
}


@dataclass(frozen=True)
class Array:
    """An array in global memory. argument : its memory; word : its type of elements as the caller wrote it;
    strides : in elements; value : what the caller gave, so that the same array twice is the same memory."""

    argument: Argument
    word: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    value: Any

    @property
    def dtype(self) -> str:
        """The type of an element, as a launch names it."""
        return str(self.argument.dtype)

    @property
    def element_B(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].itemsize


def array(value: object, name: str) -> Array | None:
    """The array that `value` is: an Argument, text as `--arg` takes it, a NumPy array, or anything with `shape` and
    `dtype` (a PyTorch tensor on any device, "meta" too); None where it is not an array.

    Contents come from memory of the host only, and from types that NumPy has; the address of another array is never
    read. CommandError where the type of the elements is unknown.
    """
    if isinstance(value, str):
        value = parse_argument(f"{name}={value}")
    if isinstance(value, Argument):
        if value.kind != "array":
            return None
        return Array(replace(value, name=name), str(value.dtype), value.shape, in_c_order(value.shape), value)
    if not hasattr(value, "shape") or not hasattr(value, "dtype") or isinstance(value, np.generic):
        return None
    word = str(value.dtype).rpartition(".")[2]
    dtype = word if word in DTYPES else _LONG_NAMES.get(word)
    if dtype is None:
        dtypes = ", ".join(_LONG_NAMES)
        raise CommandError(f"argument '{name}' has elements of type {word}.", f"Known are {dtypes}.")
    shape = tuple(int(extent) for extent in value.shape)
    steps = strides(value)
    contents = host_array(value)
    if contents is not None:
        own = Argument(name, "array", dtype, contents.shape, bytes=contents.tobytes())
        return Array(own, word, shape, steps if contents.shape != shape else in_c_order(shape), value)
    return Array(Argument(name, "array", dtype, memory_shape(shape, steps)), word, shape, steps, value)


def is_of_parts(dtype: np.dtype[Any]) -> bool:
    """Whether elements are complex numbers or records, which a launch holds as bytes."""
    return dtype.kind == "c" or dtype.names is not None


def in_bytes(value: NDArray[Any], name: str) -> Array:
    """An array of complex numbers or records: the last axis are the bytes of an element."""
    if not value.flags.c_contiguous or not value.ndim:
        raise CommandError(f"argument '{name}' has elements of type {value.dtype} with gaps.", "Give a copy of it.")
    own = array(value.view(np.uint8).reshape(*value.shape, value.itemsize), name)
    assert own is not None
    return replace(own, value=value)


def number(value: object, name: str) -> bool | int | float:
    """A number that is passed by value. CommandError for anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, bool | int | float):
        hint = "Give a tensor, a NumPy array or a number."
        raise CommandError(f"argument '{name}' is of type {type(value).__name__}.", hint)
    return value


def host_array(value: Any) -> NDArray[Any] | None:
    """The elements in memory order, from the first to the last; None if the host has no contents."""
    if not isinstance(value, np.ndarray):
        if str(getattr(value, "device", "")) != "cpu" or str(value.dtype).rpartition(".")[2] not in np.sctypeDict:
            return None
        value = np.asarray(value.detach() if hasattr(value, "detach") else value)
    if value.flags.c_contiguous or min(value.strides) < 0:
        return np.ascontiguousarray(value)
    extents = memory_shape(value.shape, [stride // value.itemsize for stride in value.strides])
    return np.lib.stride_tricks.as_strided(value, extents, (value.itemsize,))


def strides(value: Any) -> tuple[int, ...]:
    """Elements from one index of an axis to the next; those of C order if the value has no strides."""
    if callable(getattr(value, "stride", None)):
        return tuple(int(stride) for stride in value.stride())
    if isinstance(value, np.ndarray) and value.size and min(value.strides, default=0) >= 0:
        return tuple(stride // value.itemsize for stride in value.strides)
    return in_c_order(value.shape)


def in_c_order(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of an array without gaps whose last index is the fastest."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def memory_shape(shape: tuple[int, ...], steps: Sequence[int]) -> tuple[int, ...]:
    """The shape of the memory that an array takes: its own, or one row where its strides leave gaps or swap axes."""
    if tuple(steps) == in_c_order(shape):
        return shape
    return (1 + sum((extent - 1) * stride for extent, stride in zip(shape, steps, strict=True)),)


def under_own_names(
    names: Sequence[str], arguments: Sequence[Argument], values: Sequence[object]
) -> tuple[Argument, ...]:
    """The arguments under the names of their parameters; an array that comes twice is an alias of the first.

    values : what the caller gave; text is never the same array twice.
    """
    first: dict[int, str] = {}
    result = []
    for name, own, value in zip(names, arguments, values, strict=True):
        shared = own.kind == "array" and not isinstance(value, str)
        earlier = first.setdefault(id(value), name) if shared else name
        result.append(replace(own, name=name) if earlier == name else Argument(name, "alias", alias=earlier))
    return tuple(result)
