"""Which values of a parameter the usual tests take, which the broad tests, and which the full ones."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(values: Iterable[Any], usual: int, broad: int | None = None) -> list[Any]:
    """All values as parameters: so many usual ones, so many `broad` ones (None: the rest), the others `full`.

    A tuple is several parameters.
    """
    tuples = [value if isinstance(value, tuple) else (value,) for value in values]
    last = len(tuples) if broad is None else usual + broad
    return [
        pytest.param(*value, marks=() if place < usual else pytest.mark.broad if place < last else pytest.mark.full)
        for place, value in enumerate(tuples)
    ]
