"""Launches of any size, kernels that take long, and accesses outside arrays that are let through."""

import numpy as np
import pytest

from warpbound import emulate
from warpbound.emulate.limits import Limits
from warpbound.kernel_launch import launch, parse_argument
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

SOURCE = """
extern "C" __global__ void add(const float* a, const float* b, float* c, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void above_half(const float* a, float* c, long long n) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] > 0.5f) c[i] = 1.0f;
}
extern "C" __global__ void shifted(const float* a, float* b, int* seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = a[i + 1];
    b[i + 1] = next;
    if (next == 0.0f) seen[i] = 1;
}
extern "C" __global__ void long_loop(float* x, int n) {
    float s = x[threadIdx.x];
    for (int i = 0; i < n; ++i) { s = s * 1.0001f + 1.0f; if (s > 1e30f) s = 0.0f; }
    x[threadIdx.x] = s;
}
extern "C" __global__ void waits(volatile int* x) { while (x[0] == 0) {} x[1] = 5; }
"""
N = 1 << 34


def traced(kernel, grid, block, args, blocks, **options):
    return emulate.trace(
        compile_program(SOURCE, "sm_90", kernel=kernel),
        launch(grid=grid, block=block, args=[parse_argument(word) for word in args]),
        blocks,
        **options,
    )


def test_arrays_larger_than_any_memory():
    words = [f"a=f32[{N}]:randn", f"b=f32[{N}]:rand", f"c=f32[{N}]", f"n={N}"]
    trace = traced("add", N // 256, 256, words, [0, N // 256 - 1])
    assert trace.stopped == ""
    starts = {name: start for name, start, _ in trace.arrays}
    last = trace.accesses["global"].addresses.max(axis=0)[-1]
    assert last - np.uint64(starts["c"]) == 4 * (N - 1)


def test_contents_at_the_end_of_a_large_array_are_those_of_the_whole():
    n = 1 << 33
    trace = traced("above_half", n // 256, 256, [f"a=f32[{n}]:rand", f"c=f32[{n}]", f"n={n}"], [n // 256 - 1])
    bits = np.random.PCG64([0, 0])
    bits.advance((n - 256) // 2)  # one output for two numbers
    expected = np.random.Generator(bits).random(256, np.float32) > 0.5
    accesses = trace.accesses["global"]
    stores = [row for row in range(len(accesses.warp)) if not accesses.active[row].all()]
    assert np.concatenate([accesses.active[row] for row in stores]).tolist() == expected.tolist()


def test_accesses_outside_arrays_are_refused_by_name_or_let_through():
    words = ["a=f32[256]:ones", "b=f32[256]", "seen=i32[256]"]
    refused = traced("shifted", 2, 128, words, [0, 1])
    assert "shifted, line 12" in refused.stopped
    assert "0 bytes past the end of 'a' (1024 bytes)" in refused.stopped
    passed = traced("shifted", 2, 128, words, [0, 1], limits=Limits(out_of_bounds="pass"))
    assert passed.stopped == ""
    (note,) = (note for note in passed.notes if "let through" in note)
    assert note.startswith("2 accesses of single lanes outside their arrays (line 12, line 13)")
    seen = np.flatnonzero(passed.threads.sum(axis=0) == 1)  # only the lane that read 0 stores to `seen`
    assert len(seen) > 0


def test_a_null_pointer_is_never_let_through():
    trace = traced("shifted", 1, 32, ["a=0", "b=f32[256]", "seen=i32[256]"], [0], limits=Limits(out_of_bounds="pass"))
    assert "is a null pointer, or nearly" in trace.stopped


def test_what_is_long_is_not_said_to_wait():
    long = traced("long_loop", 1, 32, ["x=f32[32]:ones", "n=100000000"], [0], limits=Limits(patience_s=0.2))
    assert "still running after 0.2 s: the blocks are long, or a loop has no end." in long.stopped
    assert "--patience" in long.stopped
    waiting = traced("waits", 1, 32, ["x=i32[2]:zeros"], [0], step_limit=3000)
    assert "still waiting after 3000 steps for what no executed block writes." in waiting.stopped
