"""One argument of a kernel, from words of the command line, tables of a launch file or NumPy values.

An argument is exactly one of: a scalar, an array in global memory (with contents from a fill, a file or the caller, or
with unknown contents), an alias of another argument's memory, or the bytes of a struct passed by value. Random contents
come from PCG64 seeded by (seed, argument index), so that the same words mean the same data everywhere.
"""

import builtins
import re
from dataclasses import field
from pathlib import Path
from tokenize import TokenError
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.quick_dataclasses import dataclass
from warpbound.size_expressions import parts
from warpbound.table_decoding import Form, TableFault, decoded, suggestion
from warpbound.texture_sampling import Sampling, TextureKeys, sampling_of

Dtype = Literal["f16", "bf16", "f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"]
Fill = Literal["zeros", "ones", "iota", "rand", "randn"]
Scalar = bool | int | float
Kind = Literal["scalar", "array", "alias", "bytes"]

DTYPES: dict[str, np.dtype[Any]] = {  # bf16 has no NumPy type: its 16 bits are held as uint16
    "f16": np.dtype("<f2"), "bf16": np.dtype("<u2"), "f32": np.dtype("<f4"), "f64": np.dtype("<f8"),
    "i8": np.dtype("i1"), "u8": np.dtype("u1"), "i16": np.dtype("<i2"), "u16": np.dtype("<u2"),
    "i32": np.dtype("<i4"), "u32": np.dtype("<u4"), "i64": np.dtype("<i8"), "u64": np.dtype("<u8"),
    "bool": np.dtype("?"),
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
_NUMPY_NAMES = {"bfloat16": "bf16"} | {dtype.name: name for name, dtype in DTYPES.items() if name != "bf16"}
_WHOLE = re.compile(r"[0-9]{1,18}")
_ARRAY = re.compile(  # type, stars, sizes, fill, below, box, swizzle
    r"([A-Za-z0-9_]+)(\*?)\[([^\[\]]+)\](?::(\w+)(?:<([^@]+))?)?(?:@([0-9]{1,3}(?:x[0-9]{1,3})*)(?:/([0-9]{1,3}))?)?"
)
_BEGINNINGS = (b"\x93NUMPY", b"PK")  # of what numpy.save and numpy.savez write
UNREADABLE = (OSError, ValueError, EOFError, SyntaxError, TokenError, MemoryError)  # of numpy.load


@dataclass(frozen=True)
class Argument:
    """One kernel argument or one `__constant__` or `__device__` symbol."""

    name: str | int  # the parameter's name, or its position
    kind: Kind
    dtype: str | None = None  # of an array or a scalar; None, for a scalar, means "as the parameter is declared"
    shape: tuple[int, ...] = ()  # of an array, C order
    fill: str | None = None
    seed: int = 0
    file: Path | None = None  # an array's .npy, or a struct's bytes (already read)
    alias: str | int | None = None  # name or position of the argument whose memory this is
    offset: int = 0  # [B] from the start of the aliased memory
    value: Scalar | None = None
    bytes: builtins.bytes | None = field(default=None, repr=False)  # a struct; an array given in Python
    sizes: tuple[str, ...] = ()  # the shape as expressions of other arguments, where it names any
    below: int | None = None  # random integers are less than this
    limit: str = ""  # `below` as an expression of other arguments, where it names any
    tensor_map: builtins.bytes | None = field(default=None, repr=False)  # of an array or alias: this map is passed by
    # value, with the address filled in (`emulate.tensor_maps`)
    texture: Sampling | None = None  # how a kernel reads an array that its parameter takes as a texture object
    is_rows: bool = False  # the kernel gets an array of pointers to the rows of this one
    box: tuple[int, ...] = ()  # the kernel gets a tensor map of boxes of this shape, C order, instead of a pointer
    swizzle: int = 0  # [B] of that map: 0, 32, 64 or 128

    @property
    def size_B(self) -> int:
        """Bytes of an array or a struct; 0 where only the parameter's declaration tells."""
        if self.kind == "array":
            return int(np.prod(self.shape, dtype=object)) * DTYPES[str(self.dtype)].itemsize
        return len(self.bytes or b"")


def parse_argument(text: str) -> Argument:
    """The argument of `--arg`: n=16777216, a=2.0, x=f32[4096,4096], x=f32[1000]:iota, w=@weights.npy, 0=...

    Sizes may name other arguments: x=f32[n,2*n], i=i32[n]:rand<n. x=f32*[16,n] is an array of 16 pointers to rows,
    x=f16[n,n]:randn@128x64/128 a tensor map of boxes of 128 x 64 with a swizzle of 128 bytes.

    CommandError where malformed, InputError where its file cannot be read.
    """
    key, equals, word = text.partition("=")
    where = Where(f"argument '{text}'", CommandError, Path())
    if not equals or not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$:.]*(?:\[\d+\][A-Za-z0-9_.]*)*|[0-9]{1,4}", key):
        raise where.refusal("", "is not of the form NAME=VALUE.", "Write x=2.0, or 0=2.0 by position.")
    name = int(key) if key.isdigit() else key
    if word.startswith("@"):
        return argument_of(Keys(file=word[1:]), name, where)
    array = _ARRAY.fullmatch(word)
    if array:
        sizes = [int(size) if _WHOLE.fullmatch(size) else size for size in parts(array[3])]
        below = array[5] if array[5] is None or not _WHOLE.fullmatch(array[5]) else int(array[5])
        table = {"dtype": array[1], "shape": sizes, "fill": array[4], "below": below, "rows": bool(array[2]) or None}
        if array[6]:
            table |= {"box": [int(size) for size in array[6].split("x")], "swizzle": int(array[7] or 0)}
        return argument_of(converted(table, Keys, where), name, where)
    return argument_of(Keys(value=_number(word, where)), name, where)


