"""What a texture object stands for, and what a fetch at a coordinate reads from it.

Source   CUDA C++ Programming Guide, appendix "Texture Fetching": nearest-point sampling takes texel floor(x); linear
         filtering takes floor(x - 0.5) and the next one, with weights of 9 bits of which 8 are the fraction. The same
         guide, "Texture Memory": normalized coordinates, address modes, integers read as fractions. CUDA Runtime API,
         cudaTextureDesc: wrap and mirror become clamp where coordinates count texels; linear memory has no address
         mode.
Models   Weights are rounded to the nearest; sums are taken in float64 and rounded once to float32. The guide gives
         neither rule. Texels without weight are not read.
Omits    Mipmaps, layers, cubes, three dimensions, sRGB, border colours other than zeros.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from warpbound.quick_dataclasses import dataclass
from warpbound.texture_sampling import Address, Sampling

Places = NDArray[np.int64]
Words = NDArray[np.uint32]
Read = Callable[[Places, Places], list[Words]]  # columns and rows, any numbers -> the channels there, 32 bits each

NUMBERS: tuple[Literal["signed", "unsigned", "float"], ...] = ("signed", "unsigned", "float")  # cudaChannelFormatKind
WORD = 32  # bits of a register; channels as wide are not read as fractions
WEIGHT = 256  # a weight is a multiple of its reciprocal
_FAR = 2.0**40  # more than a texture has texels: coordinates beyond count as this one


@dataclass(frozen=True)
class Texture:
    """Texels in rows. address : of the first one; width, height : in texels, height 0: one dimension; bits : of each
    channel, which holds `number`."""

    address: int
    width: int
    height: int
    pitch_B: int
    number: Literal["signed", "unsigned", "float"]
    bits: int
    channels: int
    sampling: Sampling = Sampling()

    @property
    def texel_B(self) -> int:
        return self.bits * self.channels // 8


def sampled(texture: Texture, x: NDArray[np.float32], y: NDArray[np.float32], read: Read) -> list[Words]:
    """The channels that a fetch at (x, y) returns. read : the texels, as `decoded`, at places inside or outside."""
    columns = _neighbours(texture.sampling, x, texture.width)
    rows = _neighbours(texture.sampling, y, texture.height) if texture.height else [(np.zeros(len(x), np.int64), None)]
    if texture.sampling.filter == "point":
        return read(columns[0][0], rows[0][0])
    sums = [np.zeros(len(x)) for _ in range(texture.channels)]
    for row, across in rows:
        for column, along in columns:
            weight = along if across is None else across * along
            if weight.any():
                for total, channel in zip(sums, read(column, row), strict=True):
                    total += weight * channel.view(np.float32)
    return [total.astype(np.float32).view(np.uint32) for total in sums]


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
    """The texels along an axis that stand for any index, and where there is one: a border has none."""
    if mode == "wrap":
        return index % size, np.ones(len(index), np.bool_)
    if mode == "mirror":
        turn = index % (2 * size)
        return np.minimum(turn, 2 * size - 1 - turn), np.ones(len(index), np.bool_)
    inside = (index >= 0) & (index < size) if mode == "border" else np.ones(len(index), np.bool_)
    return np.clip(index, 0, size - 1), inside


def decoded(texture: Texture, words: Sequence[Words]) -> list[Words]:
    """The channels of texels as a fetch returns them: 32 bits of a float or an integer each."""
    bits, read = texture.bits, texture.sampling.read
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
        if read == "normalized_float":
            largest = (1 << bits - (texture.number == "signed")) - 1
            result.append(np.maximum(number / largest, -1.0).astype(np.float32).view(np.uint32))
        else:
            result.append(number.view(np.uint32))
    return result
