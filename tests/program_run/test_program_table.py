"""The page of public programs: medians are made of the rows of its table."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from support.paths import ROOT

PAGE = ROOT / "docs" / "programs.md"


def test_medians_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "program_table.py"))
    rows = [
        "| a | h200 | passed | 1 | 1 | 1e+03 | 2 | 0 |  |",
        "| b | h200 | passed | 2 | 1 | 5e+03 | 5 | 0 |  | 0.5 |",
        "| c | h200 | passed | 9 | 1 | 900 | 9 | 0 |  |",
    ]
    assert tool["overheads"](rows) == ["2", "1e+03", "5", "500", "1e+04", ""]
    assert tool["overheads"]([*rows, "| d | h200 | passed | 9 | 1 | 3e+06 | 9 | 0 |  | 0.1 |"])[-1] == "3e+07"
    on_page = [line for line in PAGE.read_text().splitlines() if line.startswith(("| 2mm |", "| gemm |", "| mvt |"))]
    assert len(on_page) == 3
    assert all(float(median) > 0 for median in tool["overheads"](on_page) if median)


def test_a_program_that_fails_names_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "program_table.py"))
    result = {"name": "dxtc", "gpu": "t4", "exit_code": 1, "problems": [], "unsupported": []}
    result["output"] = "Starting...\nerror: sdkFindFilePath: file <a.ppm> not found!\nError, unable to find it"
    assert tool["verdict"](result) == "failed"
    assert "it does not find its file a.ppm" in tool["_line"](result)
    waived = result | {"exit_code": 2, "output": "Waiving execution as device 0 has no L2 persistence\n"}
    assert tool["verdict"](waived) == "waives itself"
    assert "Waiving execution" in tool["_line"](waived)


def test_inputs_of_samples_agree_with_their_references(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    makers = runpy.run_path(str(ROOT / "tools" / "sample_inputs.py"))
    makers["haar"](tmp_path, 8)
    makers["tridiagonal"](tmp_path, 5)
    signal, wavelets, diagonal, above, values = (
        np.array((tmp_path / f"{name}.dat").read_text().split(), float)
        for name in ("signal", "regression.gold", "diagonal", "superdiagonal", "reference")
    )
    assert np.isclose((signal**2).sum(), (wavelets**2).sum())  # both transforms keep these sums
    assert np.isclose(wavelets[0], signal.sum() / np.sqrt(8))
    assert above[0] == 0
    assert np.isclose(values.sum(), diagonal.sum())
    assert np.isclose((values**2).sum(), (diagonal**2).sum() + 2 * (above**2).sum())


def test_kernels_without_a_time_are_counted_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    tool = runpy.run_path(str(ROOT / "tools" / "program_table.py"))
    rows = ["| a | h200 | passed | 3 | 1 | 1e+03 | 2 | 0 |  |", "| b | h200 | failed | 2 | 1 | 5 | 5 | 1 | why | 0.5 |",
            "| c | h200 | not built |  |  | 0 | 0 | 0 | why |"]  # fmt: skip
    assert tool["untimed"](rows) == (5, 1)
    result = {"name": "simpleAssert", "gpu": "t4", "exit_code": 0, "output": "OK", "problems": ["k: a loop has no end"]}
    assert "no end" not in tool["_line"](result)
    assert "no end" in tool["_line"](result | {"untimed": ["k"]})