def from_value(name: str | int, value: object) -> Argument:
    """The argument of a Python value: array, scalar, bytes, or text as after `--arg NAME=`.

    A single record of a structured type is a struct by value.

    An array is copied: later changes of it do not change the launch.
    """
    where = Where(f"argument '{name}'", CommandError, Path())
    if isinstance(value, str):
        return parse_argument(f"{name}={value}")
    if isinstance(value, builtins.bytes):
        return Argument(name, "bytes", bytes=value)
    if isinstance(value, bool | int | float):
        return Argument(name, "scalar", value=scalar_of(value, None, where))
    if not isinstance(value, np.ndarray | np.generic):
        hint = "Give a NumPy array, a number, a record, bytes or text."
        raise where.refusal("", f"is of type {type(value).__name__}.", hint)
    array = np.asarray(value)
    if array.dtype.names and array.ndim == 0:
        return Argument(name, "bytes", bytes=array.tobytes())
    dtype = _dtype_name(array, where)
    if array.ndim == 0 and dtype != "bf16":  # an i64 or f64 is what NumPy counts and computes with: like int and float
        return Argument(name, "scalar", dtype=None if dtype in ("i64", "f64") else dtype, value=array.item())
    raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return Argument(name, "array", dtype, array.shape, bytes=raw)


# --- keys and words -> Argument ---


