"""Patterns of lanes by the loops in C are those of NumPy's code."""

import numpy as np
import pytest

from warpbound.emulate.lane_patterns import joined, packed


def accesses(random, count, kinds):
    """Addresses that have few patterns, at any base."""
    offsets = random.integers(0, 5000, (kinds, 32))[random.integers(0, kinds, count)]
    return (offsets + random.integers(0, 1 << 40, (count, 1))).astype(np.uint64)


@pytest.mark.parametrize("count", [0, 1, 3000])
@pytest.mark.parametrize("kinds", [1, 7, 5000])
@pytest.mark.parametrize("part", [None, 0.0, 0.4, 1.0])
def test_patterns(count, kinds, part, by_both):
    random = np.random.default_rng(count + kinds)
    addresses = accesses(random, count, kinds)
    active = None if part is None else random.random((count, 32)) < part

    def compute():
        half = count // 2
        some = packed(addresses[:half], None if active is None else active[:half])
        return [
            np.asarray(each).tolist()
            for result in (packed(addresses, active), joined([some, packed(addresses, active), some]))
            for each in (result.base, result.pattern, result.patterns.offsets, result.patterns.active, result.key)
        ]

    by_c, by_numpy = by_both(compute)
    assert by_c == by_numpy
    base, pattern, offsets, lanes, _ = by_c[:5]
    taken = np.ones((count, 32), bool) if active is None else active
    assert np.array_equal(np.array(lanes, bool).reshape(-1, 32)[pattern], taken)
    found = np.array(offsets, np.uint64).reshape(-1, 32)[pattern] + np.array(base, np.uint64)[:, None]
    assert np.array_equal(found[taken], addresses[taken])
