"""Pairs of sectors and blocks: each once, and the same for some blocks as from their accesses alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warpbound.memory.block_sectors import block_sectors

BLOCKS = 4
TURNS = np.array([5, 5, 9, 7])
ACCESSES = st.lists(
    st.tuples(st.integers(100, 120), st.integers(0, BLOCKS - 1), st.booleans()), min_size=1, max_size=60
)


def as_arrays(accesses):
    sector, block, chosen = (np.array(column) for column in zip(*accesses, strict=True))
    return sector, block, chosen


@given(ACCESSES)
def test_each_pair_once(accesses):
    sector, block, chosen = as_arrays(accesses)
    pairs = block_sectors(sector, block, TURNS)
    each = list(zip(pairs.sector.tolist(), pairs.block.tolist(), strict=True))
    assert each == sorted({(s, b) for s, b, _ in accesses})
    assert [each[pair] for pair in pairs.pair.tolist()] == [(s, b) for s, b, _ in accesses]
    assert pairs.number_of_access.tolist() == np.unique(sector, return_inverse=True)[1].tolist()
    assert pairs.sectors == len(np.unique(sector))
    marked = {pair for pair, mark in zip(each, pairs.marked(chosen).tolist(), strict=True) if mark}
    assert marked == {(s, b) for s, b, mark in accesses if mark}
    assert pairs.same_sector(chosen).tolist() == np.isin(sector, sector[chosen]).tolist()


@given(ACCESSES, st.sets(st.integers(0, BLOCKS - 1), min_size=1))
def test_some_blocks(accesses, kept):
    sector, block, _ = as_arrays(accesses)
    chosen = np.isin(np.arange(BLOCKS), list(kept))
    own = np.flatnonzero(chosen[block])
    number = np.cumsum(chosen) - 1
    some = block_sectors(sector, block, TURNS).of_blocks(chosen, own)
    alone = block_sectors(sector[own], number[block[own]], TURNS[chosen])
    for name in ("sector", "block", "number", "pair", "turn"):
        assert getattr(some, name).tolist() == getattr(alone, name).tolist(), name
