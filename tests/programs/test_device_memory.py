"""Device memory of a program: addresses that both processes share."""

import errno
import mmap
from typing import Any

import pytest

from warpbound.errors import InputError
from warpbound.programs.device_memory import Heap


def test_a_limit_on_addresses_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refused)
    with pytest.raises(InputError, match=r"GiB of addresses .* \(Cannot allocate memory\)\. .*ulimit -v unlimited"):
        Heap(1 << 30)
