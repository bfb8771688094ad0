"""What random programs have found, each as a kernel of its own against NumPy."""

from fractions import Fraction

import numpy as np

from support.emulator.case import KERNELS, Case, Expected, Make
from support.emulator.instruction_cases import rounded

SOURCE = KERNELS / "judged.cu"


def _bits(values):
    """To the sign of a zero."""
    return np.ascontiguousarray(values).view(f"u{values.itemsize}")


def constant_pointers(random):
    other, t = random.random(32), np.arange(32)
    wanted = np.where(other > 0.5, other[t & 7], 2.0 ** (t & 7)) + 2.0 ** (t & 3)
    return Case(SOURCE, "constant_pointers", 1, 32, {"other": other, "out": np.zeros(32)}, {"out": Expected(wanted)})


def zeros_downward(random):
    a, b = random.standard_normal(32).astype(np.float32), 1 + random.random(32) / 2
    f, most = np.zeros((32, 3), np.float32), np.finfo(float).max
    f[:, :2] = -0.0
    d = np.tile([-0.0, -0.0, 0.0, most, -most], (32, 1))
    args = {"a": a, "b": b, "f": np.zeros_like(f), "d": np.zeros_like(d)}
    expected = {"f": Expected(_bits(f), order=_bits), "d": Expected(_bits(d), order=_bits)}
    return Case(SOURCE, "zeros_downward", 1, 32, args, expected)


def printed_numbers(random):
    t = np.arange(32)
    single = float(rounded(Fraction(0x72EC << 48), np.float32, "d")) + t.astype(np.float32)
    wanted = np.stack([1.0 + t, single.astype(np.float32), t - 1 / 3, 2.0**63 + t], axis=1)
    bits = np.stack([t, 0xBA9B + t], axis=1).astype(np.uint32)
    args = {"out": np.zeros((32, 4)), "bits": np.zeros_like(bits)}
    return Case(SOURCE, "printed_numbers", 1, 32, args, {"out": Expected(wanted), "bits": Expected(bits)})


def _joined(low, high):
    return (low.astype(np.int64) & 0xFFFF | (high.astype(np.int64) & 0xFFFF) << 16).astype(np.uint32)


def _by_parts(kind, function, *words):
    parts = [word.view(kind).reshape(-1, 2) for word in words]
    return _joined(*function(*parts).T)


def _most(*parts):
    return np.maximum.reduce(parts)


def _least(*parts):
    return np.minimum.reduce(parts)


def three_parts(random):
    words = random.integers(0, 2**32, 192, np.uint32)
    a, b, c = words.reshape(3, 64)
    (x, y, z), s, u = (one.view(np.int32) for one in (a, b, c)), np.int16, np.uint16
    left = [a.view(kind).reshape(-1, 2) for kind in (s, u)]
    right = [b.view(kind).reshape(-1, 2) for kind in (s, u)]
    tests = left[0] >= right[0], left[1] <= right[1]
    columns = [
        _by_parts(s, _most, a, b, c), _by_parts(u, _least, a, b, c),
        _by_parts(s, lambda *p: np.maximum(_most(*p), 0), a, b, c),
        _by_parts(s, lambda p, q, r: _most(p + q, r), a, b, c),
        _by_parts(u, lambda p, q, r: _least(p + q, r), a, b, c),
        _by_parts(s, lambda p, q, r: np.maximum(_most(p + q, r), 0), a, b, c),
        _by_parts(s, _most, a, b), tests[0][:, 1] << 1 | tests[0][:, 0],
        _by_parts(u, _least, a, b), tests[1][:, 1] << 1 | tests[1][:, 0],
        np.maximum(_most(x, y, z), 0), np.maximum(_least(x, y), 0),
        np.maximum(_least((a >> 2).view(np.int32) + (b >> 2).view(np.int32), z), 0), np.full(64, 18),
    ]  # fmt: skip
    wanted = np.zeros((64, 16), np.uint32)
    for i, column in enumerate(columns):
        wanted[:, i] = column.astype(np.uint32)
    args = {"in": words, "out": np.zeros_like(wanted)}
    return Case(SOURCE, "three_parts", 1, 64, args, {"out": Expected(wanted)})


