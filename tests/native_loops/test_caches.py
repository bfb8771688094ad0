"""Caches and touches by the loops in C are those of NumPy's code, to the bit."""

import numpy as np
import pytest

from warpbound.memory import caches, footprint
from warpbound.memory.caches import Cache, Stream
from warpbound.native_loops import caches as caches_in_c
from warpbound.native_loops import library

pytestmark = pytest.mark.skipif(library.compiled() is None, reason="the loops need a C compiler")


def stream(random, count, places, lines):
    """Runs of sectors, so that a line is asked for several times in a row; a third of them changes."""
    line = np.repeat(random.integers(0, lines, count), random.integers(1, 4, count))[:count]
    sector = (line << 2) + random.integers(0, 4, count) + (1 << 38)
    return Stream(
        sector, random.choice([0, 0, 1, 2], count).astype(np.int8), np.sort(random.integers(0, places, count))
    )


@pytest.mark.parametrize("count", [0, 1, 40, 3000])
@pytest.mark.parametrize("places, lines", [(1, 1), (1, 50), (3, 30), (132, 700)])
@pytest.mark.parametrize("ways", [1, 2, 9, 1 << 33])
@pytest.mark.parametrize("before", ["nothing", "another", "the same"])
def test_caches(count, places, lines, ways, before, by_both):
    random = np.random.default_rng(count + lines)
    now = stream(random, count, places, lines)
    past = {"nothing": None, "another": stream(random, 2 * count, places, 2 * lines), "the same": now}[before]

    def compute():
        outcome = caches.estimate(now, Cache(4, ways), past)
        return outcome.hit.tolist(), outcome.written_back, outcome.left_dirty

    by_c, by_numpy = by_both(compute)
    assert by_c == by_numpy


def test_single_line_caches(monkeypatch):
    """Of one line: each change of lines evicts."""
    now = Stream(np.array([0, 4, 0, 1, 1, 8]), np.array([1, 0, 2, 1, 0, 0], np.int8), np.zeros(6, np.int64))
    monkeypatch.setattr(library, "LEAST", 0)
    outcome = caches.estimate(now, Cache(1, 1))
    assert outcome.hit.tolist() == [False, False, False, False, True, False]
    assert (outcome.written_back, outcome.left_dirty) == (3, 0)


@pytest.mark.parametrize("count", [0, 1, 3000])
@pytest.mark.parametrize("blocks, arrays", [(1, 1), (2, 3), (40, 4)])
def test_touches_of_blocks(count, blocks, arrays, monkeypatch, by_both):
    monkeypatch.setattr(library, "LEAST", 0)
    random = np.random.default_rng(count + blocks)
    sector = np.sort(random.integers(0, 1 + count // 5, count))
    owner, array = random.integers(0, blocks, count), random.integers(0, arrays, count)
    patch = random.integers(0, blocks, blocks)
    assert caches_in_c.touches(sector, owner, array, patch, arrays) is not None
    by_c, by_numpy = by_both(
        lambda: [each.tolist() for each in footprint._touches(sector, owner, array, patch, arrays)]
    )
    assert by_c == by_numpy


def test_touches_of_sectors_that_do_not_ascend_are_left_to_numpy():
    sector, zeros = np.arange(5000)[::-1].copy(), np.zeros(5000, np.int64)
    assert caches_in_c.touches(sector, zeros, zeros, np.zeros(1, np.int64), 1) is None
