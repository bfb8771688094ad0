"""What goes wrong is said in one sentence, with kernel, line, block and thread; locks and scans end."""

from dataclasses import replace

import numpy as np
import pytest

from warpbound import emulate
from warpbound.emulate.emulator import CHUNK_B, Chunk, make_ready
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import launch
from warpbound.program.source_files import compile_program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

SOURCE = """
extern "C" __global__ void past_the_end(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i + n] = 1.0f;
}
extern "C" __global__ void misaligned(char* x) { *(int*)(x + threadIdx.x) = 1; }
extern "C" __global__ void beyond_shared(float* x) {
    extern __shared__ float s[];
    s[threadIdx.x * 1000] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void forever(volatile int* x) { while (*x == 0) {} x[1] = 5; }
extern "C" __global__ void never_met(int* x) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
    x[threadIdx.x] = 1;
}
extern "C" __global__ void deep(int* x) {
    volatile int box[4000];
    box[x[0]] = 1;
    x[1] = box[x[0] + 1];
}
__device__ __noinline__ int descend(volatile int* x, int n) { return n ? descend(x, n - 1) + x[n & 1] : 1; }
extern "C" __global__ void endless_calls(volatile int* x) { x[1] = descend(x, x[0]); }
extern "C" __global__ void sums(const float* known, const float* unknown, float* out) {
    out[threadIdx.x] = known[threadIdx.x] + unknown[threadIdx.x];
}
extern "C" __global__ void grid_wide(volatile int* flags, int* out, int blocks) {
    flags[blockIdx.x] = 1;
    int seen = 0;
    for (int b = 0; b < blocks; ++b) while (flags[b] == 0) {}
    for (int b = 0; b < blocks; ++b) seen += flags[b];
    out[blockIdx.x] = seen;
}
extern "C" __global__ void two_waits(volatile int* x) {
    if (threadIdx.x & 1) { while (x[0] == 0) {} } else { while (x[1] == 0) {} }
    x[2] = 1;
}
extern "C" __global__ void itself(int* x) {
    if (threadIdx.x == 3) while (true) {}
    x[0] = 1;
}
extern "C" __global__ void patient(volatile int* x) {
    int n = 0;
    while (x[0] == 0 && n < 20000) n++;
    x[1] = n;
}
extern "C" __global__ void kept_lock(int* x) {
    if (threadIdx.x % 32 == 0) { while (atomicCAS(x, 0, 1) != 0) {} x[1]++; }
}
extern "C" __global__ void kept_exchange(int* x) { while (atomicExch(x, 1) != 0) __nanosleep(100); x[1]++; }
extern "C" __global__ void kept_in_shared(int* x) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    while (atomicCAS(&lock, 0, 1) != 0) {}
    x[1]++;
}
extern "C" __global__ void never_five(int* x) { while (atomicAdd(x, 0) != 5) {} x[1]++; }
extern "C" __global__ void one_block_at_a_time(int* x) {
    __shared__ int taken;
    do {
        __syncthreads();
        if (threadIdx.x == 0) taken = atomicCAS(x, 0, 1);
        __syncthreads();
    } while (taken);
    x[1 + threadIdx.x] = *(volatile int*)(x + 1 + threadIdx.x) * 3 + blockIdx.x % 2;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(x, 0);
}
extern "C" __global__ void last_to_first(int* x) {
    int mine = gridDim.x - 1 - blockIdx.x;
    while (atomicAdd(x, 0) != mine) {}
    x[1] = x[1] * 3 + mine;
    __threadfence();
    atomicAdd(x, 1);
}
extern "C" __global__ void gives_up(int* x) {
    int n = 0;
    while (atomicCAS(x, 3, 4) != 3 && n < 5000) n++;
    x[1] = n;
}
extern "C" __global__ void borrowed(float* out) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1.0f;
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void watch(volatile int* flag, int* out) {
    if (threadIdx.x == 63) { *flag = 7; }
    else { while (*flag == 0) {} }
    out[threadIdx.x] = *flag;
}
"""


def ask(kernel, grid, block, args, arch=80, smem=0, **options):
    program = compile_program(SOURCE, f"sm_{arch}", kernel)
    return emulate.run(program, launch(grid=grid, block=block, args=args, smem=smem), **options)


def refusal(*asked, **options):
    with pytest.raises(InputError) as caught:
        ask(*asked, **options)
    return str(caught.value)