def small_bfloats(random):
    x = (random.standard_normal(96) * 10.0 ** random.integers(-3, 3, 96)).astype(np.float32)
    cut = (x.view(np.uint32) & 0xFFFF0000).view(np.float32).reshape(3, 32)
    least, most = cut.min(axis=0), cut.max(axis=0)
    a, b, c = x.reshape(3, 32).astype(np.float16)
    low = np.minimum(np.minimum(a, c), np.float16(-1.5))
    high = np.minimum(np.minimum(b, np.float16(0.5)), a)
    columns = [one.view(np.uint32) >> 16 for one in (cut[0], least, most)]
    columns.append(low.view(np.uint16) ^ high.view(np.uint16))
    wanted = np.stack(columns, axis=1).astype(np.uint16)
    args = {"in": x, "out": np.zeros_like(wanted)}
    return Case(SOURCE, "small_bfloats", 1, 32, args, {"out": Expected(wanted)}, least_arch=80)


def on_a_stack(random):
    x, t = random.integers(0, 99, 8).astype(np.int32), np.arange(32)
    wanted = x[t & 7] + x[x[0] & 7] + 2 * t
    args = {"in": x, "out": np.zeros(32, np.int32)}
    return Case(SOURCE, "on_a_stack", 1, 32, args, {"out": Expected(wanted)}, options=("--ptxas-options=-O0",))


def _kept(values, kind):
    limits = np.iinfo(kind)
    return np.clip(values, limits.min, limits.max).astype(np.int64)


def _few_bits(size, least, most, *parts):
    """Two numbers, the first above the second, of so many bits, and what stands above them."""
    first, second = (np.clip(part, least, most) & (1 << size) - 1 for part in parts[:2])
    return first << size | second | (parts[2] << 2 * size if len(parts) > 2 else 0)


def nearest_integers(random):
    words = (random.integers(-(2**31), 2**31, 64) >> random.integers(0, 31, 64)).astype(np.int32)
    floats = (random.standard_normal(32) * 10.0 ** random.integers(-1, 6, 32)).astype(np.float32)
    floats[:5] = [np.nan, np.inf, -np.inf, 2.5, -0.5]
    (a, b), t, same = words.astype(np.int64).reshape(2, 32), np.arange(32), np.full(32, 777)
    x = np.where(np.isnan(floats), 0, floats.astype(float))
    wanted = np.stack([
        _kept(a, "u1"), _kept(a, "i1"), _kept(a, "u2"), _kept(a, "i2"), _kept(same, "u1"),
        _few_bits(16, 0, 65535, a, b), _few_bits(16, -32768, 32767, a, b), _few_bits(8, -128, 127, a, b, t),
        _few_bits(8, 0, 255, a, same, b), _few_bits(4, 0, 15, a, b, same), _few_bits(4, -8, 7, a, b, b),
        _kept(np.rint(x), "u1"), _kept(np.floor(x), "i1"), _kept(np.ceil(x), "u2"), _kept(np.trunc(x), "i1"),
        _kept(same + 2147483000, "i4"),
    ], axis=1)  # fmt: skip
    args = {"in": words, "floats": floats, "out": np.zeros((32, 16), np.int32), "same": 777}
    return Case(SOURCE, "nearest_integers", 1, 32, args, {"out": Expected(wanted.astype(np.uint32).view(np.int32))})


def signs_of_both(random):
    x = random.standard_normal(64).astype(np.float32)
    x[:4], x[32:36] = [np.nan, 1e-40, -0.0, -3], [2, -np.nan, 5, np.nan]
    a, b = x.reshape(2, 32)
    half, tiny = np.full(32, -0.5, np.float32), np.zeros(32, np.float32)
    flushed = np.where(np.abs(a) < 1e-38, 0 * a, a)
    size = [np.fmin(np.abs(a), np.abs(b)), np.fmax(np.abs(a), np.abs(b))]
    size += [np.maximum(np.abs(a), 0.5), np.fmin(np.abs(flushed), tiny)]
    other = [b, b, half, tiny]
    negative = np.stack([np.signbit(a) != np.signbit(one) for one in other], axis=1)
    wanted = np.where(negative, -np.stack(size, axis=1), np.stack(size, axis=1)).astype(np.float32)
    args = {"in": x, "out": np.zeros_like(wanted)}
    return Case(SOURCE, "signs_of_both", 1, 32, args, {"out": Expected(wanted)}, least_arch=86)


