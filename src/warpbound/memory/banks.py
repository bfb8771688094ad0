"""Banks: wavefronts of shared memory, and of the L1's tag and data stages, from addresses alone.

Source   NVIDIA, CUDA C Programming Guide, appendix "Compute Capabilities", sections "Shared Memory": the
         editions of CUDA 2 to 5 for 1.x to 3.x (from memory, not checked against a page), of CUDA 13 for
         5.x and later. When two parts of a wide access share a wavefront: microbenchmarks, from memory.
         L1 stages: fitted once to the counters of te42kyfo/gpu-benches @1c36d50, gpu-strides/a100.txt.
Models   One instruction of one warp at a time; a wavefront is one cycle of the stage.
Omits    Conflicts between instructions; arbitration with the texture path.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.coalescing import LANES, Addresses, Counts, Lanes, distinct_first, family
from warpbound.memory.counters import NARROW_B, SECTOR_B
from warpbound.native_loops import accesses as native
from warpbound.quick_dataclasses import dataclass

BANKS = 32
TAG_BANKS = 4
WORD_B = 4


@dataclass(frozen=True)
class Wavefronts:
    """Cycles of the shared-memory pipe per access, shape (n,): as executed, and without any conflict."""

    actual: Counts
    ideal: Counts

    @property
    def excess(self) -> Counts:
        """Wavefronts lost to bank conflicts, shape (n,)."""
        return self.actual - self.ideal


@dataclass(frozen=True)
class L1Wavefronts:
    """Cycles per access of the L1's data stage and of its tag stage, shape (n,) each."""

    data: Counts
    tag: Counts

    @property
    def cycles(self) -> Counts:
        """The larger of the two, shape (n,): the stages are pipelined."""
        return np.maximum(self.data, self.tag)


def wavefronts(
    addresses: Addresses, active: Lanes, width: int, arch: int, bank_bytes: int = 4
) -> Wavefronts:
    """Wavefronts of each shared-memory access of `width` bytes per lane on sm `arch`.

    bank_bytes : 8 for the 8-byte mode of 3.x, 4 elsewhere.
    """
    return RULES[family(arch), bank_bytes](addresses, active, width)


def l1_wavefronts(addresses: Addresses, active: Lanes, width: int) -> L1Wavefronts:
    """Wavefronts of each global load that hits L1, Volta and later: of the data stage, and of the tag stage."""
    line, first = distinct_first(addresses >> np.uint64(7), active)
    row = np.nonzero(first)[0]
    tag = tag_wavefronts(row, line[first].astype(np.int64), len(addresses))
    return L1Wavefronts(l1_data_wavefronts(addresses, active, width), tag)


def l1_data_wavefronts(addresses: Addresses, active: Lanes, width: int) -> Counts:
    """Wavefronts of the data stage, (n,): the rule of shared memory (32 banks of 4 bytes, whatever the line), except
    that the halves of a 64-bit and the quarters of a 128-bit access never share one."""
    words, on = _parts(addresses, active, width)
    return np.asarray(_most_per_bank(words, on).sum(axis=-1), dtype=np.int64)


def tag_wavefronts(row: NDArray[np.int64], line: NDArray[np.int64], rows: int) -> Counts:
    """Wavefronts of the tag stage, (rows,), from the distinct lines of each access and its row, (m,) each.

    A line belongs to one of 4 tag banks, each looks up one line per cycle; the bank is the exclusive or of all base-4
    digits of the line's number.
    """
    bank = tag_bank(line.astype(np.uint64)).astype(np.int64)
    loads = np.bincount(row * TAG_BANKS + bank, minlength=rows * TAG_BANKS)
    return np.asarray(loads.reshape(rows, TAG_BANKS).max(axis=1), dtype=np.int64)


def narrow_cycles(ideal_sectors: Counts | float, wavefronts: Counts | float) -> NDArray[np.float64]:
    """Cycles of an access beyond its wavefronts on an L1 path of 64 bytes. Words that several lanes read pass once.

    The unit in front of such a path accepts one access every other cycle; this is counted there, not here
    (docs/model-notes/on-chip-one-data-stage.md).
    """
    return np.asarray(np.maximum(0.0, np.multiply(ideal_sectors, SECTOR_B / NARROW_B) - wavefronts))


