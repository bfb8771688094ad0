"""C = A B in FP16 with sums in FP32: one tile of C per program, tiles of A and B streamed through shared memory."""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, STRIP: tl.constexpr):
    """STRIP : rows of tiles that neighbouring programs share before they go on to the next column of tiles."""
    number, columns_of_tiles = tl.program_id(0), tl.cdiv(N, TILE_N)
    strip = number // (STRIP * columns_of_tiles)
    rows_here = min(tl.cdiv(M, TILE_M) - strip * STRIP, STRIP)
    within = number % (STRIP * columns_of_tiles)
    row, column = strip * STRIP + within % rows_here, within // rows_here

    rows = row * TILE_M + tl.arange(0, TILE_M)
    columns = column * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for _ in range(0, K, TILE_K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += TILE_K
        right += TILE_K * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))
