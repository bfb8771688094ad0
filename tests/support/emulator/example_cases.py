"""The examples, at sizes that take a moment."""

import math
import struct

import numpy as np

from support.emulator.case import Case, Expected, Make
from support.paths import EXAMPLES


def _source(name):
    return EXAMPLES / f"{name}.cu"


def saxpy(random):
    n = 5000
    x, y = random.random((2, n)).astype(np.float32)
    wanted = (np.float64(2.5) * x.astype(float) + y).astype(np.float32)
    return Case(
        _source("saxpy"), "saxpy", 20, 256, {"n": n, "a": np.float32(2.5), "x": x, "y": y}, {"y": Expected(wanted)}
    )


def vector_add(random):
    n = 3000
    a, b = random.random((2, n)).astype(np.float32)
    args = {0: a, 1: b, 2: np.zeros(n, np.float32), 3: n}
    return Case(_source("vector_add"), "vector_add", 12, 256, args, {"c": Expected(a + b)})


def transpose_naive(random):
    return _transpose("transpose_naive", random)


def transpose_tiled(random):
    return _transpose("transpose_tiled", random)


def _transpose(name, random):
    m = random.random((50, 70)).astype(np.float32)
    args = {"in": m, "out": np.zeros((70, 50), np.float32), "width": 70, "height": 50}
    return Case(
        _source(name), name, (3, 2) if name.endswith("tiled") else (3, 7), (32, 8), args, {"out": Expected(m.T)}
    )


def matmul_naive(random):
    a, b = random.random((2, 40, 40)).astype(np.float32)
    args = {"A": a, "B": b, "C": np.zeros((40, 40), np.float32), "n": 40}
    return Case(
        _source("matmul_naive"), "matmul_naive", (2, 2), (32, 32), args, {"C": Expected(a.astype(float) @ b, 1e-5)}
    )


def matmul_tiled(random):
    a, b = random.random((2, 64, 64)).astype(np.float32)
    args = {"A": a, "B": b, "C": np.zeros((64, 64), np.float32), "n": 64}
    return Case(
        _source("matmul_tiled"), "matmul_tiled", (2, 2), (32, 32), args, {"C": Expected(a.astype(float) @ b, 1e-5)}
    )


def reduction(random):
    x = random.integers(0, 50, 20000).astype(np.float32)
    padded = np.pad(x, (0, -len(x) % 2048)).reshape(-1, 8, 256)
    args = {"input": x, "partial": np.zeros(8, np.float32), "n": 20000}
    return Case(
        _source("reduction"), "reduction", 8, 256, args, {"partial": Expected(padded.sum((0, 2)).astype(np.float32))}
    )


def stencil5(random):
    u = random.random((40, 70)).astype(np.float32)
    w, out = u.astype(float), np.zeros((40, 70))
    out[1:-1, 1:-1] = 0.2 * w[1:-1, 1:-1] + 0.3 * (w[1:-1, :-2] + w[1:-1, 2:] + w[:-2, 1:-1] + w[2:, 1:-1])
    args = {
        "in": u,
        "out": np.zeros_like(u),
        "width": 70,
        "height": 40,
        "centre": np.float32(0.2),
        "side": np.float32(0.3),
    }
    return Case(_source("stencil5"), "stencil5", (3, 5), (32, 8), args, {"out": Expected(out, 1e-5, 1e-6)})


def convolution(random):
    image, taps = random.random((20, 100)).astype(np.float32), random.random(17).astype(np.float32)
    padded = np.pad(image.astype(float), ((0, 0), (8, 8)), "edge")
    wanted = sum(float(taps[k]) * padded[:, k : k + 100] for k in range(17))
    args = {"in": image, "out": np.zeros_like(image), "width": 100, "height": 20}
    return Case(
        _source("convolution"), "convolution", (2, 3), (64, 8), args, {"out": Expected(wanted, 1e-5)}, {"filter": taps}
    )


def spmv_csr(random):
    counts = random.integers(0, 90, 100)
    start = np.r_[0, np.cumsum(counts)].astype(np.int32)
    column = random.integers(0, 300, start[-1]).astype(np.uint16)
    value, x = random.random(start[-1]).astype(np.float32), random.random(300).astype(np.float32)
    y = [np.dot(value[a:b].astype(float), x[column[a:b]]) for a, b in zip(start[:-1], start[1:], strict=True)]
    args = {"rows": 100, "row_start": start, "column": column, "value": value, "x": x, "y": np.zeros(100, np.float32)}
    return Case(_source("spmv_csr"), "spmv_csr", 13, 256, args, {"y": Expected(np.array(y), 1e-5)})


