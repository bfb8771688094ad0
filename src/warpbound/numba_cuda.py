"""Kernels of numba-cuda: compiled by its own compiler for any board, analysed and executed without a GPU.

result = analyze(kernel, x, y, n, grid=4096, block=256, gpu="h200")   one entry as of warpbound.analyze
arrays = run(kernel, x, y, n, grid=4096, block=256, gpu="h200")       values, by parameter name
analyzed(gpu="h200")                                                  a decorator: kernel[grid, block](...) answers

Source   numba-cuda 0.30.4, read off its wheel: `dispatcher._prepare_args` (an array becomes two null pointers, the
         number of elements, their size, the address, extents and strides in bytes) and `numba.cuda.compile`.
Omits    Refused: tuples, dates, single records and single complex numbers as arguments, and kernels that need device
         code to be linked in (`link=`). `lto` is ignored: the kernel's PTX is assembled without it.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound import machine
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import DTYPES
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.program import Program, nvrtc
from warpbound.program.ptx import from_ptx
from warpbound.python_kernels.arrays import Array, array, in_bytes, in_c_order, is_of_parts, number
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
    refusal,
    three,
    with_python_source,
)
from warpbound.quick_dataclasses import dataclass
from warpbound.result.plain import Entry

__all__ = ["Analyzed", "analyze", "analyzed", "run"]

Sizes = int | Sequence[int]
_Signature = tuple[np.dtype[Any], int, str]
_SCALARS = {
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16",
    "uint8": "u8", "float16": "f16", "float32": "f32", "float64": "f64", "bool": "bool",
}  # fmt: skip
_WHOLE = 4  # parts of a configuration: grid, block, stream, shared memory
GRID_GROUP = """
#include <cooperative_groups.h>
extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(cudaCGScope) { return 1; }
extern "C" __device__ cudaError_t cudaCGSynchronize(unsigned long long, unsigned int) {
    cooperative_groups::this_grid().sync();
    return cudaSuccess;
}
"""  # in place of the device runtime, which Numba links in
_OPTIONS = ("fastmath", "opt", "launch_bounds")  # of the decorator that `numba.cuda.compile` takes too


@dataclass(frozen=True)
class _Array:
    """An array: its memory, and type, extents and strides (in elements) as the kernel sees it."""

    memory: Array
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def analyze(  # noqa: PLR0913  (a launch)
    kernel: Any,
    *args: object,
    grid: Sizes,
    block: Sizes,
    gpu: str | Path | Gpu,
    smem: int = 0,
    settings: Settings = DEFAULT,
) -> Entry:
    """The entry of `warpbound.analyze` for one launch of a function under `@cuda.jit`; lines are those of its file.

    args : in the kernel's order: NumPy arrays, PyTorch tensors (contents unless on a GPU), text as after `--arg NAME=`
    ("f32[4096,4096]:randn"), numbers with the type that Numba gives them. grid, block, smem : as in
    `kernel[grid, block, stream, smem]`.
    Raises InputError where Numba cannot compile it, CommandError where a value is wrong, MissingTool without
    numba-cuda.
    """
    return prepare(kernel, args, _launch(grid, block, smem), gpu).analyze(gpu, settings)


def run(  # noqa: PLR0913  (a launch)
    kernel: Any, *args: object, grid: Sizes, block: Sizes, gpu: str | Path | Gpu, smem: int = 0
) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name, as of `warpbound.run`; the rest as of `analyze`."""
    return prepare(kernel, args, _launch(grid, block, smem), gpu).run()


@dataclass(frozen=True)
class Analyzed:
    """A kernel whose launches are analysed, not executed: `kernel[grid, block](...)` gives the entry of `analyze`."""

    kernel: Any
    gpu: str | Path | Gpu

    def __getitem__(self, configuration: tuple[Any, ...]) -> Callable[..., Entry]:
        """configuration : grid, block, and optionally a stream and bytes of shared memory."""
        grid, block, _, smem = configuration if len(configuration) == _WHOLE else (*configuration[:2], None, 0)
        return lambda *args: analyze(self.kernel, *args, grid=grid, block=block, gpu=self.gpu, smem=smem)


