"""Random inputs of the models, and one field of them made larger."""

import dataclasses
from typing import Any

from hypothesis import strategies as st


def positive(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


def grown(x: Any, field: str, factor: float) -> Any:
    return dataclasses.replace(x, **{field: getattr(x, field) * factor})
