"""Loads and stores of every width in global, shared, local, constant and generic space.

Values are lists of 32-bit words: one for 8 to 32 bits, two for 64, four for 128, eight for 256.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.addresses import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    global_address,
    memory_operand,
    window_address,
)
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.lane_queries import every, greatest, some
from warpbound.emulate.memory_windows import OFFSET_BITS, SHIFTS, Window
from warpbound.emulate.operand_access import Site, is_predicate, raw, unsupported, write_predicate
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import BadAccess, Mask, State, Value
from warpbound.program.instruction import RZ, Operand
from warpbound.program.registers import lane_bytes

WIDEST = 32
_SIGNED = {"S8": np.int8, "S16": np.int16}


def width(here: Site) -> int:
    """Bytes per lane."""
    return lane_bytes(here.instruction)


# --- one access of a space ---


def load_global(x: State, addresses: NDArray[np.uint64], size: int) -> list[Value]:
    offsets = checked_global(x, addresses, size)
    if size == 32:
        return load_global_part(x, offsets) + load_global_part(x, offsets + 16)
    return words_of(x.image.load(offsets, size), size)


def load_global_part(x: State, offsets: NDArray[np.int64]) -> list[Value]:
    return words_of(x.image.load(offsets, 16), 16)


def checked_global(x: State, addresses: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Offsets into the image of every selected lane; BadAccess where an active lane's access is invalid."""
    return _recorded(x, x.image.offsets(addresses, x.mask, size), addresses, size)


