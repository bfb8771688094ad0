"""Blackwell's tensor memory against NumPy: loads and stores of every shape, products of every type, allocation."""

import numpy as np
import pytest

import warpbound
from support.matrix_images import DESCRIPTOR, image_of, numbers_of
from warpbound import emulate
from warpbound.emulate import traced_blocks
from warpbound.emulate.value_slicing import Slice, slice_of
from warpbound.errors import InputError

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

HEAD = """
#include <stdint.h>
extern "C" __global__ void kernel(const uint4 *image, uint32_t *out, uint32_t word) {
    extern __shared__ __align__(1024) uint4 shared[];
    __shared__ uint32_t where;
    __shared__ __align__(8) uint64_t barrier;
    unsigned base = (unsigned)__cvta_generic_to_shared(shared), at = (unsigned)__cvta_generic_to_shared(&where);
    unsigned signal = (unsigned)__cvta_generic_to_shared(&barrier), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < 1024; i += 128) shared[i] = image[i];
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" :: "r"(at));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(signal));
    __syncthreads();
    unsigned memory = where, rows = memory + (warp << 21);
"""
TAIL = """
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" :: "r"(memory));
}
"""
STORE = """
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8};" :: "r"(rows),
        "r"(V(0)), "r"(V(1)), "r"(V(2)), "r"(V(3)), "r"(V(4)), "r"(V(5)), "r"(V(6)), "r"(V(7)));
    asm volatile("tcgen05.wait::st.sync.aligned;");
""".replace("V(", "1000 * threadIdx.x + (")
LOAD = """
    uint32_t v[COUNT];
    asm volatile("tcgen05.ld.sync.aligned.SHAPE.b32 {LIST}, [%COUNT];" : OUTPUTS : "r"(rows));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    for (int i = 0; i < COUNT; i++) out[threadIdx.x * COUNT + i] = v[i];
"""
PRODUCT = """
    if (threadIdx.x == 0) {
        uint64_t a = DESCRIPTOR | (base >> 4), b = DESCRIPTOR | ((base + 8192) >> 4);
        for (int i = 0; i < 2; i++)
            asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;"
                         "tcgen05.mma.cta_group::1.kind::KIND [%0], %1, %2, %3, p;}"
                         :: "r"(memory), "l"(a), "l"(b), "r"(word), "r"(i) : "memory");
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(signal));
    }
    __syncthreads();
    unsigned done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                               : "=r"(done) : "r"(signal));
"""
PACKED = {"E2M3": 6, "E3M2": 6, "E2M1": 4}  # bits of each code


def loading(shape, count):
    return (
        LOAD.replace("SHAPE", shape).replace("LIST", ",".join(f"%{i}" for i in range(count)))
        .replace("OUTPUTS", ",".join(f'"=r"(v[{i}])' for i in range(count))).replace("COUNT", str(count))
    )  # fmt: skip


def compiled(body):
    return warpbound.compile(HEAD + body + TAIL, "b200", options=["-arch=sm_100a"])


def launched(image=None, word=0, count=8):
    data = np.zeros(16384, np.uint8) if image is None else image
    return warpbound.launch(grid=2, block=128, smem=16384, args={
        "image": data.view(np.uint32), "out": np.zeros(128 * count, np.uint32), "word": np.uint32(word),
    })  # fmt: skip


def run(body, image=None, word=0, count=8):
    return warpbound.run(compiled(body), launched(image, word, count))["out"].reshape(128, count)


def test_what_is_stored_is_loaded():
    assert np.array_equal(run(STORE + loading("32x32b.x8", 8)), 1000 * np.arange(128)[:, None] + np.arange(8))


STORE_HALVES = """
    asm volatile("tcgen05.st.sync.aligned.32x32b.x4.unpack::16b.b32 [%0], {%1,%2,%3,%4};" :: "r"(rows),
        "r"(V(0)), "r"(V(1)), "r"(V(2)), "r"(V(3)));
    asm volatile("tcgen05.wait::st.sync.aligned;");
""".replace("V(", "0x30000 * threadIdx.x + (")


def test_halves_of_a_register_are_stored_in_neighbouring_columns():
    lower, upper = np.broadcast_arrays(np.arange(4), 3 * np.arange(128)[:, None])
    found = run(STORE_HALVES + loading("32x32b.x8", 8))
    assert np.array_equal(found, np.stack([lower, upper], axis=2).reshape(128, 8))


