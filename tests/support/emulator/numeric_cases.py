"""Transforms, linear algebra, stencils, statistics, finance."""

import math

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "numeric.cu"


def fft512(random):
    z = random.standard_normal((3, 512)) + 1j * random.standard_normal((3, 512))
    values = np.stack([z.real, z.imag], axis=-1).astype(np.float32)
    spectrum = np.fft.fft(z, axis=1)
    wanted = np.stack([spectrum.real, spectrum.imag], axis=-1)
    return Case(
        SOURCE, "fft512", 3, 256, {"in": values, "out": np.zeros_like(values)}, {"out": Expected(wanted, 1e-4, 1e-4)}
    )


def nbody_step(random):
    body = random.random((128, 4)).astype(np.float32)
    d = body[None, :, :3].astype(float) - body[:, None, :3]
    scale = body[None, :, 3] * ((d**2).sum(-1) + 0.01) ** -1.5
    args = {"body": body, "force": np.zeros((128, 3), np.float32), "n": 128}
    return Case(SOURCE, "nbody_step", 2, 64, args, {"force": Expected((d * scale[..., None]).sum(1), 1e-4, 1e-3)})


def gemm_double_buffer(random):
    a, b = random.standard_normal((2, 64, 64)).astype(np.float32)
    args = {"A": a, "B": b, "C": np.zeros((64, 64), np.float32), "n": 64}
    return Case(SOURCE, "gemm_double_buffer", (4, 4), (16, 16), args, {"C": Expected(a.astype(float) @ b, 1e-5, 1e-4)})


def stencil7(random):
    u = random.random((10, 20, 34)).astype(np.float32)
    w = u.astype(float)
    out = np.zeros_like(w)
    sides = (
        w[1:-1, 1:-1, :-2]
        + w[1:-1, 1:-1, 2:]
        + w[1:-1, :-2, 1:-1]
        + w[1:-1, 2:, 1:-1]
        + w[:-2, 1:-1, 1:-1]
        + w[2:, 1:-1, 1:-1]
    )
    out[1:-1, 1:-1, 1:-1] = 0.4 * w[1:-1, 1:-1, 1:-1] + 0.1 * sides
    args = {"in": u, "out": np.zeros_like(u), "nx": 34, "ny": 20, "nz": 10}
    return Case(SOURCE, "stencil7", (2, 3), (32, 8), args, {"out": Expected(out, 1e-5, 1e-6)})


def mandel(random):
    w, h, most = 50, 37, 60
    x, y = np.arange(w), np.arange(h)[:, None]
    cx, cy = np.broadcast_arrays(-2.0 + 3.0 * x / w, -1.5 + 3.0 * y / h)
    zx, zy, count = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    with np.errstate(all="ignore"):
        for _ in range(most):
            going = zx * zx + zy * zy < 4
            count += going
            zx, zy = np.where(going, zx * zx - zy * zy + cx, zx), np.where(going, 2 * zx * zy + cy, zy)
    args = {"out": np.zeros((h, w), np.int32), "w": w, "h": h, "most": most}
    close = Expected(count, 0, 1)  # c itself is rounded in another order: an escape may move by one step
    return Case(SOURCE, "mandel", (2, 5), (32, 8), args, {"out": close})


def lu_step(random):
    a = random.standard_normal((40, 40)) + 40 * np.eye(40)
    after = a.copy()
    after[4:, 4:] -= np.outer(a[4:, 3] / a[3, 3], a[3, 4:])
    return Case(SOURCE, "lu_step", (3, 5), (16, 8), {"a": a, "n": 40, "k": 3}, {"a": Expected(after, 1e-13, 1e-13)})


def softmax_row(random):
    x = (random.standard_normal((5, 300)) * 4).astype(np.float32)
    e = np.exp(x.astype(float) - x.max(1, keepdims=True))
    args = {"in": x, "out": np.zeros_like(x), "n": 300}
    return Case(SOURCE, "softmax_row", 5, 128, args, {"out": Expected(e / e.sum(1, keepdims=True), 1e-5, 1e-9)})


def layer_norm(random):
    x, scale, shift = random.standard_normal((4, 200)), random.random(200), random.random(200)
    x, scale, shift = (v.astype(np.float32) for v in (x, scale, shift))
    w = x.astype(float)
    wanted = (w - w.mean(1, keepdims=True)) / np.sqrt(w.var(1, keepdims=True) + 1e-5) * scale + shift
    args = {"in": x, "scale": scale, "shift": shift, "out": np.zeros_like(x), "n": 200}
    return Case(SOURCE, "layer_norm", 4, 64, args, {"out": Expected(wanted, 1e-4, 1e-5)})


