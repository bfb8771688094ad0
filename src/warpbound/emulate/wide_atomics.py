"""Atomics wider than 8 bytes or on several floats at once: 16-byte swaps, vectors of FP32, FP16, BF16 (sm_90 on).

Source   PTX ISA, `atom` and `red` with .b128 and with .v2 to .v8: of a vector every element is an atomic of its own.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import global_address, memory_operand, window_address
from warpbound.emulate.atomics import Atomic, apply, atomic
from warpbound.emulate.loads_and_stores import checked_global, checked_window
from warpbound.emulate.mbarrier import arrive_early
from warpbound.emulate.operand_access import Read, Site, raw, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import State, whole
from warpbound.program.instruction import PT, RZ, Operand

Words = NDArray[np.uint32]  # of the active lanes, shape (lanes, words per lane)

_VECTOR = re.compile(r"(F32|F16|BF16)x([248])$")
_KINDS: dict[str, Any] = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}
_SMALL = ("F16x2", "BF16x2")  # one register: no vector


@executes("ATOM ATOMG ATOMS RED REDG REDS")
def any_atomic(here: Site) -> Handler:
    """An atomic or a reduction of every width, on shared memory or at a generic or global address."""
    if here.has("ARRIVE"):
        return arrive_early(here)
    traits = here.instruction.traits
    space = "shared" if traits.spaces == ("shared",) else "generic"
    vector = next((m for m in here.modifiers if _VECTOR.match(m) and m not in _SMALL), None)
    if vector is None and not here.has("128"):
        return atomic(space)(here)
    if traits.kind == "atomic" and traits.is_generic:
        raise unsupported(here.instruction)
    change = _swapped(here) if vector is None else _each_element(here, vector)
    size = 16 if vector is None else _bytes(vector)
    return _handler(here, space, size, change)


def _bytes(vector: str) -> int:
    kind, _, count = vector.partition("x")
    return int(count) * int(np.dtype(_KINDS[kind]).itemsize)


def _handler(here: Site, space: str, size: int, change: Callable[..., Words]) -> Handler:
    """Read the operands of the active lanes, let `change` update memory, and return the old values."""
    operands = here.instruction.operands
    after = operands[operands.index(memory_operand(here)) + 1 :]
    reads = [_words(operand, here, size // 4) for operand in after if operand.kind in ("register", "uniform")]
    outputs = [operand for operand in operands[: operands.index(memory_operand(here))] if operand.kind == "register"]
    if any(operand.kind == "predicate" and operand.index != PT for operand in operands):
        raise unsupported(here.instruction)
    address = (window_address if space == "shared" else global_address)(memory_operand(here), here)

    def handler(x: State) -> None:
        memory, places = _target(x, space, address(x), size)
        values = [np.stack([whole(x, reader(x)) for reader in words], axis=1) for words in reads]
        if x.mask is not None:
            places, values = places[x.mask], [column[x.mask] for column in values]
        result = change(memory, places, *values)
        x.changed = True
        if outputs and outputs[0].index != RZ:
            for i in range(size // 4):
                word = np.zeros(x.selected_lanes, np.uint32)
                word[slice(None) if x.mask is None else x.mask] = result[:, i]
                x.put(outputs[0].index + i, word)

    return handler


def _words(operand: Operand, here: Site, count: int) -> list[Read]:
    step = operand.index != RZ
    return [raw(replace(operand, index=operand.index + i * step), here) for i in range(count)]


def _target(x: State, space: str, addresses: Any, size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The memory as 32-bit words, and where each lane's first one is."""
    if space == "shared":
        window, places = x.windows["shared"], checked_window(x, "shared", addresses, size)
        if window.written is not None:
            window.note_written(places if x.mask is None else places[x.mask], size)
        return window.elements(4), places * (size // 4)
    offsets = checked_global(x, addresses, size)
    x.image.touch(offsets if x.mask is None else offsets[x.mask], size)
    return x.image.elements(4), offsets >> 2


def _swapped(here: Site) -> Callable[..., Words]:
    """CAS and EXCH of 16 bytes, lane after lane."""
    compares = here.has("CAS")
    if not compares and not here.has("EXCH"):
        raise unsupported(here.instruction)

    def change(memory: NDArray[Any], places: NDArray[np.int64], *values: Words) -> Words:
        result = np.empty((len(places), 4), np.uint32)
        for lane, place in enumerate(places):
            current = result[lane] = memory[place : place + 4]
            if not compares or (current == values[0][lane]).all():
                memory[place : place + 4] = values[-1][lane]
        return result

    return change


def _each_element(here: Site, vector: str) -> Callable[..., Words]:
    """ADD, MIN or MAX of every element of a vector."""
    name = vector.partition("x")[0]
    kind = np.dtype(_KINDS[name])
    operation = next((m for m in ("ADD", "MIN", "MAX") if here.has(m)), None)
    if operation is None:
        raise unsupported(here.instruction)
    what = Atomic(f"{operation}_BF16" if name == "BF16" else operation, kind)

    def change(memory: NDArray[Any], places: NDArray[np.int64], values: Words) -> Words:
        values = np.ascontiguousarray(values).view(kind)
        each = places[:, None] * (4 // kind.itemsize) + np.arange(values.shape[1])
        result = apply(what, memory.view(kind), each.ravel(), [values.ravel()])
        return result.reshape(values.shape).view(np.uint32)

    return change
