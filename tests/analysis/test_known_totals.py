"""Answers for random kernels against totals that are known by construction."""

import pytest

from support.known_totals import outcome, outcomes
from support.known_totals.templates import TEMPLATES

pytestmark = pytest.mark.cuda

USUAL = (
    "leaves early in y", "triangular trip counts", "a work queue", "one giant row", "lengths that the kernel writes",
)  # fmt: skip


def check(found):
    worst = max(map(abs, found.errors.values()), default=0.0)
    bound = max(0.01, 3 * found.stated)
    assert worst <= bound, found


@pytest.mark.parametrize("template", USUAL)
def test_counts_are_the_known_totals(template):
    check(outcome(template, 2))


def test_totals_differ_from_kernel_to_kernel():
    first, second = (outcome("every k-th block", seed) for seed in (3, 4))
    assert first.blocks != second.blocks


@pytest.mark.broad
def test_counts_of_random_kernels_are_the_known_totals():
    found = outcomes(100)
    assert {each.template for each in found} == set(TEMPLATES)
    far = [each for each in found if max(map(abs, each.errors.values()), default=0.0) > max(0.01, 3 * each.stated)]
    assert len(far) <= 2, far
