"""The page of public programs: medians are made of the rows of its table."""

import runpy

import pytest

from support.paths import ROOT

PAGE = ROOT / "docs" / "programs.md"


def test_medians_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "program_table.py"))
    rows = [
        "| a | h200 | passed | 1 | 1 | 1e+03 | 2 | 0 |  |",
        "| b | h200 | passed | 2 | 1 | 5e+03 | 5 | 0 |  |",
        "| c | h200 | passed | 9 | 1 | 900 | 9 | 0 |  |",
    ]
    assert tool["overheads"](rows) == ["2", "1e+03", "5", "500"]
    on_page = [line for line in PAGE.read_text().splitlines() if line.startswith(("| 2mm |", "| gemm |", "| mvt |"))]
    assert len(on_page) == 3
    assert all(float(median) > 0 for median in tool["overheads"](on_page))
