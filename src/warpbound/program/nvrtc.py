"""NVRTC through NVIDIA's Python bindings: compiles one translation unit to a cubin, and lists the shipped headers.

From 13.3 on NVRTC brings the CUDA headers inside itself; they are unpacked once per version.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from warpbound.errors import InputError, MissingTool, install
from warpbound.program.cache import digest, folder
from warpbound.program.host_headers import STAND_INS
from warpbound.program.wheels import version_of

_REJECTED = re.compile(r'Input name expression was: "(.*)"')


@dataclass(frozen=True)
class Unit:
    """Text to compile, its name in messages, and headers that are given as text."""

    code: str
    name: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """A cubin (empty where the compiler refused), mangled name -> name expression, the compiler's log."""

    cubin: bytes
    titles: dict[str, str]
    log: str


Build = Callable[[Unit, Sequence[str], Sequence[str]], Made]


@cache
def version() -> str:
    """Version of the NVRTC wheel, or of the library itself where there is no wheel; empty without either."""
    wheel = version_of("nvidia-cuda-nvrtc")
    if wheel is not None:
        return wheel
    try:
        _, major, minor = _library().nvrtcVersion()
    except (MissingTool, RuntimeError):
        return ""
    return f"{major}.{minor}"


def release() -> str:
    """The release of NVRTC, such as `13.5`."""
    return ".".join(version().split(".")[:2])


def build(unit: Unit, flags: Sequence[str], instances: Sequence[str]) -> Made:
    """Compile with all `instances`, or with those that the compiler can make sense of."""
    return with_sound(_build, unit, flags, instances)


def with_sound(compile_one: Build, unit: Unit, flags: Sequence[str], instances: Sequence[str]) -> Made:
    """What `compile_one` makes of all `instances`, or of those that the compiler can make sense of."""
    output = compile_one(unit, flags, instances)
    bad = rejected(output.log)
    if output.cubin or not bad:
        return output
    sound = [instance for instance in instances if _bare(instance) not in bad]
    again = compile_one(unit, flags, sound) if len(sound) < len(instances) and sound != instances else output
    return again if again.cubin and b".text." in again.cubin else output


def rejected(log: str) -> set[str]:
    """The name expressions that a log complains of, without blanks."""
    return {_bare(name) for name in _REJECTED.findall(log)}


def _bare(instance: str) -> str:
    return re.sub(r"\s", "", instance)


def _build(unit: Unit, flags: Sequence[str], instances: Sequence[str]) -> Made:
    nvrtc = _library()
    success = nvrtc.nvrtcResult.NVRTC_SUCCESS
    texts = [text.encode() for text in unit.headers.values()]
    names = [header.encode() for header in unit.headers]
    name = f"./{unit.name}" if unit.name.startswith("-") else unit.name  # which would be read as an option
    status, program = nvrtc.nvrtcCreateProgram(
        unit.code.encode(), name.encode(errors="replace"), len(names), texts or None, names or None
    )
    if status != success:
        raise InputError(f"{unit.name}: NVRTC did not start ({status.name}).", "Try `warpbound doctor`.")
    try:
        for instance in instances:
            nvrtc.nvrtcAddNameExpression(program, instance.encode())
        options = [flag.encode(errors="surrogateescape") for flag in flags]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), options)
        raw = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        log = raw.decode(errors="replace").rstrip("\0\n ")
        if status != success:
            return Made(b"", {}, log or status.name)
        cubin = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
        titles = {}
        for instance in instances:
            status, lowered = nvrtc.nvrtcGetLoweredName(program, instance.encode())
            if status == success:
                titles[lowered.decode()] = instance
        return Made(cubin, titles, log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _library() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as missing:
        raise MissingTool("Compiling CUDA C++ needs NVRTC.", install("cuda")) from missing
    return nvrtc


def _fetch(size_of: Callable[[Any], Any], fetch: Callable[[Any, Any], Any], program: Any) -> bytes:
    _, size = size_of(program)
    room = bytearray(size)
    fetch(program, room)
    return bytes(room)


@contextmanager
def header_folders() -> Iterator[tuple[Path, ...]]:
    """The folders of stand-ins for host headers and of NVRTC's own; where the disk is closed, until the end only."""
    text = "".join(f"{name}\n{contents}" for name, contents in STAND_INS.items())
    place = folder() / f"headers-{version()}-{digest(text)[:12]}"
    if place.is_dir():
        yield _folders(place)
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix="headers-"))
    except OSError:
        with tempfile.TemporaryDirectory(prefix="warpbound-headers-") as passing:
            _unpack(Path(passing))
            yield _folders(Path(passing))
        return
    try:
        _unpack(fresh)
        os.replace(fresh, place)
    except OSError:  # another process was first
        shutil.rmtree(fresh, ignore_errors=True)
    except InputError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    yield _folders(place)


def _folders(place: Path) -> tuple[Path, ...]:
    return (place / "stand-ins", place, place / "cccl")


def _unpack(place: Path) -> None:
    nvrtc = _library()
    status = nvrtc.nvrtcInstallBundledHeaders(str(place).encode(), 0)[0]
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise InputError(f"NVRTC could not unpack its headers into {place} ({status.name}).", "Free some space there.")
    for header, contents in STAND_INS.items():
        path = place / "stand-ins" / header
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents, encoding="utf-8")
