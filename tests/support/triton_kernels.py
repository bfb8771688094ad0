"""Triton kernels of the tests."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    at = start + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside)
    tl.store(out + at, total, mask=inside)


@triton.jit
def scale(x, out, n, factor, step, BLOCK: tl.constexpr = 128):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * step, mask=at < n) * factor, mask=at < n)


@triton.jit
def softmax(out, x, row, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * row + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    values = tl.load(x + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def product(a, b, c, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for _ in range(0, tl.cdiv(K, TILE_K)):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += TILE_K
        right += TILE_K * N
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def product_by_descriptors(
    a, b, c, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, ROLES: tl.constexpr
):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [TILE_M, TILE_K])
    right = tl.make_tensor_descriptor(b, [K, N], [N, 1], [TILE_K, TILE_N])
    result = tl.make_tensor_descriptor(c, [M, N], [N, 1], [TILE_M, TILE_N])
    row, column = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in tl.range(0, K, TILE_K, warp_specialize=ROLES):
        total = tl.dot(left.load([row, k]), right.load([k, column]), total)
    result.store([row, column], total)


@triton.jit
def add_by_descriptors(x, out, M, N, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [TILE_M, TILE_N])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [TILE_M, TILE_N])
    row, column = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    target.atomic_add([row, column], source.load([row, column]))


@triton.heuristics({"BLOCK": lambda arguments: triton.next_power_of_2(arguments["n"])})
@triton.jit
def whole_row(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def add_boxes(x, y, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS]
    out.store(at, x.load(at) + y.load(at))


@triton.jit
def product_of_boxes(a, b, c, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    row, column = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in range(0, K, TILE_K):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)
