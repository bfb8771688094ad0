"""The papers' numbers that a row of `warpbound reproduce` answers: golden/reproduced.toml against the rows.

Inputs and printed values stand in the items' own files; here stands what must come out of them.  Each row names the
function that computes it; with that function broken the row has to fail.
"""

import sys
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from support.many_cases import assert_each
from support.paths import GOLDEN
from support.reproduced_items import item_called
from warpbound.reproduce import Reproduction, reproduced
from warpbound.reproduce.reproduction import Row, number

ROWS: list[dict[str, Any]] = tomllib.loads((GOLDEN / "reproduced.toml").read_text())["row"]
KEYS = {"id", "item", "row", "function", "expected", "within", "printed", "verdict"}
PAIRS = sorted({(entry["item"], entry["function"]) for entry in ROWS})


@cache
def outcome(key: str) -> Reproduction:
    return reproduced(item_called(key))


def row_of(found: Reproduction, what: str) -> Row:
    return next(row for row in found.rows if row.what == what)


def check(entry: dict[str, Any], row: Row) -> None:
    """Our number, the paper's beside it, and what the comparison says."""
    assert isinstance(row.ours, float)
    assert abs(row.ours - entry["expected"]) <= entry["within"] + 1e-9 * abs(entry["expected"])
    assert row.verdict == entry["verdict"]
    assert (None if row.printed is None else number(row.printed)) == entry.get("printed")


def replace_everywhere(dotted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of a model that answers NaN, under every name it was imported by."""
    module, name = f"warpbound.models.{dotted}".rsplit(".", 1)
    original: Callable[..., Any] = getattr(import_module(module), name)

    def broken(*args: Any, **kwargs: Any) -> Any:
        return np.multiply(original(*args, **kwargs), np.nan)

    for loaded in [m for called, m in sys.modules.items() if called.startswith("warpbound.")]:
        for called, value in list(vars(loaded).items()):
            if value is original:
                monkeypatch.setattr(loaded, called, broken)


@pytest.mark.parametrize("item", sorted({entry["item"] for entry in ROWS}))
def test_rows(item: str) -> None:
    own = [entry for entry in ROWS if entry["item"] == item]
    assert_each(check, [(entry["id"], entry, row_of(outcome(item), entry["row"])) for entry in own])


@pytest.mark.parametrize("item, function", PAIRS)
def test_row_notices_a_function_without_an_answer(item: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_everywhere(function, monkeypatch)
    found = reproduced(item_called(item))
    for entry in ROWS:
        if (entry["item"], entry["function"]) == (item, function):
            with pytest.raises(AssertionError):
                check(entry, row_of(found, entry["row"]))


def test_rows_say_what_they_are() -> None:
    ids = [entry["id"] for entry in ROWS]
    assert len(ids) == len(set(ids))
    assert all(KEYS - set(entry) <= {"printed"} and set(entry) <= KEYS for entry in ROWS)