_Extent = Annotated[int, msgspec.Meta(ge=1, le=2**40)]
_BoxExtent = Annotated[int, msgspec.Meta(ge=1, le=256)]
_Expression = Annotated[str, msgspec.Meta(min_length=1, pattern="[A-Za-z_]")]
_Shape = Annotated[list[_Extent | _Expression], msgspec.Meta(min_length=1, max_length=32)]
_Below = Annotated[int, msgspec.Meta(ge=1, le=2**32)]
_NotNegative = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Keys(msgspec.Struct, forbid_unknown_fields=True):
    """One [[args]] or [[constants]] table."""

    name: Annotated[
        Annotated[str, msgspec.Meta(min_length=1)] | None,
        msgspec.Meta(description="The kernel's parameter, or the symbol"),
    ] = None
    dtype: Dtype | None = None
    shape: Annotated[
        _Shape | None,
        msgspec.Meta(description="Extents of an array in global memory, C order; expressions may name other arguments"),
    ] = None
    rows: Annotated[
        bool | None, msgspec.Meta(description="True: the kernel gets an array of pointers to the rows of the array")
    ] = None
    fill: Annotated[
        Fill | None,
        msgspec.Meta(
            description="rand: uniform in [0, 1), of integers over the whole type; randn: standard normal; "
            "absent: contents unknown"
        ),
    ] = None
    below: Annotated[
        _Below | _Expression | None, msgspec.Meta(description="Random integers are 0 to this, without it")
    ] = None
    seed: Annotated[_NotNegative | None, msgspec.Meta(description="With the argument's position it seeds PCG64")] = None
    file: Annotated[str | None, msgspec.Meta(description="Path from the launch file's folder")] = None
    alias: Annotated[str | _NotNegative | None, msgspec.Meta(description="Name or position of an array argument")] = (
        None
    )
    offset: Annotated[_NotNegative | None, msgspec.Meta(description="Bytes from its start")] = None
    value: Scalar | None = None
    bytes: Annotated[str | None, msgspec.Meta(description="Hexadecimal, two digits per byte")] = None
    texture: Annotated[
        TextureKeys | None,
        msgspec.Meta(description="How the kernel reads the array, which it takes as a texture object"),
    ] = None
    box: Annotated[
        Annotated[list[_BoxExtent], msgspec.Meta(min_length=1, max_length=5)] | None,
        msgspec.Meta(description="The kernel gets a tensor map of boxes of this shape, C order, instead of a pointer"),
    ] = None
    swizzle: Annotated[
        Literal[0, 32, 64, 128] | None, msgspec.Meta(description="Bytes over which that map swizzles; none without it")
    ] = None


@dataclass(frozen=True)
class Where:
    """The place that an error names, and the folder for relative paths of files."""

    text: str
    error: type[WarpboundError]
    folder: Path

    def refusal(self, key: str, reason: str, hint: str) -> WarpboundError:
        return self.error(f"{self.text}{', ' * bool(key)}{key} {reason}", hint)


def converted(table: object, form: type[Form], where: Where) -> Form:
    """The table as a msgspec type; every error names the key and, for a misspelt one, a similar name."""
    try:
        return decoded(table, form)
    except TableFault as fault:
        raise _refusal(fault, where) from None


def _refusal(fault: TableFault, where: Where) -> WarpboundError:
    word = fault.word
    match fault.kind:
        case "unknown key":
            return where.refusal(fault.key, f"has no key '{word}'.", suggestion(word, fault.known))
        case "unknown word":
            return where.refusal(fault.key, f"'{word}' is not known.", suggestion(word, fault.known))
        case "missing key":
            return where.refusal(word, "is missing.", f"Add {word} = VALUE.")
    names = re.findall(r"[a-z_]+", fault.key)
    hint = _FORMS.get(names[-1] if names else "", "Change its value.")
    return where.refusal(fault.key, f"is wrong: {fault.reason.replace(' | null', '')}.", hint)


_FORMS = {  # key of a launch file -> how it is written
    "grid": "Write grid = 128 or grid = [16, 16].",
    "block": "Write block = 256 or block = [16, 16].",
    "cluster": "Write cluster = 2 or cluster = [2, 1].",
    "smem": "Write the bytes: smem = 4096.",
    "carveout": "Write the KiB: carveout = 100.",
    "defines": "Write a table [defines] with lines NAME = VALUE.",
    "compile": "Write a table [compile] with include = [...] or options = [...].",
    "args": 'Write a table [[args]] for each parameter, with name = "x", dtype = "f32", shape = [1024], or value = 4.',
    "constants": 'Write a table [[constants]] for each symbol, with name = "SCALE" and value = 2.0.',
    "shape": "Write shape = [1024] or shape = [64, 64].",
    "value": "Write a number: value = 4096.",
    "below": "Write a whole number: below = 100.",
}