def tag_bank(line: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Which of the 4 tag banks holds a 128-byte line (number, not address): xor of its base-4 digits."""
    folded = line.copy()
    for shift in (32, 16, 8, 4, 2):
        folded ^= folded >> np.uint64(shift)
    return folded & np.uint64(3)


def atomic_wavefronts(addresses: Addresses, active: Lanes, width: int, arch: int) -> Wavefronts:
    """Wavefronts of atomics on shared memory: lanes on one word follow one another, too."""
    lanes = lanes_per_bank(addresses, active)
    if width == WORD_B and RULES[family(arch), WORD_B] is _merging_32_banks:  # different words are not more than lanes
        return Wavefronts(lanes, np.asarray(active.any(axis=-1), np.int64))
    plain = wavefronts(addresses, active, width, arch)
    return Wavefronts(np.maximum(plain.actual, lanes), plain.ideal)


def lanes_per_bank(addresses: Addresses, active: Lanes) -> Counts:
    """Active lanes on the fullest of 32 banks, equal words counted apart, shape (n,)."""
    by_c = native.fullest_banks(addresses >> np.uint64(2), active)
    return _fullest((addresses >> np.uint64(2)) % np.uint64(BANKS), active, BANKS) if by_c is None else by_c[1]


def _half_warps_16_banks(addresses: Addresses, active: Lanes, width: int) -> Wavefronts:
    """1.x: 16 banks of 4 bytes serve a half-warp; a step serves one word to all lanes that read it, and one lane of
    every other bank. Words of 8 and 16 bytes are 2 and 4 requests. The guide leaves the broadcast word open;
    here it is the word that most lanes read in the fullest bank.
    """
    steps = max(1, width // 4)
    shape = (len(addresses), 2, LANES // 2)
    on = active.reshape(shape)
    total = np.zeros(len(addresses), np.int64)
    for step in range(steps):
        word = addresses.reshape(shape) // np.uint64(4) + np.uint64(step)
        total += _one_broadcast(word, on).sum(axis=-1)
    return Wavefronts(total, steps * on.any(axis=-1).sum(axis=-1))


def _one_broadcast(word: NDArray[np.uint64], active: Lanes) -> Counts:
    """Steps that half-warps need under the 1.x rule; word and active (n, 2, 16), result (n, 2)."""
    bank = (word % np.uint64(16)).astype(np.int64)
    same_word = word[..., :, None] == word[..., None, :]
    same_bank = bank[..., :, None] == bank[..., None, :]
    pending, steps = active.copy(), np.zeros(active.shape[:-1], np.int64)
    for _ in range(LANES // 2):
        steps += pending.any(axis=-1)
        in_bank = (same_bank & pending[..., None, :]).sum(axis=-1)
        wants = (same_word & pending[..., None, :]).sum(axis=-1)
        lane = np.where(pending, in_bank * 32 + wants, -1).argmax(axis=-1)[..., None]
        of_word = np.take_along_axis(word, lane, axis=-1) == word
        earlier = (same_bank & pending[..., None, :] & np.tri(16, k=-1, dtype=bool)).any(axis=-1)
        broadcasting = np.take_along_axis(bank, lane, axis=-1) == bank
        pending &= np.where(broadcasting, ~of_word, earlier)
    return steps


def _parts_32_banks(addresses: Addresses, active: Lanes, width: int) -> Wavefronts:
    """2.x: 32 banks of 4 bytes, any word to any lanes; 64-bit by half-warps, 128-bit by quarter-warps."""
    words, on = _parts(addresses, active, width)
    return Wavefronts(_most_per_bank(words, on).sum(axis=-1), on.any(axis=-1).sum(axis=-1))


def _merging_32_banks(addresses: Addresses, active: Lanes, width: int) -> Wavefronts:
    """5.x and later: as 2.x, but two neighbouring parts become one when their lanes repeat addresses.

    The two half-warps of a 64-bit access share a wavefront, and so do the first two and the last two
    quarters of a 128-bit access, if every active lane's address is that of its neighbour at distance 1, or
    every one's that of its neighbour at distance 2; an inactive neighbour counts as equal.
    """
    words, on = _parts(addresses, active, width)
    apart = _most_per_bank(words, on)
    if width < 8:
        return Wavefronts(apart.sum(axis=-1), on.any(axis=-1).sum(axis=-1))
    pairs = (len(words), on.shape[1] // 2, 2 * on.shape[2])
    together = _most_per_bank(words.reshape(pairs), on.reshape(pairs))
    merged = _repeats(addresses, active, pairs[1])
    parts_used = on.any(axis=-1).reshape(len(words), -1, 2).sum(axis=-1)
    actual = np.where(merged, together, apart.reshape(len(words), -1, 2).sum(axis=-1))
    ideal = np.where(merged, np.minimum(parts_used, 1), parts_used)
    return Wavefronts(actual.sum(axis=-1), ideal.sum(axis=-1))


def _repeats(addresses: Addresses, active: Lanes, groups: int) -> Lanes:
    """Whether each group of lanes repeats addresses as `_merging_32_banks` requires, shape (n, groups)."""
    merged = np.zeros((len(addresses), groups), bool)
    lane = np.arange(LANES)
    for distance in (1, 2):
        other = lane ^ distance
        fits = ~active | ~active[:, other] | (addresses == addresses[:, other])
        merged |= fits.reshape(len(addresses), groups, -1).all(axis=-1)
    return merged


def _rows_of_8_bytes(addresses: Addresses, active: Lanes, width: int) -> Wavefronts:
    """3.x, 8-byte mode: 32 banks of 8 bytes serve a warp; a bank conflicts over distinct 8-byte words."""
    return _kepler(addresses, active, width, np.uint64(3))


def _rows_of_64_words(addresses: Addresses, active: Lanes, width: int) -> Wavefronts:
    """3.x, 4-byte mode: words i and i + 32 of an aligned run of 64 words are together in one bank's row."""
    return _kepler(addresses, active, width, np.uint64(2))


def _kepler(addresses: Addresses, active: Lanes, width: int, shift: np.uint64) -> Wavefronts:
    """3.x: words up to 8 bytes by whole warps, 16 bytes by half-warps (assumed)."""
    parts = 2 if width == 16 else 1
    steps = max(1, width // (1 << int(shift)))
    words = _consecutive(addresses >> shift, steps).reshape(len(addresses), parts, -1)
    on = np.repeat(active, steps, axis=1).reshape(words.shape)
    rows = words if shift == 3 else words // np.uint64(64) * np.uint64(32) + words % np.uint64(32)
    return Wavefronts(
        _most_per_bank(rows, on).sum(axis=-1), on.any(axis=-1).sum(axis=-1, dtype=np.int64)
    )


RULES: dict[tuple[str, int], Callable[[Addresses, Lanes, int], Wavefronts]] = {
    ("1.0", 4): _half_warps_16_banks,
    ("1.2", 4): _half_warps_16_banks,
    ("2.x", 4): _parts_32_banks,
    ("3.x", 4): _rows_of_64_words,
    ("3.x", 8): _rows_of_8_bytes,
    ("sectored", 4): _merging_32_banks,
}


def _parts(addresses: Addresses, active: Lanes, width: int) -> tuple[NDArray[np.uint64], Lanes]:
    """4-byte words served together (whole, half, quarter warp for 4, 8, 16 bytes), shape (n, parts, words)."""
    steps = max(1, width // 4)
    words = _consecutive(addresses >> np.uint64(2), steps)
    shape = (len(addresses), steps, LANES)
    return words.reshape(shape), np.repeat(active, steps, axis=1).reshape(shape)


def _consecutive(start: NDArray[np.uint64], steps: int) -> NDArray[np.uint64]:
    """start, start + 1, ... along a new last axis."""
    return np.asarray(start[..., None] + np.arange(steps, dtype=np.uint64), dtype=np.uint64)


def _most_per_bank(words: NDArray[np.uint64], active: Lanes) -> Counts:
    """Distinct words in the fullest of 32 banks for each part, shape (n, parts)."""
    by_c = native.fullest_banks(words, active)
    if by_c is not None:
        return by_c[0]
    ordered, first = distinct_first(words, active)
    return _fullest(ordered % np.uint64(BANKS), first, BANKS)


def _fullest(bank: NDArray[np.uint64], lanes: Lanes, banks: int) -> Counts:
    """Counted entries in the fullest bank of each row; the last axis is the row."""
    rows = int(np.prod(bank.shape[:-1]))
    row = np.repeat(np.arange(rows), bank.shape[-1])
    place = row * banks + bank.reshape(-1).astype(np.int64)
    loads = np.bincount(place[lanes.reshape(-1)], minlength=rows * banks)
    most = loads.reshape(*bank.shape[:-1], banks).max(axis=-1)
    return np.asarray(most, dtype=np.int64)
