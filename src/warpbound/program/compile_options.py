"""How to compile CUDA C++: macros, folders, options, the compiler; and the target that the options name."""

import os
import re
from dataclasses import replace
from pathlib import Path

from warpbound.errors import InputError
from warpbound.quick_dataclasses import dataclass

_ARCH_OPTION = re.compile(r"^(?:-arch|--gpu-architecture)(?:=(.*))?$")


@dataclass(frozen=True)
class Options:
    """How to compile.

    defines : macros. include : folders, the source's own first. extra : further options of the compiler.
    instance : a kernel to instantiate. compiler : `auto`, `nvrtc`, `nvrtc-12.6`, `nvcc` or `nvcc=PATH`.
    home : the folder of the source, None for text that is in no file: its repository is searched for headers.
    build : the folder of a compile_commands.json; None where none is given.
    """

    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    extra: tuple[str, ...] = ()
    instance: str | None = None
    compiler: str = "nvrtc"
    home: Path | None = None
    build: Path | None = None


def compiler_name(word: str) -> str:
    """The compiler's name; $WARPBOUND_COMPILER, if it is set, replaces `auto`."""
    return os.environ.get("WARPBOUND_COMPILER") or word if word == "auto" else word


def with_instance(options: Options, kernel: str | None) -> Options:
    """The options that also instantiate `kernel`, where that is a name expression."""
    return replace(options, instance=kernel) if kernel and "<" in kernel else options


def target_of(extra: tuple[str, ...], arch: int) -> tuple[str, list[str]]:
    """The architecture by the user's own -arch, else sm_`arch`; the other options.

    Raises InputError where -arch names another architecture.
    """
    words, rest, target = list(extra), [], f"sm_{arch}"
    while words:
        word = words.pop(0)
        match = _ARCH_OPTION.match(word)
        if match is None:
            rest.append(word)
            continue
        target = match[1] if match[1] is not None else words.pop(0) if words else ""
        if not re.fullmatch(rf"sm_{arch}[af]?", target):
            raise InputError(
                f"--nvrtc {word}: the code would be for {target or 'nothing'}, the GPU is sm_{arch}.",
                f"Choose another --gpu; for features of one architecture write --nvrtc -arch=sm_{arch}a.",
            )
    return target, rest
