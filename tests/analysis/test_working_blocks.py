"""Counts of a launch from a sample equal those of all its blocks, wherever the work lies in the grid."""

import math
import tracemalloc

import numpy as np
import pytest

from warpbound import emulate
from warpbound.analysis import Settings, working_blocks
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.case import checked_case
from warpbound.analysis.sampled import cache_facts
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory.traffic import How, traffic
from warpbound.program.source_files import compile_program
from warpbound.workload import dynamic

pytestmark = pytest.mark.cuda

BOARD = "rtx-4090"
HEAD = """__constant__ int lengths[64] = {1, 2, 3, 4, 5, 6, 7, 8};
__global__ void k(int n, int m, const float* __restrict__ x, float* y) {
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), t = threadIdx.x;
    int rows = gridDim.x, all = gridDim.x * gridDim.y * gridDim.z;"""


def copy(times):
    """As many lines of its own as a block copies."""
    return f"for (int j = 0; j < ({times}); j++) y[(j * all + b) * 64 + t] = x[(j * all + b) * 64 + t];"


EACH = copy("m")
BODIES = {  # name -> body, grid, n, m
    "the first third works": (f"if (b >= rows / 3) return; {EACH}", 3000, 0, 8),
    "the last third works": (f"if (b < rows - rows / 3) return; {EACH}", 3000, 0, 8),
    "one row of many": (f"if (blockIdx.y != 5) return; {EACH}", (300, 16), 0, 8),
    "a sixteenth of the planes": (f"if (blockIdx.z >= 1) return; {EACH}", (40, 5, 16), 0, 8),
    "every second block": (f"if (b % 2) return; {EACH}", 4000, 0, 8),
    "every n-th block": (f"if (b % n == 3) {{ {EACH} }}", 4000, 7, 8),
    "a heavy branch without a loop": (
        "if (b % 32 == 0) {" + "".join(f"y[({j} * rows + b) * 64 + t] = x[({j} * rows + b) * 64];" for j in range(16))
        + "} else y[b * 64 + t] = x[b * 64 + t];", 4000, 0, 0,
    ),
    "a triangle": (copy("1 + b / 64"), 2048, 0, 0),
    "squares": (copy("1 + (b / 128) * (b / 128) / 8"), 2048, 0, 0),
    "a heavy last block": (copy("b == rows - 1 ? 40 : 2"), 3000, 0, 0),
    "lengths in constant memory": (copy("lengths[b % 8]"), 3000, 0, 0),
    "a persistent loop": ("for (int i = b; i < n; i += rows) y[i * 64 + t] = x[i * 64 + t];", 1000, 30500, 0),
    "a guard at the end": ("int i = b * 64 + t; if (i < n) y[i] = x[i];", 4000, 200_000, 0),
    "strides by block": (
        "int by = b % 8 == 5 ? 32 : 1; for (int j = 0; j < 8; j++) y[b * 64 + t] += x[(b * 64 + t) * by + j];",
        2000, 0, 0,
    ),
    "warps with roles": (f"if (t < 32) {{ {EACH} }} else y[b * 64 + t] = 1;", 3000, 0, 8),
}  # fmt: skip
FULL_DRAM = {"a triangle", "squares", "strides by block"}  # turns of blocks differ in what they bring


def case_of(name):
    body, grid, n, m = BODIES[name]
    program = compile_program(HEAD + body + "}", "sm_89")
    words = {"n": n, "m": m, "x": "f32[8000000]:zeros", "y": "f32[8000000]"}
    return program, launch(grid=grid, block=64, args=words)


def answers(name, cache="cold"):
    """The answer from a sample, and the counts of all blocks: warp instructions, traffic."""
    program, asked = case_of(name)
    result = analyze_kernel(program, BOARD, asked, Settings(cache=cache))
    case = checked_case(program, gpu(BOARD), asked, Settings(cache=cache))
    trace = emulate.trace(program, asked, range(math.prod(asked.grid)))
    assert not trace.stopped
    return result, trace, traffic(program, trace, cache_facts(case), How(cache=cache, grid=asked.grid))


@pytest.mark.parametrize("name", BODIES)
def test_counts_are_those_of_all_blocks(name):
    result, trace, whole = answers(name)
    assert result.sample.blocks < 0.2 * result.sample.of_blocks
    assert result.sample.of_blocks == len(trace.blocks)
    assert result.instructions.warp_instructions == pytest.approx(trace.executed.sum(), rel=0.01)
    assert result.instructions.thread_instructions == pytest.approx(trace.threads.sum(), rel=0.01)
    assert result.memory.l1_sectors_load == pytest.approx(whole.l1_sectors_load, rel=0.01)
    assert result.memory.l1_sectors_store == pytest.approx(whole.l1_sectors_store, rel=0.01)
    if name not in FULL_DRAM:
        assert result.memory.dram_bytes_read == pytest.approx(whole.dram_bytes_read, rel=0.01)
        assert result.memory.dram_bytes_written == pytest.approx(whole.dram_bytes_written, rel=0.01)
        assert result.sample.memory_error["dram_bytes_read"] <= 0.01 * whole.dram_bytes_read
        assert result.sample.memory_error["dram_bytes_written"] <= 0.01 * whole.dram_bytes_written


