"""Texture fetches (TEX, TLD) and accesses of surfaces (SULD, SUST) from memory.

A fetch names its texture object by a word of a constant bank, a uniform register or, with .B, a register. The object's
number leads to its description in the image (`Image.textures`). Which operand means what was read off code that NVRTC
13 makes for sm_75 to sm_120; a level of detail chooses nothing, because no texture has mipmaps.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_queries import every, some
from warpbound.emulate.loads_and_stores import load_global, store_global, width, writer
from warpbound.emulate.operand_access import Read, Site, constant, raw, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import BadAccess, State, whole
from warpbound.emulate.texture_objects import Texture, Words, address_mode, decoded, placed, sampled
from warpbound.program.instruction import RZ, Operand

Missing = Callable[[State, Site], None]  # what happens in the lanes whose object nobody has described
_FETCHES = frozenset({"SCR", "LL", "LZ", "B", "LB"})
_SURFACES = frozenset({"D", "BA", "1D", "2D", "STRONG", "WEAK", "CTA", "SM", "GPU", "SYS", "TRAP", "IGN",
                       "U8", "S8", "U16", "S16", "64", "128"})  # fmt: skip
_WORD_B, _EVERY_CHANNEL, _COORDINATES = 4, 15, 2


def refused(x: State, here: Site) -> None:
    """A fetch of no object ends the kernel."""
    raise unsupported(here.instruction, ", whose texture or surface object is not described")


@executes("TEX TLD")
def fetch(here: Site, missing: Missing = refused) -> Handler:
    """TEX: a filtered fetch at float coordinates; TLD: a texel at an integer coordinate."""
    operands = here.instruction.operands
    shape = next((i for i, x in enumerate(operands) if x.kind == "shape"), len(operands))
    known = {"TEX": ("1D", "2D"), "TLD": ("1D",)}[here.instruction.opcode]
    if shape == len(operands) or operands[shape].text not in known or here.modifiers - _FETCHES:
        raise unsupported(here.instruction)
    place, put = operands[2], _channel_writer(operands, shape)
    coordinates = [raw(replace(place, index=_after(place, i)), here) for i in range(_COORDINATES)]
    number = _object_number(here, operands[3:shape])
    take = _texel if here.instruction.opcode == "TLD" else _filtered

    def handler(x: State) -> None:
        at = [whole(x, read(x)) for read in coordinates[: 1 if take is _texel else _COORDINATES]]
        _by_object(x, whole(x, number(x)), lambda texture: put(x, take(x, texture, at)), lambda: missing(x, here))

    return handler


def _after(register: Operand, places: int) -> int:
    return register.index + (places if register.index != RZ else 0)


def _object_number(here: Site, operands: tuple[Operand, ...]) -> Read:
    """The number of the object, from the operands between the coordinates and the shape."""
    for operand in operands:
        if operand.kind == "uniform" or operand.kind == "register" and here.has("B"):
            return raw(operand, here)
    words = [int(operand.value) for operand in operands if operand.kind == "immediate"]
    if len(words) != 2:
        raise unsupported(here.instruction)
    return constant(np.uint32(here.constants.word(words[0], _WORD_B * words[1])))


def _channel_writer(operands: tuple[Operand, ...], shape: int) -> Callable[[State, list[Words]], None]:
    """Store the channels that the mask after the shape selects: two from the second operand on, the others from the
    first."""
    mask = int(operands[shape + 1].value) if len(operands) > shape + 1 else _EVERY_CHANNEL
    selected = [channel for channel in range(4) if mask >> channel & 1]

    def put(x: State, channels: list[Words]) -> None:
        for i, channel in enumerate(selected):
            target = operands[1 - i // 2]
            if target.index != RZ:
                x.put(target.index + i % 2, channels[channel] if channel < len(channels) else np.uint32(0))

    return put


def _by_object(
    x: State, numbers: NDArray[np.uint32], run: Callable[[Texture], None], missing: Callable[[], None]
) -> None:
    """Call `run` once per object, for the lanes that name it."""
    taking_part, mask = x.active(), x.mask
    try:
        for number in np.unique(numbers[taking_part]):
            mine = taking_part & (numbers == number)
            x.mask = None if every(mine) else mine
            texture = x.image.textures.get(int(number))
            if texture is None:
                missing()
            else:
                run(texture)
    finally:
        x.mask = mask


def _filtered(x: State, texture: Texture, at: list[Any]) -> list[Words]:
    u, v = (each.astype(np.uint32, copy=False).view(np.float32) for each in at)
    modes = [address_mode(texture.sampling, axis) for axis in (0, 1)]

    def read(columns: NDArray[np.int64], rows: NDArray[np.int64]) -> list[Words]:
        columns, inside = placed(columns, texture.width, modes[0])
        if texture.height:
            rows, within = placed(rows, texture.height, modes[1])
            inside = inside & within
        return _texels(x, texture, columns, rows, inside)

    return sampled(texture, u, v, read)


def _texel(x: State, texture: Texture, at: list[Any]) -> list[Words]:
    """A texel of linear memory; outside there are zeros."""
    index = at[0].view(np.int32).astype(np.int64)
    column, inside = placed(index, texture.width, "border")
    return _texels(x, texture, column, np.zeros(len(column), np.int64), inside)


def _texels(
    x: State, texture: Texture, columns: NDArray[np.int64], rows: NDArray[np.int64], inside: NDArray[np.bool_]
) -> list[Words]:
    """Texels of the active lanes; zeros where a lane is not inside."""
    addresses = (texture.address + rows * texture.pitch_B + columns * texture.texel_B).view(np.uint64)
    mask, lanes = x.mask, inside & x.active()
    if not some(lanes):
        return [np.zeros(len(columns), np.uint32)] * texture.channels
    try:
        x.mask = None if every(lanes) else lanes
        words = load_global(x, addresses, texture.texel_B)
    finally:
        x.mask = mask
    channels = decoded(texture, words)
    return channels if every(inside) else [np.where(inside, channel, np.uint32(0)) for channel in channels]


# --- surfaces ---


@executes("SULD")
def load_surface(here: Site, missing: Missing = refused) -> Handler:
    """SULD.D: bytes of a surface; x counts bytes, y rows."""
    store = writer(here, width(here))
    return _surface(here, missing, 1, lambda x, addresses: store(x, load_global(x, addresses, width(here))),
                    lambda x: store(x, [np.uint32(0)] * max(1, width(here) // _WORD_B)))  # fmt: skip


@executes("SUST")
def store_surface(here: Site, missing: Missing = refused) -> Handler:
    """SUST.D: the same for a store."""
    source = here.instruction.operands[1]
    reads = [raw(replace(source, index=_after(source, i)), here) for i in range(max(1, width(here) // _WORD_B))]

    def store(x: State, addresses: NDArray[np.uint64]) -> None:
        store_global(x, addresses, width(here), [whole(x, read(x)) for read in reads])

    return _surface(here, missing, 0, store, lambda x: None)


def _surface(
    here: Site,
    missing: Missing,
    place: int,
    access: Callable[[State, NDArray[np.uint64]], None],
    outside: Callable[[State], None],
) -> Handler:
    """An access of a surface. place : of the address among the operands. outside : what lanes do that are ignored."""
    operands = here.instruction.operands
    if operands[place].kind != "memory" or here.modifiers - _SURFACES or not here.has("D"):
        raise unsupported(here.instruction)
    register = operands[place].terms[0]
    reads = [raw(Operand(register.kind, "", index=_after(register, i)), here) for i in range(_COORDINATES)]
    others = operands[2:]
    plain = len(others) == 1 and others[0].kind == "register"
    number = raw(others[0], here) if plain else _object_number(here, others)
    has_rows = here.has("2D")

    def handler(x: State) -> None:
        columns, *rows = (whole(x, read(x)) for read in reads[: 1 + has_rows])
        at = [each.view(np.int32).astype(np.int64) for each in (columns, *rows)]
        _by_object(x, whole(x, number(x)), lambda surface: _in_bounds(x, here, surface, at, access, outside),
                   lambda: missing(x, here))  # fmt: skip

    return handler


def _in_bounds(  # noqa: PLR0913  (each is one fact of the access)
    x: State,
    here: Site,
    surface: Texture,
    at: list[NDArray[np.int64]],
    access: Callable[[State, NDArray[np.uint64]], None],
    outside: Callable[[State], None],
) -> None:
    """The access in the lanes that are inside the surface; the others end the kernel (.TRAP), are ignored (.IGN) or go
    to the nearest place (without either)."""
    last = [surface.width * surface.texel_B - width(here), max(surface.height, 1) - 1][: len(at)]
    inside = np.logical_and.reduce([(each >= 0) & (each <= end) for each, end in zip(at, last, strict=True)])
    clamped = [np.clip(each, 0, end) for each, end in zip(at, last, strict=True)]
    mask, lanes = x.mask, x.active() & inside
    if here.has("TRAP") and not every(inside | ~x.active()):
        lane = int((x.active() & ~inside).argmax())
        where = ", ".join(f"{name} = {each[lane]}" for name, each in zip(("byte x", "y"), at, strict=False))
        raise BadAccess(lane, f"{where} is outside a surface of {surface.width} x {max(surface.height, 1)} elements")
    rows = clamped[1] * surface.pitch_B if len(clamped) > 1 else 0
    addresses = (surface.address + clamped[0] + rows).view(np.uint64)
    if not here.has("IGN"):
        access(x, addresses)
        return
    outside(x)
    try:
        x.mask = None if every(lanes) else lanes
        if some(lanes):
            access(x, addresses)
    finally:
        x.mask = mask


