"""The sectors that are followed through the caches: of all lines, or of a random part where they are many.

Source   Following a fixed random part of the lines through caches made smaller in proportion: C. Waldspurger et
         al., "Efficient MRC construction with SHARDS", FAST 2015.
Models   All lines are followed while they have at most SECTORS_FOLLOWED sectors; beyond that, as many as have, chosen
         by a hash of the line, but at least LINES_FOLLOWED lines.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.caches import READ
from warpbound.memory.requests import SectorList
from warpbound.memory.sampled_accesses import Reals, Space, added

SECTORS_FOLLOWED = 250_000
LINES_FOLLOWED = 2048  # where each line has few sectors
AT_MOST = 1.5  # times SECTORS_FOLLOWED, for so many lines


def choose_sectors(parts: tuple[Space, Space], most: int) -> tuple[SectorList, float]:
    """The sectors to follow, and their share of all lines."""
    count = sum(int(part.cost.sectors.sum()) for part in parts)
    part = min(1.0, most / max(1, count))
    result = _sectors(parts, part)
    if part == 1:
        return result, part
    lines = len(distinct(result.sector >> 2)) / part
    share = min(1.0, AT_MOST * part, max(part, LINES_FOLLOWED / max(1.0, lines)))
    return (_sectors(parts, share), share) if share > part else (result, part)


def _sectors(parts: tuple[Space, Space], part: float) -> SectorList:
    """Sectors of that share of the lines; rows of the second space are numbered after those of the first."""
    first, second = (space.sectors(part) for space in parts)
    rows = len(parts[0].weight)
    return SectorList(
        np.concatenate([first.row, second.row + rows]),
        np.concatenate([first.sector, second.sector]),
        np.concatenate([first.addresses, second.addresses]),
    )


def used_rows(
    parts: tuple[Space, Space], sectors: SectorList, part: float
) -> tuple[NDArray[np.int64] | slice, SectorList]:
    """The rows that have followed sectors, and these sectors with their row among those."""
    if part == 1:
        return slice(None), sectors
    has_some = np.zeros(sum(len(part.weight) for part in parts), bool)
    has_some[sectors.row] = True
    return np.flatnonzero(has_some), replace(sectors, row=(np.cumsum(has_some) - 1)[sectors.row])


def loads_of(parts: tuple[Space, Space], size: int) -> Reals:
    """Recorded loads by instruction, followed or not, (instructions,)."""
    loads = [(part.accesses.instruction, (part.cost.kind == READ).astype(np.float64)) for part in parts]
    return np.asarray(np.sum([added(*each, size) for each in loads], axis=0))
