"""Instructions that compilers emit only for unusual code, each against NumPy or Python's own arithmetic."""

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "corners.cu"
M32 = 0xFFFFFFFF


def double_minima(random):
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 5e-324]
    a, b = np.repeat(special, 8), np.tile(special, 8)
    least, most = np.fmin(a, b), np.fmax(a, b)
    zeros = (a == 0) & (b == 0)
    least[zeros & (np.signbit(a) | np.signbit(b))], most[zeros & ~(np.signbit(a) & np.signbit(b))] = -0.0, 0.0
    args = {"a": a, "b": b, "least": np.zeros(64), "most": np.zeros(64)}
    bits = {name: Expected(_sign_and_value(v), order=_sign_and_value) for name, v in (("least", least), ("most", most))}
    return Case(SOURCE, "double_minima", 1, 64, args, bits)


def _sign_and_value(v):
    return np.stack([v, np.where(np.isnan(v), 0.0, np.signbit(v))])


def _words(random, count):
    ends = [0, 1, M32, 0x7FFFFFFF, 0x80000000, 0x80000001]
    return np.concatenate([np.repeat(ends, 6), random.integers(0, 2**32, count - 36)]).astype(np.uint32)


def saturating(random):
    a, b = _words(random, 128).view(np.int32), np.roll(_words(random, 128), 7).view(np.int32)
    b[:36] = np.tile(a[:36:6], 6)
    wide = a.astype(np.int64), b.astype(np.int64)
    sums = [np.clip(v, -(2**31), 2**31 - 1).astype(np.int32) for v in (wide[0] + wide[1], wide[0] - wide[1])]
    args = {"a": a, "b": b, "sum": np.zeros_like(a), "difference": np.zeros_like(a)}
    return Case(SOURCE, "saturating", 1, 128, args, {"sum": Expected(sums[0]), "difference": Expected(sums[1])})


def byte_modes(random):
    a, b, c = (random.integers(0, 2**32, 64, dtype=np.uint32) for _ in range(3))
    out = np.zeros((64, 6), np.uint32)
    for t in range(64):
        x, k = list(int(a[t]).to_bytes(4, "little") + int(b[t]).to_bytes(4, "little")), int(c[t]) & 3
        picked = [
            [x[k + i] for i in range(4)], [x[(k - i) % 8] for i in range(4)], [x[k]] * 4,
            [x[max(k, i)] for i in range(4)], [x[min(k, i)] for i in range(4)],
            [x[(k & 1) * 2 + i % 2] for i in range(4)],
        ]  # fmt: skip
        out[t] = [int.from_bytes(bytes(one), "little") for one in picked]
    args = {"a": a, "b": b, "c": c, "out": np.zeros_like(out)}
    return Case(SOURCE, "byte_modes", 1, 64, args, {"out": Expected(out)})


def short_copies(random):
    raw = random.integers(-128, 128, 107).astype(np.int8)
    padded = np.concatenate([raw[:101], np.zeros(512 - 101, np.int8)])
    wanted = np.concatenate([padded, padded[:256], padded[:128]])
    args = {"in": raw, "out": np.zeros(28 * 32, np.int8), "bytes": 101}
    return Case(SOURCE, "short_copies", 1, 32, args, {"out": Expected(wanted)}, least_arch=80)


def wide_atomics(random):
    f = np.array([8, 8, 32, 32, 8, 8, 32, 32, 32, 96], np.float32)
    h = np.zeros(8, np.float16)
    h[0::2], h[1::2] = 64, 32
    h[6] = np.arange(32).astype(np.uint16).view(np.float16).astype(np.float64).sum()
    h[7] = 0
    args = {
        "f": np.zeros(10, np.float32), "h": np.zeros(8, np.float16), "b": np.zeros(36, np.uint32),
        "w": np.zeros(36, np.uint64), "old": np.zeros((32, 2), np.float32),
    }  # fmt: skip
    old = np.arange(32, dtype=np.float32)[:, None] * np.array([1, 3], np.float32)
    expected = {
        "f": Expected(f), "h": Expected(h), "b": Expected(np.array([0x3F803F80 + (31 << 16)] * 2), order=_first(2)),
        "w": Expected(np.array([528, 528, 7]), order=lambda w: w[[0, 1, 3]]),
        "old": Expected(old, order=lambda v: np.sort(v, axis=0)),
    }  # fmt: skip
    return Case(SOURCE, "wide_atomics", 1, 32, args, expected, least_arch=90)


