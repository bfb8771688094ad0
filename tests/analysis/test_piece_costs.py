"""The answer says when its time rests on what a stored piece of a line costs, which one board was measured for."""

import numpy as np
import pytest

import warpbound

pytestmark = pytest.mark.cuda
SIDE = 1024
SOURCE = """
extern "C" __global__ void by_columns(const float* x, float* y) {
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    y[column * 1024 + row] = x[row * 1024 + column];
}
extern "C" __global__ void by_rows(const float* x, float* y) {
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    y[row * 1024 + column] = x[row * 1024 + column];
}
"""


def notes(kernel: str, board: str) -> list[str]:
    array = np.zeros(SIDE * SIDE, np.float32)
    launch = warpbound.launch(grid=(32, 128), block=(32, 8), args={"x": array, "y": array})
    found = warpbound.analyze(warpbound.compile(SOURCE, board, kernel=kernel), board, launch)
    return [note for note in found["confidence"]["assumed"] if "store_piece_cost" in note]


def test_stores_of_pieces_name_the_board_that_was_measured():
    assert notes("by_columns", "rtx-3080") == [
        "stored pieces of lines cost what they do on an RTX 3090 (store_piece_cost)"
    ]


def test_nothing_is_said_where_it_decides_nothing_or_was_measured():
    assert notes("by_rows", "rtx-3080") == []
    assert notes("by_columns", "rtx-3090") == []