# Key that gives the contents -> the other keys that go with it.
_WAYS = {
    "value": {"dtype"},
    "fill": {"dtype", "shape", "seed", "below", "rows", "texture", "box", "swizzle"},
    "file": {"dtype", "shape", "rows", "texture", "box", "swizzle"},
    "alias": {"offset", "texture"},
    "bytes": set[str](),
    "shape": {"dtype", "rows", "texture", "box", "swizzle"},  # an array whose contents are unknown
}
_WAY_OUT = "Give value = ..., or dtype, shape and fill, or file, alias or bytes."


def argument_of(keys: Keys, name: str | int, where: Where) -> Argument:
    """The argument of a table; the caller's kind of error if the table gives no contents or several."""
    way = _way(keys, where)
    if way == "value":
        return Argument(name, "scalar", dtype=keys.dtype, value=scalar_of(keys.value, keys.dtype, where))
    if way == "alias":
        return Argument(
            name, "alias", alias=keys.alias, offset=keys.offset or 0, texture=sampling_of(keys.texture)
        )  # fmt: skip
    if way == "bytes":
        if not re.fullmatch("(?:[0-9a-fA-F]{2} ?)+", str(keys.bytes)):
            raise where.refusal("bytes", f"'{keys.bytes}' is not hexadecimal.", "Write two digits per byte.")
        return Argument(name, "bytes", bytes=builtins.bytes.fromhex(str(keys.bytes)))
    if way == "file":
        return _from_file(keys, name, where)
    if (keys.fill == "randn" and keys.dtype not in FLOATS) or (keys.fill == "iota" and keys.dtype == "bool"):
        reason = f"{keys.fill} is not defined for {keys.dtype}."
        raise where.refusal("fill", reason, "Take rand, zeros or ones.")
    if keys.below is not None and (keys.fill != "rand" or keys.dtype in (*FLOATS, "bool")):
        raise where.refusal("below", "goes with random integers.", 'Add fill = "rand" and an integer dtype.')
    shape = keys.shape or []
    if keys.rows and len(shape) < 2:
        raise where.refusal("shape", "has no rows.", "Give the number of pointers first, then the size of each row.")
    open_sizes = any(isinstance(size, str) for size in shape)
    return Argument(
        name, "array", keys.dtype, () if open_sizes else tuple(int(size) for size in shape),
        sizes=tuple(str(size) for size in shape) if open_sizes else (), is_rows=bool(keys.rows), fill=keys.fill,
        below=keys.below if isinstance(keys.below, int) else None,
        limit=keys.below if isinstance(keys.below, str) else "", seed=keys.seed or 0,
        texture=sampling_of(keys.texture), box=_box(keys, len(keys.shape or ()), where), swizzle=keys.swizzle or 0,
    )  # fmt: skip


def _box(keys: Keys, axes: int, where: Where) -> tuple[int, ...]:
    """The shape of a tensor map's boxes; empty without one. axes : of the array."""
    box = tuple(keys.box or ())
    if keys.swizzle and not box:
        raise where.refusal("swizzle", "goes with a box.", "Add box = [128, 64].")
    if box and (len(box) != axes or keys.rows):
        raise where.refusal("box", f"{list(box)} has not the axes of the array.", "Give a size for each axis.")
    return box


def _way(keys: Keys, where: Where) -> str:
    """The one key of _WAYS that gives the contents."""
    present = {key for key in Keys.__struct_fields__ if key != "name" and getattr(keys, key) is not None}
    ways = [way for way in _WAYS if way in present and way != "shape"] or ["shape"]
    if len(ways) > 1:
        raise where.refusal("", f"gives its contents twice, by {' and by '.join(ways)}.", "Keep one of them.")
    way = ways[0]
    if way not in present:
        raise where.refusal("", "has neither a value nor a shape.", _WAY_OUT)
    for key in sorted(present - _WAYS[way] - {way}):
        raise where.refusal(key, f"does not go with {way}.", "Remove one of the two.")
    missing = {"dtype", "shape"} - present if way in ("fill", "shape") else set()
    if missing:
        key = min(missing)
        raise where.refusal("", f"is an array without {key}.", f"Add {key}.")
    return way


