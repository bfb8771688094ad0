"""tools/wgmma_ladder: products of a warp group on an H100 as others measured them, and the page with their tables."""

import re
from itertools import combinations

import pytest

from support.breadth import some_of
from support.paths import ROOT
from support.sass_listing import code
from warpbound.program.operand_reads import operand_cycles
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import answer

LADDER = corpus(ROOT / "tools" / "wgmma_ladder")
_PAGES = (ROOT / "docs" / "accuracy" / "tensor-rates.md").read_text("utf-8")
PAGE = _PAGES.partition("products of a warp group")[2].partition("\n## ")[0]
CELLS = [tuple(map(float, pair)) for pair in re.findall(r"([\d.]+) / ([\d.]+)", PAGE)]
ROWS = list(zip(LADDER.rows, CELLS, strict=True))


def test_the_page_has_every_row_and_its_scores():
    assert [cells[0] for cells in CELLS] == [float(row.words["cycles"]) for row in LADDER.rows]
    judged = [cells for row, cells in ROWS if row.kind == "judged"]
    errors = [abs(predicted / measured - 1) for measured, predicted in judged]
    assert 100 * sum(errors) / len(errors) == pytest.approx(2.1, abs=0.06)  # the cells are rounded
    assert 100 * max(errors) == pytest.approx(5.0, abs=0.06)
    apart = [(a, b) for a, b in combinations(judged, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    assert all((a[0] < b[0]) == (a[1] < b[1]) for a, b in apart)
    assert f"mean error of {len(judged)} judged rows is 2.1 %, the greatest 5.0 %. Of {len(apart)} pairs" in PAGE


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("row, cells", some_of([ROWS[0], ROWS[11], *ROWS[1:11], *ROWS[12:]], 2, 0))
def test_a_row_is_predicted_as_the_page_says(row, cells):
    seconds = answer(LADDER, row, ()).seconds["warpbound"]
    cycles = seconds * row.clock_MHz * 1e6 / float(row.words["products"])
    assert cycles == pytest.approx(cells[1], abs=0.06)


@pytest.mark.parametrize("text, cycles", [
    ("HGMMA.64x64x16.F32 R24, gdesc[UR4], R24, gsb0", 16 + 64 / 4), ("HGMMA.64x8x16.F32 R24, gdesc[UR4], RZ, !UPT", 18),
    ("HGMMA.64x64x16.F32 R24, R4, gdesc[UR4], R24", 64 / 4), ("HMMA.16816.F32 R4, R8, R10, R4", 0),
])  # fmt: skip
def test_factors_in_registers_are_not_read_from_shared_memory(text, cycles):
    (instruction,) = code(f"B------:R-:W-:-:S04  {text}")
    assert operand_cycles(instruction) == cycles
