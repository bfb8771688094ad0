"""Bulk copies by the copy engine (TMA): common parts, and runs of bytes (UBLKCP, UBLKRED). Boxes: `tensor_boxes`.

One instruction of a warp starts a whole copy. The copy completes at once: before the next instruction the bytes arrive,
and the barrier's outstanding transactions fall by their number; waits for groups of copies find nothing to do.

Source   PTX ISA, "cp.async.bulk": multicast, completion. Which uniform registers hold addresses, barrier and sizes was
         read off compiled code of sm_90 and sm_100.
Models   Copies of a warp follow each other; a reduction takes the elements one after the other.
Omits    The order in which the asynchronous proxy sees writes: a missing fence goes unnoticed.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.atomics import Atomic, apply
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.mbarrier import LATE, arrive_watched
from warpbound.emulate.mbarrier_log import Kind, MbarrierAccess
from warpbound.emulate.memory_windows import OFFSET_BITS, SHIFTS
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, BadAccess, State
from warpbound.program.instruction import RZ, Operand
from warpbound.quick_dataclasses import dataclass

Numbers = NDArray[np.int64]

UNIT_B = 16  # a run of bytes is counted in units of 16
REQUEST_B = 128  # of a copy from global memory, at most: a line
OPERATIONS = frozenset({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"})
KINDS = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "s32": np.int32, "u64": np.uint64, "s64": np.int64,
    "f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


@dataclass(frozen=True)
class Warps:
    """The warps that issue one copy. own : among the selected ones. block : the piece of shared memory of each.
    first : that of the first block of its cluster."""

    own: Numbers
    block: Numbers
    first: Numbers

    def some(self, which: Any) -> "Warps":
        return Warps(self.own[which], self.block[which], self.first[which])


def issuing(x: State) -> Warps:
    """The selected warps of which any lane is active."""
    own = np.arange(x.selected_lanes // LANES)
    if x.mask is not None:
        own = np.flatnonzero(x.mask.reshape(-1, LANES).any(axis=1))
    window = x.windows["shared"]
    lanes = x.selected_warps()[own] * LANES
    return Warps(own, window.owner[lanes], window.first[lanes])


def uniform(x: State, register: int, warps: Warps) -> Numbers:
    """A uniform register of the issuing warps."""
    if register == RZ:
        return np.zeros(len(warps.own), np.int64)
    value = x.get_uniform(register)
    return np.asarray(np.broadcast_to(value, x.selected_lanes // LANES)[warps.own], np.int64)


def uniform_pair(x: State, register: int, warps: Warps) -> NDArray[np.uint64]:
    low, high = (uniform(x, register + part, warps).astype(np.uint64) for part in (0, 1))
    return np.asarray(low | high << np.uint64(32))


# --- memory ---


@dataclass(frozen=True)
class Contents:
    """How a copy handles bytes. find : places in the image. load : bytes from there. store : bytes to shared memory."""

    find: Callable[[State, NDArray[Any], Any, int], Numbers | Fault]
    load: Callable[[State, Numbers, int], NDArray[Any]]
    store: Callable[[State, Numbers, int, NDArray[Any]], None]


def _put_shared(x: State, places: Numbers, size: int, values: NDArray[Any]) -> None:
    _note_shared(x, places, size, values)
    x.windows["shared"].elements(size)[places] = values


def _note_shared(x: State, places: Numbers, size: int, values: NDArray[Any]) -> None:  # noqa: ARG001
    window = x.windows["shared"]
    if window.written is not None:
        window.note_written(places.reshape(-1), size)


def _look(x: State, places: Numbers, size: int) -> NDArray[Any]:
    x.image.look(places, size)
    return np.zeros((len(places), 4), np.uint32) if size == UNIT_B else np.zeros(len(places), f"u{size}")


MOVED = Contents(
    lambda x, *at: x.image.offsets(*at), lambda x, places, size: x.image.load(places, size), _put_shared
)
def _leave_out(x: State, places: Numbers, size: int, values: NDArray[Any]) -> None:
    _note_shared(x, places, size, values)
    x.windows["shared"].note_left_out(places.reshape(-1), size)


COUNTED = Contents(lambda x, *at: x.image.places(*at), _look, _leave_out)  # of which nobody needs the bytes


def in_global(  # noqa: PLR0913  (each is one fact of the copy)
    x: State, addresses: NDArray[Any], size: int, warps: Warps, inside: Any = None, contents: Contents = MOVED
) -> Numbers:
    """Places in the image of pieces of `size` bytes, (warps, pieces), recorded; those that are not inside are 0."""
    flat = addresses.reshape(-1)
    active = None if inside is None else inside.reshape(-1)
    if active is not None and not active.any():
        return np.zeros(addresses.shape, np.int64)
    places = contents.find(x, flat, active, size)
    if isinstance(places, Fault):
        through = x.image.let_through(flat, active, size)
        if through is None:
            lane = int(warps.own[places.lane // addresses.shape[1]]) * LANES
            raise BadAccess(lane, f"a bulk copy at address {places.address:#x} {places.problem}")
        places = through
    places = places.reshape(addresses.shape)
    if x.recorder is not None:
        step = UNIT_B // size
        x.recorder.bulk(warps.own, places[:, ::step] & -UNIT_B, None if inside is None else inside[:, ::step])
    return places


def in_shared(x: State, blocks: Numbers, offsets: Numbers, size: int, warps: Warps) -> Numbers:
    """Numbers of elements of `size` bytes at these offsets of the blocks' shared memory, (warps, pieces)."""
    window = x.windows["shared"]
    if offsets.size:
        low, high = int(offsets.min()), int(offsets.max()) + size
        if high > window.size or low < 0:
            lane = int(warps.own[int((offsets.max(axis=1) + size > window.size).argmax())]) * LANES
            raise BadAccess(lane, f"a bulk copy reaches byte {high - 1:#x} of {window.size:#x} of shared memory")
        if x.recorder is not None:
            x.recorder.bulk_shared(low, high)
    return np.asarray((blocks[:, None] * window.size + offsets) >> SHIFTS[size])


