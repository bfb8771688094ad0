"""Keys of blocks by what they do: sums of hashed words, equal where the words are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well mixed


def with_word(key: NDArray[np.uint64], at: int, word: Any) -> NDArray[np.uint64]:
    """The keys with a word of an instruction, (blocks,)."""
    key = (key ^ np.uint64(at + 1)) * _FACTOR
    return np.asarray(((key ^ key >> np.uint64(29)) + word) * _FACTOR)


def odd_numbers(seed: int, count: int) -> NDArray[np.uint64]:
    """Weights of a hash: splitmix64 (Steele et al. 2014), as numpy.random takes 10 ms to load."""
    word = np.arange(1, count + 1, dtype=np.uint64) * _FACTOR + np.uint64(seed)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return (word ^ word >> np.uint64(31)) | np.uint64(1)
