"""Kernels of CuTe DSL, with layouts known to the compiler and read at run time, copy engine and tensor cores."""

from collections.abc import Iterator

import cutlass
import numpy as np
from cutlass import cute
from cutlass.cute.nvgpu import cpasync, warp

from instruction_corpus.cases import Case
from warpbound.cute_dsl import dynamic, prepare

N, TILE = 1000, 32
OF_ONE = ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tanh")
FROM_90 = (90, 100, 120)


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    i = cute.arch.block_idx()[0] * 256 + cute.arch.thread_idx()[0]
    if i < cute.size(a):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[(cute.size(a) + 255) // 256, 1, 1], block=[256, 1, 1])


@cute.kernel
def of_one_kernel(x: cute.Tensor, out: cute.Tensor, of: cutlass.Constexpr):
    i = cute.arch.block_idx()[0] * 256 + cute.arch.thread_idx()[0]
    if i < N:
        out[i] = of(x[i])


@cute.jit
def of_one(x: cute.Tensor, out: cute.Tensor, of: cutlass.Constexpr):
    of_one_kernel(x, out, of).launch(grid=[4, 1, 1], block=[256, 1, 1])


@cute.kernel
def wide_kernel(x: cute.Tensor, out: cute.Tensor, scale: cutlass.Float32):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    own = cute.make_rmem_tensor(4, cutlass.Float32)
    cute.autovec_copy(cute.local_tile(x, (4,), (i,)), own)
    own.store(own.load() * scale)
    cute.autovec_copy(own, cute.local_tile(out, (4,), (i,)))


@cute.jit
def wide(x: cute.Tensor, out: cute.Tensor, scale: cutlass.Float32):
    wide_kernel(x, out, scale).launch(grid=[cute.size(x) // 512, 1, 1], block=[128, 1, 1])


@cute.kernel
def row_sums_kernel(x: cute.Tensor, out: cute.Tensor):
    lane = cute.arch.thread_idx()[0]
    row = cute.arch.block_idx()[0]
    total = cutlass.Float32(0)
    for i in cutlass.range(x.shape[1] // 32):
        total += x[row, 32 * i + lane]
    for step in cutlass.range_constexpr(5):
        total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
    if lane == 0:
        out[row] = total


@cute.jit
def row_sums(x: cute.Tensor, out: cute.Tensor):
    row_sums_kernel(x, out).launch(grid=[x.shape[0], 1, 1], block=[32, 1, 1])


@cute.kernel
def transpose_kernel(x: cute.Tensor, out: cute.Tensor):
    column, row, _ = cute.arch.thread_idx()
    bx, by, _ = cute.arch.block_idx()
    layout = cute.make_layout((TILE, TILE), stride=(TILE + 1, 1))
    tile = cutlass.memory.SmemAllocator().allocate_tensor(cutlass.Float32, layout)
    for i in cutlass.range_constexpr(4):
        tile[row + 8 * i, column] = x[by * TILE + row + 8 * i, bx * TILE + column]
    cute.arch.sync_threads()
    for i in cutlass.range_constexpr(4):
        out[bx * TILE + row + 8 * i, by * TILE + column] = tile[column, row + 8 * i]


@cute.jit
def transpose(x: cute.Tensor, out: cute.Tensor):
    grid = [x.shape[1] // TILE, x.shape[0] // TILE, 1]
    transpose_kernel(x, out).launch(grid=grid, block=[TILE, 8, 1], smem=8192)


@cute.kernel
def by_map_kernel(
    load: cute.CopyAtom, source: cute.Tensor, store: cute.CopyAtom, target: cute.Tensor, layout: cute.Layout
):
    bx, by, _ = cute.arch.block_idx()
    thread = cute.arch.thread_idx()[0]
    shared = cutlass.memory.SmemAllocator()
    tile = shared.allocate_tensor(cutlass.Float32, layout, byte_alignment=128)
    arrived = shared.allocate_array(cutlass.Int64, 1)
    if thread == 0:
        cute.arch.mbarrier_init(arrived, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    whole = cute.group_modes(tile, 0, 2)
    one = cute.make_layout(1)
    own = cute.group_modes(cute.local_tile(source, (TILE, TILE), (bx, by)), 0, 2)
    there = cute.group_modes(cute.local_tile(target, (TILE, TILE), (bx, by)), 0, 2)
    inner, outer = cpasync.tma_partition(load, 0, one, whole, own)
    from_inner, to_outer = cpasync.tma_partition(store, 0, one, whole, there)
    if thread < 32:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(arrived, TILE * TILE * 4)
        cute.copy(load, outer, inner, tma_bar_ptr=arrived)
    cute.arch.mbarrier_wait(arrived, 0)
    for i in cutlass.range_constexpr(8):
        tile[4 * i + thread // 32, thread % 32] = tile[4 * i + thread // 32, thread % 32] * 2.0
    cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    if thread < 32:
        cute.copy(store, from_inner, to_outer)
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0)


@cute.jit
def by_map(x: cute.Tensor, out: cute.Tensor):
    layout = cute.make_layout((TILE, TILE), stride=(TILE, 1))
    load, source = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), x, layout, (TILE, TILE))
    store, target = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileS2GOp(), out, layout, (TILE, TILE))
    grid = [x.shape[0] // TILE, x.shape[1] // TILE, 1]
    by_map_kernel(load, source, store, target, layout).launch(grid=grid, block=[128, 1, 1], smem=8192)


@cute.kernel
def product_kernel(mma: cute.TiledMma, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    bx, by, _ = cute.arch.block_idx()
    own = mma.get_slice(cute.arch.thread_idx()[0])
    left = own.partition_A(cute.local_tile(a, (32, 16), (bx, None)))
    right = own.partition_B(cute.local_tile(b, (32, 16), (by, None)))
    result = own.partition_C(cute.local_tile(c, (32, 32), (bx, by)))
    total = mma.make_fragment_C(result)
    total.fill(0.0)
    fragments = mma.make_fragment_A(left[None, None, None, 0]), mma.make_fragment_B(right[None, None, None, 0])
    for k in cutlass.range(a.shape[1] // 16):
        cute.autovec_copy(left[None, None, None, k], fragments[0])
        cute.autovec_copy(right[None, None, None, k], fragments[1])
        cute.gemm(mma, total, fragments[0], fragments[1], total)
    cute.autovec_copy(total, result)


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    operation = warp.MmaF16BF16Op(a.element_type, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(operation, cute.make_layout((2, 2, 1)))
    grid = [a.shape[0] // 32, b.shape[0] // 32, 1]
    product_kernel(mma, a, b, c).launch(grid=grid, block=[128, 1, 1])


@cute.kernel
def staged_kernel(x: cute.Tensor, out: cute.Tensor):
    thread = cute.arch.thread_idx()[0]
    tile = cutlass.memory.SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(512), byte_alignment=16)
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), cutlass.Float32, num_bits_per_copy=128)
    block = cute.local_tile(x, (512,), (cute.arch.block_idx()[0],))
    cute.copy(atom, cute.local_tile(block, (4,), (thread,)), cute.local_tile(tile, (4,), (thread,)))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    there = cute.local_tile(out, (512,), (cute.arch.block_idx()[0],))
    for i in cutlass.range_constexpr(4):
        there[thread + 128 * i] = tile[511 - thread - 128 * i]


@cute.jit
def staged(x: cute.Tensor, out: cute.Tensor):
    staged_kernel(x, out).launch(grid=[cute.size(x) // 512, 1, 1], block=[128, 1, 1], smem=2048)


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(9)
    for dtype in (np.float32, np.float16, np.float64, np.int32):
        x, y = (numbers.uniform(1, 50, N).astype(dtype) for _ in range(2))
        yield _case(f"add {np.dtype(dtype).name}", add, (x, y, np.zeros_like(x)), {"c": x + y})
    yield _case("add dynamic", add, tuple(dynamic(each) for each in (x, y, np.zeros_like(x))), {"c": x + y})
    x = numbers.uniform(0.5, 3, N).astype(np.float32)
    for name in OF_ONE:
        expected = 1 / np.sqrt(x) if name == "rsqrt" else getattr(np, name)(x)
        yield _case(name, of_one, (x, np.zeros_like(x), getattr(cute.math, name)), {"out": expected}, 1e-5)
    x = numbers.standard_normal(2048).astype(np.float32)
    yield _case("wide", wide, (x, np.zeros_like(x), 3.0), {"out": 3 * x})
    yield _case("staged", staged, (x, np.zeros_like(x)), {"out": x.reshape(4, 512)[:, ::-1].reshape(-1)})
    rows = numbers.standard_normal((64, 96)).astype(np.float32)
    yield _case("row_sums", row_sums, (rows, np.zeros(64, np.float32)), {"out": rows.sum(1)}, 1e-5)
    yield _case("row_sums dynamic", row_sums, (dynamic(rows), np.zeros(64, np.float32)), {"out": rows.sum(1)}, 1e-5)
    yield _case("transpose", transpose, (rows, np.zeros((96, 64), np.float32)), {"out": rows.T})
    yield _case("by_map", by_map, (rows, np.zeros_like(rows)), {"out": 2 * rows}, 0.0, FROM_90)
    a, b = (numbers.standard_normal((64, 48)).astype(np.float16) for _ in range(2))
    wanted = {"c": a.astype(np.float32) @ b.astype(np.float32).T}
    yield _case("product", product, (a, b, np.zeros((64, 64), np.float32)), wanted, 1e-5)


def _case(name, host, args, expected, rtol=0.0, architectures=(80, 86, 89, 90, 100, 120)) -> Case:  # noqa: PLR0913
    return Case("CuTe DSL", name, lambda board: prepare(host, args, board), expected, rtol, architectures)
