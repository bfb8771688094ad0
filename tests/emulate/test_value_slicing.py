"""Values that decide nothing are not computed, and a trace does not show it."""

import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.emulator.listed_accesses import listed
from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.emulate import traced_blocks
from warpbound.emulate.fast_paths import fast_paths
from warpbound.emulate.stack_slots import stack_slots
from warpbound.emulate.value_dependence import dependents_of
from warpbound.emulate.value_slicing import Slice, slice_of
from warpbound.kernel_launch import launch
from warpbound.program.instruction import PT, Operand
from warpbound.program.registers import writes
from warpbound.program.source_files import compile_program

pytestmark = pytest.mark.cuda

CODE = """
extern "C" __global__ void gathered(const int* __restrict__ index, const float* __restrict__ x, float* __restrict__ y) {
    y[threadIdx.x] = 2.0f * x[index[threadIdx.x]];
}
extern "C" __global__ void by_way_of_shared(
    const int* __restrict__ index, const float* __restrict__ x, float* __restrict__ y
) {
    __shared__ int kept[32];
    __shared__ float values[32];
    kept[threadIdx.x] = index[threadIdx.x];
    values[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[kept[31 - threadIdx.x]] = values[31 - threadIdx.x];
}
extern "C" __global__ void until_small(const float* __restrict__ x, float* __restrict__ y) {
    float v = x[threadIdx.x];
    while (v > 1.0f) v *= 0.5f;
    y[threadIdx.x] = v;
}
extern "C" __global__ void written_before(int* index, float* x) {
    index[threadIdx.x] = 31 - threadIdx.x;
    __syncthreads();
    x[index[threadIdx.x]] = 1.0f;
}
extern "C" __global__ void summed(const float* x, float* y) {
    float total = 0;
    for (int i = threadIdx.x; i < 320; i += 32) total += x[i] * x[i];
    y[threadIdx.x] = total;
}
extern "C" __global__ void doubles(double* y, int n) {
    double a = y[threadIdx.x], c = a, d = a + 1;
    for (int i = 0; i < n; i++) a = fma(a, 1.5, c), d = fma(d, 1.5, c);
    y[threadIdx.x] = a + d;
}
extern "C" __global__ void copied(const float4* x, float4* y) {
    __shared__ float4 tile[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + threadIdx.x) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}
extern "C" __global__ void high(const int* x, int* y, int by) { y[threadIdx.x] = __mulhi(x[threadIdx.x], by); }
extern "C" __global__ void checked(const int* x, int* y) {
    int v = x[threadIdx.x];
    if (v < 0) __trap();
    y[threadIdx.x] = v;
}
extern "C" __global__ void steered(const int* x, int* y) {
    int v = x[threadIdx.x];
    for (int i = 0; i < v; i++) y[i] = __float_as_int(sqrtf((float)i));
}
extern "C" __global__ void padded(const float* __restrict__ x, const float* __restrict__ z, float* y, int n) {
    __shared__ float a[128], b[128];
    for (int i = threadIdx.x; i < 128; i += 32) {
        int at = i - 4;
        if (at >= 0 && at < n) { a[i] = x[at]; b[i] = z[at]; } else { a[i] = 0; b[i] = 0; }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 120; i += 32) y[i] = a[i] + b[i + 8];
}
extern "C" __global__ void generic(const float* x, float* y, int n) {
    __shared__ float kept[320];
    kept[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float* from = threadIdx.x < 20 ? kept + threadIdx.x : x + threadIdx.x;
    const float* near = n > 50 ? kept + threadIdx.x : x;
    float* to = threadIdx.x < 10 ? kept + threadIdx.x : y + threadIdx.x;
    float v = 0;
    #pragma unroll 2
    for (int i = 0; i < 60; i++) { v += from[i] * near[i % 4 * 32]; to[i * 2] = v; near = i % 8 ? near : from; }
}
"""
OF_OLD_BOARDS = ("camping_read", "clique_counter", "gem", "sdk_transpose")  # there is no compiler for these
ARRAYS = {"index": np.arange(32, dtype=np.int32)[::-1].copy(), "x": np.linspace(0, 40, 320, dtype=np.float32),
          "y": np.zeros(320, np.float32), "z": np.ones(320, np.float32), "n": 100}  # fmt: skip


