"""Counts of data that blocks gather: from a few blocks those of all blocks, whatever is popular."""

import math

import numpy as np
import pytest

from warpbound import emulate
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.case import checked_case
from warpbound.analysis.sampled import cache_facts
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory.gathered_data import gathering, growth, linear
from warpbound.memory.traffic import How, traffic
from warpbound.program.source_files import compile_program

BOARD = "t4"
BLOCKS, THREADS, TIMES = 1500, 64, 8
CODE = """
extern "C" __global__ void gather(const float* __restrict__ x, const int* __restrict__ index, float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    for (int k = 0; k < m; k++) v += x[index[k * gridDim.x * blockDim.x + i]];
    y[i] = v;
}
extern "C" __global__ void shifted(const float* __restrict__ x, float* y, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(i * 8 + m) & 0xfffff];
}
"""


def touched(popularity, size, blocks, each):
    """Sectors, blocks and arrays of accesses at random."""
    random = np.random.default_rng(7)
    if popularity == "equal":
        sector = random.integers(0, size, blocks * each)
    else:
        sector = np.minimum(size - 1, (random.pareto(1.0, blocks * each) * 8).astype(np.int64))
    return sector, np.repeat(np.arange(blocks), each), np.zeros(blocks * each, np.int64)


@pytest.mark.parametrize(("popularity", "size"), [("equal", 20_000), ("equal", 300_000), ("unequal", 1 << 22)])
@pytest.mark.parametrize("sampled", [8, 24])
def test_sectors_of_a_launch_follow_from_a_few_blocks(popularity, size, sampled):
    blocks, each = 1000, 600
    sector, block, array = touched(popularity, size, blocks, each)
    whole = len(np.unique(sector))
    own = block < sampled
    found = growth(sector[own], block[own], array[own], np.array([True, False]), (sampled, blocks))
    known = len(np.unique(sector[own]))
    last = known - len(np.unique(sector[block < sampled - 1]))
    estimate = known + (blocks - sampled) * last * found.against_linear(blocks)[0]
    different = found.different(np.array([estimate, 0.0]), np.array([size, np.inf]))[0]
    assert min(size, different) == pytest.approx(whole, rel=0.25 if popularity == "equal" else 0.6)
    assert found.least[0] <= 1.1 * whole
    assert found.exponent[1] == 0.0


def test_blocks_that_share_nothing_add_as_much_as_each_other():
    sector = np.arange(4000)
    found = growth(sector, sector // 100, 0 * sector, np.array([True, True]), (40, 1000))
    assert found.against_linear(1000).tolist() == [1.0, 1.0]
    assert found.different(np.array([1e5, 1e5]), np.array([1e5, np.inf])).tolist() == [1e5, 1e5]
    assert linear(2).against_linear(10).tolist() == [1.0, 1.0]


@pytest.mark.cuda
def test_only_loaded_values_make_a_gather():
    for kernel, gathers in (("gather", True), ("shifted", False)):
        assert gathering(compile_program(CODE, "sm_75", kernel)).any() == gathers


@pytest.mark.cuda
@pytest.mark.parametrize(("popularity", "size"), [("equal", 1 << 15), ("equal", 1 << 21), ("unequal", 1 << 21)])
def test_counts_of_a_gather_are_those_of_all_blocks(popularity, size):
    """If each block added as much, the second would read 19 % too much from DRAM, the third 35 %; if each had its part
    of L1 to itself, the third would read 18 % too much from L2."""
    index = touched(popularity, size, BLOCKS, THREADS * TIMES)[0].astype(np.int32)
    place = np.random.default_rng(3).permutation(size).astype(np.int32)
    args = {"x": f"f32[{size}]:rand", "index": place[index], "y": f"f32[{BLOCKS * THREADS}]", "m": TIMES}
    program, asked = compile_program(CODE, "sm_75", "gather"), launch(grid=BLOCKS, block=THREADS, args=args)
    result = analyze_kernel(program, BOARD, asked, Settings(cache="cold"))
    case = checked_case(program, gpu(BOARD), asked, Settings(cache="cold"))
    trace = emulate.trace(program, asked, range(math.prod(asked.grid)))
    whole = traffic(program, trace, cache_facts(case), How(cache="cold", grid=asked.grid, sector_limit=10**9))
    assert result.sample.blocks < 0.05 * BLOCKS
    assert result.memory.l2_sectors_read == pytest.approx(whole.l2_sectors_read, rel=0.05)
    assert result.memory.dram_bytes_read == pytest.approx(whole.dram_bytes_read, rel=0.08)