def _from_file(keys: Keys, name: str | int, where: Where) -> Argument:
    """An array's .npy, its type and shape read now; or a struct's bytes."""
    path = where.folder / str(keys.file)
    if not path.is_file():
        raise InputError(f"{where.text}, file '{path}' does not exist.", "Check its path.")
    if path.suffix != ".npy" and (keys.dtype or keys.shape):
        raise where.refusal("file", f"'{keys.file}' is not a .npy file.", "Save the array with numpy.save.")
    try:
        if path.suffix != ".npy":
            return Argument(name, "bytes", file=path, bytes=path.read_bytes())
        array = array_file(path)
    except UNREADABLE as problem:
        reason = f"{where.text}, file '{path}' cannot be read: {str(problem).rstrip('.')}."
        raise InputError(reason, "Check its path and format.") from problem
    dtype = _dtype_name(array, where)
    dtype = "bf16" if (dtype, keys.dtype) == ("u16", "bf16") else dtype
    if keys.dtype not in (None, dtype) or keys.shape not in (None, list(array.shape)):
        reason = f"'{keys.file}' holds {dtype}{list(array.shape)}, not the type or shape given here."
        raise where.refusal("file", reason, "Remove dtype and shape: the file has both.")
    return Argument(
        name, "array", dtype, array.shape, is_rows=bool(keys.rows), file=path, texture=sampling_of(keys.texture),
        box=_box(keys, array.ndim, where), swizzle=keys.swizzle or 0,
    )  # fmt: skip


def array_file(path: Path) -> NDArray[Any]:
    """The array in an .npy file, mapped into memory. Raises one of UNREADABLE."""
    with path.open("rb") as file:
        if not file.read(6).startswith(_BEGINNINGS):
            raise ValueError("it is not an array that numpy.save wrote")
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("it is an archive of arrays")
    return array


def _dtype_name(array: NDArray[Any], where: Where) -> str:
    if array.dtype.name not in _NUMPY_NAMES or not array.size:
        reason = f"is an array of {array.dtype}{list(array.shape)}, which no kernel takes."
        raise where.refusal("", reason, f"Give at least one element of {', '.join(DTYPES)}.")
    return _NUMPY_NAMES[array.dtype.name]


def scalar_of(value: Scalar | None, dtype: str | None, where: Where) -> Scalar:
    """`value` as `dtype` holds it; None represents any type of up to 64 bits."""
    if value is None or (dtype is not None and isinstance(value, bool) != (dtype == "bool")):
        hint = "A bool is true or false, anything else a number."
        raise where.refusal("value", f"{value} is no {dtype}.", hint)
    if isinstance(value, float) and dtype is not None and dtype not in FLOATS:
        raise where.refusal("value", f"{value} is not an integer, as {dtype} needs.", "Write a whole number.")
    low, high = (-(2**63), 2**64 - 1)
    if dtype is not None and dtype != "bool" and dtype not in FLOATS:
        low, high = np.iinfo(DTYPES[dtype]).min, np.iinfo(DTYPES[dtype]).max
    if not isinstance(value, float) and not low <= value <= high:
        reason = f"{value} does not fit {dtype or '64 bits'}."
        raise where.refusal("value", reason, f"It holds {low} to {high}.")
    return float(value) if dtype in FLOATS else value


def _number(word: str, where: Where) -> Scalar:
    if word in ("true", "false"):
        return word == "true"
    if re.fullmatch(r"[+-]?(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})", word):
        number = int(word, 16 if "x" in word.lower() else 10)
        return scalar_of(number, None, where)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?f?|[+-]?(inf|nan)", word):
        return float(word.rstrip("f") if word[-3:] != "inf" else word)
    hint = "Write a number, f32[4096,4096], f32[1000]:iota or @weights.npy."
    raise where.refusal("", "has no valid value.", hint)


def bfloat_bits(numbers: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The upper 16 bits of each float, rounded to nearest even; a NaN stays one."""
    bits = numbers.view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, rounded).astype(np.uint16)
