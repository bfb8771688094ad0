"""The machine code that the tests of a file compile first, disassembled by one start of nvdisasm (0.3 s each)."""

import inspect
from collections import defaultdict
from contextlib import suppress
from typing import Any

import pytest

from warpbound.errors import WarpboundError
from warpbound.program import source_files
from warpbound.program.nvdisasm import disassemble_all

_ARCH = slice(48, 52)  # the ELF header's flags


class _Compiled(BaseException):
    """Ends a test where its machine code would be read; no test catches it."""


def disassemble_together(request: pytest.FixtureRequest) -> None:
    """Into the cache: the listing of the first cubin of each selected test of the file of `request`.

    Each test runs up to there without its fixtures, `monkeypatch` excepted, and then again as usual.
    """
    images: dict[bytes, list[bytes]] = defaultdict(list)

    def note(image: bytes, *_: Any) -> Any:
        images[image[_ARCH]].append(image)
        raise _Compiled

    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path and not hasattr(item.obj, "hypothesis"):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            with pytest.MonkeyPatch.context() as patch, suppress(_Compiled, pytest.skip.Exception, Exception):
                patch.setattr(source_files, "from_cubin", note)
                names = inspect.signature(item.obj).parameters
                item.obj(**{name: parameters.get(name, patch if name == "monkeypatch" else None) for name in names})
    for of_one_arch in images.values():
        with suppress(WarpboundError):
            disassemble_all(of_one_arch, request.path.name)
