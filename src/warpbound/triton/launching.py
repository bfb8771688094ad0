"""One launch of a Triton kernel as a Program and a Launch, for analysis or execution."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound import machine
from warpbound.analysis.settings import DEFAULT, Settings
from warpbound.errors import CommandError, InputError, MissingTool, install
from warpbound.kernel_launch import Argument, Launch
from warpbound.machine import Gpu
from warpbound.program import Parameter, Program
from warpbound.python_kernels.arrays import under_own_names
from warpbound.python_kernels.launches import Prepared, architecture, python_program, three
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult
from warpbound.result.plain import Entry
from warpbound.triton.arguments import argument, operand
from warpbound.triton.compiler_key import use_kept_key
from warpbound.triton.descriptors import Descriptor, for_compiler, of_triton, parameters

Grid = Sequence[int] | Callable[[dict[str, Any]], Sequence[int]]  # in clusters; or a function of the named arguments

_SCRATCH = ("global scratch", "profile scratch")  # pointers that Triton adds behind a kernel's own parameters
_THREADS = re.compile(r"\.reqntid\s+(\d+)")


def analyze(
    kernel: Any, *args: object, grid: Grid, gpu: str | Path | Gpu, settings: Settings = DEFAULT, **constexprs: Any
) -> Entry:
    """The entry of `warpbound.analyze` for one launch of a Triton kernel; lines are those of the Python file.

    kernel : a function under `@triton.jit`, also under `@triton.heuristics`. args : in the kernel's order; tensors of
    PyTorch (on any device; contents unless on a GPU), NumPy arrays, text as after `--arg NAME=`
    ("f16[4096,4096]:randn"), numbers. grid : as in `kernel[grid]`. constexprs : the other arguments, and Triton's own
    num_warps, num_stages, num_ctas, maxnreg.
    Raises InputError where Triton cannot compile it, CommandError where a value is wrong, MissingTool without Triton.
    """
    return prepare(kernel, args, constexprs, grid, gpu).analyze(gpu, settings)


def run(kernel: Any, *args: object, grid: Grid, gpu: str | Path | Gpu, **constexprs: Any) -> dict[str, NDArray[Any]]:
    """The arrays after the kernel, by parameter name, as of `warpbound.run`; the rest as of `analyze`."""
    arrays = prepare(kernel, args, constexprs, grid, gpu).run()
    return {name: array for name, array in arrays.items() if name not in _SCRATCH}


@dataclass(frozen=True)
class Analyzed:
    """A kernel whose launches are analysed, not executed: `kernel[grid](...)` gives the entry of `analyze`."""

    kernel: Any
    gpu: str | Path | Gpu

    def __getitem__(self, grid: Grid) -> Callable[..., Entry]:
        return lambda *args, **constexprs: analyze(self.kernel, *args, grid=grid, gpu=self.gpu, **constexprs)


def analyzed(gpu: str | Path | Gpu) -> Callable[[Any], Analyzed]:
    """A decorator above `@triton.jit`: launches of the kernel give answers for `gpu`."""
    return lambda kernel: Analyzed(kernel, gpu)


def record(kernel: Any, args: Sequence[object], constexprs: Mapping[str, Any], grid: Grid, gpu: Gpu) -> KernelResult:
    """`analyze` as a record."""
    return prepare(kernel, args, constexprs, grid, gpu).record(gpu, DEFAULT)


def prepare(
    kernel: Any, args: Sequence[object], constexprs: Mapping[str, Any], grid: Grid, gpu: str | Path | Gpu
) -> Prepared:
    """The machine code and the launch. Raises what `analyze` raises."""
    need_triton()
    board = machine.gpu(gpu)
    function, values = _resolved(kernel, args, constexprs)
    constants = {parameter.name for parameter in function.params if parameter.is_constexpr}
    operands = {name: value if name in constants else _operand(value, name) for name, value in values.items()}
    result, types = _compiled(function, operands, constexprs, board)
    visible = [name for name, type_ in types.items() if type_ != "constexpr"]
    maps = iter(getattr(result.metadata, "tensordesc_meta", None) or ())
    arguments = [each for name in visible for each in _passed(name, operands[name], values[name], types[name], maps)]
    own = [name for name, _, _ in arguments]
    size = _grid(grid, values | dict(constexprs))
    cluster = int(result.metadata.num_ctas)
    scratch = [
        _scratch(name, getattr(result.metadata, f"{name.split()[0]}_scratch_size", 0) * int(np.prod(size)) * cluster)
        for name in _SCRATCH
    ]
    program = _program(result, function, [*own, *_SCRATCH], board)
    call_values = under_own_names(own, [each for _, each, _ in arguments], [value for _, _, value in arguments])
    return Prepared(program, Launch(
        grid=(size[0] * cluster, size[1], size[2]), block=(_threads(result), 1, 1),
        cluster=(cluster, 1, 1) if cluster > 1 else None, smem=int(result.metadata.shared),
        args=tuple([*call_values, *scratch][: len(program.parameters)]),
    ))  # fmt: skip


def _operand(value: object, name: str) -> object:
    if isinstance(value, Descriptor):
        return value
    return of_triton(value) or operand(value, name)


def _passed(
    name: str, value: object, wanted_value: object, type_: str, maps: Iterator[Mapping[str, Any]]
) -> Iterable[tuple[str, Argument, object]]:
    """Name, argument and value of each parameter that an argument becomes; maps : those of descriptors, in order."""
    if isinstance(value, Descriptor):
        return parameters(value, name, next(maps, None))
    return [(name, argument(value, name, type_), wanted_value)]


def _resolved(kernel: Any, args: Sequence[object], constexprs: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The function that Triton compiles, and its arguments by name, those of heuristics and defaults among them."""
    from triton.runtime.jit import JITFunction

    values = dict(constexprs)
    layers = []
    while not isinstance(kernel, JITFunction):
        layers.append(kernel)
        kernel = getattr(kernel, "kernel", getattr(kernel, "fn", None))
        if kernel is None:
            hint = "Decorate it, and give it without its grid."
            raise CommandError("The kernel is not a function under @triton.jit.", hint)
    names = [parameter.name for parameter in kernel.params]
    if len(args) > len(names):
        raise CommandError(f"{kernel.__name__} takes {len(names)} arguments; {len(args)} are given.", "Leave some out.")
    values |= dict(zip(names, args, strict=False))
    for layer in layers:
        for name, rule in getattr(layer, "values", {}).items():  # of triton.heuristics
            values[name] = rule(values)
    for parameter in kernel.params:
        if parameter.name not in values:
            if parameter.default is inspect.Parameter.empty:
                reason = f"{kernel.__name__} has no value for '{parameter.name}'."
                raise CommandError(reason, f"Add {parameter.name}=VALUE.")
            values[parameter.name] = parameter.default
    return kernel, {name: values[name] for name in names}


