"""Atomics of many lanes change memory as if one lane came after the other."""

import numpy as np
import pytest

from warpbound.emulate.atomics import FEW_LANES, Atomic, apply


@pytest.mark.parametrize("addresses", [1, 3, 40, 5000], ids=lambda count: f"{count} addresses")
@pytest.mark.parametrize("width", [np.uint32, np.uint64])
def test_compare_and_swap_is_that_of_one_lane_after_the_other(addresses: int, width: type) -> None:
    """Few different words, so that swaps succeed often; lanes at one address are more and less than FEW_LANES."""
    random = np.random.default_rng(addresses)
    places = random.integers(0, addresses, 40 * FEW_LANES)
    compare, swap = (random.integers(0, 3, len(places)).astype(width) for _ in range(2))
    memory = random.integers(0, 3, addresses).astype(width)
    expected, old = memory.copy(), np.empty(len(places), width)
    for lane, place in enumerate(places):
        old[lane] = expected[place]
        if expected[place] == compare[lane]:
            expected[place] = swap[lane]
    before = apply(Atomic("CAS", np.dtype(width)), memory, places, [compare, swap])
    assert (before == old).all()
    assert (memory == expected).all()
