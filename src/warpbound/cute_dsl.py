"""Kernels of CuTe DSL (nvidia-cutlass-dsl): compiled by its own compiler for any board, executed without a GPU.

result = analyze(host, a, b, c, gpu="h200")   one entry as of warpbound.analyze; host is the function under @cute.jit
arrays = run(host, a, b, c, gpu="h200")       values, by parameter name
dynamic(a, leading_dim=1)                     an array whose sizes are no constants of the code

Source   nvidia-cutlass-dsl 4.8.1, read off its wheel: `cute.compile` needs no driver; the compiled host function takes
         a pointer to each argument (a tensor is its address, then dynamic extents and strides) and calls
         `_cudaLaunchKernelEx(configuration, kernel, parameters)`; `cuda_init` loads the machine code.
Models   The compiled host function itself is executed; its launch calls are answered here, and give grid, block,
         cluster, shared memory, structs and tensor maps. Arrays get addresses without memory behind them.
Omits    Refused: programs whose host function calls the driver for anything but launches of kernels; sizes that
         neither the array nor the fake tensor gives.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from ctypes import (
    Structure,
    addressof,
    c_bool,
    c_double,
    c_float,
    c_int8,
    c_int16,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from warpbound import machine
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.cute_dsl_host import HostCode, HostLaunch, HostRequests
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.program import Parameter, programs
from warpbound.program.cuda import Options
from warpbound.python_kernels.arrays import Array, array, number
from warpbound.python_kernels.launches import (
    Piece,
    Prepared,
    architecture,
    by_name,
    bytes_of,
    need,
    ordered_values,
    prepared,
    refusal,
    with_python_source,
)
from warpbound.quick_dataclasses import dataclass
from warpbound.result.plain import Entry

__all__ = ["Dynamic", "analyze", "dynamic", "run"]

_OLDEST = 80  # the oldest architecture that CuTe DSL compiles for
_FIRST_WITH_FAMILY = 90  # from here on the code has the tensor instructions of sm_NNa
_ALIGNED_B = 16
FIRST_ADDRESS, APART = 0x6B5D_0000_0000, 1 << 36  # addresses of arrays in parameters; this process has no memory there
_ADDRESS_B = 8
_CUTE_TYPES = {
    "f16": "Float16", "bf16": "BFloat16", "f32": "Float32", "f64": "Float64", "bool": "Boolean", "i8": "Int8",
    "u8": "Uint8", "i16": "Int16", "u16": "Uint16", "i32": "Int32", "u32": "Uint32", "i64": "Int64", "u64": "Uint64",
    "float8_e4m3fn": "Float8E4M3FN", "float8_e5m2": "Float8E5M2",
}  # fmt: skip
_CUTE_NUMBERS = {
    "Boolean": c_bool, "Int8": c_int8, "Int16": c_int16, "Int32": c_int32, "Int64": c_int64, "Uint8": c_uint8,
    "Uint16": c_uint16, "Uint32": c_uint32, "Uint64": c_uint64, "Float32": c_float, "Float64": c_double,
}  # fmt: skip
_LAUNCH_DTYPES = {word: dtype for dtype, word in _CUTE_TYPES.items() if not dtype.startswith("float8")}


@dataclass(frozen=True)
class Dynamic:
    """An array whose extents and strides the code reads at run time, except the stride 1 of axis `leading_dim`."""

    value: Any
    leading_dim: int


def dynamic(value: Any, leading_dim: int = -1) -> Dynamic:
    """An array as after CuTe's `mark_layout_dynamic`; plain arrays have layouts that are constants of the code."""
    return Dynamic(value, leading_dim)


def analyze(
    host: Any, *args: object, gpu: str | Path | Gpu, launch: int | None = None, settings: Settings = DEFAULT
) -> Entry:
    """The entry of `warpbound.analyze` for a launch of a function under `@cute.jit`; lines are those of its file.

    args : in the function's order: NumPy arrays, PyTorch tensors (contents unless on a GPU), text as after
    `--arg NAME=` ("f16[4096,4096]:randn"), `dynamic` of one of these, CuTe's fake tensors, numbers, constants as they
    are, None for a stream. launch : which one, from 0, where the function launches several.
    Raises InputError where CuTe DSL cannot compile it, CommandError where a value is wrong, MissingTool without it.
    """
    return prepare(host, args, gpu, launch).analyze(gpu, settings)


