"""The error of a sample's traffic widens the interval of the time."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import warpbound
from warpbound.analysis import interval
from warpbound.analysis.interval import Interval
from warpbound.memory.traffic_counts import Errors
from warpbound.time_model.launch import INTERVAL
from warpbound.workload import Memory, Workload
from warpbound.workload.dynamic import Sample, sampling_error

GATHER = """
extern "C" __global__ void gather(const int* start, const int* at, const float* x, float* y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int k = start[row]; k < start[row + 1]; ++k) sum += x[at[k]];
    y[row] = sum;
}
"""


def test_edges_add_in_squares():
    found = Interval(1.0, 1 / 1.1, 1.1, {}).with_sampling(0.9, 1.2)
    low, high = math.log(found.low), math.log(found.high)
    assert high == pytest.approx(math.hypot(math.log(1.1), INTERVAL * math.log(1.2)))
    assert low == pytest.approx(-math.hypot(math.log(1.1), INTERVAL * math.log(1 / 0.9)))
    assert found.doubts == {interval.SAMPLED: pytest.approx(0.15)}
    same = Interval(1.0, 1 / 1.1, 1.1, {}).with_sampling(1.0, 1.0)
    assert (same.low, same.high) == pytest.approx((1 / 1.1, 1.1))


def test_shifted_traffic():
    memory = Memory(l1_sectors_load=10.0, l2_sectors_read=8.0, dram_bytes_read=64.0, dram_bytes_written=32.0)
    work = Workload("w", "warp", (0, 0), 1.0, 32.0, {}, {}, {}, {}, memory, 0.0, 1.0, {}, warps=4.0)
    errors = Errors(l2_sectors_read=12.0, dram_bytes_read=40.0, dram_bytes_written=200.0)
    more, less = (interval.shifted(work, errors, by).memory for by in (1.0, -1.0))
    assert (more.l2_sectors_read, less.l2_sectors_read) == (10.0, 5.0)  # no more than is loaded
    assert (more.dram_bytes_read, less.dram_bytes_read) == (74.0, 54.0)
    assert (more.dram_bytes_written, less.dram_bytes_written) == (82.0, 0.0)


@pytest.mark.cuda
@pytest.mark.broad
def test_the_interval_of_uneven_gathers_is_wider(monkeypatch):
    rng, rows = np.random.default_rng(1), 1024 * 256
    of_block = np.repeat(rng.geometric(0.05, 1024), 256)
    start = np.concatenate([[0], np.cumsum(of_block)]).astype(np.int32)
    at = rng.integers(0, 1 << 24, start[-1]).astype(np.int32)
    args = {"start": start, "at": at, "x": np.zeros(1 << 24, np.float32), "y": np.zeros(rows, np.float32)}
    launch = warpbound.launch(grid=1024, block=256, args=args)
    program = warpbound.compile(GATHER, warpbound.gpu("a100-sxm-80gb"))
    found = warpbound.analyze(program, "a100-sxm-80gb", launch)
    stated = found["sample"]["memory_error"]
    assert 0 < stated["dram_bytes_read"] < 0.5 * found["memory"]["dram_bytes_read"]
    assert any(doubt["parameter"] == interval.SAMPLED for doubt in found["doubts"])
    monkeypatch.setattr(Interval, "with_sampling", lambda edges, less, more: edges)
    low, high = warpbound.analyze(program, "a100-sxm-80gb", launch)["time_interval_s"]
    assert found["time_interval_s"][0] < low < high < found["time_interval_s"][1]


GROWING = """
extern "C" __global__ void triangle(const float* a, float* sums, int n) {
    int row = blockIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int column = threadIdx.x; column <= row; column += 32) sum += a[(long long)row * n + column];
    sums[row * 32 + threadIdx.x] = sum;
}
"""


@pytest.mark.cuda
@pytest.mark.parametrize("board", ["t4", "h200"])
@pytest.mark.parametrize("rows", [2000, 6000])
def test_work_that_grows_along_the_grid_is_as_well_known_as_is_said(board, rows):
    """The blocks of one SM lie to one side of a grid of 2000: on a T4 they are 30 % heavier than the mean."""
    arrays = {"a": f"f32[{rows * rows}]:zeros", "sums": f"f32[{32 * rows}]:zeros", "n": rows}
    program = warpbound.compile(GROWING, board)
    result = warpbound.analyze(program, board, warpbound.launch(grid=rows, block=32, args=arrays))
    adds = sum(row + 1 for row in range(rows))
    error = result["sample"]["sampling_error"]
    assert 0 < error < 0.06
    assert result["flop"]["fp32"] == pytest.approx(adds, rel=2 * error)


@pytest.mark.parametrize("slope, offset", [(0.0, 0), (1.0, 0), (1.0, 3000), (-1.0, 3000)])
def test_a_drift_counts_by_how_far_the_sample_lies_off(slope, offset):
    blocks = 5000 + offset + 100 * np.arange(-8, 9)
    issued = np.round(9000 + slope * (blocks - 5000) + np.tile([-30, 30], 9)[:17]).astype(np.int64)
    trace = SimpleNamespace(
        blocks=blocks, of_blocks=10001, executed=issued[:, None], warps=np.stack([blocks, 0 * blocks], axis=1)
    )
    found = sampling_error(trace, Sample(blocks, np.full(17, 10001 / 17)))
    chance = issued.std(ddof=1) / np.sqrt(17) * np.sqrt(1 - 17 / 10001)
    assert found == pytest.approx(np.hypot(chance, slope * offset) / issued.mean(), rel=0.02)


UNEVEN = """
extern "C" __global__ void uneven(float* y, int period, int from, int to) {
    int b = blockIdx.x, n = (period && b % period == 0) || (b >= from && b < to) ? 210 : 10;
    float s = 1.0f;
    #pragma unroll 1
    for (int k = 0; k < n; ++k) s = fmaf(s, s, 1.0f);
    y[b * 64 + threadIdx.x] = s;
}
"""


@pytest.mark.cuda
@pytest.mark.parametrize(("blocks", "period", "begin", "end"), [
    (12, 0, 0, 6), (100, 0, 0, 50), (1000, 0, 500, 1000), (8192, 0, 0, 4096),  # a half of the grid
    (8192, 0, 6553, 8192),  # its last fifth
    (8192, 2, 0, 0), (8192, 3, 0, 0), (1000, 4, 0, 0), (8192, 5, 0, 0),  # periods, also such as those of one SM have
    (1000, 0, 0, 1), (1000, 0, 999, 1000),  # an end alone
])  # fmt: skip
@pytest.mark.parametrize("board", ["t4", "h200"])
def test_blocks_that_do_more_are_seen_wherever_they_lie(board, blocks, period, begin, end):
    launched = warpbound.launch(
        grid=blocks, block=64, args={"y": np.zeros(blocks * 64, np.float32), "period": period, "from": begin, "to": end}
    )
    answer = warpbound.analyze(warpbound.compile(UNEVEN, board), board, launched)
    number = np.arange(blocks)
    heavy = int(np.sum((number % period == 0) if period else (number >= begin) & (number < end)))
    true = 2 * 64 * (10 * blocks + 200 * heavy)
    stated = answer["sample"]["sampling_error"]
    assert answer["flop"]["fp32"] == pytest.approx(true, rel=max(0.01, 3 * stated))
    assert stated < 0.15
