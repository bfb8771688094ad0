"""Whole algorithms: sorting, strings, graphs, hashes, factorisations, groups of threads within a warp."""

import hashlib
import math

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

ALGORITHMS, PARTS = KERNELS / "algorithms.cu", KERNELS / "parts.cu"


def bitonic_registers(random):
    keys = random.integers(0, 1000, (6, 128), dtype=np.uint32)
    return Case(ALGORITHMS, "bitonic_registers", 3, 64, {"keys": keys}, {"keys": Expected(np.sort(keys, axis=1))})


def _edits(one, other):
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, its in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != its)))
    return row[-1]


def levenshtein(random):
    n = 40
    a, b = (random.integers(97, 101, (5, n)).astype(np.int8) for _ in range(2))
    b[0], b[1] = np.roll(a[0], 3), a[1]
    wanted = np.array([_edits(one, other) for one, other in zip(a.tolist(), b.tolist(), strict=True)])
    args = {"a": a, "b": b, "out": np.zeros(5, np.int32), "n": n}
    return Case(ALGORITHMS, "levenshtein", 5, 64, args, {"out": Expected(wanted)}, smem=12 * (n + 1))


def union_find(random):
    n, edges = 300, random.integers(0, 300, (220, 2)).astype(np.int32)
    least = np.arange(n)
    for u, v in least[edges]:
        u, v = least[u], least[v]
        least[(least == u) | (least == v)] = min(u, v)
    args = {"parent": np.arange(n, dtype=np.int32), "edges": edges, "m": len(edges)}
    return Case(ALGORITHMS, "union_find", 2, 64, args, {"parent": Expected(least, order=_roots)})


def _roots(parent):
    while (parent != parent[parent]).any():
        parent = parent[parent]
    return parent


def kmeans_step(random):
    n, k = 1000, 7
    points, centres = random.standard_normal((n, 2)).astype(np.float32), random.standard_normal((k, 2)).astype("f4")
    label = ((points[:, None].astype(float) - centres) ** 2).sum(axis=-1).argmin(axis=1)
    sums = np.zeros((k, 2))
    np.add.at(sums, label, points)
    args = {
        "points": points, "centres": centres, "sums": np.zeros((k, 2), np.float32), "counts": np.zeros(k, np.int32),
        "label": np.zeros(n, np.int32), "n": n, "k": k,
    }  # fmt: skip
    expected = {
        "label": Expected(label), "counts": Expected(np.bincount(label, minlength=k)),
        "sums": Expected(sums, rtol=1e-4, atol=1e-4),
    }  # fmt: skip
    return Case(ALGORITHMS, "kmeans_step", 3, 128, args, expected)


