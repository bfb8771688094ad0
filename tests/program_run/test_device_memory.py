"""Device memory of a program: addresses that both processes share."""

import errno
import mmap
from typing import Any

import numpy as np
import pytest

from warpbound.errors import InputError
from warpbound.program_run.device_memory import NEAR, Heap, HeapImage
from warpbound.program_run.protocol import HEAP, MemoryKind


def test_a_limit_on_addresses_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refused)
    with pytest.raises(InputError, match=r"GiB of addresses .* \(Cannot allocate memory\)\. .*ulimit -v unlimited"):
        Heap(1 << 30)


def test_strays_read_zeros_and_write_nothing() -> None:
    heap = Heap(1 << 30)
    start = heap.allocate(64, MemoryKind.DEVICE_MEMORY)
    heap.bytes[start - HEAP : start - HEAP + 64] = 7
    image, lanes = HeapImage(heap, heap.bytes), np.arange(8, dtype=np.uint64)
    addresses = np.uint64(start - 16) + 4 * lanes  # four before the allocation, four in it
    before = heap.bytes[start - HEAP : start - HEAP + 4096].copy()
    assert image.let_through(addresses, None, 4) is None
    image.let_strays_pass()
    for active in (None, lanes > 0):
        places = image.let_through(addresses, active, 4)
        assert places is not None
        assert image.load(places, 4)[1:].tolist() == [0, 0, 0, *[0x07070707] * 4]
        image.store(places[:4], 4, np.uint32(9))
    assert (heap.bytes[start - HEAP : start - HEAP + 4096] == before).all()
    assert image.strays == 4 + 3
    assert image.let_through(addresses + np.uint64(1), None, 4) is None  # misaligned
    assert image.let_through(addresses - np.uint64(2 * NEAR), None, 4) is None  # too far away
    heap.close()
