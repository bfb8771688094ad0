"""Compiles the replacement of libcudart for a program, once for each set of symbols, with the host's C compiler."""

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from warpbound.host_compiler import shared_library
from warpbound.program_run.protocol import header

_DEFINED = re.compile(r"^EXPORT [^;{]*?\b((?:__)?cuda\w+)\(", re.M)
_PER_THREAD = re.compile(r"_pt(?:sz|ds)$")  # variants for programs whose default stream is one per thread
NOT_SUPPORTED = {  # library -> what its functions return for a function that is not supported; else 1
    "libcudart": 801, "libcuda": 801, "libcublas": 15, "libcublasLt": 15, "libcufft": 16, "libcusparse": 10,
    "libcusolver": 9,
}  # fmt: skip


def sources() -> dict[str, str]:
    """The C files of the replacement, by name."""
    folder = files("warpbound.program_run") / "runtime"
    texts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith((".c", ".h"))}
    return dict(sorted(texts.items()))


def defined() -> frozenset[str]:
    """The functions that the replacement has."""
    return frozenset(name for text in sources().values() for name in _DEFINED.findall(text))


def replacement(release: int, soname: str, version: str, imported: Iterable[str]) -> bytes:
    """A libcudart with these names and version node; functions that it lacks among `imported` are refused when called.

    release : 11, 12 or 13. Raises MissingTool without a C compiler, InputError where it fails.
    """
    own = defined()
    lacking = sorted(set(imported) - own)
    aliases = {name: base for name in lacking if (base := _PER_THREAD.sub("", name)) in own}
    refused = [name for name in lacking if name not in aliases]
    texts = {**sources(), "operations.h": header(), "refused.c": _refusals(refused)}
    texts["symbols.map"] = _version_script(version)
    options = [
        f"-DCUDART={release}", f"-DCUDART_VERSION={release}000", f"-Wl,-soname,{soname}",
        *(f"-Wl,--defsym,{name}={base}" for name, base in aliases.items()),
    ]  # fmt: skip
    return _library(texts, options)


def stub_library(soname: str, version: str, imported: Sequence[str]) -> bytes:
    """A library of CUDA whose every function is refused when it is called."""
    value = NOT_SUPPORTED.get(soname.partition(".")[0], 1)
    texts = {
        "stand_in.c": "".join(
            f'int {name}(void) {{ warpbound_refuse("{name}"); return {value}; }}\n' for name in sorted(imported)
        ),
        "symbols.map": _version_script(version),
    }
    texts["stand_in.c"] = "extern int warpbound_refuse(const char *);\n" + texts["stand_in.c"]
    return _library(texts, [f"-Wl,-soname,{soname}"])


def _refusals(names: Sequence[str]) -> str:
    lines = ['#include "runtime.h"', "EXPORT int warpbound_refuse(const char *name) { return refuse(name); }"]
    lines += [f'EXPORT int {name}(void) {{ return refuse("{name}"); }}' for name in names]
    return "\n".join([*lines, ""])


def _version_script(version: str) -> str:
    exports = "cuda*; __cuda*; warpbound_*; *;"
    return f"{version} {{ global: {exports} }};\n" if version else f"{{ global: {exports} }};\n"


def _library(texts: Mapping[str, str], options: Sequence[str]) -> bytes:
    own = [
        "-std=gnu11", "-O2", "-fvisibility=default", "-w", "-Wl,-z,noexecstack", "-Wl,--version-script=symbols.map",
    ]  # fmt: skip
    return shared_library("the replacement of libcudart", texts, [*own, *options], ["-lpthread"])
