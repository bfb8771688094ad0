"""Arrays of a launch that the kernel takes as texture or surface objects."""

import re
from typing import Literal

from warpbound.emulate.texture_objects import Texture
from warpbound.errors import InputError
from warpbound.kernel_argument import DTYPES, Argument
from warpbound.texture_sampling import Sampling

_OBJECT = re.compile("cuda(Texture|Surface)Object_t")
TEXELS: dict[str, Literal["signed", "unsigned", "float"]] = {
    "f32": "float", "f16": "float", "i8": "signed", "i16": "signed", "i32": "signed", "u8": "unsigned",
    "u16": "unsigned", "u32": "unsigned",
}  # fmt: skip
CHANNELS, AXES = (1, 2, 4), 4


def is_object(declared: str) -> bool:
    """Whether a parameter of this type is a texture or surface object; a pointer to some is none."""
    return bool(_OBJECT.search(declared)) and "*" not in declared


def texture_of(argument: Argument, address: int, sampling: Sampling) -> Texture:
    """An array as a texture or surface object. (n,): linear memory; (rows, columns); (rows, columns, channels);
    (slices, rows, columns, channels): three dimensions, layers or a cube.

    Raises InputError where no texture has such elements.
    """
    dtype = str(argument.dtype)
    shape = argument.shape
    sizes = {1: (0, 0, *shape, 1), 2: (0, *shape, 1), 3: (0, *shape)}.get(len(shape), shape)
    slices, height, width, channels = sizes if len(sizes) == AXES else (0, 0, 0, 0)
    if dtype not in TEXELS or channels not in CHANNELS:
        reason = f"argument '{argument.name}' is {dtype}{list(argument.shape)}, which is no texture."
        way = "Give f32[ROWS,COLUMNS]; the third size counts channels (1, 2 or 4), the first of four slices."
        raise InputError(reason, way)
    if sampling.filter == "linear" and TEXELS[dtype] != "float" and sampling.read_mode == "element":
        reason = f"argument '{argument.name}' has a linear filter, which texels of {dtype} do not have."
        raise InputError(reason, 'Add read = "normalized_float", or take filter = "point".')
    if any(sampling.border) and TEXELS[dtype] != "float" and sampling.read_mode == "element":
        words = f"which texels of {dtype} read as integers do not have."
        reason = f"argument '{argument.name}' has a border colour, {words}"
        raise InputError(reason, 'Add read = "normalized_float", or remove border.')
    if sampling.read_mode == "srgb" and dtype != "u8":
        reason = f"argument '{argument.name}' is read as sRGB, which texels of {dtype} are not."
        raise InputError(reason, "Give u8 texels, or another way to read.")
    kind, size = TEXELS[dtype], DTYPES[dtype].itemsize
    return Texture(address, width, height, width * channels * size, kind, 8 * size, channels, sampling, slices)
