"""The languages of text files beside CUDA C++, and how each is recognised and read."""

import re
from collections.abc import Callable

from warpbound.machine import Gpu
from warpbound.program.cuobjdump import is_dump
from warpbound.program.kernel import Program
from warpbound.program.listings import from_bare, from_dump, from_listing
from warpbound.program.ptx import from_ptx, is_ptx
from warpbound.program.raw_sass import is_raw_sass
from warpbound.quick_dataclasses import dataclass

_LISTING = re.compile(r"^[^\S\n]*\.target\s+sm_|^[^\S\n]*/\*0000\*/", re.M)


@dataclass(frozen=True)
class Language:
    """A language of text files.

    ending : files with it are always of this language; empty if only the text decides.
    recognised : whether a text is of this language. reader : text, file name, machine -> its kernels.
    """

    ending: str
    recognised: Callable[[str, Gpu], bool]
    reader: Callable[[str, str, Gpu], tuple[Program, ...]]


LANGUAGES = [  # the first that recognises the text reads it; all else is CUDA C++
    Language(".ptx", lambda text, _: is_ptx(text), from_ptx),
    Language("", lambda text, _: is_dump(text), from_dump),
    Language("", is_raw_sass, from_bare),
    Language("", lambda text, _: _LISTING.search(text) is not None, lambda text, name, _: from_listing(text, name)),
]
