"""Pointers to parameters in the constant bank: loads through them see the values of the launch."""

import numpy as np
import pytest

import warpbound
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.source_files import programs

pytestmark = pytest.mark.cuda
TEXT = """
struct Values { float each[32]; };
__global__ void picked(float *out, const __grid_constant__ Values a, const __grid_constant__ Values b) {
    const float *of_a = a.each, *of_b = b.each;
    asm volatile("" : "+l"(of_a), "+l"(of_b));
    out[threadIdx.x] = of_a[threadIdx.x ^ 5] - of_b[31 - threadIdx.x];
}
"""


@pytest.mark.parametrize("board, arch", [("t4", 75), ("a100-sxm-80gb", 80), ("h200", 90), ("b200", 100)])
def test_the_parameters_are_where_their_address_says(board: str, arch: int) -> None:
    (program,) = programs(compile_cuda(TEXT, "picked.cu", arch, Options()).cubin, warpbound.gpu(board), None, Options())
    a, b = np.random.default_rng(3).random((2, 32), dtype=np.float32)
    launch = warpbound.launch(grid=1, block=32, args={0: np.zeros(32, np.float32), 1: a.tobytes(), 2: b.tobytes()})
    (out,) = warpbound.run(program, launch).values()
    lanes = np.arange(32)
    assert np.array_equal(out, a[lanes ^ 5] - b[31 - lanes])
