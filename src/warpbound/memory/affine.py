"""Affine forms: integers known per thread, up to unknowns that are the same for a whole warp.

A form is a polynomial in named unknowns (block index, kernel parameters, loop counters) whose coefficients are plain
integers per thread. Every value that is affine in the block index is such a form, with any dependence on the thread.

Source   Hong and Kim, extended version of ISCA 2009, section 3.4.5: coalescing follows from the derivative of the
         index with respect to the thread; here the coefficients of all threads take its place.
Models   32-bit words: coefficients are kept modulo 2^32, as the hardware adds and multiplies.
Omits    Overflow of a shifted or divided index: indices are assumed to lie between 0 and 2^31.
"""

from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.quick_dataclasses import dataclass

Monomial = tuple[str, ...]  # names of unknowns, sorted; () represents the constant part
Words = np.int64 | NDArray[np.int64]  # a coefficient: one for all threads, or (warps, 32)

ALIGNED = "="  # first letter of unknowns taken to be multiples of what matters: bases of arrays, row lengths
ONE: Monomial = ()
MOST_TERMS = 16
_WORD = 1 << 32


@dataclass(frozen=True)
class Form:
    """Sum over monomials of coefficient x product of the unknowns; no coefficient is zero everywhere."""

    terms: dict[Monomial, Words]

    @property
    def exact(self) -> bool:
        """Whether every thread's value is known."""
        return not self.terms.keys() - {ONE}

    @property
    def known(self) -> Words:
        """The constant part."""
        return self.terms.get(ONE, np.int64(0))

    @property
    def uniform(self) -> bool:
        """Whether all lanes of a warp have the same value."""
        return all(_same_in_warp(c) for c in self.terms.values())


def constant(value: Any) -> Form:
    """A number, held in 64 bits as the machine does, or one per thread of shape (warps, 32)."""
    if isinstance(value, int):
        value = (value + 2**63) % 2**64 - 2**63
    return _form({ONE: np.asarray(value, np.int64)[()]})


def unknown(name: str) -> Form:
    """A value that is the same for a whole warp and not known."""
    return Form({(name,): np.int64(1)})


def add(form: Form, other: Form) -> Form:
    sums = dict(form.terms)
    for name, coefficient in other.terms.items():
        sums[name] = sums[name] + coefficient if name in sums else coefficient
    return _form(sums)


def scale(form: Form, factor: Words | int) -> Form:
    """Every coefficient times a factor, which may differ from thread to thread."""
    return _form({name: coefficient * np.asarray(factor, np.int64)[()] for name, coefficient in form.terms.items()})


def subtract(form: Form, other: Form) -> Form:
    return add(form, scale(other, -1))


def multiply(form: Form, other: Form) -> Form | None:
    """The product; None where it would have too many terms."""
    if len(form.terms) * len(other.terms) > MOST_TERMS:
        return None
    product = Form({})
    for name, coefficient in form.terms.items():
        for second, factor in other.terms.items():
            product = add(product, _form({tuple(sorted(name + second)): coefficient * factor}))
    return product


def divide(form: Form, by: int) -> Form | None:
    """Floor of form / by, for `by` > 0; None where it does not follow from the coefficients.

    It follows if each unknown has a coefficient that is a multiple of `by`.
    """
    if _reaches(form, by):
        return None
    return _form({name: c // np.int64(by) for name, c in form.terms.items()})


def remainder(form: Form, by: int) -> Form | None:
    """form modulo `by`, from 0 to by - 1; None where an unknown does not come in multiples of `by`."""
    return None if _reaches(form, by) else constant(form.known % np.int64(by))


def equal(form: Form, other: Form) -> bool:
    return not subtract(form, other).terms


def steps(form: Form, period: int) -> int:
    """Greatest common divisor of `period` and the amounts that the unknowns of a uniform form add; `period` for none.

    Unknowns that are taken to be aligned add nothing.
    """
    result = period
    for name, coefficient in form.terms.items():
        if name and not is_aligned(name):
            result = gcd(result, *(int(c) for c in distinct(coefficient)))
    return result


def _reaches(form: Form, by: int) -> bool:
    """Whether an unknown affects the remainder of a division by `by`."""
    return any(bool(np.any(c % np.int64(by))) for name, c in form.terms.items() if name)


def is_aligned(name: Monomial) -> bool:
    """Whether a product of unknowns is taken to be a multiple of what matters."""
    return any(part.startswith(ALIGNED) for part in name)


def _form(terms: dict[Monomial, Words]) -> Form:
    words = {name: _wrapped(coefficient) for name, coefficient in terms.items()}
    return Form({name: coefficient for name, coefficient in words.items() if np.any(coefficient)})


def _wrapped(coefficient: Words) -> Words:
    """As a signed 32-bit word."""
    half = np.int64(_WORD // 2)
    wrapped: Words = ((coefficient + half) & np.int64(_WORD - 1)) - half
    return wrapped


def _same_in_warp(coefficient: Words) -> bool:
    return np.ndim(coefficient) == 0 or bool(np.all(coefficient == np.asarray(coefficient)[:, :1]))
