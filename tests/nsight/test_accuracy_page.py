"""The page of accuracy says what the results beside it hold, computed here once more."""

import csv
import re
from collections import defaultdict
from functools import cache
from statistics import fmean, median

import pytest

from support.paths import ROOT

FOLDER = ROOT / "docs" / "accuracy"
PAGE = (FOLDER / "nsight.md").read_text()
TIME, LONG_NS = "gpu__time_duration.sum", 10_000.0
DEMANDS = {
    "smsp__inst_executed.sum": (0.005, 0.95), "lts__t_sectors_srcunit_tex.sum": (0.10, 0.80),
    "dram__bytes.sum": (0.15, 0.75),
}  # fmt: skip


@cache
def results() -> list[dict[str, str]]:
    with (FOLDER / "nsight.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def off(counter: str) -> list[float]:
    """Errors of a counter, each kernel on each board once, ascending."""
    ratios = defaultdict(list)
    for row in results():
        measured = float(row["measured"])
        if row["counter"] == counter and measured and not (counter == TIME and measured < LONG_NS):
            ratios[row["kernel"], row["code"], row["gpu"]].append(float(row["predicted"]) / measured)
    return sorted(abs(fmean(each) - 1.0) for each in ratios.values())


def quantile(values: list[float], share: float) -> float:
    place = share * (len(values) - 1)
    low = int(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


ERRORS = [cells(line) for line in PAGE.splitlines() if re.match(r"\| [a-z0-9_.]+(__|_true)", line)]


@pytest.mark.parametrize("row", ERRORS, ids=lambda row: row[0])
def test_errors_are_those_of_the_results(row: list[str]) -> None:
    values = off(row[0])
    assert int(row[1]) == len(values)
    assert float(row[2].rstrip(" %")) == pytest.approx(100 * median(values), abs=0.06)
    assert float(row[3].rstrip(" %")) == pytest.approx(100 * quantile(values, 0.9), abs=0.06)
    if row[4] != "-":
        within = float(row[4].rstrip(" %")) / 100
        assert float(row[5].rstrip(" %")) == pytest.approx(100 * fmean(v <= within for v in values), abs=0.06)


def test_every_launch_of_the_page_is_one_of_the_results() -> None:
    times = {(row["report"], row["launch"]): row for row in results() if row["counter"] == TIME}
    shown = [cells(line) for line in PAGE.splitlines() if ".ncu-rep |" in line]
    dynamic = {(row["report"], row["launch"]) for row in results() if row["mode"] == "dynamic"}
    assert {(row[2], row[3]) for row in shown} == dynamic
    for row in shown:
        own = times[row[2], row[3]]
        assert float(row[5]) == pytest.approx(float(own["predicted"]) / float(own["measured"]), abs=6e-4)
    assert int(re.search(r"(\d+) with arguments", PAGE)[1]) == len(dynamic)  # type: ignore[index]


@pytest.mark.parametrize("counter", DEMANDS)
def test_what_is_asked_for_holds(counter: str) -> None:
    within, share = DEMANDS[counter]
    assert fmean(value <= within for value in off(counter)) >= share


def test_times_hold() -> None:
    assert median(off(TIME)) <= 0.15
    assert quantile(off(TIME), 0.9) <= 0.35
