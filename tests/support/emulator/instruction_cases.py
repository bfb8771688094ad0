"""Corners of the instruction set: integers, conversions, roundings, warps, memory spaces, control."""

from fractions import Fraction

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make

SOURCE = KERNELS / "instructions.cu"
M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def _i32(v):
    return (v + 2**31) % 2**32 - 2**31


def _i64(v):
    return (v + 2**63) % 2**64 - 2**63


def _div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def wide_integers(random):
    n = 200
    a, b = random.integers(0, 2**64, (2, n), np.uint64)
    a >>= random.integers(0, 60, n).astype(np.uint64)
    b >>= random.integers(0, 60, n).astype(np.uint64)
    b[:20] = a[:20]
    rows = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        p, q, s = _i64(x), _i64(y), y & 63
        u, v = y | 1, _i64(y | 1)
        tests = (x < y) | (p < q) << 1 | (x == y) << 2 | (p >= q) << 3 | (x != y) << 4 | (x > y) << 5
        rows.append([w & M64 for w in (
            x + y, x - y, x * y, x // u, x % u, _div(p, v), p - v * _div(p, v), x * y >> 64, p * q >> 64, x << s,
            x >> s, p >> s, tests, abs(x - y), abs(p), (x & M32) * (y & M32) + (x & M32),
        )])  # fmt: skip
    args = {"a": a, "b": b, "out": np.zeros((n, 16), np.uint64), "n": n}
    return Case(SOURCE, "wide_integers", 2, 128, args, {"out": Expected(np.array(rows, np.uint64))})


def _byte_perm(a, b, s):
    pair = b << 32 | a
    return sum((pair >> 8 * (s >> 4 * i & 7) & 255) << 8 * i for i in range(4))


def _narrow_row(u, v):
    x, y, s = _i32(u), _i32(v), v & 31
    d, f = _i32(v | 1), v | 1
    pair = v << 32 | u
    c = min(v & 63, 32)
    return [w & M32 for w in (
        x + y, x - y, x * y, _div(x, d), x - d * _div(x, d), u // f, u % f, x * y >> 32, u * v >> 32, x << s, x >> s,
        u >> s, u.bit_count(), 32 - u.bit_length(), int(f"{u:032b}"[::-1], 2), (u & -u).bit_length(),
        _byte_perm(u, v, 0x5410 ^ (u & 0x7777)), pair << s >> 32, pair >> s, min(x, y), max(u, v), abs(x),
        (u & v) | (~u & 0x12345678), abs(x - y) + u, x * 7 + y * 5 + 3, _div(x, 10), u % 1000, pair << c >> 32,
    )]  # fmt: skip


def narrow_integers(random):
    n = 200
    a, b = random.integers(0, 2**32, (2, n), np.uint32)
    a >>= random.integers(0, 28, n).astype(np.uint32)
    b[:5], a[:3] = 0, (0, 0x80000000, M32)
    rows = [_narrow_row(u, v) for u, v in zip(a.tolist(), b.tolist(), strict=True)]
    args = {"a": a.view(np.int32), "b": b.view(np.int32), "out": np.zeros((n, 28), np.int32), "n": n}
    return Case(SOURCE, "narrow_integers", 2, 128, args, {"out": Expected(np.array(rows, np.uint32).view(np.int32))})


def dot_products(random):
    a, b = random.integers(0, 2**32, (2, 100), np.uint32)
    sa, ua, sb, ub = (
        w.view(np.uint8).reshape(-1, 4).view(t).astype(int) for w, t in ((a, "i1"), (a, "u1"), (b, "i1"), (b, "u1"))
    )
    ha, hu = a.view(np.int16).reshape(-1, 2).astype(int), a.view(np.uint16).reshape(-1, 2).astype(int)
    rows = [(sa * sb).sum(1) + 7, (ua * ub).sum(1) + 9, (ha * sb[:, :2]).sum(1) + 1, (hu * ub[:, 2:]).sum(1) + 2]
    wanted = np.stack(rows, 1).astype(np.int64).astype(np.uint32).view(np.int32)
    args = {"a": a.view(np.int32), "b": b.view(np.int32), "out": np.zeros((100, 4), np.int32), "n": 100}
    return Case(SOURCE, "dot_products", 1, 128, args, {"out": Expected(wanted)})