def test_access_behind_an_array_names_everything():
    text = refusal("past_the_end", 2, 64, {"x": np.zeros(100, np.float32), "n": 20})
    for part in (
        "past_the_end",
        "line 4",
        "block (1, 0, 0)",
        "thread (16, 0, 0)",
        "0 bytes past the end of 'x' (400 bytes)",
    ):
        assert part in text


def test_access_before_an_array():
    assert "4 bytes before the start of 'x'" in refusal(
        "past_the_end", 1, 32, {"x": np.zeros(100, np.float32), "n": -1}
    )


def test_misaligned_access():
    text = refusal("misaligned", 1, 32, {"x": np.zeros(64, np.int8)})
    assert "thread (1, 0, 0)" in text
    assert "is not a multiple of 4" in text


def test_access_beyond_shared_memory():
    text = refusal("beyond_shared", 1, 32, {"x": np.zeros(32, np.float32)}, smem=4096)
    assert "thread (2, 0, 0)" in text
    assert "shared address" in text


@pytest.mark.parametrize("arch", [75, 80, 90, 120])
def test_a_loop_without_end_stops_at_the_limit(arch):
    text = refusal("forever", 1, 32, {"x": np.zeros(2, np.int32)}, arch=arch, step_limit=3000)
    assert "still waiting after 3000 steps for what no executed block writes" in text
    assert "line 13" in text


@pytest.mark.parametrize("arch", [75, 90])
@pytest.mark.parametrize("kernel, grid", [("two_waits", 1), ("two_waits", 2000), ("itself", 1)])
def test_a_loop_that_nothing_can_end_is_known_at_once(kernel, grid, arch):
    text = refusal(kernel, grid, 64, {"x": np.zeros(4, np.int32)}, arch=arch)
    assert f"{kernel}, line" in text
    assert "a loop without end: nothing that it depends on can change any more." in text


@pytest.mark.parametrize("arch", [75, 90, 120])
@pytest.mark.parametrize("kernel", ["kept_lock", "kept_exchange", "kept_in_shared", "never_five"])
def test_a_lock_that_is_never_released_is_known_at_once(kernel, arch):
    text = refusal(kernel, 2, 64, {"x": np.zeros(2, np.int32)}, arch=arch, step_limit=200_000)
    assert f"{kernel}, line" in text
    assert "a loop without end: nothing that it depends on can change any more." in text


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_blocks_that_wait_at_barriers_while_they_poll_let_the_owner_of_the_lock_go_on(arch):
    found = ask("one_block_at_a_time", 20, 96, {"x": np.zeros(97, np.int32)}, arch=arch, step_limit=20_000)["x"]
    assert found[0] == 0
    assert np.all(found[1:] == found[1])
    assert 0 < found[1] <= (3**20 - 1) // 2


def test_threads_that_poll_by_atomics_and_go_on():
    turns = 0
    for block in range(700):
        turns = (turns * 3 + block) % 2**32
    found = ask("last_to_first", 700, 1, {"x": np.zeros(2, np.int32)})["x"]
    assert found.view(np.uint32).tolist() == [700, turns]
    assert ask("gives_up", 2, 32, {"x": np.zeros(2, np.int32)})["x"].tolist() == [0, 5000]


@pytest.mark.parametrize(
    "arch, smem, fits", [(75, 64, True), (75, 65, False), (80, 163, True), (80, 164, False), (86, 100, False)]
)
def test_more_shared_memory_than_the_architecture_has(arch, smem, fits):
    asked = "borrowed", 1, 32, {"out": np.zeros(32, np.float32)}, arch, smem * 1024
    if fits:
        assert ask(*asked)["out"].all()
    else:
        assert f"{smem * 1024} bytes of shared memory does not fit on an SM of sm_{arch}" in refusal(*asked)


def test_more_registers_or_threads_than_a_block_can_have():
    many = SOURCE + """extern "C" __global__ void __launch_bounds__(128) few(float* x) { x[threadIdx.x] = 1.0f; }"""
    program = compile_program(many, "sm_80", "few")
    asked = launch(grid=1, block=256, args={"x": np.zeros(256, np.float32)})
    with pytest.raises(InputError, match="compiled for at most 128 threads per block, not 256"):
        emulate.run(program, asked)
    with pytest.raises(InputError, match="1024 threads with 80 registers per thread does not fit"):
        emulate.run(replace(program, max_threads=None, registers=80), replace(asked, block=(1024, 1, 1)))


