"""Kernels of cuTile (cuda-tile): compiled by its own compiler for any board, analysed and executed without a GPU.

result = analyze(kernel, a, b, out, 1024, grid=4096, gpu="b200")   one entry as of warpbound.analyze
arrays = run(kernel, a, b, out, 1024, grid=4096, gpu="b200")       values, by parameter name

Source   cuda-tile 1.7.0, read off its wheel: `cuda.tile.compilation` and the calling convention cutile_python_v1 (an
         array is its address, then 32-bit extents and strides in elements); the cubin has block and shared memory.
Models   What `ct.launch` would let the compiler assume: addresses are multiples of 16 bytes, the last stride is 1
         where it is, extents are multiples of 16 and other strides of 16 bytes where they are, arrays overlap only
         where the same one comes twice.
         Tensor maps are those that the cubin's own host code makes (python_kernels.host_code).
Omits    Refused: lists, tuples and dataclasses as arguments.
"""

import inspect
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound import machine
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.errors import CommandError, InputError, MissingTool, install
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.python_kernels.arrays import Array, array, number
from warpbound.python_kernels.host_code import tensor_maps
from warpbound.python_kernels.launches import (
    Piece,
    Prepared,
    architecture,
    by_name,
    integer,
    need,
    ordered_values,
    pointer,
    prepared,
    python_program,
    refusal,
    three,
)
from warpbound.result.plain import Entry

__all__ = ["analyze", "run"]

Sizes = int | Sequence[int]
_ALIGNED_B = 16
_OLDEST = 80  # the oldest architecture that tileiras compiles for
_LARGEST = 1 << 31
_TILE_TYPES = {  # a type of elements as a launch or PyTorch writes it -> its name in cuda.tile
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool_", "i8": "int8",
    "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64",
    "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
}  # fmt: skip


def analyze(kernel: Any, *args: object, grid: Sizes, gpu: str | Path | Gpu, settings: Settings = DEFAULT) -> Entry:
    """The entry of `warpbound.analyze` for one launch of a function under `@ct.kernel`; lines are those of its file.

    args : in the kernel's order, its constants among them: NumPy arrays, PyTorch tensors (contents unless on a
    GPU), text as after `--arg NAME=` ("f16[4096,4096]:randn"), numbers. grid : as in `ct.launch`.
    Raises InputError where cuTile cannot compile it, CommandError where a value is wrong, MissingTool without cuTile.
    """
    return prepare(kernel, args, grid, gpu).analyze(gpu, settings)


def run(kernel: Any, *args: object, grid: Sizes, gpu: str | Path | Gpu) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name, as of `warpbound.run`; the rest as of `analyze`."""
    return prepare(kernel, args, grid, gpu).run()


def is_kernel(value: object) -> bool:
    """Whether it is a function under `@ct.kernel`."""
    return type(value).__module__.startswith("cuda.tile") and hasattr(value, "_pyfunc")


def of_launch(kernel: Any, board: Gpu, own: Launch, defines: Mapping[str, str]) -> Prepared:
    """A launch as `warpbound analyze` takes it: the grid is that of `ct.launch`, macros are the kernel's constants."""
    names = list(inspect.signature(kernel._pyfunc).parameters)
    return prepare(kernel, ordered_values(own, defines, names, kernel._pyfunc.__name__), own.grid, board)


def prepare(kernel: Any, args: Sequence[object], grid: Sizes, gpu: str | Path | Gpu) -> Prepared:
    """The machine code and the launch. Raises what `analyze` raises."""
    need("cuda.tile", "Kernels of cuTile need cuda-tile.", "cutile")
    if not is_kernel(kernel):
        raise CommandError("The kernel is not a function under @ct.kernel.", "Decorate it.")
    board, function = machine.gpu(gpu), kernel._pyfunc
    parameters = inspect.signature(function).parameters
    values = by_name(list(parameters), args, function.__name__)
    constants = {name for name, own in parameters.items() if "Constant" in str(own.annotation)}
    operands = {name: _operand(value, name) for name, value in values.items()}
    constraints = tuple(
        ("constant", value.item())
        if name in constants and isinstance(value, np.generic)
        else _constraint(value, operands)
        for name, value in operands.items()
    )
    cubin = _cubin(kernel, constraints, architecture(board, "cuTile"))
    program = python_program(cubin, function, board)
    pieces, places = [], iter(program.parameters)
    for name, value in operands.items():
        if name in constants:
            continue
        for piece in array_pieces(value, name) if isinstance(value, Array) else [_of_number(value, name)]:
            pieces.append(replace(piece, offset=next(places).offset))
    if any(each.traits.by_tensor_map for each in program.instructions):
        pieces += tensor_maps(cubin, pieces)
    x, y, z = three(grid, "grid")
    wide, high, deep = program.cluster or (1, 1, 1)
    launch = Launch(
        grid=(x * wide, y * high, z * deep), block=(program.max_threads or 128, 1, 1), cluster=program.cluster
    )
    return prepared(program, pieces, launch)


