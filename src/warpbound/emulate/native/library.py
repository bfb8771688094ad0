"""The interpreter as a library of C, compiled once for each machine."""

import ctypes
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from warpbound.emulate.native.native_state import CChunk
from warpbound.emulate.native.step import CStep
from warpbound.host_compiler import loaded_library, sources
from warpbound.quick_dataclasses import dataclass

FOLDER = Path(__file__).parent / "c"
OPTIONS = ("-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-strict-aliasing")


@dataclass(frozen=True)
class Interpreter:
    """run : (chunk, instruction) -> the instruction at which the caller must go on. operations : numbers by name."""

    run: "ctypes._FuncPointer"
    operations: Mapping[str, int]


@cache
def interpreter() -> Interpreter | None:
    """The interpreter; None where it cannot be compiled or loaded, or its layout is another."""
    loaded = loaded_library("the emulator's interpreter", sources(FOLDER), OPTIONS, ["-lm"])
    if loaded is None:
        return None
    loaded.sizes.restype = ctypes.c_long
    if (loaded.sizes(0), loaded.sizes(1)) != (ctypes.sizeof(CStep), ctypes.sizeof(CChunk)):
        return None
    loaded.operation_names.restype = ctypes.c_char_p
    names = loaded.operation_names().decode().split()
    loaded.run.restype, loaded.run.argtypes = ctypes.c_int64, (ctypes.POINTER(CChunk), ctypes.c_int64)
    return Interpreter(loaded.run, {name: number for number, name in enumerate(names)})