def _first(count):
    return lambda values: values[:count]


def directed_halves(random):
    x = (random.choice([-1, 1], 96) * np.exp2(random.uniform(-27, 18, 96))).astype(np.float32)
    x[:6] = [np.inf, -np.inf, 65504, 65520, -1e9, 1e-9]
    y = random.choice([-1, 1], 96) * np.exp2(random.uniform(-27, 17, 96))
    wanted = np.zeros((96, 5), np.float16)
    with np.errstate(over="ignore"):
        near = x.astype(np.float16)
        below = np.where(near.astype(float) > x, np.nextafter(near, np.float16(-np.inf)), near)
        above = np.where(near.astype(float) < x, np.nextafter(near, np.float16(np.inf)), near)
        columns = [np.where(x > 0, below, above), above, below, near, y.astype(np.float16)]
    wanted[:] = np.stack(columns, axis=1)
    args = {"x": x, "y": y, "out": np.zeros((96, 5), np.uint16)}
    return Case(SOURCE, "directed_halves", 1, 96, args, {"out": Expected(wanted.view(np.uint16))})


def placed_addresses(random):
    t = np.arange(64)
    letters = np.array([[97, 98, 99], [120, 121, 122]])
    wanted = np.array([20, 30, 40])[t % 3] + 100 * letters[t & 1, t % 3] + 100000 * 30
    return Case(SOURCE, "placed_addresses", 1, 64, {"out": np.zeros(64, np.int32)}, {"out": Expected(wanted)})


def widest_accesses(random):
    x = random.random((64, 8)).astype(np.float32)
    args = {"in": x, "out": np.zeros_like(x)}
    return Case(SOURCE, "widest_accesses", 1, 64, args, {"out": Expected(x[:, ::-1])}, least_arch=100)


def elected(random):
    warp, lane = np.divmod(np.arange(64), 32)
    there = lane > warp
    wanted = np.stack([there & (lane == warp + 1), np.where(there, warp + 1, -1)], axis=1)
    return Case(
        SOURCE, "elected", 1, 64, {"out": np.zeros((64, 2), np.int32)}, {"out": Expected(wanted)}, least_arch=90
    )


def tanh_bfloats(random):
    x = random.uniform(-4, 4, (32, 2)).astype(np.float32).view(np.uint32) >> 16
    exact = np.tanh((x << 16).view(np.float32).astype(float))
    wanted = Expected(exact, rtol=2.0**-8, order=lambda v: (v.astype(np.uint32) << 16).view(np.float32))
    return Case(SOURCE, "tanh_bfloats", 1, 32, {"x": x.astype(np.uint16)}, {"x": wanted}, least_arch=90)


def _up(n, total):
    return 2 * total if n == 0 else _down(n - 1, total + n)


def _down(n, total):
    return 3 * total if n == 0 else _up(n - 1, total ^ n) + (n & 1)


def mutual_recursion(random):
    n = random.integers(0, 20, 96).astype(np.int32)
    wanted = np.array([_up(int(v), 1) for v in n], np.int32)
    return Case(SOURCE, "mutual_recursion", 1, 96, {"n": n, "out": np.zeros_like(n)}, {"out": Expected(wanted)})


def talking(random):
    x = random.integers(0, 99, 64).astype(np.int32)
    return Case(SOURCE, "talking", 1, 64, {"in": x, "out": np.zeros_like(x)}, {"out": Expected(x * x)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (double_minima, saturating, byte_modes, short_copies, wide_atomics, directed_halves, placed_addresses,
                 widest_accesses, elected, tanh_bfloats, mutual_recursion, talking)
}  # fmt: skip