def test_idle_blocks_are_named_and_a_smaller_grid_is_advised():
    result, _, _ = answers("one row of many")
    notes = " ".join(result.confidence.assumed)
    assert "94 % of the 4800 blocks leave at line" in notes
    assert "a grid of 300 does the same work" in notes
    smaller = [change for change in result.whatifs if change.change == "a grid of the 300 blocks that work"]
    assert len(smaller) == 1
    assert smaller[0].speedup > 1.005


def test_no_block_of_many_instructions_is_executed_to_see_whether_it_is_idle(monkeypatch):
    program, asked = case_of("the last third works")
    case, executed = checked_case(program, gpu(BOARD), asked, Settings()), []

    def execute(program, launch, blocks, *, at_once=None):
        executed.append(blocks)
        return emulate.trace(program, launch, blocks, at_once=at_once)

    assert working_blocks.working_blocks(case, asked, execute).idle
    assert executed == [[0]]
    monkeypatch.setattr(working_blocks, "LONGEST_IDLE", 3)
    assert not working_blocks.working_blocks(case, asked, execute).idle
    assert len(executed) == 1


def test_idle_blocks_take_time():
    program, asked = case_of("the last third works")
    both = [analyze_kernel(program, BOARD, asked, Settings())]
    body, _, n, m = BODIES["the last third works"]
    alone = compile_program(HEAD + EACH + "}", "sm_89")
    both.append(analyze_kernel(alone, BOARD, launch(grid=1000, block=64, args=asked.args), Settings()))
    with_idle, without = (result.time_s for result in both)
    assert without < with_idle < 1.5 * without
    assert np.isclose(with_idle - without, 2000 * 0.7e-9, rtol=3.0)


def test_memory_does_not_grow_with_the_grid():
    code = """__global__ void add(const float* a, const float* b, float* c, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""
    program, n = compile_program(code, "h200"), 1 << 34
    arrays = {name: f"f32[{n}]" for name in "abc"}
    tracemalloc.start()
    answer = analyze_kernel(program, "h200", launch(grid=n // 256, block=256, args={**arrays, "n": n}))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.memory.dram_bytes_read == pytest.approx(2 * 4 * n, rel=0.01)
    assert most < 100e6  # a number for each of the 67 million blocks is more


LONG = """__global__ void k(float* y, int n) {
    float s = threadIdx.x;
    for (int j = 0; j < n; j++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * 32 + threadIdx.x] = s;
}"""


def test_the_start_of_a_long_path_stands_for_all_of_it(monkeypatch):
    program = compile_program(LONG, "sm_89")
    several = launch(grid=2000, block=32, smem=90_000, args={"y": "f32[64000]", "n": 8000})
    whole = analyze_kernel(program, BOARD, several)
    monkeypatch.setattr(dynamic, "LONGEST_STREAM", 1500)
    start = analyze_kernel(program, BOARD, several)
    assert whole.bottleneck == start.bottleneck == "latency"
    assert start.time_s == pytest.approx(whole.time_s, rel=0.02)
    assert [row.cycles for row in start.lines[:1]] == pytest.approx([row.cycles for row in whole.lines[:1]], rel=0.02)
    assert not any(note.startswith("blocks differ") for note in start.confidence.assumed)
    assert start.execution.ilp == pytest.approx(whole.execution.ilp, rel=0.02)


def test_one_long_block_takes_its_own_time(monkeypatch):
    body, grid, *_ = BODIES["a heavy last block"]
    program = compile_program(HEAD + body.replace("40 : 2", "n : 2") + "}", "sm_89")
    words = {"n": 3000, "m": 0, "x": "f32[800000000]:zeros", "y": "f32[800000000]"}
    one = launch(grid=grid, block=64, args=words)
    whole = analyze_kernel(program, BOARD, one)
    monkeypatch.setattr(dynamic, "LONGEST_STREAM", 1500)
    start = analyze_kernel(program, BOARD, one)
    assert start.time_s == pytest.approx(whole.time_s, rel=0.1)
    for result in (whole, start):
        assert result.bottleneck == "latency"
        assert result.time_interval_s[1] < 1.3 * result.time_s
        assert all(bound.utilization < 0.5 for bound in result.bounds if bound.resource != "latency")
