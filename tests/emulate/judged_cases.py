"""What random programs have found, each as a kernel of its own against NumPy."""

from fractions import Fraction

import numpy as np
from case import KERNELS, Case, Expected, Make
from instruction_cases import rounded

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


CASES: dict[str, Make] = {
    make.__name__: make
    for make in (constant_pointers, zeros_downward, printed_numbers, three_parts, small_bfloats, on_a_stack)
}
