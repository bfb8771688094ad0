"""Fat binaries: containers of machine code and PTX for several architectures, alone or inside another file.

Source   The layout was read off what nvcc 13.0 writes for one kernel with each of its compression modes and
         with suffixes a and f: a header of 16 bytes, then images, each with a header that gives kind, sizes,
         architecture and flags.
"""

import struct
import sys
from collections.abc import Iterator
from importlib import import_module

from warpbound.errors import InputError, MissingTool, install
from warpbound.quick_dataclasses import dataclass

LARGEST_IMAGE_B = 128 << 20
HOLDERS = {b"\x7fELF": "an ELF file", b"!<arch>\n": "an archive", b"MZ": "a Windows program"}

_MAGIC = b"\x50\xed\x55\xba"
_HEADER = struct.Struct("<4sHHQ")  # magic, version, size of this header, bytes that follow it
_IMAGE = struct.Struct("<HHIQI4xHHIIIQQQ")  # kind, version, header size, payload with filling, payload if packed,
# minor and major version, architecture, name at, length of name, flags, 0, size when unpacked
_KINDS = {1: "PTX", 2: "cubin"}
_LZ4, _ZSTD, _TIED, _FAMILY = 0x2000, 0x8000, 0x100000, 0x200000  # bits of the flags
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def is_binary(raw: bytes) -> bool:
    """Whether a file may hold device code for several architectures."""
    return raw.startswith(_MAGIC) or (raw.startswith(tuple(HOLDERS)) and b"\0" in raw[:256])


@dataclass(frozen=True)
class Image:
    """One image of a container, still packed: PTX or a cubin for sm_`arch``features`."""

    kind: str
    arch: int
    features: str
    flags: int
    packed: bytes
    size: int  # when unpacked; 0 where it is not packed

    def __str__(self) -> str:
        name = f"{self.arch}{self.features}"
        return f"PTX for compute_{name}" if self.kind == "PTX" else f"sm_{name}"

    def contents(self, source: str) -> bytes:
        """The PTX or the ELF file itself; `source` names the file in errors.

        Raises InputError where the image is damaged or packed in a way that is not known.
        """
        if not self.size:
            return self.packed
        if self.size > LARGEST_IMAGE_B:
            raise InputError(
                f"{source}: its image {self} states {self.size >> 20} MB unpacked; the limit is "
                f"{LARGEST_IMAGE_B >> 20} MB.",
                "Give the cubin of the one kernel.",
            )
        try:
            if self.flags & _ZSTD or self.packed.startswith(_ZSTD_MAGIC):
                return unpacked_frame(self.packed, self.size)
            if self.flags & _LZ4:
                return unpacked_block(self.packed, self.size)
        except ValueError as damaged:
            raise InputError(f"{source}: its image {self} is damaged ({damaged}).", "Build it again.") from damaged
        raise InputError(
            f"{source}: its image {self} is compressed in a way that is not known (flags {self.flags:#x}).",
            "Take the cubin out with `cuobjdump -xelf all`, or build with --compress-mode=none.",
        )


def unpacked_frame(frame: bytes, size: int) -> bytes:
    """The `size` bytes of a Zstandard frame. Raises ValueError where it is damaged or holds more or fewer."""
    try:
        zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError as missing:
        raise MissingTool("Reading this fat binary needs backports.zstd.", install("cuda")) from missing
    reader = zstd.ZstdDecompressor()
    try:
        data: bytes = reader.decompress(frame, max_length=size + 1)
    except zstd.ZstdError as damaged:
        raise ValueError(f"Zstandard: {damaged}") from damaged
    return _of_size(data, size, "Zstandard")


def unpacked_block(block: bytes, size: int) -> bytes:
    """The `size` bytes of an LZ4 block. Raises ValueError where it is damaged or holds more or fewer."""
    try:
        lz4 = import_module("lz4.block")
    except ImportError as missing:
        raise MissingTool("Reading this fat binary needs lz4.", install("cuda")) from missing
    try:
        data: bytes = lz4.decompress(block, uncompressed_size=size)
    except lz4.LZ4BlockError as damaged:
        raise ValueError(f"LZ4: {damaged}") from damaged
    return _of_size(data, size, "LZ4")


def _of_size(data: bytes, size: int, method: str) -> bytes:
    if len(data) != size:
        raise ValueError(f"{method}: not the {size} bytes that the image's header states")
    return data


def containers(raw: bytes, source: str) -> tuple[tuple[Image, ...], ...]:
    """The images of every fat binary in a file: a fatbin, an executable or an archive.

    Raises InputError where one of them is cut off.
    """
    binaries, at = [], raw.find(_MAGIC)
    while at >= 0:
        end = at + len(_MAGIC)
        if at + _HEADER.size <= len(raw):
            _, version, header, size = _HEADER.unpack_from(raw, at)
            if version == 1 and header == _HEADER.size:  # else the same four bytes by chance
                end = at + header + size
                if end > len(raw):
                    raise InputError(f"{source}: its fat binary is cut off.", "Build it again.")
                binaries.append(tuple(_images(raw[at + header : end], source)))
        at = raw.find(_MAGIC, end)
    return tuple(binaries)


def _images(raw: bytes, source: str) -> Iterator[Image]:
    at = 0
    while at + _IMAGE.size <= len(raw):
        kind, _, header, filled, packed, _, _, arch, _, _, flags, _, size = _IMAGE.unpack_from(raw, at)
        if header < _IMAGE.size or at + header + filled > len(raw) or packed > filled:
            raise InputError(f"{source}: an image of its fat binary is cut off.", "Build it again.")
        payload = raw[at + header : at + header + (packed or filled)]
        if kind in _KINDS:
            features = "a" if flags & _TIED else "f" if flags & _FAMILY else ""
            yield Image(_KINDS[kind], arch, features, flags, payload, size if packed else 0)
        at += header + filled
