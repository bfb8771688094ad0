"""Pairs of blocks (cta_group::2) against NumPy: products of both, allocation, arrivals, copies into tensor memory."""

import numpy as np
import pytest

import warpbound
from instruction_corpus.nvrtc_pipelines import in_tiles
from support.matrix_images import IMAGE_B, image_of, numbers_of
from support.pair_of_blocks import SOURCE, run
from support.paths import EXAMPLES
from warpbound.emulate.tensor_maps import TensorMap, encode
from warpbound.emulate.value_slicing import slice_of
from warpbound.errors import InputError

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

PRODUCT = """
        for (int i = 0; i < 2; i++)
            asm volatile("{.reg .pred p; setp.ne.b32 p, %4, 0;"
                         "tcgen05.mma.cta_group::2.kind::KIND [%0], %1, %2, %3, p;}"
                         :: "r"(memory), "l"(a), "l"(b), "r"(word), "r"(i) : "memory");
"""
COPY = 'asm volatile("tcgen05.cp.cta_group::2.SHAPE [%0], %1;" :: "r"(memory), "l"(a));'


@pytest.mark.parametrize(
    ("rows", "type_", "kind", "code"),
    [(256, "F16", "f16", 0), (128, "F16", "f16", 0), (256, "E4M3", "f8f6f4", 0), (128, "S8", "i8", 1)],
)
def test_a_product_of_two_blocks(rows, type_, kind, code):
    random, columns, pairs = np.random.default_rng(rows), 32, 2
    depth = 16 if type_ == "F16" else 32
    if type_ == "F16":
        a, b = (random.standard_normal((pairs, extent, depth)).astype(np.float16) for extent in (rows, columns))
    elif type_ == "S8":
        a, b = (random.integers(-128, 128, (pairs, extent, depth)).astype(np.int8) for extent in (rows, columns))
    else:
        a, b = (random.integers(0x20, 0x48, (pairs, extent, depth)).astype(np.uint8) for extent in (rows, columns))
    images = [
        image_of(a[pair, half * rows // 2 : (half + 1) * rows // 2], b[pair, 16 * half : 16 * half + 16])
        for pair in range(pairs) for half in (0, 1)
    ]  # fmt: skip
    word = (2 if kind == "i8" else 1) << 4 | code << 7 | code << 10 | (columns >> 3) << 17 | (rows >> 4) << 24
    found = run(PRODUCT.replace("KIND", kind), images, word).view(np.int32 if kind == "i8" else np.float32)
    for pair in range(pairs):
        expected = 2 * (numbers_of(a[pair], type_) @ numbers_of(b[pair], type_).T)
        both = found[2 * pair : 2 * pair + 2]
        if rows == 256:
            got = both.reshape(256, columns)
        else:  # lanes from 64 on have the second half of the columns
            got = both[:, :, :16].reshape(2, 2, 64, 16).transpose(0, 2, 1, 3).reshape(128, columns)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


BOXES = """
#include <stdint.h>
extern "C" __global__ void __cluster_dims__(2, 1, 1) boxes(uint64_t *map, const float *data, float *out) {
    __shared__ __align__(1024) float box[2][32];
    __shared__ __align__(8) uint64_t barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(box), signal = (unsigned)__cvta_generic_to_shared(&barrier);
    unsigned rank = blockIdx.x, leaders = signal & 0xfeffffff, done = 0;
    if (threadIdx.x == 0) {
        if (rank == 0) map[0] = (uint64_t)data;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(signal));
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        if (rank == 0) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" :: "r"(signal));
        asm volatile("cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2}], [%3];" :: "r"(at), "l"(map), "r"(32 * rank), "r"(leaders) : "memory");
        if (rank == 1) asm volatile("cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile"
            ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2}], [%3], %4;"
            :: "r"(at + 128), "l"(map), "r"(64), "r"(leaders), "h"((unsigned short)3) : "memory");
    }
    while (!done && rank == 0)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(signal));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    for (int i = 0; i < 2; i++) out[(2 * rank + i) * 32 + threadIdx.x] = box[i][threadIdx.x];
}
"""


def test_a_pair_needs_a_cluster():
    source = SOURCE.replace("STARTS", "").replace("COLUMNS", "1").replace("__cluster_dims__(2, 1, 1)", "")
    program = warpbound.compile(source, "b200", options=["-arch=sm_100a"])
    launch = warpbound.launch(grid=2, block=128, smem=IMAGE_B, args={
        "image": np.zeros(8192, np.uint32), "out": np.zeros(256, np.uint32), "word": 0,
    })  # fmt: skip
    with pytest.raises(InputError, match="a pair of blocks needs a cluster of an even number of blocks"):
        warpbound.run(program, launch)


def test_boxes_of_both_blocks_end_transactions_of_the_leaders_barrier():
    """512 bytes in all: a box for each block, and one for both by multicast, which the odd block asks for."""
    data = np.arange(96, dtype=np.float32)
    words = np.frombuffer(encode(TensorMap(0, "f32", 32, (96,), (), (32,), (1,), 0, fills_nan=False)), np.uint64)
    program = warpbound.compile(BOXES, "b200", options=["-arch=sm_100a"])
    found = warpbound.run(program, warpbound.launch(grid=2, block=32, args={
        "map": words.copy(), "data": data, "out": np.zeros(128, np.float32),
    }))["out"].reshape(2, 2, 32)  # fmt: skip
    assert np.array_equal(found[:, 0], data[:64].reshape(2, 32))
    assert np.array_equal(found[:, 1], [data[64:], data[64:]])


def test_the_example_of_a_cluster_of_two_pairs():
    """Copies with multicast, arrivals at the neighbour's barriers, a product of 256 x 256 by each pair."""
    program = warpbound.compile(EXAMPLES / "blackwell" / "pair_product.cu", "b200", options=["-arch=sm_100a"])
    random, rows, columns, depth = np.random.default_rng(0), 256, 512, 128
    a, b = (random.standard_normal((extent, depth)).astype(np.float16) for extent in (rows, columns))
    found = warpbound.run(program, warpbound.launch(grid=(4, 1), block=128, smem=196608, args={
        "a": in_tiles(a), "b": in_tiles(b), "c": np.zeros((rows, columns), np.float32), "n": columns, "k": depth,
    }))["c"]  # fmt: skip
    np.testing.assert_allclose(found, a.astype(np.float64) @ b.T.astype(np.float64), rtol=1e-4, atol=1e-4)


def test_products_of_the_example_need_no_values():
    """Checks that only trap are no calls; copies behind the barrier of the cluster change no address before it."""
    program = warpbound.compile(EXAMPLES / "blackwell" / "pair_product.cu", "b200", options=["-arch=sm_100a"])
    own = slice_of(program)
    assert {program.instructions[at].opcode for at in own.unread} == {"UBLKCP"}
    assert {"UTCHMMA", "LDTM", "STG"} <= {program.instructions[at].opcode for at in own.unneeded}


@pytest.mark.parametrize(
    ("shape", "rows", "width", "goes_to"),
    [("128x256b", 128, 8, None), ("128x128b", 128, 4, None), ("4x256b", 4, 8, None),
     ("32x128b.warpx4", 32, 4, [0, 0, 0, 0]), ("64x128b.warpx2::02_13", 64, 4, [0, 1, 0, 1]),
     ("64x128b.warpx2::01_23", 64, 4, [0, 0, 1, 1])],
)  # fmt: skip
def test_copies_to_tensor_memory(shape, rows, width, goes_to):
    data = np.random.default_rng(rows).integers(0, 1 << 32, (2, rows, width), np.uint32)
    found = run(COPY.replace("SHAPE", shape), [image_of(each) for each in data], columns=8)
    for block in (0, 1):
        expected = np.zeros((128, 8), np.uint32)
        if goes_to is None:
            expected[:rows, :width] = data[block]
        else:
            expected[:, :width] = np.concatenate([data[block, 32 * part : 32 * part + 32] for part in goes_to])
        assert np.array_equal(found[block], expected)