def _compiled(
    function: Any, values: Mapping[str, Any], constexprs: Mapping[str, Any], board: Gpu
) -> tuple[Any, dict[str, Any]]:
    """Triton's compiled kernel for a board, made without the driver that a launch would need, and the type of each
    argument."""
    from triton import compile as compile_for
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend
    from triton.runtime.jit import create_function_from_signature

    use_kept_key()
    arch = architecture(board, "Triton")
    target = GPUTarget("cuda", arch, 32)
    backend = make_backend(target)
    options = {name: value for name, value in constexprs.items() if name not in values}
    try:
        bind = create_function_from_signature(function.signature, function.params, backend)
        operands = {
            name: for_compiler(value) if isinstance(value, Descriptor) else value for name, value in values.items()
        }
        call_values, special, unused = bind(**operands, **options)
        parsed, types, constants, attributes = function._pack_args(backend, options, call_values, special, unused)
        source = ASTSource(function, types, constants, attributes)
        return compile_for(source, target=target, options=parsed.__dict__), types
    except Exception as problem:  # of the compiler: many types, none of them public
        reason = (str(problem).strip() or type(problem).__name__).splitlines()
        raise InputError(f"Triton cannot compile {function.__name__} for sm_{arch}:\n{reason[-1]}", "") from problem


def _program(result: Any, function: Any, names: Sequence[str], board: Gpu) -> Program:
    """The machine code with the names of its parameters and the text of the Python file."""
    program = python_program(result.asm["cubin"], function.fn, board)
    parameters = tuple(
        Parameter(name, "", parameter.offset, parameter.size)
        for name, parameter in zip(names, program.parameters, strict=False)
    )
    return replace(program, parameters=parameters)


def _threads(result: Any) -> int:
    """Threads of a block; more than 32 times `num_warps` where Triton adds warps with other roles."""
    required = _THREADS.search(result.asm["ptx"])
    return int(required[1]) if required else 32 * int(result.metadata.num_warps)


def _scratch(name: str, size_B: int) -> Argument:
    """A hidden pointer: to as many bytes as the kernel asks for, or null."""
    return Argument(name, "array", "u8", (size_B,), "zeros") if size_B else Argument(name, "scalar", value=0)


def _grid(grid: Grid, values: dict[str, Any]) -> tuple[int, int, int]:
    sizes = grid(values) if callable(grid) else grid
    return three(sizes, "grid")


def need_triton() -> None:
    """Raise MissingTool where Triton is not installed."""
    try:
        import triton  # noqa: F401
    except ImportError as missing:
        raise MissingTool("Triton kernels need Triton.", install("triton")) from missing
