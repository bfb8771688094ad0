"""cp.async: LDGSTS copies from global to shared memory. The copy completes at once, so every wait succeeds."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import global_address, window_address
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.loads_and_stores import (
    checked_global,
    load_global,
    store_window,
    width,
    words_of,
)
from warpbound.emulate.operand_access import Site, is_predicate, predicate
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import BadAccess, State, Value
from warpbound.program.instruction import Operand


@executes("LDGSTS")
def copy(here: Site) -> Handler:
    """LDGSTS: lanes whose predicate is false copy zeros; with .ZFILL a lane may copy fewer bytes than its width.

    Source   compiled probes: the last bits of a source address, which must be 0 otherwise, are the bytes left out.
    """
    put_at, size = window_address(target(here), here), width(here)
    take = _part if here.has("ZFILL") else load_global
    return copying(here, take, lambda x, words: store_window(x, "shared", put_at(x), size, words))


def target(here: Site) -> Operand:
    """Where the bytes go to, in shared memory."""
    return next(operand for operand in here.instruction.operands if operand.kind == "memory")


def copying(
    here: Site,
    take: Callable[[State, NDArray[np.uint64], int], list[Value]],
    store: Callable[[State, list[Value]], None],
) -> Handler:
    """A copy. take : reads the words at global addresses. store : stores them at their destination."""
    source = [operand for operand in here.instruction.operands if operand.kind == "memory"][1]
    take_at, size = global_address(source, here), width(here)
    flags = [
        operand
        for operand in here.instruction.operands
        if is_predicate(operand) and (operand.index != 7 or operand.invert)
    ]
    condition = predicate(flags[0], here) if flags else None

    def handler(x: State) -> None:
        if condition is None:
            store(x, take(x, take_at(x), size))
            return
        copied = np.broadcast_to(condition(x), x.selected_lanes)
        count = x.mask
        active = x.active()
        words = [np.zeros(x.selected_lanes, np.uint32) for _ in range(max(1, size // 4))]
        if (active & copied).any():
            x.mask = active & copied
            try:
                words = [np.where(copied, word, np.uint32(0)) for word in take(x, take_at(x), size)]
            finally:
                x.mask = count
        store(x, words)

    return handler


def _part(x: State, addresses: NDArray[np.uint64], size: int) -> list[Value]:
    """The words of a copy that leaves out as many bytes at its end as the address is past a multiple of its size."""
    missing = addresses & np.uint64(size - 1)
    if not missing.any():
        return load_global(x, addresses, size)
    offsets = checked_global(x, addresses - missing, 1)
    last = x.image.offsets(addresses - missing + (np.uint64(size - 1) - missing), x.mask, 1)
    if isinstance(last, Fault) and x.image.tell_stray is None:
        raise BadAccess(last.lane, f"address {last.address:#x} {last.problem}")
    words = words_of(x.image.load(offsets, size), size)
    count = np.uint64(size) - missing
    return [_first_bytes(word, count, 4 * i) for i, word in enumerate(words)]


def _first_bytes(word: Value, count: NDArray[np.uint64], before: int) -> Value:
    """A word with zeros in place of the bytes beyond the first `count`; the word begins at byte `before`."""
    bits = 8 * np.clip(count.astype(np.int64) - before, 0, 4)
    return word & ((np.uint64(1) << bits.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
