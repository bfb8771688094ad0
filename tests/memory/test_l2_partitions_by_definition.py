"""The L2 of two sides against its definition, written out access by access: what hits, what a side had and has lost."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpbound.memory.caches import READ, SIMULATIONS, Stream, _sectors_of_stays, estimate, l2
from warpbound.memory.l2_partitions import LINE_B, L2Accesses, lookup, side_of


def lru_misses(sectors, ways):
    """Which sectors miss one set of `ways` lines, one after the other."""
    held, missed = OrderedDict(), []
    for sector in sectors:
        line = sector >> 2
        parts = held.pop(line, set())
        missed.append(sector not in parts)
        if len(held) == ways:
            held.popitem(last=False)
        held[line] = parts | {sector}
    return np.array(missed, bool)


def lost_by_definition(asked, size_bytes):
    """Misses of each side's own half, but for what it has never had, (m,)."""
    sector, sm = asked.stream.sector.tolist(), asked.sm.tolist()
    lost = np.zeros(len(sm), bool)
    ways = l2(size_bytes / 2).bytes // LINE_B
    for side in (0, 1):
        mine = [i for i in range(len(sm)) if side_of(np.int64(sm[i])) == side]
        own = [sector[i] for i in mine]
        rounds = own * (2 if asked.warm else 1)
        missed = lru_misses(rounds, ways)[len(rounds) - len(own):]
        new = [not asked.warm and one not in own[:i] for i, one in enumerate(own)]
        lost[mine] = missed & ~np.array(new, bool)
    return lost


def asked(sectors, sms, kinds, warm):
    place = np.zeros(len(sectors), np.int64)
    stream = Stream(np.array(sectors, np.int64), np.array(kinds, np.int8), place)
    return L2Accesses(stream, np.array(sms, np.int64), warm)


def plainly(asked, size_bytes, simulate):
    """The same by one look at each side's accesses as they are, stores among them, and all first touches taken out."""
    side = side_of(asked.sm)
    order = np.argsort(side, kind="stable")
    own = Stream(asked.stream.sector[order], asked.stream.kind[order], side[order])
    lost = np.zeros(len(side), bool)
    lost[order] = ~simulate(own, l2(size_bytes / 2), own if asked.warm else None).hit
    if not asked.warm:
        lost[np.unique(side << 44 | asked.stream.sector, return_index=True)[1]] = False
    return lost


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=150),
    st.booleans(),
    st.sampled_from([4, 8, 16]),
)
def test_what_a_side_has_lost_is_what_its_definition_says(accesses, warm, lines):
    said, size = asked(*zip(*accesses, strict=True), warm), 2 * LINE_B * lines
    assert np.array_equal(lookup(said, size, estimate)[1], lost_by_definition(said, size))


@pytest.mark.parametrize("method", sorted(SIMULATIONS))
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_short_way_is_the_plain_one(method, warm, seed):
    """What is changed makes no difference to what hits, and of first touches only those that miss need taking out."""
    rng = np.random.default_rng(seed)
    lines, count = int(rng.integers(40, 200)), 3000
    said = asked(rng.integers(0, 4 * lines, count), rng.integers(0, 6, count), rng.integers(0, 3, count), warm)
    size = 2 * LINE_B * 32
    lost = lookup(said, size, SIMULATIONS[method])[1]
    assert lost.any()
    assert np.array_equal(lost, plainly(said, size, SIMULATIONS[method]))


@pytest.mark.parametrize("seed", range(5))
def test_first_touches_of_stays_are_the_first(seed):
    rng = np.random.default_rng(seed)
    stay, sector = rng.integers(0, 50, 400), rng.integers(0, 4, 400)
    kind = rng.integers(0, 3, 400).astype(np.int8)
    first, changed = _sectors_of_stays(Stream(sector, kind, np.zeros(400, np.int64)), stay)
    key = 4 * stay + sector
    assert np.array_equal(first, np.unique(key, return_index=True)[1])
    assert np.array_equal(changed, np.unique(key[kind != READ]) // 4)
