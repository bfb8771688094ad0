"""Compiler output: the cubin, and facts about its kernels that only the compiler and the source have."""

import re
from collections.abc import Iterable

import msgspec

from warpbound.program.kernel_signatures import Signature

_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")


class Compiled(msgspec.Struct, frozen=True):
    """A cubin with facts about its kernels that only the compiler and the source have."""

    cubin: bytes
    titles: dict[str, str]  # mangled name -> name expression
    parameters: dict[str, list[list[tuple[str, str]]]]  # by mangled or plain name: (name, type), every overload
    spills: dict[str, tuple[int, int]]  # mangled name -> bytes stored, bytes loaded
    notes: tuple[str, ...] = ()
    compiler: str = ""  # `nvcc`, `nvrtc`
    release: str = ""  # such as `13.5`


def spills(log: str) -> dict[str, tuple[int, int]]:
    """Mangled name -> (bytes stored, bytes loaded) of every kernel in the words of ptxas."""
    signatures, entry = {}, ""
    for line in log.splitlines():
        if match := _ENTRY.search(line):
            entry = match[1]
        elif (match := _SPILLS.search(line)) and entry:
            signatures[entry] = (int(match[1]), int(match[2]))
            entry = ""
    return signatures


def overloads(kernels: Iterable[Signature]) -> dict[str, list[list[tuple[str, str]]]]:
    """(name, type) of the parameters of every kernel by plain name, for each overload of the name."""
    result: dict[str, list[list[tuple[str, str]]]] = {}
    for kernel in kernels:
        result.setdefault(kernel.name, []).append(list(kernel.parameters))
    return result