def checked(start: Numbers, alignment: int, warps: Warps) -> Numbers:
    """Offsets in shared memory, without the rank of the block in its cluster."""
    offsets = start & ((1 << OFFSET_BITS) - 1)
    wrong = (offsets % alignment) != 0
    if wrong.any():
        lane = int(wrong.argmax())
        reason = f"shared address {int(offsets[lane]):#x} of a bulk copy is not a multiple of {alignment}"
        raise BadAccess(int(warps.own[lane]) * LANES, reason)
    return offsets


def _block(start: Numbers, warps: Warps, cluster: int) -> Numbers:
    """The block that an address of the cluster names."""
    return warps.first + (start >> OFFSET_BITS) if cluster > 1 else warps.block


def complete(  # noqa: PLR0913  (each is one fact of the copy)
    x: State, warps: Warps, blocks: Numbers, barrier: Numbers, count_B: Numbers, requests: int
) -> None:
    """The bytes that `warps` asked for have arrived: that many transactions of the barriers end. requests : of each."""
    window = x.windows["shared"]
    places = (blocks * window.size + (barrier & ((1 << OFFSET_BITS) - 1))) >> SHIFTS[8]
    none = np.zeros(len(places), np.int64)
    arrive_watched(x, MbarrierAccess(Kind.COPY, places, count_B, requests), warps.own, LATE, [none, none, -count_B])


def multicast(here: Site, operands: tuple[Operand, ...]) -> Callable[[State, Warps], Numbers] | None:
    """The mask of blocks that get a copy."""
    if not here.has("MULTICAST"):
        return None
    register = operands[0].index
    shift = 16 if here.instruction.opcode == "UBLKCP" or here.has("2CTA") else 0  # below it: units of a run of bytes
    return lambda x, warps: uniform(x, register, warps) >> shift & 0xFFFF


