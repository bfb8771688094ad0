"""How long a block stays on an SM that it has to itself.

Source   our own; the joins are the extreme value of exponential tails, found in streaming kernels whose blocks
         are replaced only when their last warp ends.
Models   start and end of the block; the store's way out; the path of one warp; the last of n independent lines, or of
         B warps, ln n or ln B spreads later; a pipe that serves the block's warps one after another, and where it
         is the tighter one, its whole work after one wait for memory.
Omits    tails that are not exponential; warps of a block that do different work; divergence within a phase.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real


@dataclass(frozen=True)
class Block:
    """One block, alone; everything broadcasts."""

    start: Real             # T0  starting and ending it                                            [s]
    store: Real             # S   until its stores have left; 0 where it has none                   [s]
    memory: Real            #     part of one warp's path that waits for the memory beyond the SM   [s]
    compute: Real           #     the rest of that path                                             [s]
    spread: Real            # m   scale of the tail of one line's latency                           [s]
    own_lines: Real         #     sum over load phases of ln(lines that one warp waits for)         [1]
    warps: Real             # B                                                                     [warp]
    busy: Real              #     of the tightest pipe, for all its warps                           [s]
    segments: Real = 1.0    #     pieces that loads and barriers cut the path into                  [1]
    joins: Real = 1.0       #     times that all warps wait for the last: barriers, and the end     [1]
    load_joins: Real = 1.0  #     those of them that end a load phase                               [1]
    farther: Real = 0.0     #     last line of a phase, where it alone comes from DRAM              [s]


def residence(x: Block) -> NDArray[np.float64]:
    """Time from the start of a block to the start of the one that replaces it, s."""
    path = x.memory + x.compute + np.multiply(x.spread, x.own_lines) + joined(x)
    return np.asarray(x.start + x.store + np.maximum(path, x.busy + x.memory / x.segments))


def joined(x: Block) -> NDArray[np.float64]:
    """Time by which the last warp is later than one warp alone, summed over the joins, s."""
    last_warp = np.multiply(x.spread, np.log(x.warps)) + x.farther
    return np.asarray(x.load_joins * np.maximum(last_warp, crowd(x)) + np.subtract(x.joins, x.load_joins) * crowd(x))


def crowd(x: Block) -> NDArray[np.float64]:
    """Time per join that the block's other warps keep the tightest pipe from the last one, s."""
    return np.asarray(np.maximum(0.0, np.subtract(x.busy, x.compute)) / x.segments)


def lead(x: Block) -> NDArray[np.float64]:
    """Part of a residence in which a block asks nothing of the resource that everybody waits for, s.

    Start, store and one wait for memory; the other waits of a long path fall between its own requests.
    """
    waits = x.memory + np.multiply(x.spread, x.own_lines + x.load_joins * np.log(x.warps)) + x.load_joins * x.farther
    return np.asarray(x.start + x.store + waits / x.segments)
