"""The error of a sample's traffic widens the interval of the time."""

import math

import numpy as np
import pytest

import warpbound
from warpbound.analysis import certainty, trust
from warpbound.headline import LaunchPrediction
from warpbound.headline.launch import INTERVAL
from warpbound.memory.records import Errors
from warpbound.workload import Memory, Workload

GATHER = """
extern "C" __global__ void gather(const int* start, const int* at, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = start[row]; k < start[row + 1]; ++k) sum += x[at[k]];
    y[row] = sum;
}
"""


def prediction(time_s, interval):
    nothing = {"dram": 1.0}
    return LaunchPrediction(
        time_s, interval, 1.0, nothing, nothing, nothing, "dram", "l2", 1.0, stalls=nothing, doubts={}, assumed=()
    )


def test_edges_add_in_squares():
    found = certainty.with_sampling(prediction(1.0, (1 / 1.1, 1.1)), 0.9, 1.2)
    low, high = (math.log(edge) for edge in found.interval)
    assert high == pytest.approx(math.hypot(math.log(1.1), INTERVAL * math.log(1.2)))
    assert low == pytest.approx(-math.hypot(math.log(1.1), INTERVAL * math.log(1 / 0.9)))
    assert found.doubts == {certainty.SAMPLED: pytest.approx(0.15)}
    same = certainty.with_sampling(prediction(1.0, (1 / 1.1, 1.1)), 1.0, 1.0)
    assert same.interval == pytest.approx((1 / 1.1, 1.1))


def test_shifted_traffic():
    memory = Memory(l1_sectors_load=10.0, l2_sectors_read=8.0, dram_bytes_read=64.0, dram_bytes_written=32.0)
    work = Workload("w", "warp", (0, 0), 1.0, 32.0, {}, {}, {}, {}, memory, 0.0, 1.0, {}, warps=4.0)
    errors = Errors(l2_sectors_read=12.0, dram_bytes_read=40.0, dram_bytes_written=200.0)
    more, less = (trust.shifted(work, errors, by).memory for by in (1.0, -1.0))
    assert (more.l2_sectors_read, less.l2_sectors_read) == (10.0, 5.0)  # no more than is loaded
    assert (more.dram_bytes_read, less.dram_bytes_read) == (74.0, 54.0)
    assert (more.dram_bytes_written, less.dram_bytes_written) == (82.0, 0.0)


@pytest.mark.cuda
def test_the_interval_of_uneven_gathers_is_wider(monkeypatch):
    rng, rows = np.random.default_rng(1), 1024 * 256
    start = np.concatenate([[0], np.cumsum(rng.geometric(0.1, rows))]).astype(np.int32)
    at = rng.integers(0, 1 << 24, start[-1]).astype(np.int32)
    args = {"start": start, "at": at, "x": np.zeros(1 << 24, np.float32), "y": np.zeros(rows, np.float32)}
    launch = warpbound.launch(grid=1024, block=256, args=args)
    program = warpbound.compile(GATHER, warpbound.gpu("a100-sxm-80gb"))
    found = warpbound.analyze(program, "a100-sxm-80gb", launch)
    stated = found["sample"]["memory_error"]
    assert 0 < stated["dram_bytes_read"] < 0.5 * found["memory"]["dram_bytes_read"]
    assert any(doubt["parameter"] == certainty.SAMPLED for doubt in found["doubts"])
    monkeypatch.setattr(certainty, "with_sampling", lambda timed, less, more: timed)
    low, high = warpbound.analyze(program, "a100-sxm-80gb", launch)["time_interval_s"]
    assert found["time_interval_s"][0] < low < high < found["time_interval_s"][1]