def _bfloat(value, way):
    """Bits of the bfloat16 next to an exact number in a direction: eight bits of its magnitude, and one more or not."""
    if value == 0:
        return 0
    size, power = abs(Fraction(value)), 0
    while size >= 256:
        size, power = size / 2, power + 1
    while size < 128:
        size, power = size * 2, power - 1
    least, rest = int(size), size - int(size)
    up = {"z": False, "d": value < 0, "u": value > 0}.get(way, rest > Fraction(1, 2) or (rest * 2 == 1 and least & 1))
    magnitude = least + (1 if rest and up else 0)
    return (0x8000 if value < 0 else 0) | ((power + 134 << 7) + magnitude - 128)


def bfloat_ways(random):
    words = (random.integers(-(2**31), 2**31, 32) >> random.integers(0, 31, 32)).astype(np.int32)
    x = (random.standard_normal(32) * 10.0 ** random.integers(-3, 6, 32)).astype(np.float32)
    wanted = np.zeros((32, 10), np.uint16)
    for i, (word, value) in enumerate(zip(words.tolist(), x.tolist(), strict=True)):
        near = float(np.uint32(_bfloat(value, "n") << 16).view(np.float32))
        whole = _kept(np.trunc(near), "i2") & 0xFFFF, _kept(np.ceil(near), "u2")
        several = [_bfloat(word, way) for way in "nzdu"] + [_bfloat((word + 32768) % 65536 - 32768, "n")]
        wanted[i] = [*several, _bfloat(word % 2**64, "u"), _bfloat(value, "d"), _bfloat(value, "u"), *whole]
    args = {"in": words, "floats": x, "out": np.zeros_like(wanted)}
    return Case(SOURCE, "bfloat_ways", 1, 32, args, {"out": Expected(wanted)}, least_arch=80)


def _sums(a, b, c, way="n"):
    """a b + c of each, rounded once."""
    exact = (Fraction(float(p)) * Fraction(float(q)) + Fraction(float(r)) for p, q, r in zip(a, b, c, strict=True))
    return np.array([float(rounded(one, np.float32, way)) for one in exact], np.float32)


def pairs_of_floats(random):
    n, x = random.standard_normal((32, 2)).astype(np.float32), random.standard_normal(64).astype(np.float32)
    s, (a, b), one, zero = np.full(32, 1.7, np.float32), x.reshape(2, 32), np.ones(32, np.float32), np.zeros(32)
    halves = 2.5 * one
    terms = [
        ((one, one), n.T, (-b, a)), ((a, b), n.T, (-b, a)), ((a, a), (-b, -a), n.T), ((a, a), n.T, (zero, zero), "u"),
        ((one, one), (a, a), (-b, -b), "d"), ((a, a), (-b, -a), n.T, "z"), ((s, s), n.T, (-s, s + one)),
        ((-np.abs(a), np.abs(b)), n.T, (s, halves)), (n.T, (-one, one), (halves, halves)),
    ]  # fmt: skip
    columns = [[_sums(*(one[part] for one in term[:3]), *term[3:]) for part in (0, 1)] for term in terms]
    wanted = np.ascontiguousarray(np.array(columns).transpose(2, 0, 1)).view(np.uint64).reshape(32, 9)
    args = {"in": n.view(np.uint64).ravel(), "floats": x, "out": np.zeros((32, 9), np.uint64), "s": s[0]}
    return Case(SOURCE, "pairs_of_floats", 1, 32, args, {"out": Expected(wanted)}, least_arch=100)


def walks(random):
    """Loops of plain loads in part of a warp: on sm_75 these are .SYS, and nobody polls."""
    x, boxes = random.integers(0, 2**32, 32, np.uint32), random.integers(0, 2**32, (32, 8), np.uint32)
    after, wanted, n = boxes.astype(object), x.astype(object), 40
    for t in np.flatnonzero(x & 7):
        for i in range(n):
            k = (wanted[t] ^ i) & 7
            wanted[t] = (wanted[t] * 69069 + after[t, k]) % 2**32
            after[t, (k + n) & 7] ^= wanted[t]
    wanted = [(int(x[one & 31]) + one) % 2**32 for one in wanted]
    args = {"in": x, "boxes": boxes, "out": np.zeros_like(x), "n": n}
    expected = {"out": Expected(np.array(wanted, np.uint32)), "boxes": Expected(after.astype(np.uint32))}
    return Case(SOURCE, "walks", 1, 32, args, expected)


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (constant_pointers, zeros_downward, printed_numbers, three_parts, small_bfloats, on_a_stack,
                 nearest_integers, signs_of_both, bfloat_ways, pairs_of_floats, walks)
}  # fmt: skip
