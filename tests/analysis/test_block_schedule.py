"""Blocks that differ: their classes in the answer, their schedule on the SMs, idle SMs, whole blocks per SM."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpbound
from warpbound.analysis import block_schedule
from warpbound.analysis.block_schedule import makespan

TRIANGLE = """
extern "C" __global__ void rising(const float* x, float* y) {
    float s = 0;
    for (int j = 0; j < 4 * blockIdx.x; j++) s = s * 1.0001f + x[j & 1023];
    y[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void falling(const float* x, float* y) {
    float s = 0;
    for (int j = 0; j < 4 * (gridDim.x - blockIdx.x); j++) s = s * 1.0001f + x[j & 1023];
    y[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void mixed(const float* x, float* y) {
    float s = 1;
    for (int j = 0; j < (blockIdx.x % 2 ? 1024 : 512); j++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void some(const float* x, float* y, int every, int first) {
    if (blockIdx.x % every || blockIdx.x < first) return;
    for (int j = 0; j < 32; j++) y[(blockIdx.x * 32 + j) * 64 + threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void kinds(const float* x, float* y, int first, int second) {
    float s = threadIdx.x;
    if (blockIdx.x % 2 ? first : second)
        for (int j = 0; j < 64; j++) s = x[((int)s * 7 + j) & 1023];
    else
        for (int j = 0; j < 2048; j++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void alike(const float* x, float* y) {
    float s = 1;
    for (int j = 0; j < 4096; j++) s = s * 1.0001f + 0.5f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""


def followed(durations, places):
    ends = [0.0] * places
    for duration in durations:
        heapq.heapreplace(ends, ends[0] + duration)
    return max(ends)


@given(st.lists(st.floats(0.1, 9.0), min_size=1, max_size=60), st.integers(1, 8))
def test_makespan_of_few_blocks(durations, places):
    assert makespan(np.array(durations), places) == pytest.approx(followed(durations, places))


@pytest.mark.parametrize("heavy", [0, 20_000, 29_000, 29_999])
def test_makespan_of_many_blocks_has_the_heavy_one(heavy):
    durations = np.random.default_rng(1).uniform(0.5, 1.5, 30_000)
    durations[heavy] = 700.0
    assert makespan(durations, 64) == pytest.approx(followed(durations, 64), rel=0.02)


def test_longest_first_is_no_later(monkeypatch):
    durations = np.sort(np.random.default_rng(2).uniform(0, 9, 500))
    assert makespan(durations[::-1], 16) < makespan(durations, 16)


def answered(kernel, grid, block=64, smem=0, **args):
    program = warpbound.compile(TRIANGLE, "h200", kernel=kernel)
    words = {"x": "f32[1024]:ones", "y": f"f32[{max(grid * block, grid * 2048)}]"} | args
    launch = warpbound.launch(grid=grid, block=block, smem=smem, args=words)
    return warpbound.analyze(program, "h200", launch)


@pytest.mark.cuda
def test_a_triangle_takes_less_with_its_longest_blocks_first():
    rising, falling = (answered(name, 1024, smem=100 << 10) for name in ("rising", "falling"))
    assert rising["instructions"]["warp_instructions"] == pytest.approx(
        falling["instructions"]["warp_instructions"], rel=0.01
    )
    assert falling["time_s"] < rising["time_s"]
    counts = [row["count"] for row in rising["blocks"]]
    assert sum(counts) == 1024
    assert sum(row["share_of_time"] for row in rising["blocks"]) == pytest.approx(1.0)
    assert max(row["trips"][0] for row in rising["blocks"]) > 200


@pytest.mark.cuda
def test_idle_blocks_are_a_class_and_cost_time_where_work_waits_for_them():
    among, before = (answered("some", 6000, every=every, first=first) for every, first in ((3, 0), (1, 4000)))
    for result in (among, before):
        assert sum(row["count"] for row in result["blocks"]) == 6000
        (idle,) = [row for row in result["blocks"] if row["count"] == 4000]
        assert idle["share_of_time"] < 0.5
    assert among["time_s"] < before["time_s"]


@pytest.mark.cuda
def test_a_launch_of_blocks_that_leave_is_bound_by_their_starts():
    mostly, none = answered("some", 64_000, every=64, first=0), answered("some", 1000, every=1, first=0)
    assert mostly["bottleneck"] == "launch"
    (starts,) = [bound for bound in mostly["bounds"] if bound["resource"] == "launch"]
    assert starts["utilization"] == pytest.approx(1.0, abs=0.05)
    (fewer,) = [change["speedup"] for change in mostly["whatifs"] if "blocks that work" in change["change"]]
    assert fewer == pytest.approx(mostly["time_s"] / none["time_s"], rel=0.1)


@pytest.mark.cuda
def test_a_class_takes_the_time_of_its_own_path_not_of_its_instructions():
    chases, sums, both = (answered("kinds", 2000, first=a, second=b) for a, b in ((1, 1), (0, 0), (1, 0)))
    cycles = [result["latency"]["cycles"] for result in (chases, sums)]
    issued = [result["instructions"]["warp_instructions"] for result in (chases, sums)]
    assert issued[0] / issued[1] < 0.5 * cycles[0] / cycles[1]
    assert [row["count"] for row in both["blocks"]] == [1000, 1000]
    shares = sorted(cycles[at] / sum(cycles) for at in (0, 1))
    assert sorted(row["share_of_time"] for row in both["blocks"]) == pytest.approx(shares, abs=0.02)


@pytest.mark.cuda
def test_idle_sms_are_counted_and_to_fill_them_comes_first():
    few = answered("alike", 3)
    assert few["sms"] == {"with_a_block": 3, "count": 132}
    assert "fill the GPU" in few["whatifs"][0]["change"]
    assert few["whatifs"][0]["speedup"] > 3
    assert not any(change["change"].startswith("twice the") and "blocks" in change["change"]
                   for change in few["whatifs"])  # fmt: skip
    assert answered("alike", 132)["sms"]["with_a_block"] == 132


@pytest.mark.cuda
def test_the_busiest_sm_has_whole_blocks():
    even, one_more = answered("alike", 264, 1024), answered("alike", 265, 1024)
    assert one_more["time_s"] > 1.3 * even["time_s"]
    doubled = [change for change in one_more["whatifs"] if "ILP x2" in change["change"]]
    assert all(change["speedup"] < 1.2 for change in doubled)


@pytest.mark.cuda
def test_blocks_that_differ_do_not_run_in_waves():
    whole = 132 * 32  # blocks of 64 threads that an H200 holds
    few, more = (answered("mixed", blocks) for blocks in (4 * whole, 4 * whole + 132))
    work = [result["instructions"]["warp_instructions"] for result in (few, more)]
    assert more["bottleneck"] != "latency"
    assert 1 < more["time_s"] / few["time_s"] < 1 + 2 * (work[1] / work[0] - 1)


def test_sampled_blocks_stand_for_those_nearest_by_length():
    sample = block_schedule.Sample(
        np.array([0, 5]), np.array([1.0, 9.0]), np.array([0, 2]),
        of_grid=np.array([0, 1, 1, 3, 3, 2, 2, 2, 2, 2]), class_length=np.array([10.0, 12.0, 40.0, 30.0]),
    )  # fmt: skip
    assert block_schedule._stands_for(sample, sample.of_class, 10) == {0: 3, 2: 7}
