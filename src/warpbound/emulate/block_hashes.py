"""Keys of blocks by what they do: sums of hashed words, equal where the words are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 32
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed


def odd_numbers(seed: int, count: int) -> NDArray[np.uint64]:
    """Weights of a hash: splitmix64 (Steele et al. 2014), as numpy.random takes 10 ms to load."""
    word = np.arange(1, count + 1, dtype=np.uint64) * _FACTOR + np.uint64(seed)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return (word ^ word >> np.uint64(31)) | np.uint64(1)


class Keys:
    """Keys of blocks that take a path through the code.

    of_block : equal for blocks of equal decisions, (blocks,). trail : where words were added, and the decisions that
    all blocks share. Keys of other blocks may be compared with these where they have the same trail.
    """

    def __init__(self, of_block: NDArray[np.uint64], warps: int, trail: list[object] | None = None) -> None:
        self.of_block, self.weights = of_block, odd_numbers(0, warps)
        self.trail = [] if trail is None else trail

    def with_trail(self) -> NDArray[np.uint64]:
        """The keys with a hash of the trail: equal for equal trails alone."""
        return self.of_block ^ np.uint64(hash(tuple(self.trail)) & 0xFFFF_FFFF_FFFF_FFFF)

    def of(self, few: NDArray[np.int64]) -> Keys:
        """The keys of some of the blocks, which are followed alone from here on, with the trail of all."""
        self.trail.append("few")
        return Keys(self.of_block[few], len(self.weights), self.trail)

    def put(self, few: NDArray[np.int64], keys: Keys) -> None:
        """The keys of blocks that were followed alone."""
        self.trail.append("all")
        self.of_block[few] = keys.of_block

    def add_lanes(self, at: int, decision: Any, mask: Any) -> None:
        """Add which lanes of the mask a decision holds for; decision : bool, broadcast to (blocks, warps, lanes)."""
        if not _differs(decision):
            self._share(at, decision)
            return
        lanes = np.asarray(mask & decision)
        warps, width = lanes.shape[1:]
        lanes = lanes[:1] if lanes.all() or not lanes.any() else lanes  # all blocks get the same word
        bits = lanes if width == 1 else np.packbits(lanes, axis=-1, bitorder="little")
        whole = bits.view(np.uint32) if width == LANES else bits
        self._add(at, whole[:, :, 0].astype(np.uint64) @ self.weights[:warps], (warps, width))

    def add_choice(self, at: int, decision: Any, mask: Any) -> None:
        """Add whether all, some or none of the lanes of the mask choose the first of two values."""
        if _differs(decision):
            some, others = ((mask & each).any(axis=(1, 2)) for each in (decision, ~decision))
            self._add(at, 2 * some.astype(np.uint64) + others)
        else:
            self._share(at, decision)

    def add_numbers(self, at: int, numbers: Any) -> None:
        """Add numbers of lanes; int, broadcast to (blocks, warps, lanes)."""
        if _differs(numbers):
            weights = odd_numbers(at, numbers[0].size).reshape(numbers.shape[1:])
            word = (numbers.astype(np.uint64) * weights).sum(axis=(1, 2), dtype=np.uint64)
            self._add(at, word, numbers.shape[1:])
        else:
            self._share(at, numbers)

    def _add(self, at: int, word: NDArray[np.uint64], shape: tuple[int, ...] = ()) -> None:
        key = (self.of_block ^ np.uint64(at + 1)) * _FACTOR
        self.of_block = np.asarray(((key ^ key >> np.uint64(29)) + word) * _FACTOR)
        self.trail.append((at, shape))

    def _share(self, at: int, value: Any) -> None:
        self.trail.append((at, np.shape(value), np.asarray(value).tobytes()))


def _differs(value: Any) -> bool:
    """Whether a value may differ between blocks."""
    return bool(np.ndim(value)) and value.shape[0] > 1
