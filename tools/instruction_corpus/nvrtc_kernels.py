"""Kernels in CUDA C++, many with an instruction of PTX that no language above them offers."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from instruction_corpus import nvrtc_pipelines, nvrtc_products
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
ALL = (80, 86, 89, 90, 100, 120)


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
    yield from nvrtc_products.cases()
    yield from nvrtc_pipelines.cases()


def _case(
    name: str, body: str, parameters: str, args: Mapping[str, Any], expected: Mapping[str, Any], rtol: float = 0.0,
    architectures: tuple[int, ...] = ALL,
) -> Case:  # fmt: skip
    source = FRAGMENT.format(name=name, parameters=parameters, body=body)
    def prepare(board: Gpu) -> Prepared:
        return Prepared(compile_program(source, board, compiler="nvrtc"), launch(grid=1, block=256, args=args))

    return Case("NVRTC", name, prepare, dict(expected), rtol, architectures)
