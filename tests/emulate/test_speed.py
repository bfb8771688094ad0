"""How fast: warp instructions per second, plain and with everything recorded, and time per step at 64 warps.

pytest tests/emulate/test_speed.py --benchmark-enable --benchmark-only
"""

import pytest

from support.paths import EXAMPLES
from warpbound.emulate.emulator import Chunk, make_ready
from warpbound.emulate.trace_recorder import Recording
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

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
extern "C" __global__ void traffic(const float* in, float* o, int n) {
    __shared__ float row[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, size = gridDim.x * blockDim.x;
    float a = 0;
    _Pragma("unroll 1") for (int k = 0; k < n; ++k) {
        if (i + k < size) a += in[i + k];
        row[threadIdx.x] = a;
        __syncthreads();
        float b = row[threadIdx.x ^ 1];
        if (b > a) a = b * 0.5f;
        __syncthreads();
        if (k & 1) o[i] = a;
    }
}
"""
EXAMPLES_AT_64 = ("saxpy", "matmul_tiled", "reduction", "histogram", "softmax", "black_scholes", "scan", "convolution")


def ready(kernel, lanes):
    program = compile_program(SOURCE, "sm_80", kernel)
    args = {"o": f"{'u32' if kernel == 'integers' else 'f32'}[{lanes}]", "n": 50}
    if kernel == "traffic":
        args["in"] = f"f32[{lanes}]:ones"
    return make_ready(program, launch(grid=lanes // 256, block=256, args=args))


def measure(benchmark, kernel, blocks, stepper):
    """Run a chunk of blocks several times; the best time per step and rate."""
    chunks, steps = [], []

    def setup():
        chunks[:] = [Chunk(kernel, blocks)]
        steps[:] = [stepper(chunks[0])]
        return (), {}

    benchmark.pedantic(lambda: chunks[0].proceed(10**7, steps[0]), setup=setup, rounds=15)
    if benchmark.stats:
        seconds, warps = benchmark.stats.stats.min, len(blocks) * kernel.lanes_per_block // 32
        benchmark.extra_info["us_per_step"] = round(seconds / chunks[0].steps * 1e6, 2)
        benchmark.extra_info["million_warp_instructions_per_s"] = round(chunks[0].steps * warps / seconds / 1e6, 1)
    return chunks[0].steps


def recorded(kernel, blocks):
    return lambda chunk: Recording(kernel, blocks * kernel.lanes_per_block // 32).stepper(chunk)


@pytest.mark.parametrize("lanes", [2048, 16384])
@pytest.mark.parametrize("name", ["integers", "floats", "fused"])
def test_convergent_arithmetic(benchmark, name, lanes):
    kernel = ready(name, lanes)
    assert measure(benchmark, kernel, range(lanes // 256), lambda chunk: None) > 1000


@pytest.mark.parametrize("lanes", [2048, 16384])
def test_predicates_and_traffic_recorded(benchmark, lanes):
    kernel = ready("traffic", lanes)
    assert measure(benchmark, kernel, range(lanes // 256), recorded(kernel, lanes // 256)) > 500


@pytest.mark.parametrize("name", EXAMPLES_AT_64)
def test_steps_of_64_warps_recorded(benchmark, name):
    asked = launch(EXAMPLES / f"{name}.toml")
    program = compile_program(EXAMPLES / f"{name}.cu", "sm_90", asked.kernel, asked.defines, asked.options)
    kernel = make_ready(program, asked)
    blocks = range(max(1, 2048 // kernel.lanes_per_block))
    assert measure(benchmark, kernel, blocks, recorded(kernel, len(blocks))) > 10
