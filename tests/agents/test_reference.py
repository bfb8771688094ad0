"""Expressions of references against Python's own evaluation, and what is refused."""

import numpy as np
import pytest

from warpbound.agents.reference import LONGEST, evaluated
from warpbound.errors import CommandError

ARRAYS = {"x": np.arange(12.0).reshape(3, 4), "n": 3, "i": np.array([2, 0, 1])}


@pytest.mark.parametrize(
    "expression",
    [
        "x + 1", "-x * 2 ** n", "x @ x.T", "x[i]", "x[:, 1:3]", "x[::-1, 0]",
        "np.exp(x - x.max(axis=1, keepdims=True))",
        "np.where(x > n, x, 0.5)", "np.sum(x, axis=0)", "x.astype('float32') // 2",
        "np.cumsum(x.flatten()) % 7",
        "np.einsum('ij,kj->ik', x, x)", "~i & 3 | 4 ^ 1", "(i << 2) >> 1",
    ],
)  # fmt: skip
def test_values_are_pythons(expression):
    expected = eval(expression, {"np": np}, dict(ARRAYS))  # noqa: S307
    assert np.array_equal(evaluated(expression, ARRAYS), expected)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("__import__('os').system('true')", "calls"),
        ("x.__class__", "is not evaluated"),
        ("np.load('file')", "calls"),
        ("np.__dict__", "is not evaluated"),
        ("x.tofile('f')", "calls"),
        ("(lambda: 1)()", "calls"),
        ("y + 1", "names 'y'"),
        ("x +", "is not an expression"),
        ("x @ i[:2]", "fails"),
        ("x[7]", "fails"),
        ("1" * (LONGEST + 1), "characters"),
    ],
)
def test_all_else_is_refused(expression, words):
    with pytest.raises(CommandError, match=words):
        evaluated(expression, ARRAYS)
