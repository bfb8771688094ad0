"""A program's description of a texture or surface object: the words of DESCRIBE_TEXTURE (runtime/textures.c).

Source   CUDA Runtime API: cudaResourceDesc, cudaTextureDesc, cudaMallocMipmappedArray (each size of a level is half of
         that before, one at least; layers and faces stay).
"""

import struct
from dataclasses import replace

from warpbound.emulate.texture_objects import NUMBERS, WORD, Levels, Texture
from warpbound.program_run.protocol import Question
from warpbound.texture_sampling import ADDRESSES, Address, Reading, Sampling

_SIZES, _MODES = 10, 3
READINGS: tuple[Reading, ...] = ("element", "normalized_float", "srgb")


def described(question: Question) -> Texture:
    """The texture; the addresses of smaller levels are the question's bytes."""
    words = question.words
    address, width, height, pitch_B, depth, layered, number, bits, channels = words[: _SIZES - 1]
    x, y, z = (_address(word) for word in words[_SIZES - 1 : _SIZES - 1 + _MODES])
    filters, reads, scaled, between, *numbers = words[_SIZES - 1 + _MODES :]
    numbers, border = numbers[:3], numbers[3:]
    sampling = Sampling(
        address=(x, y, z), filter="linear" if filters else "point",
        read_mode=READINGS[reads] if bits < WORD else "element", coordinates="normalized" if scaled else "texels",
        border=struct.unpack("<4f", struct.pack("<4I", *border)),
    )  # fmt: skip
    first = Texture(address, width, height, pitch_B, NUMBERS[number], bits, channels, sampling, depth)
    addresses = struct.unpack(f"<{len(question.data) // 8}Q", question.data)
    smaller: list[Texture] = []
    for each in addresses:
        smaller.append(_half(smaller[-1] if smaller else first, each, bool(layered)))
    if not smaller:
        return first
    bias, lowest, highest = struct.unpack("<3f", struct.pack("<3I", *numbers))
    return replace(first, levels=Levels(tuple(smaller), "linear" if between else "point", bias, lowest, highest))


def _address(word: int) -> Address:
    return ADDRESSES[word % len(ADDRESSES)]


def _half(texture: Texture, address: int, layered: bool) -> Texture:  # noqa: FBT001
    width, height, slices = (size // 2 if size > 1 else size for size in texture.sizes)
    slices = texture.slices if layered else slices
    return replace(
        texture, address=address, width=width, height=height, pitch_B=width * texture.texel_B, slices=slices
    )  # fmt: skip