def test_a_loop_that_gives_up_ends():
    assert ask("patient", 2, 32, {"x": np.zeros(2, np.int32)})["x"].tolist() == [0, 20000]


def test_a_barrier_that_is_never_full():
    text = refusal("never_met", 1, 64, {"x": np.zeros(64, np.int32)})
    assert "waits for ever" in text
    assert "block (0, 0, 0), thread (0, 0, 0)" in text


@pytest.mark.parametrize("arch", [75, 80, 90, 120])
def test_a_call_stack_that_overflows(arch):
    text = refusal("endless_calls", 1, 32, {"x": np.array([1 << 20, 0], np.int32)}, arch=arch)
    for part in ("endless_calls", "line 23", "block (0, 0, 0), thread (0, 0, 0)", "the call stack is too deep"):
        assert part in text
    assert ask("endless_calls", 1, 32, {"x": np.array([8, 2], np.int32)}, arch=arch)["x"][0] == 8


def test_memory_of_a_chunk_is_bounded():
    kernel = make_ready(
        compile_program(SOURCE, "sm_80", "deep"), launch(grid=4096, block=32, args={"x": np.array([5, 9], np.int32)})
    )
    assert 1 < kernel.blocks_per_chunk() * 32 * 16000 < CHUNK_B
    chunk = Chunk(kernel, range(kernel.blocks_per_chunk()))
    assert chunk.x.windows["local"].bytes.nbytes < CHUNK_B


def test_large_local_arrays():
    found = ask("deep", 1, 32, {"x": np.array([5, 9], np.int32)})
    assert found["x"][1] == 0


def test_unknown_contents_are_listed():
    program = compile_program(SOURCE, "sm_80", "sums")
    asked = launch(grid=1, block=32, args={"known": np.ones(32, np.float32), "unknown": "f32[32]", "out": "f32[32]"})
    assert "'unknown'" in emulate.trace(program, asked, [0]).unknown[0]


@pytest.mark.parametrize("arch", [80, 120])
def test_blocks_that_wait_for_later_ones(arch):
    found = ask(
        "grid_wide", 40, 1024, {"flags": np.zeros(40, np.int32), "out": np.zeros(40, np.int32), "blocks": 40}, arch=arch
    )
    assert (found["out"] == 40).all()


@pytest.mark.parametrize("arch", [75, 80, 90, 100, 120])
def test_lanes_of_one_warp_that_wait_for_each_other(arch):
    found = ask("watch", 1, 64, {"flag": np.zeros(1, np.int32), "out": np.zeros(64, np.int32)}, arch=arch)
    assert (found["out"] == 7).all()


def test_inputs_stay_as_they_are_and_runs_repeat():
    x = np.zeros(100, np.float32)
    first, second = (ask("past_the_end", 1, 64, {"x": x, "n": 30}) for _ in range(2))
    assert not x.any()
    assert np.array_equal(first["x"], second["x"])


def test_wrong_arguments():
    assert "no parameter 'y'" in refusal("past_the_end", 1, 32, {"y": 3, "n": 1})
    program = compile_program(SOURCE, "sm_80", "sums")
    asked = launch(grid=1, block=32, args={"known": "f32[32]", "unknown": "f32[32]", "out": "f32[32]"})
    with pytest.raises(CommandError, match="among 0 to 0"):
        emulate.trace(program, asked, [3])


def test_arrays_of_another_type_than_the_kernel_declares():
    said = refusal("past_the_end", 1, 32, {"x": np.zeros(32), "n": 1})
    assert "'x' is an array of f64" in said


def test_an_instruction_that_is_not_executed_is_named():
    source = 'extern "C" __global__ void t(cudaTextureObject_t t, float* o) { o[0] = tex2D<float>(t, o[1], o[2]); }'
    program = compile_program(source, "sm_80", "t")
    with pytest.raises(InputError, match=r"does not execute TEX.*line 1.*analysed statically"):
        emulate.run(program, launch(grid=1, block=1, args={"t": 1, "o": np.zeros(3, np.float32)}))


CALLING = """
#include <assert.h>
extern "C" __global__ void asserting(const int* in) { assert(in[threadIdx.x] < 20); }
"""


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_a_failed_assertion_ends_the_kernel(arch):
    program = compile_program(CALLING, f"sm_{arch}", "asserting")
    with pytest.raises(InputError, match=r"line 3 .*thread \(20, 0, 0\): an assertion"):
        emulate.run(program, launch(grid=1, block=32, args={0: np.arange(32, dtype=np.int32)}))
