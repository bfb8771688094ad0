"""Fat binaries made for tests, and what those in tests/program/data were made of.

scale_zstd.fatbin   nvcc 13.0 -fatbin --compress-mode=size, of SCALE for sm_80, compute_80, sm_90a and sm_100f
scale_lz4.fatbin    the same --compress-mode=speed, for sm_80 (stored) and compute_80 (LZ4)
unlinked.o          nvcc 13.0 -rdc=true -c --compress-mode=size, of APART for sm_80; debug symbols stripped
"""

import struct

from support.paths import TESTS

DATA = TESTS / "program" / "data"

SCALE = """__global__ void scale(const float* values, float by, float* scaled)
{
    scaled[threadIdx.x] = by * values[threadIdx.x];
}
"""
APART = """__device__ __noinline__ float square(float x) { return x * x; }
__global__ void squares(float* values) { values[threadIdx.x] = square(values[threadIdx.x]); }
"""
PTX, CUBIN = 1, 2
TIED, FAMILY, LZ4, ZSTD = 0x100000, 0x200000, 0x2000, 0x8000


def image(kind: int, arch: int, payload: bytes, flags: int = 0, size: int = 0) -> bytes:
    """One image; `size` is given where the payload is packed."""
    filled = -(-len(payload) // 8) * 8
    head = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, filled, len(payload) if size else 0, 0, 8, 1, arch,
                       0, 0, 0x11 | flags, 0, size)  # fmt: skip
    return head + payload.ljust(filled, b"\0")


def fat(*images: bytes) -> bytes:
    """A container of images."""
    body = b"".join(images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def host_program(*containers: bytes) -> bytes:
    """Something that begins like a program for x86-64 and holds containers somewhere."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, 62) + bytes(200)
    return head + b"\x81\x3c\x24\x50\xed\x55\xba\x75\x05".join((b"", *containers, b"text"))
