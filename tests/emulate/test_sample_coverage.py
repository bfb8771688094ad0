"""Loops that may run longer in blocks that were not executed, and loops that only wait."""

import numpy as np
import pytest

from warpbound.emulate.sample_coverage import block_numbers, uneven_loops
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

CODE = """
extern "C" __global__ void waiting(float* x) {
    __shared__ unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier), done = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(at) : "memory");
    __syncthreads();
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at) : "memory");
    if (blockIdx.x % 7 == 3) x[threadIdx.x] = 1.0f;
}
extern "C" __global__ void working(float* x) {
    float sum = 0;
    for (int i = 0; i < blockIdx.x % 7; i++) sum += sqrtf(x[i]);
    x[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(("kernel", "uneven"), [("waiting", False), ("working", True)])
def test_a_loop_that_only_waits_is_no_work(kernel: str, uneven: bool) -> None:  # noqa: FBT001
    """Neither loop was entered by a warp of the sample."""
    program = compile_program(CODE, "sm_90", kernel)
    assert program.flow.loops
    executed = np.zeros((1, len(program.instructions)), np.int64)
    assert bool(uneven_loops(program, executed, block_numbers(program))) is uneven
