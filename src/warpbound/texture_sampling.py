"""How a kernel reads a texture: the fields of CUDA's texture descriptor (cudaTextureDesc) that change values."""

from typing import Literal

from warpbound.quick_dataclasses import dataclass

Address = Literal["wrap", "clamp", "mirror", "border"]
Filter = Literal["point", "linear"]
ADDRESSES: tuple[Address, ...] = ("wrap", "clamp", "mirror", "border")  # by the number of cudaTextureAddressMode


@dataclass(frozen=True)
class Sampling:
    """The defaults are those of a descriptor of zeros.

    address : along x, y and z, for coordinates outside. read : normalized_float maps integers of 8 and 16 bits to
    [0, 1] or [-1, 1]. coordinates : normalized ones go from 0 to 1.
    """

    address: tuple[Address, Address, Address] = ("wrap", "wrap", "wrap")
    filter: Filter = "point"
    read: Literal["element", "normalized_float"] = "element"
    coordinates: Literal["texels", "normalized"] = "texels"
