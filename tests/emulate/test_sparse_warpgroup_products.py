"""Hopper's sparse warpgroup products (wgmma.mma_async.sp) against NumPy; metadata are placed here lane by lane."""

import numpy as np
import pytest

import warpbound
from support.matrix_images import DESCRIPTOR, image_of, numbers_of
from warpbound.emulate.value_slicing import slice_of

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

SOURCE = """
#include <stdint.h>
extern "C" __global__ void product(const uint4 *image, TYPE *out, const uint32_t *metadata, const uint32_t *rows) {
    extern __shared__ __align__(1024) uint4 shared[];
    for (int i = threadIdx.x; i < 1024; i += 128) shared[i] = image[i];
    __syncthreads();
    uint64_t base = ((uint64_t)__cvta_generic_to_shared(shared) & 0x3ffff) >> 4;
    uint64_t a = NARROWull | base, b = WIDEull | (base + 512);
    uint32_t r[4], m = metadata[threadIdx.x];
    for (int i = 0; i < 4; i++) r[i] = rows[4 * threadIdx.x + i];
    TYPE d[4] = {1, 2, 3, 4};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sp.sync.aligned.SHAPE {%0, %1, %2, %3}, FIRST, %8, %9, SELECTOR, 1 SCALES;"
                 : FLAG(d[0]), FLAG(d[1]), FLAG(d[2]), FLAG(d[3])
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(b), "r"(m), "l"(a));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
""".replace("NARROW", str(DESCRIPTOR & ~(1 << 46))).replace("WIDE", str(DESCRIPTOR - (1 << 46) + (256 >> 4 << 32)))


def sparse_factor(random, bits, stored):
    """A with its zeros, what is kept of it, and the code of each chunk of a row."""
    depth, chunk, places = 512 // bits, 2 if bits == 32 else 4, 1 if bits == 32 else 2
    kept = random.integers(32, 64, (64, depth // 2)).astype(stored)
    whole, codes = np.zeros((64, depth), stored), np.zeros((64, depth // chunk), np.uint32)
    for row, number in np.ndindex(codes.shape):
        at = sorted(random.choice(chunk, places, replace=False).tolist())
        whole[row, chunk * number + np.array(at)] = kept[row, places * number : places * number + places]
        codes[row, number] = {0: 0b0100, 1: 0b1110}[at[0]] if bits == 32 else at[0] | at[1] << 2
    return whole, kept, codes


def metadata_of(codes, bits, selector):
    words = np.random.default_rng(1).integers(0, 1 << 32, 128, np.uint32)  # what other lanes have does not matter
    words[np.arange(128) % 4 // 2 == selector] = 0
    if bits == 8:
        words[:] = 0
    for row, number in np.ndindex(codes.shape):
        warp, group, lower = row // 16, row % 8, row // 8 % 2
        lane = 32 * warp + 4 * group
        if bits == 8:
            words[lane + lower + 2 * (number // 8)] |= codes[row, number] << 4 * (number % 8)
        else:
            words[lane + 2 * selector + number // 4] |= codes[row, number] << 16 * lower + 4 * (number % 4)
    return words


@pytest.mark.parametrize(
    ("types", "stored", "selector", "registers"),
    [("f32.f16.f16", np.float16, 0, False), ("f32.f16.f16", np.float16, 1, True),
     ("f32.tf32.tf32", np.float32, 1, False), ("f32.e4m3.e4m3", np.uint8, 0, False), ("s32.s8.s8", np.int8, 0, True)],
)  # fmt: skip
def test_products_with_a_sparse_factor(types, stored, selector, registers):
    random, bits = np.random.default_rng(selector), 8 * np.dtype(stored).itemsize
    whole, kept, codes = sparse_factor(random, bits, stored)
    b = random.integers(32, 64, (8, 512 // bits)).astype(stored)
    type_, flag = ("int", '"+r"') if types.startswith("s32") else ("float", '"+f"')
    turns = ", 0" * (1 if registers else 2) if stored == np.float16 else ""
    source = (
        SOURCE.replace("TYPE", type_).replace("FLAG", flag).replace("SHAPE", f"m64n8k{512 // bits}.{types}")
        .replace("FIRST", "{%4, %5, %6, %7}" if registers else "%10").replace("SELECTOR", str(selector))
        .replace("SCALES", ("" if type_ == "int" else ", 1, 1") + turns)
    )  # fmt: skip
    image = image_of(kept)
    image[8192:12288] = image_of(b, stride=512)[:4096]
    pieces = kept.view(np.uint32).reshape(4, 2, 8, 2, 4)  # warp, rows from 8 on, row, half of the words, word
    program = warpbound.compile(source, "h200", options=["-arch=sm_90a"])
    found = warpbound.run(program, warpbound.launch(grid=1, block=128, smem=16384, args={
        "image": image.view(np.uint32), "out": np.zeros(512, np.int32 if type_ == "int" else np.float32),
        "metadata": metadata_of(codes, bits, selector), "rows": pieces.transpose(0, 2, 4, 3, 1).reshape(-1).copy(),
    }))["out"].reshape(4, 8, 4, 2, 2)  # fmt: skip
    sums = found.transpose(0, 3, 1, 2, 4).reshape(64, 8)
    fp8 = "E4M3" if "e4m3" in types else ""
    expected = numbers_of(whole, fp8) @ numbers_of(b, fp8).T
    expected += np.array([1, 2, 3, 4]).reshape(2, 2)[np.arange(64)[:, None] // 8 % 2, np.arange(8) % 2]
    np.testing.assert_allclose(sums, expected, rtol=1e-6)
    assert any("GMMA" in program.instructions[at].opcode for at in slice_of(program).unneeded)
