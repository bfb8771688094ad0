"""Compiles functions with Numba where it is installed; without it they run as plain Python.

The simulators' times are integers: both ways give identical results.
"""

import contextlib
import importlib.util
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
PACKAGE = __name__.rpartition(".")[0]
COMPILED = importlib.util.find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def _forget_stale() -> None:
    """Delete cached machine code that is older than any file here: Numba checks only the file of the function."""
    here = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in here.glob("*.py"))
    for index in (here / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):
            if index.stat().st_mtime < newest:
                index.unlink()


if COMPILED:
    _forget_stale()


@cache
def compiled(function: Function) -> Function:
    """The function and the functions of this package that it calls as machine code; unchanged without Numba.

    Numba is imported only here: the import takes most of a second, and compiling about ten seconds if nothing is
    cached.
    """
    if not COMPILED:
        return function
    import numba

    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        callee = names.get(name)
        if isinstance(callee, FunctionType) and callee.__module__.startswith(PACKAGE):
            names[name] = compiled(callee)
    own = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    own.__module__, own.__qualname__ = function.__module__, function.__qualname__
    try:
        return cast(Function, numba.njit(cache=True)(own))
    except RuntimeError:  # no writable folder for the cache
        return cast(Function, numba.njit(own))


def column(values: NDArray[np.int64]) -> Any:
    """The integers in the fastest form: an array for compiled functions, a list otherwise."""
    return np.ascontiguousarray(values) if COMPILED else values.tolist()
