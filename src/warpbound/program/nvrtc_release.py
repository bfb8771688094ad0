"""NVRTC of another release than the one in this process: found among the installed wheels, called in its own process.

Wheels  `nvidia-cuda-nvrtc-cu11` (11.8) and `nvidia-cuda-nvrtc-cu12` (12.x) put their library into `nvidia/cuda_nvrtc`,
        the headers of `nvidia-cuda-runtime-cu12` lie in `nvidia/cuda_runtime`.
"""

import ctypes
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from warpbound.errors import InputError, MissingTool, install
from warpbound.quick_dataclasses import dataclass

CHILD = "warpbound.program.nvrtc_process"
TIMEOUT_S = 300
_SUCCESS = 0


class Task(msgspec.Struct, frozen=True):
    """A compilation: the library, the text and its name, headers given as text, flags and name expressions."""

    path: str
    code: str
    name: str
    headers: dict[str, str]
    flags: list[str]
    instances: list[str]


class Answer(msgspec.Struct, frozen=True):
    """A cubin, empty where the compiler refused; mangled name -> name expression; the log."""

    cubin: bytes
    titles: dict[str, str]
    log: str


@dataclass(frozen=True)
class Release:
    """An NVRTC on disk: its library, `12.6`, the architectures that it compiles for, its folders of CUDA headers."""

    path: Path
    name: str
    architectures: tuple[int, ...]
    include: tuple[Path, ...]


def release(name: str) -> Release:
    """The installed NVRTC of a release. Raises MissingTool where it is not installed."""
    every = releases()
    for each in every:
        if each.name == name:
            return each
    hint = f" Installed are {', '.join(each.name for each in every)}." if every else ""
    extra = "nvrtc11" if name.startswith("11.") else "nvrtc12"
    exact = f" nvidia-cuda-nvrtc-cu{name.partition('.')[0]}=={name}.*"
    raise MissingTool(f"NVRTC {name} is not installed.{hint}", install(extra) + exact)


@cache
def releases() -> tuple[Release, ...]:
    """Every NVRTC of a wheel of an older release, the newest first."""
    described = [each for library in _libraries() if (each := _described(library)) is not None]
    return tuple(sorted(described, key=lambda each: tuple(map(int, each.name.split("."))), reverse=True))


def _libraries() -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        yield from sorted(Path(root).glob("cuda_nvrtc/lib/libnvrtc.so.*"))
        yield from sorted(Path(root).glob("cu13/lib/libnvrtc.so.13"))


def _described(library: Path) -> Release | None:
    """The library's description of itself, from a separate process; None if it does not load."""
    import subprocess

    process = subprocess.run(
        [sys.executable, "-P", "-m", CHILD, str(library)], capture_output=True, check=False, timeout=TIMEOUT_S
    )
    match = re.match(rb"(\d+\.\d+)((?: \d+)+)\n", process.stdout)
    if match is None:
        return None
    folders = [library.parent.parent.parent / "cuda_runtime" / "include", *library.parent.parent.glob("include")]
    return Release(
        library,
        match[1].decode(),
        tuple(int(word) for word in match[2].split()),
        tuple(place for place in folders if (place / "cuda_fp16.h").is_file()),
    )


def build(task: Task) -> Answer:
    """Compile in a process of its own. Raises InputError where the compiler breaks down."""
    import subprocess  # answers from the cache do not load it

    try:
        process = subprocess.run(
            [sys.executable, "-P", "-m", CHILD], input=msgspec.msgpack.encode(task), capture_output=True,
            timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        return msgspec.msgpack.decode(process.stdout, type=Answer)
    except subprocess.TimeoutExpired:
        raise InputError(f"{task.name}: NVRTC was stopped after {TIMEOUT_S} s.", "Split the file.") from None
    except msgspec.DecodeError:
        raise InputError(
            f"{task.name}: NVRTC broke down on it (exit status {process.returncode}).", "Take another --compiler."
        ) from None


def loaded(library: str) -> ctypes.CDLL:
    """The library, after its built-in functions, which it asks for by name."""
    for builtins in sorted(Path(library).parent.glob("libnvrtc-builtins.so*")):
        try:
            ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return ctypes.CDLL(library)


def description(library: str) -> str:
    """`12.6 50 52 ... 90`: the release and the architectures."""
    nvrtc = loaded(library)
    major, minor, count = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    every = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(every)
    return f"{major.value}.{minor.value} {' '.join(map(str, every))}\n"


def answer(task: Task) -> Answer:
    """The compilation itself, in the process that has the library."""
    nvrtc = loaded(task.path)
    program = ctypes.c_void_p()
    texts, names = _strings(task.headers.values()), _strings(task.headers)
    status = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), task.code.encode(), task.name.encode(errors="replace"), len(task.headers), texts, names
    )
    if status != _SUCCESS:
        return Answer(b"", {}, f"NVRTC did not start (status {status})")
    for instance in task.instances:
        nvrtc.nvrtcAddNameExpression(program, instance.encode())
    status = nvrtc.nvrtcCompileProgram(program, len(task.flags), _strings(task.flags))
    log = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
    text = log.decode(errors="replace").rstrip("\0\n ")
    if status != _SUCCESS:
        return Answer(b"", {}, text or f"status {status}")
    cubin = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    return Answer(cubin, dict(_titles(nvrtc, program, task.instances)), text)


def _titles(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, instances: Sequence[str]) -> Iterator[tuple[str, str]]:
    for instance in instances:
        lowered = ctypes.c_char_p()
        if nvrtc.nvrtcGetLoweredName(program, instance.encode(), ctypes.byref(lowered)) == _SUCCESS and lowered.value:
            yield lowered.value.decode(), instance


def _strings(words: Iterable[str]) -> Any:
    raw = [word.encode(errors="surrogateescape") for word in words]
    return (ctypes.c_char_p * len(raw))(*raw)


def _fetch(size_of: Any, fetch: Any, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    size_of(program, ctypes.byref(size))
    room = ctypes.create_string_buffer(size.value)
    fetch(program, room)
    return room.raw
