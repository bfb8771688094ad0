"""Compiler output: the cubin, and facts about its kernels that only the compiler and the source have."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from warpbound.program.kernel_signatures import Signature

_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_UNKNOWN = re.compile(r'identifier ".*" is undefined')
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
    """(name, type) of the parameters of every kernel by plain name, for each overload of the name.

    A prototype counts only if there is no definition with its types, because its names may differ or be missing.
    """
    result: dict[str, list[list[tuple[str, str]]]] = {}
    for kernel in sorted(kernels, key=lambda kernel: kernel.is_prototype):
        same_name = result.setdefault(kernel.name, [])
        if not (kernel.is_prototype and any(_types(other) == _types(kernel.parameters) for other in same_name)):
            same_name.append(list(kernel.parameters))
    return result


def _types(parameters: Sequence[tuple[str, str]]) -> list[str]:
    """The types of parameters without the parts that a prototype may omit or write differently."""
    plain = (re.sub(r"\b(?:const|__restrict__|__restrict|restrict)\b|\s", "", kind) for _, kind in parameters)
    return [re.sub(r"\[\d*\]", "*", kind) for kind in plain]


def root_cause(errors: Sequence[tuple[str, str, str]]) -> tuple[str, str, str]:
    """The error (file, line, message) that names the cause: of those in the first one's line, an unknown name.

    At an unknown type, the compiler first complains about the tokens before it.
    """
    file, line, _ = errors[0]
    return next((each for each in errors if each[:2] == (file, line) and _UNKNOWN.search(each[2])), errors[0])
