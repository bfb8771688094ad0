"""Kernels of Warp (warp-lang): compiled by Warp's own compiler for any board, analysed and executed without a GPU.

result = analyze(kernel, dim=n, inputs=[x, y, 2.0], gpu="h200")   one entry as of warpbound.analyze
arrays = run(kernel, dim=n, inputs=[x, y, 2.0], gpu="h200")       values, by parameter name

Source   warp-lang 1.19.0, read off its wheel: native/builtin.h and native/array.h (`launch_bounds_t`, `array_t`) give
         the layout of the parameters, `context.launch` the grid, `compile_aot_module` compiles without a driver.
Omits    Refused: structs with arrays in them, arrays of structs on a GPU, indexed arrays, Fabric arrays. Only forward
         kernels are answered.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound import machine
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.emulate.launch_memory import GLOBAL_SECTIONS
from warpbound.emulate.symbol_addresses import symbols_of
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.program import Parameter, Program
from warpbound.python_kernels.arrays import Array, array, in_bytes, is_of_parts
from warpbound.python_kernels.launches import (
    Piece,
    Prepared,
    architecture,
    by_name,
    bytes_of,
    need,
    ordered_values,
    pointer,
    prepared,
    python_program,
    refusal,
)
from warpbound.quick_dataclasses import dataclass
from warpbound.result.plain import Entry

__all__ = ["analyze", "run"]

Sizes = int | Sequence[int]
_MOST_AXES = 4
_LEAN_THREADS = 1 << 24  # of a row of blocks, where the kernel has no loop over the grid
_MOST_ROWS = 65535
_ERRORS = 40  # level of the module logging that Warp reports at meanwhile
_OPTIONS = {"enable_backward": False, "lineinfo": True}  # of the module while it compiles here


@dataclass(frozen=True)
class _Compiled:
    """The machine code of a kernel and what Warp's launcher knows of it. axes : those that `wp.tid()` gives."""

    cubin: bytes
    name: str
    shared_B: int
    axes: int
    loops: bool


def analyze(  # noqa: PLR0913  (a launch)
    kernel: Any,
    dim: Sizes,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    gpu: str | Path | Gpu,
    block_dim: int = 256,
    settings: Settings = DEFAULT,
) -> Entry:
    """The entry of `warpbound.analyze` for one launch of a function under `@wp.kernel`; lines are those of its file.

    dim, inputs, outputs, block_dim : as in `wp.launch`; for `wp.launch_tiled` put block_dim behind the others of `dim`.
    Arrays may be of Warp, NumPy or PyTorch (contents unless on a GPU), or text as after `--arg NAME=`.
    Raises InputError where Warp cannot compile it, CommandError where a value is wrong, MissingTool without Warp.
    """
    return prepare(kernel, dim, [*inputs, *outputs], gpu, block_dim).analyze(gpu, settings)


def run(  # noqa: PLR0913  (a launch)
    kernel: Any,
    dim: Sizes,
    inputs: Sequence[object] = (),
    outputs: Sequence[object] = (),
    *,
    gpu: str | Path | Gpu,
    block_dim: int = 256,
) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name, as of `warpbound.run`; the rest as of `analyze`."""
    return prepare(kernel, dim, [*inputs, *outputs], gpu, block_dim).run()


def is_kernel(value: object) -> bool:
    """Whether it is a function under `@wp.kernel`."""
    return type(value).__name__ == "Kernel" and type(value).__module__.split(".")[0] == "warp"


def of_launch(kernel: Any, board: Gpu, own: Launch, defines: Mapping[str, str]) -> Prepared:
    """A launch as `warpbound analyze` takes it: the grid is `dim` of `wp.launch`, the block its `block_dim`."""
    values = ordered_values(own, defines, [each.label for each in kernel.adj.args], kernel.key)
    return prepare(kernel, own.grid, values, board, own.block[0])


def prepare(kernel: Any, dim: Sizes, args: Sequence[object], gpu: str | Path | Gpu, block_dim: int = 256) -> Prepared:
    """The machine code and the launch. Raises what `analyze` raises."""
    need("warp", "Kernels of Warp need warp-lang.", "warp-lang")
    if not is_kernel(kernel):
        raise CommandError("The kernel is not a function under @wp.kernel.", "Decorate it.")
    board = machine.gpu(gpu)
    values = by_name([each.label for each in kernel.adj.args], args, kernel.key)
    operands = {each.label: _operand(each, values[each.label]) for each in kernel.adj.args}
    kernel = _overload(kernel, operands, values)
    kernel_code = _compiled(kernel, architecture(board, "Warp"), block_dim)
    program = _without_strangers(python_program(kernel_code.cubin, kernel.func, board, kernel_code.name))
    extents = tuple(int(each) for each in np.atleast_1d(np.asarray(dim, dtype=object)))
    bounds, *places = program.parameters
    pieces = [bytes_of("launch bounds", bounds.offset, launch_bounds(extents, kernel_code.axes))]
    for own, place in zip(kernel.adj.args, places, strict=False):
        pieces += _pieces(own, operands[own.label], values[own.label], place)
    blocks = -(-prod(extents) // block_dim)
    grid = (blocks, 1, 1) if kernel_code.loops else _rows(blocks, block_dim)
    ready = prepared(program, pieces, Launch(grid=grid, block=(block_dim, 1, 1), smem=kernel_code.shared_B))
    structs = {each.label: each.type.dtype.numpy_dtype() for each in kernel.adj.args if _of_structs(each.type)}
    return replace(ready, of_bytes={name: np.dtype(own) for name, own in structs.items()})


def _without_strangers(program: Program) -> Program:
    """The program without the ten thousand variables of Warp's headers whose address it does not use."""
    reached = {each.symbol for each in program.fixups}.union(*map(symbols_of, program.instructions))
    near = [
        each for each in program.symbols if each.section not in GLOBAL_SECTIONS or reached & {each.name, each.section}
    ]
    return replace(program, symbols=tuple(near))


