"""Names and headers that nvcc has and NVRTC lacks: those of cuda_runtime.h, and headers that only host code needs.

nvcc includes cuda_runtime.h before every file, and with it the C library's limits, types and mathematics (CUDA C++
Programming Guide, "Compilation with NVCC"). The compiler's log states which of these a file misses.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from warpbound.program.host_headers import STAND_INS, STANDARD
from warpbound.quick_dataclasses import dataclass

BROUGHT = "warpbound-brought.h"  # the header before the file
UNMARKED = "-default-device"  # the flag that takes functions without a mark for device code
_BEFORE = f"--pre-include={BROUGHT}"
_SHORT = "typedef unsigned int uint;\ntypedef unsigned short ushort;\ntypedef unsigned long ulong;\n"
_OF_STD = "".join(f"#include <{name}>\n" for name in ("algorithm", "cmath", "limits", "type_traits", "utility"))
_BRINGS = (  # an unknown name -> what declares it
    (r"u?int(?:(?:_least|_fast)?\d+|max|ptr)_t|U?INT(?:\d+|MAX|PTR)_(?:MAX|MIN)|SIZE_MAX", "#include <stdint.h>\n"),
    (r"INFINITY|NAN|HUGE_VALF?|M_\w+", "#include <math.h>\n"),
    (r"(?:FLT|DBL|LDBL)_\w+", "#include <float.h>\n"),
    (r"(?:U?(?:CHAR|SHRT|INT|LONG|LLONG)|SCHAR)_(?:MAX|MIN)|CHAR_BIT", "#include <limits.h>\n"),
    (r"ptrdiff_t|max_align_t", "#include <stddef.h>\n"),
    (r"uint|ushort|ulong", _SHORT),
    (r"(?:__)?half2?|__half2?_raw|__\w*half\w*|__h\w+2?", "#include <cuda_fp16.h>\n"),
    (r"(?:__)?nv_bfloat162?|__\w*bfloat\w*", "#include <cuda_bf16.h>\n"),
    (r"__nv_fp8\w*", "#include <cuda_fp8.h>\n"),
    (r"std", _OF_STD),
)
_KNOWN = tuple((re.compile(pattern), text) for pattern, text in _BRINGS)
_UNKNOWN = re.compile(r'identifier "(\w+)" is undefined|namespace "(std)" has no member')
_NO_NAMESPACE = re.compile(r"must be a (?:class or )?namespace name\n.*\bstd\s*::")
_ERRING = re.compile(r"^(.*?)\(\d+\): (?:catastrophic )?error", re.M)
_DEVICE = re.compile(r"__(?:device|global|constant|shared)__")
_PARTS = 3  # of a path, as `#include` may spell it
_UNOPENED = re.compile(r'^(.*?)\((\d+)\): .*cannot open source file "([^"]*)"', re.M)


@dataclass(frozen=True)
class Help:
    """What is given to the compiler beside the file: headers as text, flags.

    left_out : headers that an empty one stands in for -> who includes it, `k.cu, line 3`.
    """

    headers: Mapping[str, str]
    flags: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def more(log: str, now: Help, name: str = "") -> Help:
    """`now` and further remedies from the log of a refusal; equal to `now` if there are none.

    name : of the file, as the log has it. Headers in which alone errors are, and which no device code is in, go.
    """
    headers, flags = dict(now.headers), list(now.flags)
    absent = {name: f"{file}, line {line}" for file, line, name in _UNOPENED.findall(log) if name not in headers}
    headers.update(dict.fromkeys(absent, ""))
    if absent.keys() & STANDARD:  # the compiler stops at the first of them
        headers.update({name: headers.get(name, "") for name in STANDARD - STAND_INS.keys()})
    headers.update(dict.fromkeys(_of_host(log, name), ""))
    brought = headers.get(BROUGHT, "")
    new_lines = [text for text in dict.fromkeys(_brought(log)) if text not in brought]
    if new_lines:
        headers[BROUGHT] = brought + "".join(new_lines)
        flags = list(dict.fromkeys([*flags, _BEFORE]))
    if UNMARKED in log and UNMARKED not in flags:  # constexpr functions
        flags.append(UNMARKED)
    return Help(headers, tuple(flags), {**now.left_out, **absent})


def _of_host(log: str, name: str) -> Iterator[str]:
    """Every way to include the headers that the errors of a log are in, where they hold host code alone."""
    paths = [] if _UNOPENED.search(log) else [Path(file) for file in dict.fromkeys(_ERRING.findall(log))]
    if not name or any(not _is_of_host(path) or path == Path(name) for path in paths):
        return
    for path in paths:
        yield from ("/".join(path.parts[-count:]) for count in range(1, min(_PARTS, len(path.parts)) + 1))


def _is_of_host(path: Path) -> bool:
    try:
        return _DEVICE.search(path.read_text("utf-8", "replace")) is None
    except OSError:
        return False


def _brought(log: str) -> Iterator[str]:
    names = [name or space for name, space in _UNKNOWN.findall(log)]
    names += ["std"] if _NO_NAMESPACE.search(log) else []
    for name in names:
        for pattern, text in _KNOWN:
            if pattern.fullmatch(name):
                yield text