def run(host: Any, *args: object, gpu: str | Path | Gpu, launch: int | None = None) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name, as of `warpbound.run`; the rest as of `analyze`."""
    return prepare(host, args, gpu, launch).run()


def is_kernel(value: object) -> bool:
    """Whether it is a function under `@cute.jit`."""
    return str(getattr(value, "_decorator_kind", "")).rpartition(".")[2].lower() == "jit"


def of_launch(host: Any, board: Gpu, own: Launch, defines: Mapping[str, str]) -> Prepared:
    """A launch as `warpbound analyze` takes it: the host function has its own grid and block."""
    names = list(inspect.signature(host).parameters)
    return prepare(host, ordered_values(own, defines, names, host.__name__), board)


def prepare(host: Any, args: Sequence[object], gpu: str | Path | Gpu, launch: int | None = None) -> Prepared:
    """The machine code and the launch. Raises what `analyze` raises."""
    need("cutlass.cute", "Kernels of CuTe DSL need nvidia-cutlass-dsl.", "cute-dsl")
    if not is_kernel(host):
        raise CommandError("The function is not under @cute.jit.", "Give the function that launches the kernel.")
    board = machine.gpu(gpu)
    parameters = inspect.signature(host).parameters
    values = by_name(list(parameters), args, host.__name__)
    order: dict[int, int] = {}  # of an array, by its identity: the same array twice is the same memory
    operands = [
        Operand(name, value, ())
        if "Constexpr" in str(parameters[name].annotation)
        else _operand(value, name, order.setdefault(id(value), len(order)))
        for name, value in values.items()
    ]
    host_function = _compiled(host, [each.for_compiler for each in operands], board)
    call = _wanted(_calls(host_function, operands, board), launch, host.__name__)
    program = with_python_source(call.program, inspect.unwrap(host))
    owners = [each for each in operands if each.array is not None]
    pieces: list[Piece] = []
    for parameter, raw in zip(program.parameters, call.parameters, strict=True):
        pieces += parameter_pieces(parameter, raw, owners, {str(each.argument.name) for each in pieces})
    own = Launch(grid=call.grid, block=call.block, cluster=call.cluster, smem=call.smem)
    return prepared(program, pieces, own)


def _wanted(calls: Sequence[HostLaunch], launch: int | None, host: str) -> HostLaunch:
    if launch is None and len(calls) == 1:
        return calls[0]
    if launch is None or not 0 <= launch < len(calls):
        raise CommandError(f"{host} launches {len(calls)} kernels.", f"Give launch= 0 to {len(calls) - 1}.")
    return calls[launch]


@dataclass(frozen=True)
class Operand:
    """An argument. for_compiler : its form for CuTe's compiler; words : what the host function reads behind its
    pointer, with the address of an array first; none of a constant."""

    name: str
    for_compiler: Any
    words: tuple[Any, ...]
    array: Array | None = None

    @property
    def address(self) -> int:
        """Of an array."""
        return int(self.words[0].value)


def _operand(value: object, name: str, order: int) -> Operand:
    """order : identifies an argument that is not the same array as another one."""
    from cutlass.cute import runtime

    if value is None:
        return Operand(name, runtime.make_fake_stream(), (c_uint64(0),))
    place = c_uint64(FIRST_ADDRESS + order * APART)
    if type(value).__name__ == "_FakeTensor":
        return Operand(name, value, (place,), _of_fake(value, name))
    inner = value.value if isinstance(value, Dynamic) else value
    own = array(inner, name)
    if own is None:
        return _number(inner, name)
    if not isinstance(value, Dynamic):
        return Operand(name, _fake(own, own.shape, own.strides), (place,), own)
    from cutlass.cute import sym_int32, sym_int64

    leading = value.leading_dim % len(own.shape)
    if own.strides[leading] != 1:
        raise CommandError(f"the stride of axis {leading} of '{name}' is not 1.", "Name the axis that is contiguous.")
    others = [axis for axis in range(len(own.shape)) if axis != leading]
    steps = [1 if axis == leading else sym_int64() for axis in range(len(own.shape))]
    sizes = [*(c_int32(extent) for extent in own.shape), *(c_int64(own.strides[axis]) for axis in others)]
    return Operand(name, _fake(own, [sym_int32() for _ in own.shape], steps), (place, *sizes), own)


def _number(value: object, name: str) -> Operand:
    import cutlass

    if type(value).__name__ in _CUTE_NUMBERS:
        typed: Any = value
    else:
        plain = number(value, name)
        kind = "Boolean" if isinstance(plain, bool) else "Int32" if isinstance(plain, int) else "Float32"
        typed = getattr(cutlass, kind)(plain)
    return Operand(name, typed, (_CUTE_NUMBERS[type(typed).__name__](typed.value),))


def _fake(own: Array, shape: Sequence[Any], strides: Sequence[Any]) -> Any:
    import cutlass
    from cutlass.cute.runtime import make_fake_tensor

    kind = getattr(cutlass, _CUTE_TYPES.get(own.word) or _CUTE_TYPES[own.dtype])
    return make_fake_tensor(kind, tuple(shape), tuple(strides), assumed_align=_ALIGNED_B)


def _of_fake(value: Any, name: str) -> Array:
    """An array of unknown contents with the sizes of a fake tensor."""
    dtype = _LAUNCH_DTYPES.get(value.element_type.__name__, "u8")
    shape, steps = tuple(value.shape), tuple(value.stride)
    if not all(isinstance(each, int) for each in (*shape, *steps)):
        raise CommandError(f"'{name}' has sizes that are not known.", "Give the array, or dynamic(array).")
    extent = 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))
    return Array(Argument(name, "array", dtype, (extent,)), dtype, shape, steps, value)


def _compiled(host: Any, args: Sequence[Any], board: Gpu) -> Any:
    from cutlass import cute

    arch = architecture(board, "CuTe DSL")
    if arch < _OLDEST:
        raise InputError(f"CuTe DSL has no compiler for sm_{arch}.", "Name a board from Ampere on.")
    family = "a" if arch >= _FIRST_WITH_FAMILY else ""
    try:
        return cute.compile(host, *args, options=f"--gpu-arch sm_{arch}{family} --generate-line-info")
    except Exception as problem:  # of the compiler: many types, none of them public
        raise refusal(problem, "CuTe DSL", host.__name__, arch) from problem


def _calls(host_function: Any, operands: Sequence[Operand], board: Gpu) -> list[HostLaunch]:
    """The launches that the host function makes of these arguments."""
    host = HostRequests()
    engine = HostCode(host_function.ir_module, host)
    library, status = c_void_p(), c_int32()
    pointer_to_library = c_void_p(addressof(library))
    for each in ("cuda_init", "cuda_load"):
        engine.call(each, [addressof(pointer_to_library), addressof(status)])
    host.programs = {each.name: each for each in programs(host.code, board, None, Options())}
    values = [_behind(each.words) for each in operands if each.words]
    engine.call(f"_mlir_ciface_{host_function.function_name}", [*map(addressof, values), addressof(status)])
    if host.problem:
        raise InputError(host.problem, "Make plain launches.")
    return host.calls


def _behind(words: Sequence[Any]) -> Any:
    """The words as members of a C structure."""
    members = [(f"_{place}", type(word)) for place, word in enumerate(words)]
    return type("Members", (Structure,), {"_fields_": members})(*words)


def parameter_pieces(parameter: Parameter, raw: bytes, owners: Sequence[Operand], names: set[str]) -> Iterator[Piece]:
    """A parameter taken apart: addresses of arrays, and what is between them. names : of the pieces before it."""
    begin = 0
    for at in range(0, len(raw) - _ADDRESS_B + 1, _ADDRESS_B):
        address = int.from_bytes(raw[at : at + _ADDRESS_B], "little")
        owner = next((each for each in owners if each.address <= address < each.address + APART), None)
        if owner is None:
            continue
        if at > begin:
            yield _plain(parameter, begin, raw[begin:at])
        yield _address(owner, parameter.offset + at, address - owner.address, names)
        begin = at + _ADDRESS_B
    if begin < len(raw):
        yield _plain(parameter, begin, raw[begin:])


def _plain(parameter: Parameter, begin: int, raw: bytes) -> Piece:
    return bytes_of(f"parameter at {parameter.offset + begin}", parameter.offset + begin, raw)


def _address(owner: Operand, place: int, offset: int, names: set[str]) -> Piece:
    """Where an array begins, or a place in it; the first address of an array brings its memory with it."""
    assert owner.array is not None
    if owner.name not in names:
        names.add(owner.name)
        return Piece(place, _ADDRESS_B, replace(owner.array.argument, name=owner.name, offset=offset), owner)
    name = f"{owner.name} at {place}"
    return Piece(place, _ADDRESS_B, Argument(name, "alias", alias=owner.name, offset=offset))
