"""From the rate of a full SM to the time of a launch: waves of blocks, the fill at the start, the drain at the end.

Source   our own; limits: blocks that never wait take ceil(g / N) residences, blocks that always wait take one
         lead more than their demand.
Models   SMs with equal shares of the grid; the last wave at its own, smaller population.
Omits    SMs that finish early and leave bandwidth to the others; the last block of the whole chip (an extreme value);
         waves that drift apart, so that a small last wave is softened.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real


@dataclass(frozen=True)
class Waves:
    """Blocks of one SM in full waves of `population`, and the rest."""

    full: Real          # waves whose blocks all are there                    [1]
    rest: Real          # blocks of the last, incomplete wave                 [block]
    population: Real    # blocks of a full wave                               [block]


def waves(blocks_per_sm: Real, population: Real) -> Waves:
    """Full waves and the rest; a grid smaller than one wave is all rest."""
    full = np.floor(np.divide(blocks_per_sm, population))
    return Waves(full, blocks_per_sm - full * population, population)


def duration(x: Waves, rate: Real, last_rate: Real, lead: Real, utilization: Real) -> NDArray[np.float64]:
    """Time from the first block's start to the last one's end, s.

    rate, last_rate : blocks per second of one SM with a full wave and with the rest, at least one block.
    lead : part of a residence without a request to the tightest resource. utilization : of that resource; where it
    is always busy a whole lead comes on top of the steady flow, where it hardly is, nothing does.
    """
    fill = np.multiply(lead, utilization)
    crowded = x.rest / np.asarray(rate) + fill
    alone = np.maximum(x.rest, 1.0) / last_rate + fill * np.subtract(1.0, utilization)
    tail = np.where(np.greater(x.rest, 0), np.maximum(crowded, alone), fill)
    return np.asarray(x.full * np.divide(x.population, rate) + tail)