def removable(kernel: str) -> list[str]:
    """Opcodes of what needs no values, in order."""
    program = compile_program(CODE, "sm_90", kernel)
    return [program.instructions[i].opcode for i in sorted(slice_of(program).unneeded)]


def test_the_index_of_a_gather_is_needed_and_what_it_finds_is_not() -> None:
    assert [name for name in removable("gathered") if name in ("LDG", "STG", "FADD", "FMUL")] == ["LDG", "FADD", "STG"]


def test_what_shared_memory_hands_on_to_an_address_is_needed() -> None:
    """All of it: shared memory is one value."""
    assert [name for name in removable("by_way_of_shared") if name in ("LDG", "STS", "LDS", "STG")] == ["LDS", "STG"]


def test_a_loop_that_ends_by_its_values_needs_them() -> None:
    found = removable("until_small")
    assert "STG" in found
    assert not {"LDG", "FMUL", "FSETP"} & set(found)


def test_an_index_that_the_kernel_itself_has_written_is_needed() -> None:
    program = compile_program(CODE, "sm_90", "written_before")
    stores = [i for i, one in enumerate(program.instructions) if one.opcode == "STG"]
    assert not set(stores) & slice_of(program).unneeded


def test_a_copy_to_shared_memory_brings_no_values_that_nothing_depends_on() -> None:
    assert {"LDGSTS", "LDS", "STG"} <= set(removable("copied"))


@pytest.mark.parametrize("board", ["sm_80", "sm_90"])
def test_a_register_that_is_written_in_either_case_has_been_written(board: str) -> None:
    """`@P0 MOV R5, RZ` and `@!P0 LDG R5`, then P0 changes: nothing reads R5 before it is written."""
    code = compile_program(CODE, board, "padded")
    kept = [one.opcode for i, one in enumerate(code.instructions) if i not in slice_of(code).unneeded]
    assert not {"LDG", "STS", "LDS", "STG"} & set(kept)


def test_accesses_whose_address_selects_the_memory_need_no_values() -> None:
    assert {"LD", "ST"} <= set(removable("generic"))


def test_a_high_product_is_only_counted() -> None:
    assert {"LDG", "IMAD", "STG"} <= set(removable("high"))


def test_a_branch_to_a_trap_decides_no_work() -> None:
    """A launch that fails has no time; a loop whose length is loaded has one that depends on it."""
    for kernel, branches in (("checked", 0), ("steered", 1)):
        program = compile_program(CODE, "sm_90", kernel)
        loads = {i for i, instruction in enumerate(program.instructions) if instruction.opcode == "LDG"}
        assert min(1, len(dependents_of(program, loads).branches)) == branches


def test_what_no_lane_executes_decides_nothing() -> None:
    """`@!PT FFMA`, which damaged machine code has."""
    program = compile_program(CODE, "sm_90", "summed")
    never = Operand("predicate", "!PT", index=PT, invert=True)
    code = [replace(one, guard=never) if one.opcode == "FFMA" else one for one in program.instructions]
    assert slice_of(replace(program, instructions=tuple(code))).unneeded


def test_sums_are_only_counted() -> None:
    found = removable("summed")
    assert {"LDG", "FFMA", "STG"} <= set(found)
    assert "ISETP" not in found


@pytest.mark.parametrize("board", ["sm_90", "sm_120"])
def test_doubles_are_only_counted(board: str) -> None:
    """Also where pairs of registers move by one instruction."""
    code = compile_program(CODE, board, "doubles")
    found = [code.instructions[i].opcode for i in slice_of(code).unneeded]
    assert found.count("DFMA") == sum(one.opcode == "DFMA" for one in code.instructions) > 0
    assert found.count("DADD") == 2
    assert board == "sm_90" or any(one.mnemonic == "MOV.64" for one in code.instructions)


