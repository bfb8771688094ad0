"""Kernels of Python files, FILE.py:KERNEL, of every language that has a front end here, with launches as `warpbound
analyze` takes them.

The file is executed, as by `import`. The meaning of a launch's grid, block and macros depends on the language: see
`of_launch` of each front end.
"""

import importlib.util
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.quick_dataclasses import dataclass

_NAME = re.compile(r"(?P<path>.+\.py):(?P<kernel>[A-Za-z_]\w*)")


@dataclass(frozen=True)
class FileKernel:
    """A kernel of a Python file."""

    path: Path
    name: str


@dataclass(frozen=True)
class FrontEnd:
    """A language. package : what its kernels' files import; extra : of warpbound, that brings it; module : of
    warpbound, with `is_kernel` and `of_launch`; block, grid : of a launch without one; no grid where it needs one."""

    name: str
    package: str
    extra: str
    module: str
    block: str
    grid: str | None = None

    def owns(self, value: object) -> bool:
        """Whether a value of a file is a kernel of this language; never, if the language was not imported."""
        return self.package in sys.modules and bool(self.adapter.is_kernel(value))

    @property
    def adapter(self) -> Any:
        """The module that reads the language."""
        return import_module(f"warpbound.{self.module}")


FRONT_ENDS = (
    FrontEnd("Triton", "triton", "triton", "triton.files", "128"),
    FrontEnd("numba-cuda", "numba", "numba-cuda", "numba_cuda", "256"),
    FrontEnd("Warp", "warp", "warp-lang", "warp_lang", "256"),
    FrontEnd("cuTile", "cuda.tile", "cutile", "cutile", "128"),
    FrontEnd("CuTe DSL", "cutlass", "cute-dsl", "cute_dsl", "128", "1"),
)


def file_kernel(word: str) -> FileKernel | None:
    """FILE.py:KERNEL; None where the word is not of that form."""
    match = _NAME.fullmatch(word)
    return FileKernel(Path(match["path"]), match["kernel"]) if match else None


def loaded(x: FileKernel) -> tuple[Any, FrontEnd]:
    """The kernel and its language.

    Raises InputError where the file cannot be executed or lacks it, MissingTool where its language is not installed.
    """
    module = _module(x.path)
    kernel = getattr(module, x.name, None)
    for each in FRONT_ENDS:
        if each.owns(kernel):
            return kernel, each
    names = [name for name, value in vars(module).items() if any(each.owns(value) for each in FRONT_ENDS)]
    raise InputError(f"{x.path} has no kernel {x.name}.", f"It has: {', '.join(names) or 'none'}.")


def _module(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"{path} is not a file.", "Check the path.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file.", "Give FILE.py:KERNEL.")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # of the user's file: any
        _refuse_missing(problem, path)
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise InputError(f"{path} cannot be executed ({reason}).", "python FILE.py shows the place.") from problem
    finally:
        sys.path.remove(str(path.parent))
    return module


def _refuse_missing(problem: Exception, path: Path) -> None:
    """Raise MissingTool where a file cannot import the language of its kernels."""
    for each in FRONT_ENDS:
        if isinstance(problem, ModuleNotFoundError) and problem.name == each.package:
            raise MissingTool(f"{path} needs {each.name}.", install(each.extra)) from problem
