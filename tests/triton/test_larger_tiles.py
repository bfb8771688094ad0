"""Larger tiles as a what-if: promised for code of one tile, obtained by the same kernel compiled for the larger one."""

from functools import cache

import pytest

pytest.importorskip("triton")

import warpbound
import warpbound.triton as front
from support import triton_kernels as kernels
from warpbound.machine import override
from warpbound.triton import descriptor

pytestmark = [pytest.mark.cuda, pytest.mark.broad]
SIZE, DEPTH, ROWS = 2048, 64, 128


@cache
def answer(board, columns, **parameters):
    """A product of 2048 x 2048 x 2048 in tiles of 128 rows and so many columns, four warps for each 128 columns."""
    gpu = override(warpbound.gpu(board), parameters) if parameters else warpbound.gpu(board)
    factor, boxes = f"f16[{SIZE},{SIZE}]:rand", ([ROWS, DEPTH], [DEPTH, columns])
    own = [descriptor(factor, boxes[0]), descriptor(factor, boxes[1]),
           descriptor(f"f32[{SIZE},{SIZE}]:zeros", [ROWS, columns])]  # fmt: skip
    return front.analyze(
        kernels.product_of_boxes, *own, SIZE, ROWS, columns, DEPTH, grid=(SIZE // ROWS, SIZE // columns), gpu=gpu,
        num_warps=8 if columns == 256 else 4,
    )  # fmt: skip


def promised(entry):
    return next((w for w in entry["whatifs"] if w["mechanism"] == "larger tiles"), None)


@pytest.mark.parametrize(("board", "columns"), [("h200", 64), ("h200", 128), ("b200", 64), ("b200", 128)])
def test_the_promise_is_obtained_by_code_with_the_larger_tile(board, columns):
    before, after = answer(board, columns), answer(board, 2 * columns)
    assert promised(before)["speedup"] == pytest.approx(before["time_s"] / after["time_s"], rel=0.06)


def test_the_promise_says_what_is_shared_and_what_it_takes():
    """Blocks along y share the 16 KiB of A, of 24 KiB that each stage holds; the block then has 8 KiB more a stage."""
    entry = answer("h200", 64)
    row, stages = promised(entry), entry["pipelines"][0]
    assert row["change"] == "tiles of two blocks along y in one block, with 4 more warps that multiply"
    assert row["why"].startswith("67 % of what a block copies")
    assert stages["stage_bytes"] == 24 * 1024
    assert row["shared_bytes"] == pytest.approx(8 * 1024 * stages["stages"], rel=0.02)


def test_no_larger_tile_without_room():
    """256 columns of sums fill the registers of an SM."""
    assert promised(answer("h200", 256)) is None


def test_the_promise_is_obtained_where_shared_memory_binds():
    """With L2 out of the way: a larger tile also brings fewer bytes to shared memory and delivers fewer from it."""
    before, after = (answer("h200", columns, l2_bandwidth=30000) for columns in (64, 128))
    assert before["bottleneck"] == "shared"
    assert promised(before)["speedup"] == pytest.approx(before["time_s"] / after["time_s"], rel=0.03)