def life_bits(random):
    rows, words = 19, 5
    cells = random.integers(0, 2, (rows, 32 * words), dtype=np.uint8)
    around = sum(np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - cells
    after = (around == 3) | (around == 2) & (cells == 1)
    args = {"in": _packed(cells), "out": np.zeros((rows, words), np.uint32), "words": words, "rows": rows}
    return Case(ALGORITHMS, "life_bits", (1, rows), 32, args, {"out": Expected(_packed(after))})


def _packed(cells):
    return np.packbits(cells, axis=1, bitorder="little").view(np.uint32)


def sha256(random):
    texts = [random.bytes(int(size)) for size in random.integers(0, 56, 50)]
    blocks = b"".join(t + b"\x80" + bytes(55 - len(t)) + (8 * len(t)).to_bytes(8, "big") for t in texts)
    wanted = np.frombuffer(b"".join(hashlib.sha256(t).digest() for t in texts), np.uint32)
    args = {"blocks": np.frombuffer(blocks, np.uint32), "digest": np.zeros(400, np.uint32), "n": 50}
    return Case(ALGORITHMS, "sha256", 2, 32, args, {"digest": Expected(wanted)})


def triangular(random):
    n = 70
    matrix = np.tril(random.standard_normal((n, n)) * (random.random((n, n)) < 0.25), -1)
    matrix += np.diag(2 + random.random(n))
    b, (row, column) = random.standard_normal(n), np.nonzero(matrix)
    args = {
        "start": np.searchsorted(row, np.arange(n + 1)).astype(np.int32), "column": column.astype(np.int32),
        "value": matrix[row, column], "b": b, "x": np.zeros(n), "done": np.zeros(n, np.int32), "n": n,
    }  # fmt: skip
    wanted = Expected(np.linalg.solve(matrix, b), rtol=1e-9, atol=1e-12)
    return Case(ALGORITHMS, "triangular", 18, 128, args, {"x": wanted})


def sample_buckets(random):
    n, k = 2000, 31
    x = random.standard_normal(n).astype(np.float32)
    splitters = np.sort(random.choice(x, k, replace=False))
    bucket = np.searchsorted(splitters, x, side="right")
    args = {
        "x": x, "splitters": splitters, "bucket": np.zeros(n, np.int32), "histogram": np.zeros(k + 1, np.int32),
        "n": n, "k": k,
    }  # fmt: skip
    expected = {"bucket": Expected(bucket), "histogram": Expected(np.bincount(bucket, minlength=k + 1))}
    return Case(ALGORITHMS, "sample_buckets", 3, 96, args, expected, smem=4 * (2 * k + 1))


# --- parts of a warp ---


def tiles(random):
    v = random.integers(0, 100, (8, 8)).astype(np.int32)
    columns = [v.sum(axis=1), v.max(axis=1), np.cumsum(v, axis=1) - v, np.maximum.accumulate(v, axis=1)]
    columns += [(v > 90).any(axis=1), (v > 10).all(axis=1), ((v & 1) << np.arange(8)).sum(axis=1)]
    columns += [np.concatenate([v[:, :1], v[:, :-1]], axis=1) + 1000 * np.arange(8)[:, None]]
    wanted = np.stack([np.broadcast_to(c if c.ndim == 2 else c[:, None], (8, 8)).ravel() for c in columns], axis=1)
    return Case(PARTS, "tiles", 1, 64, {"in": v, "out": np.zeros((64, 8), np.int32)}, {"out": Expected(wanted)})


def groups_of_labels(random):
    label = random.integers(0, 5, (2, 32)).astype(np.int32)
    same = label[:, :, None] == label[:, None, :]
    thread = np.arange(64).reshape(2, 32)
    columns = [same.sum(axis=2), np.tril(same, -1).sum(axis=2), (same * thread[:, None, :]).sum(axis=2)]
    columns.append(((label[:, :, None] ^ label[:, None, :]) & 1 == 0).sum(axis=2))
    wanted, chosen = np.stack(columns, axis=-1).reshape(64, 4), np.flatnonzero(label > 2)
    args = {"label": label, "out": np.zeros((64, 4), np.int32), "counter": np.zeros(65, np.int32)}
    order = Expected(np.r_[len(chosen), chosen], order=lambda c: np.r_[c[0], np.sort(c[1 : 1 + c[0]])])
    return Case(PARTS, "groups_of_labels", 1, 64, args, {"out": Expected(wanted), "counter": order})


# --- numbers of other widths ---


def fft4_half2(random):
    x = random.standard_normal((40, 16, 2)).astype(np.float16)
    found = np.fft.fft(x[..., 0].astype(float) + 1j * x[..., 1])
    wanted = Expected(np.stack([found.real, found.imag], axis=-1), rtol=1e-2, atol=4e-2)
    return Case(PARTS, "fft4_half2", 2, 32, {"in": x, "out": np.zeros_like(x), "n": 40}, {"out": wanted})


def cholesky16(random):
    a = random.standard_normal((3, 16, 16))
    a = (a @ a.transpose(0, 2, 1) + 16 * np.eye(16)).astype(np.float32)
    wanted = Expected(np.linalg.cholesky(a.astype(float)), rtol=1e-4, atol=1e-4)
    return Case(PARTS, "cholesky16", 3, (16, 16), {"a": a}, {"a": wanted})


def two_arrays_in_shared(random):
    n = 77
    d, c = random.standard_normal(n), random.integers(0, 256, n).astype(np.uint8)
    args = {"d": d, "c": c, "out": np.zeros(n), "n": n}
    wanted = d[::-1] * c[np.arange(n) * 7 % n]
    return Case(PARTS, "two_arrays_in_shared", 1, 64, args, {"out": Expected(wanted)}, smem=80 + 8 * n)


def wide_division(random):
    a, b = (random.integers(-(2**63), 2**63 - 1, 400) >> random.integers(0, 63, 400) for _ in range(2))
    a[:3], b[:3], b[5] = [-(2**63), 2**63 - 1, 0], [3, -7, 5], 0
    q, r = np.zeros((400, 2), np.int64), np.zeros((400, 2), np.uint64)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if y:
            quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
            q[i], r[i] = [quotient, x - quotient * y], [x % 2**64 // (y % 2**64), x % 2**64 % 1000000007]
    args = {"a": a, "b": b, "q": np.zeros_like(q), "r": np.zeros_like(r), "n": 400}
    return Case(PARTS, "wide_division", 2, 128, args, {"q": Expected(q), "r": Expected(r)})


def int128(random):
    a = random.integers(0, 2**64, (100, 3), dtype=np.uint64) >> random.integers(0, 60, (100, 1)).astype(np.uint64)
    wanted = []
    for high, low, k in a.tolist():
        x, divisor = high << 64 | low, k | 1
        y = (x * k + (x >> 37) - (x << 5)) % 2**128
        signed = x - 2**128 if x >> 127 else x, divisor - 2**64 if divisor >> 63 else divisor
        z = abs(signed[0]) // abs(signed[1]) * (1 if (signed[0] < 0) == (signed[1] < 0) else -1) % 2**128
        wanted.append([y % 2**64, y >> 64, z % 2**64, z >> 64, x % divisor, int(x < y)])
    args = {"a": a, "o": np.zeros((100, 6), np.uint64), "n": 100}
    expected = {"o": Expected(np.array(wanted, np.uint64))}
    return Case(KERNELS / "wide.cu", "int128", 4, 32, args, expected, options=("--device-int128",))


def doubles(random):
    x, wanted = random.uniform(-4, 4, 96), []
    for v in x.tolist():
        size = abs(v)
        wanted.append([
            math.sin(v * 1000), math.cos(v * 1000), math.exp(v), math.log(size), size**1.7, math.tanh(v), math.erf(v),
            math.lgamma(size + 0.5), math.atan2(v, 1.5), math.copysign(size ** (1 / 3), v), math.expm1(v * 1e-5),
            size**-0.5, math.fmod(v * 100, 0.7), math.hypot(v, 2.5),
        ])  # fmt: skip
    args = {"x": x, "o": np.zeros((96, 14)), "n": 96}
    return Case(PARTS, "doubles", 3, 32, args, {"o": Expected(np.array(wanted), rtol=1e-13, atol=1e-15)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (bitonic_registers, levenshtein, union_find, kmeans_step, life_bits, sha256, triangular,
                 sample_buckets, tiles, groups_of_labels, fft4_half2, cholesky16, two_arrays_in_shared, wide_division,
                 int128, doubles)
}  # fmt: skip