def launch_bounds(extents: Sequence[int], axes: int) -> bytes:
    """`launch_bounds_t<axes>`: extents, threads, and how many threads share an index if the launch has more axes."""
    if not 1 <= len(extents) <= _MOST_AXES or min(extents) < 1:
        raise CommandError(f"dim {tuple(extents)} is not one to four sizes of 1 or more.", "Give it as wp.launch does.")
    padded = (*extents, *[1] * (axes - len(extents)))
    shape = struct.pack(f"<{axes}I", *padded[:axes])
    return shape + bytes(-len(shape) % 8) + struct.pack("<QQ", prod(padded), prod(padded[axes:]))


def array_pieces(own: Array, name: str, offset: int, inner: int) -> Iterator[Piece]:
    """The parts of an `array_t` at an offset. inner : axes of the array that are within one of Warp's elements."""
    axes = len(own.shape) - inner
    steps = [step * own.element_B for step in own.strides[:axes]]
    gap = [0] * (_MOST_AXES - axes)
    yield pointer(own, offset)
    numbers = struct.pack("<Q8iHH", 0, *own.shape[:axes], *gap, *steps, *gap, axes, 0)
    yield bytes_of(f"{name} shape", offset + 8, numbers)


def _pieces(own: Any, operand: Array | None, value: object, place: Parameter) -> Iterator[Piece]:
    """The parts of one parameter."""
    import warp

    name, kind = own.label, own.type
    if operand is None:
        packed = _packed(kind, value, name)
        yield bytes_of(name, place.offset, packed[: place.size].ljust(place.size, b"\0"))
        return
    if _of_structs(kind):
        yield from _array_of_structs(kind, operand, name, place.offset)
        return
    inner = len(getattr(kind.dtype, "_shape_", ()))
    axes, wanted_type = len(operand.shape) - inner, np.dtype(warp.dtype_to_numpy(_scalar_of(kind.dtype)))
    type_ = np.dtype(_NUMPY.get(operand.dtype, operand.dtype))
    if axes != kind.ndim or type_ != wanted_type:
        reason = (
            f"argument '{name}' has {max(axes, 0)} axes of {type_}; the kernel declares {kind.ndim} of {wanted_type}"
        )
        raise CommandError(f"{reason} ({_word(kind.dtype)}).", "Give the array that the kernel declares.")
    yield from array_pieces(operand, name, place.offset, inner)


def _of_structs(kind: Any) -> bool:
    """Whether a parameter is an array of structs."""
    import warp

    return isinstance(kind, warp.array) and hasattr(kind.dtype, "numpy_dtype")


def _array_of_structs(kind: Any, operand: Array, name: str, offset: int) -> Iterator[Piece]:
    """Its parts; the array holds the bytes of each element in its last axis."""
    import warp

    element, axes = np.dtype(kind.dtype.numpy_dtype()), len(operand.shape) - 1
    if any(isinstance(each.type, warp.array) for each in kind.dtype.vars.values()):
        raise InputError(f"argument '{name}' is an array of structs that hold arrays.", "Give the arrays themselves.")
    if axes != kind.ndim or operand.dtype != "u8" or operand.shape[-1] != element.itemsize:
        size = f"{kind.dtype.key}, of {element.itemsize} bytes"
        reason = f"argument '{name}' is not an array of {kind.ndim} axes of {size}."
        raise CommandError(reason, "Give one of Warp, or one of NumPy with the struct's numpy_dtype().")
    yield from array_pieces(operand, name, offset, 1)


