"""tools/tensor_ladders: products of a warp on an H100 as others measured them, and the page with the table of them."""

import re
from itertools import combinations

import pytest

from support.breadth import some_of
from support.paths import ROOT
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import answer

LADDERS = corpus(ROOT / "tools" / "tensor_ladders")
PAGE = (ROOT / "docs" / "accuracy" / "tensor-rates.md").read_text("utf-8")
WARPS = (1, 2, 4, 8, 16, 32)
TABLE = {  # shape, types, chains, warps -> cycles measured and predicted
    (*line[:3], str(warps)): tuple(map(float, re.findall(r"[\d.]+", cell)))
    for line in (row.strip("| ").split(" | ") for row in PAGE.splitlines() if re.match(r"\| m\d+n", row))
    for warps, cell in zip(WARPS, line[3:], strict=True)
}
ROWS = sorted(LADDERS.rows, key=lambda row: (row.words["warps"] != "16", row.words["chains"], row.words["shape"]))


def key(row):
    return tuple(row.words[name] for name in ("shape", "types", "chains", "warps"))


def test_the_page_has_every_row_and_its_scores():
    measured = {key(row): float(row.words["cycles"]) for row in LADDERS.rows}
    assert {place: cells[0] for place, cells in TABLE.items()} == pytest.approx(measured, abs=6e-3)
    judged = [TABLE[key(row)] for row in LADDERS.rows if row.kind == "judged"]
    errors = [abs(predicted / known - 1) for known, predicted in judged]
    assert len(judged) == 121
    assert 100 * sum(errors) / len(judged) == pytest.approx(1.3, abs=0.06)  # the cells are rounded
    assert 100 * max(errors) == pytest.approx(5.0, abs=0.06)
    apart = [(a, b) for a, b in combinations(judged, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    assert all((a[0] < b[0]) == (a[1] < b[1]) for a, b in apart)
    assert "mean error of 121 judged rows is 1.3 %, the greatest 5.0 %" in PAGE
    assert f"Of {len(apart):,} pairs" in PAGE


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("row", some_of(ROWS, 4, 0), ids=["-".join(key(row)) for row in ROWS])
def test_a_row_is_predicted_as_the_page_says(row):
    seconds = answer(LADDERS, row, ()).seconds["warpbound"]
    cycles = seconds * row.clock_MHz * 1e6 / float(row.words["products"])
    assert cycles == pytest.approx(TABLE[key(row)][1], rel=0.01)
