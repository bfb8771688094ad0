"""tools/copy_ladders: kernels that use the copy engine of a B200 as others measured them; the page with the tables."""

import re
from itertools import combinations

import pytest

from support.breadth import some_of
from support.paths import ROOT
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import answer

PRODUCTS, STREAMS = (corpus(ROOT / "tools" / "copy_ladders" / name) for name in ("products", "streams"))
PAGE = (ROOT / "docs" / "accuracy" / "copy-engine.md").read_text("utf-8")
PAIR = re.compile(r"([\d.]+) / ([\d.]+)")


def cycles(row):
    """Of one stage of a product, or of one box of a stream, as the page has them."""
    clock_hz, words = row.clock_MHz * 1e6, row.words
    if "share" in words:
        return float(words["depth"]) / (float(words["share"]) * 131072) * clock_hz
    return clock_hz / float(words["apart"])


def cells(section):
    """Measured and predicted cycles in the order of the section's tables."""
    part = PAGE.partition(section)[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [tuple(map(float, pair)) for line in lines for pair in PAIR.findall(line)]


def in_order(rows, *columns):
    return sorted(rows, key=lambda row: [int(row.words[column]) for column in columns])


TABLES = {
    "## Products": in_order(PRODUCTS.rows, "rows", "columns", "depth", "stages"),
    "## Streams": in_order(STREAMS.rows, "stages", "rows"),
}
FOUND = {section: list(zip(rows, cells(section), strict=True)) for section, rows in TABLES.items()}


@pytest.mark.parametrize("section", FOUND)
def test_the_page_has_every_row_and_its_scores(section):
    for row, (measured, _) in FOUND[section]:
        assert row.seconds * cycles(row) == pytest.approx(measured, abs=0.51)
    judged = [(row.seconds * cycles(row), pair[1]) for row, pair in FOUND[section] if row.kind == "judged"]
    errors = [abs(predicted / measured - 1) for measured, predicted in judged]
    apart = [(a, b) for a, b in combinations(judged, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    right = sum((a[0] < b[0]) == (a[1] < b[1]) for a, b in apart)
    said = re.search(
        r"(\d+) judged rows: ([\d.]+) % on average, ([\d.]+) at most; ([\d.]+) % of ([\d,]+) pairs",
        PAGE.partition(section)[2],
    )  # fmt: skip
    assert said is not None
    count, mean, worst, order, pairs = (float(word.replace(",", "")) for word in said.groups())
    assert (count, pairs) == (len(judged), len(apart))
    assert 100 * sum(errors) / len(errors) == pytest.approx(mean, abs=0.25)  # the cells are rounded
    assert 100 * max(errors) == pytest.approx(worst, abs=0.6)
    assert 100 * right / len(apart) == pytest.approx(order, abs=0.3)
    assert mean <= 12
    assert order >= 95


PICKED = [
    *some_of(FOUND["## Products"][3::41], 2, 0), *some_of(FOUND["## Streams"][4::7], 1, 0)
]  # fmt: skip


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize("row, pair", PICKED)
def test_a_row_is_predicted_as_the_page_says(row, pair):
    ladder = PRODUCTS if "share" in row.words else STREAMS
    assert answer(ladder, row, ()).seconds["warpbound"] * cycles(row) == pytest.approx(pair[1], rel=6e-3, abs=0.6)
