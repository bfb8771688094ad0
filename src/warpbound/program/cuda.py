"""CUDA C++ to a cubin by NVRTC, remembered under the hash of all that goes in.

NVRTC carries the CUDA headers inside itself (13.3 and later); they are unpacked once per version.
"""

import importlib.metadata
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from warpbound.errors import InputError, MissingTool
from warpbound.program.cache import cached, digest, folder, keep
from warpbound.program.host_code import Signature, Source, take_apart

FRONT_END = "2"  # raise when the front end changes what it makes of the same input
COMPILED_ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)

_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_STUBS = {  # headers that host code includes and device code does not need under NVRTC
    "cuda_runtime.h": "",
    "cuda_runtime_api.h": "",
    "cuda.h": "",
    "device_launch_parameters.h": "",
    "math.h": "",
    "cmath": "",
    "assert.h": "",
    "cassert": "",
    "stdint.h": """#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
""",
    "cstdint": '#include "stdint.h"\n',
    "stddef.h": "",
    "cstddef": "",
}


@dataclass(frozen=True)
class Options:
    """How to compile: macro definitions, include folders, further NVRTC options, a kernel to instantiate."""

    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    extra: tuple[str, ...] = ()
    instance: str | None = None


class Compiled(msgspec.Struct, frozen=True):
    """A cubin with what only the compiler and the source know of its kernels."""

    cubin: bytes
    titles: dict[str, str]  # mangled name -> name expression
    parameters: dict[str, list[tuple[str, str]]]  # plain kernel name -> (name, type) in order
    spills: dict[str, tuple[int, int]]  # mangled name -> bytes stored, bytes loaded
    warnings: str


