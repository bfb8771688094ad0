"""Runs nvJitLink in a separate process: PTX to machine code, relocatable cubins to an executable one.

Some PTX keeps the linker busy for minutes, damaged PTX may crash it, and nothing can stop it inside a process.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import field
from functools import cache
from typing import Any, Literal

import msgspec

from warpbound.errors import MissingTool, install
from warpbound.program.wheels import version_of
from warpbound.quick_dataclasses import dataclass

TIMEOUT_S = 120.0
CHILD = "warpbound.program.linker_process"


@dataclass(frozen=True)
class Task:
    """Inputs of one kind, to be linked with these flags and with relocatable cubins that they call."""

    kind: Literal["PTX", "CUBIN"]
    inputs: list[bytes]
    flags: list[str]
    callees: list[bytes] = field(default_factory=list)


@dataclass(frozen=True)
class Linked:
    """A cubin (empty where the linker refused) and the linker's log."""

    cubin: bytes
    log: str

    @property
    def complaint(self) -> str:
        """The first line of the log without the linker's name before it."""
        first = next((line.strip() for line in self.log.splitlines() if line.strip()), "nvJitLink does not say why")
        return (first.partition(" : ")[2] or first).strip().rstrip(".")


@cache
def version() -> str:
    """Version of the wheel, or of the library itself where there is no wheel; empty without either."""
    wheel = version_of("nvidia-nvjitlink")
    if wheel is not None:
        return wheel
    try:
        major, minor = _library().version()
    except MissingTool:
        return ""
    return f"{major}.{minor}"


def link(
    kind: Literal["PTX", "CUBIN"], inputs: Sequence[bytes], flags: Sequence[str], callees: Sequence[bytes] = ()
) -> Linked:
    """Link inputs of one kind, and relocatable cubins that they call, to one cubin.

    Raises MissingTool without the library. Where it breaks down or takes longer than TIMEOUT_S the log states this.
    """
    task = msgspec.msgpack.encode(Task(kind, list(inputs), list(flags), list(callees)))
    try:
        process = subprocess.run(
            [sys.executable, "-P", "-m", CHILD], input=task, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Linked(b"", f"nvJitLink was stopped after {TIMEOUT_S:g} s without an answer")
    try:
        linked = msgspec.msgpack.decode(process.stdout, type=Linked | None)
    except msgspec.DecodeError:
        return Linked(b"", f"nvJitLink broke down on it (exit status {process.returncode})")
    if linked is None:
        raise _missing()
    return linked


def answer(task: bytes) -> bytes:
    """The child process's result for a task of `link`; None without the library."""
    try:
        linker = _library()
    except MissingTool:
        return msgspec.msgpack.encode(None)
    return msgspec.msgpack.encode(_linked(linker, msgspec.msgpack.decode(task, type=Task)))


def _linked(linker: Any, task: Task) -> Linked:
    failed = linker.nvJitLinkError
    try:
        handle = linker.create(len(task.flags), task.flags)
    except failed as refusal:
        return Linked(b"", str(refusal))
    try:
        kinds = [*[task.kind] * len(task.inputs), *["CUBIN"] * len(task.callees)]
        for number, (kind, contents) in enumerate(zip(kinds, (*task.inputs, *task.callees), strict=True)):
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
        raise _missing() from missing
    return nvjitlink


def _missing() -> MissingTool:
    return MissingTool("Assembling PTX needs nvJitLink.", install("ptx"))


def _fetch(size_of: Any, fetch: Any, handle: int) -> bytes:
    room = bytearray(size_of(handle))
    if room:
        fetch(handle, room)
    return bytes(room)


def _text(log: bytes) -> str:
    return log.decode(errors="replace").rstrip("\0\n ")
