"""docs/accuracy/attention.md: forward attention on an H100 as others measured it, and as the example is predicted."""

import math
import re
from itertools import combinations

import pytest

pytest.importorskip("triton")

import warpbound.triton as front
from support.breadth import some_of
from support.paths import ROOT
from support.triton_examples import attention

HEADS, TILE, DEPTH = 16, 128, 128
PAGE = (ROOT / "docs" / "accuracy" / "attention.md").read_text("utf-8")
ROW = re.compile(r"^\| (\d+) \| (\d+) \| ([\d.]+) \| (\d+) \| ([\d.]+) \|", re.MULTILINE)
ROWS = [tuple(map(float, cells)) for cells in ROW.findall(PAGE)]


def test_the_order_is_right_and_all_rates_are_too_high_by_one_factor():
    ratios = [ratio for *_, ratio in ROWS]
    assert all(round(predicted / measured, 2) == ratio for _, _, measured, predicted, ratio in ROWS)
    assert max(ratios) < 1.04 * min(ratios)
    apart = [(a, b) for a, b in combinations(ROWS, 2) if max(a[2], b[2]) > 1.1 * min(a[2], b[2])]
    assert len(apart) >= 8
    assert all((a[2] < b[2]) == (a[3] < b[3]) for a, b in apart)


@pytest.mark.broad
@pytest.mark.parametrize("batch, length, measured, predicted, ratio", some_of([ROWS[2], ROWS[0], ROWS[3]], 1, 0))
def test_a_row_is_predicted_as_the_page_says(batch, length, measured, predicted, ratio):
    heads, tokens = int(batch) * HEADS, int(length)
    array = f"f16[{heads},{tokens},{DEPTH}]"
    scale, tiles = math.log2(math.e) / math.sqrt(DEPTH), {"TILE_M": TILE, "TILE_N": 64, "DEPTH": DEPTH}
    entry = front.analyze(
        attention(), *[f"{array}:randn"] * 3, f"{array}:zeros", tokens, scale, grid=(tokens // TILE, heads),
        gpu="h100-sxm", **tiles, num_warps=8,
    )  # fmt: skip
    operations = 4 * heads * tokens**2 * DEPTH
    assert operations / entry["time_s"] / 1e12 == pytest.approx(predicted, rel=5e-3)
