"""NVRTC through NVIDIA's Python bindings: compiles one translation unit to a cubin, and lists the shipped headers.

From 13.3 on NVRTC brings the CUDA headers inside itself; they are unpacked once per version.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from warpbound.disk_cache import digest, folder
from warpbound.errors import InputError, MissingTool, install
from warpbound.program.host_headers import STAND_INS
from warpbound.program.wheels import version_of
from warpbound.quick_dataclasses import dataclass

_LISTED = "listed.json"  # what lies in the folder of headers, to see damage
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
    """Compile with all `instances`, or with those that the compiler accepts."""
    return without_rejected_instances(_build, unit, flags, instances)


def without_rejected_instances(compile_one: Build, unit: Unit, flags: Sequence[str], instances: Sequence[str]) -> Made:
    """The result of `compile_one` for all `instances`, or for those that the compiler accepts."""
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
    name = unit.name.replace('"', "'")  # the compiler writes it between quotes into its own assembly
    name = f"./{name}" if name.startswith("-") else name  # which would be read as an option
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
    """The folders of stand-ins for host headers and of NVRTC's own.

    If the cache cannot be written, they are in a temporary folder until the end; if no folder can, there are none, and
    only code without includes compiles.
    """
    text = "".join(f"{name}\n{contents}" for name, contents in STAND_INS.items())
    place = folder() / f"headers-{version()}-{digest(text)[:12]}"
    if _sound(place) or _unpacked_into(place):
        yield _folders(place)
        return
    with ExitStack() as until_the_end:
        try:
            passing = Path(until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="warpbound-headers-")))
            _unpack(passing)
            places = _folders(passing)
        except (OSError, InputError):
            places = ()
        yield places


def _unpacked_into(place: Path) -> bool:
    """Whether the headers now lie there: unpacked beside, then put in place of what was there."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=place.parent, prefix="headers-"))
    except OSError:
        return False
    try:
        _unpack(fresh)
        (fresh / _LISTED).write_bytes(msgspec.json.encode(_files(fresh)))
        _sound.cache_clear()
        if place.is_dir() and not _sound(place):
            shutil.rmtree(place, ignore_errors=True)
        os.replace(fresh, place)
    except (OSError, InputError):  # no space, or another process was first
        shutil.rmtree(fresh, ignore_errors=True)
    _sound.cache_clear()
    return _sound(place)


@cache
def _sound(place: Path) -> bool:
    """Whether every header is there as it was unpacked, by sizes and times of change."""
    try:
        sizes_and_times = msgspec.json.decode((place / _LISTED).read_bytes(), type=dict[str, tuple[int, int]])
        return sizes_and_times == _files(place)
    except (OSError, msgspec.MsgspecError):
        return False


def _files(place: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of every file, by its path from there."""
    files, folders = {}, [(str(place), "")]
    while folders:  # thousands of files, at every start
        current, within = folders.pop()
        with os.scandir(current) as entries:
            for entry in entries:
                if entry.is_dir():
                    folders.append((entry.path, f"{within}{entry.name}/"))
                else:
                    stat = entry.stat()
                    files[within + entry.name] = (stat.st_size, stat.st_mtime_ns)
    files.pop(_LISTED, None)
    return files


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
