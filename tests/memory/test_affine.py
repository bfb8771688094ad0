"""Forms: integers per thread with unknowns of the whole warp, against plain 32-bit arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.memory import affine
from warpbound.memory.affine import ALIGNED, Form

UNKNOWN = {"n": 37, "k": -5, f"{ALIGNED}m": 1 << 20}
THREADS = np.arange(64).reshape(2, 32)


def evaluated(form: Form) -> np.ndarray:
    """The form with numbers for its unknowns, as signed 32-bit words."""
    total = np.zeros_like(THREADS)
    for name, coefficient in form.terms.items():
        total = total + coefficient * int(np.prod([UNKNOWN[part] for part in name] or [1]))
    return wrapped(total)


def wrapped(words: np.ndarray) -> np.ndarray:
    return words.astype(np.uint64).astype(np.uint32).view(np.int32).astype(np.int64)


PLAIN = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(lambda n: (affine.constant(n), np.full_like(THREADS, n))),
    st.sampled_from([(affine.constant(THREADS), THREADS), (affine.constant(THREADS % 7), THREADS % 7)]),
    st.sampled_from([(affine.unknown(name), np.full_like(THREADS, value)) for name, value in UNKNOWN.items()]),
)


def combined(pairs: st.SearchStrategy) -> st.SearchStrategy:
    def put_together(operation: str, one: tuple, other: tuple) -> tuple:
        if operation == "multiply":
            product = affine.multiply(one[0], other[0])
            return one if product is None else (product, wrapped(one[1] * other[1]))
        plain = one[1] + other[1] if operation == "add" else one[1] - other[1]
        return getattr(affine, operation)(one[0], other[0]), wrapped(plain)

    return st.builds(put_together, st.sampled_from(["add", "subtract", "multiply"]), pairs, pairs)


@given(st.recursive(PLAIN, combined, max_leaves=8))
def test_sums_and_products_are_those_of_the_words(pair: tuple[Form, np.ndarray]) -> None:
    form, plain = pair
    assert (evaluated(form) == plain).all()
    assert form.uniform == all((np.asarray(c) == np.asarray(c).reshape(-1, 1 if not np.ndim(c) else 32)[:, :1]).all()
                               for c in form.terms.values())  # fmt: skip
    assert all(np.any(coefficient) for coefficient in form.terms.values())


@given(st.integers(-(1 << 20), 1 << 20), st.integers(1, 100), st.integers(-3, 3))
def test_a_division_follows_where_unknowns_come_in_multiples(start: int, by: int, more: int) -> None:
    form = affine.add(affine.constant(start + THREADS), affine.scale(affine.unknown("n"), by * more))
    found, rest = affine.divide(form, by), affine.remainder(form, by)
    assert found is not None
    assert rest is not None
    plain = start + THREADS + by * more * UNKNOWN["n"]
    assert (evaluated(found) == plain // by).all()
    assert (evaluated(rest) == plain % by).all()


def test_what_does_not_divide_is_not_known() -> None:
    odd = affine.add(affine.constant(THREADS), affine.scale(affine.unknown("n"), 6))
    assert affine.divide(odd, 4) is None
    assert affine.remainder(odd, 4) is None
    assert affine.divide(odd, 2) is not None


@pytest.mark.parametrize(
    "coefficient, step", [(4, 4), (12, 4), (128, 128), (1024, 128), (96, 32), (-4, 4), (1, 1)]
)
def test_the_steps_of_unknowns(coefficient: int, step: int) -> None:
    form = affine.scale(affine.unknown("n"), coefficient)
    assert affine.steps(form, 128) == step
    aligned = affine.multiply(form, affine.unknown(f"{ALIGNED}m"))
    assert aligned is not None
    assert affine.steps(aligned, 128) == 128


def test_too_many_terms_are_given_up() -> None:
    many = affine.constant(0)
    for i in range(5):
        many = affine.add(many, affine.unknown(f"u{i}"))
    assert affine.multiply(many, many) is None
