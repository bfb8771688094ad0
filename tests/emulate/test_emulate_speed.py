"""How fast: warp instructions per second of convergent arithmetic, and time per step at 64 warps.

pytest tests/emulate/test_emulate_speed.py --benchmark-enable --benchmark-only
"""

import pytest

from warpbound.emulate.emulator import Chunk, make_ready
from warpbound.kernel_launch import launch
from warpbound.program.reading import compile_program

pytestmark = pytest.mark.cuda

SOURCE = """
#define LOOP(body) \\
    _Pragma("unroll 1") for (int i = 0; i < n; ++i) { \\
        _Pragma("unroll 8") for (int k = 0; k < 8; ++k) { body } }
extern "C" __global__ void integers(unsigned* o, int n) {
    unsigned a = threadIdx.x, b = blockIdx.x, c = 7;
    LOOP(a = a * b + c; b ^= a; c += b & 255;)
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}
extern "C" __global__ void floats(float* o, int n) {
    float a = threadIdx.x, b = blockIdx.x, c = 7;
    LOOP(a = __fadd_rn(a, b); b = __fmul_rn(b, 0.9998f); c = __fadd_rn(c, b);)
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}
extern "C" __global__ void fused(float* o, int n) {
    float a = threadIdx.x, b = blockIdx.x, c = 7;
    LOOP(a = fmaf(a, 0.37f, c); b = fmaf(b, 0.41f, a); c = fmaf(c, 0.71f, 1.0f);)
    o[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}
"""


def chunk_of(kernel, lanes):
    program = compile_program(SOURCE, "sm_80", kernel)
    kind = "u32" if kernel == "integers" else "f32"
    asked = launch(grid=lanes // 256, block=256, args={"o": f"{kind}[{lanes}]", "n": 50})
    ready = make_ready(program, asked)
    return Chunk(ready, range(lanes // 256))


@pytest.mark.parametrize("lanes", [2048, 16384])
@pytest.mark.parametrize("kernel", ["integers", "floats", "fused"])
def test_convergent_arithmetic(benchmark, kernel, lanes):
    chunks = []

    def setup():
        chunks.append(chunk_of(kernel, lanes))
        return (), {}

    benchmark.pedantic(lambda: chunks[-1].proceed(10**7), setup=setup, rounds=15)
    steps, warps = chunks[-1].steps, lanes // 32
    assert steps > 1000
    if benchmark.stats:
        seconds = benchmark.stats.stats.min
        benchmark.extra_info["us_per_step"] = round(seconds / steps * 1e6, 2)
        benchmark.extra_info["million_warp_instructions_per_s"] = round(steps * warps / seconds / 1e6, 1)
