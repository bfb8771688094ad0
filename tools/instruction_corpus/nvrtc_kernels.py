"""Kernels in CUDA C++, many with an instruction of PTX that no language above them offers."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from instruction_corpus.cases import Case
from warpbound.kernel_launch import launch
from warpbound.machine import Gpu
from warpbound.program import compile_program
from warpbound.python_kernels.launches import Prepared

LANE = "int lane = threadIdx.x;"
FRAGMENT = """
extern "C" __global__ void {name}({parameters}) {{
    int lane = threadIdx.x;
    {body}
}}
"""
ALL, FROM_89, FROM_90, WORKSTATION = (80, 86, 89, 90, 100, 120), (89, 90, 100, 120), (90, 100, 120), (120,)


def sparse_half() -> Case:
    """D = A B with two of four numbers of A kept."""
    numbers = np.random.default_rng(7)
    kept = numbers.standard_normal((16, 16)).astype(np.float16)
    pairs = np.array([sorted(numbers.choice(4, 2, replace=False)) for _ in range(16 * 8)]).reshape(16, 8, 2)
    dense = np.zeros((16, 32), np.float32)
    for row in range(16):
        for group in range(8):
            for place in range(2):
                dense[row, 4 * group + pairs[row, group, place]] = kept[row, 2 * group + place]
    b = numbers.standard_normal((32, 8)).astype(np.float16)
    body = """
    unsigned ra[4], rb[4]; float d[4] = {0, 0, 0, 0};
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) ra[i] = *(const unsigned*)(a + (g + 8 * (i % 2)) * 16 + 2 * t + 8 * (i / 2));
    for (int i = 0; i < 4; i++) {
        int k = 8 * i + 2 * t;
        rb[i] = b[k * 8 + g] | (unsigned)b[(k + 1) * 8 + g] << 16;
    }
    unsigned e = meta[lane];
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, 0x0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rb[2]), "r"(rb[3]), "r"(e));
    for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
