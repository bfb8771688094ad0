"""Tensor descriptors that the host makes: their form for Triton's compiler, and the parameters of the kernel.

Source   triton 3.9, `triton.tools.tensor_descriptor` and the launcher of its NVIDIA backend, read off its wheel: from
         Hopper on a descriptor is a tensor map of 128 bytes by value, then its shape and strides; before, it is the
         pointer, shape, strides and two flags, then shape and strides once more.
Omits    Refused: im2col descriptors, elements of 4 bits, rounding to TF32 by the copy engine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from warpbound.emulate.tensor_maps import TYPES, TensorMap, encode
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Argument
from warpbound.quick_dataclasses import dataclass
from warpbound.triton.arguments import Tensor, tensor


@dataclass(frozen=True)
class Descriptor:
    """A tensor in global memory and the shape of a box of it. value : the array as the user gave it; strides : in
    elements, the last one 1; padding : "zero" or "nan", what is read outside the tensor."""

    value: Any
    base: Tensor
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block_shape: tuple[int, ...]
    padding: str = "zero"


def descriptor(
    array: Any, block_shape: Sequence[int], strides: Sequence[int] | None = None, padding: str = "zero"
) -> Descriptor:
    """A tensor descriptor of an array as `analyze` takes arrays: a PyTorch tensor, a NumPy array, "f16[64,64]:randn".

    block_shape : of a box. strides : in elements; those of C order where none are given. Raises CommandError.
    """
    base = tensor(array, "descriptor")
    if base is None:
        raise CommandError(
            "A tensor descriptor describes an array, and this is none.",
            "Give a tensor, a NumPy array or f16[4096,4096].",
        )
    shape = base.argument.shape
    steps = tuple(strides) if strides is not None else _in_c_order(shape)
    if not 1 <= len(shape) <= MOST_AXES or len(block_shape) != len(shape) or len(steps) != len(shape):
        reason = f"a descriptor of {len(shape)} axes has a box of {len(block_shape)} and strides of {len(steps)}."
        raise CommandError(reason, "Give one number for each of one to five axes.")
    if steps[-1] != 1 or any(step * element_B(base) % STRIDE_B for step in steps[:-1]):
        reason = f"the strides {steps} are not those of a tensor map."
        raise CommandError(reason, "The last one is 1, the others are multiples of 16 bytes.")
    if padding not in ("zero", "nan"):
        raise CommandError(f"padding {padding!r} is unknown.", "Give zero or nan.")
    return Descriptor(array, base, shape, steps, tuple(block_shape), padding)


MOST_AXES = 5
STRIDE_B = 16
_SIZES = {"fp64": 8, "i64": 8, "u64": 8, "fp32": 4, "i32": 4, "u32": 4, "i8": 1, "u8": 1, "fp8e4nv": 1, "fp8e5": 1}


def element_B(base: Tensor) -> int:
    """Bytes of an element."""
    return _SIZES.get(base.dtype, 2)


def of_triton(value: Any) -> Descriptor | None:
    """A `TensorDescriptor` of Triton as ours; None if it is none. Raises CommandError for a refused descriptor."""
    if type(value).__name__ != "TensorDescriptor" or not hasattr(value, "block_shape"):
        return None
    if getattr(value, "round_f32_to_tf32", False):
        raise CommandError(
            "Descriptors that round to TF32 while they copy are not supported.", "Leave round_f32_to_tf32 out."
        )
    base = tensor(value.base, "descriptor")
    if base is None:
        raise CommandError("A tensor descriptor describes an array, and this is none.", "Give it a tensor as its base.")
    shape, strides, box = (tuple(map(int, each)) for each in (value.shape, value.strides, value.block_shape))
    return Descriptor(value.base, base, shape, strides, box, value.padding)


class _Elements:
    """A type of elements as Triton asks for it."""

    is_floating_point = True

    def __init__(self, name: str, itemsize: int) -> None:
        self.name, self.itemsize = name, itemsize

    def __str__(self) -> str:
        return self.name


# Triton keeps the text of a type by the object's hash, for as long as the process runs: one object for each type.
_elements = cache(_Elements)


class _Base:
    """The array behind a descriptor, as the compiler sees it."""

    def __init__(self, base: Tensor) -> None:
        self.dtype = _elements(base.dtype, element_B(base))

    def data_ptr(self) -> int:
        return 0


def for_compiler(own: Descriptor) -> Any:
    """The descriptor as Triton's compiler takes it."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(_Base(own.base), list(own.shape), list(own.strides), list(own.block_shape), own.padding)


def parameters(own: Descriptor, name: str, meta: Mapping[str, Any] | None) -> Iterator[tuple[str, Argument, Any]]:
    """Name, argument and value of each parameter that a descriptor becomes; meta : of its map, by the compiler.

    Raises InputError where the map cannot be made.
    """
    array = own.base.argument
    sizes = [*_numbers(f"{name} shape", own.shape), *_numbers(f"{name} strides", own.strides)]
    if meta is None:
        flags = [_number(f"{name} padding", int(own.padding == "nan")), _number(f"{name} rounding", 0)]
        again = [*_numbers(f"{name} shape again", own.shape), *_numbers(f"{name} strides again", own.strides)]
        yield name, array, own.value
        yield from ((str(each.name), each, each.value) for each in (*sizes, *flags, *again))
        return
    yield name, replace(array, tensor_map=_map(own, meta)), own.value
    yield from ((str(each.name), each, each.value) for each in sizes)


def _map(own: Descriptor, meta: Mapping[str, Any]) -> bytes:
    if meta.get("fp4_padded") or meta.get("is_im2col"):
        raise InputError("Tensor descriptors of 4-bit elements or of im2col are not supported.", "")
    kind, bits = TYPES[int(meta["elem_type"])]
    size_B = int(meta["elem_size"])
    return encode(TensorMap(
        0, kind, bits,
        extents=own.shape[::-1], strides_B=tuple(size_B * step for step in own.strides[-2::-1]),
        box=tuple(int(size) for size in meta["block_size"])[::-1], steps=(1,) * len(own.shape),
        swizzle=int(meta["swizzle"]), fills_nan=own.padding == "nan",
    ))  # fmt: skip


def _numbers(name: str, values: Sequence[int]) -> list[Argument]:
    return [_number(f"{name} {axis}", value) for axis, value in enumerate(values)]


def _number(name: str, value: int) -> Argument:
    return Argument(name, "scalar", value=value)


def _in_c_order(shape: Sequence[int]) -> tuple[int, ...]:
    steps = [1]
    for extent in reversed(shape[1:]):
        steps.append(steps[-1] * extent)
    return tuple(reversed(steps))