def black_scholes_example(random):
    n = 700
    m, t = random.standard_normal(n).astype(np.float32), random.random(n).astype(np.float32)
    deviation = 0.3 * np.sqrt(t.astype(float))
    d1 = (m + (0.02 + 0.045) * t.astype(float)) / deviation
    cdf = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    spot, discounted = 100 * np.exp(m.astype(float)), 100 * np.exp(-0.02 * t.astype(float))
    call = spot * cdf(d1) - discounted * cdf(d1 - deviation)
    args = {"log_moneyness": m, "years": t, "call": np.zeros(n, np.float32), "put": np.zeros(n, np.float32)}
    args |= {"strike": np.float32(100), "rate": np.float32(0.02), "volatility": np.float32(0.3), "n": n}
    expected = {"call": Expected(call, 1e-4, 1e-3), "put": Expected(call - spot + discounted, 1e-4, 1e-3)}
    return Case(_source("black_scholes"), "black_scholes", 3, 256, args, expected)


def nbody(random):
    bodies = random.random((256, 4)).astype(np.float32)
    d = bodies[None, :, :3].astype(float) - bodies[:, None, :3]
    strength = bodies[None, :, 3] * ((d**2).sum(-1) + 0.01) ** -1.5
    wanted = np.pad((d * strength[..., None]).sum(1), ((0, 0), (0, 1)))
    args = {
        "bodies": bodies,
        "acceleration": np.zeros((256, 4), np.float32),
        "n": 256,
        "softening_squared": np.float32(0.01),
    }
    return Case(_source("nbody"), "nbody", 2, 128, args, {"acceleration": Expected(wanted, 1e-4, 1e-3)})


def softmax(random):
    x = random.standard_normal((3, 500)).astype(np.float32)
    e = np.exp(x.astype(float) - x.max(1, keepdims=True))
    args = {"in": x, "out": np.zeros_like(x), "columns": 500}
    wanted = {"out": Expected(e / e.sum(1, keepdims=True), 1e-5)}
    return Case(_source("softmax"), "softmax", 3, 256, args, wanted, smem=2000)


def histogram(random):
    data = random.integers(0, 256, (3000, 4)).astype(np.uint8)
    args = {"data": data, "result": np.zeros(256, np.uint32), "words": 3000}
    wanted = np.bincount(data.reshape(-1), minlength=256).astype(np.uint32)
    return Case(_source("histogram"), "histogram", 4, 256, args, {"result": Expected(wanted)})


def scan(random):
    x = random.integers(0, 2**32, 1000, np.uint32)
    rows = np.pad(x, (0, 24)).reshape(4, 256)
    sums = np.cumsum(rows, axis=1, dtype=np.uint32)
    args = {"in": x, "out": np.zeros(1000, np.uint32), "totals": np.zeros(4, np.uint32), "n": 1000}
    wanted = {"out": Expected(sums.reshape(-1)[:1000]), "totals": Expected(sums[:, -1])}
    return Case(_source("scan"), "block_scan<unsigned int, 256>", 4, 256, args, wanted)


def half_gemv(random):
    a, x = random.standard_normal((20, 200)).astype(np.float16), random.standard_normal(200).astype(np.float16)
    args = {"A": a, "x": x, "y": np.zeros(20, np.float32), "rows": 20, "columns": 200}
    return Case(
        _source("half_gemv"), "half_gemv", 3, 256, args, {"y": Expected(a.astype(float) @ x.astype(float), 1e-4, 1e-4)}
    )


def mandelbrot(random):
    w, h, limit = 40, 30, 50
    window = struct.pack("<4f3i", -1.87, -1.43, 3.0 / 40, 3.0 / 30, w, h, limit)
    step = np.float32(3.0 / 40), np.float32(3.0 / 30)
    c = (-1.87 + np.arange(w) * float(step[0])) + 1j * (-1.43 + np.arange(h) * float(step[1]))[:, None]
    z, count = np.zeros_like(c), np.zeros((h, w), np.int32)
    for _ in range(limit):
        going = np.abs(z) <= 2
        count += going
        z = np.where(going, z * z + c, z)
    args = {"window": window, "steps": np.zeros((h, w), np.int32)}
    found = Expected(count, 0, 1)  # float32 orbits may cross the circle one step earlier or later
    return Case(_source("mandelbrot"), "mandelbrot", (3, 2), (16, 16), args, {"steps": found})


def pointer_chase(random):
    size, steps = 1024, 20
    table = random.integers(0, 2**32, size, np.uint32)
    at = np.arange(64, dtype=np.uint32) * np.uint32(2654435761) & np.uint32(size - 1)
    for _ in range(steps):
        at = at * np.uint32(1664525) + np.uint32(1013904223) + table[at] & np.uint32(size - 1)
    args = {"table": table, "last": np.zeros(64, np.uint32), "size": np.uint32(size), "steps": steps}
    return Case(_source("pointer_chase"), "pointer_chase", 2, 32, args, {"last": Expected(at)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (saxpy, vector_add, transpose_naive, transpose_tiled, matmul_naive, matmul_tiled, reduction, stencil5,
                 convolution, spmv_csr, black_scholes_example, nbody, softmax, histogram, scan, half_gemv, mandelbrot,
                 pointer_chase)
}  # fmt: skip
