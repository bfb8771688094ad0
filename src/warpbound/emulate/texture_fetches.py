"""Texture fetches (TEX, TLD, TLD4) and accesses of surfaces (SULD, SUST) from memory.

A fetch names its texture object by a word of a constant bank, a uniform register or, with .B, a register. The object's
number leads to its description in the image (`Image.textures`). Which operand means what was read off code that NVRTC
and nvcc 13 make for sm_75 to sm_120: of an array the layer comes first; with .SCR ("scattered") two
coordinates are in the operand behind the destinations and the others in the next one. There (with .B behind the
object's number) the level of detail comes last. Of a gather the first modifier among R, G, B and A names the channel;
with .SCR and without an object's register, x and y are in two operands.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.emulate.lane_queries import every, some
from warpbound.emulate.loads_and_stores import load_global, store_global, width, writer
from warpbound.emulate.operand_access import Read, Site, constant, raw, unsupported
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import BadAccess, State, whole
from warpbound.emulate.texture_objects import (
    FACES,
    Lanes,
    Places,
    Texture,
    Words,
    address_mode,
    decoded,
    detailed,
    gathered,
    on_face,
    placed,
    sampled,
)
from warpbound.program.instruction import RZ, Operand
from warpbound.texture_sampling import BLACK, Colour

Missing = Callable[[State, Site], None]  # what happens in the lanes whose object nobody has described
_FETCHES = frozenset({"SCR", "LL", "LZ", "B", "LB"})
_SURFACES = frozenset({"D", "BA", "1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY", "STRONG", "WEAK", "CTA", "SM", "GPU", "SYS",
                       "TRAP", "IGN", "U8", "S8", "U16", "S16", "64", "128"})  # fmt: skip
_WORD_B, _EVERY_CHANNEL, _IN_FIRST = 4, 15, 2
_CHANNELS = "RGBA"
_COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "CUBE": 3}
_ARRAY = "ARRAY_"
_AXES = {
    "1D": ("byte x",), "1D_ARRAY": ("byte x", "z"), "2D": ("byte x", "y"), "2D_ARRAY": ("byte x", "y", "z"),
    "3D": ("byte x", "y", "z"),
}  # fmt: skip
_NOT_DESCRIBED = ", whose texture or surface object is not described or has other dimensions"


def refused(x: State, here: Site) -> None:
    """A fetch of no object ends the kernel."""
    raise unsupported(here.instruction, _NOT_DESCRIBED)


@executes("TEX TLD")
def fetch(here: Site, missing: Missing = refused) -> Handler:
    """TEX: a filtered fetch at float coordinates; TLD: a texel at an integer coordinate."""
    operands = here.instruction.operands
    shape = next((i for i, x in enumerate(operands) if x.kind == "shape"), len(operands))
    form = operands[shape].text if shape < len(operands) else ""
    plain = form.removeprefix(_ARRAY)
    is_supported = {"TEX": plain in _COORDINATES, "TLD": form == "1D"}[here.instruction.opcode]
    if not is_supported or here.modifiers - _FETCHES:
        raise unsupported(here.instruction)
    write = _channel_writer(operands, shape)
    coordinates, lod = _coordinates(here, _COORDINATES[plain] + (form != plain))
    number = _object_number(here, operands[3:shape], numbered=here.has("B"))

    def read(x: State, texture: Texture) -> list[Words]:
        at = [whole(x, each(x)) for each in coordinates]
        if here.instruction.opcode == "TLD":
            return _texel(x, texture, at)
        slices, place = _place(form, at)
        if texture.levels is None:
            return _filtered(x, texture, place, slices)
        level = np.zeros(len(at[0]), np.uint32) if lod is None else whole(x, lod(x))
        return detailed(
            texture, _floats(level), lambda own, lanes: _in_lanes(x, lanes, lambda: _filtered(x, own, place, slices))
        )

    def handler(x: State) -> None:
        _by_object(x, whole(x, number(x)), form, lambda texture: write(x, read(x, texture)), lambda: missing(x, here))

    return handler


@executes("TLD4")
def gather(here: Site, missing: Missing = refused) -> Handler:
    """TLD4: one channel of each of the four texels that a linear filter would take."""
    operands, modifiers = here.instruction.operands, [x for x in here.instruction.modifiers if x != "SCR"]
    shape = next((i for i, x in enumerate(operands) if x.kind == "shape"), len(operands))
    numbered = modifiers[1:] == ["B"]
    is_supported = modifiers[:1] in [[each] for each in _CHANNELS] and len(modifiers) == 1 + numbered
    if not is_supported or [x.text for x in operands[shape : shape + 1]] != ["2D"]:
        raise unsupported(here.instruction)
    channel, write = _CHANNELS.index(modifiers[0]), _channel_writer(operands, shape)
    number = _object_number(here, operands[3:shape], numbered=numbered)
    apart = here.has("SCR") and not numbered
    second = operands[3] if apart else replace(operands[2], index=_after(operands[2], 1))
    coordinates = [raw(operands[2], here), raw(second, here)]

    def run(x: State, texture: Texture) -> None:
        at = [_floats(whole(x, each(x))) for each in coordinates]
        write(x, gathered(texture, at, channel, _reader(x, texture, None)))

    def handler(x: State) -> None:
        _by_object(x, whole(x, number(x)), "2D", lambda texture: run(x, texture), lambda: missing(x, here))

    return handler


def _coordinates(here: Site, count: int) -> tuple[list[Read], Read | None]:
    """The coordinates of a fetch, an array's layer first, and the level of detail, if there is any."""
    first, second = here.instruction.operands[2:4]
    numbered, scattered = here.has("B"), here.has("SCR") and count > _IN_FIRST
    if numbered and scattered:
        raise unsupported(here.instruction)
    registers = [_after(first, i) for i in range(_IN_FIRST if scattered else count)]
    registers += [_after(second, i) for i in range(count - _IN_FIRST)] if scattered else []
    level = _after(second, count - _IN_FIRST if scattered else int(numbered))
    reads = [raw(replace(first, index=each), here) for each in registers]
    return reads, raw(replace(second, index=level), here) if here.has("LL") else None


