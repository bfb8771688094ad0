"""tools/tcgen05_ladder: products into tensor memory on a B200 as others measured them; the page with their table."""

import re
from itertools import combinations

import pytest

from support.breadth import some_of
from support.paths import ROOT
from support.sass_listing import code
from warpbound.isa.opcodes import opcode_facts
from warpbound.program.operand_reads import left_factor_cycles, operand_cycles, operand_work
from warpbound.program.tensor_memory_moves import port_cycles
from warpbound.validate.corpus import corpus
from warpbound.validate.row_prediction import answer

LADDER = corpus(ROOT / "tools" / "tcgen05_ladder")
PAGE = (ROOT / "docs" / "accuracy" / "tensor-rates.md").read_text("utf-8").partition("products into tensor memory")[2]
COLUMNS = ("64", "80", "96", "112", "128", "256")
PLACES = {"shared": "0", "tensor": "1"}
TABLE = {  # place of A, blocks, rows, products in a row, columns -> cycles measured and predicted
    (PLACES[line[0]], *line[1:4], columns): tuple(map(float, re.findall(r"[\d.]+", cell)))
    for line in (row.strip("| ").split(" | ") for row in PAGE.splitlines() if re.match(r"\| (shared|tensor) ", row))
    for columns, cell in zip(COLUMNS, line[4:], strict=True) if cell != "-"
}  # fmt: skip


def key(row):
    return tuple(row.words[name] for name in ("a_in_tensor_memory", "pair", "rows", "depth", "columns"))


def test_the_page_has_every_row_and_its_scores():
    measured = {key(row): float(row.words["cycles"]) for row in LADDER.rows}
    assert {place: cells[0] for place, cells in TABLE.items()} == pytest.approx(measured, abs=6e-3)
    judged = [TABLE[key(row)] for row in LADDER.rows if row.kind == "judged"]
    errors = [abs(predicted / known - 1) for known, predicted in judged]
    assert 100 * sum(errors) / len(errors) == pytest.approx(0.7, abs=0.06)  # the cells are rounded
    assert 100 * max(errors) == pytest.approx(6.7, abs=0.06)
    apart = [(a, b) for a, b in combinations(judged, 2) if max(a[0], b[0]) > 1.1 * min(a[0], b[0])]
    assert all((a[0] < b[0]) == (a[1] < b[1]) for a, b in apart)
    assert f"mean error of {len(judged)} judged rows is 0.7 %, the greatest 6.7 %" in PAGE
    assert f"Of {len(apart):,} pairs of rows" in PAGE


@pytest.mark.cuda
@pytest.mark.broad
@pytest.mark.parametrize(
    "row", some_of([*LADDER.rows[12:], *LADDER.rows[:12]], 2, 0), ids=lambda row: "-".join(key(row))
)
def test_a_row_is_predicted_as_the_page_says(row):
    seconds = answer(LADDER, row, ()).seconds["warpbound"]
    cycles = seconds * row.clock_MHz * 1e6 / float(row.words["products"])
    assert cycles == pytest.approx(TABLE[key(row)][1], rel=2e-3)


@pytest.mark.parametrize("text, of_a, of_b, blocks", [
    ("UTCHMMA.128x64x16 gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 32, 16, 1),
    ("UTCHMMA.128x64x16 tmem[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 0, 16, 1),
    ("UTCHMMA.128x64x16 gdesc[UR8].A_REUSE, gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 0, 16, 1),
    ("UTCHMMA.2CTA.256x64x16 gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 32, 8, 2),
    ("UTCQMMA.128x64x64.SP gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 32, 32, 1),
    ("UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR6], idesc[UR7], UP0", 0, 0, 1),
    ("UTCCP.T.S.4x32dp128bit tmem[UR6], gdesc[UR4]", 0, 4, 1), ("UTCCP.T.S tmem[UR6], gdesc[UR4]", 0, 32, 1),
])  # fmt: skip
def test_what_shared_memory_delivers(text, of_a, of_b, blocks):
    """Rows of 32 bytes, 128 bytes a cycle; one warp starts the work of all sub-cores of one SM or two."""
    (instruction,) = code(f"B------:R-:W-:-:S04  {text}")
    assert left_factor_cycles(instruction) == of_a
    assert operand_cycles(instruction) == of_a + of_b
    assert operand_work(instruction) == 4 * blocks * (of_a + of_b)


@pytest.mark.parametrize("text, cycles", [
    ("LDTM R4, tmem[UR4]", 2), ("LDTM.x32 R4, tmem[UR4]", 64), ("LDTM.16dp256bit.x4 R4, tmem[UR4]", 32),
    ("STTM.x32 tmem[UR4], R4", 32), ("UTCHMMA.128x64x16 gdesc[UR8], gdesc[UR10], tmem[UR4], idesc[UR7], UP0", 0),
])  # fmt: skip
def test_a_warp_occupies_the_port_of_tensor_memory(text, cycles):
    (instruction,) = code(f"B------:R-:W-:-:S04  {text}")
    assert port_cycles(instruction) == cycles


def test_half_of_the_rows_take_as_long_as_all_but_are_half_of_the_work():
    half, whole, pair = (
        opcode_facts("UTCHMMA", words, 100)
        for words in (("64x256x16",), ("128x256x16",), ("2CTA", "128x256x16"))
    )  # fmt: skip
    assert half.tensor == whole.tensor == pair.tensor
    assert 2 * half.products == whole.products == pair.products
