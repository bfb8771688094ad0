"""The texture behind a texture object, and what a fetch at a coordinate reads from it.

Source   CUDA C++ Programming Guide, appendix "Texture Fetching": nearest-point sampling takes texel floor(x); linear
         filtering takes floor(x - 0.5) and the next one, with weights of 9 bits of which 8 are the fraction. The same
         guide, "Texture Memory": normalized coordinates, address modes, integers read as fractions. CUDA Runtime API,
         cudaTextureDesc: wrap and mirror become clamp where coordinates count texels; linear memory has no address
         mode; a cube's face and place follow from the coordinate of the largest magnitude. Mipmaps: cudaTextureDesc.
         PTX ISA, tld4: a gather returns its four texels counter-clockwise from the lower left one. The guide, "Texture
         Gather": its coordinates have 8 bits of fraction, too. IEC 61966-2-1: the sRGB curve.
Models   Weights are rounded to the nearest; sums are taken in float64 and rounded once to float32. The guide gives
         neither rule. Texels without weight are not read. Of coordinates of a cube with equal magnitudes the first
         counts. A layer outside is the nearest one. Where levels of detail are points, the nearest level is read.
         The fourth channel of an sRGB texture is linear, as in OpenGL and Direct3D.
Omits    Filtering across the edges of a cube.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_queries import some
from warpbound.quick_dataclasses import dataclass
from warpbound.texture_sampling import Address, Filter, Sampling

Places = NDArray[np.int64]
Words = NDArray[np.uint32]
Lanes = NDArray[np.bool_]
Read = Callable[[list[Places]], list[Words]]  # columns, rows, slices, any numbers -> the channels there, 32 bits each

NUMBERS: tuple[Literal["signed", "unsigned", "float"], ...] = ("signed", "unsigned", "float")  # cudaChannelFormatKind
WORD = 32  # bits of a register; channels as wide are not read as fractions
FACES = 6  # of a cube
COLOURS = 3  # channels with colours; the fourth tells how opaque a texel is
WEIGHT = 256  # a weight is a multiple of its reciprocal
_FAR = 2.0**40  # more than a texture has texels: coordinates beyond count as this one


@dataclass(frozen=True)
class Levels:
    """The smaller levels of detail of a mipmapped texture, and how a level is chosen.

    smaller : from the second level on. bias : is added to the wanted level; lowest, highest : of the sum.
    """

    smaller: tuple["Texture", ...]
    filter: Filter
    bias: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Texture:
    """Texels in rows, rows in slices. address : of the first one; width, height : in texels, height 0: one dimension;
    slices : places along z, layers or faces, 0: there is nothing of the kind; bits : of each channel, which holds
    `number`."""

    address: int
    width: int
    height: int
    pitch_B: int
    number: Literal["signed", "unsigned", "float"]
    bits: int
    channels: int
    sampling: Sampling = Sampling()
    slices: int = 0
    levels: Levels | None = None

    @property
    def texel_B(self) -> int:
        return self.bits * self.channels // 8

    @property
    def slice_B(self) -> int:
        return max(self.height, 1) * self.pitch_B

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.width, self.height, self.slices


def sampled(texture: Texture, at: Sequence[NDArray[np.float32]], texels_at: Read) -> list[Words]:
    """The channels that a fetch at (x, y, z) returns. texels_at : the `decoded` texels at places inside or outside."""
    axes = [_neighbours(texture.sampling, x, size) for x, size in zip(at, texture.sizes, strict=False)]
    if texture.sampling.filter == "point":
        return texels_at([texels for (texels, _), *_ in axes])
    sums = [np.zeros(len(at[0])) for _ in range(texture.channels)]
    for corner in product(*reversed(axes)):
        weight = np.prod([weights for _, weights in corner], axis=0)
        if weight.any():
            for total, channel in zip(sums, texels_at([texels for texels, _ in reversed(corner)]), strict=True):
                total += weight * channel.view(np.float32)
    return [total.astype(np.float32).view(np.uint32) for total in sums]


def gathered(texture: Texture, at: Sequence[NDArray[np.float32]], channel: int, texels_at: Read) -> list[Words]:
    """A channel of each of the four texels of a linear filter: lower left, lower right, upper right, upper left."""
    linear = replace(texture.sampling, filter="linear")
    axes = [_neighbours(linear, x, size) for x, size in zip(at, texture.sizes, strict=False)]
    (left, right), (upper, lower) = (
        (np.where(weight == 1, after, first), np.where(weight == 1, after + 1, after))
        for (first, _), (after, weight) in axes
    )
    corners = (left, lower), (right, lower), (right, upper), (left, upper)
    absent = np.zeros(len(at[0]), np.uint32)
    return [texels_at([column, row])[channel] if channel < texture.channels else absent for column, row in corners]


def detailed(texture: Texture, lod: NDArray[np.float32], fetch: Callable[[Texture, Lanes], list[Words]]) -> list[Words]:
    """What a fetch returns at the wanted levels of detail. fetch : what some lanes get from a level."""
    shares = _level_shares(texture, lod)
    parts = [(fetch(level, share > 0), share) for level, share in shares if some(share > 0)]
    result: list[Words] = []
    for channel in range(texture.channels):
        if texture.levels and texture.levels.filter == "linear":
            sum_ = sum(share * words[channel].view(np.float32) for words, share in parts)
            result.append(np.asarray(sum_, np.float32).view(np.uint32))
        else:
            result.append(np.select([share > 0 for _, share in parts], [words[channel] for words, _ in parts]))
    return result


def _level_shares(texture: Texture, lod: NDArray[np.float32]) -> list[tuple[Texture, NDArray[np.float64]]]:
    """The levels of a mipmapped texture, and what each adds to the result of each lane."""
    how = texture.levels
    assert how is not None
    every = (texture, *how.smaller)
    level_of_detail = np.clip(np.nan_to_num(lod.astype(np.float64)) + how.bias, how.lowest, how.highest)
    level_of_detail = np.clip(level_of_detail, 0, len(every) - 1)
    if how.filter == "point":
        return [(level, (np.floor(level_of_detail + 0.5) == i).astype(np.float64)) for i, level in enumerate(every)]
    steps = np.floor(level_of_detail * WEIGHT + 0.5) / WEIGHT
    return [(level, np.maximum(1 - np.abs(steps - i), 0)) for i, level in enumerate(every)]


def on_face(x: NDArray[np.float32], y: NDArray[np.float32], z: NDArray[np.float32]) -> tuple[NDArray[Any], ...]:
    """Face of a cube to which a direction points, and the normalized coordinates there."""
    size = np.abs([x, y, z])
    axis = size.argmax(0)
    along = np.choose(axis, (x, y, z))
    front = along >= 0
    s = np.choose(axis, (np.where(front, -z, z), x, np.where(front, x, -x)))
    t = np.choose(axis, (-y, np.where(front, z, -z), -y))
    largest = np.maximum(np.abs(along), np.finfo(np.float32).tiny)
    half = np.float32(0.5)
    return 2 * axis + ~front, (s / largest + 1) * half, (t / largest + 1) * half


def _neighbours(sampling: Sampling, coordinate: NDArray[np.float32], size: int) -> list[tuple[Places, Any]]:
    """The texels that a coordinate lies on or between along one axis, and their weights."""
    place = np.nan_to_num(coordinate.astype(np.float64), nan=0.0, posinf=_FAR, neginf=-_FAR)
    if sampling.coordinates == "normalized":
        place = place * size
    place = np.clip(place, -_FAR, _FAR)
    if sampling.filter == "point":
        return [(np.floor(place).astype(np.int64), None)]
    lower = np.floor(place - 0.5)
    weight = np.floor((place - 0.5 - lower) * WEIGHT + 0.5) / WEIGHT
    first = lower.astype(np.int64)
    return [(first, 1 - weight), (first + 1, weight)]


def address_mode(sampling: Sampling, axis: int) -> Address:
    """The mode that holds along an axis."""
    mode = sampling.address[axis]
    return "clamp" if sampling.coordinates == "texels" and mode in ("wrap", "mirror") else mode


def placed(index: Places, size: int, mode: Address) -> tuple[Places, NDArray[np.bool_]]:
    """The texel along an axis for each index, and whether there is one: beyond a border there is none."""
    if mode == "wrap":
        return index % size, np.ones(len(index), np.bool_)
    if mode == "mirror":
        turn = index % (2 * size)
        return np.minimum(turn, 2 * size - 1 - turn), np.ones(len(index), np.bool_)
    inside = (index >= 0) & (index < size) if mode == "border" else np.ones(len(index), np.bool_)
    return np.clip(index, 0, size - 1), inside


def decoded(texture: Texture, words: Sequence[Words]) -> list[Words]:
    """The channels of texels as a fetch returns them: 32 bits of a float or an integer each."""
    bits, reading = texture.bits, texture.sampling.read_mode
    result = []
    for channel in range(texture.channels):
        word = words[channel * bits // WORD].astype(np.uint32)
        part = word if bits == WORD else word >> np.uint32(channel * bits % WORD) & np.uint32((1 << bits) - 1)
        if texture.number == "float":
            halves = part.astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
            result.append(part if bits == WORD else halves)
            continue
        signed = (part << np.uint32(WORD - bits)).view(np.int32) >> np.int32(WORD - bits)
        number: NDArray[Any] = signed if texture.number == "signed" else part
        if reading == "element":
            result.append(number.view(np.uint32))
            continue
        fraction = np.maximum(number / ((1 << bits - (texture.number == "signed")) - 1), -1.0)
        if reading == "srgb" and channel < COLOURS:
            fraction = np.where(fraction <= 0.04045, fraction / 12.92, ((fraction + 0.055) / 1.055) ** 2.4)
        result.append(fraction.astype(np.float32).view(np.uint32))
    return result