def analyzed(gpu: str | Path | Gpu) -> Callable[[Any], Analyzed]:
    """A decorator above `@cuda.jit`: launches of the kernel give answers for `gpu`."""
    return lambda kernel: Analyzed(kernel, gpu)


def is_kernel(value: object) -> bool:
    """Whether it is a function under `@cuda.jit`."""
    return type(value).__name__ == "CUDADispatcher"


def of_launch(kernel: Any, board: Gpu, own: Launch, defines: Mapping[str, str]) -> Prepared:
    """A launch as `warpbound analyze` takes it: grid, block and shared memory are those of `kernel[grid, block]`."""
    names = list(inspect.signature(kernel.py_func).parameters)
    values = ordered_values(own, defines, names, kernel.py_func.__name__)
    return prepare(kernel, values, own, board)


def _launch(grid: Sizes, block: Sizes, smem: int) -> Launch:
    return Launch(grid=three(grid, "grid"), block=three(block, "block"), smem=int(smem))


def prepare(kernel: Any, args: Sequence[object], own: Launch, gpu: str | Path | Gpu) -> Prepared:
    """The machine code and the launch. Raises what `analyze` raises."""
    need("numba_cuda", "Kernels of numba-cuda need it.", "numba-cuda")
    if not is_kernel(kernel):
        raise CommandError("The kernel is not a function under @cuda.jit.", "Decorate it; give it without a grid.")
    board = machine.gpu(gpu)
    values = by_name(list(inspect.signature(kernel.py_func).parameters), args, kernel.py_func.__name__)
    operands = {name: _array(value, name) or _typed(value, name) for name, value in values.items()}
    program = _compiled(kernel, operands, board)
    offsets = iter(program.parameters)
    pieces: list[Piece] = []
    for name, value in operands.items():
        for piece in _of_array(value, name) if isinstance(value, _Array) else [_of_number(value, name)]:
            place = next(offsets)
            pieces.append(replace(piece, offset=place.offset))
    ready = prepared(program, pieces, Launch(grid=own.grid, block=own.block, smem=own.smem, carveout=own.carveout))
    types = {name: each.dtype for name, each in operands.items() if isinstance(each, _Array)}
    return replace(ready, of_bytes={name: dtype for name, dtype in types.items() if is_of_parts(dtype)})


def _array(value: object, name: str) -> _Array | None:
    """The array that `value` is, if it is one."""
    if isinstance(value, np.ndarray) and is_of_parts(value.dtype):
        return _Array(in_bytes(value, name), value.dtype, value.shape, in_c_order(value.shape))
    own = array(value, name)
    if own is not None and own.dtype == "bf16":
        raise InputError("numba-cuda has no arrays of bf16.", "Give them as u16, or as f16.")
    return None if own is None else _Array(own, DTYPES[own.dtype], own.shape, own.strides)


def _of_array(own: _Array, name: str) -> Iterator[Piece]:
    """The parameters that an array becomes, in order."""
    yield integer(f"{name} meminfo", 0, 8, 0)
    yield integer(f"{name} parent", 0, 8, 0)
    yield integer(f"{name} nitems", 0, 8, int(np.prod(own.shape, dtype=np.int64)))
    yield integer(f"{name} itemsize", 0, 8, own.dtype.itemsize)
    yield pointer(own.memory, 0)
    for axis, extent in enumerate(own.shape):
        yield integer(f"{name} shape {axis}", 0, 8, extent)
    for axis, step in enumerate(own.strides):
        yield integer(f"{name} strides {axis}", 0, 8, step * own.dtype.itemsize)


def _of_number(value: np.generic, name: str) -> Piece:
    dtype = _SCALARS[value.dtype.name]
    return Piece(0, value.dtype.itemsize, Argument(name, "scalar", dtype, value=value.item()))


def _typed(value: object, name: str) -> np.generic:
    """A number with the type that Numba gives it: its own, or 64 bits of Python's int and float."""
    typed: np.generic = value if isinstance(value, np.generic) else np.array([number(value, name)])[0]
    if typed.dtype.name not in _SCALARS:
        raise CommandError(f"argument '{name}' is of type {typed.dtype.name}.", f"Known are {', '.join(_SCALARS)}.")
    return typed


