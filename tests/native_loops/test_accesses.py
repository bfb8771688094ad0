"""Lines, sectors and banks by the loops in C are those of NumPy's code."""

import numpy as np
import pytest

from warpbound.emulate.trace import accesses_of
from warpbound.memory import banks, coalescing, hierarchy, requests
from warpbound.memory.aligned_units import listed, units
from warpbound.memory.sampled_accesses import Space

ADDRESSES = {
    "in a row": lambda random, n: 4 * np.arange(32)[None] + 128 * random.integers(0, 1 << 30, (n, 1)),
    "all over": lambda random, n: random.integers(0, 1 << 45, (n, 32)),
    "of few words": lambda random, n: 4 * random.integers(0, 40, (n, 32)),
    "of one bank": lambda random, n: 128 * random.integers(0, 9, (n, 32)) + 4,
    "alike": lambda random, n: np.full((n, 32), 4096),
    "by rows": lambda random, n: 1040 * np.arange(32)[None] + 16 * random.integers(0, 1 << 20, (n, 1)),
}


@pytest.fixture(params=[0, 1, 700])
def count(request):
    return request.param


@pytest.fixture(params=list(ADDRESSES))
def lanes(request, count):
    """Addresses, and which lanes take part; of some accesses none does."""
    random = np.random.default_rng(count)
    addresses = ADDRESSES[request.param](random, count).astype(np.uint64)
    return addresses, random.random((count, 32)) < random.choice([0.0, 0.3, 1.0], (count, 1))


def as_lists(result):
    return [np.asarray(each).tolist() for each in result]


@pytest.mark.parametrize("shift, part", [(2, 1.0), (5, 1.0), (7, 1.0), (5, 0.4), (5, 1e-3)])
def test_units_of_accesses(shift, part, lanes, by_both):
    accesses = accesses_of(*(np.zeros(len(lanes[0]), np.int32),) * 2, *lanes)
    by_c, by_numpy = by_both(lambda: as_lists(listed(accesses, units(accesses.patterns, shift), part)))
    assert by_c == by_numpy


def test_tag_cycles(lanes, by_both):
    accesses = accesses_of(*(np.zeros(len(lanes[0]), np.int32),) * 2, *lanes)
    by_c, by_numpy = by_both(lambda: requests._tag_wavefronts(accesses).tolist())
    assert by_c == by_numpy


def test_distinct_values(lanes, by_both):
    by_c, by_numpy = by_both(lambda: as_lists((coalescing.distinct(*lanes), requests.lanes_on_hottest_address(*lanes))))
    assert by_c == by_numpy


@pytest.mark.parametrize("width", [1, 4, 8, 16, 32])
def test_banks(width, lanes, count, by_both):
    if count == 0:
        pytest.skip("where there is no access, nothing asks for banks")
    addresses, active = lanes

    def compute():
        of_l1 = banks.l1_wavefronts(addresses, active, width)
        shared = [banks.wavefronts(addresses, active, width, arch) for arch in (20, 35, 70)] if width < 32 else []
        parts = of_l1.data, of_l1.tag, *(part for each in shared for part in (each.actual, each.ideal))
        return as_lists((banks.lanes_per_bank(addresses, active), *parts))

    by_c, by_numpy = by_both(compute)
    assert by_c == by_numpy


@pytest.mark.parametrize("keys", [1, 5, 1 << 16, 1 << 40])
def test_occurrences(keys, count, by_both):
    key = np.random.default_rng(keys).integers(0, keys, count)
    by_c, by_numpy = by_both(lambda: as_lists(hierarchy._counts_and_ranks(key)))
    assert by_c == by_numpy
    assert by_c[1] == [key[:at].tolist().count(value) for at, value in enumerate(key.tolist())]


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.bool_, np.int8])
def test_weighted_sums(kind, count, by_both):
    random = np.random.default_rng(count)
    accesses = accesses_of(random.integers(0, 9, count).astype(np.int32), *_of_no_address(count))
    space = Space(accesses, None, random.random(count))
    values = (100 * random.random(count)).astype(kind)
    by_c, by_numpy = by_both(lambda: space.by_instruction(values, 9).tolist())
    assert by_c == by_numpy


def _of_no_address(count):
    return np.zeros(count, np.int32), np.zeros((count, 32), np.uint64), np.zeros((count, 32), np.bool_)
