"""Two warp groups that multiply alternately (ping-pong): results, and the time of a block whose groups take turns."""

from functools import cache

import numpy as np
import pytest

import warpbound
from support.paths import ROOT
from warpbound.analysis import pipelines
from warpbound.analysis.settings import Settings
from warpbound.machine import override

pytestmark = pytest.mark.cuda

SOURCE = ROOT / "tests" / "analysis" / "ping_pong.cu"
ROWS, COLUMNS, TILES, CLOCK_HZ = 64, 256, 16, 1.7e9
BOARD = override(warpbound.gpu("h100-sxm"), {"copy_engine_bandwidth": 256})  # so that products bind, not copies


@cache
def program(late):
    return warpbound.compile(SOURCE, BOARD, defines={"LATE": late}, options=["-arch=sm_90a"])


def packed(matrix, rows):
    """Tiles as wgmma reads them: slices of 16 columns, in each the 8 x 8 matrices."""
    parts = matrix.reshape(matrix.shape[0] // rows, rows // 8, 8, matrix.shape[1] // 64, 4, 2, 8)
    return np.ascontiguousarray(parts.transpose(0, 3, 4, 1, 5, 2, 6))


@pytest.mark.parametrize("late", [0, 1])
def test_values_are_numpys(late):
    rows, columns, depth = 4 * ROWS, 2 * COLUMNS, 128
    draw = np.random.default_rng(1)
    a, b = (draw.integers(-4, 5, (size, depth)).astype(np.float16) for size in (rows, columns))
    numbers = {"n": columns, "k": depth, "tiles": rows * columns // (ROWS * COLUMNS)}
    arrays = {"a": packed(a, ROWS), "b": packed(b, COLUMNS), "c": np.zeros((rows, columns), np.float32)}
    out = warpbound.run(program(late), warpbound.launch(grid=2, block=384, smem=163840, args=arrays | numbers))
    np.testing.assert_array_equal(out["c"], a.astype(np.float32) @ b.astype(np.float32).T)


def timed(late, depth, monkeypatch):
    """Cycles of a tile as predicted, and as the simulated block has them; one block takes all tiles."""
    timelines, simulate = [], pipelines.timeline
    monkeypatch.setattr(pipelines, "timeline", lambda *of: timelines.append(simulate(*of)) or timelines[-1])
    rows = TILES * ROWS
    arrays = {"a": f"f16[{rows * depth}]", "b": f"f16[{COLUMNS * depth}]", "c": f"f32[{rows},{COLUMNS}]"}
    numbers = {"n": COLUMNS, "k": depth, "tiles": TILES}
    launch = warpbound.launch(grid=1, block=384, smem=163840, args=arrays | numbers)
    entry = warpbound.analyze(program(late), BOARD, launch, Settings(clock=CLOCK_HZ / 1e6))
    return entry["latency"]["cycles"] / TILES, timelines[0].cycles / TILES


@pytest.mark.broad
def test_a_group_stores_while_the_other_multiplies(monkeypatch):
    """Tests in vain of a group that waits for its turn do not count: with them the block was a third too slow."""
    depth = 1024
    products = depth / 16 * COLUMNS / 2
    alternate, simulated = timed(0, depth, monkeypatch)
    late, simulated_late = timed(1, depth, monkeypatch)
    assert alternate == pytest.approx(simulated, rel=0.07)
    assert late == pytest.approx(simulated_late, rel=0.07)
    assert products < alternate < 1.3 * products
    assert late > alternate + 200  # the stores' own instructions, between the products of two tiles
