"""What a sample says of L2 and DRAM, and how far off it says to be, against the same by all blocks."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import warpbound
from support.breadth import some_of
from support.handmade_traces import COPY, IN, LANE, MACHINE, OUT, copy
from support.handmade_traces import trace as written
from support.paths import EXAMPLES
from warpbound.emulate import trace
from warpbound.emulate.trace import Trace
from warpbound.memory.hierarchy import Facts
from warpbound.memory.traffic import How, traffic, traffic_with_errors
from warpbound.memory.traffic_counts import Errors
from warpbound.workload.dynamic import sample

BOARD = Facts(arch=80, sm_count=8, blocks_per_sm=4, l1_bytes=40 << 10, l2_bytes=400 << 10)
TOLERATED = 0.01  # of a count, 0.002 of a rate: rounding and the ends of a launch
SWEEP = """
extern "C" __global__ void sweep(const float* x, float* y, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < steps; ++k) sum += x[(i + k * 4096) * 8 % n];
    y[i] = sum;
}
"""
GATHER = """
extern "C" __global__ void gather(const int* at, const float* x, float* y, int threads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += x[at[i + k * threads]];
    y[i] = sum;
}
"""
UNEVEN = """
extern "C" __global__ void uneven(const int* start, const int* column, const float* v, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = start[row]; k < start[row + 1]; ++k) sum += v[k] * x[column[k]];
    y[row] = sum;
}
"""
PRODUCT = """
extern "C" __global__ void product(const float* A, const float* B, float* C, int n) {
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * n + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += a[threadIdx.y][j] * b[j][threadIdx.x];
        __syncthreads();
    }
    C[row * n + column] = sum;
}
"""
STENCIL = """
extern "C" __global__ void stencil(const float* in, float* out, int n) {
    int row = n + 2, plane = row * row;
    int i = (blockIdx.z * 8 + 1) * plane + (blockIdx.y * blockDim.y + threadIdx.y + 1) * row
          + blockIdx.x * blockDim.x + threadIdx.x + 1;
    float below = in[i - plane], here = in[i];
    #pragma unroll 1
    for (int k = 0; k < 8; ++k, i += plane) {
        float above = in[i + plane];
        out[i] = here + below + above + in[i - 1] + in[i + 1] + in[i - row] + in[i + row];
        below = here, here = above;
    }
}
"""


def zeros(*shape):
    return np.zeros(shape, np.float32)


def launched(name):
    """Source, kernel, grid, block, arguments."""
    rng, rows, apps = np.random.default_rng(5), 64 * 128, EXAMPLES / "applications"
    matrix = {"rows": np.int32(rows), "columns": np.int32(32), "A": zeros(rows, 32), "x": zeros(32)}
    if name == "gesummv":
        own = {"alpha": np.float32(1), "beta": np.float32(1), "B": zeros(rows, 32), "y": zeros(rows)}
        return apps / "gesummv.cu", name, 64, 128, matrix | own
    if name == "atax_rows":
        return apps / "atax.cu", name, 64, 128, matrix | {"product": zeros(rows)}
    if name == "atax_columns":
        wide = {"rows": np.int32(64), "columns": np.int32(4096), "A": zeros(64, 4096)}
        return apps / "atax.cu", name, 64, 64, wide | {"product": zeros(64), "y": zeros(4096)}
    if name == "sweep":
        args = {"x": zeros(1 << 21), "y": zeros(16384), "n": np.int32(1 << 21), "steps": np.int32(8)}
        return SWEEP, name, 128, 128, args
    if name == "transpose_naive":
        args = {"in": zeros(512, 512), "out": zeros(512, 512), "width": np.int32(512), "height": np.int32(512)}
        return EXAMPLES / f"{name}.cu", name, (16, 16), (32, 8), args
    if name == "product":
        return PRODUCT, name, (16, 16), (16, 16), {**{x: zeros(256, 256) for x in "ABC"}, "n": np.int32(256)}
    if name.startswith("stencil"):
        block = STENCILS[name]
        grid = (64 // block[0], 64 // block[1], 8)
        return STENCIL, "stencil", grid, block, {"in": zeros(66**3), "out": zeros(66**3), "n": np.int32(64)}
    if name in ("gather", "gather_small"):
        size = 1 << (20 if name == "gather" else 17)
        at = rng.integers(0, size, (16, 16384)).astype(np.int32)
        args = {"at": at, "x": zeros(size), "y": zeros(16384), "threads": np.int32(16384)}
        return GATHER, "gather", 128, 128, args
    start = np.concatenate([[0], np.cumsum(np.minimum(rng.geometric(0.1, 16384), 100))]).astype(np.int32)
    many = int(start[-1])
    column = rng.integers(0, 1 << 19, many).astype(np.int32)
    return UNEVEN, name, 128, 128, {
        "start": start, "column": column, "v": zeros(many), "x": zeros(1 << 19), "y": zeros(16384)
    }  # fmt: skip


@cache
def by_all_blocks(name):
    source, kernel, grid, block, args = launched(name)
    program = warpbound.compile(source, warpbound.gpu("sm_80"), kernel=kernel)
    return program, trace(program, warpbound.launch(grid=grid, block=block, args=args), range(int(np.prod(grid))))


def some(seen: Trace, blocks) -> Trace:
    """The trace of some of the blocks."""
    kept = np.isin(seen.warps[:, 0], blocks)
    number, accesses = np.cumsum(kept) - 1, {}
    for space, one in seen.accesses.items():
        rows = kept[one.warp]
        warp = number[one.warp[rows]].astype(np.int32)
        accesses[space] = replace(one.rows(rows), warp=warp)
    counts = {"warps": seen.warps[kept], "executed": seen.executed[kept], "threads": seen.threads[kept]}
    return replace(seen, blocks=np.asarray(blocks), accesses=accesses, streams={}, **counts)


@cache
def sampled(name, size, machine=BOARD, caches="cold"):
    """Traffic by "one" block, the residents of an "sm", those and "more" blocks, a "wave", or "all"."""
    program, seen = by_all_blocks(name)
    count, wave = seen.of_blocks, machine.sm_count * machine.blocks_per_sm
    grid = launched(name)[2]
    grid = grid if isinstance(grid, tuple) else (grid,)
    few = sample(grid, machine.blocks_per_sm, machine.sm_count, 48 if size == "more" else 0)
    wholes = {"one": [count // 2], "wave": range(count // 2, count // 2 + wave), "all": range(count)}
    chosen = wholes.get(size, few.blocks)
    weights = few.weights if size in ("sm", "more") else None
    return traffic_with_errors(program, some(seen, np.array(chosen)), machine, How(caches, weights=weights, grid=grid))


KERNELS = ("gesummv", "atax_rows", "atax_columns", "sweep", "transpose_naive", "gather", "uneven")
SIZES = ("sm", "more", "wave")
STENCILS = {"stencil": (32, 4), "stencil_narrow": (8, 16), "stencil_wide": (64, 2)}


@pytest.mark.cuda
@pytest.mark.parametrize("size", some_of(SIZES, usual=1))
@pytest.mark.parametrize("name", KERNELS)
def test_traffic_of_a_sample_has_no_bias(name, size):
    found, true = sampled(name, size), sampled(name, "all")
    assert found.dram_bytes_read == pytest.approx(true.dram_bytes_read, rel=0.1)
    assert found.dram_bytes_written == pytest.approx(true.dram_bytes_written, rel=0.1)
    assert found.l2_sectors_read == pytest.approx(true.l2_sectors_read, rel=0.1)
    assert found.l1_hit_rate == pytest.approx(true.l1_hit_rate, abs=0.05)
    assert found.l2_hit_rate == pytest.approx(true.l2_hit_rate, abs=0.06)


@pytest.mark.cuda
@pytest.mark.parametrize("size", SIZES)
def test_a_product_reads_what_its_blocks_share_once(size):
    """Blocks of one turn that share a column of B are never further apart than what the turn touches."""
    assert sampled("product", "all").dram_bytes_read == pytest.approx(2 * 4 * 256**2)
    assert sampled("product", size).dram_bytes_read == pytest.approx(2 * 4 * 256**2, rel=0.01)


@pytest.mark.cuda
@pytest.mark.parametrize(("name", "KiB"), [("stencil", 400), ("stencil_wide", 400), ("stencil_narrow", 8192)])
def test_what_blocks_share_along_all_axes(name, KiB):
    """A block and its neighbours along x, y and z tell what a wave of blocks does; those along x alone do not."""
    board = replace(BOARD, l2_bytes=KiB << 10)
    found, true = sampled(name, "sm", board), sampled(name, "all", board)
    assert found.dram_bytes_read == pytest.approx(true.dram_bytes_read, rel=0.01)
    assert found.dram_bytes_written == pytest.approx(true.dram_bytes_written, rel=0.1)
    assert found.l2_hit_rate == pytest.approx(true.l2_hit_rate, abs=0.04)
    program, seen = by_all_blocks(name)
    blocks = [0, seen.of_blocks // 2, seen.of_blocks // 2 + 1, seen.of_blocks - 1]
    along_x = traffic(program, some(seen, blocks), replace(board, l2_bytes=50 << 10), How("cold"))
    assert along_x.dram_bytes_read > 1.25 * true.dram_bytes_read


@pytest.mark.cuda
def test_lines_that_several_blocks_share_are_an_error():
    """Four blocks of 8 columns share a line; the sampled two of them leave it half empty."""
    found, true = sampled("stencil_narrow", "sm"), sampled("stencil_narrow", "all")
    assert found.dram_bytes_read > 1.2 * true.dram_bytes_read
    assert abs(found.dram_bytes_read - true.dram_bytes_read) < 2 * found.errors.dram_bytes_read
    assert sampled("stencil", "sm").errors.dram_bytes_read < 0.1 * true.dram_bytes_read


@pytest.mark.cuda
@pytest.mark.parametrize("size", ["sm", "more"])
@pytest.mark.parametrize("KiB", [400, 768])
def test_blocks_that_gather_keep_data_in_l2_for_each_other(size, KiB):
    """They come to a sector at different times. If each came after all others, DRAM would send up to 4.7 times that."""
    board = replace(BOARD, l2_bytes=KiB << 10)
    found, true = sampled("gather_small", size, board), sampled("gather_small", "all", board)
    assert found.dram_bytes_read == pytest.approx(true.dram_bytes_read, rel=0.35)
    assert abs(found.dram_bytes_read - true.dram_bytes_read) < 2 * found.errors.dram_bytes_read
    assert abs(found.l2_hit_rate - true.l2_hit_rate) < 2 * found.errors.l2_hit_rate
    ample = sampled("gather_small", size, replace(BOARD, l2_bytes=2 << 20))
    assert ample.errors.dram_bytes_read < 0.02 * ample.dram_bytes_read


@pytest.mark.cuda
def test_truth_lies_within_two_stated_errors():
    inside = []
    for name in KERNELS:
        true = sampled(name, "all")
        assert true.errors == Errors()
        for size in SIZES:
            found = sampled(name, size)
            for what, error in vars(found.errors).items():
                is_, should_be = getattr(found, what), getattr(true, what)
                spare = 0.002 if what.endswith("rate") else TOLERATED * should_be
                inside.append(abs(is_ - should_be) <= 2 * error + spare)
    assert np.mean(inside) > 0.85


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["gather", "uneven"])
@pytest.mark.parametrize("size", SIZES)
def test_blocks_that_differ_have_an_error(name, size):
    errors = sampled(name, size).errors
    assert errors.l1_hit_rate > 0 < errors.l2_hit_rate
    assert errors.l2_sectors_read > 0 < errors.dram_bytes_read


@pytest.mark.cuda
def test_one_block_says_nothing_of_others():
    assert sampled("uneven", "one").errors is None


@pytest.mark.cuda
@pytest.mark.parametrize("size", SIZES)
def test_data_that_fit_are_read_once(size):
    ample = replace(BOARD, l2_bytes=64 << 20)
    assert sampled("gesummv", size, ample).dram_bytes_read == pytest.approx(2 * 4 * 32 * 8192, rel=0.05)
    assert sampled("gesummv", size, ample, "warm").dram_bytes_read == 0


@pytest.mark.cuda
def test_a_turn_of_which_one_block_was_sampled_has_a_share_of_l2():
    """Before, blocks alone in their turn had as much of L2 as all the sampled ones of the fullest turn."""
    found = sampled("gesummv", "more")
    assert found.l2_hit_rate == pytest.approx(sampled("gesummv", "all").l2_hit_rate, abs=0.01)


@pytest.mark.cuda
@pytest.mark.parametrize("size", [*SIZES, "all"])
def test_a_turn_that_fits_both_sides_of_l2_is_near_although_one_block_is_on_one_side(size):
    found = sampled("atax_rows", size, replace(BOARD, l2_bytes=768 << 10, l2_sides_bytes=768 << 10))
    assert found.l2_sectors_far < 0.001 * found.l2_sectors_read


def test_equal_blocks_have_no_error():
    found = traffic_with_errors(COPY, written([0, 5, 6, 12, 20, 39], 40, 4, copy), MACHINE, How("cold"))
    assert found.errors == Errors()
    assert traffic(COPY, written([0, 5], 40, 4, copy), MACHINE, How("cold")).errors is None


def test_data_that_all_blocks_read_are_not_the_first_ones_alone():
    def same(block, warp):
        return [("global", 0, IN + 128 * k + 4 * LANE, None) for k in range(8)]

    sample_ = written([0, 5, 6, 39], 40, 4, same)  # each on its own SM
    found = traffic_with_errors(COPY, sample_, MACHINE, How("cold", weights=np.array([1.0, 19.0, 19.0, 1.0])))
    assert found.dram_bytes_read == pytest.approx(8 * 128)
    assert found.errors == Errors()


def uneven_copy(block, warp):
    lines = 2 if block % 4 else 1  # three of four blocks load two lines a warp, the others one
    base = (block * 4 + warp) * 256
    return [("global", 0, IN + base + 128 * k + 4 * LANE, None) for k in range(lines)] + [
        ("global", 1, OUT + base + 4 * LANE, None)
    ]


def test_spread_of_uneven_blocks():
    blocks = [1, 4, 10, 15]  # alone: halves 1, 10 and 4, 15
    found = traffic_with_errors(COPY, written(blocks, 400, 4, uneven_copy), MACHINE, How("cold"))
    sectors = np.array([32, 16, 32, 32])  # of a block
    scatter = 400 * sectors.std(ddof=1) / 2 * np.sqrt(0.99)
    apart = 400 * abs(32 - 24) / 2
    assert found.l2_sectors_read == 400 * sectors.mean()
    assert found.errors.l2_sectors_read == pytest.approx(max(scatter, apart))
    assert found.errors.dram_bytes_read >= 32 * scatter / 2
    assert found.errors.l1_hit_rate == 0


def test_ends_that_differ_have_an_error():
    weights = np.array([1.0, 398 / 3, 398 / 3, 398 / 3, 1.0])
    trace_ = written([0, 5, 6, 9, 399], 400, 4, uneven_copy)  # the first block loads half of what the others do
    found = traffic_with_errors(COPY, trace_, MACHINE, How("cold", weights=weights))
    assert found.errors.l2_sectors_read == pytest.approx(16 * 400 * (1 - 5 / 400) / 5)


@pytest.mark.parametrize(("row", "at_sides"), [(None, 1 / 400), (40, 1 / 40 + 1 / 10), (4, 1 / 5)])
def test_a_last_block_that_does_a_part_is_at_the_side_of_the_grid(row, at_sides):
    weights = np.array([1.0, 398 / 3, 398 / 3, 398 / 3, 1.0])

    def loading(of_last):
        def asked(block, warp):
            loads = of_last if block == 399 else 2
            lines = [IN + (block * 4 + warp) * 512 + 128 * k + 4 * LANE for k in range(loads)]
            return [("global", 0, line, None) for line in lines]

        return written([1, 5, 6, 9, 399], 400, 4, asked)

    how = How("cold", weights=weights, grid=row and (row, 400 // row))
    for of_last, share in ((1, at_sides), (0, 1 / 5), (3, 1 / 5)):
        found = traffic_with_errors(COPY, loading(of_last), MACHINE, how)
        differs = 16 * abs(of_last - 2)
        assert found.errors.l2_sectors_read == pytest.approx(differs * 400 * (1 - 5 / 400) * share)