def _operand(value: object, name: str) -> Array | np.generic:
    own = array(value, name)
    if own is not None:
        return own
    plain = value if isinstance(value, np.generic) else number(value, name)
    if isinstance(plain, np.generic):
        return plain
    if isinstance(plain, float):
        return np.float32(plain)
    return np.bool_(plain) if isinstance(plain, bool) else np.int32(plain) if abs(plain) < _LARGEST else np.int64(plain)


def array_pieces(own: Array, name: str) -> Iterator[Piece]:
    """The parameters that an array becomes, in order."""
    yield pointer(own, 0)
    for axis, extent in enumerate(own.shape):
        yield integer(f"{name} shape {axis}", 0, 4, extent)
    for axis, step in enumerate(own.strides):
        yield integer(f"{name} strides {axis}", 0, 4, step)


def _of_number(value: np.generic, name: str) -> Piece:
    return Piece(0, value.dtype.itemsize, Argument(name, "bytes", bytes=value.tobytes()))


def _constraint(value: Array | np.generic, operands: dict[str, Array | np.generic]) -> tuple[Any, ...]:
    """What the compiler may assume about one argument, as hashable words; `_cubin` turns them into cuTile's
    constraints."""
    if not isinstance(value, Array):
        return ("scalar", value.dtype.name)
    others = [other for other in operands.values() if other is not value and isinstance(other, Array)]
    twice = not isinstance(value.value, str) and any(other.value is value.value for other in others)
    whole = max(1, _ALIGNED_B // value.element_B)
    return (
        "array", _TILE_TYPES.get(value.word) or _TILE_TYPES[value.dtype],
        f"memory of {id(value.value)}" if twice else "",
        tuple(1 if step == 1 else None for step in value.strides),
        tuple(whole if step % whole == 0 else 1 for step in value.strides),
        tuple(_ALIGNED_B if extent % _ALIGNED_B == 0 else 1 for extent in value.shape),
    )  # fmt: skip


@lru_cache(256)
def _cubin(kernel: Any, constraints: tuple[Any, ...], arch: int) -> bytes:
    """The cubin that cuTile's compiler makes of a kernel."""
    from cuda.tile import compilation

    if arch < _OLDEST:
        raise InputError(f"cuTile has no compiler for sm_{arch}.", "Name a board from Ampere on.")
    target = io.BytesIO()
    try:
        own = [_in_cutile(each) for each in constraints]
        signature = compilation.KernelSignature(own, compilation.CallingConvention.cutile_python_v1())
        compilation.export_kernel(kernel, [signature], target, gpu_code=f"sm_{arch}", output_format="cubin")
    except FileNotFoundError as missing:
        raise MissingTool("cuTile's compiler tileiras is not installed.", install("cutile")) from missing
    except Exception as problem:  # of the compiler: many types, none of them public
        raise refusal(problem, "cuTile", kernel._pyfunc.__name__, arch) from problem
    return target.getvalue()


def _in_cutile(own: tuple[Any, ...]) -> Any:
    import cuda.tile as ct
    from cuda.tile import compilation

    if own[0] == "constant":
        return compilation.ConstantConstraint(own[1])
    if own[0] == "scalar":
        return compilation.ScalarConstraint(getattr(ct, own[1]))
    _, word, memory, steps, step_multiples, extent_multiples = own
    return compilation.ArrayConstraint(
        getattr(ct, word), len(steps), index_dtype=ct.int32, stride_lower_bound_incl=0,
        alias_groups=(memory,) if memory else (), may_alias_internally=False, stride_constant=steps,
        stride_divisible_by=step_multiples, shape_divisible_by=extent_multiples, base_addr_divisible_by=_ALIGNED_B,
    )  # fmt: skip