def attention_row(random):
    q, k, v = (random.standard_normal(s).astype(np.float32) for s in ((3, 64), (256, 64), (256, 64)))
    score = q.astype(float) @ k[:200].T * 0.125
    weight = np.exp(score - score.max(1, keepdims=True))
    wanted = weight @ v[:200] / weight.sum(1, keepdims=True)
    args = {"q": q, "k": k, "v": v, "out": np.zeros((3, 64), np.float32), "keys": 200}
    return Case(SOURCE, "attention_row", 3, 256, args, {"out": Expected(wanted, 1e-4, 1e-5)})


def _philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def philox_pi(random):
    first = np.array([_philox((i, 0, 0, 0), (42, 7)) for i in range(128)], np.uint32)
    inside = 0
    for i in range(128):
        for r in range(4):
            u = [
                np.float32(np.float32(w) * np.float32(2.3283064365386963e-10))
                for w in _philox((i, r, 0, 0), (42, 7))[:2]
            ]
            inside += float(u[0]) ** 2 + float(u[1]) ** 2 < 1
    args = {"inside": np.zeros(1, np.uint32), "first": np.zeros((128, 4), np.uint32), "rounds": 4}
    wanted = {"first": Expected(first), "inside": Expected(np.array([inside], np.uint32))}
    return Case(SOURCE, "philox_pi", 2, 64, args, wanted)


def black_scholes(random):
    n = 500
    spot, strike, years = (random.uniform(*r, n).astype(np.float32) for r in ((5, 30), (1, 100), (0.25, 10)))
    s, k, t = (v.astype(float) for v in (spot, strike, years))
    d1 = (np.log(s / k) + (0.02 + 0.045) * t) / (0.3 * np.sqrt(t))
    cdf = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    c1, c2, discount = cdf(d1), cdf(d1 - 0.3 * np.sqrt(t)), np.exp(-0.02 * t)
    call = s * c1 - k * discount * c2
    zeros = np.zeros(n, np.float32)
    args = {"spot": spot, "strike": strike, "years": years, "call": zeros, "put": zeros.copy(), "n": n}
    wanted = {"call": Expected(call, 1e-4, 1e-4), "put": Expected(call + k * discount - s, 1e-4, 1e-4)}
    return Case(SOURCE, "black_scholes", 4, 128, args, wanted)


def black_scholes_fast(random):
    case = black_scholes(random)
    return Case(case.source, case.kernel, case.grid, case.block, case.args, case.expected, options=("--use_fast_math",))


def _special_values(random, n, scale):
    values = random.standard_normal(n) * scale
    values[:8] = [0.5, 1, 2, 1e-30, 1e30, -3, 1e-3, 7]
    return values


def double_functions(random):
    n = 256
    a, b = _special_values(random, n, 10.0), random.standard_normal(n) * 3
    with np.errstate(all="ignore"):
        product = [
            math.fma(x, y, -x * y) if hasattr(math, "fma") else _residue(x, y) for x, y in zip(a, b, strict=True)
        ]
        size = np.abs(a)
        wanted = np.stack(
            [a / b, np.sqrt(size), np.exp(b), np.log(size), np.sin(a), size**b, 1 / np.sqrt(size), product], 1
        )
    args = {"a": a, "b": b, "out": np.zeros((n, 8)), "n": n}
    return Case(SOURCE, "double_functions", 2, 128, args, {"out": Expected(wanted, 4e-15, 1e-15)})


def _residue(x, y):
    from fractions import Fraction

    return float(Fraction(float(x)) * Fraction(float(y)) - Fraction(float(x * y)))


def float_functions(random):
    n = 256
    a, b = (_special_values(random, n, s).astype(np.float32) for s in (10.0, 3.0))
    a[3], a[4], b[3], b[4] = 1e-2, 1e3, 2, 3
    x, y = a.astype(float), b.astype(float)
    size = np.abs(x)
    big = (a * np.float32(100000)).astype(float)
    erf = np.vectorize(math.erf)
    with np.errstate(all="ignore"):
        wanted = np.stack([
            x / y, np.sqrt(size), np.exp(y), np.log(size), np.sin(x), np.cos(big), size**y, np.tanh(x), np.fmod(x, y),
            erf(x), np.cbrt(x), np.arctan2(x, y),
        ], 1)  # fmt: skip
    args = {"a": a, "b": b, "out": np.zeros((n, 12), np.float32), "n": n}
    return Case(SOURCE, "float_functions", 2, 128, args, {"out": Expected(wanted, 2e-6, 2e-7)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (fft512, nbody_step, gemm_double_buffer, stencil7, mandel, lu_step, softmax_row, layer_norm,
                 attention_row, philox_pi, black_scholes, black_scholes_fast, double_functions, float_functions)
}  # fmt: skip
