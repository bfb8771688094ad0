"""Orders and groups by the loops in C are those of NumPy's code."""

import numpy as np
import pytest

from warpbound.memory import sorted_order
from warpbound.native_loops import library, sorting

KEYS = {
    "small": lambda random, n: random.integers(-5, 40, n),
    "of more digits than one": lambda random, n: random.integers(-(1 << 30), 1 << 30, n),
    "lines of several places": lambda random, n: (
        random.integers(0, 7, n) << 44 | 0x7F40_0000_00 + random.integers(0, 99, n)
    ),
    "the largest and the least": lambda random, n: random.choice([-(1 << 63), (1 << 63) - 1, 0], n),
    "ascending": lambda random, n: np.sort(random.integers(0, 50, n)),
    "just narrow enough with 2500 places": lambda random, n: random.integers(0, 1 << 52, n),
    "just too wide": lambda random, n: random.integers(0, 1 << 53, n),
    "too wide to pack": lambda random, n: random.integers(0, 1 << 62, n),
    "alike": lambda random, n: np.full(n, -7),
}  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 3, 2500])
@pytest.mark.parametrize("name", KEYS)
def test_orders_and_groups(name, count, by_both):
    random = np.random.default_rng(5)
    key, other, third = KEYS[name](random, count), random.integers(0, 5, count), random.integers(0, 3, count)

    def compute():
        each = [(key,), (other, key), (key, other), (third, other, key), ((key & 0xFFFF).astype(np.int32), other)]
        found = [
            array for keys in each for array in (*sorted_order.order_and_begins(*keys), sorted_order.groups(*keys))
        ]
        return [array.tolist() for array in (*found, sorted_order.first_of_each(key))]

    by_c, by_numpy = by_both(compute)
    assert by_c == by_numpy


@pytest.mark.skipif(library.compiled() is None, reason="the loops need a C compiler")
def test_keys_that_do_not_fit_are_left_to_numpy():
    wide = np.random.default_rng(1).integers(0, 1 << 62, 5000)
    assert sorting.order_by([wide]) is None
    assert sorting.groups([wide]) is None
    assert sorting.order_by([wide >> 20]) is not None