@pytest.mark.parametrize(
    "kernel", ["gathered", "by_way_of_shared", "until_small", "written_before", "summed", "padded", "copied", "generic"]
)
def test_traces_are_the_same_with_all_values(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_program(CODE, "sm_90", kernel)
    names = [one.name for one in program.parameters]
    asked = launch(grid=3, block=32, args={name: ARRAYS[name] for name in names})
    same_with_all_values(program, asked, monkeypatch)


USUAL = ("matmul_tiled", "convolution", "reduction", "scan", "transpose_tiled", "stencil5", "softmax")
FOLDERS = (EXAMPLES, EXAMPLES / "applications", EXAMPLES / "papers")
FILES = [file for folder in FOLDERS for file in sorted(folder.glob("*.cu")) if file.with_suffix(".toml").exists()]


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, id=file.stem, marks=() if file.stem in USUAL else pytest.mark.broad) for file in FILES
     if file.stem not in OF_OLD_BOARDS],
)  # fmt: skip
def test_traces_of_examples_are_the_same_with_all_values(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Softmax divides: its lanes take the short way of the division by a branch, of which the guard has no value."""
    example = launch(file.with_suffix(".toml"))
    same_with_all_values(compile_program(file, "sm_90", example.kernel), example, monkeypatch)


def test_a_pipeline_at_mbarriers_needs_none_of_the_values_that_it_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies that fill tiles end phases of barriers, but nobody needs their bytes; products and stores are counted."""
    file = EXAMPLES / "hopper" / "wgmma_product.cu"
    program = compile_program(file, "sm_90a", defines={"STAGES": "4"})
    kept = [each.opcode for i, each in enumerate(program.instructions) if i not in slice_of(program).unneeded]
    assert {"SYNCS", "UBLKCP"} <= set(kept)
    assert not {"HGMMA", "STG"} & set(kept)
    assert {program.instructions[i].opcode for i in slice_of(program).unread} == {"UBLKCP"}
    args = {"a": "f16[128,320]:rand", "b": "f16[256,320]:rand", "c": "f32[128,256]:zeros", "n": 256, "k": 320}
    same_with_all_values(program, launch(grid=2, block=384, smem=131072, args=args), monkeypatch)


SPILLED = """
extern "C" __global__ void spilled(const float* x, float* y, float by, int n) {
    float v[40];
    int at[12];
    #pragma unroll
    for (int i = 0; i < 40; i++) v[i] = x[(threadIdx.x + 7 * i) % 320];
    #pragma unroll
    for (int i = 0; i < 12; i++) at[i] = (threadIdx.x * (i + 3)) % n;
    for (int round = 0; round < n % 7; round++) {
        #pragma unroll
        for (int i = 0; i < 40; i++) v[i] = v[i] * v[(i + 1) % 40] + by / v[(i + 9) % 40];
        #pragma unroll
        for (int i = 0; i < 12; i++) at[i] = (at[i] * 5 + at[(i + 1) % 12]) % n;
    }
    #pragma unroll
    for (int i = 0; i < 40; i++) y[at[i % 12] + i * 4] = v[i];
}
extern "C" __global__ void indexed(const float* x, float* y, int n) {
    float v[24];
    for (int i = 0; i < 24; i++) v[i] = x[i];
    for (int i = 0; i < n; i++) v[i * 5 % 24] += v[(i + (int)x[i]) % 24];
    y[threadIdx.x] = v[n % 24];
}
"""


@pytest.mark.parametrize("board", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_spilled_registers_are_followed_one_by_one(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Indices that were spilled are needed, values that were spilled beside them are not."""
    program = compile_program(SPILLED, board, "spilled", options=["-maxrregcount=24"])
    stores = {i for i, x in enumerate(program.instructions) if x.opcode == "STL"}
    assert stores <= stack_slots(program).keys()
    assert stores & slice_of(program).unneeded
    assert stores - slice_of(program).unneeded
    args = {"x": ARRAYS["x"] + 1, "y": ARRAYS["y"], "by": 1.5, "n": 102}
    same_with_all_values(program, launch(grid=2, block=32, args=args), monkeypatch)


def test_an_array_in_local_memory_has_no_slots() -> None:
    assert not stack_slots(compile_program(SPILLED, "sm_90", "indexed"))


def same_with_all_values(program, asked, monkeypatch) -> None:
    quick = emulate.trace(program, asked, [0, 1])
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: Slice(frozenset(), {}))
    whole = emulate.trace(program, asked, [0, 1])
    for field in fields(whole):
        if field.name not in ("accesses", "streams", "mbarrier_log"):
            assert np.array_equal(getattr(quick, field.name), getattr(whole, field.name)), field.name
    assert all(np.array_equal(quick.streams[row], stream) for row, stream in whole.streams.items())
    assert pickle.dumps(quick.mbarrier_log) == pickle.dumps(whole.mbarrier_log)
    for space in whole.accesses:
        assert listed(quick.accesses[space]) == listed(whole.accesses[space])


DIVIDED = """
extern "C" __global__ void divided(const float* __restrict__ x, float* y, const double* d, int n) {
    float a = 0; double b = 1;
    for (int i = 0; i < n; i++) { a = x[threadIdx.x] / (a + i); b = b / d[i] + sqrt(b); }
    y[threadIdx.x] = a + sqrtf(a) + (float)b;
}
extern "C" __global__ void chosen(float* y, int n) {
    float a = threadIdx.x;
    for (int i = 0; i < n; i++)
        if (threadIdx.x % 4 == 1) for (int k = 0; k < 9; k++) a = sqrtf(a + i);
        else a = a * 2 + i;
    y[threadIdx.x] = a;
}
extern "C" __global__ void places(const long* x, float* y, long n) { y[x[threadIdx.x] / n] = 1; }
__device__ __noinline__ float f(float x, int n) { for (int i = 0; i < n; i++) x = x * x + i; return x; }
extern "C" __global__ void called(float* y, int n) { if (n > 3) y[threadIdx.x] = f(y[threadIdx.x], n); }
"""


@pytest.mark.parametrize("board", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_divisions_and_roots_whose_results_nobody_needs_take_their_short_way(board: str) -> None:
    code = compile_program(DIVIDED, board, "divided")
    own = slice_of(code)
    assert len(own.fast_paths) == sum(x.opcode == "CALL" for x in code.instructions) > 1
    assert {"LDG", "MUFU"} <= {code.instructions[i].opcode for i in own.unneeded}
    args = {"x": "f32[32]", "y": "f32[32]", "d": "f64[64]", "n": 50}
    trace = emulate.trace(code, launch(grid=1, block=32, args=args), [0])
    assert not trace.stopped
    assert not any(trace.executed[:, i].any() for i, x in enumerate(code.instructions) if x.opcode in ("CALL", "RET"))
    assert not any("branches" in sentence for sentence in trace.unknown)


def test_predicates_of_a_called_division_are_not_its_results() -> None:
    """A slow path that overwrites a predicate would otherwise be needed wherever that predicate may be read later."""
    code = compile_program(DIVIDED, "sm_90", "divided")
    called = range(max(i for i, x in enumerate(code.instructions) if x.opcode == "EXIT") + 1, len(code.instructions))
    assert any("P" in name for i in called for name in writes(code.instructions[i]))
    results = {name for path in fast_paths(code).values() for name in path.results}
    assert results
    assert not any("P" in name for name in results)


def test_a_branch_between_other_arithmetic_is_no_short_way() -> None:
    code = compile_program(DIVIDED, "sm_90", "chosen")
    trace = emulate.trace(code, launch(grid=1, block=32, args={"y": "f32[32]", "n": 3}), [0])
    roots = [i for i, one in enumerate(code.instructions) if one.mnemonic == "MUFU.RSQ"]
    assert slice_of(code).fast_paths
    assert trace.threads[0, roots].sum() == 8 * 9 * 3


@pytest.mark.parametrize("kernel", ["places", "called"])
def test_calls_whose_results_decide_or_that_do_more_are_executed(kernel: str) -> None:
    code = compile_program(DIVIDED, "sm_90", kernel)
    assert any(x.opcode == "CALL" for x in code.instructions)
    assert slice_of(code) == Slice(frozenset(), {})


SHUFFLED = """
extern "C" __global__ void parted(const float* x, float* y, int rows, int from) {
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        float v = x[r * 32 + threadIdx.x];
        if (threadIdx.x >= from) { sum += __shfl_xor_sync(~0u, v, 2); y[64 + threadIdx.x] = v; }
        else { y[96 + threadIdx.x] = v * r; sum -= __shfl_xor_sync(~0u, v * v, 2); }
    }
    y[threadIdx.x] = sum;
}
extern "C" __global__ void averaged(const float* x, float* y, int rows, int columns) {
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float sum = 0;
        for (int c = threadIdx.x; c < columns; c += 32) sum += x[r * columns + c];
        for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
        y[r * 32 + threadIdx.x] = sum / columns;
    }
}
"""


@pytest.mark.parametrize("board", ["sm_80", "sm_89", "sm_120"])
def test_shuffles_of_whole_warps_leave_the_values_uncomputed(board: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to sm_89 a shuffle in a loop may call a function, which no warp does whose lanes stay together."""
    program = compile_program(SHUFFLED, board, "averaged")
    loads = {i for i, x in enumerate(program.instructions) if x.traits.is_global_load}
    assert loads
    assert loads <= slice_of(program).unneeded
    args = {"x": "f32[640]:rand", "y": "f32[320]", "rows": 10, "columns": 64}
    trace = emulate.trace(program, launch(grid=2, block=32, args=args), [0, 1])
    monkeypatch.setattr(traced_blocks, "slice_of", lambda program: Slice(frozenset(), {}))
    whole = emulate.trace(program, launch(grid=2, block=32, args=args), [0, 1])
    short = fast_paths(program)
    assert np.array_equal(trace.executed, whole.executed)
    assert set(np.flatnonzero((trace.threads != whole.threads).any(axis=0))) <= set(short)


@pytest.mark.parametrize(("first", "times"), [(0, 1), (13, 2)])
def test_a_trace_of_which_a_warp_parts_is_made_again(first: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that shuffle at two places with the mask of all lanes take the function, whose mask has to be there."""
    program = compile_program(SHUFFLED, "sm_89", "parted")
    assert slice_of(program).assumed.whole_warp
    slices: list[Slice] = []
    traced = traced_blocks._traced

    def counted(question: Any, own: Slice, shares: Any) -> Any:
        slices.append(own)
        return traced(question, own, shares)

    monkeypatch.setattr(traced_blocks, "_traced", counted)
    args = {"x": "f32[320]:rand", "y": "f32[128]", "rows": 10, "from": first}
    emulate.trace(program, launch(grid=2, block=32, args=args), [0, 1])
    assert len(slices) == times
    same_with_all_values(program, launch(grid=2, block=32, args=args), monkeypatch)


def test_a_slice_belongs_to_its_own_kernel() -> None:
    """The slice is kept for the next sample; another kernel, also one with equal code, gets its own."""
    kernels = [compile_program(CODE, "sm_90", name) for name in ("summed", "until_small", "summed")]
    kept = [slice_of(kernel) for kernel in kernels]
    assert kept[0] is not kept[2]
    assert kept[0] == kept[2] != kept[1]
    assert all(slice_of(kernel) is own for kernel, own in zip(kernels, kept, strict=True))
