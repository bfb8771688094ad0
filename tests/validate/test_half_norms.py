"""tools/half_norms: norms and an activation in BF16 as others measured them; the page with their table."""

import re
from itertools import combinations

import pytest

from support.breadth import some_of
from support.paths import ROOT
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import answer

ROWS = corpus(ROOT / "tools" / "half_norms").rows
PAGE = (ROOT / "docs" / "accuracy" / "half-norms.md").read_text("utf-8")
CELLS = [tuple(map(float, pair)) for pair in re.findall(r"\| ([\d.]+) / ([\d.]+) \|", PAGE)]
FOUND = list(zip(ROWS, CELLS, strict=True))


def test_the_page_has_every_row_and_its_scores():
    for row, (measured, _) in FOUND:
        assert row.seconds * 1e6 == pytest.approx(measured, abs=6e-3)
    errors = [abs(predicted / measured - 1) for measured, predicted in CELLS]
    apart = [(a, b) for a, b in combinations(CELLS, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    right = sum((a[0] < b[0]) == (a[1] < b[1]) for a, b in apart)
    mean, worst, order = (round(100 * of, 1) for of in (sum(errors) / len(errors), max(errors), right / len(apart)))
    said = f"{len(ROWS)} judged rows: {mean} % on average, {worst} at most; {order} % of {len(apart)} pairs"
    assert said in " ".join(PAGE.split())
    assert order >= 95


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("row, cells", some_of([FOUND[2], FOUND[7], FOUND[9]], 2, 0))
def test_a_row_is_predicted_as_the_page_says(row, cells):
    ladder = corpus(ROOT / "tools" / "half_norms")
    assert answer(ladder, row, ()).seconds["warpbound"] * 1e6 == pytest.approx(cells[1], rel=2e-3)
