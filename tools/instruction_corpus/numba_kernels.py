"""Kernels of numba-cuda."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import cuda, float32, int32, uint32

from instruction_corpus.cases import Case
from warpbound.kernel_launch import Launch
from warpbound.numba_cuda import prepare

N, BLOCK, TILE = 500, 128, 16
PADDED = TILE + 1


def elementwise(function: Callable[..., Any]) -> Any:
    """out[i] = function(x[i], y[i])."""
    of = cuda.jit(device=True)(function)

    @cuda.jit
    def each(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = of(x[i], y[i])

    return each


ELEMENTWISE = {  # name -> (of two numbers, of NumPy's arrays, type of elements, tolerance)
    "add": (lambda x, y: x + y, lambda x, y: x + y, np.float32, 0.0),
    "divide": (lambda x, y: x / y, lambda x, y: x / y, np.float32, 1e-6),
    "square_root": (lambda x, y: math.sqrt(x), lambda x, y: np.sqrt(x), np.float32, 1e-6),
    "sine": (lambda x, y: math.sin(x), lambda x, y: np.sin(x), np.float32, 1e-6),
    "exponential": (lambda x, y: math.exp(x), lambda x, y: np.exp(x), np.float32, 1e-6),
    "logarithm": (lambda x, y: math.log(x), lambda x, y: np.log(x), np.float32, 1e-6),
    "hyperbolic": (lambda x, y: math.tanh(x), lambda x, y: np.tanh(x), np.float32, 1e-6),
    "power": (lambda x, y: math.pow(x, y), lambda x, y: np.power(x, y), np.float32, 1e-5),
    "arc_tangent": (lambda x, y: math.atan2(x, y), lambda x, y: np.arctan2(x, y), np.float32, 1e-6),
    "add_64": (lambda x, y: x + y, lambda x, y: x + y, np.float64, 0.0),
    "divide_64": (lambda x, y: x / y, lambda x, y: x / y, np.float64, 1e-15),
    "cosine_64": (lambda x, y: math.cos(x), lambda x, y: np.cos(x), np.float64, 1e-14),
    "integer_product": (lambda x, y: x * y, lambda x, y: x * y, np.int32, 0.0),
    "integer_quotient": (lambda x, y: x // y, lambda x, y: x // y, np.int32, 0.0),
    "integer_remainder": (lambda x, y: x % y, lambda x, y: x % y, np.int64, 0.0),
    "quotients_64": (lambda x, y: x // y + (x << 9) % (y + 1), lambda x, y: x // y + (x << 9) % (y + 1), np.int64, 0.0),
    "bits": (lambda x, y: (x & y) ^ (x << 3), lambda x, y: (x & y) ^ (x << 3), np.int32, 0.0),
    "larger": (lambda x, y: max(x, y), lambda x, y: np.maximum(x, y), np.int32, 0.0),
    "set_bits": (lambda x, y: cuda.popc(uint32(x)), lambda x, y: np.bitwise_count(x), np.int32, 0.0),
    "leading_zeros": (lambda x, y: cuda.clz(int32(x)), lambda x, y: 31 - np.floor(np.log2(x)), np.int32, 0.0),
    "half_sum": (lambda x, y: x + y, lambda x, y: x + y, np.float16, 0.0),
}  # fmt: skip


@cuda.jit
def product(a, b, c):
    """A tiled product through shared memory."""
    of_a, of_b = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0.0)
    for step in range(a.shape[1] // TILE):
        of_a[x, y] = a[row, y + step * TILE]
        of_b[x, y] = b[x + step * TILE, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += of_a[x, k] * of_b[k, y]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def block_sums(x, out):
    """One sum a block, in dynamic shared memory, added by an atomic."""
    part = cuda.shared.array(0, float32)
    thread = cuda.threadIdx.x
    part[thread] = x[cuda.grid(1)]
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if thread < half:
            part[thread] += part[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def warp_sums(x, out):
    """One sum a warp, by shuffles."""
    i = cuda.grid(1)
    value = x[i]
    step = 16
    while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


@cuda.jit
def votes(x, out):
    """How many lanes of a warp hold more than 5."""
    i = cuda.grid(1)
    mask = cuda.ballot_sync(0xFFFFFFFF, x[i] > 5)
    out[i] = cuda.popc(uint32(mask))


@cuda.jit
def histogram(x, out):
    """Counts by atomics."""
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i] % 16, 1)


@cuda.jit
def largest(x, out):
    """The largest, by atomics."""
    cuda.atomic.max(out, 0, x[cuda.grid(1)])


@cuda.jit
def transpose(x, out):
    """Through shared memory with a padded row."""
    tile = cuda.shared.array((TILE, PADDED), float32)
    x0, y0 = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    x1, y1 = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y1, x1] = x[y0 + y1, x0 + x1]
    cuda.syncthreads()
    out[x0 + y1, y0 + x1] = tile[x1, y1]


@cuda.jit
def stencil(x, out):
    """Five points."""
    i, j = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        out[i, j] = x[i, j] + x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


@cuda.jit
def prefix(x, out):
    """A private array, then sums of it."""
    own = cuda.local.array(8, float32)
    i = cuda.grid(1)
    total = float32(0.0)
    for k in range(8):
        total += x[i, k]
        own[(k * 5 + i) % 8] = total
    for k in range(8):
        out[i, k] = own[(k * 5 + i) % 8]


@cuda.jit(fastmath=True)
def fast(x, out):
    """Fast functions."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i]) / (x[i] + float32(1.0))


