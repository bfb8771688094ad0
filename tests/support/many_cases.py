"""Many small cases in one test, which lists every case that fails."""

from collections.abc import Callable, Iterable
from typing import Any


def assert_each(check: Callable[..., None], cases: Iterable[tuple[Any, ...]]) -> None:
    """Fail with the name and the reason of every case, (name, *arguments of check), that fails."""
    failures = []
    for name, *arguments in cases:
        try:
            check(*arguments)
        except AssertionError as failure:
            failures.append(f"{name}: {str(failure).strip()}")
    assert not failures, "\n".join([f"{len(failures)} cases fail", *failures])


def passes(check: Callable[..., None], *arguments: Any) -> bool:
    """Whether a check of a case holds."""
    try:
        check(*arguments)
    except AssertionError:
        return False
    return True
