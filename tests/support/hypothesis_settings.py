"""Hypothesis with settings of its own for each test, so that no other test's change."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings


def sampled(*strategies: Any, examples: int = 60) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`given`, with the same examples in every run and no deadline."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        return settings(max_examples=examples, deadline=None, derandomize=True)(given(*strategies)(test))

    return decorate
