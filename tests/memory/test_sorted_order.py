"""Orders and distinct values are NumPy's own; so are counts of what stands before."""

import numpy as np
import pytest

from warpbound.distinct_values import among, distinct, distinct_below, distinct_without
from warpbound.memory.reuse import stack_distances
from warpbound.memory.sorted_order import first_of_each, groups, order_by

KEYS = {
    "small": lambda random, n: random.integers(-5, 40, n),
    "lines of several places": lambda random, n: (
        random.integers(0, 7, n) << 44 | 0x7F40_0000_00 + random.integers(0, 99, n)
    ),
    "too wide to pack": lambda random, n: random.integers(0, 1 << 62, n),
    "all alike": lambda random, n: np.full(n, 1 << 40),
}


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("name", KEYS)
def test_orders_and_distinct_values(name, count):
    random = np.random.default_rng(3)
    key, other = KEYS[name](random, count), random.integers(0, 5, count)
    assert np.array_equal(order_by(key), np.argsort(key, kind="stable"))
    assert np.array_equal(among(other, key[:5]), np.isin(other, key[:5]))
    assert np.array_equal(among(key, key[::3]), np.isin(key, key[::3]))
    assert np.array_equal(distinct_without(key, key[::3]), np.setdiff1d(key, key[::3]))
    assert np.array_equal(order_by(other, key), np.lexsort((key, other)))
    assert np.array_equal(order_by(key, other), np.lexsort((other, key)))
    assert np.array_equal(distinct(key), np.unique(key))
    assert np.array_equal(first_of_each(key), np.unique(key, return_index=True)[1])
    pairs = np.unique(np.stack([other, key], axis=1), axis=0, return_inverse=True)[1]
    assert np.array_equal(groups(other, key), pairs.ravel())


@pytest.mark.parametrize("end", [1, 40, 4000, 4001])
@pytest.mark.parametrize("count", [0, 1, 1000])
def test_distinct_values_below_an_end(end, count):
    values = np.random.default_rng(end).integers(0, end, count)
    assert np.array_equal(distinct_below(end, values), np.unique(values))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 33, 400])
@pytest.mark.parametrize("lines", [1, 7, 300])
def test_stack_distances_are_those_of_a_list(lines, count):
    items = np.random.default_rng(count).integers(0, lines, count)
    stack: list[int] = []
    wanted = []
    for item in items.tolist():
        wanted.append(stack.index(item) if item in stack else -1)
        if item in stack:
            stack.remove(item)
        stack.insert(0, item)
    assert stack_distances(items).tolist() == wanted
