"""Atomics and reductions on global and shared memory.

Lanes of one instruction act one after the other in lane order, at every address on its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import global_address, memory_operand, window_address
from warpbound.emulate.float16 import BFLOAT
from warpbound.emulate.loads_and_stores import by_space, checked_global, checked_window, in_window, note_fresh
from warpbound.emulate.memory_windows import SHIFTS
from warpbound.emulate.operand_access import (
    FALSE,
    TRUE,
    Read,
    Site,
    raw,
    raw_pair,
    unsupported,
    write_pair,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import Handler
from warpbound.emulate.state import State, Value, whole
from warpbound.program.instruction import PT, RZ, Operand
from warpbound.quick_dataclasses import dataclass

OneSpace = Callable[[State, str, NDArray[np.uint64]], None]  # for the lanes whose addresses mean that space

FEW_LANES = 8  # lanes at one address, up to which addresses are changed together
_OPERATIONS = ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR", "EXCH", "CAS", "SAFEADD", "ARRIVE", "POPC")
_ASSOCIATIVE: dict[str, np.ufunc] = {
    "ADD": np.add, "MIN": np.minimum, "MAX": np.maximum, "AND": np.bitwise_and, "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}  # fmt: skip

_NUMBERS_WIN: dict[str, np.ufunc] = {"MIN": np.fmin, "MAX": np.fmax}  # over NaN, for floats


@dataclass(frozen=True)
class Atomic:
    """One atomic: operation, NumPy type of its element, bytes."""

    operation: str
    kind: np.dtype[Any]

    @property
    def size(self) -> int:
        return self.kind.itemsize


def _atomic(here: Site) -> Atomic:
    operation = next((m for m in here.instruction.modifiers if m in _OPERATIONS), None)
    if here.instruction.opcode == "ATOMS" and operation is None and here.has("CAST"):
        operation = "CAS"
    if operation in (None, "SAFEADD", "ARRIVE"):
        raise unsupported(here.instruction)
    kinds = {
        "F32": np.float32, "F64": np.float64, "S32": np.int32, "S64": np.int64, "U64": np.uint64, "64": np.uint64,
    }  # fmt: skip
    kind: Any = np.uint32
    for modifier in here.instruction.modifiers:
        if modifier in kinds:
            kind = kinds[modifier]
        if modifier == "BF16x2" and operation == "ADD":
            operation = "ADD_BF16x2"
        elif modifier in ("F16x2", "BF16x2", "F16", "BF16", "128"):
            kind = _packed_kind(modifier, here)
    return Atomic("ADD" if operation == "POPC" else str(operation), np.dtype(kind))


def _packed_kind(modifier: str, here: Site) -> Any:
    if modifier == "F16x2":
        return np.dtype((np.float16, 2))
    raise unsupported(here.instruction)


def apply(atomic: Atomic, memory: NDArray[Any], places: NDArray[np.int64], values: list[Any]) -> NDArray[Any]:
    """Perform the atomic at `places` of `memory` in order; returns the old values."""
    order = np.argsort(places, kind="stable")
    sorted_places = places[order]
    start = np.flatnonzero(np.r_[True, sorted_places[1:] != sorted_places[:-1]])
    values = [value[order] for value in values]
    if atomic.operation == "CAS":
        before = _swap(memory, sorted_places, start, values)
    elif atomic.operation == "ADD" and atomic.kind.kind in "ui":
        before = _sum(memory, sorted_places, start, values[0])
    else:
        before = _one_by_one(atomic, memory, sorted_places, start, values[0])
    result = np.empty_like(before)
    result[order] = before
    return result


def _sum(memory: NDArray[Any], places: Any, start: Any, value: Any) -> NDArray[Any]:
    """Integer additions: running sums within each address."""
    running = np.cumsum(value, dtype=value.dtype)
    before = running - value
    base = np.repeat(before[start], np.diff(np.r_[start, len(places)]))
    result = memory[places] + (before - base)
    last = np.r_[start[1:], len(places)] - 1
    memory[places[last]] = (result + value)[last]
    return np.asarray(result)


def _swap(memory: NDArray[Any], places: Any, start: Any, values: list[Any]) -> NDArray[Any]:
    """Compare and swap: first lanes of all addresses, then second ones; where many lanes share an address, its next
    lane that succeeds is looked for, until none does."""
    compare, swap = values
    result: NDArray[Any] = np.empty_like(swap)
    lanes = np.diff(np.r_[start, len(places)])
    few = lanes <= FEW_LANES
    for turn in range(int(lanes[few].max(initial=0))):
        own = start[few & (lanes > turn)] + turn
        result[own] = memory[places[own]]
        succeeding = own[result[own] == compare[own]]
        memory[places[succeeding]] = swap[succeeding]
    for first, count in zip(start[~few], lanes[~few], strict=True):
        place, at, last = places[first], first, first + count
        while at < last:
            current = memory[place]
            equal = np.flatnonzero(compare[at:last] == current)
            if not len(equal):
                result[at:last] = current
                break
            winner = at + equal[0]
            result[at : winner + 1] = current
            memory[place] = swap[winner]
            at = winner + 1
    return result


def _one_by_one(atomic: Atomic, memory: NDArray[Any], places: Any, start: Any, value: Any) -> NDArray[Any]:
    """Any other operation: the first lane of every address, then the second, and so on; or address by address."""
    result: NDArray[Any] = np.empty_like(value)
    counts = np.diff(np.r_[start, len(places)])
    turns = int(counts.max()) if len(counts) else 0
    running = _running(atomic)
    if running is not None and turns > len(start):
        for first, count in zip(start.tolist(), counts.tolist(), strict=True):
            place, end = places[first], first + count
            states = running(np.concatenate([memory[place : place + 1], value[first:end]]))
            result[first:end] = states[:-1]
            memory[place] = states[-1]
        return result
    for turn in range(turns):
        lanes = start[counts > turn] + turn
        place = places[lanes]
        current = memory[place]
        result[lanes] = current
        memory[place] = _result(atomic, current, value[lanes])
    return result


def _running(atomic: Atomic) -> Callable[[NDArray[Any]], NDArray[Any]] | None:
    """What makes the states of a word from its first state and the values of lanes in order; None: nothing quick."""
    if atomic.operation == "EXCH":
        return np.asarray
    if atomic.operation in ("INC", "DEC"):
        return lambda values: _counted(atomic.operation, values)
    function = _ASSOCIATIVE.get(atomic.operation)
    if atomic.kind.kind == "f" and atomic.operation in _NUMBERS_WIN:
        function = _NUMBERS_WIN[atomic.operation]
    return None if function is None else function.accumulate


def _counted(operation: str, values: NDArray[Any]) -> NDArray[Any]:
    """The states of a word that counts up or down, each time around a limit of its own."""
    state, *limits = values.tolist()
    states = [state]
    for limit in limits:
        if operation == "INC":
            state = 0 if state >= limit else state + 1
        else:
            state = limit if state == 0 or state > limit else state - 1
        states.append(state)
    return np.array(states, values.dtype)


def _result(atomic: Atomic, current: Any, value: Any) -> Any:
    operation = atomic.operation
    if operation == "EXCH":
        return value
    if operation == "ADD_BF16x2":
        return _add_bfloats(current, value)
    if operation.endswith("_BF16"):
        return _of_bfloats(operation, current, value)
    if operation == "INC":
        return np.where(current >= value, 0, current + current.dtype.type(1))
    if operation == "DEC":
        return np.where((current == 0) | (current > value), value, current - current.dtype.type(1))
    if operation == "ADD" and atomic.kind == np.float32:
        return current + value
    if atomic.kind.kind == "f" and operation in _NUMBERS_WIN:
        return _NUMBERS_WIN[operation](current, value)
    return _ASSOCIATIVE[operation](current, value)


def _changes(atomic: Atomic, before: NDArray[Any], values: list[Any]) -> bool:
    """Whether any lane stored a value that differs from the old one."""
    if atomic.operation == "CAS":
        return bool(((before == values[0]) & (values[1] != values[0])).any())
    return bool((_result(atomic, before, values[0]) != before).any())


def _add_bfloats(current: Any, value: Any) -> Any:
    total = np.zeros_like(current)
    for shift in (np.uint32(0), np.uint32(16)):
        first, second = (BFLOAT.decode(word >> shift & np.uint32(0xFFFF)) for word in (current, value))
        total |= BFLOAT.encode(first, second).astype(np.uint32) << shift
    return total


def _of_bfloats(operation: str, current: Any, value: Any) -> Any:
    first, second = BFLOAT.decode(current), BFLOAT.decode(value)
    if operation == "ADD_BF16":
        return BFLOAT.encode(first, second)
    return BFLOAT.encode(_NUMBERS_WIN[operation.removesuffix("_BF16")](first, second), np.float64(-0.0))


def reduce_only(atomic: Atomic, memory: NDArray[Any], places: NDArray[np.int64], values: list[Any]) -> None:
    """An atomic that does not return the old value."""
    function = _ASSOCIATIVE.get(atomic.operation)
    if function is None:
        apply(atomic, memory, places, values)
    else:
        function.at(memory, places, values[0])


def atomic(space: str) -> Callable[[Site], Handler]:
    """ATOM, ATOMG, RED, REDG, REDS (generic or global addresses) and ATOMS (shared)."""

    def build(here: Site) -> Handler:
        what = _atomic(here)
        operands = here.instruction.operands
        wants = operands[0].kind in ("register", "predicate")
        output = next((operand for operand in operands[:2] if operand.kind == "register"), None) if wants else None
        reads = _values(here, what)
        write = write_pair(output) if what.size == 8 else write_words(output)
        tells_success = here.has("CAST")
        flag = write_predicate(operands[0] if tells_success and operands[0].kind == "predicate" else None)
        silent = (output is None or output.index == RZ) and not tells_success

        def one(x: State, where: str, addresses: NDArray[np.uint64]) -> None:
            memory, places = _target(x, what, where, addresses)
            values = [_lane_values(x, reader, what) for reader in reads]
            if silent:
                reduce_only(what, memory, places, values)
                x.changed = True
                return
            result = apply(what, memory, places, values)
            x.changed = x.changed or _changes(what, result, values)
            if tells_success:
                result = (result == values[0]).astype(what.kind)
                _deliver(x, lambda x, value: flag(x, value != 0), result, what)
            _deliver(x, write, result, what)

        if space == "shared":
            narrow = window_address(memory_operand(here), here)
            return lambda x: one(x, "shared", narrow(x).astype(np.uint64))
        wide = global_address(memory_operand(here), here)
        success = operands[0] if operands[0].kind == "predicate" and operands[0].index != PT else None
        if success is not None and not tells_success:
            return _in_global_only(wide, one, success)
        return lambda x: by_space(x, wide(x), one)

    return build


def _in_global_only(address: Callable[[State], NDArray[np.uint64]], onespace: OneSpace, success: Operand) -> Handler:
    """An atomic for global memory only: the predicate marks the lanes that it served; code for the others follows."""
    tell = write_predicate(success)

    def served(x: State, where: str, addresses: NDArray[np.uint64]) -> None:
        if where == "global":
            onespace(x, where, addresses)
            tell(x, TRUE)

    def handler(x: State) -> None:
        addresses = address(x)
        tell(x, FALSE)
        by_space(x, addresses, served)

    return handler


def _values(here: Site, what: Atomic) -> list[Read]:
    """The operands after the address: one value, or compare and swap."""
    operands = here.instruction.operands
    after = [
        operand
        for operand in operands[operands.index(memory_operand(here)) + 1 :]
        if operand.kind in ("register", "uniform", "immediate", "float", "constant")
    ]
    if here.has("POPC") and not after:
        return [lambda x: np.uint32(1)]
    reader = raw_pair if what.size == 8 else raw
    if what.operation == "CAS" and len(after) == 1:  # a run of registers: compare, then swap
        pair = after[0]
        second = Operand(pair.kind, pair.text, index=pair.index + what.size // 4)
        return [reader(pair, here), reader(second, here)]
    return [reader(operand, here) for operand in after[: 2 if what.operation == "CAS" else 1]]


def _target(
    x: State, what: Atomic, where: str, addresses: NDArray[np.uint64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    if where == "global":
        offsets = checked_global(x, addresses, what.size)
        memory = x.image.elements(what.size)
        if x.mask is not None:
            offsets = offsets[x.mask]
        x.image.touch(offsets, what.size)
        places = offsets >> SHIFTS[what.size]
    else:
        window, places = x.windows[where], checked_window(x, where, in_window(addresses), what.size)
        note_fresh(x, window, places, what.size)
        memory = window.elements(what.size)
        if x.mask is not None:
            places = places[x.mask]
        if window.written is not None:
            window.note_written(places, what.size)
    kind = what.kind if what.kind.subdtype is None else what.kind.subdtype[0]
    view = memory.view(kind)
    if what.kind.subdtype is not None:
        view = view.reshape(-1, 2)
    return view, places


def _lane_values(x: State, reader: Read, what: Atomic) -> NDArray[Any]:
    value = whole(x, reader(x))
    if x.mask is not None:
        value = value[x.mask]
    value = np.ascontiguousarray(value)
    if what.kind.subdtype is not None:
        return value.view(np.float16).reshape(-1, 2)
    return value.view(what.kind)


def _deliver(x: State, write: Callable[[State, Value], None], before: NDArray[Any], what: Atomic) -> None:
    """Old values of the active lanes into the destination of all selected ones."""
    words = np.ascontiguousarray(before).view(np.uint64 if what.size == 8 else np.uint32).reshape(-1)
    if x.mask is not None:
        whole = np.zeros(x.selected_lanes, words.dtype)
        whole[x.mask] = words
        words = whole
    write(x, words)
