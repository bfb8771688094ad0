"""Packed accesses are the accesses that were packed, whichever lanes take part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.emulate import recorded_accesses
from warpbound.emulate.lane_patterns import LANES, Packed, joined, packed
from warpbound.emulate.recorded_accesses import Piece, Rows
from warpbound.emulate.repeated_accesses import extend, moved
from warpbound.emulate.trace import Accesses

ADDRESSES = st.lists(st.sampled_from((0, 4, 64, 1024)), min_size=LANES, max_size=LANES)
MASKS = st.lists(st.booleans(), min_size=LANES, max_size=LANES)


def lanes_of(small: Packed) -> list[dict[int, int]]:
    """Lane -> address of each access."""
    addresses = small.base[:, None] + small.patterns.offsets[small.pattern]
    return expected(addresses, small.patterns.active[small.pattern])


def expected(addresses: np.ndarray, active: np.ndarray) -> list[dict[int, int]]:
    return [
        {lane: int(row[lane]) for lane in np.flatnonzero(mask).tolist()}
        for row, mask in zip(addresses, active, strict=True)
    ]


@given(st.lists(st.tuples(ADDRESSES, MASKS), min_size=1, max_size=12))
def test_packed_accesses_have_their_lanes_and_addresses(rows: list[tuple[list[int], list[bool]]]) -> None:
    addresses = np.array([row for row, _ in rows], np.uint64)
    active = np.array([mask for _, mask in rows])
    active[:, 0] |= ~active.any(axis=1)
    half = len(rows) // 2
    parts = [packed(addresses[part], active[part]) for part in (slice(half), slice(half, None))]
    assert lanes_of(packed(addresses, active)) == lanes_of(joined(parts)) == expected(addresses, active)


@pytest.mark.parametrize("count", [0, 2, 17, 30, 31])
def test_lanes_at_one_address_are_told_apart_from_fewer_of_them(count: int) -> None:
    """A counter at the start of a line: 32 lanes, 30 of them and 2 are different accesses."""
    addresses = np.full((2, LANES), 4096, np.uint64)
    active = np.ones((2, LANES), np.bool_)
    active[1, :count] = False
    assert lanes_of(packed(addresses, active)) == expected(addresses, active)


def test_rows_packed_in_parts_are_those_packed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    sizes = (3, 1, 9, 2, 5)
    pieces = [
        Piece(i, np.arange(count), random.integers(0, 1 << 20, (count, LANES)).astype(np.uint64), None)
        for i, count in enumerate(sizes)
    ]

    def recorded(rows: int) -> Accesses:
        monkeypatch.setattr(recorded_accesses, "PACKED_ROWS", rows)
        kept = Rows(1 << 30, packs=False)
        for piece in (*pieces, pieces[1]):
            kept.append(piece)
        kept.repeat(pieces[3], 4)
        return kept.joined()

    whole, parts = recorded(1000), recorded(4)
    assert whole.times is not None
    assert whole.times.tolist() == [1] * 3 + [2] + [1] * 9 + [5] * 2 + [1] * 5
    for name in ("instruction", "warp", "base", "times", "addresses", "active"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name


def test_rounds_that_are_recorded_at_once_are_those_recorded_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_accesses, "PACKED_ROWS", 4)
    warps, lanes = np.arange(3), np.arange(LANES, dtype=np.uint64)
    pieces = [Piece(i, warps, (1000 * i + 512 * warps[:, None] + 4 * lanes).astype(np.uint64), None) for i in range(3)]
    steps = [np.full((3, LANES), 128 * (i + 1)) for i in range(3)]
    at_once, one_by_one = Rows(1 << 30, packs=True), Rows(1 << 30, packs=False)
    assert extend(at_once, list(zip(pieces, steps, strict=True)), 8) == 8
    for number in range(1, 9):
        for piece, step in zip(pieces, steps, strict=True):
            one_by_one.append(moved(piece, number * step))
    both = at_once.joined(), one_by_one.joined()
    for name in ("instruction", "warp", "base", "addresses"):
        assert np.array_equal(*(getattr(each, name) for each in both)), name
