"""CampProf's micro-benchmarks as a table: read from CSV, shipped for boards with known partitions, fitted.

A row is one run: operation (read, write), word_bytes (2, 4, 8), pattern (spread, camped), warps_per_sm, time_s and
transactions, the transactions of the whole chip. Lines that begin with # describe how the table was made.
"""

import csv
import io
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from warpbound.errors import CommandError, InputError
from warpbound.models.campprof_2011 import WORDS
from warpbound.models.campprof_2011.regression import FORMS, Fit, fit, select
from warpbound.quick_dataclasses import dataclass

COLUMNS = ("operation", "word_bytes", "pattern", "warps_per_sm", "time_s", "transactions")
GROUPS = {  # regression -> (operation, pattern)
    "reads": ("read", "spread"),
    "writes": ("write", "spread"),
    "camped_reads": ("read", "camped"),
    "camped_writes": ("write", "camped"),
}
FOLDER = "partition_benchmarks"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Benchmarks:
    """The table, (n,) each; `said` is how it was made."""

    operation: NDArray[np.str_]
    word: NDArray[np.float64]
    pattern: NDArray[np.str_]
    warps: NDArray[np.float64]
    time: NDArray[np.float64]
    transactions: NDArray[np.float64]
    comments: tuple[str, ...]

    @property
    def per_warp(self) -> float:
        """Transactions for each active warp per SM: the same in every row."""
        return float(self.transactions[0] / self.warps[0])

    def group(self, name: str) -> NDArray[np.bool_]:
        """Rows of one regression, (n,)."""
        operation, pattern = GROUPS[name]
        return np.asarray((self.operation == operation) & (self.pattern == pattern))


def fits(table: Benchmarks, form: str = "published") -> dict[str, Fit]:
    """The four regressions, "published" or "by-size". InputError where a group has too few runs."""
    names = _predictors(form)
    return {name: _regress(fit, table, name, names) for name in GROUPS}


def selected(table: Benchmarks, form: str = "published") -> dict[str, tuple[str, ...]]:
    """The predictors of each that are significant. InputError as above."""
    names = _predictors(form)
    return {name: _regress(select, table, name, names) for name in GROUPS}


def _predictors(form: str) -> tuple[str, ...]:
    if form not in FORMS:
        raise CommandError(f"No form of the regressions is called {form!r}.", f"There are {' and '.join(FORMS)}.")
    return FORMS[form]


def _regress(method: Callable[..., Result], table: Benchmarks, name: str, names: tuple[str, ...]) -> Result:
    rows = table.group(name)
    try:
        return method(table.warps[rows], table.word[rows], table.time[rows], names)
    except ValueError:
        operation, pattern = GROUPS[name]
        raise InputError(
            f"The {int(rows.sum())} runs of {operation}s with the {pattern} pattern do not determine a regression.",
            f"Give several warps_per_sm for each word_bytes ({', '.join(map(str, WORDS))}).",
        ) from None


@cache
def shipped(board: str) -> Benchmarks | None:
    """The simulated table of a board of the catalogue; None where there is none."""
    file = files("warpbound") / FOLDER / f"{board}.csv"
    return parse(file.read_text(encoding="utf-8"), f"{board}.csv") if file.is_file() else None


def shipped_boards() -> tuple[str, ...]:
    """Boards that have one."""
    folder = files("warpbound") / FOLDER
    return tuple(sorted(entry.name.removesuffix(".csv") for entry in folder.iterdir() if entry.name.endswith(".csv")))


def parse(text: str, origin: str) -> Benchmarks:
    """A table from text."""
    lines = text.splitlines()
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not rows:
        raise InputError(f"benchmark file '{origin}' is empty.", f"Its columns are {','.join(COLUMNS)}.")
    header = [name.strip() for name in next(csv.reader([rows[0][1]]))]
    if missing := [name for name in COLUMNS if name not in header]:
        raise InputError(
            f"benchmark file '{origin}', line {rows[0][0]}: there is no column {missing[0]}.",
            f"The columns are {','.join(COLUMNS)}.",
        )
    values = [
        _row(dict(zip(header, cells, strict=False)), f"'{origin}', line {number}") for number, cells in _cells(rows)
    ]
    if not values:
        raise InputError(f"benchmark file '{origin}' has no runs.", "`warpbound campprof simulate` writes such a file.")
    return _table(values, tuple(line.lstrip("# ") for line in lines if line.startswith("#")), origin)


def _cells(rows: Sequence[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    return [(number, next(csv.reader(io.StringIO(line)))) for number, line in rows[1:]]


def _row(cells: dict[str, str], place: str) -> tuple[str, float, str, float, float, float]:
    if any(name not in cells for name in COLUMNS):
        raise InputError(f"benchmark file {place}: too few values.", f"There must be {','.join(COLUMNS)}.")
    operation, pattern = cells["operation"].strip(), cells["pattern"].strip()
    if (operation, pattern) not in GROUPS.values():
        way_out = "Write read or write, and spread or camped."
        raise InputError(f"benchmark file {place}: '{operation}, {pattern}' is not known.", way_out)
    word, warps, time, transactions = (_positive(cells[name], name, place) for name in COLUMNS if name not in _WORDED)
    if word not in WORDS:
        raise InputError(f"benchmark file {place}: words of {word:g} bytes are not known.", "Write 2, 4 or 8.")
    return operation, word, pattern, warps, time, transactions


_WORDED = ("operation", "pattern")


def _positive(text: str, name: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise InputError(f"benchmark file {place}: {name} '{text.strip()}' is not a positive number.", "Correct it.")
    return value


def _table(
    values: list[tuple[str, float, str, float, float, float]], comments: tuple[str, ...], origin: str
) -> Benchmarks:
    operation, word, pattern, warps, time, transactions = zip(*values, strict=True)
    table = Benchmarks(
        operation=np.array(operation),
        word=np.array(word),
        pattern=np.array(pattern),
        warps=np.array(warps),
        time=np.array(time),
        transactions=np.array(transactions),
        comments=comments,
    )
    if not np.allclose(table.transactions / table.warps, table.per_warp, rtol=1e-6):
        raise InputError(
            f"benchmark file '{origin}': transactions are not proportional to warps_per_sm.",
            "Every warp of every run must do as many.",
        )
    return table
