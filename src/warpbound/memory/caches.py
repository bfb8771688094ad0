"""Sectored caches: which sectors of a stream hit, and how many are written back; two methods with one interface.

Source   Sectors of 32 bytes in lines of 128 with one tag each: NVIDIA, CUDA C++ Programming Guide and
         Nsight Compute's tables. Replacement: pointer chases through shuffled links, te42kyfo/gpu-benches @1c36d50,
         gpu-latency, hit at the edges of L1 (V100, A100, H100) and of L2 (V100) as often as least-recently-used lines
         in evenly filled sets do; random replacement, or sets filled at random, hit far more or far less. Four sets of
         the L1: Accel-Sim's configurations of V100 and later, and the tag banks found in `banks`.
Models   Least-recently-used lines; a miss brings one sector; a written sector is allocated without being
         read and goes to memory when its line is evicted.
Omits    Prefetch of neighbouring sectors, partly written sectors; for the partitions of large L2s see `l2_partitions`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.banks import tag_bank
from warpbound.memory.reuse import Touches, touches
from warpbound.memory.sectored_lru import run
from warpbound.memory.sorted_order import HIGH, first_of_each
from warpbound.native_loops import caches as native
from warpbound.quick_dataclasses import dataclass

READ, WRITE, UPDATE = 0, 1, 2  # load; store; atomic: reads the sector and leaves it changed
L1_SETS = 4


@dataclass(frozen=True)
class Stream:
    """Sectors in the order they reach a cache.

    sector : number of the 32-byte sector, shape (m,). kind : READ, WRITE or UPDATE, shape (m,).
    place : which of several equal caches (an SM's L1) it goes to, shape (m,), ascending.
    """

    sector: NDArray[np.int64]
    kind: NDArray[np.int8]
    place: NDArray[np.int64]


@dataclass(frozen=True)
class Cache:
    """sets x ways lines of 128 bytes; a line finds its set by its tag bank."""

    sets: int
    ways: int

    @property
    def lines(self) -> int:
        return self.sets * self.ways

    @property
    def bytes(self) -> int:
        return 128 * self.lines


@dataclass(frozen=True)
class Outcome:
    """What a cache did.

    hit : the sector was there, shape (m,), for the measured stream alone.
    written_back : changed sectors evicted meanwhile. left_dirty : changed sectors in the cache at the end.
    """

    hit: NDArray[np.bool_]
    written_back: float
    left_dirty: float


def l1(size_bytes: float) -> Cache:
    """An L1 of that many bytes."""
    return Cache(L1_SETS, max(1, round(size_bytes / (128 * L1_SETS))))


def l2(size_bytes: float) -> Cache:
    """An L2 of that many bytes: data that fit stay, whatever their addresses."""
    return l1(size_bytes)


def estimate(stream: Stream, cache: Cache, before: Stream | None = None) -> Outcome:
    """Outcome from stack distances, after the cache has seen `before`.

    Sets fill evenly, and count as one large set. The code in C follows each place's list of lines instead.
    """
    by_c = native.lru(_parts(stream), None if before is None else _parts(before), cache.lines)
    if by_c is not None:
        hit, written_back, left_dirty = by_c
        return Outcome(hit, float(written_back), float(left_dirty))
    return _by_distances(stream, cache, before)


def _parts(stream: Stream) -> native.Accesses:
    return stream.sector, stream.kind, stream.place


def _by_distances(stream: Stream, cache: Cache, before: Stream | None) -> Outcome:
    if before is stream and len(stream.place) and stream.place[0] == stream.place[-1]:
        return _second_round(stream, cache)
    whole, of_second = _joined(before, stream)
    run_of, lines = _runs(_line_keys(whole))
    if _all_stay(lines, cache):
        return _nothing_lost(whole, of_second)
    distance = lines.distances()
    stay_of_run = _stays(lines, (distance < 0) | (distance >= cache.lines))
    stay = stay_of_run[run_of]
    first, dirty_stays = _sectors_of_stays(whole, stay)
    hit = np.ones(len(stay), bool)
    hit[first] = False
    if not len(dirty_stays):
        return Outcome(hit[of_second], 0.0, 0.0)
    gone = _gone(dirty_stays, stay_of_run[_kept_runs(lines, cache)])
    early = 0.0 if before is None else _by_distances(before, cache, None).written_back
    return Outcome(hit[of_second], gone - early, float(len(dirty_stays)) - gone)


def _second_round(stream: Stream, cache: Cache) -> Outcome:
    """The outcome of a stream to one place, after the same stream: both rounds share one computation."""
    count = len(stream.sector)
    run_of, lines = _runs(_line_keys(stream))
    if _all_stay(lines, cache):
        return Outcome(np.ones(count, bool), 0.0, _changed_sectors(stream))
    once = lines.distances()
    missed = [(distance < 0) | (distance >= cache.lines) for distance in (once, lines.distances_again(once))]
    each = _stays_of_rounds(lines, *missed)
    twice = Stream(*(np.concatenate([part, part]) for part in (stream.sector, stream.kind, stream.place)))
    first, dirty = _sectors_of_stays(twice, np.concatenate([stays[run_of] for stays in each]))
    hit = np.ones(2 * count, bool)
    hit[first] = False
    if not len(dirty):
        return Outcome(hit[count:], 0.0, 0.0)
    kept_runs = _kept_runs(lines, cache)
    early = _sectors_of_stays(stream, each[0][run_of])[1]
    gone, gone_early = _gone(dirty, each[1][kept_runs]), _gone(early, each[0][kept_runs])
    return Outcome(hit[count:], gone - gone_early, float(len(dirty)) - gone)


def _gone(dirty_stays: NDArray[np.int64], kept_stays: NDArray[np.int64]) -> float:
    """Changed sectors, by their stays, that have left the cache."""
    return float(np.count_nonzero(~np.isin(dirty_stays, kept_stays)))


def _kept_runs(lines: Touches, cache: Cache) -> NDArray[np.int64]:
    """The last run of each line that the cache has at the end."""
    last, after = lines.lasts, lines.after_last
    names = lines.items[last]
    after -= len(names) - np.searchsorted(names, ((names >> HIGH) + 1) << HIGH)  # lines of later places
    return last[after < cache.lines]


def _all_stay(lines: Touches, cache: Cache) -> bool:
    """Whether each place has room for all its lines, so that none is ever replaced."""
    if len(lines.items) <= cache.lines:
        return True
    return int(np.bincount(lines.items[lines.lasts] >> HIGH).max(initial=0)) <= cache.lines


def _nothing_lost(whole: Stream, of_second: NDArray[np.bool_]) -> Outcome:
    """The outcome where no line is ever replaced: the first access to a sector misses, all others hit."""
    hit = np.ones(len(whole.sector), bool)
    hit[first_of_each(whole.place << HIGH | whole.sector)] = False
    return Outcome(hit[of_second], 0.0, _changed_sectors(whole))


def _changed_sectors(stream: Stream) -> float:
    """Different sectors that are written."""
    changed = stream.kind != READ
    key = stream.place[changed] << HIGH | stream.sector[changed]
    return float(len(distinct(key))) if len(key) else 0.0


def exact(stream: Stream, cache: Cache, before: Stream | None = None) -> Outcome:
    """Outcome by simulating every access, after the cache has seen `before`."""
    whole, of_second = _joined(before, stream)
    keys = _line_keys(whole)
    unique, line = np.unique(keys, return_inverse=True)
    place = whole.place[np.unique(line, return_index=True)[1]] if len(keys) else whole.place
    places, place_number = np.unique(place, return_inverse=True)
    set_of = place_number * cache.sets + _by_tag_bank(unique & _LINE_MASK, cache.sets)
    hit, written_back, dirty = run(
        line.astype(np.int64),
        whole.sector & 3,
        whole.kind != READ,
        set_of.astype(np.int64),
        (len(places) * cache.sets, cache.ways),
    )
    return Outcome(hit[of_second], float(written_back[of_second].sum()), float(dirty))


SIMULATIONS: dict[str, Callable[..., Outcome]] = {"estimate": estimate, "exact": exact}


def _by_tag_bank(line: NDArray[np.int64], sets: int) -> NDArray[np.int64]:
    return (tag_bank(line.astype(np.uint64)) % np.uint64(sets)).astype(np.int64)


_LINE_MASK = (1 << HIGH) - 1  # lines of a 49-bit address space; the place stands above


def _joined(before: Stream | None, stream: Stream) -> tuple[Stream, NDArray[np.bool_]]:
    """Both streams as one, place by place, and which accesses are of the second."""
    of_second = np.ones(len(stream.sector), bool)
    if before is None:
        return stream, of_second
    of_second = np.concatenate([np.zeros(len(before.sector), bool), of_second])
    sector, kind, place = (
        np.concatenate([getattr(before, name), getattr(stream, name)]) for name in ("sector", "kind", "place")
    )
    order = np.argsort(place, kind="stable")  # of two ascending rows: a merge, no sort
    return Stream(sector[order], kind[order], place[order]), of_second[order]


def _line_keys(stream: Stream) -> NDArray[np.int64]:
    """A number for each access's line in its cache."""
    return stream.place << HIGH | stream.sector >> 2


def _runs(line: NDArray[np.int64]) -> tuple[NDArray[np.int64], Touches]:
    """Accesses to one line in a row count once: the run of each access, and the lines of the runs."""
    starts = np.ones(len(line), bool)
    starts[1:] = line[1:] != line[:-1]
    return np.cumsum(starts) - 1, touches(line[starts])


def _stays(lines: Touches, missed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of the stay in the cache that each run belongs to; a line's stay begins with a miss."""
    stays = np.empty(len(missed), np.int64)
    stays[lines.order] = np.cumsum(missed[lines.order]) - 1
    return stays


def _stays_of_rounds(
    lines: Touches, missed: NDArray[np.bool_], missed_again: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of two equal rounds: a stay in the first one may last into the second."""
    begins, order = np.flatnonzero(lines.begins), lines.order
    counts = np.diff(np.append(begins, len(order)))
    first, second = np.cumsum(missed[order]), np.cumsum(missed_again[order])
    # stays of lines before this one in the second round, and of lines up to this one in the first
    of_line: NDArray[np.int64] = np.repeat(second[begins] - missed_again[order[begins]], counts)
    through: NDArray[np.int64] = np.repeat(first[begins + counts - 1], counts)
    stays, again = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    stays[order], again[order] = first + of_line - 1, second + through - 1
    return stays, again


def _sectors_of_stays(stream: Stream, stay: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position of the first touch of every sector of every stay, and the stay of every changed sector."""
    key = stay << 2 | stream.sector & 3
    first = np.full(int(key.max(initial=-1)) + 1, -1)
    first[key[::-1]] = np.arange(len(key) - 1, -1, -1)  # of equal keys the last one set stands: the first touch
    return first[first >= 0], distinct(key[stream.kind != READ]) >> 2
