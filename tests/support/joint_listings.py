"""Machine code of many tests, read by one start of nvdisasm (0.3 s each) before the first of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable

import pytest

from warpbound.errors import WarpboundError
from warpbound.program import machine_code
from warpbound.program.nvdisasm import disassemble_all

_ARCH = slice(48, 52)  # the ELF header's flags


class _Compiled(Exception):
    """Raised where a cubin would be disassembled."""


def list_together(compilations: Iterable[Callable[[], object]]) -> None:
    """Into the cache: the listings of the cubins that each call would disassemble first.

    A call is ended there. One that is refused before is left for its test to see.
    """
    images: dict[bytes, list[bytes]] = defaultdict(list)

    def note(image: bytes, name: str) -> str:
        images[image[_ARCH]].append(image)
        raise _Compiled(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "disassemble", note)
        for compilation in compilations:
            try:
                compilation()
            except (_Compiled, WarpboundError):
                continue
    for of_one_arch in images.values():
        disassemble_all(of_one_arch, "the tests' kernels")


def selected(request: pytest.FixtureRequest) -> list[pytest.Function]:
    """The tests of the file of `request` that this run takes."""
    return [item for item in request.session.items if isinstance(item, pytest.Function) and item.path == request.path]


def arguments(request: pytest.FixtureRequest, test: str) -> list[dict[str, object]]:
    """The parameters of each selected case of a test in the file of `request`."""
    return [item.callspec.params for item in selected(request) if item.originalname == test]