def _place(form: str, at: list[NDArray[Any]]) -> tuple[Places | None, list[NDArray[np.float32]]]:
    """The slices that a fetch reads, where its third coordinate does not choose them, and the coordinates within."""
    plain = form.removeprefix(_ARRAY)
    layer = at[0].astype(np.int64) if form != plain else None
    place = [_floats(each) for each in (at if layer is None else at[1:])]
    if plain != "CUBE":
        return layer, place
    face, s, t = on_face(*place)
    return face if layer is None else face + FACES * layer, [s, t]


def _floats(words: NDArray[Any]) -> NDArray[np.float32]:
    return words.astype(np.uint32, copy=False).view(np.float32)


def _in_lanes(x: State, lanes: Lanes, run: Callable[[], list[Words]]) -> list[Words]:
    """What `run` returns where only these of the active lanes take part."""
    mask, own = x.mask, lanes & x.active()
    try:
        x.mask = None if every(own) else own
        return run()
    finally:
        x.mask = mask


def _fits(form: str, texture: Texture) -> bool:
    """Whether an object has the dimensions that an instruction names."""
    plain = form.removeprefix(_ARRAY).removesuffix("_ARRAY")
    sliced = plain in ("3D", "CUBE") or form != plain
    return bool(texture.slices) == sliced and (plain != "CUBE" or texture.slices % FACES == 0)


def _after(register: Operand, places: int) -> int:
    return register.index + (places if register.index != RZ else 0)


def _object_number(here: Site, operands: tuple[Operand, ...], *, numbered: bool) -> Read:
    """The number of the object, from the operands between the coordinates and the shape. numbered : a register may
    hold it."""
    for operand in operands:
        if operand.kind == "uniform" or operand.kind == "register" and numbered:
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
    x: State, numbers: NDArray[np.uint32], form: str, run: Callable[[Texture], None], missing: Callable[[], None]
) -> None:
    """Call `run` once per object with the dimensions of `form`, for the lanes that name it."""
    taking_part, mask = x.active(), x.mask
    try:
        for number in distinct(numbers[taking_part]):
            of_object = taking_part & (numbers == number)
            x.mask = None if every(of_object) else of_object
            texture = x.image.textures.get(int(number))
            if texture is None or not _fits(form, texture):
                missing()
            else:
                run(texture)
    finally:
        x.mask = mask


def _filtered(x: State, texture: Texture, at: list[NDArray[np.float32]], slices: Places | None) -> list[Words]:
    """slices : of the lanes; None: the third coordinate, if there is one, chooses them."""
    at = at[: 2 if texture.height else 1] if len(at) == _COORDINATES["2D"] else at
    return sampled(texture, at, _reader(x, texture, slices))


def _reader(x: State, texture: Texture, slices: Places | None) -> Callable[[list[Places]], list[Words]]:
    """Reads texels at places inside or outside, by the texture's address modes."""
    def read(places: list[Places]) -> list[Words]:
        inside = np.ones(len(places[0]), np.bool_)
        axes: list[Places] = []
        for axis, (index, size) in enumerate(zip(places, texture.sizes, strict=False)):
            own, within = placed(index, size, address_mode(texture.sampling, axis))
            inside &= within
            axes.append(own)
        if slices is not None:
            axes = [*axes, *[np.zeros_like(axes[0])] * (2 - len(axes)), np.clip(slices, 0, texture.slices - 1)]
        return _texels(x, texture, axes, inside, texture.sampling.border)

    return read