@pytest.mark.parametrize(("shape", "count"), [("32x32b.x4.pack::16b", 4), ("16x32bx2.x2.pack::16b", 2)])
def test_lower_halves_of_neighbouring_columns_share_a_register(shape, count):
    body = STORE.replace("1000 * ", "0x10011 * ") + loading(shape, count)
    found = run(body if count == 4 else body.replace("[%2]", "[%2], 4"), count=count)
    thread = np.arange(128)
    row = thread if count == 4 else thread - thread % 32 + thread % 16
    first = 0x11 * row + (0 if count == 4 else 4 * (thread % 32 // 16))
    number = first[:, None] + np.arange(0, 2 * count, 2)
    assert np.array_equal(found, number | number + 1 << 16)


@pytest.mark.parametrize(("shape", "count"), [("16x64b.x4", 4), ("16x128b.x2", 4), ("16x256b.x1", 4)])
def test_fragments_of_sixteen_rows(shape, count):
    found = run(STORE + loading(shape, count), count=count)
    for thread in range(128):
        lane, first = thread % 32, thread // 32 * 32
        for i in range(count):
            if shape.startswith("16x256b"):
                row, column = lane // 4 + 8 * (i // 2), lane % 4 * 2 + i % 2
            elif shape.startswith("16x64b"):
                row, column = lane // 4 + 8 * (lane % 2), lane // 2 % 2 + 2 * i
            else:
                row, column = lane // 4 + 8 * (i % 2), lane % 4 + 4 * (i // 2)
            assert found[thread, i] == 1000 * (first + row) + column


def packed(codes, bits):
    """16 codes in a row, then a gap up to 16 bytes."""
    rows = codes.reshape(len(codes), -1, 16)
    ones = np.unpackbits(rows[..., None], axis=3, count=bits, bitorder="little").reshape(*rows.shape[:2], -1)
    ones = np.pad(ones, ((0, 0), (0, 0), (0, 128 - 16 * bits)))
    return np.packbits(ones, axis=2, bitorder="little").reshape(codes.shape)


@pytest.mark.parametrize(
    ("type_", "kind", "code", "stored"),
    [("F16", "f16", 0, np.float16), ("BF16", "f16", 1, np.uint16), ("TF32", "tf32", 2, np.float32),
     ("E4M3", "f8f6f4", 0, np.uint8), ("E5M2", "f8f6f4", 1, np.uint8), ("S8", "i8", 1, np.int8),
     ("E2M3", "f8f6f4", 3, np.uint8), ("E3M2", "f8f6f4", 4, np.uint8), ("E2M1", "f8f6f4", 5, np.uint8)],
)  # fmt: skip
@pytest.mark.parametrize("rows", [64, 128])
def test_products_of_every_type(type_, kind, code, stored, rows):
    random = np.random.default_rng(code)
    depth = 32 // np.dtype(stored).itemsize
    if stored in (np.float16, np.float32):
        a, b = (random.standard_normal((extent, depth)).astype(stored) for extent in (rows, 8))
    elif type_ == "S8":
        a, b = (random.integers(-128, 128, (extent, depth)).astype(np.int8) for extent in (rows, 8))
    elif type_ in PACKED:
        a, b = (random.integers(0, 1 << PACKED[type_], (extent, depth)).astype(stored) for extent in (rows, 8))
    else:  # positive codes around 1
        low, high = (0x3E00, 0x4080) if type_ == "BF16" else (0x20, 0x48)
        a, b = (random.integers(low, high, (extent, depth)).astype(stored) for extent in (rows, 8))
    sum_type = 2 if kind == "i8" else 1
    word = sum_type << 4 | code << 7 | code << 10 | (8 >> 3) << 17 | (rows >> 4) << 24
    body = PRODUCT.replace("KIND", kind).replace("DESCRIPTOR", f"{DESCRIPTOR}ull") + loading("32x32b.x8", 8)
    image = image_of(*(packed(each, PACKED[type_]) if type_ in PACKED else each for each in (a, b)))
    found = run(body, image, word).view(np.int32 if kind == "i8" else np.float32)
    lanes = np.arange(rows) if rows == 128 else np.arange(rows) % 16 + np.arange(rows) // 16 * 32
    expected = 2 * (numbers_of(a, type_) @ numbers_of(b, type_).T)
    np.testing.assert_allclose(found[lanes], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(("kind", "stored"), [("f16", np.float16), ("f8f6f4", np.uint8)])
@pytest.mark.parametrize("rows", [64, 128])
def test_sums_in_fp16(kind, stored, rows):
    """One rounding of each product's sum, in the lower half of a cell."""
    random = np.random.default_rng(rows)
    a, b = (random.standard_normal((extent, 16)).astype(np.float16) for extent in (rows, 8))
    if stored is np.uint8:
        a, b = (random.integers(0x20, 0x48, (extent, 32)).astype(np.uint8) for extent in (rows, 8))
    word = (8 >> 3) << 17 | (rows >> 4) << 24
    body = PRODUCT.replace("KIND", kind).replace("DESCRIPTOR", f"{DESCRIPTOR}ull") + loading("32x32b.x8", 8)
    found = run(body, image_of(a, b), word)
    lanes = np.arange(rows) if rows == 128 else np.arange(rows) % 16 + np.arange(rows) // 16 * 32
    left, right = (numbers_of(each, "E4M3" if stored is np.uint8 else "F16") for each in (a, b))
    product = left @ right.T
    expected = (product.astype(np.float16) + product).astype(np.float16)
    assert np.array_equal(found[lanes], expected.view(np.uint16))


SPARSE = """
    uint32_t *metadata = (uint32_t *)shared + 3072 + 2 * threadIdx.x;
    asm volatile("tcgen05.st.sync.aligned.32x32b.x2.b32 [%0], {%1, %2};"
                 :: "r"(rows + 32), "r"(metadata[0]), "r"(metadata[1]));
    asm volatile("tcgen05.wait::st.sync.aligned;");
    if (threadIdx.x == 0) {
        uint64_t a = DESCRIPTORull | (base >> 4), b = WIDERull | ((base + 8192) >> 4);
        asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;"
                     "tcgen05.mma.sp.cta_group::1.kind::KIND [%0], %1, %2, [%3], %4, p;}"
                     :: "r"(memory), "l"(a), "l"(b), "r"(memory + 32), "r"(word) : "memory");
    }
    __syncthreads();
""".replace("DESCRIPTOR", str(DESCRIPTOR)).replace("WIDER", str(DESCRIPTOR + (256 >> 4 << 32)))


@pytest.mark.parametrize(
    ("kind", "code", "stored"),
    [("f16", 0, np.float16), ("tf32", 2, np.float32), ("i8", 1, np.int8), ("f8f6f4", 0, np.uint8)],
)
def test_products_with_a_sparse_factor(kind, code, stored):
    """Metadata are placed here one by one, as the PTX ISA draws them."""
    random, bits = np.random.default_rng(7), 8 * np.dtype(stored).itemsize
    depth, chunk, places = 512 // bits, 2 if bits == 32 else 4, 1 if bits == 32 else 2
    kept, b = (random.integers(32, 64, shape).astype(stored) for shape in ((128, depth // 2), (8, depth)))
    a, metadata = np.zeros((128, depth), stored), np.zeros((128, 2), np.uint32)
    for row in range(128):
        for number in range(depth // chunk):
            at = sorted(random.choice(chunk, places, replace=False).tolist())
            a[row, chunk * number + np.array(at)] = kept[row, places * number : places * number + places]
            word = {0: 0b0100, 1: 0b1110}[at[0]] if bits == 32 else at[0] | at[1] << 2
            if bits == 8:
                metadata[row, number // 8] |= word << 4 * (number % 8)
            else:
                lane = row // 16 * 16 + row % 8 + 8 * (number // 4)
                metadata[lane, 0] |= word << 16 * (row // 8 % 2) + 4 * (number % 4)
    image = image_of(kept)
    image[8192:12288] = image_of(b, stride=512)[:4096]
    image[12288:13312] = metadata.view(np.uint8).reshape(-1)
    word = 4 | (2 if kind == "i8" else 1) << 4 | code << 7 | code << 10 | (8 >> 3) << 17 | (128 >> 4) << 24
    found = run(SPARSE.replace("KIND", kind) + loading("32x32b.x8", 8), image, word)
    type_ = "E4M3" if kind == "f8f6f4" else ""
    expected = numbers_of(a, type_) @ numbers_of(b, type_).T
    np.testing.assert_allclose(found.view(np.int32 if kind == "i8" else np.float32), expected, rtol=1e-6)


SCALED = """
    if (threadIdx.x == 0) {
        uint64_t a = DESCRIPTORull | (base >> 4), b = a + (8192 >> 4), scales = DESCRIPTORull | ((base + 12288) >> 4);
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(memory + 16), "l"(scales));
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" :: "r"(memory + 20), "l"(scales + (1024 >> 4)));
        asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;"
                     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X "
                     "[%0], %1, %2, %3, [%4], [%5], p;}"
                     :: "r"(memory), "l"(a), "l"(b), "r"(word), "r"(memory + 16), "r"(memory + 20) : "memory");
    }
    __syncthreads();
""".replace("DESCRIPTOR", str(DESCRIPTOR))


@pytest.mark.parametrize("by_powers", [0, 1])
def test_products_with_a_scale_for_each_sixteen(by_powers):
    random = np.random.default_rng(by_powers)
    codes = [random.integers(0, 16, (extent, 64), np.uint8) for extent in (128, 8)]
    low = 0x70 if by_powers else 0x30
    scales = [random.integers(low, low + 24, (extent, 4), np.uint8) for extent in (128, 32)]
    image = image_of(*(each[:, ::2] | each[:, 1::2] << 4 for each in codes))
    for place, rows in zip((12288, 13312), scales, strict=True):  # row r of them: r, r + 32, r + 64, r + 96 of a factor
        cells = np.zeros((32, 4, 4), np.uint8)
        cells[:, : len(rows) // 32] = rows.reshape(-1, 32, 4).transpose(1, 0, 2)
        image[place : place + 1024] = image_of(cells.reshape(32, 16))[:1024]
    word = 1 << 7 | 1 << 10 | (8 >> 3) << 17 | by_powers << 23 | (128 >> 7) << 27
    found = run(SCALED + loading("32x32b.x8", 8), image, word).view(np.float32)
    a, b = (
        numbers_of(each, "E2M1") * np.repeat(2.0 ** (by - 127.0) if by_powers else numbers_of(by, "E4M3"), 16, axis=1)
        for each, by in zip(codes, (scales[0], scales[1][:8]), strict=True)
    )
    np.testing.assert_allclose(found, a @ b.T, rtol=1e-6)


HALVES = loading("16x32bx2.x4", 4).replace("[%4]", "[%4], 4")


def test_each_half_of_a_warp_is_loaded_by_itself(monkeypatch):
    """Lanes from 16 on read the same rows four columns further; no register is read before both halves are there."""
    lane = np.arange(128) % 32
    first = 1000 * (np.arange(128) - lane + lane % 16) + 4 * (lane // 16)
    assert np.array_equal(run(STORE + HALVES, count=4), first[:, None] + np.arange(4))
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: Slice(frozenset(), {}))
    assert emulate.trace(compiled(STORE + HALVES), launched(count=4), [0]).unknown == ()


def test_both_halves_of_a_needed_load_are_in_the_slice():
    program = compiled(STORE + HALVES.replace("out[threadIdx.x * 4 + i] =", "out[v[i] % 64] ="))
    needed = set(range(len(program.instructions))) - slice_of(program).unneeded
    assert [program.instructions[i].opcode for i in sorted(needed)].count("LDTM") == 2


def test_rows_and_columns_that_do_not_exist_are_named():
    with pytest.raises(InputError, match="column 515 of tensor memory do not exist"):
        run(STORE.replace('"r"(rows)', '"r"(rows + 508)'))


@pytest.mark.parametrize("word", [0x6020010, 0x8020034])
def test_an_odd_product_is_refused_by_name(word):
    """Of 96 rows; with sums of a type that there is not."""
    body = PRODUCT.replace("KIND", "f16").replace("DESCRIPTOR", f"{DESCRIPTOR}ull")
    with pytest.raises(InputError, match=f"does not execute UTCHMMA.*instruction descriptor {word:#x}"):
        run(body, word=word)
