"""What a kernel reads that nobody wrote is listed, with what was assumed and what depends on it."""

import numpy as np
import pytest

from support.emulator.one_instruction import instruction
from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.emulate.memory_windows import Window
from warpbound.emulate.sample_coverage import block_numbers, warning
from warpbound.emulate.shared_words import SharedWords
from warpbound.emulate.value_dependence import deciding_arrays, dependents_of, draws_work_from_counter
from warpbound.errors import InputError
from warpbound.kernel_launch import launch
from warpbound.program.kernel import Program
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

SOURCE = """
extern "C" __global__ void sums(const float* known, const float* unknown, float* out) {
    out[threadIdx.x] = known[threadIdx.x] + unknown[threadIdx.x];
}
extern "C" __global__ void branches(const int* unknown, int* out) {
    int v = unknown[threadIdx.x];
    if (v > 3)
        out[threadIdx.x] = out[threadIdx.x + 32] * 5;
}
extern "C" __global__ void gathers(const int* unknown, const float* table, float* out) {
    __shared__ int places[32];
    places[threadIdx.x ^ 1] = unknown[threadIdx.x];
    __syncthreads();
    int at = places[threadIdx.x];
    out[threadIdx.x] = table[at];
}
extern "C" __global__ void shared_before(float* out, int n) {
    __shared__ float s[64];
    if (threadIdx.x < n) s[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void local_before(float* out, int n) {
    volatile float box[40];
    for (int i = 0; i < n; ++i) box[i] = i;
    out[threadIdx.x] = box[threadIdx.x];
}
extern "C" __global__ void other_array(const float* x, float* y, int far) {
    y[threadIdx.x] = x[threadIdx.x + far];
}
extern "C" __global__ void handed_on(const double* unknown, double* passed, const int* table, int* out) {
    passed[threadIdx.x] = unknown[threadIdx.x] * 2;
    __syncthreads();
    int half = ((int*)passed)[2 * (threadIdx.x ^ 1) + 1];
    if (half > 3)
        out[threadIdx.x] = 1;
    else
        out[threadIdx.x + 1] = table[half & 7];
}
extern "C" __global__ void added_to(const int* unknown, int* sums, int* out) {
    int before = sums[threadIdx.x];
    if (before > 3)
        out[before] = 1;
    sums[threadIdx.x] = before + unknown[threadIdx.x];
}
extern "C" __global__ void shared_wide(float2* out, int n) {
    __shared__ float2 pairs[32];
    if (threadIdx.x < n) ((float*)pairs)[2 * threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = pairs[threadIdx.x];
}
"""


def line(text):
    """Where the text stands in the source."""
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def named(program, trace):
    """The arrays that decide, as an answer names them."""
    return deciding_arrays(program, trace, SharedWords(program, trace.accesses["shared"]).may_reach)


def unknown(kernel, args, arch=80, block=32):
    program = compile_program(SOURCE, f"sm_{arch}", kernel)
    found = emulate.trace(program, launch(grid=1, block=block, args=args), [0])
    assert not found.stopped
    return found.unknown


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_unknown_values_that_decide_nothing(arch):
    args = {"known": np.ones(32, np.float32), "unknown": "f32[32]", "out": "f32[32]"}
    assert unknown("sums", args, arch) == ("unknown contents of 'unknown' read in line 3 and taken as 0",)


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_an_unknown_branch(arch):
    (said,) = unknown("branches", {"unknown": "i32[32]", "out": "i32[64]:ones"}, arch)
    assert said.startswith("unknown contents of 'unknown' read in line 6 and taken as 0; branches in line")
    assert said.endswith("depend on it")


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_an_unknown_address_through_shared_memory(arch):
    (said,) = unknown("gathers", {"unknown": "i32[32]", "table": "f32[9]:ones", "out": "f32[32]"}, arch)
    assert said == "unknown contents of 'unknown' read in line 12 and taken as 0; addresses in line 15 depend on it"


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_unknown_values_that_are_stored_and_loaded_again(arch):
    args = {"unknown": "f64[32]", "passed": "f64[32]:zeros", "table": "i32[32]:zeros", "out": "i32[64]:zeros"}
    (said,) = unknown("handed_on", args, arch)
    start, _, end = said.partition("; ")
    assert start == f"unknown contents of 'unknown' read in line {line('passed[threadIdx.x] =')} and taken as 0"
    assert end.startswith("branches in line")
    assert "and addresses in line" in end
    assert str(line("table[half & 7]")) in end


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_what_was_loaded_before_an_unknown_value_was_stored_there_is_known(arch):
    args = {"unknown": "i32[32]", "sums": "i32[32]:ones", "out": "i32[32]:zeros"}
    read = line("before + unknown")
    assert unknown("added_to", args, arch) == (f"unknown contents of 'unknown' read in line {read} and taken as 0",)


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_shared_memory_that_was_never_written(arch):
    (said,) = unknown("shared_before", {"out": "f32[64]", "n": 63}, arch, block=64)
    assert said == "shared memory that was never written read in line 21 and taken as 0"
    assert unknown("shared_before", {"out": "f32[64]", "n": 64}, arch, block=64) == ()


