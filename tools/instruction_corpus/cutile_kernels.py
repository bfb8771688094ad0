"""Kernels of cuTile, with tiles that move by the copy engine and without."""

from collections.abc import Iterator

import cuda.tile as ct
import numpy as np

from instruction_corpus.cases import Case
from warpbound.cutile import prepare

N, TILE = 2000, 256
OF_ONE = (
    "exp",
    "exp2",
    "log",
    "log2",
    "sqrt",
    "rsqrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "floor",
    "ceil",
    "abs",
    "negative",
)


@ct.kernel
def add(x, y, out, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.load(x, index=(i,), shape=(T,)) + ct.load(y, index=(i,), shape=(T,)))


@ct.kernel
def of_one(x, out, T: ct.Constant[int], F: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    if F == 0:
        a = ct.exp(a)
    elif F == 1:
        a = ct.exp2(a)
    elif F == 2:
        a = ct.log(a)
    elif F == 3:
        a = ct.log2(a)
    elif F == 4:
        a = ct.sqrt(a)
    elif F == 5:
        a = ct.rsqrt(a)
    elif F == 6:
        a = ct.sin(a)
    elif F == 7:
        a = ct.cos(a)
    elif F == 8:
        a = ct.tan(a)
    elif F == 9:
        a = ct.tanh(a)
    elif F == 10:
        a = ct.floor(a)
    elif F == 11:
        a = ct.ceil(a)
    elif F == 12:
        a = ct.abs(a)
    else:
        a = -a
    ct.store(out, index=(i,), tile=a)


@ct.kernel
def softmax(x, out, COLUMNS: ct.Constant[int], scale: float):
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, COLUMNS), allow_tma=False) * scale
    powers = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(out, index=(i, 0), tile=powers / ct.sum(powers, axis=1, keepdims=True), allow_tma=False)


@ct.kernel
def product(a, b, c, M: ct.Constant[int], N_: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N_), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K), allow_tma=False)
        right = ct.load(b, index=(k, j), shape=(K, N_), allow_tma=False)
        total = ct.mma(left, right, total)
    ct.store(c, index=(i, j), tile=total.astype(c.dtype), allow_tma=False)


@ct.kernel
def product_by_maps(a, b, c, M: ct.Constant[int], N_: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N_), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K))
        total = ct.mma(left, ct.load(b, index=(k, j), shape=(K, N_)), total)
    ct.store(c, index=(i, j), tile=total.astype(c.dtype))


@ct.kernel
def transpose(x, out, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, index=(i, j), shape=(T, T), allow_tma=False)
    ct.store(out, index=(j, i), tile=ct.transpose(tile), allow_tma=False)


@ct.kernel
def row_sums(x, out, COLUMNS: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, COLUMNS), allow_tma=False)
    ct.store(out, index=(i,), tile=ct.sum(row, axis=1))


@ct.kernel
def gathered(x, places, out, T: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, index=(i,), tile=ct.gather(x, ct.load(places, index=(i,), shape=(T,))))


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(4)
    blocks = -(-N // TILE)
    for dtype in (np.float32, np.float16, np.float64, np.int32):
        x, y = (numbers.uniform(1, 50, N).astype(dtype) for _ in range(2))
        yield _case(f"add {np.dtype(dtype).name}", add, (x, y, np.zeros_like(x), TILE), blocks, {"out": x + y})
    x = numbers.uniform(0.5, 3, N).astype(np.float32)
    for place, name in enumerate(OF_ONE):
        expected = 1 / np.sqrt(x) if name == "rsqrt" else getattr(np, name)(x)
        yield _case(name, of_one, (x, np.zeros_like(x), TILE, place), blocks, {"out": expected}, 1e-5)
    rows = numbers.standard_normal((16, 512)).astype(np.float32)
    powers = np.exp(2 * rows)
    yield _case("softmax", softmax, (rows, np.zeros_like(rows), 512, 2.0), 16,
                {"out": powers / powers.sum(1, keepdims=True)}, 1e-6)  # fmt: skip
    a, b = (numbers.standard_normal(shape).astype(np.float16) for shape in ((128, 64), (64, 128)))
    c = np.zeros((128, 128), np.float32)
    equals = {"c": a.astype(np.float32) @ b.astype(np.float32)}
    for name, kernel in (("product", product), ("product_by_maps", product_by_maps)):
        yield _case(name, kernel, (a, b, c, 64, 64, 32), (2, 2), equals, 1e-5)
    wide, high = a.astype(np.float32), b.astype(np.float32)
    yield _case("product tf32", product, (wide, high, c, 64, 64, 32), (2, 2), equals, 2e-3)
    square = numbers.random((64, 64), dtype=np.float32)
    yield _case("transpose", transpose, (square, np.zeros_like(square), 32), (2, 2), {"out": square.T})
    yield _case("row_sums", row_sums, (rows, np.zeros(16, np.float32), 512), 16, {"out": rows.sum(1)}, 1e-5)
    places = numbers.integers(0, N, N, dtype=np.int32)
    yield _case("gathered", gathered, (x, places, np.zeros_like(x), TILE), blocks, {"out": x[places]})


def _case(name, kernel, args, grid, expected, rtol=0.0) -> Case:  # noqa: PLR0913
    return Case("cuTile", name, lambda board: prepare(kernel, args, grid, board), expected, rtol)