_NUMPY = {"f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64", "i8": "int8", "u8": "uint8",
          "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
          "bool": "bool"}  # fmt: skip


def _packed(kind: Any, value: Any, name: str) -> bytes:
    """A number, vector, matrix or struct as the bytes of Warp's type."""
    import warp

    try:
        if hasattr(value, "__ctype__"):
            if any(isinstance(each.type, warp.array) for each in kind.vars.values()):
                raise InputError(f"argument '{name}' is a struct with arrays in it.", "Give the arrays by themselves.")
            return bytes(value.__ctype__())
        if hasattr(kind, "_shape_"):
            return bytes(kind(*np.ravel(np.asarray(value)).tolist()))
        return np.asarray(value, warp.dtype_to_numpy(kind)).tobytes()
    except (TypeError, ValueError, KeyError, RuntimeError) as problem:
        raise CommandError(
            f"argument '{name}' is no {_word(kind)}.", "Give a number, or what wp.launch takes."
        ) from problem


def _word(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))


def _scalar_of(dtype: Any) -> Any:
    return getattr(dtype, "_wp_scalar_type_", dtype)


def _operand(own: Any, value: object) -> Array | None:
    """The argument as an array; None where the kernel declares a value. CommandError where it is not an array."""
    import warp

    if not isinstance(own.type, warp.array):
        return None
    operand = _array(value, own.label)
    if operand is None:
        raise CommandError(f"argument '{own.label}' is not an array.", "Give an array of Warp or NumPy, or f32[4096].")
    return operand


def _array(value: Any, name: str) -> Array | None:
    """An array of Warp as an argument: with contents where the host has them."""
    if type(value).__module__.split(".")[0] != "warp" or not hasattr(value, "device"):
        records = isinstance(value, np.ndarray) and is_of_parts(value.dtype)
        return in_bytes(value, name) if records else array(value, name)
    if getattr(value.device, "is_cpu", False):
        contents = value.numpy()
        own = in_bytes(contents, name) if is_of_parts(contents.dtype) else array(contents, name)
        return replace(own, value=value) if own else None
    import warp

    if hasattr(value.dtype, "numpy_dtype"):
        raise InputError(f"argument '{name}' is an array of structs on a GPU.", "Give one of the CPU.")
    scalar = np.dtype(warp.dtype_to_numpy(_scalar_of(value.dtype))).name
    shape = (*value.shape, *getattr(value.dtype, "_shape_", ()))
    dtype = next(word for word, numpy_name in _NUMPY.items() if numpy_name == scalar)
    own = array(Argument(name, "array", dtype, shape), name)
    return replace(own, value=value) if own else None


def _overload(kernel: Any, operands: dict[str, Array | None], values: dict[str, object]) -> Any:
    """The kernel for these types, where it is generic."""
    import warp

    if not kernel.is_generic:
        return kernel
    kinds = []
    for name, own in operands.items():
        numpy_type = np.asarray(values[name]).dtype if own is None else np.dtype(_NUMPY[own.dtype])
        wide = {"int64": "int32", "float64": "float32"}  # Python's numbers, as Warp takes them
        word = wide.get(numpy_type.name, numpy_type.name) if own is None else numpy_type.name
        scalar = warp.dtype_from_numpy(np.dtype(word))
        kinds.append(scalar if own is None else warp.array(dtype=scalar, ndim=len(own.shape)))
    return kernel.add_overload(kinds)


def _compiled(kernel: Any, arch: int, block_dim: int) -> _Compiled:
    """The code that Warp's compiler makes of a kernel for an architecture, without the backward pass; cached by
    Warp."""
    import warp

    module = kernel.module
    before = dict(module.options)
    level, warp.config.log_level = warp.config.log_level, _ERRORS
    try:
        module.options |= _OPTIONS | {"block_dim": block_dim}
        module.mark_modified()
        (path,) = warp.compile_aot_module(module, arch=arch, use_ptx=False)
        name = f"{kernel.get_mangled_name()}_cuda_kernel_forward"
        meta = json.loads(next(path.parent.glob("*.meta")).read_text())
        return _Compiled(path.read_bytes(), name, meta[f"{name}_smem_bytes"], kernel.adj.kernel_dim, kernel.grid_stride)
    except Exception as problem:  # of the compiler: many types, none of them public
        raise refusal(problem, "Warp", kernel.key, arch) from problem
    finally:
        module.options.clear()
        module.options.update(before)
        module.mark_modified()
        warp.config.log_level = level


def _rows(blocks: int, block_dim: int) -> tuple[int, int, int]:
    """The grid of a kernel without a loop over it: rows of blocks."""
    x = min(blocks, _LEAN_THREADS // block_dim)
    y = min(-(-blocks // x), _MOST_ROWS)
    return x, y, -(-blocks // (x * y))
