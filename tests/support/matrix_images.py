"""Matrices as tcgen05 and wgmma read them without a swizzle, in blocks of 8 rows of 16 bytes; what their codes mean."""

import numpy as np

from warpbound.emulate.float8 import FORMATS

LEADING_B, STRIDE_B = 128, 256  # from one 8 x 16 bytes to the next, along the depth and down the rows
DESCRIPTOR = LEADING_B >> 4 << 16 | STRIDE_B >> 4 << 32 | 1 << 46
IMAGE_B, SECOND_B = 16384, 8192  # of shared memory; where the second matrix begins


def image_of(*matrices, stride=STRIDE_B):
    """Shared memory with matrices in blocks of 8 rows of 16 bytes."""
    image = np.zeros(IMAGE_B, np.uint8)
    for number, matrix in enumerate(matrices):
        raw = np.ascontiguousarray(matrix).view(np.uint8).reshape(len(matrix), -1)
        row, byte = np.indices(raw.shape)
        place = row // 8 * stride + byte // 16 * LEADING_B + row % 8 * 16 + byte % 16
        image[number * SECOND_B + place] = raw
    return image


def numbers_of(raw, type_):
    if type_ in FORMATS:
        return np.asarray(FORMATS[type_].decode(raw.astype(np.uint32)), np.float64)
    if type_ == "BF16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if type_ == "TF32":
        return (raw.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64)
    return raw.astype(np.float64)
