"""Copies: what an L2 of two sides keeps of data that a launch reads again and again, when its blocks drift apart.

Source   DRAM's counters in te42kyfo/gpu-benches @4e9d468, gpu-l2-cache/a100_80.txt (blocks of 32 loads, 256 KiB each):
         lines are lost from half of L2 on, little by little (docs/model-notes/l2-replication.md).
Models   Every line has a home on one side, which alone asks DRAM. A reader, as often as not on the other side,
         leaves a copy there, and asks the home only if its side has lost the copy; so a home that only the copy's
         readers use grows old. Each side, half of L2, replaces what was used last longest ago: in effect all that was
         not used for a time T. A reader comes once a round, early or late: rounds of a line are
         1 +- sqrt(2) spread long, by the logistic law, whose sums are closed. For every T follow how much data fill L2,
         and what is missed. The spread is that of the time in which blocks do their loads: each load's wait varies by
         DRIFT of itself, so that blocks of n loads drift by DRIFT / sqrt(n) of the data of the blocks under way.
Omits    Writes, which DRAM's counters were not read for; that the first reads of data find no copies.
"""

import math

import numpy as np
from numpy.typing import NDArray

DRIFT = 0.85     # standard deviation of a load's wait, of its mean: by the counters named above, within 0.8 to 0.9
LEAST, MOST = 0.01, 1.0  # spreads in rounds that are told apart: TIMES are no closer, and blocks that drift further
                         # come at any time
ROUNDS = np.arange(1.0, 25.0)                                                    # since a line was used
TIMES = np.concatenate([np.linspace(0.05, 2.5, 246), np.geomspace(2.55, 24.0, 40)])  # T, in rounds
LOGISTIC = math.sqrt(3.0) / math.pi  # scale of a logistic law of standard deviation 1
Reals = NDArray[np.float64]


def spread_of(under_way: float, loads: float) -> float:
    """How far blocks drift apart, in the unit of the data of the blocks under way; loads : of a warp, one by one."""
    return DRIFT / math.sqrt(max(1.0, loads)) * under_way


def missed(data: Reals | float, size: float, spread: float) -> Reals:
    """Share of reads of so much data that DRAM must answer, of any shape; spread and size in the same unit."""
    data = np.asarray(np.maximum(data, 1e-9))
    return np.array([_missed(one / size, spread / one) for one in data.ravel()]).reshape(data.shape)


def _missed(data: float, spread: float) -> float:
    """The same; data in sizes of L2, spread in rounds. Where two T fill L2, the one that finds more."""
    fills, lost = two_sides(min(MOST, max(LEAST, spread)))
    return float(np.interp(data, np.maximum.accumulate(fills[::-1]), lost[::-1], left=0.0))


def two_sides(spread: float) -> tuple[Reals, Reals]:
    """Data in sizes of L2 with which it keeps what was used since TIMES, and share of reads that it then lacks.

    For home and copy: how likely it is that the last use was n rounds ago, or is n or more.
    """
    there, stays = _uses(spread)
    once = there[:, :1]
    copy_last = 0.5**ROUNDS
    copy_found = (copy_last * there).sum(axis=1, keepdims=True)
    older_copy = (copy_last[:-1] * there[:, 1:]).sum(axis=1, keepdims=True)
    homes_used = 1.0 - copy_found / 2.0                                       # a round
    both_used = (1.0 - copy_found) / (2.0 - copy_found)                       # of these, those by the copy's readers
    passed_by = (both_used * once + (1.0 - both_used) * older_copy) / 2.0     # the next reader finds a copy
    waits = np.concatenate([np.ones_like(once), passed_by * (once / 2.0) ** (ROUNDS[1:] - 2.0)], axis=1)
    ends = waits - np.concatenate([waits[:, 1:], np.zeros_like(once)], axis=1)
    lost = waits * ((1.0 - there) + (1.0 - once)) / 2.0                       # home's reader; copy's that lacks it
    held = (homes_used * ends * stays + copy_last / 2.0 * stays).sum(axis=1)
    return 1.0 / held, (homes_used * lost).sum(axis=1)


def _uses(spread: float) -> tuple[Reals, Reals]:
    """Whether what was used n rounds ago is there, and how long it stayed in the mean, min(n rounds, T); (T, n)."""
    scale = math.sqrt(2.0) * spread * LOGISTIC
    late = (TIMES[:, None] - ROUNDS) / scale
    there = 1.0 / (1.0 + np.exp(-np.clip(late, -500.0, 500.0)))
    return there, np.minimum(ROUNDS, TIMES[:, None] - scale * np.logaddexp(0.0, late))
