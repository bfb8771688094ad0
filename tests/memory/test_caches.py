"""Reuse profiles and caches: against simple references, closed forms and each other."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpbound.isa.limits import limits
from warpbound.machine import gpu
from warpbound.memory import sectored_lru
from warpbound.memory.banks import tag_bank
from warpbound.memory.caches import READ, UPDATE, WRITE, Cache, Stream, estimate, exact, l1, l2
from warpbound.memory.hierarchy import facts
from warpbound.memory.reuse import locality, pages, stack_distances, touches


def stream(sectors, kinds=None, places=None):
    sectors = np.asarray(sectors, np.int64)
    kinds = np.zeros(len(sectors), np.int8) if kinds is None else np.asarray(kinds, np.int8)
    places = np.zeros(len(sectors), np.int64) if places is None else np.asarray(places, np.int64)
    return Stream(sectors, kinds, places)


def by_dictionary(accesses, cache):
    """The textbook cache: an ordered dictionary per set; hits, sectors written back, changed ones left."""
    sets, hits, written = {}, [], 0
    rows = zip(accesses.sector.tolist(), accesses.kind.tolist(), accesses.place.tolist(), strict=True)
    for sector, kind, place in rows:
        line = sector // 4
        home = sets.setdefault((place, int(tag_bank(np.array([line], np.uint64))[0]) % cache.sets), OrderedDict())
        if line in home:
            home.move_to_end(line)
        else:
            if len(home) == cache.ways:
                written += len(home.popitem(last=False)[1][1])
            home[line] = (set(), set())
        valid, dirty = home[line]
        hits.append(sector % 4 in valid)
        valid.add(sector % 4)
        if kind != READ:
            dirty.add(sector % 4)
    return hits, written, sum(len(dirty) for home in sets.values() for _, dirty in home.values())


ACCESSES = st.lists(st.tuples(st.integers(0, 150), st.sampled_from([READ, READ, WRITE, UPDATE])), max_size=200)


@given(st.lists(st.integers(0, 12), max_size=80))
def test_stack_distances_against_a_stack(items):
    stack, expected = [], []
    for item in items:
        expected.append(stack.index(item) if item in stack else -1)
        stack = [item, *(other for other in stack if other != item)]
    array = np.array(items, np.int64)
    assert stack_distances(array).tolist() == expected
    found = touches(array)
    after = dict(zip(array[found.lasts].tolist(), found.after_last.tolist(), strict=True))
    assert after == {v: i for i, v in enumerate(stack)}


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60))
def test_distances_in_rounds_are_those_of_the_doubled_stream(items):
    once = touches(np.array(items, np.int64))
    rounds = once.distances(), once.distances_again(once.distances())
    assert np.concatenate(rounds).tolist() == stack_distances(np.array(items * 2, np.int64)).tolist()


@settings(deadline=None)
@given(ACCESSES, st.integers(1, 60))
def test_a_second_round_is_like_any_earlier_stream(accesses, ways):
    """An equal stream that is another object takes the way of all streams."""
    one, equal = (stream([s for s, _ in accesses], [k for _, k in accesses]) for _ in range(2))
    second, general = (estimate(one, Cache(1, ways), earlier) for earlier in (one, equal))
    assert second.hit.tolist() == general.hit.tolist()
    assert (second.written_back, second.left_dirty) == (general.written_back, general.left_dirty)


def test_previous():
    assert touches(np.array([5, 7, 5, 5, 7])).previous.tolist() == [-1, -1, 0, 2, 1]


@settings(deadline=None)
@given(ACCESSES, st.sampled_from([(1, 8), (4, 3), (5, 2), (3, 1)]))
def test_exact_against_dictionaries(accesses, shape):
    cache = Cache(*shape)
    one = stream([s for s, _ in accesses], [k for _, k in accesses], sorted(s % 2 for s, _ in accesses))
    found = exact(one, cache)
    assert (found.hit.tolist(), found.written_back, found.left_dirty) == by_dictionary(one, cache)


@settings(deadline=None)
@given(ACCESSES, st.integers(1, 12))
def test_estimate_of_one_set_is_exact(accesses, ways):
    one = stream([s for s, _ in accesses], [k for _, k in accesses], sorted(s % 3 for s, _ in accesses))
    cache = Cache(1, ways)
    found, simulated = estimate(one, cache, one), exact(one, cache, one)
    assert found.hit.tolist() == simulated.hit.tolist()
    assert found.written_back == simulated.written_back
    assert found.left_dirty == simulated.left_dirty


@settings(deadline=None)
@given(ACCESSES, st.integers(1, 6))
def test_more_ways_never_miss_more(accesses, ways):
    one = stream([s for s, _ in accesses], [k for _, k in accesses])
    for simulate in (estimate, exact):
        smaller = simulate(one, Cache(4, ways)).hit.sum()
        assert simulate(one, Cache(4, ways + 1)).hit.sum() >= smaller


def test_the_loop_is_the_same_over_arrays_and_lists(monkeypatch):
    rng = np.random.default_rng(3)
    line = rng.integers(0, 40, 500)
    arguments = (line, rng.integers(0, 4, 500), rng.random(500) < 0.3, np.arange(40) % 4, (4, 6))
    over_lists = sectored_lru.run(*arguments)
    monkeypatch.setattr(sectored_lru, "_fastest", lambda: (sectored_lru.replay, np.asarray))
    over_arrays = sectored_lru.run(*arguments)
    for a, b in zip(over_lists, over_arrays, strict=True):
        assert np.array_equal(a, b)


def patterns(lines, rng):
    """Streams of sectors around a cache of that many lines."""
    count, position = 24_000, np.arange(24_000)
    return {
        "once": position,
        "loop over half": position % (2 * lines),
        "loop over three quarters": position % (3 * lines),
        "loop over 1.3": position % (int(5.2 * lines)),
        "random over all": rng.integers(0, 4 * lines, count),
        "random over double": rng.integers(0, 8 * lines, count),
        "heavy tail": np.minimum((rng.pareto(1.0, count) * lines).astype(int), 10**7),
        "stencil": np.stack([position, position + 400, position + 800], 1).reshape(-1)[:count],
        "one sector a line": position * 4 % (6 * lines),
    }


ROOMY = (l1(128 << 10), l1(40 << 10), l2(1 << 20), l2(3 << 18))


@pytest.mark.parametrize("cache", ROOMY, ids=str)
def test_estimate_within_three_points_of_exact(cache):
    rng = np.random.default_rng(5)
    for name, sectors in patterns(cache.bytes // 128, rng).items():
        one = stream(sectors, rng.random(len(sectors)) < 0.2)
        for before in (None, one):
            rates = [simulate(one, cache, before).hit.mean() for simulate in (estimate, exact)]
            assert abs(rates[0] - rates[1]) < 0.03, (name, rates)


def test_sectors_come_one_by_one():
    # 4 sectors of a line, twice: 4 misses, then 4 hits; with room for 2 lines, a third line evicts the first
    first, again = [0, 1, 2, 3], [0, 1, 2, 3]
    assert exact(stream(first + again), Cache(1, 2)).hit.tolist() == [False] * 4 + [True] * 4
    found = exact(stream([0, 4, 8, 0]), Cache(1, 2))
    assert not found.hit.any()


def test_written_sectors_leave_once():
    # 64 lines written in 4 lines of cache: 60 lines of 4 sectors leave, 4 stay
    one = stream(np.arange(256), np.full(256, WRITE))
    for simulate in (estimate, exact):
        cold = simulate(one, Cache(1, 4))
        assert (cold.written_back, cold.left_dirty) == (240, 16)
        warm = simulate(one, Cache(1, 4), one)
        assert (warm.written_back, warm.left_dirty) == (256, 16)  # a loop of launches writes all of it each time
    roomy = estimate(one, Cache(1, 64), one)
    assert (roomy.written_back, roomy.left_dirty) == (0, 256)


# Read rate against data set of one SM: gpu-cache/v100.txt of the same source [kB: GB/s], at the edge of L1.
def test_edge_of_a_v100_l1():
    rates = {116: 13692.3, 120: 13710.9, 124: 12108.4, 128: 10855.5}
    last_full = max(size for size, rate in rates.items() if rate > 0.95 * 13800)
    sizes = [kib for kib in range(100, 160, 4) if estimate_of_loop(kib) == 1]
    assert max(sizes) == pytest.approx(last_full, rel=0.1)


def estimate_of_loop(kib, l1_KiB=128):
    """Hit rate of an L1 of that many KiB in the second pass over a data set of so many KiB."""
    one = stream(np.arange(kib * 32))
    return estimate(one, l1(l1_KiB << 10), one).hit.mean()


# Cycles per load of a pointer chase, one load after the other, through links of 64 bytes in random order: gpu-latency/
# v100.txt, a100_80.txt and h100_pcie.txt of the same source. (KiB of L1, cycles in L1 and L2, {links: cycles}).
CHASES = {
    "v100": (128, 30.0, 215.0, {2093: 89.5, 2318: 147.1, 2565: 191.0, 2837: 204.2}),
    "a100_80": (160, 36.3, 210.8, {2565: 79.9, 2837: 149.4, 3136: 186.9, 3465: 205.8}),
    "h100_pcie": (228, 34.8, 265.3, {3827: 134.2, 4225: 205.8, 4663: 236.8, 5145: 258.9}),
}


@pytest.mark.parametrize("board", CHASES)
def test_pointer_chase_at_the_edge_of_l1(board):
    l1_KiB, hit, miss, rows = CHASES[board]
    rng = np.random.default_rng(2)
    for links, cycles in rows.items():
        walk = np.tile(2 * rng.permutation(links), 8)  # two links of a line, at unlike times
        found = exact(stream(walk), l1(l1_KiB << 10), stream(walk)).hit.mean()
        assert found == pytest.approx((miss - cycles) / (miss - hit), abs=0.2 if links == min(rows) else 0.08), links


# The same of a V100 at the edge of its L2: 215 cycles in L2, 428 beyond.
def test_pointer_chase_at_the_edge_of_a_v100_l2():
    rng = np.random.default_rng(2)
    rows = {92333: 215.3, 101582: 265.1, 111756: 354.5, 122947: 395.8, 135257: 412.7}  # links: cycles
    for links, cycles in rows.items():
        walk = np.tile(2 * rng.permutation(links), 4)
        measured = (428 - cycles) / (428 - 215)
        for simulate in (estimate, exact):
            found = simulate(stream(walk), l2(6 << 20), stream(walk)).hit.mean()
            assert found == pytest.approx(measured, abs=0.15), links


# GB/s of reads of so many kB by the whole chip: @3088b33, gpu-l2-cache/l40.txt of the same source; 845 from DRAM.
def test_edge_of_an_l40_l2():
    rates = {91648: 5242.8, 100352: 4293.9, 110080: 1075.4, 120832: 879.8}
    half_misses = np.interp(0.5, [845 / rate for rate in rates.values()], list(rates))
    assert l2(96 << 20).bytes / 1024 == pytest.approx(half_misses, rel=0.1)


# The same of an A100, gpu-cache/a100_80.txt, of an L40 and an A40, @71a3611 gpu-cache/l40.txt and a40.txt, and of an
# H100, @266497d cuda-cache/h100_pcie.txt: one block of 256 threads without shared memory on each SM.
EDGES = {
    "a100-sxm-80gb": {128: 19119.9, 148: 19098.8, 172: 17194.8, 204: 13549.4},
    "l40": {86: 22611.1, 102: 22227.5, 118: 20069.2, 140: 16559.1},
    "a40": {86: 9351.3, 102: 9288.0, 118: 8122.9, 140: 7484.3},
    "h100-pcie": {172: 25259.2, 204: 25266.1, 236: 21689.3, 280: 19172.1},
    "v100-pcie": {116: 13692.3, 120: 13710.9, 124: 12108.4, 128: 10855.5},
}


@pytest.mark.parametrize("board", EDGES)
def test_edge_of_l1_beside_the_carve_out(board):
    rates = EDGES[board]
    size, rate = np.array(list(rates)), np.array(list(rates.values()))
    measured = np.interp(-0.95 * rate.max(), -np.minimum.accumulate(rate), size)
    found = facts(gpu(board), 1, limits(gpu(board).compute_capability).reserved_shared_per_block)
    l1_KiB = found.l1_bytes // 1024
    predicted = max(kib for kib in range(64, 260, 4) if estimate_of_loop(kib, l1_KiB) == 1)
    assert predicted == l1_KiB
    assert predicted == pytest.approx(measured, rel=0.1)


def test_a_launch_may_ask_for_another_carve_out():
    assert facts(gpu("a100-sxm-80gb"), 8, 8 << 10).l1_bytes == (192 - 32) << 10  # what its driver leaves
    assert facts(gpu("a100-sxm-80gb"), 8, 8 << 10, 0).l1_bytes == (192 - 8) << 10  # the reserve of 8 blocks
    assert facts(gpu("a100-sxm-80gb"), 8, 8 << 10, 100).l1_bytes == (192 - 100) << 10
    assert facts(gpu("h200"), 8, 40 << 10).l1_bytes == (256 - 64) << 10


def test_locality_recovers_its_own_curve():
    rng = np.random.default_rng(1)
    alpha, beta = 2.5, 4096.0
    # P(distance > x) = (1 + x/beta)^(1 - alpha), so x = beta (u^(-1/(alpha-1)) - 1) for uniform u
    bytes_ = beta * (rng.random(200_000) ** (-1 / (alpha - 1)) - 1)
    fit = locality((bytes_ // 128).astype(np.int64), 128)
    assert fit.alpha == pytest.approx(alpha, rel=0.1)
    assert fit.residual < 0.01
    x = np.array([1e3, 1e4, 1e5])
    assert fit.hit_rate(x) == pytest.approx(1 - (1 + x / beta) ** (1 - alpha), abs=0.02)
    assert locality(np.full(10, -1), 128).alpha == 1


def test_pages():
    assert pages(np.array([0, 1, (2 << 20) - 1, 2 << 20, 9 << 20]) // 32) == 3
    assert pages(np.array([5, 1 << 45])) == 2
    assert pages(np.array([], np.int64)) == 0