"""
    codes = pairs[..., 0] | pairs[..., 1] << 2  # four bits for each group of four
    meta = np.zeros(32, np.uint32)
    for lane in range(32):  # lanes 4g and 4g + 1 hold the metadata: the first of row g, the second of row g + 8
        row = lane // 4 + 8 * (lane % 2)
        meta[lane] = sum(int(code) << 4 * place for place, code in enumerate(codes[row]))
    parameters = "const unsigned short *a, const unsigned short *b, const unsigned *meta, float *out"
    args = {"a": kept.view(np.uint16), "b": b.view(np.uint16), "meta": meta, "out": np.zeros((16, 8), np.float32)}
    return _case("sparse_half", body, parameters, args, {"out": dense @ b.astype(np.float32)}, 1e-5, ALL)


def scaled_fp8() -> Case:
    """mma with a scale for 32 neighbours, on workstation boards."""
    return _scaled("scaled_fp8", "m16n8k32", "mxf8f6f4", "1X", "e4m3", 32)


def scaled_fp4() -> Case:
    """The same with 4-bit numbers."""
    return _scaled("scaled_fp4", "m16n8k64", "mxf4", "2X", "e2m1", 64)


def _scaled(name: str, shape: str, kind: str, vector: str, element: str, depth: int) -> Case:
    body = f"""
    unsigned ra[4], rb[2]; float d[4] = {{0, 0, 0, 0}};
    int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) ra[i] = a[(g + 8 * (i % 2)) * 8 + t + 4 * (i / 2)];
    for (int i = 0; i < 2; i++) rb[i] = b[g * 8 + t + 4 * i];
    unsigned sa = scale_a[g + 8 * (t % 2)], sb = scale_b[g];
    asm("mma.sync.aligned.{shape}.row.col."
        "kind::{kind}.block_scale.scale_vec::{vector}.f32.{element}.{element}.f32.ue8m0 "
        "{{%0,%1,%2,%3}}, {{%4,%5,%6,%7}}, {{%8,%9}}, {{%0,%1,%2,%3}}, {{%10}}, {{0, 0}}, {{%11}}, {{0, 0}};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(sa), "r"(sb));
    for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
"""
    numbers = np.random.default_rng(8)
    codes = [numbers.integers(0, 0x58 if depth == 32 else 16, shape_) for shape_ in ((16, depth), (8, depth))]
    scales = [numbers.integers(125, 130, (n, depth // 32)) for n in (16, 8)]
    exact = [_decoded(c, element) * 2.0 ** (s - 127.0).repeat(32, axis=1) for c, s in zip(codes, scales, strict=True)]
    words = [_packed(each, 8 if depth == 32 else 4) for each in codes]
    bytes_ = [sum(each[:, i].astype(np.uint32) << np.uint32(8 * i) for i in range(depth // 32)) for each in scales]
    parameters = "const unsigned *a, const unsigned *b, const unsigned *scale_a, const unsigned *scale_b, float *out"
    args = {
        "a": words[0],
        "b": words[1],
        "scale_a": bytes_[0],
        "scale_b": bytes_[1],
        "out": np.zeros((16, 8), np.float32),
    }
    return _case(name, body, parameters, args, {"out": exact[0] @ exact[1].T}, 1e-5, WORKSTATION)


def _packed(codes: np.ndarray, bits: int) -> np.ndarray:
    per = 32 // bits
    parts = codes.reshape(len(codes), -1, per).astype(np.uint32)
    return np.bitwise_or.reduce(parts << (bits * np.arange(per)).astype(np.uint32), axis=2).astype(np.uint32)


def _decoded(codes: np.ndarray, element: str) -> np.ndarray:
    exponent_bits, fraction_bits, bias = {"e4m3": (4, 3, 7), "e2m1": (2, 1, 1)}[element]
    fraction = (codes & (1 << fraction_bits) - 1) / 2.0**fraction_bits
    exponent = codes >> fraction_bits & (1 << exponent_bits) - 1
    sign = np.where(codes >> exponent_bits + fraction_bits & 1, -1.0, 1.0)
    return sign * np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(6)
    x, y = numbers.uniform(0.5, 3, (2, 256)).astype(np.float32)
    pair, zeros = "const float *x, const float *y, float *out", np.zeros(256, np.float32)
    of = {"x": x, "y": y, "out": zeros}
    yield _case("axpy", "out[lane] = 2.5f * x[lane] + y[lane];", pair, of, {"out": np.float32(2.5) * x + y}, 1e-6)
    yield _case(
        "fast", "out[lane] = __expf(x[lane]) * __fdividef(1.f, y[lane]);", pair, of, {"out": np.exp(x) / y}, 1e-5
    )
    i, j = numbers.integers(-99, 99, (2, 256), dtype=np.int32)
    whole, ints = "const int *x, const int *y, int *out", {"x": i, "y": j, "out": np.zeros(256, np.int32)}
    dots = (i.view(np.int8).reshape(-1, 4).astype(np.int32) * j.view(np.int8).reshape(-1, 4)).sum(1)
    yield _case("dp4a", "out[lane] = __dp4a(x[lane], y[lane], 0);", whole, ints, {"out": dots})
    sums = {"out": np.repeat(i.reshape(8, 32).sum(1), 32)}
    yield _case("redux", "out[lane] = __reduce_add_sync(~0u, x[lane]);", whole, ints, sums)
    tops = {"out": np.repeat(i.reshape(8, 32).max(1), 32)}
    yield _case("redux_max", "out[lane] = __reduce_max_sync(~0u, x[lane]);", whole, ints, tops)
    floats = {"out": np.repeat(x.reshape(8, 32).max(1), 32)}
    body = 'asm("redux.sync.max.f32 %0, %1, 0xffffffff;" : "=f"(out[lane]) : "f"(x[lane]));'
    yield _case("redux_float", body, pair, of, floats, 0.0, (100,))
    yield _case("byte_sums", "out[lane] = __vadd4(x[lane], y[lane]);", whole, ints,
                {"out": (i.view(np.int8) + j.view(np.int8)).view(np.int32)})  # fmt: skip
    yield sparse_half()
    yield scaled_fp8()
    yield scaled_fp4()


def _case(
    name: str, body: str, parameters: str, args: Mapping[str, Any], expected: Mapping[str, Any], rtol: float = 0.0,
    architectures: tuple[int, ...] = ALL,
) -> Case:  # fmt: skip
    source = FRAGMENT.format(name=name, parameters=parameters, body=body)
    block = 32 if 'asm("mma' in body else 256

    def prepare(board: Gpu) -> Prepared:
        return Prepared(compile_program(source, board), launch(grid=1, block=block, args=args))

    return Case("NVRTC", name, prepare, dict(expected), rtol, architectures)