@pytest.mark.parametrize("arch", [75, 90])
def test_a_wide_load_of_which_a_word_was_written(arch):
    """The remainders of unrolled loops load more words than they use."""
    assert unknown("shared_wide", {"out": "f32[64]", "n": 32}, arch) == ()
    (said,) = unknown("shared_wide", {"out": "f32[64]", "n": 31}, arch)
    assert said == f"shared memory that was never written read in line {line('pairs[threadIdx.x];')} and taken as 0"


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_local_memory_that_was_never_written(arch):
    (said,) = unknown("local_before", {"out": "f32[32]", "n": 31}, arch)
    assert said == "local memory that was never written read in line 26 and taken as 0"
    assert unknown("local_before", {"out": "f32[32]", "n": 32}, arch) == ()


def test_a_register_that_was_never_written():
    code = [
        instruction(text, at)
        for at, text in enumerate(("MOV R2, 0x1", "IADD3 R3, R2, R9, RZ", "IADD3 R4, R2, R3, RZ", "EXIT"))
    ]
    program = Program("f", "f", 80, tuple(code), registers=16)
    found = emulate.trace(program, launch(grid=1, block=32), [0])
    assert found.unknown == ("register R9 that was never written read and taken as 0",)


@pytest.mark.parametrize("far", [1 << 20, -(1 << 20), (1 << 31) - 64])
def test_one_array_is_not_read_through_another(far):
    program = compile_program(SOURCE, "sm_80", "other_array")
    args = {"x": "f32[32]:ones", "y": "f32[8388608]:ones", "far": far}
    with pytest.raises(InputError, match=r"thread \(0, 0, 0\).* bytes (past the end|before the start) of 'x'"):
        emulate.run(program, launch(grid=1, block=32, args=args))


def test_rows_of_a_sparse_matrix_decide_the_loop_and_columns_decide_addresses():
    program = compile_program(EXAMPLES / "spmv_csr.cu", "sm_90")
    line = lambda i: program.source_line(program.instructions[i].place.outermost.line)  # noqa: E731
    loads = [i for i, one in enumerate(program.instructions) if one.opcode == "LDG"]
    columns = {i for i in loads if "U16" in program.instructions[i].modifiers}
    rows = {i for i in loads if "row_start" in line(i)}
    assert columns
    assert rows
    assert any("row_start" in line(i) for i in dependents_of(program, rows).branches)
    by_columns = dependents_of(program, columns)
    assert {line(i) for i in by_columns.addresses} == {"sum += value[k] * x[column[k]];"}
    assert not by_columns.branches


def test_arrays_that_decide_are_named():
    program = compile_program(EXAMPLES / "spmv_csr.cu", "sm_90")
    args = {
        "rows": 8, "row_start": np.arange(9, dtype=np.int32) * 4, "column": "u16[32]:zeros", "value": "f32[32]:ones",
        "x": "f32[65536]:ones", "y": "f32[8]",
    }  # fmt: skip
    said = named(program, emulate.trace(program, launch(grid=1, block=256, args=args), [0]))
    assert len(said) == 2
    assert said[0].endswith("depend on the contents of 'row_start'")
    assert said[0].startswith("branches in line")
    assert said[1] == "addresses in line 15 depend on the contents of 'column'"


@pytest.mark.parametrize(
    "lines, tainted",
    [
        (("@P0 MOV R1, 0x1", "@P0 LDG.E R5, [R1.64]"), False),
        (("@P0 MOV R1, 0x1", "@!P0 LDG.E R5, [R1.64]"), True),
        (("@P0 MOV R1, 0x1", "LDG.E R5, [R1.64]"), True),
        (("@P0 MOV R1, 0x1", "@P0 MOV R1, 0x2", "@!P0 LDG.E R5, [R1.64]"), True),
        (("@P0 MOV R1, 0x1", "ISETP.EQ.AND P0, PT, R8, R9, PT", "@P0 LDG.E R5, [R1.64]"), True),
        (("MOV R1, 0x1", "@!P0 LDG.E R5, [R1.64]"), False),
    ],
)
def test_what_was_overwritten_under_a_guard_is_clean_there(lines, tainted):
    code = [instruction(text, at) for at, text in enumerate(("LDG.E R1, [R2.64]", *lines, "EXIT"))]
    program = Program("f", "f", 80, tuple(code))
    assert (len(code) - 2 in dependents_of(program, {0}).addresses) == tainted


