"""Tensor cores, asynchronous copies, matrix loads."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "tensor.cu"


def wmma_gemm(random):
    n = 48
    a, b = random.standard_normal((2, n, n)).astype(np.float16)
    args = {"a": a, "b": b, "c": np.zeros((n, n), np.float32), "n": n}
    return Case(SOURCE, "wmma_gemm", (3, 3), 32, args, {"c": Expected(a.astype(float) @ b.astype(float), 1e-5, 1e-5)})


def wmma_half(random):
    a, b = random.standard_normal((2, 16, 16)).astype(np.float16)
    wanted = a.astype(float) @ b.astype(float).T + 1
    return Case(
        SOURCE,
        "wmma_half",
        1,
        32,
        {"a": a, "b": b, "c": np.zeros((16, 16), np.float16)},
        {"c": Expected(wanted, 2e-3, 1e-2)},
    )


def wmma_int8(random):
    a, b = random.integers(-128, 128, (2, 16, 16)).astype(np.int8)
    wanted = (a.astype(int) @ b.astype(int).T).astype(np.int32)
    return Case(
        SOURCE, "wmma_int8", 1, 32, {"a": a, "b": b, "c": np.zeros((16, 16), np.int32)}, {"c": Expected(wanted)}
    )


def _fragment_places(rows, depth, per):
    """(row, column) of A, (row, column) of B for every lane, register and element, as the PTX manual lists them."""
    lane = np.arange(32)[:, None, None]
    e = np.arange(per)[None, None, :]
    ra = np.arange(rows * depth // (32 * per))[None, :, None]
    rb = np.arange(8 * depth // (32 * per))[None, :, None]
    a = (lane // 4 + 8 * (ra % 2) + 0 * e, lane % 4 * per + e + 4 * per * (ra // 2))
    b = (lane % 4 * per + e + 4 * per * rb, lane // 4 + 0 * e + 0 * rb)
    return a, b


def _result_places():
    lane, r = np.arange(32)[:, None], np.arange(4)[None, :]
    return lane // 4 + 8 * (r // 2), lane % 4 * 2 + r % 2


def _mma(kernel, random, depth, per, encode):
    a, b = random.standard_normal((16, depth)), random.standard_normal((depth, 8))
    (codes_a, a), (codes_b, b) = encode(a), encode(b)
    at, bt = _fragment_places(16, depth, per)
    fa, fb = np.ascontiguousarray(codes_a[at]).view(np.uint32), np.ascontiguousarray(codes_b[bt]).view(np.uint32)
    args = {"a": fa.reshape(-1), "b": fb.reshape(-1), "c": np.zeros((32, 4), np.float32)}
    return Case(SOURCE, kernel, 1, 32, args, {"c": Expected((a @ b)[_result_places()], 1e-5, 1e-5)}, least_arch=80)


def mma_bf16(random):
    def encode(v):
        bits = v.astype(np.float32).view(np.uint32) & 0xFFFF0000
        return (bits >> 16).astype(np.uint16), bits.view(np.float32).astype(float)

    return _mma("mma_bf16", random, 16, 2, encode)


def mma_tf32(random):
    def encode(v):
        bits = v.astype(np.float32).view(np.uint32) & 0xFFFFE000
        return bits, bits.view(np.float32).astype(float)

    return _mma("mma_tf32", random, 8, 1, encode)


def mma_double(random):
    a, b = random.standard_normal((8, 4)), random.standard_normal((4, 8))
    lane = np.arange(32)
    c = a @ b + np.tile([1.0, 2.0], 4)
    wanted = c[(lane // 4)[:, None], (lane % 4 * 2)[:, None] + [0, 1]]
    args = {"a": a[lane // 4, lane % 4], "b": b[lane % 4, lane // 4], "c": np.zeros((32, 2))}
    return Case(SOURCE, "mma_double", 1, 32, args, {"c": Expected(wanted, 1e-14, 1e-14)}, least_arch=80)


def async_gemm(random):
    n = 48
    a, b = random.standard_normal((2, n, n)).astype(np.float16)
    args = {"a": a, "b": b, "c": np.zeros((n, n), np.float32), "n": n}
    wanted = {"c": Expected(a.astype(float) @ b.astype(float), 1e-5, 1e-5)}
    return Case(SOURCE, "async_gemm", (3, 3), 32, args, wanted, least_arch=80)


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (wmma_gemm, wmma_half, wmma_int8, mma_bf16, mma_tf32, mma_double, async_gemm)
}  # fmt: skip
