"""A launch that its longest block sets: its time, and what the answer explains."""

import numpy as np
import pytest

import warpbound

GIANT = """
extern "C" __global__ void giant(const int* length, const float* x, float* y) {
    float s = 0;
    int n = length[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += x[blockIdx.x * 64 + i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
LOOP, LONG, BLOCKS, GPU = 5, 100_000, 4096, "rtx-4090"


@pytest.fixture(scope="module")
def program():
    return warpbound.compile(GIANT, GPU)


def answered(program, lengths):
    args = {"length": lengths.astype(np.int32), "x": f"f32[{LONG + 64 * BLOCKS}]:rand", "y": f"f32[{256 * BLOCKS}]"}
    return warpbound.analyze(program, GPU, warpbound.launch(grid=len(lengths), block=256, args=args))


@pytest.mark.cuda
def test_a_launch_with_one_giant_block_takes_as_long_as_that_block_alone(program):
    lengths = np.full(BLOCKS, 256)
    lengths[1234] = LONG
    among, alone = answered(program, lengths), answered(program, np.array([LONG]))
    assert among["bottleneck"] == "latency"
    assert among["time_s"] == pytest.approx(alone["time_s"], rel=0.03)
    assert among["longest_block_s"] == pytest.approx(alone["time_s"], rel=0.05)
    assert alone["longest_block_s"] is None
    assert among["latency"]["cycles"] == pytest.approx(alone["latency"]["cycles"], rel=0.01)
    hottest = [max(result["lines"], key=lambda line: line["cycles"]) for result in (among, alone)]
    assert hottest[0]["line"] == hottest[1]["line"]
    assert hottest[0]["cycles"] == pytest.approx(hottest[1]["cycles"], rel=0.01)
    (more_loads,) = [change["speedup"] for change in among["whatifs"] if "loads in flight" in change["change"]]
    assert 3.0 < more_loads < 8.0  # of eight times


@pytest.mark.cuda
def test_a_launch_of_equal_blocks_has_no_longest(program):
    assert answered(program, np.full(BLOCKS, 2560))["longest_block_s"] is None
