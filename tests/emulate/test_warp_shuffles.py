"""Shuffles of which some lanes take no part."""

import numpy as np
import pytest

import warpbound

SOURCE = """
extern "C" __global__ void sums(const int *x, int *y, int parts) {
    int lane = threadIdx.x % 32, mine = x[threadIdx.x];
    unsigned int mask = __ballot_sync(0xffffffffu, lane < parts);
    if (lane < parts) {
        for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(mask, mine, step);
        y[threadIdx.x] = mine;
    }
}
"""


@pytest.mark.cuda
@pytest.mark.parametrize("parts", [1, 5, 8, 31, 32])
def test_lanes_that_take_no_part_add_nothing(parts: int) -> None:
    program = warpbound.compile(SOURCE, "t4", kernel="sums")
    x = np.arange(1, 65, dtype=np.int32)
    args = {"x": x, "y": np.zeros(64, np.int32), "parts": np.int32(parts)}
    y = warpbound.run(program, warpbound.launch(grid=(1,), block=(64,), args=args))["y"]
    assert y[0] == x[:parts].sum()
    assert y[32] == x[32 : 32 + parts].sum()