def _compiled(kernel: Any, operands: dict[str, Any], board: Gpu) -> Program:
    """The code that Numba's compiler and NVIDIA's assembler make of a kernel for a board."""
    arch = architecture(board, "numba-cuda")
    signature = tuple(_signature(value) for value in operands.values())
    text, sources = _ptx(kernel, signature, arch)
    limit = kernel.targetoptions.get("max_registers")
    if limit:  # a limit for the assembler; in PTX it is behind the parameters
        text = text.replace("\n{", f"\n.maxnreg {int(limit)}\n{{", 1)
    file = inspect.getsourcefile(kernel.py_func) or "<Numba>"
    return with_python_source(from_ptx(text, file, board, _objects(sources, arch))[0], kernel.py_func)


def _signature(value: _Array | np.generic) -> _Signature:
    """Type of elements, axes (-1: a number) and layout of an argument."""
    if not isinstance(value, _Array):
        return value.dtype, -1, ""
    layout = "C" if value.strides == in_c_order(value.shape) else "F" if _is_fortran(value) else "A"
    return value.dtype, len(value.shape), layout


def _is_fortran(own: _Array) -> bool:
    return own.strides[::-1] == in_c_order(own.shape[::-1])


@lru_cache(256)
def _ptx(kernel: Any, signature: tuple[_Signature, ...], arch: int) -> tuple[str, tuple[str, ...]]:
    """The kernel's PTX, and CUDA C++ of functions that it calls: those of half precision are written in that."""
    from numba import types
    from numba.np.numpy_support import from_dtype

    array_of: Any = types.Array
    kinds: list[Any] = [
        from_dtype(dtype) if axes < 0 else array_of(from_dtype(dtype), axes, layout)
        for dtype, axes, layout in signature
    ]
    options = {name: kernel.targetoptions[name] for name in _OPTIONS if kernel.targetoptions.get(name) is not None}
    try:
        with _board_of(divmod(arch, 10)), _sources_kept() as sources:
            (text, *_), _ = import_module("numba.cuda").compile_all(
                kernel.py_func, types.void(*kinds), cc=divmod(arch, 10), device=False, abi="numba", output="ptx",
                lineinfo=True, **options,
            )  # fmt: skip
    except Exception as problem:  # of the compiler: many types, none of them public
        raise refusal(problem, "Numba", kernel.py_func.__name__, arch) from problem
    if "cudaCGSynchronize" in text:
        sources.append(GRID_GROUP)
    return str(text), tuple(sources)


@contextmanager
def _sources_kept() -> Iterator[list[str]]:
    """CUDA C++ that Numba would compile meanwhile: its own way asks the driver for a version."""
    compiler: Any = import_module("numba.cuda.cudadrv.nvrtc")
    compiles, sources = compiler.compile, list[str]()

    def keep(source: str | bytes, *_: object, **__: object) -> tuple[str, str]:
        sources.append(source.decode() if isinstance(source, bytes) else source)
        return "", ""

    compiler.compile = keep
    try:
        yield sources
    finally:
        compiler.compile = compiles


@lru_cache(64)
def _objects(sources: tuple[str, ...], arch: int) -> Sequence[bytes]:
    """Relocatable cubins of CUDA C++ from Numba, with the headers that come with it."""
    if not sources:
        return []
    package = Path(str(import_module("numba.cuda").__file__)).parent / "include" / nvrtc.release().partition(".")[0]
    with nvrtc.header_folders() as folders:
        flags = [f"-arch=sm_{arch}", "-rdc=true", *(f"-I{each}" for each in (package, *folders))]
        objects = [nvrtc.build(nvrtc.Unit(source, "numba.cu"), flags, ()) for source in sources]
    refused = next((each.log for each in objects if not each.cubin), None)
    if refused is not None:
        raise InputError(
            f"A function that the kernel calls does not compile: {refused.splitlines()[0]}", "Leave the call out."
        )
    return [each.cubin for each in objects]


@contextmanager
def _board_of(capability: tuple[int, int]) -> Iterator[None]:
    """Functions under `@cuda.jit(device=True)` are compiled for this capability; Numba would ask the installed
    board."""
    dispatching: Any = import_module("numba.cuda.dispatcher")
    at_hand = dispatching.get_current_device
    dispatching.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatching.get_current_device = at_hand
