"""The interpreter as a library of C, compiled once for each machine."""

import ctypes
import platform
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from warpbound.emulate.native.native_state import CChunk
from warpbound.emulate.native.step import CStep
from warpbound.errors import WarpboundError
from warpbound.host_compiler import shared_library
from warpbound.quick_dataclasses import dataclass

OPTIONS = (
    "-std=gnu11", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
    "-fno-strict-aliasing",
)  # fmt: skip


@dataclass(frozen=True)
class Interpreter:
    """run : (chunk, instruction) -> the instruction at which the caller must go on. operations : numbers by name."""

    run: "ctypes._FuncPointer"
    operations: Mapping[str, int]


def sources() -> dict[str, str]:
    """The C files of the interpreter, by name."""
    folder = files("warpbound.emulate.native") / "c"
    texts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith((".c", ".h"))}
    return dict(sorted(texts.items()))


@cache
def interpreter() -> Interpreter | None:
    """The interpreter; None where it cannot be compiled or loaded, or its layout is another."""
    try:
        contents = shared_library("the emulator's interpreter", sources(), OPTIONS, ["-lm"], _processor())
        loaded = _loaded(contents)
    except (WarpboundError, OSError):
        return None
    loaded.sizes.restype = ctypes.c_long
    if (loaded.sizes(0), loaded.sizes(1)) != (ctypes.sizeof(CStep), ctypes.sizeof(CChunk)):
        return None
    loaded.operation_names.restype = ctypes.c_char_p
    names = loaded.operation_names().decode().split()
    loaded.run.restype, loaded.run.argtypes = ctypes.c_int64, (ctypes.POINTER(CChunk), ctypes.c_int64)
    return Interpreter(loaded.run, {name: number for number, name in enumerate(names)})


def _loaded(contents: bytes) -> ctypes.CDLL:
    with tempfile.NamedTemporaryFile(prefix="warpbound-", suffix=".so") as file:
        file.write(contents)
        file.flush()
        return ctypes.CDLL(file.name)


def _processor() -> str:
    """What the code of one machine needs of another: the processor's features."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
