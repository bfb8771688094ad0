"""What an executed launch says of its own doubts: errors first, heavy blocks that a sample may miss."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import warpbound
from support.paths import EXAMPLES
from warpbound import emulate
from warpbound.analysis import Settings, timing
from warpbound.analysis.answer import work_of
from warpbound.analysis.case import checked_case
from warpbound.cli import main

pytestmark = pytest.mark.cuda

TWICE = """
extern "C" __global__ void twice(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
"""
WORK = """
extern "C" __global__ void by_block(float* y) {
    int n = blockIdx.x % 1000 == 437 ? 20000 : 200;
    float s = threadIdx.x;
    for (int i = 0; i < n; i++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void by_data(const int* n, float* y) {
    float s = threadIdx.x;
    int m = n[blockIdx.x];
    for (int i = 0; i < m; i++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
extern "C" __global__ void by_written(int* n, float* y) {
    float s = threadIdx.x;
    int m = n[blockIdx.x];
    for (int i = 0; i < m; i++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
    n[blockIdx.x] = m;
}
extern "C" __global__ void one_in_17(const float* x, float* y) {
    if (blockIdx.x % 17) return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int j = 0; j < 200; j++) s += x[(i + j * 64) % 4096];
    y[i] = s;
}
extern "C" __global__ void alike(const float* x, float* y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
"""
BLOCKS = 4000


def ask(path, *words):
    done = CliRunner().invoke(main, ["analyze", str(path), "--gpu", "h200", "--grid", "8", "--block", "256", *words])
    return done.exit_code, " ".join(done.stdout.split())


def test_a_wild_access_is_the_first_thing_that_is_said(tmp_path):
    source = tmp_path / "twice.cu"
    source.write_text(TWICE)
    arguments = ("--arg", "x=f32[1000]:rand", "--arg", "y=f32[2048]")
    code, said = ask(source, *arguments)
    assert code == 0  # it is answered, from the code alone
    assert re.match("twice on NVIDIA H200 .*, static The kernel could not be executed: twice, line 4 ", said)
    assert "is 0 bytes past the end of 'x' (4000 bytes)" in said.partition("What binds")[0]
    _, out = ask(source, *arguments, "--format", "json")
    (found,) = json.loads(out)["results"]
    assert "past the end of 'x'" in found["not_executed"]
    assert found["not_executed"] in found["confidence"]["assumed"][0]
    assert (found["mode"], found["time_s"]) == ("static", None)


def notes(kernel, args, arch="h200", grid=BLOCKS):
    program = warpbound.compile(WORK, arch, kernel=kernel)
    found = warpbound.analyze(program, arch, warpbound.launch(grid=grid, block=128, args=args))
    return found, [note for note in found["confidence"]["assumed"] if "heavy blocks" in note]


@pytest.mark.parametrize("gpu", ["t4", "h200", "rtx-5090"])
def test_one_block_in_a_thousand_that_data_make_heavy_is_covered_by_a_warning(gpu):
    counts = np.full(BLOCKS, 200, np.int32)
    counts[437::1000] = 20000
    found, said = notes("by_written", {"n": counts, "y": np.zeros(BLOCKS * 128, np.float32)}, gpu)
    blocks = found["sample"]["blocks"]
    (text,) = said
    assert f"rarer than about one in {blocks // 3} may be missing among the {blocks} executed" in text
    assert blocks / 3 < 1000


def test_one_block_in_a_thousand_that_a_given_array_makes_heavy_is_counted():
    counts = np.full(BLOCKS, 200, np.int32)
    counts[437::1000] = 20000
    args = {"n": counts, "y": np.zeros(BLOCKS * 128, np.float32)}
    found, warnings = notes("by_data", args)
    program = warpbound.compile(WORK, "h200", kernel="by_data")
    trace = emulate.trace(program, warpbound.launch(grid=BLOCKS, block=128, args=args), [0, 437])
    light, heavy = (trace.executed[trace.warps[:, 0] == block].sum() for block in (0, 437))
    assert found["instructions"]["warp_instructions"] == (BLOCKS - 4) * light + 4 * heavy
    assert warnings == []


@pytest.mark.parametrize("gpu", ["t4", "h200", "rtx-5090"])
def test_one_block_in_a_thousand_that_its_number_makes_heavy_is_counted(gpu):
    args = {"y": np.zeros(BLOCKS * 128, np.float32)}
    found, warnings = notes("by_block", args, gpu)
    program = warpbound.compile(WORK, gpu, kernel="by_block")
    trace = emulate.trace(program, warpbound.launch(grid=BLOCKS, block=128, args=args), [0, 437])
    light, heavy = (trace.executed[trace.warps[:, 0] == block].sum() for block in (0, 437))
    assert found["instructions"]["warp_instructions"] == (BLOCKS - 4) * light + 4 * heavy
    assert heavy > 50 * light
    assert warnings == []


def test_no_warning_where_every_block_was_executed_or_all_do_the_same():
    y = np.zeros(16 * 128, np.float32)
    assert notes("by_block", {"y": y[: 2 * 128]}, grid=2)[1] == []
    x = np.zeros(1 << 20, np.float32)
    assert notes("alike", {"x": x, "y": x, "n": 1 << 20}, grid=1000)[1] == []


def test_blocks_most_of_which_end_at_once_are_counted():
    args = {"x": np.ones(4096, np.float32), "y": np.zeros(1000 * 128, np.float32)}
    program = warpbound.compile(WORK, "h200", kernel="one_in_17")
    launch = warpbound.launch(grid=1000, block=128, args=args)
    found = warpbound.analyze(program, "h200", launch)
    wanted = emulate.trace(program, launch, range(1000)).executed.sum()
    assert found["instructions"]["warp_instructions"] == wanted
    assert found["sample"]["sampling_error"] < 1e-9


TOGETHER = """
#include <cooperative_groups.h>
extern "C" __global__ void together(int* x, int* out) {
    __shared__ int s;
    auto grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) { s = blockIdx.x; x[blockIdx.x] = 1; }
    __syncthreads();
    for (int i = 0; i < 3; i++) grid.sync();
    out[grid.thread_rank()] = x[gridDim.x - 1 - blockIdx.x] + s;
}
"""


def launched_together(grid):
    program = warpbound.compile(TOGETHER, "h200")
    args = {"x": np.zeros(grid, np.int32), "out": np.zeros(grid * 256, np.int32)}
    return warpbound.analyze(program, "h200", warpbound.launch(grid=grid, block=256, args=args))


def test_a_grid_that_fills_the_gpu_and_waits_for_itself_is_executed_whole():
    found = launched_together(8 * 132)
    assert found["sample"]["blocks"] == found["sample"]["of_blocks"] == 8 * 132
    assert found["memory"]["global_store_requests"] >= 8 * 132 * 9
    said = found["confidence"]["assumed"]
    assert "waiting at a barrier of the whole grid costs no time here" in said
    assert not any("(barrier of the grid)" in note or "never written" in note for note in said)


def test_a_grid_that_waits_for_itself_must_fit():
    found = launched_together(8 * 132 + 1)
    assert found["mode"] == "static"
    assert found["not_executed"].startswith("1057 blocks with a barrier of the whole grid cannot be launched: 1056 fit")


@pytest.mark.parametrize("name", ["matmul_tiled", "saxpy", "reduction", "mandelbrot"])
def test_of_the_examples_only_the_one_whose_loop_depends_on_the_block_is_warned_of(name):
    launch = warpbound.launch(EXAMPLES / f"{name}.toml")
    program = warpbound.compile(EXAMPLES / f"{name}.cu", "h200", kernel=launch.kernel)
    said = warpbound.analyze(program, "h200", launch)["confidence"]["assumed"]
    assert any("heavy blocks" in note for note in said) == (name == "mandelbrot")


GUARDED = """
extern "C" __global__ void guarded(const float* x, float* y, int n, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        float v = 0.0f;
        if (k >= first) v = x[(i + k) % 2048];
        s = s * 0.5f + v;
    }
    y[i] = s;
}
"""


def test_a_load_that_no_lane_does_waits_for_no_memory(tmp_path):
    source = tmp_path / "guarded.cu"
    source.write_text(GUARDED)
    program = warpbound.compile(source, "sm_90")
    (load,) = (i for i, one in enumerate(program.instructions) if one.opcode == "LDG")
    assert program.instructions[load].guard, "the compiler branches around the load: the test needs another kernel"

    def parts(first):
        args = {"x": np.ones(2048, np.float32), "y": np.zeros(2048, np.float32), "n": 16, "first": first}
        entry = warpbound.analyze(program, "h200", warpbound.launch(grid=8, block=256, args=args))
        return entry["latency"]["parts"], entry["latency"]["by_level"]

    never, by_level = parts(1000)
    always, _ = parts(0)
    assert never["dram"] == never["l2"] == 0 < always["l2"] + always["dram"]
    assert by_level["dram"] == by_level["l1"]


def test_the_longest_warp_that_sets_the_time_leaves_another_resource_as_runner_up():
    asked = warpbound.launch(EXAMPLES / "saxpy.toml")
    program = warpbound.compile(EXAMPLES / "saxpy.cu", "h200", kernel=asked.kernel)
    case = checked_case(program, "h200", asked, Settings())
    work = work_of(case)
    typical = timing.before_form(case, work)
    longest = timing.before_form(case, replace(work, longest_warp=1e4))
    assert typical.bottleneck == "dram"
    assert (longest.bottleneck, longest.runner_up) == ("latency", "dram")
    assert longest.time_s == pytest.approx(1e4 * work.schedule.cycles / case.clock_hz)
    low, high = longest.interval
    assert low < longest.time_s < high


CHAIN = """
extern "C" __global__ void one_after_another(volatile int* ready, const float* x, float* y) {
    int behind = gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0) while (ready[behind] == 0);
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = x[behind];
    if (threadIdx.x == 0 && behind < gridDim.x - 1) ready[behind + 1] = 1;
}
extern "C" __global__ void for_ever(volatile int* ready) { while (ready[0] == 0); }
"""


@pytest.mark.parametrize("blocks", [64, 200])
def test_blocks_that_wait_for_each_other_are_all_executed(blocks):
    program = warpbound.compile(CHAIN, "h200", "one_after_another")
    ready = np.zeros(blocks, np.int32)
    ready[0] = 1
    arrays = {"ready": ready, "x": np.ones(blocks, np.float32), "y": np.zeros(64 * blocks, np.float32)}
    result = warpbound.analyze(program, "h200", warpbound.launch(grid=blocks, block=64, args=arrays))
    assert result["mode"] == "dynamic"
    assert result["sample"]["blocks"] == blocks
    assert result["memory"]["global_store_requests"] == 2 * blocks + blocks - 1
    assert any(note.startswith("blocks wait for what other blocks write") for note in result["confidence"]["assumed"])


def test_a_loop_that_no_block_ends_is_said_to_have_no_end():
    program = warpbound.compile(CHAIN, "h200", "for_ever")
    result = warpbound.analyze(program, "h200", warpbound.launch(grid=500, block=32, args={0: np.zeros(1, np.int32)}))
    assert result["mode"] == "static"
    assert "a loop without end" in result["not_executed"]
