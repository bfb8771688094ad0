"""Pairs of blocks (cta_group::2) with scales and with a sparse factor against NumPy: each has its own rows of A."""

import numpy as np
import pytest

from support.matrix_images import DESCRIPTOR, image_of, numbers_of
from support.pair_of_blocks import run

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

COLUMNS, ROWS = 32, 256  # of the sum; each block has half of the rows of A and half of the columns of B
SCALES_AT, MORE_AT, HALF_B = 12288, 13312, 1024  # in the image
SCALED = """
        uint64_t scales = DESCRIPTORull | ((base + 12288) & 0x3ffff) >> 4;
        asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" :: "r"(memory + 32), "l"(scales));
        asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" :: "r"(memory + 36), "l"(scales + (1024 >> 4)));
        asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;"
                     "tcgen05.mma.cta_group::2.kind::KIND.block_scale.scale_vec::VECTOR "
                     "[%0], %1, %2, %3, [%4], [%5], p;}"
                     :: "r"(memory), "l"(a), "l"(b), "r"(word), "r"(memory + 32), "r"(memory + 36) : "memory");
""".replace("DESCRIPTOR", str(DESCRIPTOR))
SPARSE = """
        uint64_t codes = DESCRIPTORull | ((base + 12288) & 0x3ffff) >> 4, wide = b + (256ull >> 4 << 32);
        asm volatile("tcgen05.cp.cta_group::2.128x128b [%0], %1;" :: "r"(memory + 32), "l"(codes));
        asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;"
                     "tcgen05.mma.sp.cta_group::2.kind::KIND [%0], %1, %2, [%3], %4, p;}"
                     :: "r"(memory), "l"(a), "l"(wide), "r"(memory + 32), "r"(word) : "memory");
""".replace("DESCRIPTOR", str(DESCRIPTOR))


def halves(matrix):
    return matrix.reshape(2, len(matrix) // 2, *matrix.shape[1:])


def image_of_scales(rows):
    """Row r of them in row r % 32 and cell r // 32, the bytes of a cell in order."""
    cells = np.zeros((32, 4, 4), np.uint8)
    cells[:, : len(rows) // 32, : rows.shape[1]] = rows.reshape(-1, 32, rows.shape[1]).transpose(1, 0, 2)
    return image_of(cells.reshape(32, 16))[:HALF_B]


@pytest.mark.parametrize(("kind", "vector", "type_"), [("mxf8f6f4", "1X", "E4M3"), ("mxf4nvf4", "4X", "E2M1")])
def test_a_product_of_two_blocks_with_scales(kind, vector, type_):
    """A scale for 32 numbers of 8 bits, or for 16 of 4 bits; both blocks have those of all columns of B."""
    random, few, per_row = np.random.default_rng(4), type_ == "E2M1", int(vector[0])
    depth = 64 if few else 32
    codes = [random.integers(0, 16, (extent, depth), np.uint8) if few
             else random.integers(0x20, 0x48, (extent, depth), np.uint8) for extent in (ROWS, COLUMNS)]  # fmt: skip
    scales = [random.integers(0x70, 0x88, (extent, per_row), np.uint8) for extent in (ROWS, COLUMNS)]
    stored = [each[:, ::2] | each[:, 1::2] << 4 if few else each for each in codes]
    images = [image_of(a, b) for a, b in zip(*map(halves, stored), strict=True)]
    for image, rows in zip(images, halves(scales[0]), strict=True):
        image[SCALES_AT : SCALES_AT + HALF_B] = image_of_scales(rows)
        image[MORE_AT : MORE_AT + HALF_B] = image_of_scales(scales[1])
    code = 1 if few else 0
    word = code << 7 | code << 10 | (COLUMNS >> 3) << 17 | 1 << 23 | (ROWS >> 7) << 27
    found = run(SCALED.replace("KIND", kind).replace("VECTOR", vector), images, word).view(np.float32)
    a, b = (numbers_of(each, type_) * np.repeat(2.0 ** (by - 127.0), depth // per_row, axis=1)
            for each, by in zip(codes, scales, strict=True))  # fmt: skip
    np.testing.assert_allclose(found.reshape(ROWS, COLUMNS), a @ b.T, rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "code", "stored"), [("f16", 0, np.float16), ("i8", 1, np.int8), ("f8f6f4", 0, np.uint8)]
)
def test_a_product_of_two_blocks_with_a_sparse_factor(kind, code, stored):
    """Two of each four neighbours of A are kept; each block's metadata say where those of its own rows belong."""
    random, bits = np.random.default_rng(8), 8 * np.dtype(stored).itemsize
    depth = 512 // bits
    kept, b = (random.integers(32, 64, shape).astype(stored) for shape in ((ROWS, depth // 2), (COLUMNS, depth)))
    a, metadata = np.zeros((ROWS, depth), stored), np.zeros((2, 128, 4), np.uint32)
    for row in range(ROWS):
        block, own = divmod(row, 128)
        for chunk in range(depth // 4):
            at = sorted(random.choice(4, 2, replace=False).tolist())
            a[row, 4 * chunk + np.array(at)] = kept[row, 2 * chunk : 2 * chunk + 2]
            word = at[0] | at[1] << 2
            if bits == 8:
                metadata[block, own, chunk // 8] |= word << 4 * (chunk % 8)
            else:
                lane = own // 16 * 16 + own % 8 + 8 * (chunk // 4)
                metadata[block, lane, 0] |= word << 16 * (own // 8 % 2) + 4 * (chunk % 4)
    images = [image_of(each) for each in halves(kept)]
    for image, part, codes in zip(images, halves(b), metadata, strict=True):
        image[8192:12288] = image_of(part, stride=512)[:4096]
        image[SCALES_AT : SCALES_AT + 4096] = image_of(codes)[:4096]
    word = 4 | (2 if kind == "i8" else 1) << 4 | code << 7 | code << 10 | (COLUMNS >> 3) << 17 | (ROWS >> 4) << 24
    found = run(SPARSE.replace("KIND", kind), images, word).view(np.int32 if kind == "i8" else np.float32)
    type_ = "E4M3" if kind == "f8f6f4" else ""
    np.testing.assert_allclose(
        found.reshape(ROWS, COLUMNS), numbers_of(a, type_) @ numbers_of(b, type_).T, rtol=1e-6
    )
