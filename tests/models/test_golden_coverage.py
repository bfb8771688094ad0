"""How many of the papers' numbers the golden cases cover, and why the others are not covered.

golden/reference_ids.toml has the ids of all numbers; a case covers the id it bears (`id.something` is another
reading of the same) and those it names under `covers`, a row of golden/reproduced.toml covers its own.
golden/uncovered.toml has a reason for each of the rest. Where a paper contradicts itself, both readings are tested.
Not counted: experiments (MEASURED, REPORTED) and entries that are words. `excluded` there are entries that no
function of a model computes: statements, sums and quotients of table entries, counts of things in a paper, what
other parts of the package do. A reader sees both shares: of all numbers, and of those that can be computed.
"""

import tomllib

import numpy as np
import pytest

from support.paths import GOLDEN, MODELS_PAGE, TESTS

EXPERIMENTS = {"MEASURED", "REPORTED"}
REFERENCE = tomllib.loads((GOLDEN / "reference_ids.toml").read_text())
UNCOVERED = tomllib.loads((GOLDEN / "uncovered.toml").read_text())
BOOKS = [tomllib.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.toml"))]
CASES = [case for book in BOOKS for case in book.get("case", []) if "id" in case]
ROWS = {row["id"] for row in tomllib.loads((GOLDEN / "reproduced.toml").read_text())["row"]}
READINGS = tomllib.loads((GOLDEN / "readings.toml").read_text())
TWOFOLD = {"DISCREPANCY", "MATCHES_ROUNDED"}
BORNE = {case["id"] for book in BOOKS for case in book.get("case", []) if "id" in case}
NAMED = {name for book in BOOKS for case in book.get("case", []) for name in case.get("covers", [])}
NUMBERS = {
    paper: [i for kind, ids in entries.get("numeric", {}).items() if kind not in EXPERIMENTS for i in ids]
    for paper, entries in REFERENCE.items()
}
ALL = [i for ids in NUMBERS.values() for i in ids]


def covered(name: str) -> bool:
    """Whether a case bears the id, or the id with the name of a reading after it, or names it."""
    if name in BORNE | NAMED | ROWS | UNCOVERED["by_test"].keys():
        return True
    return any(i.startswith((f"{name}.", f"{name}-")) for i in BORNE)


def share(names: list[str]) -> tuple[int, int, int]:
    """How many are covered, can be computed, and are there."""
    found = [name for name in names if covered(name)]
    computable = [name for name in names if name not in UNCOVERED["excluded"]]
    return len(found), len(computable), len(names)


@pytest.mark.parametrize("paper", NUMBERS)
def test_computable_numbers_are_covered(paper: str) -> None:
    found, computable, there = share(NUMBERS[paper])
    assert found <= computable <= there
    assert found >= min(0.95 * computable, computable - 2)  # a short list may lack two


def test_coverage_as_a_whole() -> None:
    found, computable, there = share(ALL)
    assert found >= 0.95 * computable
    assert found >= 0.95 * there
    page = " ".join(MODELS_PAGE.read_text().split())
    rest = there - computable
    assert found == computable
    for statement in (f"have {there} numbers", f"can compute {computable} of them, and each", f"The other {rest}"):
        assert statement in page


def test_every_number_without_a_case_has_one_reason() -> None:
    reasons = [name for part in ("excluded", "missing") for name in UNCOVERED[part]]
    assert sorted(reasons) == sorted(name for name in ALL if not covered(name))
    assert all(UNCOVERED[part][name] for part in UNCOVERED for name in UNCOVERED[part])


def test_ids_are_unique_and_known() -> None:
    every = [i for entries in REFERENCE.values() for kinds in entries.values() for ids in kinds.values() for i in ids]
    assert len(every) == len(set(every))
    assert set(every) >= NAMED | ROWS
    assert set(ALL) >= UNCOVERED["by_test"].keys()


def readings(name: str) -> set[float]:
    """What the cases expect that bear the id, or the id with the name of a reading after it, or name it."""
    own = [
        case for case in CASES
        if case["id"] == name or case["id"].startswith((f"{name}.", f"{name}-")) or name in case.get("covers", [])
    ]  # fmt: skip
    return {expected for case in own for expected in np.atleast_1d(case["expected"]).tolist()}


def test_where_a_paper_contradicts_itself_both_readings_are_tested() -> None:
    torn = [i for e in REFERENCE.values() for kind, ids in e.get("numeric", {}).items() if kind in TWOFOLD for i in ids]
    alone = {name for name in torn if len(readings(name) | readings(READINGS["elsewhere"].get(name, name))) < 2}
    assert alone == READINGS["alone"].keys()
    assert all(READINGS["alone"].values())
    for name, other in READINGS["elsewhere"].items():
        assert len(readings(name)) == 1
        assert readings(other) - readings(name)
    page = " ".join(MODELS_PAGE.read_text().split())
    both = len(torn) - len(alone)
    assert f"Of {len(torn)} numbers that a paper contradicts, {both} are tested in both readings" in page


@pytest.mark.parametrize("test", sorted(set(UNCOVERED["by_test"].values())))
def test_tests_named_as_cover_exist(test: str) -> None:
    file, name = test.split("::")
    assert f"def {name}(" in (TESTS / file).read_text()