def located_global(x: State, addresses: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """The same for an access whose values nobody needs: no contents are made."""
    return _recorded(x, x.image.places(addresses, x.mask, size), addresses, size)


def _recorded(
    x: State, places: NDArray[np.int64] | Fault, addresses: NDArray[np.uint64], size: int
) -> NDArray[np.int64]:
    if isinstance(places, Fault):
        through = x.image.let_through(addresses, x.mask, size)
        if through is None:
            raise BadAccess(places.lane, f"address {places.address:#x} {places.problem}")
        places = through
    if x.recorder is not None:
        x.recorder.access(x, "global", places)
    return places


def store_global(x: State, addresses: NDArray[np.uint64], size: int, words: list[Value]) -> None:
    offsets = checked_global(x, addresses, size)
    if x.mask is not None:
        offsets = offsets[x.mask]
        words = [active(word, x.mask) for word in words]
    if size == 32:
        x.image.store(offsets, 16, elements_of(words[:4], 16, len(offsets)))
        x.image.store(offsets + 16, 16, elements_of(words[4:], 16, len(offsets)))
    else:
        x.image.store(offsets, size, elements_of(words, size, len(offsets)))


def active(word: Value, mask: Mask) -> Value:
    return word[mask] if np.ndim(word) else word


def checked_window(x: State, space: str, addresses: NDArray[np.uint32], size: int) -> NDArray[np.int64]:
    """Index of the `size`-byte element of the chunk's shared or local memory that every selected lane addresses."""
    window = x.windows[space]
    ranks, addresses = inside_window(x, space, addresses, size)
    if ranks is not None:
        return window.base_of(ranks, size, x.index) + (addresses >> SHIFTS[size])
    base = window.base(size)
    return np.asarray(base if x.index is None else base.take(x.index)) + (addresses >> SHIFTS[size])


def inside_window(
    x: State, space: str, addresses: NDArray[np.uint32], size: int
) -> tuple[NDArray[Any] | None, NDArray[np.uint32]]:
    """Ranks of the blocks in their cluster (None without one) and addresses in their memory, checked and recorded."""
    window = x.windows[space]
    if x.mask is not None:
        addresses = np.where(x.mask, addresses, np.uint32(0))
    ranks = None
    if window.cluster > 1:
        ranks, addresses = addresses >> OFFSET_BITS, addresses & np.uint32((1 << OFFSET_BITS) - 1)
        if greatest(ranks) >= window.cluster:
            lane = int(ranks.argmax())
            raise BadAccess(lane, f"a cluster of {window.cluster} blocks has no block {ranks[lane]}")
    if greatest(addresses) > window.size - size or (size > 1 and int(np.bitwise_or.reduce(addresses)) & (size - 1)):
        raise _outside(window, addresses, size)
    if x.recorder is not None:
        x.recorder.access(x, space, addresses)
    return ranks, addresses


def _outside(window: Window, addresses: NDArray[np.uint32], size: int) -> BadAccess:
    lane = int(((addresses.astype(np.int64) + size > window.size) | (addresses & np.uint32(size - 1) != 0)).argmax())
    at = int(addresses[lane])
    why = f"is not a multiple of {size}" if at & (size - 1) else f"is outside its {window.size} bytes"
    if window.name == "shared":
        why += " (the launch's smem gives dynamic shared memory)"
    elif at >= window.size:
        why += " (the call stack is too deep, or an index is wrong)"
    return BadAccess(lane, f"{window.name} address {at:#x} {why}")


def load_window(x: State, space: str, addresses: NDArray[np.uint32], size: int) -> list[Value]:
    return loaded(x, x.windows[space], checked_window(x, space, addresses, size), size)


def loaded(x: State, window: Window, places: NDArray[np.int64], size: int) -> list[Value]:
    """Words of the elements at checked places."""
    note_fresh(x, window, places, size)
    return words_of(np.take(window.elements(size), places, axis=0), size)


def note_fresh(x: State, window: Window, places: NDArray[np.int64], size: int) -> None:
    """Report active lanes that read unwritten memory to the recorder."""
    if window.written is None or x.recorder is None:
        return
    fresh = window.untouched(places, size)
    if some(fresh) and (x.mask is None or some(fresh & x.mask)):
        x.recorder.fresh(window.name)


def store_window(x: State, space: str, addresses: NDArray[np.uint32], size: int, words: list[Value]) -> None:
    window, places = x.windows[space], checked_window(x, space, addresses, size)
    if x.mask is not None:
        places = places[x.mask]
        words = [active(word, x.mask) for word in words]
    if window.written is not None:
        window.note_written(places, size)
    window.elements(size)[places] = elements_of(words, size, len(places))


def words_of(values: NDArray[np.generic], size: int) -> list[Value]:
    if size <= 4:
        return [values]
    if size == 8:
        halves = values.view(np.uint32)
        return [halves[0::2], halves[1::2]]
    return [values[:, i] for i in range(4)]


def note_window_store(
    x: State, space: str, addresses: NDArray[np.uint32], size: int, words: list[Value]  # noqa: ARG001
) -> None:
    """A store to shared or local memory whose values nobody needs."""
    window = x.windows[space]
    if window.written is None and window.left_out is None:
        inside_window(x, space, addresses, size)
        return
    places: NDArray[np.int64] = checked_window(x, space, addresses, size)
    own = places if x.mask is None else places[x.mask]
    window.note_left_out(own, size)
    if window.written is not None:
        window.note_written(own, size)


def elements_of(words: list[Value], size: int, count: int) -> Value:
    """Words as the elements of memory of `size` bytes."""
    if size <= 4:
        word = words[0]
        return word.astype({1: np.uint8, 2: np.uint16, 4: np.uint32}[size])
    packed = np.empty((count, size // 4), np.uint32)
    for i, word in enumerate(words):
        packed[:, i] = word
    return packed.view(np.uint64).reshape(-1) if size == 8 else packed


# --- instructions ---


@executes("LDG LDS LDL")
def load(here: Site) -> Handler:
    """A load from one space."""
    size, operand, space = width(here), memory_operand(here), here.instruction.traits.spaces[0]
    store = writer(here, size)
    if space == "global":
        wide = global_address(operand, here)
        return lambda x: store(x, load_global(x, wide(x), size))
    narrow = window_address(operand, here)
    return lambda x: store(x, load_window(x, space, narrow(x), size))


@executes("STG STS STL")
def store(here: Site) -> Handler:
    """A store to one space."""
    size, operand, space = width(here), memory_operand(here), here.instruction.traits.spaces[0]
    take = _reader(here, size)
    if space == "global":
        wide = global_address(operand, here)
        return lambda x: store_global(x, wide(x), size, take(x))
    narrow = window_address(operand, here)
    return lambda x: store_window(x, space, narrow(x), size, take(x))


@executes("LD")
def load_generic(here: Site) -> Handler:
    """LD: the upper word of the address selects shared, local or global memory."""
    size, address = width(here), global_address(memory_operand(here), here)
    store = writer(here, size)

    def one(x: State, space: str, addresses: NDArray[np.uint64]) -> None:
        if space == "global":
            store(x, load_global(x, addresses, size))
        else:
            store(x, load_window(x, space, in_window(addresses), size))

    return lambda x: by_space(x, address(x), one)


@executes("ST")
def store_generic(here: Site) -> Handler:
    """ST."""
    size, address = width(here), global_address(memory_operand(here), here)
    take = _reader(here, size)

    def one(x: State, space: str, addresses: NDArray[np.uint64]) -> None:
        if space == "global":
            store_global(x, addresses, size, take(x))
        else:
            store_window(x, space, in_window(addresses), size, take(x))

    return lambda x: by_space(x, address(x), one)


def in_window(addresses: NDArray[np.uint64]) -> NDArray[np.uint32]:
    return addresses.astype(np.uint32)


def by_space(
    x: State, addresses: NDArray[np.uint64], run_access: Callable[[State, str, NDArray[np.uint64]], None]
) -> None:
    """Call `run_access` once per memory space, for the lanes whose addresses are in that space."""
    upper = addresses >> np.uint64(32)
    taking_part = x.active()
    shared, local = (upper == window for window in (SHARED_WINDOW, LOCAL_WINDOW))
    mask = x.mask
    try:
        for space, lanes in (("shared", shared), ("local", local), ("global", ~(shared | local))):
            in_space = lanes & taking_part
            if some(in_space):
                x.mask = None if every(in_space) else in_space
                run_access(x, space, addresses)
    finally:
        x.mask = mask


@executes("QSPC")
def query_space(here: Site) -> Handler:
    """QSPC: whether a generic address lies in shared (.S), local (.L) or global memory (.G)."""
    address = global_address(memory_operand(here), here)
    out = write_predicate(here.instruction.operands[0])
    windows = {"S": SHARED_WINDOW, "L": LOCAL_WINDOW}
    name = next(m for m in here.instruction.modifiers if m in ("S", "L", "G"))

    def handler(x: State) -> None:
        upper = address(x) >> np.uint64(32)
        if name == "G":
            out(x, (upper != SHARED_WINDOW) & (upper != LOCAL_WINDOW))
        else:
            out(x, upper == windows[name])

    return handler


@executes("LDC ULDC LDCU")
def load_constant(here: Site) -> Handler:
    """LDC, ULDC, LDCU: a constant bank at a register offset."""
    size = width(here)
    operand = next(operand for operand in here.instruction.operands if operand.kind == "constant")
    if not isinstance(operand.bank, int):
        raise unsupported(here.instruction, ", a bindless constant bank")
    store = writer(here, size)
    terms = [term for term in operand.terms if term.index != RZ]
    count = max(1, size // 4)
    if not terms:
        words = [np.uint32(here.constants.word(operand.bank, int(operand.value) + 4 * i)) for i in range(count)]
        if size < 4:
            words = [np.uint32(int(words[0]) >> 8 * (int(operand.value) & 3) & ((1 << 8 * size) - 1))]
        return lambda x: store(x, list(words))
    reads = [raw(Operand(t.kind, t.text, index=t.index), here) for t in terms]
    bank = here.constants.banks.get(operand.bank, np.zeros(1, np.uint32))

    def handler(x: State) -> None:
        offset = sum((reader(x) for reader in reads), np.uint32(int(operand.value) & 0xFFFFFFFF)).astype(np.int64)
        if x.recorder is not None and not here.uniform:
            x.recorder.access(x, "constant", np.array(np.broadcast_to(offset, x.selected_lanes)))
        place = offset // 4
        result = [bank[np.clip(place + i, 0, len(bank) - 1)] for i in range(count)]
        if size < 4:
            shift = ((offset & 3) * 8).astype(np.uint32)
            result = [result[0] >> shift & np.uint32((1 << 8 * size) - 1)]
        store(x, result)

    return handler


def writer(here: Site, size: int) -> Callable[[State, list[Value]], None]:
    """Store the words of a load into its registers; small signed integers are extended."""
    output, *others = [operand for operand in here.instruction.operands if not is_predicate(operand)]
    if size == WIDEST and others[0].kind == "register":  # two runs of four; the upper one is printed first
        lower, upper = _run_writer(others[0], None), _run_writer(output, None)
        return lambda x, words: (lower(x, words[:4]), upper(x, words[4:]))[0]
    kind = next((_SIGNED[m] for m in here.instruction.modifiers if m in _SIGNED), None)
    return _run_writer(output, kind if size < 4 else None, size)


def _run_writer(output: Operand, kind: Any, size: int = 4) -> Callable[[State, list[Value]], None]:
    """Store words into a register and those after it; parts of a word with the sign of `kind`."""
    if output.index == RZ:
        return lambda x, words: None
    first, uniform = output.index, output.kind == "uniform"

    def put(x: State, words: list[Value]) -> None:
        if size < 4:
            value = words[0]
            if kind is not None:
                small = np.asarray(value).astype({1: np.uint8, 2: np.uint16}[size]).view(kind)
                value = small.astype(np.int32).view(np.uint32)
            words = [np.asarray(value).astype(np.uint32)[()]]
        for i, word in enumerate(words):
            if uniform:
                x.put_uniform(first + i, word)
            else:
                x.put(first + i, word)

    return put


def _reader(here: Site, size: int) -> Callable[[State], list[Value]]:
    """The words that a store takes from its registers."""
    sources = here.instruction.operands[-2:] if size == WIDEST else here.instruction.operands[-1:]
    sources = tuple(
        operand for operand in sources if operand.kind != "memory"
    )  # two runs of four registers, or one run
    reads = [
        raw(replace(source, index=source.index + (i if source.index != RZ else 0)), here)
        for source in sources
        for i in range(max(1, size // 4 // len(sources)))
    ]
    return lambda x: [reader(x) for reader in reads]
