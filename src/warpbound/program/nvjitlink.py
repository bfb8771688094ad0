"""nvJitLink, called through NVIDIA's bindings: PTX to machine code, relocatable cubins to a finished one."""

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from warpbound.errors import MissingTool


@dataclass(frozen=True)
class Linked:
    """A cubin (empty where the linker refused) and the linker's log."""

    cubin: bytes
    log: str


@cache
def version() -> str:
    """Version of the wheel, or of the library itself where there is no wheel; empty without either."""
    try:
        return importlib.metadata.version("nvidia-nvjitlink")
    except importlib.metadata.PackageNotFoundError:
        pass
    try:
        major, minor = _library().version()
    except MissingTool:
        return ""
    return f"{major}.{minor}"


def link(kind: Literal["PTX", "CUBIN"], inputs: Sequence[bytes], flags: Sequence[str]) -> Linked:
    """All inputs, which are of one kind, to one cubin. Raises MissingTool without the library."""
    linker = _library()
    failed = linker.nvJitLinkError
    try:
        handle = linker.create(len(flags), list(flags))
    except failed as refusal:
        return Linked(b"", str(refusal))
    try:
        for number, contents in enumerate(inputs):
            linker.add_data(handle, getattr(linker.InputType, kind), contents, len(contents), f"input {number}")
        linker.complete(handle)
        log = _fetch(linker.get_info_log_size, linker.get_info_log, handle)
        return Linked(_fetch(linker.get_linked_cubin_size, linker.get_linked_cubin, handle), _text(log))
    except failed as refusal:
        log = _fetch(linker.get_error_log_size, linker.get_error_log, handle)
        return Linked(b"", _text(log) or str(refusal))
    finally:
        linker.destroy(handle)


def _library() -> Any:
    """The bindings, with the library loaded."""
    try:
        from cuda.bindings import nvjitlink

        nvjitlink.version()
    except (ImportError, RuntimeError) as missing:  # RuntimeError: the bindings are there, the library is not
        raise MissingTool("PTX becomes machine code by nvJitLink.", "Install warpbound[ptx].") from missing
    return nvjitlink


def _fetch(size_of: Any, fetch: Any, handle: int) -> bytes:
    room = bytearray(size_of(handle))
    if room:
        fetch(handle, room)
    return bytes(room)


def _text(log: bytes) -> str:
    return log.decode(errors="replace").rstrip("\0\n ")
