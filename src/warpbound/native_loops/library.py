"""The loops in C (c/), compiled once for each machine; NumPy's code does the same where there is no compiler."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.host_compiler import loaded_library, sources

FOLDER = Path(__file__).parent / "c"
OPTIONS = ("-std=gnu11", "-O3", "-ffp-contract=off")  # without it, sums differ from NumPy's in the last bit
LEAST = 2000  # entries: NumPy takes a few tenths of a millisecond for fewer
PLACES = 1 << 16  # most caches that are followed at once, and most warps whose accesses are counted
WITH_RESULTS = ("order_by", "lru", "touches", "number_keys", "listed")

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@cache
def compiled() -> ctypes.CDLL | None:
    """The functions; None where they cannot be compiled or loaded."""
    loaded = loaded_library("the inner loops over accesses", sources(FOLDER), OPTIONS)
    if loaded is not None:
        for name in WITH_RESULTS:
            getattr(loaded, name).restype = ctypes.c_int64
    return loaded


def loaded_for(count: int) -> ctypes.CDLL | None:
    """The functions, where there are so many entries that they are quicker than NumPy's code."""
    return compiled() if count >= LEAST else None


def call(function: Callable[..., Any], *arguments: int | NDArray[Any] | None) -> Any:
    """What a function in C returns for integers of 64 bits and for arrays, whose elements lie one after the other."""
    return function(*(_argument(each) for each in arguments))


def _argument(value: int | NDArray[Any] | None) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_void_p(None) if value is None else ctypes.c_int64(value)
