"""The table of known better versions: the page has a row for each pair, and its counts are those of its rows."""

import re
import statistics
import tomllib

import pytest

from support.paths import ROOT

PAIRS = tomllib.loads((ROOT / "tools" / "advice_pairs" / "pairs.toml").read_text())["pairs"]
PAGE = (ROOT / "docs" / "advice.md").read_text()


def rows() -> list[list[str]]:
    names = {pair["name"] for pair in PAIRS}
    lines = (line for line in PAGE.splitlines() if line.startswith("|"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] in names]


def test_every_pair_has_a_row() -> None:
    assert [row[0] for row in rows()] == [pair["name"] for pair in PAIRS]
    assert len(PAIRS) >= 30


# first, among the first three: of the chosen set and of each held-back one
LEAST = [(0.7, 0.9), (0.7, 0.9), (0.65, 0.85), (0.7, 0.9), (0.7, 0.9)]


@pytest.mark.parametrize("group", range(5))
def test_the_counts_are_those_of_the_rows(group: int) -> None:
    own = [row for row, pair in zip(rows(), PAIRS, strict=True) if int(pair.get("held_back", 0)) == group]
    places = [int(row[2]) if row[2] != "-" else None for row in own]
    first, among = sum(place == 1 for place in places), sum(place is not None and place <= 3 for place in places)
    words = " ".join(PAGE.split())
    assert f"Of {len(places)} pairs, the first advice names the change in {first} (" in words
    assert re.search(rf"one of the first three in {among} \(", words)
    off = [float(row[5].partition(" ")[0]) for row in own if row[5] != "-"]
    medians = re.findall(r"is off by (\d+) % in the median", words)
    assert float(medians[group]) == pytest.approx(statistics.median(off), abs=1)  # of rounded cells
    assert first >= LEAST[group][0] * len(places)
    assert among >= LEAST[group][1] * len(places)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_own_sources_hold_both_versions(pair: dict) -> None:
    for side in (pair, pair | pair["better"]):
        places = [ROOT / side["file"], ROOT / "tools" / "advice_pairs" / side["file"]]
        own = next((place for place in places if place.is_file()), None)
        if own is not None:
            assert re.search(rf"\b{side['kernel'].partition('<')[0]}\(", own.read_text())
