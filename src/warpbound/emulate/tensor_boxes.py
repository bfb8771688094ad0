"""Boxes of tensors that the copy engine moves: UTMALDG, UTMASTG, UTMAREDG.

Source   PTX ISA, "cp.async.bulk.tensor": bounds, fills, gathered rows. Which uniform registers hold what was read off
         compiled code of sm_90 and sm_100: [shared address, barrier of a load, coordinates ...], [address of the map].
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.bulk_copies import (
    COUNTED,
    KINDS,
    MOVED,
    OPERATIONS,
    REQUEST_B,
    UNIT_B,
    Contents,
    Numbers,
    Warps,
    checked,
    combine,
    complete,
    in_global,
    in_shared,
    issuing,
    multicast,
    targets,
    uniform,
    uniform_pair,
)
from warpbound.emulate.global_memory import Fault
from warpbound.emulate.operand_access import Site, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, BadAccess, State
from warpbound.emulate.tensor_maps import MAP_B, Pieces, TensorMap, decode, gathered, pieces, swizzled
from warpbound.quick_dataclasses import dataclass

_TENSOR_ALIGNMENT = 128  # of a box in shared memory
_RANKS = {f"{rank}D": rank for rank in range(1, 6)}
_FILLS = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FFFFFFFFFFFFFFF}  # NaN of the mode that fills


class MapStored(Exception):
    """A tensor map is read from an array to which boxes were stored without their bytes."""


@dataclass(frozen=True)
class Tile:
    """A box as an instruction names it: registers of shared address and coordinates, and of the map's address.

    barrier : the register behind the address holds one, before the coordinates. rows : of .GATHER4 and .SCATTER4.
    """

    rank: int
    register: int
    map_register: int
    barrier: bool
    rows: bool

    def boxes(self, x: State, warps: Warps) -> Iterator[tuple[Warps, TensorMap, Pieces]]:
        """The boxes of the issuing warps, grouped by tensor map."""
        addresses = uniform_pair(x, self.map_register, warps)
        for raw, which in _distinct(x, addresses, warps):
            tensor_map, some = decode(raw), warps.some(which)
            if isinstance(tensor_map, str):
                raise BadAccess(int(some.own[0]) * LANES, f"the tensor map cannot be followed: {tensor_map}")
            if len(tensor_map.box) != self.rank:
                reason = f"the tensor map has {len(tensor_map.box)} dimensions, the instruction {self.rank}"
                raise BadAccess(int(some.own[0]) * LANES, reason)
            first = self.register + (2 if self.barrier else 1)
            count = self.rank + 3 if self.rows else self.rank
            at = [uniform(x, first + axis, some) for axis in range(count)]
            at = [(coordinate + 2**31) % 2**32 - 2**31 for coordinate in at]
            boxes = gathered(tensor_map, at[0], np.stack(at[1:], axis=1)) if self.rows else pieces(tensor_map, at)
            yield some, tensor_map, boxes

    def offsets(self, x: State, warps: Warps, tensor_map: TensorMap, boxes: Pieces) -> Numbers:
        """Where the pieces lie in shared memory, (warps, pieces)."""
        start = checked(uniform(x, self.register, warps), _TENSOR_ALIGNMENT, warps)
        return swizzled(start[:, None] + boxes.size * np.arange(boxes.addresses.shape[1]), tensor_map.swizzle)


def _distinct(x: State, addresses: NDArray[np.uint64], warps: Warps) -> Iterator[tuple[bytes, Any]]:
    """Every map that is named, and which warps name it. Raises MapStored."""
    groups: dict[bytes, list[int]] = {}
    for address in distinct(addresses):
        units = address + np.arange(0, MAP_B, UNIT_B, dtype=np.uint64)
        which = np.flatnonzero(addresses == address)
        if x.image.left_out and int(x.image.numbers(address)) in x.image.left_out:
            raise MapStored
        places = x.image.offsets(units, None, UNIT_B)
        if isinstance(places, Fault):
            lane = int(warps.own[which[0]]) * LANES
            raise BadAccess(lane, f"the tensor map at address {places.address:#x} {places.problem}")
        groups.setdefault(x.image.load(places, UNIT_B).tobytes(), []).extend(which.tolist())
    for raw, numbers in groups.items():
        yield raw, np.array(sorted(numbers))


def _tile(here: Site, *, barrier: bool) -> Tile:
    modifiers = here.instruction.modifiers
    rank = next((_RANKS[word] for word in modifiers if word in _RANKS), None)
    allowed_words = OPERATIONS | frozenset(_RANKS) | {"MULTICAST", "2CTA", "GATHER4", "SCATTER4"}
    if rank is None or not frozenset(modifiers) <= allowed_words:
        raise unsupported(here.instruction)
    box, tensor = here.instruction.operands[:2]
    return Tile(rank, box.terms[0].index, tensor.terms[0].index, barrier, here.has("GATHER4", "SCATTER4"))


@executes("UTMALDG")
def load_tile(here: Site) -> Handler:
    """UTMALDG: a box into shared memory, of one block of the cluster or (.MULTICAST) of those in a mask."""
    return _loading(here, MOVED)


def count_tile(here: Site) -> Handler:
    """UTMALDG whose bytes nobody needs."""
    return _loading(here, COUNTED)


def _loading(here: Site, contents: Contents) -> Handler:
    tile = _tile(here, barrier=True)
    mask, pair = multicast(here, here.instruction.operands[2:3]), 2 if here.has("2CTA") else 1

    def handler(x: State) -> None:
        for warps, tensor_map, boxes in tile.boxes(x, issuing(x)):
            values = _loaded(x, warps, tensor_map, boxes, contents)
            offsets = tile.offsets(x, warps, tensor_map, boxes)
            start, barrier = (uniform(x, tile.register + i, warps) for i in (0, 1))
            total = np.full(len(offsets), boxes.size * offsets.shape[1])
            requests = int(total[0]) // tensor_map.row_B * -(-tensor_map.row_B // REQUEST_B)
            for which, blocks, signalled in targets(x, warps, (start, barrier), mask, pair):
                some = warps.some(which)
                contents.store(x, in_shared(x, blocks, offsets[which], boxes.size, some), boxes.size, values[which])
                complete(x, some, signalled, barrier[which], total[which], requests)

    return handler


def _loaded(x: State, warps: Warps, tensor_map: TensorMap, boxes: Pieces, contents: Contents) -> NDArray[Any]:
    """The values of boxes; zeros or NaN outside the tensor."""
    places = in_global(x, boxes.addresses, boxes.size, warps, boxes.inside, contents)
    values = contents.load(x, places.reshape(-1), boxes.size)
    values = values.reshape(*places.shape, *values.shape[1:])
    if boxes.inside is not None:
        fill = np.zeros(UNIT_B, np.uint8)
        if tensor_map.fills_nan:
            fill = np.full(UNIT_B * 8 // tensor_map.bits, _FILLS[tensor_map.kind], f"u{tensor_map.bits // 8}")
        values[~boxes.inside] = fill.view(values.dtype)[: 4 if boxes.size == UNIT_B else 1]
    return values


@executes("UTMASTG")
def store_tile(here: Site) -> Handler:
    """UTMASTG: the part of a box that is inside the tensor."""
    tile = _tile(here, barrier=False)

    def handler(x: State) -> None:
        for warps, tensor_map, boxes in tile.boxes(x, issuing(x)):
            places = in_global(x, boxes.addresses, boxes.size, warps, boxes.inside)
            values = _of_box(x, tile, warps, tensor_map, boxes)
            if boxes.inside is not None:
                places, values = places[boxes.inside], values[boxes.inside]
            x.image.store(places.reshape(-1), boxes.size, values.reshape(-1, *values.shape[places.ndim :]))

    return handler


def count_stored_tile(here: Site) -> Handler:
    """UTMASTG whose bytes nobody needs."""
    return _leaving_out(here, lambda x, places, size: x.image.note_stored(places, size))


def count_reduced_tile(here: Site) -> Handler:
    """UTMAREDG whose sums nobody needs."""
    return _leaving_out(here, lambda x, places, size: x.image.touch(places, size))


def _leaving_out(here: Site, note: Callable[[State, Numbers, int], None]) -> Handler:
    tile = _tile(here, barrier=False)

    def handler(x: State) -> None:
        for warps, tensor_map, boxes in tile.boxes(x, issuing(x)):
            places = in_global(x, boxes.addresses, boxes.size, warps, boxes.inside)
            in_shared(x, warps.block, tile.offsets(x, warps, tensor_map, boxes), boxes.size, warps)
            inside = slice(None) if boxes.inside is None else boxes.inside
            note(x, places[inside].reshape(-1), boxes.size)
            x.image.left_out.update(distinct(x.image.numbers(boxes.addresses[inside].reshape(-1))).tolist())

    return handler


def _of_box(x: State, tile: Tile, warps: Warps, tensor_map: TensorMap, boxes: Pieces) -> NDArray[Any]:
    offsets = tile.offsets(x, warps, tensor_map, boxes)
    places = in_shared(x, warps.block, offsets, boxes.size, warps)
    return np.asarray(x.windows["shared"].elements(boxes.size)[places])


@executes("UTMAREDG")
def reduce_tile(here: Site) -> Handler:
    """UTMAREDG: the elements of a box combined with those of the tensor, by the type that the map gives."""
    tile = _tile(here, barrier=False)
    operation = next(word for word in here.instruction.modifiers if word in OPERATIONS)

    def handler(x: State) -> None:
        for warps, tensor_map, boxes in tile.boxes(x, issuing(x)):
            values = _of_box(x, tile, warps, tensor_map, boxes).view(np.uint8).reshape(len(warps.own), -1)
            if tensor_map.kind not in KINDS:
                raise unsupported(here.instruction, f", elements of type {tensor_map.kind}")
            places = in_global(x, boxes.addresses, boxes.size, warps, boxes.inside)
            combine(x, tensor_map.kind, operation, (places, boxes.size, boxes.inside), values)

    return handler


