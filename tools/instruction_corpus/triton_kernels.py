"""Kernels of Triton."""

from collections.abc import Iterator

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from instruction_corpus.cases import Case
from warpbound.triton.launching import prepare

N, BLOCK = 1500, 512
M = 64  # rows and columns of products


@triton.jit
def of_two(x, y, out, n, F: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a, b = tl.load(x + at, mask=inside, other=1), tl.load(y + at, mask=inside, other=1)
    if F == "add":
        result = a + b
    elif F == "divide":
        result = a / b
    elif F == "maximum":
        result = tl.maximum(a, b)
    elif F == "fma":
        result = tl.fma(a, b, a)
    elif F == "quotient":
        result = a // b
    elif F == "remainder":
        result = a % b
    elif F == "shifts":
        result = (a << 2) ^ (b >> 1) | (a & b)
    elif F == "high":
        result = tl.umulhi(a, b)
    elif F == "where":
        result = tl.where(a > b, a, b * 2)
    else:
        result = libdevice.pow(a, b)
    tl.store(out + at, result, mask=inside)


@triton.jit
def of_one(x, out, n, F: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside, other=1)
    if F == "exp":
        result = tl.exp(a)
    elif F == "log":
        result = tl.log(a)
    elif F == "sin":
        result = tl.sin(a)
    elif F == "sqrt":
        result = tl.sqrt(a)
    elif F == "rsqrt":
        result = tl.rsqrt(a)
    elif F == "sigmoid":
        result = tl.sigmoid(a)
    elif F == "erf":
        result = tl.erf(a)
    elif F == "floor":
        result = tl.floor(a)
    elif F == "abs":
        result = tl.abs(a)
    else:
        result = libdevice.tanh(a)
    tl.store(out + at, result, mask=inside)


@triton.jit
def converted(x, out, TO: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(TO).to(tl.float32))


@triton.jit
def reduced(x, out, F: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.arange(0, ROWS)
    a = tl.load(x + row[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if F == "sum":
        result = tl.sum(a, axis=1)
    elif F == "max":
        result = tl.max(a, axis=1)
    elif F == "min":
        result = tl.min(a, axis=1)
    else:
        result = tl.argmax(a, axis=1)
    tl.store(out + row, result)


@triton.jit
def along_rows(x, out, F: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    a = tl.load(x + at)
    if F == "cumsum":
        result = tl.cumsum(a, axis=1)
    elif F == "sort":
        result = tl.sort(a, dim=1)
    else:
        result = tl.flip(a, dim=1)
    tl.store(out + at, result)


@triton.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    values = tl.load(x + at, mask=inside, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + at, powers / tl.sum(powers, axis=0), mask=inside)


@triton.jit
def layer_norm(x, weight, out, n, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < n
    start = tl.program_id(0) * n
    values = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / n
    apart = tl.where(inside, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(apart * apart, axis=0) / n + eps)
    tl.store(out + start + at, apart * scale * tl.load(weight + at, mask=inside), mask=inside)


@triton.jit
def atomics(x, out, F: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at)
    if F == "add":
        tl.atomic_add(out + at % 8, a)
    elif F == "max":
        tl.atomic_max(out + at % 8, a)
    else:
        tl.atomic_xchg(out + at, a)


@triton.jit
def histogram(x, out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, 16), tl.histogram(tl.load(x + tl.arange(0, BLOCK)), 16))


@triton.jit
def product(a, b, c, K, TILE: tl.constexpr, STEP: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    rows, inner = tl.arange(0, TILE), tl.arange(0, STEP)
    left, right = a + rows[:, None] * K + inner[None, :], b + inner[:, None] * TILE + rows[None, :]
    total = tl.zeros((TILE, TILE), OUT)
    for _ in range(0, K, STEP):
        total = tl.dot(tl.load(left), tl.load(right), total, input_precision=PRECISION, out_dtype=OUT)
        left += STEP
        right += STEP * TILE
    tl.store(c + rows[:, None] * TILE + rows[None, :], total)


@triton.jit
def scaled_product(
    a, scale_a, b, scale_b, c, KIND: tl.constexpr, TILE: tl.constexpr, K: tl.constexpr, PER: tl.constexpr
):
    rows, inner, groups = tl.arange(0, TILE), tl.arange(0, K // PER), tl.arange(0, K // 32)
    left = tl.load(a + rows[:, None] * (K // PER) + inner[None, :])
    right = tl.load(b + inner[:, None] * TILE + rows[None, :])
    of_left = tl.load(scale_a + rows[:, None] * (K // 32) + groups[None, :])
    of_right = tl.load(scale_b + rows[:, None] * (K // 32) + groups[None, :])
    total = tl.dot_scaled(left, of_left, KIND, right, of_right, KIND)
    tl.store(c + rows[:, None] * TILE + rows[None, :], total)


@triton.jit
def half_scaled_product(a, scale, b, c, KIND: tl.constexpr, TILE: tl.constexpr, K: tl.constexpr, PER: tl.constexpr):
    rows, inner, groups = tl.arange(0, TILE), tl.arange(0, K // PER), tl.arange(0, K // 32)
    left = tl.load(a + rows[:, None] * (K // PER) + inner[None, :])
    of_left = tl.load(scale + rows[:, None] * (K // 32) + groups[None, :])
    right = tl.load(b + tl.arange(0, K)[:, None] * TILE + rows[None, :]).to(tl.bfloat16)
    tl.store(c + rows[:, None] * TILE + rows[None, :], tl.dot_scaled(left, of_left, KIND, right, None, "bf16"))


@triton.jit
def product_by_boxes(a, b, c, K, TILE: tl.constexpr, STEP: tl.constexpr, ROLES: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [TILE, K], [K, 1], [TILE, STEP])
    right = tl.make_tensor_descriptor(b, [K, TILE], [TILE, 1], [STEP, TILE])
    result = tl.make_tensor_descriptor(c, [TILE, TILE], [TILE, 1], [TILE, TILE])
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in tl.range(0, K, STEP, warp_specialize=ROLES):
        total = tl.dot(left.load([0, k]), right.load([k, 0]), total)
    result.store([0, 0], total)


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(5)
    yield from _elementwise(numbers)
    yield from _rows(numbers)
    yield from _products(numbers)


def _elementwise(numbers: np.random.Generator) -> Iterator[Case]:
    x, y = (numbers.uniform(0.5, 3, N).astype(np.float32) for _ in range(2))
    i, j = (numbers.integers(1, 1000, N, dtype=np.int32) for _ in range(2))
    of = {"add": x + y, "divide": x / y, "maximum": np.maximum(x, y), "fma": x * y + x, "pow": x**y,
          "where": np.where(x > y, x, y * 2)}  # fmt: skip
    whole = {"quotient": i // j, "remainder": i % j, "shifts": (i << 2) ^ (j >> 1) | (i & j),
             "high": (i.astype(np.int64) * j >> 32).astype(np.int32)}  # fmt: skip
    for values, a, b in ((of, x, y), (whole, i, j)):
        for name, expected in values.items():
            args = (a, b, np.zeros_like(a), N)
            yield _case(name, of_two, args, 3, {"out": expected}, 1e-5, F=name, BLOCK=BLOCK)
    for dtype in (np.float16, np.float64):
        a, b = x.astype(dtype), y.astype(dtype)
        args = (a, b, np.zeros_like(a), N)
        yield _case(f"add {dtype.__name__}", of_two, args, 3, {"out": a + b}, F="add", BLOCK=BLOCK)
    exact = {"exp": np.exp(x), "log": np.log(x), "sin": np.sin(x), "sqrt": np.sqrt(x), "rsqrt": 1 / np.sqrt(x),
             "sigmoid": 1 / (1 + np.exp(-x)), "floor": np.floor(x), "abs": np.abs(x), "tanh": np.tanh(x)}  # fmt: skip
    for name, expected in exact.items():
        yield _case(name, of_one, (x, np.zeros_like(x), N), 3, {"out": expected}, 1e-5, F=name, BLOCK=BLOCK)
    yield _case("erf", of_one, (x, np.zeros_like(x), N), 3, {}, F="erf", BLOCK=BLOCK)
    near = numbers.choice(np.array([0.5, 1, 1.5, 2, 3, -4, 6], np.float32), BLOCK)
    for to in (tl.float16, tl.bfloat16, tl.float8e5, tl.float8e4nv):
        yield _case(f"to {to}", converted, (near, np.zeros_like(near)), 1, {"out": near}, TO=to, BLOCK=BLOCK)
    z = numbers.random(1024, dtype=np.float32)
    sums = {"out": z.reshape(-1, 8).sum(0)}
    yield _case("atomic add", atomics, (z, np.zeros(8, np.float32)), 2, sums, 1e-5, F="add", BLOCK=BLOCK)
    tops = {"out": z.reshape(-1, 8).max(0)}
    yield _case("atomic max", atomics, (z, np.zeros(8, np.float32)), 2, tops, F="max", BLOCK=BLOCK)
    yield _case("exchange", atomics, (z, np.zeros_like(z)), 2, {"out": z}, F="exchange", BLOCK=BLOCK)
    small = numbers.integers(0, 16, BLOCK, dtype=np.int32)
    counts = {"out": np.bincount(small, minlength=16)}
    yield _case("histogram", histogram, (small, np.zeros(16, np.int32)), 1, counts, BLOCK=BLOCK)


def _rows(numbers: np.random.Generator) -> Iterator[Case]:
    for dtype in (np.float32, np.float16, np.int32):
        x = (numbers.standard_normal((16, 128)) * 100).astype(dtype)
        for name in ("sum", "max", "min", "argmax"):
            expected = getattr(np, name)(x, axis=1)
            out = np.zeros(16, np.int32 if name == "argmax" else dtype)
            rtol = 5e-3 if dtype == np.float16 else 1e-5
            yield _case(f"{name} {dtype.__name__}", reduced, (x, out), 1, {"out": expected.astype(out.dtype)}, rtol,
                        F=name, ROWS=16, COLUMNS=128)  # fmt: skip
    x = numbers.standard_normal((16, 128)).astype(np.float32)
    for name, expected in (("cumsum", x.cumsum(1)), ("sort", np.sort(x, axis=1)), ("flip", x[:, ::-1])):
        yield _case(name, along_rows, (x, np.zeros_like(x)), 1, {"out": expected}, 1e-5, F=name, ROWS=16, COLUMNS=128)
    for dtype, rtol in ((np.float32, 1e-6), (np.float16, 1e-3)):
        own = numbers.standard_normal((8, 500)).astype(dtype)
        wide = own.astype(np.float32)
        powers = np.exp(wide - wide.max(1, keepdims=True))
        expected = {"out": powers / powers.sum(1, keepdims=True)}
        yield _case(f"softmax {dtype.__name__}", softmax, (own, np.zeros_like(own), 500), 8, expected, rtol, BLOCK=512)
        weight = numbers.random(500).astype(dtype)
        apart = wide - wide.mean(1, keepdims=True)
        normed = apart / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5) * weight.astype(np.float32)
        args = (own, weight, np.zeros_like(own), 500, 1e-5)
        yield _case(f"layer norm {dtype.__name__}", layer_norm, args, 8, {"out": normed}, 4 * rtol, BLOCK=512)


def _products(numbers: np.random.Generator) -> Iterator[Case]:
    a, b = numbers.standard_normal((M, 128)), numbers.standard_normal((128, M))
    c = np.zeros((M, M), np.float32)
    for dtype, precision, rtol in (
        (np.float16, "tf32", 1e-5), (np.float32, "tf32", 2e-3), (np.float32, "ieee", 1e-6), (np.float64, "ieee", 1e-12)
    ):  # fmt: skip
        own = a.astype(dtype), b.astype(dtype)
        out = np.zeros((M, M), np.float64) if dtype == np.float64 else c
        to = tl.float64 if dtype == np.float64 else tl.float32
        expected = {"c": own[0].astype(np.float64) @ own[1].astype(np.float64)}
        yield _case(f"product {dtype.__name__} {precision}", product, (*own, out, 128), 1, expected, rtol,
                    TILE=M, STEP=32, PRECISION=precision, OUT=to)  # fmt: skip
    whole = numbers.integers(-9, 9, (M, 128), dtype=np.int8), numbers.integers(-9, 9, (128, M), dtype=np.int8)
    expected = {"c": whole[0].astype(np.int32) @ whole[1].astype(np.int32)}
    yield _case("product int8", product, (*whole, np.zeros((M, M), np.int32), 128), 1, expected,
                TILE=M, STEP=32, PRECISION="tf32", OUT=tl.int32)  # fmt: skip
    half = a.astype(np.float16), b.astype(np.float16)
    expected = {"c": half[0].astype(np.float64) @ half[1].astype(np.float64)}
    for roles in (False, True):
        yield _case(f"product by boxes {roles}", product_by_boxes, (*half, c, 128), 1, expected, 1e-5,
                    TILE=M, STEP=32, ROLES=roles)  # fmt: skip
    sums = np.zeros((M, M), np.float16)
    yield _case("product of half sums", product, (*half, sums, 128), 1, expected, HALF_SUMS,
                TILE=M, STEP=32, PRECISION="tf32", OUT=tl.float16)  # fmt: skip
    for kind, per in (("e4m3", 1), ("e5m2", 1), ("e2m1", 2)):
        yield _scaled(numbers, kind, per)
        yield _half_scaled(numbers, kind, per)


HALF_SUMS = 5e-3  # of the largest sum: 128 products are added in FP16
FP8 = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e2m1": (2, 1, 1)}  # bits of exponent and fraction, bias


def decoded(codes: np.ndarray, kind: str) -> np.ndarray:
    """The numbers that small floats stand for."""
    exponent_bits, fraction_bits, bias = FP8[kind]
    fraction = codes & (1 << fraction_bits) - 1
    exponent = codes >> fraction_bits & (1 << exponent_bits) - 1
    sign = np.where(codes >> exponent_bits + fraction_bits & 1, -1.0, 1.0)
    small = fraction / 2.0**fraction_bits * 2.0 ** (1 - bias)
    large = (1 + fraction / 2.0**fraction_bits) * 2.0 ** (exponent.astype(int) - bias)
    return sign * np.where(exponent == 0, small, large)


def _half_scaled(numbers: np.random.Generator, kind: str, per: int) -> Case:
    """A product of small floats, with a scale for 32 numbers each, and of BF16."""
    size, k = 64, 128
    codes = numbers.integers(0, 16 if per == 2 else 0x58, (size, k)).astype(np.uint8)
    scales = numbers.integers(125, 130, (size, k // 32), dtype=np.uint8)
    b = numbers.integers(-9, 9, (k, size)).astype(np.float32)
    c = (decoded(codes, kind) * 2.0 ** (scales.astype(int) - 127).repeat(32, axis=1)) @ b
    a = codes[:, ::2] | codes[:, 1::2] << 4 if per == 2 else codes
    args = (a, scales, b, np.zeros((size, size), np.float32))
    return _case(f"scaled product {kind} bf16", half_scaled_product, args, 1, {"c": c}, 1e-4,
                 KIND=kind, TILE=size, K=k, PER=per)  # fmt: skip


def _scaled(numbers: np.random.Generator, kind: str, per: int) -> Case:
    """A product with a scale for 32 numbers each: 2 ** (code - 127)."""
    size, k = 128, 128
    bits = 4 if per == 2 else 8
    codes_a, codes_b = (numbers.integers(0, 16 if per == 2 else 0x58, shape) for shape in ((size, k), (k, size)))
    scales = numbers.integers(125, 130, (2, size, k // 32), dtype=np.uint8)
    factor = 2.0 ** (scales.astype(int) - 127).repeat(32, axis=2)
    c = (decoded(codes_a, kind) * factor[0]) @ (decoded(codes_b, kind) * factor[1].T)
    a, b = codes_a.astype(np.uint8), codes_b.astype(np.uint8)
    if bits == 4:
        a, b = a[:, ::2] | a[:, 1::2] << 4, b[::2] | b[1::2] << 4
    args = (a, scales[0], b, scales[1], np.zeros((size, size), np.float32))
    return _case(f"scaled product {kind}", scaled_product, args, 1, {"c": c}, 1e-4, KIND=kind, TILE=size, K=k, PER=per)


def _case(name, kernel, args, grid, expected, rtol=0.0, **constexprs) -> Case:
    return Case("Triton", name, lambda board: prepare(kernel, args, constexprs, (grid,), board), expected, rtol)
