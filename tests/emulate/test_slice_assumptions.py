"""Products of tiles are not computed where they decide nothing; where an execution shows that they do, they are."""

import numpy as np
import pytest

import warpbound
from warpbound import emulate
from warpbound.emulate import tensor_boxes, traced_blocks
from warpbound.emulate.slice_assumptions import NOTHING, assumed_of
from warpbound.emulate.tensor_maps import TensorMap, encode
from warpbound.emulate.value_slicing import slice_of, slice_where

pytestmark = pytest.mark.cuda

SUMMED = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void summed(const half *a, int *out, int own) {
    __shared__ float tile[16 * 16];
    __shared__ int rounds;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::mma_sync(sum, left, right, sum);
    rounds = own;
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major);
    __syncthreads();
    int until = READ;
    for (int i = 0; i < until; i++) out[i] = i;
}
"""
OVERWRITTEN = """
#include <stdint.h>
extern "C" __global__ void overwritten(uint64_t *map, uint64_t *whole, const uint4 *bytes, uint4 *out) {
    __shared__ __align__(1024) uint4 buffer[64];
    __shared__ __align__(8) uint64_t barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(buffer), signal = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x < 8) buffer[threadIdx.x] = bytes[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        whole[0] = (uint64_t)map, ((uint64_t *)buffer)[0] = (uint64_t)out;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(signal));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%1, {%2}], [%0];"
                     :: "r"(at), "l"(whole), "r"(0) : "memory");
        asm volatile("cp.async.bulk.commit_group;cp.async.bulk.wait_group 0;" ::: "memory");
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;" :: "r"(signal));
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2}], [%3];" :: "r"(at), "l"(map), "r"(0), "r"(signal) : "memory");
    }
    unsigned done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                               : "=r"(done) : "r"(signal));
}
"""


def products(program):
    return {at for at, x in enumerate(program.instructions) if x.traits.tensor}


def unlooked(boxes):
    """The boxes of an instruction, as if none had been left out."""

    def own(tile, x, warps):
        x.image.left_out = set()
        return boxes(tile, x, warps)

    return own


def rounds_of(read):
    """Stores of a loop that runs as often as what it reads says: a product is 16, `own` is 5."""
    program = warpbound.compile(SUMMED.replace("READ", read), "a100-sxm-80gb")
    arrays = {"a": np.ones((16, 16), np.float16), "out": np.zeros(64, np.int32)}
    result = emulate.trace(program, warpbound.launch(grid=1, block=32, args={**arrays, "own": 5}), [0])
    stores = [at for at, x in enumerate(program.instructions) if "global" in x.traits.stores]
    assert not result.stopped
    return program, int(result.executed[0, stores].sum())


def test_a_product_beside_which_a_load_decides_is_not_computed():
    program, rounds = rounds_of("rounds")
    assert rounds == 5
    assert products(program) <= slice_of(program).unneeded
    assert not products(program) <= slice_where(program, NOTHING).unneeded


def test_a_product_that_decides_is_computed():
    program, rounds = rounds_of("(int)tile[threadIdx.x]")
    assert rounds == 16
    assert products(program) <= slice_of(program).unneeded  # what was assumed, and refuted


def test_a_map_that_a_box_overwrites_is_followed(monkeypatch):
    program = warpbound.compile(OVERWRITTEN, "h200", options=["-arch=sm_90a"])
    assert assumed_of(program).boxes
    own, whole = (encode(TensorMap(0, "u8", 8, (size,), (), (size,), (1,))) for size in (64, 128))
    launch = warpbound.launch(grid=1, block=32, args={
        "map": np.zeros(16, np.uint64), "whole": np.frombuffer(whole, np.uint64),
        "bytes": np.frombuffer(own, np.uint64), "out": np.zeros(64, np.uint8),
    })  # fmt: skip
    assert not emulate.trace(program, launch, [0]).stopped
    monkeypatch.setattr(tensor_boxes.Tile, "boxes", unlooked(tensor_boxes.Tile.boxes))
    assert "describes no tensor" in emulate.trace(program, launch, [0]).stopped


@pytest.mark.broad
@pytest.mark.parametrize("board", ["h200", "b200"])
@pytest.mark.parametrize("roles", [False, True])
def test_a_product_by_own_maps_is_not_computed(board, roles, monkeypatch):
    pytest.importorskip("triton")
    from support import triton_kernels as kernels
    from warpbound.triton import launching

    arrays, tiles = ("f16[256,128]:rand", "f16[128,128]:rand", "f32[256,128]:zeros"), (128, 128, 64)
    shape = dict(zip(("TILE_M", "TILE_N", "TILE_K"), tiles, strict=True), ROLES=roles)
    ready = launching.prepare(kernels.product_by_descriptors, [*arrays, 256, 128, 128], shape, (2, 1), board)
    program = ready.program
    assert products(program) <= slice_of(program).unneeded
    quick = emulate.trace(program, ready.launch, [0, 1])
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: slice_where(program, NOTHING))
    whole = emulate.trace(program, ready.launch, [0, 1])
    assert np.array_equal(quick.executed, whole.executed)
    assert np.array_equal(quick.threads, whole.threads)
    assert quick.notes == whole.notes
    for space, own in quick.accesses.items():
        assert np.array_equal(own.base, whole.accesses[space].base)


@pytest.mark.broad
def test_tiles_that_are_read_as_matrices_are_not_assumed_apart():
    """Attention multiplies what it computed of sums: guards of it need them, and the assumption would be in vain."""
    pytest.importorskip("triton")
    from support.paths import ROOT
    from warpbound.python_files import file_kernel, loaded

    folder = ROOT / "examples" / "triton"
    kernel, front = loaded(file_kernel(f"{folder / 'attention.py'}:attention"))
    ready = front.adapter.of_launch(kernel, warpbound.gpu("b200"), warpbound.launch(folder / "attention.toml"), {})
    assert assumed_of(ready.program).tiles
    assert not slice_of(ready.program).assumed.tiles