def targets(
    x: State, warps: Warps, ends: tuple[Numbers, Numbers], mask: Callable[[State, Warps], Numbers] | None, pair: int = 1
) -> Iterator[tuple[Any, Numbers, Numbers]]:
    """Which warps write to which blocks, and the blocks whose barriers they signal. ends : addresses of the data and of
    the barrier. pair : 2 where the barrier of each pair is in the block with the barrier's parity."""
    start, barrier = ends
    cluster = x.windows["shared"].cluster
    if mask is None:
        yield slice(None), _block(start, warps, cluster), _block(barrier, warps, cluster)
        return
    ranks = mask(x, warps)
    for rank in range(cluster):
        which = np.flatnonzero(ranks >> rank & 1)
        if len(which):
            first, parity = warps.first[which], barrier[which] >> OFFSET_BITS & 1
            yield which, first + rank, first + (rank if pair == 1 else rank // 2 * 2 + parity)


def combine(x: State, kind: str, operation: str, where: tuple[Numbers, int, Any], values: NDArray[np.uint8]) -> None:
    """Combine bytes with those at places of the image, element by element."""
    places, size, inside = where
    type_ = np.dtype(KINDS[kind])
    per_piece = size // type_.itemsize
    inside_box = np.ones(places.shape, np.bool_) if inside is None else inside
    at = (places[inside_box][:, None] + type_.itemsize * np.arange(per_piece)).reshape(-1)
    own = values.view(type_).reshape(*places.shape, per_piece)[inside_box].reshape(-1)
    x.image.touch(at, type_.itemsize)
    memory = x.image.elements(type_.itemsize)
    if kind == "bf16":
        own, operation = own.astype(np.uint32), f"{operation}_BF16"
        memory = x.image.elements(2)
    else:
        memory = memory.view(type_)
    apply(Atomic(operation, type_), memory, at // type_.itemsize, [own])


# --- runs of bytes ---


@executes("UBLKCP")
def copy_bytes(here: Site) -> Handler:
    """UBLKCP: from global to shared memory (.S.G), back (.G.S), or to another block of the cluster (.S.S)."""
    return _copying(here, MOVED)


def count_bytes(here: Site) -> Handler:
    """UBLKCP whose bytes nobody needs."""
    return _copying(here, COUNTED if _ends(here) == ("S", "G") else MOVED)


def _copying(here: Site, contents: Contents) -> Handler:
    to, source = _ends(here)
    if (to, source) == ("G", "S"):
        return _store_bytes(here)
    target, origin, size = here.instruction.operands[:3]
    register, mask = target.terms[0].index, multicast(here, (size,))

    def handler(x: State) -> None:
        for warps, count_B in _by_size(x, size):
            start, barrier = (uniform(x, register + i, warps) for i in (0, 1))
            offsets = checked(start, UNIT_B, warps)[:, None] + np.arange(0, count_B, UNIT_B)
            if source == "G":
                addresses = uniform_pair(x, origin.terms[0].index, warps)
                units = addresses[:, None] + np.arange(0, count_B, UNIT_B, dtype=np.uint64)
                places = in_global(x, units, UNIT_B, warps, contents=contents)
                values = contents.load(x, places.reshape(-1), UNIT_B).reshape(*places.shape, 4)
            else:
                values = _run(x, uniform(x, origin.terms[0].index, warps), count_B, warps)
            total = np.full(len(offsets), count_B)
            for which, blocks, signalled in targets(x, warps, (start, barrier), mask):
                some = warps.some(which)
                contents.store(x, in_shared(x, blocks, offsets[which], UNIT_B, some), UNIT_B, values[which])
                complete(x, some, signalled, barrier[which], total[which], -(-count_B // REQUEST_B))

    return handler


def _ends(here: Site) -> tuple[str, str]:
    ends = [word for word in here.instruction.modifiers if word in ("S", "G")]
    if len(ends) != 2 or here.has("DST_G_BYTE_MASK", "2CTA"):
        raise unsupported(here.instruction)
    return ends[0], ends[1]


def _by_size(x: State, operand: Operand) -> Iterator[tuple[Warps, int]]:
    """The issuing warps, grouped by the length of their runs."""
    warps = issuing(x)
    units = uniform(x, operand.index, warps) & 0xFFFF
    for count in distinct(units):
        if count:
            yield warps.some(units == count), int(count) * UNIT_B


def _run(x: State, start: Numbers, count_B: int, warps: Warps) -> NDArray[Any]:
    """Bytes of each warp's own shared memory in units, (warps, units, 4)."""
    offsets = checked(start, UNIT_B, warps)[:, None] + np.arange(0, count_B, UNIT_B)
    return np.asarray(x.windows["shared"].elements(UNIT_B)[in_shared(x, warps.block, offsets, UNIT_B, warps)])


def _store_bytes(here: Site) -> Handler:
    target, origin, size = here.instruction.operands[:3]

    def handler(x: State) -> None:
        for warps, count_B in _by_size(x, size):
            addresses = uniform_pair(x, target.terms[0].index, warps)
            units = addresses[:, None] + np.arange(0, count_B, UNIT_B, dtype=np.uint64)
            values = _run(x, uniform(x, origin.terms[0].index, warps), count_B, warps)
            x.image.store(in_global(x, units, UNIT_B, warps).reshape(-1), UNIT_B, values.reshape(-1, 4))

    return handler


@executes("UBLKRED")
def reduce_bytes(here: Site) -> Handler:
    """UBLKRED.G.S: elements of a run combined with those in global memory; the modifiers give their type."""
    words = here.instruction.modifiers
    operation = next(word for word in words if word in OPERATIONS)
    kind = next((word.lower() for word in words if word.lower() in KINDS), "u32")
    if _ends(here) != ("G", "S"):
        raise unsupported(here.instruction)
    target, origin, size = here.instruction.operands[:3]

    def handler(x: State) -> None:
        for warps, count_B in _by_size(x, size):
            addresses = uniform_pair(x, target.terms[0].index, warps)
            units = addresses[:, None] + np.arange(0, count_B, UNIT_B, dtype=np.uint64)
            values = _run(x, uniform(x, origin.terms[0].index, warps), count_B, warps)
            places = in_global(x, units, UNIT_B, warps)
            own = np.ascontiguousarray(values).view(np.uint8).reshape(len(warps.own), -1)
            combine(x, kind, operation, (places, UNIT_B, None), own)

    return handler


@executes("UTMACMDFLUSH UTMACCTL UTMAPF UBLKPF")
def nothing_to_do(here: Site) -> Handler:
    """The end of a group of copies, prefetches, and fences of the engine's copy of a tensor map."""
    return lambda x: None

