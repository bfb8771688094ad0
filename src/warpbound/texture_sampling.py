"""How a kernel reads a texture: the fields of CUDA's texture descriptor (cudaTextureDesc) that change values."""

from typing import Annotated, Literal

import msgspec

from warpbound.quick_dataclasses import dataclass

Address = Literal["wrap", "clamp", "mirror", "border"]
Filter = Literal["point", "linear"]
Reading = Literal["element", "normalized_float", "srgb"]
Colour = tuple[float, float, float, float]
BLACK: Colour = (0.0, 0.0, 0.0, 0.0)
ADDRESSES: tuple[Address, ...] = ("wrap", "clamp", "mirror", "border")  # by the number of cudaTextureAddressMode


@dataclass(frozen=True)
class Sampling:
    """The defaults are those of a descriptor of zeros.

    address : along x, y and z, for coordinates outside. read_mode : normalized_float maps integers of 8 and 16 bits to
    [0, 1] or [-1, 1]; srgb: 8 bits to [0, 1], then by the sRGB curve to linear values, except the fourth channel.
    coordinates : normalized ones go from 0 to 1. border : channels of the texels that "border" finds outside.
    """

    address: tuple[Address, Address, Address] = ("wrap", "wrap", "wrap")
    filter: Filter = "point"
    read_mode: Reading = "element"
    coordinates: Literal["texels", "normalized"] = "texels"
    border: Colour = BLACK


class TextureKeys(msgspec.Struct, forbid_unknown_fields=True):
    """The table `texture` of an argument."""

    filter: Filter = "point"
    address: Annotated[
        list[Address],
        msgspec.Meta(max_length=3, description="Along x, y and z; the last one holds for the rest; none: wrap"),
    ] = []
    read: Reading = "element"
    coordinates: Literal["texels", "normalized"] = "texels"
    border: Annotated[Colour, msgspec.Meta(description="Channels of texels outside, where address is border")] = BLACK


def sampling_of(keys: TextureKeys | None) -> Sampling | None:
    """The sampling that a table asks for."""
    if keys is None:
        return None
    last: Address = keys.address[-1] if keys.address else "wrap"
    x, y, z = (*keys.address, last, last, last)[:3]
    return Sampling((x, y, z), keys.filter, keys.read, keys.coordinates, keys.border)