def rounded(exact, kind, way):
    """A Fraction in a NumPy float type, in a direction, by searching the neighbours."""
    near = kind(float(exact)) if kind is np.float64 else _nearest32(exact)
    value = Fraction(float(near))
    if way == "n" or value == exact:
        return near
    if value > exact and (way == "d" or (way == "z" and exact > 0)):
        return np.nextafter(near, kind(-np.inf))
    if value < exact and (way == "u" or (way == "z" and exact < 0)):
        return np.nextafter(near, kind(np.inf))
    return near


def _nearest32(exact):
    guess = np.float32(float(exact))
    ends = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(ends, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


def _clamp(v, low, high):
    return 0 if np.isnan(v) else int(min(max(v, low), high))


def conversions(random):
    n = 200
    f = (random.standard_normal(n) * 10.0 ** random.integers(-2, 12, n)).astype(np.float32)
    f[:6] = [0.5, 1.5, -2.5, 2.0**31, -(2.0**40), 3.7]
    d = random.standard_normal(n) * 10.0 ** random.integers(-2, 22, n)
    s, w = random.integers(-(2**31), 2**31, n, np.int32), random.integers(0, 2**64, n, np.uint64)
    rows = []
    for x, y, i, k in zip(f.tolist(), d.tolist(), s.tolist(), w.tolist(), strict=True):
        u, q = i & M32, _i64(k)
        to = lambda v, bits: _clamp(v, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)  # noqa: E731
        unsigned = lambda v, bits: _clamp(v, 0, 2**bits - 1)  # noqa: E731
        single = lambda v, way="n": float(rounded(Fraction(v), np.float32, way))  # noqa: E731
        rows.append([float(v) for v in (
            to(np.trunc(x), 32), unsigned(np.trunc(x), 32), to(np.trunc(x), 64), to(np.rint(x), 32), to(np.ceil(x), 32),
            to(np.floor(x), 32), to(np.trunc(y), 32), to(np.trunc(y), 64), unsigned(np.trunc(y), 64),
            single(y), single(y, "u"), single(y, "z"), single(i),
            single(u), i, u, single(k), k, single(q), q, np.rint(x), np.floor(x), np.ceil(x),
            np.trunc(x), np.rint(y), np.floor(y), (i & 255) - 2 * (i & 128), i & 255,
            _i32(to(np.trunc(x), 32)) + 2**15 & 0xFFFF, single(i, "z"), single(u, "u"), single(q, "d"),
        )])  # fmt: skip
    wanted = np.array(rows)
    wanted[:, 28] -= 2**15
    wanted[:, 28] = np.where(np.abs(f) < 32768, np.trunc(f), np.nan)  # the short of a larger float is not defined
    args = {"f": f, "d": d, "s": s, "w": w, "out": np.zeros((n, 32)), "n": n}

    def defined(found):
        found = found.copy()
        found[np.abs(f) >= 32768, 28] = np.nan
        return found

    return Case(SOURCE, "conversions", 2, 128, args, {"out": Expected(wanted, order=defined)})


def rounding(random):
    n = 120
    a, b = ((random.standard_normal(n) * 2.0 ** random.integers(-20, 20, n)).astype(np.float32) for _ in "ab")
    c, d = (random.standard_normal(n) * 2.0 ** random.integers(-40, 40, n) for _ in "cd")
    rows = []
    for x, y, p, q in zip(a.tolist(), b.tolist(), c.tolist(), d.tolist(), strict=True):
        fx, fy, fp, fq = (Fraction(v) for v in (x, y, p, q))
        single = [rounded(fx + fy, np.float32, way) for way in "nzud"] + [
            rounded(fx * fy, np.float32, way) for way in "nzud"
        ]
        single += [rounded(fx * fy + (fx if way == "n" else fy), np.float32, way) for way in "nzud"]
        double = [rounded(fp + fq, np.float64, way) for way in "zud"] + [
            rounded(fp * fq, np.float64, way) for way in "zud"
        ]
        double += [rounded(fp * fq + (fp if way == "n" else fq), np.float64, way) for way in "nzud"]
        last = [min(max(x, 0), 1), float(np.float32(x) + np.float32(y))]
        rows.append([float(v) for v in (*single, *double, *last)])
    args = {"a": a, "b": b, "c": c, "d": d, "out": np.zeros((n, 24)), "n": n}
    return Case(SOURCE, "rounding", 1, 128, args, {"out": Expected(np.array(rows))})


def halves(random):
    n = 100
    a, b = (random.standard_normal((n, 2)).astype(np.float16) for _ in "ab")
    x, y = a.astype(float), b.astype(float)
    low3 = np.stack([a[:, 0].astype(np.float32) * np.float32(3), b[:, 1].astype(np.float32) / np.float32(3)], 1)
    rows = [x + y, x * y, x * y + x, x - y, np.stack([a[:, 0], b[:, 1]], 1), x > y, -x, low3]
    wanted = np.stack([r.astype(np.float16) for r in rows], 1)
    single = np.stack([a[:, 0].astype(np.float32) + b[:, 1].astype(np.float32), np.where(a[:, 0] < b[:, 0], 1, 2)], 1)
    args = {"a": a, "b": b, "out": np.zeros((n, 8, 2), np.float16), "single": np.zeros((n, 2), np.float32), "n": n}
    expected = {"out": Expected(wanted), "single": Expected(single.astype(np.float32))}
    return Case(SOURCE, "halves", 1, 128, args, expected)


def _bfloat(v):
    bits = np.asarray(v, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bfloats(random):
    n = 100
    a, b = (_bfloat(random.standard_normal((n, 2))) for _ in "ab")
    x, y = ((v.astype(np.uint32) << 16).view(np.float32).astype(float) for v in (a, b))
    low3 = np.stack([x[:, 0] * 3, (y[:, 1].astype(np.float32) / np.float32(3))], 1)
    wanted = np.stack([_bfloat(r) for r in (x + y, x * y, x * y + x, x - y, low3)], 1)
    args = {"a": a, "b": b, "out": np.zeros((n, 5, 2), np.uint16), "single": np.zeros(n, np.float32), "n": n}
    expected = {"out": Expected(wanted), "single": Expected((x[:, 0] + y[:, 1]).astype(np.float32))}
    return Case(SOURCE, "bfloats", 1, 128, args, expected, least_arch=80)


def packed_integers(random):
    a, b = random.integers(0, 2**32, (2, 100), np.uint32)
    rows = []
    for kind, function in (
        (np.uint8, np.add), (np.int8, np.maximum), (np.uint16, np.minimum), (np.int16, np.minimum),
    ):  # fmt: skip
        rows.append(function(a.view(kind), b.view(kind)).view(np.uint32))
    bytes_a, bytes_b = (w.view(np.uint8).reshape(-1, 4).astype(int) for w in (a, b))
    rows.append(np.abs(bytes_a - bytes_b).astype(np.uint8).view(np.uint32).reshape(-1))
    rows.append(np.abs(bytes_a - bytes_b).sum(1).astype(np.uint32))
    args = {"a": a, "b": b, "out": np.zeros((100, 6), np.uint32), "n": 100}
    return Case(SOURCE, "packed_integers", 1, 128, args, {"out": Expected(np.stack(rows, 1))})


def _ballot(flags):
    return int(sum(int(bool(f)) << i for i, f in enumerate(flags)))


def warp_functions(random):
    x = random.integers(0, 50, (2, 32)).astype(np.int32)
    out = np.zeros((2, 32, 16), np.int64)
    lane = np.arange(32)
    for w, v in enumerate(x):
        pick = lambda j, ok=True, v=v: np.where(ok, v[j % 32], v)  # noqa: E731
        everyone = len(set((v >> 30).tolist())) == 1
        cols = [
            pick(lane * 7), pick(lane - 3, lane >= 3), pick(lane + 5, lane < 27), v[lane ^ 9],
            v[lane & 24 | lane + 1 & 7], pick(lane + 2, (lane & 15) < 14), _ballot(v & 1),
            (v > 5).any(), (v > 5).all(), M32,
            np.array([_ballot((v & 3) == (e & 3)) for e in v]), M32 if everyone else 0, everyone,
            np.where(lane & 1, v[lane ^ 2], _ballot((v & 2).astype(bool) & (lane % 2 == 0))),
            pick(lane - 1, lane % 4 > 0), 0,
        ]  # fmt: skip
        for i, col in enumerate(cols):
            out[w, :, i] = col
    args = {"in": x, "out": np.zeros((2, 32, 16), np.int32)}
    return Case(SOURCE, "warp_functions", 2, 32, args, {"out": Expected(out.astype(np.uint32).view(np.int32))})


def warp_reductions(random):
    x = random.integers(-1000, 1000, 32).astype(np.int32)
    u = x.view(np.uint32)
    row = [x.sum(), x.min(), int(u.max()), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
    wanted = np.tile(np.array([int(v) & M32 for v in row], np.uint32).view(np.int32), (32, 1))
    args = {"in": x, "out": np.zeros((32, 6), np.int32)}
    return Case(SOURCE, "warp_reductions", 1, 32, args, {"out": Expected(wanted)}, least_arch=80)


def block_votes(random):
    x = random.integers(0, 100, (3, 160)).astype(np.int32)
    x[1] += 4
    wanted = np.stack([np.repeat(v[:, None], 160, 1) for v in ((x & 1).sum(1), (x > 3).all(1), (x > 97).any(1))], 2)
    args = {"in": x, "out": np.zeros((3, 160, 3), np.int32)}

    def truth(found):
        return np.concatenate([found[..., :1], found[..., 1:] != 0], axis=-1)

    return Case(SOURCE, "block_votes", 3, 160, args, {"out": Expected(wanted, order=truth)})


def named_barriers(random):
    t = np.arange(64)
    wanted = np.r_[(63 - t) ** 2, t**2 + 1].astype(np.int32)
    return Case(SOURCE, "named_barriers", 1, 128, {"out": np.zeros(128, np.int32)}, {"out": Expected(wanted)})


def switch_table(random):
    o = np.zeros(8192, np.int32)
    o[:256] = random.integers(-1, 11, 256)
    n, after = 23, o.copy()
    results = {0: n * 3, 1: n + 7, 2: n * n, 3: n ^ 99, 4: n // 3, 5: ~n, 6: n % 7, 7: n << 3, 8: n - 11}
    extra = {1: 5, 3: 7, 7: 9}
    for i in range(256):
        after[i] = results.get(int(o[i]), 0)
        if int(o[i]) in extra:
            after[i + 4096] = extra[int(o[i])]
    return Case(SOURCE, "switch_table", 2, 128, {"o": o, "n": n}, {"o": Expected(after)})


def recursion(random):
    fibonacci = [0, 1]
    while len(fibonacci) < 11:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    wanted = np.array([fibonacci[t % 11] for t in range(64)], np.int32)
    return Case(SOURCE, "recursion", 1, 64, {"o": np.zeros(64, np.int32)}, {"o": Expected(wanted)})


def symbols(random):
    c = random.random(16).astype(np.float32)
    table = np.array([1, 2, 3, 4, 5, 0, 0, 0], np.float32)
    i = np.arange(64)
    wanted = c[i & 15] + table[i & 7] + c[5]
    constants = {"coefficients": c, "counter": np.array([100], np.int32)}
    expected = {"o": Expected(wanted), "counter": Expected(np.array([100 + 63 * 32], np.int32))}
    return Case(SOURCE, "symbols", 1, 64, {"o": np.zeros(64, np.float32), "k": 5}, expected, constants)


def struct_by_value(random):
    settings = np.zeros(
        1, np.dtype([("count", "i4"), ("scale", "f4"), ("shift", "f8"), ("small", "i2", 3), ("pad", "i2")])
    )
    settings["count"], settings["scale"], settings["shift"], settings["small"] = 40, 2.5, -3.25, [7, 8, -9]
    i = np.arange(64)
    wanted = np.where(i < 40, i * 2.5 - 3.25 + np.array([7, 8, -9])[i % 3], 200).astype(np.float32)
    args = {"o": np.zeros(64, np.float32), "s": settings.tobytes(), "byte": 200}
    return Case(SOURCE, "struct_by_value", 1, 64, args, {"o": Expected(wanted)})


def local_array(random):
    values = random.integers(0, 24, 64).astype(np.int32)
    wanted = []
    for t, v in enumerate(values.tolist()):
        box = [v * k for k in range(24)]
        for k in range(12):
            box[(v + k * 5) % 24] += k
        total = 0
        for k in range(24):
            total = _i32(total * 3 + box[(k * 7 + t) % 24])
        wanted.append(total)
    args = {"in": values, "out": np.zeros(64, np.int32)}
    return Case(SOURCE, "local_array", 1, 64, args, {"out": Expected(np.array(wanted, np.int32))})


def small_types(random):
    a = random.integers(-128, 128, 128).astype(np.int8)
    b, c = random.integers(0, 2**16, 128).astype(np.uint16), random.integers(-(2**15), 2**15, 128).astype(np.int16)
    shorts = (c.astype(int) + b).astype(np.int16)
    o = (a.astype(int) * 3 + shorts[::-1]).astype(np.int16)
    p = (a.view(np.uint8)[::-1].astype(int) + (b & 255)).astype(np.uint8)
    args = {"a": a, "b": b, "c": c, "o": np.zeros(128, np.int16), "p": np.zeros(128, np.uint8)}
    return Case(SOURCE, "small_types", 1, 128, args, {"o": Expected(o), "p": Expected(p)})


def vectors(random):
    a, b = random.random((64, 4)).astype(np.float32), random.random((64, 2))
    c = random.integers(-100, 100, (64, 4)).astype(np.int16)
    args = {"a": a, "b": b, "o": np.zeros_like(a), "p": np.zeros_like(b), "c": c, "q": np.zeros_like(c)}
    p = np.stack([b[:, 1], b[:, 0] * 2], 1)
    expected = {"o": Expected(a[::-1, ::-1]), "p": Expected(p), "q": Expected(c[:, [3, 0, 1, 2]])}
    return Case(SOURCE, "vectors", 1, 64, args, expected)


def generic_pointers(random):
    g = random.random(64).astype(np.float32)
    i = np.arange(64)
    shared = i.astype(np.float32) + np.float32(1.5)
    low = g + np.float32(1.5)
    after = np.where(i < 32, low, g)
    local = np.array([1, 2, 3, 4], np.float32)
    out = np.where(i < 32, low[i ^ 1], shared[i ^ 1]) + local[(i & 3) ^ 1]
    args = {"g": g, "out": np.zeros(64, np.float32), "which": 2}
    return Case(
        SOURCE, "generic_pointers", 1, 64, args, {"g": Expected(after), "out": Expected(out.astype(np.float32))}
    )


def atomics_of_all_kinds(random):
    t = np.arange(128)
    i = np.zeros(12, np.int32)
    i[:3] = [t[t % 3 == k].sum() for k in range(3)]
    i[3], i[4], i[5] = -t.sum(), -127, (t * 7 % 101).max()
    i[8:12] = [128, 63 + 127, 18, 128]
    u = np.zeros(5, np.uint32)
    u[0], u[1], u[2], u[3] = 0, (1 << 20) - 1, np.bitwise_xor.reduce(t), 128 % 11
    u[4] = (0 - 128) % 11
    f, d = np.array([32, 32, 256], np.float32), np.array([16.0, 16.0])
    w = np.array([int(t.sum()) << 33, 127 * 127, 77, 5, 384], np.uint64)
    args = {
        "i": np.zeros(12, np.int32), "u": np.array([M32, 0, 0, 0, 0], np.uint32), "f": np.zeros(3, np.float32),
        "d": np.zeros(2), "w": np.zeros(5, np.uint64), "old": np.zeros(128, np.uint32),
    }  # fmt: skip
    expected = {name: Expected(v) for name, v in (("i", i), ("u", u), ("f", f), ("d", d), ("w", w))}
    expected["old"] = Expected(np.sort(t % 11).astype(np.uint32), order=np.sort)
    return Case(SOURCE, "atomics_of_all_kinds", 2, 64, args, expected)


def _nested(x):
    total = 0
    for i in range(x & 7):
        if x >> i & 1:
            for j in range(x >> 3 & 3):
                if j == 2 and x & 64:
                    break
                total += i * j + 1
                if total & 15 == 9:
                    continue
                total += x & 3
        elif x & 128:
            total -= i
            if total < -5:
                return -1
        total = _i32(total * 3 ^ x)
    return total


def nested_divergence(random):
    x = random.integers(0, 256, 256).astype(np.int32)
    wanted = np.array([_nested(int(v)) for v in x], np.int32)
    return Case(
        SOURCE, "nested_divergence", 1, 256, {"in": x, "out": np.zeros(256, np.int32)}, {"out": Expected(wanted)}
    )


def early_exit(random):
    wanted = np.where(np.arange(3 * 96) % 96 < 50, 50, 0).astype(np.int32)
    return Case(SOURCE, "early_exit", 3, 96, {"out": np.zeros(3 * 96, np.int32), "n": 50}, {"out": Expected(wanted)})


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (wide_integers, narrow_integers, packed_integers, dot_products,
                 conversions, rounding, halves, bfloats, warp_functions,
                 warp_reductions, block_votes, named_barriers, switch_table, recursion, symbols, struct_by_value,
                 local_array, small_types, vectors, generic_pointers, atomics_of_all_kinds, nested_divergence,
                 early_exit)
}  # fmt: skip
