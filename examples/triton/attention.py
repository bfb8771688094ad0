"""Forward attention in FP16, sums in FP32: a tile of queries stays, keys and values stream through shared memory."""

import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, LENGTH, SCALE, TILE_M: tl.constexpr, TILE_N: tl.constexpr, DEPTH: tl.constexpr):
    """Arrays of (heads, LENGTH, DEPTH), one program for TILE_M queries of a head; SCALE : log2(e) / sqrt(DEPTH).

    Softmax in one pass: the sums so far shrink whenever a larger score appears (Dao et al., FlashAttention).
    """
    head = tl.program_id(1) * LENGTH * DEPTH
    rows, keys, depth = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M), tl.arange(0, TILE_N), tl.arange(0, DEPTH)
    mine = head + rows[:, None] * DEPTH + depth[None, :]
    queries = tl.load(q + mine)
    key = k + head + keys[None, :] * DEPTH + depth[:, None]
    value = v + head + keys[:, None] * DEPTH + depth[None, :]
    greatest = tl.full((TILE_M,), float("-inf"), tl.float32)
    weight = tl.zeros((TILE_M,), tl.float32)
    total = tl.zeros((TILE_M, DEPTH), tl.float32)
    for _ in range(0, LENGTH, TILE_N):
        scores = tl.dot(queries, tl.load(key)) * SCALE
        larger = tl.maximum(greatest, tl.max(scores, 1))
        parts, shrink = tl.exp2(scores - larger[:, None]), tl.exp2(greatest - larger)
        weight = weight * shrink + tl.sum(parts, 1)
        total = tl.dot(parts.to(tl.float16), tl.load(value), total * shrink[:, None])
        greatest = larger
        key += TILE_N * DEPTH
        value += TILE_N * DEPTH
    tl.store(out + mine, (total / weight[:, None]).to(tl.float16))