def version() -> str:
    """Version of the NVRTC wheel; empty when it is not installed."""
    try:
        return importlib.metadata.version("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        return ""


def compile_cuda(text: str, name: str, arch: int, options: Options) -> Compiled:
    """Compile `text` (called `name` in messages) for sm_`arch`.

    Raises MissingTool without NVRTC, InputError with the compiler's own words where it refuses.
    """
    key = digest(
        "nvrtc", FRONT_END, version(), name, text, str(arch), repr(options.defines), repr(options.extra),
        options.instance or "", *_headers(text, options.include),
    )  # fmt: skip
    packed = cached(key, lambda: msgspec.msgpack.encode(_compile(text, name, arch, options)))
    return msgspec.msgpack.decode(packed, type=Compiled)


def _headers(text: str, include: Iterable[Path]) -> list[bytes]:
    """Contents of every header that `text` can reach in the user's folders, through any condition."""
    found: dict[Path, bytes] = {}
    pending = [text]
    folders = list(include)
    while pending:
        for name in _INCLUDE.findall(pending.pop()):
            for place in folders:
                path = place / name
                if path not in found and path.is_file():
                    found[path] = path.read_bytes()
                    folders.append(path.parent)
                    pending.append(found[path].decode(errors="replace"))
    return [found[path] for path in sorted(found)]


def _compile(text: str, name: str, arch: int, options: Options) -> Compiled:
    bundled = _bundled_headers()
    places = (*options.include, bundled / "stubs", bundled, bundled / "cccl")
    source = take_apart(text, lambda header: any((place / header).is_file() for place in places))
    flags = [
        f"-arch=sm_{arch}", "-lineinfo", "--ptxas-options=-v",
        *(f"-D{key}={value}" if value else f"-D{key}" for key, value in options.defines),
        *(f"-I{place}" for place in places), *options.extra,
    ]  # fmt: skip
    wanted = tuple(dict.fromkeys((*source.launched, *([options.instance] if options.instance else []))))
    attempts = [(source.device, wanted)]
    if source.device != text:
        attempts.append((text, wanted))
    first_log = ""
    for attempt, (code, instances) in enumerate(attempts):
        cubin, titles, log = _nvrtc(code, name, flags, instances)
        if cubin is not None:
            _require_kernel(source, titles, cubin, name)
            return Compiled(cubin, titles, _named(source.kernels), _spills(log), _warnings(log))
        first_log = log if attempt == 0 else first_log
    raise InputError(_complaint(first_log, name, options), "Mend the source, or give -I, --define or --nvrtc.")


def _require_kernel(source: Source, titles: dict[str, str], cubin: bytes, name: str) -> None:
    if b".text." in cubin:
        return
    if source.kernels:
        one = source.kernels[0].name
        raise InputError(
            f"{name}: nothing instantiates its kernel templates ({', '.join(s.name for s in source.kernels)}).",
            f"Name an instance: --kernel '{one}<float>'.",
        )
    raise InputError(f"{name}: there is no __global__ function in it.", "Give a file with a kernel.")


def _nvrtc(
    code: str, name: str, flags: list[str], instances: tuple[str, ...]
) -> tuple[bytes | None, dict[str, str], str]:
    """(cubin or None, mangled name -> name expression, the compiler's log)."""
    nvrtc = _library()
    status, program = nvrtc.nvrtcCreateProgram(code.encode(), name.encode(), 0, None, None)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise InputError(f"{name}: NVRTC did not start ({status.name}).", "Try `warpbound doctor`.")
    try:
        for instance in instances:
            nvrtc.nvrtcAddNameExpression(program, instance.encode())
        (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
        raw = _fetch(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        log = raw.decode(errors="replace").rstrip("\0\n ")
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return None, {}, log or status.name
        cubin = _fetch(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
        titles = {}
        for instance in instances:
            status, lowered = nvrtc.nvrtcGetLoweredName(program, instance.encode())
            if status == nvrtc.nvrtcResult.NVRTC_SUCCESS:
                titles[lowered.decode()] = instance
        return cubin, titles, log
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _library() -> Any:
    try:
        from cuda.bindings import nvrtc
    except ImportError as missing:
        raise MissingTool("Compiling CUDA C++ needs NVRTC.", "Install warpbound[cuda].") from missing
    return nvrtc


def _fetch(size_of: Callable[[Any], Any], fetch: Callable[[Any, bytes], Any], program: Any) -> bytes:
    _, size = size_of(program)
    room: bytes = b" " * size
    fetch(program, room)
    return room


def _bundled_headers() -> Path:
    """The folder of NVRTC's own headers, unpacked on first use, with stubs for host headers beside them."""
    nvrtc = _library()
    place = folder() / f"headers-{version()}-{FRONT_END}"
    if not (place / "complete").is_file():
        place.mkdir(parents=True, exist_ok=True)
        status = nvrtc.nvrtcInstallBundledHeaders(str(place).encode(), 0)[0]
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise InputError(
                f"NVRTC could not unpack its headers into {place} ({status.name}).", "Free some space there."
            )
        for header, contents in _STUBS.items():
            keep(place / "stubs" / header, contents.encode())
        keep(place / "complete", b"")
    return place


def _complaint(log: str, name: str, options: Options) -> str:
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith("ptxas info")]
    if any("name expression" in line for line in lines) and options.instance:
        return f"{name} has no kernel `{options.instance}`:\n  " + "\n  ".join(lines)
    return f"{name} does not compile:\n  " + "\n  ".join(lines[:40]) + "\n"


def _warnings(log: str) -> str:
    return "\n".join(line for line in log.splitlines() if "warning" in line)


def _spills(log: str) -> dict[str, tuple[int, int]]:
    found, entry = {}, ""
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            entry = match[1]
        elif (match := _SPILLS.search(line)) and entry:
            found[entry] = (int(match[1]), int(match[2]))
            entry = ""
    return found


def _named(kernels: Iterable[Signature]) -> dict[str, list[tuple[str, str]]]:
    return {kernel.name: list(kernel.parameters) for kernel in kernels}
