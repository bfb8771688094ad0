"""Triton kernels by file and name, FILE.py:KERNEL, with launches as `warpbound analyze` takes them.

Models   The grid is Triton's. The block of a launch gives the number of warps (32 threads each) unless `num_warps` is
         given; macros are the kernel's constexprs and the compiler's options. The file is executed, as `import` does.
"""

import ast
import importlib.util
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.settings import Settings
from warpbound.errors import InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.result.kernel import KernelResult
from warpbound.triton.launching import need_triton, prepare

WARP = 32
_NAME = re.compile(r"(?P<path>.+\.py):(?P<kernel>[A-Za-z_]\w*)")


@dataclass(frozen=True)
class FileKernel:
    """A kernel of a Python file."""

    path: Path
    name: str


def file_kernel(word: str) -> FileKernel | None:
    """FILE.py:KERNEL; None where the word is not of that form."""
    match = _NAME.fullmatch(word)
    return FileKernel(Path(match["path"]), match["kernel"]) if match else None


def loaded(x: FileKernel) -> Any:
    """The kernel. Raises InputError where the file cannot be executed or lacks it, MissingTool without Triton."""
    need_triton()
    module = _module(x.path)
    kernel = getattr(module, x.name, None)
    if not _is_kernel(kernel):
        names = [name for name, value in vars(module).items() if _is_kernel(value)]
        raise InputError(f"{x.path} has no Triton kernel {x.name}.", f"It has: {', '.join(names) or 'none'}.")
    return kernel


def analyzed_launch(
    kernel: Any, board: Gpu, own: Launch, defines: Mapping[str, str], settings: Settings
) -> KernelResult:
    """The answer for one launch; defines : constexprs and options of the compiler, on top of the launch's own."""
    constexprs = {name: _value(text) for name, text in (own.defines | dict(defines)).items()}
    constexprs.setdefault("num_warps", max(1, own.block[0] * own.block[1] * own.block[2] // WARP))
    arrays = {each.name: each for each in own.args if each.kind == "array"}
    values = {each.name: arrays.get(each.alias or each.name, each.value) for each in own.args}
    positional = [values[place] for place in range(len(values)) if place in values]
    named = {str(name): value for name, value in values.items() if isinstance(name, str)}
    prepared = prepare(kernel, positional, named | constexprs, own.grid, board)
    return analyze_kernel(prepared.program, board, prepared.launch, settings)


def _is_kernel(value: object) -> bool:
    """Whether it is a function under `@triton.jit`, or that under other decorators of Triton."""
    from triton.runtime import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction

    return isinstance(value, JITFunction | Autotuner | Heuristics)


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"{path} is not a file.", "Check the path.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file.", "Give FILE.py:KERNEL.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # of the user's file: any
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise InputError(f"{path} cannot be executed ({reason}).", "python FILE.py shows the place.") from problem
    finally:
        sys.path.remove(str(path.parent))
    return module


def _value(text: str) -> Any:
    """A number, True, False or None as Python writes them; other text as it is."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