def _texel(x: State, texture: Texture, at: list[Any]) -> list[Words]:
    """A texel of linear memory; outside there are zeros."""
    column, inside = placed(at[0].view(np.int32).astype(np.int64), texture.width, "border")
    return _texels(x, texture, [column], inside, BLACK)


def _texels(
    x: State, texture: Texture, at: list[Places], inside: NDArray[np.bool_], border: Colour
) -> list[Words]:
    """Texels of the active lanes; the border where a lane is not inside. at : columns, rows, slices."""
    outside = np.array(border, np.float32).view(np.uint32)[: texture.channels]
    steps = (texture.texel_B, texture.pitch_B, texture.slice_B)
    places = sum(index * step for index, step in zip(at, steps, strict=False))
    addresses = np.asarray(texture.address + places).view(np.uint64)
    mask, lanes = x.mask, inside & x.active()
    if not some(lanes):
        return [np.full(len(inside), word) for word in outside]
    try:
        x.mask = None if every(lanes) else lanes
        words = load_global(x, addresses, texture.texel_B)
    finally:
        x.mask = mask
    channels = decoded(texture, words)
    if every(inside):
        return channels
    return [np.where(inside, channel, word) for channel, word in zip(channels, outside, strict=True)]


# --- surfaces ---


@executes("SULD")
def load_surface(here: Site, missing: Missing = refused) -> Handler:
    """SULD.D: bytes of a surface; x counts bytes, y rows, z slices or layers."""
    store = writer(here, width(here))
    return _surface(here, missing, 1, lambda x, addresses: store(x, load_global(x, addresses, width(here))),
                    lambda x: store(x, [np.uint32(0)] * max(1, width(here) // _WORD_B)))  # fmt: skip


@executes("SUST")
def store_surface(here: Site, missing: Missing = refused) -> Handler:
    """SUST.D: a store to a surface."""
    source = here.instruction.operands[1]
    reads = [raw(replace(source, index=_after(source, i)), here) for i in range(max(1, width(here) // _WORD_B))]

    def store(x: State, addresses: NDArray[np.uint64]) -> None:
        store_global(x, addresses, width(here), [whole(x, value_of(x)) for value_of in reads])

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
    if operands[place].kind != "memory" or here.modifiers - _SURFACES or not here.has("D") or not here.has(*_AXES):
        raise unsupported(here.instruction)
    register = operands[place].terms[0]
    form = next(each for each in _AXES if here.has(each))
    reads = [raw(Operand(register.kind, "", index=_after(register, i)), here) for i in range(len(_AXES[form]))]
    others = operands[2:]
    plain = len(others) == 1 and others[0].kind == "register"
    number = raw(others[0], here) if plain else _object_number(here, others, numbered=here.has("B"))

    def handler(x: State) -> None:
        at = [whole(x, value_of(x)).view(np.int32).astype(np.int64) for value_of in reads]
        _by_object(x, whole(x, number(x)), form,
                   lambda own: _in_bounds(x, here, own, dict(zip(_AXES[form], at, strict=True)), access, outside),
                   lambda: missing(x, here))  # fmt: skip

    return handler


def _in_bounds(  # noqa: PLR0913  (each is one fact of the access)
    x: State,
    here: Site,
    surface: Texture,
    at: dict[str, Places],
    access: Callable[[State, NDArray[np.uint64]], None],
    outside: Callable[[State], None],
) -> None:
    """The access in the lanes that are inside the surface; the others end the kernel (.TRAP), are ignored (.IGN) or
    access the nearest element (without either)."""
    rows, slices = max(surface.height, 1), max(surface.slices, 1)
    last = {"byte x": surface.width * surface.texel_B - width(here), "y": rows - 1, "z": slices - 1}
    inside = np.logical_and.reduce([(each >= 0) & (each <= last[axis]) for axis, each in at.items()])
    clamped = {axis: np.clip(each, 0, last[axis]) for axis, each in at.items()}
    mask, lanes = x.mask, x.active() & inside
    if here.has("TRAP") and not every(inside | ~x.active()):
        lane = int((x.active() & ~inside).argmax())
        where = ", ".join(f"{axis} = {each[lane]}" for axis, each in at.items())
        size = f"{surface.width} x {rows}{f' x {slices}' if surface.slices else ''}"
        raise BadAccess(lane, f"{where} is outside a surface of {size} elements")
    steps = {"byte x": 1, "y": surface.pitch_B, "z": surface.slice_B}
    places = sum(each * steps[axis] for axis, each in clamped.items())
    addresses = np.asarray(surface.address + places).view(np.uint64)
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


