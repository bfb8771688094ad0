"""Replication in an L2 with two partitions: which share of repeated reads hits while blocks drift apart.

Source   DRAM counters in te42kyfo/gpu-benches @4e9d468, gpu-l2-cache/a100_80.txt (blocks of 32 loads, 256 KiB each):
         lines are lost gradually from half of L2 on (docs/model-notes/l2-replication.md).
Models   Every line has a home partition, and only the home reads DRAM. A reader, half of the time on the other side,
         leaves a copy there and asks the home only if its side has lost the copy; a home whose line is read only
         through the copy therefore ages. Each partition, half of L2, replaces the least recently used line: in effect,
         every line that was not used for a time T. A line is read once a round, early or late: rounds last
         1 +- sqrt(2) spread, by the logistic law, whose sums have a closed form. For every T the model computes how
         much data fill L2 and how many reads miss. The spread is that of the time in which blocks do their loads: the
         wait of each load varies by DRIFT of itself, so blocks of n loads drift by DRIFT / sqrt(n) of the data of all
         resident blocks.
Omits    Writes, for which the DRAM counters were not read; first reads, which find no copies.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

DRIFT = 0.85     # standard deviation of a load's wait over its mean: 0.8 to 0.9 by the counters named above
LEAST, MOST = 0.01, 1.0  # range of spreads, in rounds: TIMES are no closer; blocks that drift further come at any time
ROUNDS = np.arange(1.0, 25.0)                                                    # since a line was used
TIMES = np.concatenate([np.linspace(0.05, 2.5, 246), np.geomspace(2.55, 24.0, 40)])  # T, in rounds
HALF = 0.5       # of L2: as much data fit in it twice, so that no copy is lost
LOGISTIC = math.sqrt(3.0) / math.pi  # scale of a logistic law of standard deviation 1
Reals = NDArray[np.float64]


def spread_of(under_way: float, loads: float) -> float:
    """How far blocks drift apart, in the unit of `under_way`, the data of the resident blocks; loads : of one warp."""
    return DRIFT / math.sqrt(max(1.0, loads)) * under_way


def missed(data: Reals | float, size: float, spread: float) -> Reals:
    """Share of the reads that go to DRAM, of any shape like `data`; data, size and spread in the same unit."""
    data = np.asarray(np.maximum(data, 1e-9))
    return np.array([_missed(amount / size, spread / amount) for amount in data.ravel()]).reshape(data.shape)


def _missed(data: float, spread: float) -> float:
    """The same; data in sizes of L2, spread in rounds. Where two T fill L2, the one with more hits."""
    if data < HALF:
        return 0.0
    fills, lost = two_sides(min(MOST, max(LEAST, spread)))
    return float(np.interp(data, np.maximum.accumulate(fills[::-1]), lost[::-1], left=0.0))


@lru_cache(256)
def two_sides(spread: float) -> tuple[Reals, Reals]:
    """For each of TIMES: the data, in sizes of L2, with which L2 keeps lines that long, and the share of reads missed.

    Terms give, for home and copy, the probability that the last use was n rounds ago, or n or more.
    """
    present, stays = _uses(spread)
    once = present[:, :1]
    copy_last = 0.5**ROUNDS
    copy_found = (copy_last * present).sum(axis=1, keepdims=True)
    older_copy = (copy_last[:-1] * present[:, 1:]).sum(axis=1, keepdims=True)
    homes_used = 1.0 - copy_found / 2.0                                       # a round
    both_used = (1.0 - copy_found) / (2.0 - copy_found)                       # of these, those by the copy's readers
    passed_by = (both_used * once + (1.0 - both_used) * older_copy) / 2.0     # the next reader finds a copy
    waits = np.concatenate([np.ones_like(once), passed_by * (once / 2.0) ** (ROUNDS[1:] - 2.0)], axis=1)
    ends = waits - np.concatenate([waits[:, 1:], np.zeros_like(once)], axis=1)
    lost = waits * ((1.0 - present) + (1.0 - once)) / 2.0                       # home's reader; copy's that lacks it
    resident = (homes_used * ends * stays + copy_last / 2.0 * stays).sum(axis=1)
    return 1.0 / resident, (homes_used * lost).sum(axis=1)


def _uses(spread: float) -> tuple[Reals, Reals]:
    """Probability that a line used n rounds ago is still there, and its mean time there, min(n rounds, T); (T, n)."""
    scale = math.sqrt(2.0) * spread * LOGISTIC
    late = (TIMES[:, None] - ROUNDS) / scale
    present = 1.0 / (1.0 + np.exp(-np.clip(late, -500.0, 500.0)))
    return present, np.minimum(ROUNDS, TIMES[:, None] - scale * np.logaddexp(0.0, late))
