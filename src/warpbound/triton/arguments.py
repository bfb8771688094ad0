"""Arguments of a Triton kernel: tensors and numbers as Triton's compiler and the launch take them."""

from warpbound.errors import CommandError
from warpbound.kernel_launch import Argument
from warpbound.python_kernels.arrays import array, number
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
    """`value` as an array, read by `python_kernels.arrays`; None if it is none.

    CommandError where the type of the elements is unknown.
    """
    own = array(value, name)
    return None if own is None else Tensor(_in_triton(own.word, name), own.argument)


def operand(value: object, name: str) -> object:
    """A value as Triton's compiler takes it: a Tensor, a number or None. CommandError for all else."""
    own = tensor(value, name)
    if own is not None:
        return own
    return None if value is None else number(value, name)


def argument(value: object, name: str, type_: str) -> Argument:
    """A Tensor or a number of Triton's type `type_` as the launch takes it."""
    if isinstance(value, Tensor):
        return value.argument
    dtype = _SCALARS.get(type_)
    number = value if isinstance(value, bool | int | float) else 0
    return Argument(name, "scalar", dtype=dtype, value=float(number) if dtype in ("f32", "f64") else number)


def _in_triton(word: str, name: str) -> str:
    if word not in _BY_NAME:
        names_of_types = ", ".join(names[0] for names in _TYPES)
        raise CommandError(f"argument '{name}' has elements of type {word}.", f"Known are {names_of_types}.")
    return _BY_NAME[word][1]
