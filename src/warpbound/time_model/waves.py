"""From the rate of a full SM to the time of a launch: waves of blocks, the fill at the start, the drain at the end.

Source   our own; limits: g blocks on SMs of N that never wait take ceil(g / N) residences; blocks that always wait
         take one lead more than their demand.
Models   SMs with equal shares of the grid; the last wave at its own, smaller population; the lead of a wave as far as
         the tightest resource has no idle time to hide it in.
Omits    SMs that finish early and leave bandwidth to the others; the last block of the whole chip (an extreme value);
         waves that drift apart, so that a small last wave is softened.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Waves:
    """Blocks of one SM in full waves of `population`, and the rest."""

    full: Real          # waves whose blocks all are there                    [1]
    rest: Real          # blocks of the last, incomplete wave                 [block]
    population: Real    # blocks of a full wave                               [block]


@dataclass(frozen=True)
class Pace:
    """Steady flow of SMs with a given number of blocks each."""

    rate: Real          # of one SM                                                       [block/s]
    lead: Real          # part of a residence without a request to the tightest resource  [s]
    utilization: Real   # of that resource                                                [1]


def split(blocks_per_sm: Real, population: Real) -> Waves:
    """Full waves and the rest; a grid smaller than one wave is all rest."""
    full = np.floor(np.divide(blocks_per_sm, population))
    return Waves(full, blocks_per_sm - full * population, population)


def duration(x: Waves, full: Pace, last: Pace) -> NDArray[np.float64]:
    """Time from the first block's start to the last one's end, s.

    full, last : of SMs with a full wave, and with the rest, at least one block.
    """
    crowded = np.divide(x.rest, full.rate) + _unhidden(full, x.population)
    alone = np.maximum(x.rest, 1.0) / last.rate + _unhidden(last, np.maximum(x.rest, 1.0))
    tail = np.where(np.greater(x.rest, 0), np.maximum(crowded, alone), _unhidden(full, x.population))
    return np.asarray(x.full * np.divide(x.population, full.rate) + tail)


def _unhidden(pace: Pace, population: Real) -> NDArray[np.float64]:
    """The part of the lead that steady flow does not hide: all of it at a saturated resource."""
    idle = np.divide(population, pace.rate) * np.subtract(1.0, np.minimum(pace.utilization, 1.0))
    return np.asarray(np.maximum(0.0, pace.lead - idle))
