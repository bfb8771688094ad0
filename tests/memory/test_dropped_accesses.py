"""Accesses beyond those that are kept count as others of their instruction, at both ends of a copy."""

import numpy as np
import pytest

from warpbound import emulate
from warpbound.emulate import trace_recorder
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory.hierarchy import facts
from warpbound.memory.traffic import How, traffic
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

COPIES = """#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4* x, float* y, int n) {
    __shared__ float4 kept[64]; float v = 0;
    for (int i = 0; i < n; i++) {
        __pipeline_memcpy_async(kept + threadIdx.x, x + (i * i & 255) * 64 + threadIdx.x, 16);
        __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
        v += kept[63 - threadIdx.x].x; __syncthreads();
    }
    y[blockIdx.x * 64 + threadIdx.x] = v;
}"""


def test_copies_of_which_few_are_kept_count_as_all(monkeypatch):
    program = compile_program(COPIES, "sm_90")
    asked = launch(grid=4, block=64, args={"x": np.zeros((1 << 14, 4), np.float32), "y": "f32[256]", "n": 200})
    counts = []
    for most in (2_000_000, 400):
        monkeypatch.setattr(trace_recorder, "MOST_ACCESSES", most)
        trace = emulate.trace(program, asked, [0, 3])
        counts.append(traffic(program, trace, facts(gpu("h200"), 1, 8192), How()))
    assert trace.dropped > 400
    whole, few = counts
    assert few.global_load_requests == pytest.approx(whole.global_load_requests, rel=0.01)
    assert few.l1_sectors_load == pytest.approx(whole.l1_sectors_load, rel=0.01)
    assert few.shared_wavefronts_store == pytest.approx(whole.shared_wavefronts_store, rel=0.01)
