"""Handlers of instructions outside the backward slice: they check and record addresses, and compute no values."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import async_copy, bulk_copies, loads_and_stores, tensor_boxes
from warpbound.emulate.addresses import SHARED_WINDOW, global_address, memory_operand, window_address
from warpbound.emulate.handlers import PLAIN
from warpbound.emulate.lane_queries import every
from warpbound.emulate.loads_and_stores import (
    by_space,
    checked_window,
    in_window,
    inside_window,
    located_global,
    note_fresh,
    note_window_store,
    width,
)
from warpbound.emulate.operand_access import Site
from warpbound.emulate.semantics import Handler
from warpbound.emulate.state import FRESH, State, Value
from warpbound.isa.traits import table, traits
from warpbound.program.instruction import RZ, Operand
from warpbound.program.registers import writes

REMEMBERED = 128  # address register contents that each access caches


def _noting(here: Site) -> Handler:
    """Marks the result registers as written."""
    numbers = [int(name[1:]) for name in writes(here.instruction) if name[0] == "R"]

    def note(x: State) -> None:
        for number in numbers:
            if x.normal[number] == FRESH:
                x.normal[number] = 0

    return note


def counted(build: Callable[[Site], Handler]) -> Callable[[Site], Handler]:
    """Arithmetic that is only counted; `build` still refuses an instruction that the emulator cannot execute."""

    def built(here: Site) -> Handler:
        build(here)
        return _noting(here)

    return built


def load_addresses(here: Site) -> Handler:
    """A load from one space."""
    size, operand, space, note = width(here), memory_operand(here), here.instruction.traits.spaces[0], _noting(here)
    if space == "global":
        wide = global_address(operand, here)

        def load_global(x: State) -> None:
            x.image.look(located_global(x, wide(x), size), size)
            note(x)

        return load_global
    narrow = window_address(operand, here)

    def access(x: State) -> None:
        window = x.windows[space]
        if window.written is None:
            inside_window(x, space, narrow(x), size)
        else:
            note_fresh(x, window, checked_window(x, space, narrow(x), size), size)

    remembered = _remembering(operand, access) if space == "shared" else access

    def load_window(x: State) -> None:
        remembered(x)
        note(x)

    return load_window


def load_generic_addresses(here: Site) -> Handler:
    """A load whose addresses select the space."""
    size, address, note = width(here), global_address(memory_operand(here), here), _noting(here)

    def one(x: State, space: str, addresses: NDArray[np.uint64]) -> None:
        if space == "global":
            x.image.look(located_global(x, addresses, size), size)
        else:
            note_fresh(x, x.windows[space], checked_window(x, space, in_window(addresses), size), size)

    remembered = _remembering(memory_operand(here), lambda x: by_space(x, address(x), one), address)

    def load_generic(x: State) -> None:
        remembered(x)
        note(x)

    return load_generic


def store_generic_addresses(here: Site) -> Handler:
    """A store whose addresses select the space."""
    size, address = width(here), global_address(memory_operand(here), here)

    def one(x: State, space: str, addresses: NDArray[np.uint64]) -> None:
        if space == "global":
            offsets = located_global(x, addresses, size)
            x.image.note_stored(offsets if x.mask is None else offsets[x.mask], size)
        else:
            note_window_store(x, space, in_window(addresses), size, [])

    return _remembering(memory_operand(here), lambda x: by_space(x, address(x), one), address)


def store_addresses(here: Site) -> Handler:
    """A store to one space."""
    size, operand, space = width(here), memory_operand(here), here.instruction.traits.spaces[0]
    if space == "global":
        wide = global_address(operand, here)

        def store_global(x: State) -> None:
            offsets = located_global(x, wide(x), size)
            x.image.note_stored(offsets if x.mask is None else offsets[x.mask], size)

        return store_global
    narrow = window_address(operand, here)

    def store_window(x: State) -> None:
        note_window_store(x, space, narrow(x), size, [])

    return _remembering(operand, store_window) if space == "shared" else store_window


def copy_addresses(here: Site) -> Handler:
    """LDGSTS whose bytes nobody needs."""
    if here.has("ZFILL"):
        return async_copy.copy(here)
    target, size = async_copy.target(here), width(here)
    put_at = window_address(target, here)
    remembered = _remembering(target, lambda x: note_window_store(x, "shared", put_at(x), size, []))
    return async_copy.copying(here, _located, lambda x, _: remembered(x))


def _located(x: State, addresses: NDArray[np.uint64], size: int) -> list[Value]:
    x.image.look(located_global(x, addresses, size), size)
    return []


def _remembering(
    operand: Operand, access: Handler, generic: Callable[[State], NDArray[np.uint64]] | None = None
) -> Handler:
    """An access to shared memory that repeats its last record while lane group and address register stay the same.

    That is exact: bytes once written stay written, and a read of unwritten bytes is reported once.
    operand : its address. generic : the addresses, if their upper words select the space; others are not remembered.
    """
    terms = [term for term in operand.terms if term.index != RZ]
    if len(terms) != 1 or terms[0].kind != "register":
        return access
    low, high = terms[0].index, terms[0].index + (generic is not None)
    by_state: dict[tuple[int, bytes, bytes], Callable[[], None]] = {}
    owner: State | None = None
    last = (0, 0, 0)
    again: Callable[[], None]

    def handler(x: State) -> None:
        nonlocal owner, last, again
        if x.mask is not None or x.recorder is None:
            access(x)
            return
        now = (x.turn, x.version[low], x.version[high])
        if owner is not x or now != last:
            if owner is not x or len(by_state) >= REMEMBERED:
                by_state.clear()
            key = (x.turn, x.get(low).tobytes(), x.get(high).tobytes())
            owner, last, fresh = x, now, key not in by_state
            if fresh:
                access(x)
                in_shared = generic is None or every(generic(x) >> np.uint64(32) == SHARED_WINDOW)
                by_state[key] = x.recorder.again("shared") if in_shared else partial(access, x)
            again = by_state[key]
            if fresh:
                return
        again()

    return handler


_ADDRESSES = {
    loads_and_stores.load: load_addresses,
    loads_and_stores.store: store_addresses,
    loads_and_stores.load_generic: load_generic_addresses,
    loads_and_stores.store_generic: store_generic_addresses,
    async_copy.copy: copy_addresses,
    bulk_copies.copy_bytes: bulk_copies.count_bytes,
    tensor_boxes.load_tile: tensor_boxes.count_tile,
    tensor_boxes.store_tile: tensor_boxes.count_stored_tile,
    tensor_boxes.reduce_tile: tensor_boxes.count_reduced_tile,
}
ADDRESS_ONLY: Mapping[str, Callable[[Site], Handler]] = {
    **{opcode: counted(build) for opcode, build in PLAIN.items() if traits(opcode).is_arithmetic},
    **{opcode: _noting for opcode, entry in table().items() if entry.kind == "warpgroup_matrix"},
    **{
        opcode: _noting
        for opcode, entry in table().items()
        if entry.kind == "tensor_memory" and entry.stores | entry.loads
    },
    **{opcode: _ADDRESSES[build] for opcode, build in PLAIN.items() if build in _ADDRESSES},
}
