"""Which values of a parameter the usual tests take; the broad tests take the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(values: Iterable[Any], usual: int) -> list[Any]:
    """All values as parameters, those behind the first so many marked `broad`. A tuple is several parameters."""
    tuples = [value if isinstance(value, tuple) else (value,) for value in values]
    return [
        pytest.param(*value, marks=pytest.mark.broad if place >= usual else ()) for place, value in enumerate(tuples)
    ]