PARTICLE = np.dtype([("x", np.float32), ("v", np.float64), ("kind", np.int16)], align=True)


@cuda.jit
def complex_products(x, y, out):
    """Complex numbers."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * y[i] + x[i].conjugate() / y[i]


@cuda.jit
def moved(particles, step):
    """Records."""
    i = cuda.grid(1)
    if i < particles.size:
        particles[i].x = particles[i]["x"] + step * particles[i].v
        particles[i].kind += 1


@cuda.jit
def steps(x, rounds):
    """Barriers of the whole grid."""
    grid, i = cuda.cg.this_grid(), cuda.grid(1)
    for _ in range(rounds):
        value = x[(i + 1) % x.size]
        grid.sync()
        x[i] += value
        grid.sync()


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(1)
    for name, (of, in_numpy, dtype, rtol) in ELEMENTWISE.items():
        whole = np.issubdtype(dtype, np.integer)
        x, y = ((numbers.integers(1, 1000, N) if whole else numbers.uniform(0.5, 3, N)).astype(dtype) for _ in range(2))
        yield _case(name, elementwise(of), (x, y, np.zeros(N, dtype)), 4, {"out": in_numpy(x, y)}, rtol)
    a, b = numbers.random((32, 48), dtype=np.float32), numbers.random((48, 32), dtype=np.float32)
    yield _case("product", product, (a, b, np.zeros((32, 32), np.float32)), (2, 2), {"c": a @ b}, 1e-6, (TILE, TILE))
    x = numbers.random(512, dtype=np.float32)
    total = {"out": np.array([x.sum(dtype=np.float64)], np.float32)}
    yield _case("block_sums", block_sums, (x, np.zeros(1, np.float32)), 4, total, 1e-6, smem=4 * BLOCK)
    yield _case("warp_sums", warp_sums, (x, np.zeros(16, np.float32)), 4, {"out": x.reshape(16, 32).sum(1)}, 1e-6)
    whole = numbers.integers(0, 10, 512, dtype=np.int32)
    counts = np.repeat((whole.reshape(16, 32) > 5).sum(1), 32).astype(np.int32)
    yield _case("votes", votes, (whole, np.zeros(512, np.int32)), 4, {"out": counts})
    yield _case("histogram", histogram, (whole, np.zeros(16, np.int32)), 4, {"out": np.bincount(whole, minlength=16)})
    yield _case("largest", largest, (x, np.zeros(1, np.float32)), 4, {"out": x.max(keepdims=True)})
    image = numbers.random((32, 32), dtype=np.float32)
    yield _case("transpose", transpose, (image, np.zeros_like(image)), (2, 2), {"out": image.T}, 0.0, (TILE, TILE))
    inner = np.zeros_like(image)
    inner[1:-1, 1:-1] = image[1:-1, 1:-1] + image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    yield _case("stencil", stencil, (image, np.zeros_like(image)), (2, 2), {"out": inner}, 1e-6, (TILE, TILE))
    rows = numbers.random((BLOCK, 8), dtype=np.float32)
    yield _case("prefix", prefix, (rows, np.zeros_like(rows)), 1, {"out": rows.cumsum(1, dtype=np.float32)}, 1e-6)
    yield from _of_parts(numbers)
    y = numbers.uniform(0.5, 3, N).astype(np.float32)
    yield _case("fast", fast, (y, np.zeros_like(y)), 4, {"out": np.sin(y) * np.exp(-y) / (y + 1)}, 1e-5)


def _of_parts(numbers: np.random.Generator) -> Iterator[Case]:
    """Complex numbers, records, and a launch whose blocks wait for each other."""
    for dtype, rtol in ((np.complex64, 1e-6), (np.complex128, 1e-15)):
        x, y = (numbers.uniform(0.5, 3, (2, N)).T.copy().view(np.complex128)[:, 0].astype(dtype) for _ in range(2))
        expected = {"out": x * y + x.conj() / y}
        yield _case(f"complex_products {dtype.__name__}", complex_products, (x, y, np.zeros_like(x)), 4, expected, rtol)
    particles = np.zeros(N, PARTICLE)
    particles["x"], particles["v"] = numbers.random((2, N))
    particles["kind"] = numbers.integers(9, size=N)
    later = particles.copy()
    later["x"], later["kind"] = particles["x"] + 0.5 * particles["v"], particles["kind"] + 1
    yield _case("moved", moved, (particles, 0.5), 4, {"particles": later})
    x = numbers.integers(0, 99, 4 * BLOCK).astype(np.float32)
    sums = x
    for _ in range(3):
        sums = sums + np.roll(sums, -1)
    yield _case("steps", steps, (x, 3), 4, {"x": sums})


def _case(name, kernel, args, grid, expected, rtol=0.0, block=(BLOCK, 1), smem=0) -> Case:  # noqa: PLR0913
    x, y = grid if isinstance(grid, tuple) else (grid, 1)
    own = Launch(grid=(x, y, 1), block=(*block, 1), smem=smem)
    return Case("numba-cuda", name, lambda board: prepare(kernel, args, own, board), expected, rtol)
