"""Numba where it is installed: the same functions, compiled; without it they run as they stand.

Times are whole numbers in the simulators, so that both give the same results to the last digit.
"""

import contextlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., Any])
COMPILED = importlib.util.find_spec("numba") is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


def _forget_stale() -> None:
    """Drop machine code that is older than any file here: Numba looks only at the file that holds the function."""
    here = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in here.glob("*.py"))
    for index in (here / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):
            if index.stat().st_mtime < newest:
                index.unlink()


if COMPILED:
    _forget_stale()


def compiled(function: Function) -> Function:
    """The function compiled to machine code on its first call, where Numba is installed and not switched off."""
    if not COMPILED:
        return function
    import numba

    return cast(Function, numba.njit(cache=True)(function))


def column(values: NDArray[np.int64]) -> Any:
    """Values as the functions read them fastest: an array where they are compiled, else a list."""
    return np.ascontiguousarray(values) if COMPILED else values.tolist()
