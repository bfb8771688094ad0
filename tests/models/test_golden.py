"""The papers' own numbers, as data in tests/golden/, against the functions they speak about.

A file names its module once; a case names a public function of it, the inputs, the field of the
result, the expected value, where it stands in the paper and how far to trust it.  Inputs go to the
parameters by name, or straight to the fields of the dataclass that is the only parameter.  A table
with the key `call` stands for the result of another function of the same module.  `covers` names the
entries of reference_ids.toml that a case speaks of beside that of its own id.
"""

import inspect
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.golden_cases import BOOKS, call, check, locate, poisoned
from support.many_cases import assert_each, passes
from warpbound.bounds import Bounds

KINDS = {"printed", "digitised", "derived"}
KEYS = {"id", "where", "kind", "function", "inputs", "field", "expected", "rtol", "bottleneck", "note", "covers"}


def cases_of(paper: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(id, module, case) of each case of a paper."""
    return [(case["id"], BOOKS[paper]["module"], case) for case in BOOKS[paper]["case"]]


@pytest.mark.parametrize("paper", BOOKS)
def test_golden(paper: str) -> None:
    assert_each(check, cases_of(paper))


@pytest.mark.parametrize("paper", BOOKS)
def test_cases_notice_a_function_without_an_answer(paper: str) -> None:
    assert_each(check_that_nan_is_noticed, cases_of(paper))


def check_that_nan_is_noticed(module: str, case: dict[str, Any]) -> None:
    owner, name = locate(module, case["function"])
    original: Callable[..., Any] = getattr(owner, name)

    def broken(*args: Any, **kwargs: Any) -> Any:
        return poisoned(original(*args, **kwargs))

    broken.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    broken.__annotations__ = typing.get_type_hints(original)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, broken)
        assert not passes(check, module, case), "it holds for NaN, too"


@pytest.mark.parametrize("paper", BOOKS)
def test_cases_say_what_they_are(paper: str) -> None:
    book = BOOKS[paper]
    assert set(book) == {"paper", "module", "case"}
    ids = [case["id"] for case in book["case"]]
    assert len(ids) == len(set(ids))
    for case in book["case"]:
        assert set(case) <= KEYS
        assert case["kind"] in KINDS
        assert case["where"]
        assert 0 < case["rtol"] < 0.1


@pytest.mark.parametrize("paper", BOOKS)
def test_each_named_bound_is_the_tightest_in_a_case(paper: str) -> None:
    named: dict[str, set[str]] = {}
    tightest: dict[str, set[str]] = {}
    for case in BOOKS[paper]["case"]:
        found = call(BOOKS[paper]["module"], case["function"], case["inputs"])
        if isinstance(found, Bounds):
            named.setdefault(case["function"], set()).update(found.limits)
            tightest.setdefault(case["function"], set()).update(np.unique(found.bottleneck).tolist())
    assert tightest == named
