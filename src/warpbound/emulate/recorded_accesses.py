"""The accesses of a trace while they are recorded: pieces by lane group, packed when there are many."""

from collections import Counter
from dataclasses import field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.lane_patterns import Packed, joined, packed
from warpbound.emulate.state import LANES, Mask
from warpbound.emulate.trace import Accesses
from warpbound.quick_dataclasses import dataclass

PACKED_ROWS = 1 << 15  # accesses that are packed together
PACKED_SPACES = ("global", "local")  # spaces in which no piece is recorded again


@dataclass(frozen=True)
class Piece:
    """One access by one lane group: rows of the trace's warps, addresses, lane mask (None: all lanes)."""

    instruction: int
    warps: NDArray[np.int64]
    addresses: NDArray[np.generic]  # of all lanes of the warps; global ones from the start of the image
    active: Mask | None
    is_kept: bool = True  # whether there was room for it


@dataclass
class Rows:
    """Accesses to one space, in order of execution; of many, the older ones are packed."""

    base: int
    packs: bool  # whether older pieces may be packed while others come
    pieces: list[Piece] = field(default_factory=list)
    waiting: int = 0  # rows of `pieces`
    older: list[Accesses] = field(default_factory=list)
    keys: list[NDArray[np.uint64]] = field(default_factory=list)  # of the patterns of `older`
    repeats: Counter[int] = field(default_factory=Counter)  # further executions of pieces, by their id

    def append(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self.waiting += len(piece.warps)
        if self.packs and self.waiting > PACKED_ROWS:
            self.pack()

    def repeat(self, piece: Piece, times: int) -> None:
        """One of the pieces is executed this many more times; it stays one row, at its place."""
        self.repeats[id(piece)] += times

    def pack(self, together: int | None = None) -> None:
        """Pack the pieces; a piece that was recorded several times counts as one, at the place of the first.

        together : accesses that are packed at once; None: PACKED_ROWS, which bounds the memory.
        """
        repeats = Counter(map(id, self.pieces)) + self.repeats
        pieces = list({id(piece): piece for piece in self.pieces}.values())
        self.pieces, self.waiting, self.repeats = [], 0, Counter()
        rows = np.cumsum([0, *(len(piece.warps) for piece in pieces)])
        begins = np.searchsorted(rows, np.arange(0, rows[-1], together or PACKED_ROWS)).tolist()
        for begin, end in pairwise(dict.fromkeys([*begins, len(pieces)])):
            self._pack(pieces[begin:end], repeats)

    def _pack(self, pieces: list[Piece], repeats: Counter[int]) -> None:
        count = sum(len(piece.warps) for piece in pieces)
        instruction, warp = np.empty(count, np.int32), np.empty(count, np.int32)
        addresses, active = np.empty((count, LANES), np.uint64), None
        at, times = 0, list[NDArray[np.int64]]()
        for part in pieces:
            to = at + len(part.warps)
            instruction[at:to], warp[at:to] = part.instruction, part.warps
            addresses[at:to] = part.addresses.reshape(-1, LANES)
            times.append(np.full(to - at, repeats[id(part)]))
            if part.active is not None:
                active = np.ones((count, LANES), np.bool_) if active is None else active
                active[at:to] = part.active.reshape(-1, LANES)
            at = to
        addresses += np.uint64(self.base)
        small = packed(addresses, active)
        several = np.concatenate(times) if max(repeats.values(), default=1) > 1 and times else None
        result = Accesses(instruction, warp, small.base, small.pattern, small.patterns, several)
        if active is not None and not (some := active.any(axis=1)).all():
            result = result.rows(some)
        self.older.append(result)
        self.keys.append(small.key)

    def joined(self) -> Accesses:
        """All accesses."""
        self.pack()
        if not self.older:
            self._pack([], Counter())
        parts = [
            Packed(each.base, each.pattern, each.patterns, key)
            for each, key in zip(self.older, self.keys, strict=True)
        ]
        small = joined(parts)
        times = [each.times for each in self.older]
        some = any(each is not None for each in times)
        return Accesses(
            np.concatenate([each.instruction for each in self.older]),
            np.concatenate([each.warp for each in self.older]),
            small.base, small.pattern, small.patterns,
            np.concatenate([_times(each) for each in self.older]) if some else None,
        )  # fmt: skip


def _times(accesses: Accesses) -> NDArray[np.int64]:
    return np.ones(len(accesses.warp), np.int64) if accesses.times is None else accesses.times