def test_a_stream_depends_on_nothing():
    program = compile_program(EXAMPLES / "saxpy.cu", "sm_90")
    args = {"n": 64, "a": 2.0, "x": "f32[64]:ones", "y": "f32[64]:ones"}
    assert named(program, emulate.trace(program, launch(grid=1, block=64, args=args), [0])) == ()


def test_the_first_bytes_of_each_block_may_hold_something_at_the_start():
    window = Window("shared", 64, np.repeat([0, 1], 32))
    window.watch(32)
    assert window.untouched(np.arange(32), 4).tolist() == 2 * [*8 * [False], *8 * [True]]


PIPELINE = """
#include <cooperative_groups.h>
#include <cuda/pipeline>
__global__ void tiles(const float4* x, float* y, int n) {
    extern __shared__ float4 data[];
    auto block = cooperative_groups::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipeline = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int i = 0; i <= n; i++) {
        if (i < n) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, data + i % 2 * 64, x + (blockIdx.x * n + i) * 64, 1024, pipeline);
            pipeline.producer_commit();
        }
        if (i > 0) {
            pipeline.consumer_wait();
            sum += data[(i - 1) % 2 * 64 + threadIdx.x].x;
            pipeline.consumer_release();
        }
    }
    y[blockIdx.x * 64 + threadIdx.x] = sum;
}
__global__ void flagged(const int* x, float* y) {
    __shared__ int data[64], flag;
    data[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) flag = data[3] > 2;
    __syncthreads();
    if (flag) y[threadIdx.x] = sqrtf(y[threadIdx.x + 64]);
}
"""


@pytest.mark.parametrize("arch", [80, 90])
def test_barriers_in_shared_memory_are_not_the_data_beside_them(arch: int) -> None:
    """cuda::pipeline keeps mbarriers and a count of users beside the tiles; copied data decide nothing of them."""
    program = compile_program(PIPELINE, f"sm_{arch}", "tiles")
    args = {"x": "f32[65536]", "y": "f32[4096]", "n": 4}
    trace = emulate.trace(program, launch(grid=64, block=64, smem=2048, args=args), [0, 40])
    assert not trace.stopped
    assert not trace.ungiven
    assert not any("depend" in sentence for sentence in trace.unknown)
    assert not draws_work_from_counter(program)
    assert not warning(program, trace, trace.executed, block_numbers(program))


@pytest.mark.parametrize("arch", [80, 90])
def test_data_that_decide_through_shared_memory_are_still_named(arch: int) -> None:
    program = compile_program(PIPELINE, f"sm_{arch}", "flagged")
    trace = emulate.trace(program, launch(grid=1, block=64, args={"x": "i32[64]", "y": "f32[128]"}), [0])
    assert trace.ungiven


COPIED = """
extern "C" __global__ void roles(const int* x, int* out) {
    __shared__ __align__(128) int tile[32];
    __shared__ __align__(8) unsigned long long full;
    __shared__ int role[2];
    const unsigned barrier = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        role[0] = 5 + (x == nullptr);
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" :: "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                     :: "r"(to), "l"(x), "r"(barrier) : "memory");
    }
    __syncthreads();
    asm volatile("{\\n.reg .pred done;\\nAGAIN:\\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\\n"
                 "@done bra OVER;\\nbra AGAIN;\\nOVER:\\n}" :: "r"(barrier) : "memory");
    int sum = 0;
    for (int i = 0; i < DECIDES[0]; i++) sum += tile[(threadIdx.x + i) % 32];
    out[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize(("decides", "is_named"), [("role", False), ("tile", True)])
def test_copied_data_decide_only_what_reads_them(decides, is_named):
    """A word beside a tile, by which warps learn their role, is none of what the copy engine brings."""
    program = compile_program(COPIED, "sm_90a", "roles", defines={"DECIDES": decides})
    args = {"x": np.full(32, 5, np.int32), "out": "i32[32]"}
    trace = emulate.trace(program, launch(grid=1, block=32, args=args), [0])
    assert not trace.stopped
    assert any(note.startswith("branches") for note in trace.notes) == is_named
