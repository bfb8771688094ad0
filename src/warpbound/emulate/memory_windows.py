"""Shared and local memory of a chunk of blocks: one address window, with separate bytes for every block or lane."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.untouched_memory import zeros

SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4, 32: 5}
WORD_B = 4
OFFSET_BITS = 24  # of a shared address; above them is the rank of the block in its cluster
LOOKS = 64  # reads after which it is worth a look whether everything has been written by now


class Window:
    """Pieces of `size` bytes (a multiple of 16), one after the other; lane i sees piece owner[i].

    cluster : pieces that see each other: the upper bits of an address are the rank of the piece among them.

    written : flags of the words that something has been written to; None once all have been, or nobody asks.
    left_out : flags of the words to which a store was counted, not made, at some time; None: nobody asks.
    """

    def __init__(self, name: str, size: int, owner: NDArray[np.int64], cluster: int = 1) -> None:
        self.name = name
        self.cluster = cluster
        self.size = size
        self.owner = owner
        self.written: NDArray[np.bool_] | None = None
        self.left_out: NDArray[np.bool_] | None = None
        self._watched = False
        self._looks = 0
        self._bases: dict[int, NDArray[np.int64]] = {}
        self._elements: dict[int, NDArray[Any]] = {}

    @cached_property
    def bytes(self) -> NDArray[np.uint8]:
        """Zeros at first, made when they are first asked for: most kernels have no local memory."""
        return zeros(max(16, (int(self.owner.max()) + 1) * self.size))

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """The first of the pieces that each lane sees."""
        return self.owner // self.cluster * self.cluster

    def base(self, size: int) -> NDArray[np.int64]:
        """The first element of `size` bytes that belongs to each lane."""
        if size not in self._bases:
            self._bases[size] = self.owner * (self.size >> SHIFTS[size])
        return self._bases[size]

    def base_of(self, ranks: NDArray[Any], size: int, index: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """The first element of the pieces with these ranks, for the lanes of `index` (None: all)."""
        first = self.first if index is None else self.first.take(index)
        return np.asarray((first + ranks) * (self.size >> SHIFTS[size]))

    def elements(self, size: int) -> NDArray[Any]:
        """The memory as elements of `size` bytes; of shape (n, 4) in words for 16."""
        if size not in self._elements:
            if size == 16:
                self._elements[size] = self.bytes.view(np.uint32).reshape(-1, 4)
            else:
                kinds = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
                self._elements[size] = self.bytes.view(kinds[size])
        return self._elements[size]

    # --- what was read before it was written ---

    def watch(self, filled_B: int = 0) -> None:
        """From the first call on, report reads of bytes that were never written. filled_B : first bytes of each piece
        that hold something at the start."""
        if self._watched:
            return
        self._watched = True
        self.written = zeros(len(self.bytes) // WORD_B).view(np.bool_)
        if filled_B:
            self.written.reshape(-1, self.size // WORD_B)[:, : filled_B // WORD_B] = True

    def note_written(self, places: NDArray[np.int64], size: int) -> None:
        assert self.written is not None
        if size <= WORD_B:
            self.written[places >> (2 - SHIFTS[size])] = True
        else:
            self.written.reshape(-1, size // WORD_B)[places] = True

    def untouched(self, places: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
        """Which of the elements hold nothing that was written.

        Of several words one is enough: at the end of a loop compilers load more words at once than they use.
        """
        assert self.written is not None
        self._looks += 1
        if not self._looks % LOOKS and self.written.all():
            self.written = None
            return np.zeros(len(places), np.bool_)
        if size <= WORD_B:
            return ~self.written.take(places >> (2 - SHIFTS[size]))
        word = np.uint16 if size == 2 * WORD_B else np.uint32
        return np.asarray(self.written.view(word).take(places) == 0)

    # --- what was not stored ---

    def watch_left_out(self) -> None:
        """From now on, note stores that are counted, not made."""
        self.left_out = zeros(len(self.bytes) // WORD_B).view(np.bool_)

    def note_left_out(self, places: NDArray[np.int64], size: int) -> None:
        """Note that a store to these elements was counted, but not executed."""
        if self.left_out is not None:
            for word in self._words(places, size):
                self.left_out[word] = True

    def holds_left_out(self, places: NDArray[np.int64], size: int) -> bool:
        """Whether a store to one of the elements was not executed."""
        flags = self.left_out
        return flags is not None and any(bool(flags[word].any()) for word in self._words(places, size))

    def _words(self, places: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
        """The first words of elements of `size` bytes, the second ones, and so on."""
        first = places >> (2 - SHIFTS[size]) if size <= WORD_B else places << (SHIFTS[size] - 2)
        for more in range(max(1, size // WORD_B)):
            yield first + more
