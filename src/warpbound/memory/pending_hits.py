"""Loads that hit a line which is still on its way into L1: they wait for the rest of the miss.

Source   A load of a line that is already requested is merged with the miss (a hit on a miss), as in all non-blocking
         caches: D. Kroft, "Lockup-free instruction fetch/prefetch cache organization", ISCA 1981.
Models   Warps of the resident blocks of an SM, in step. A load is under way until its warp waits for its scoreboard. If
         another load of these blocks accesses one of its sectors before that, both are answered at the same time.
Omits    Warps that run ahead; copies to shared memory, which end at no scoreboard.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import distinct
from warpbound.memory.sorted_order import begins_of_groups, order_by
from warpbound.program.instruction import Instruction
from warpbound.quick_dataclasses import dataclass

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AccessOrder:
    """The global accesses of a warp in the order of its stream: place of each, and of the first wait for it, (n,)."""

    issued: Ints
    awaited: Ints


def access_order(
    instructions: Sequence[Instruction], stream: NDArray[np.int32], accesses: NDArray[np.bool_]
) -> AccessOrder:
    """accesses : which instructions are recorded as accesses of global memory, (instructions,)."""
    issued = np.flatnonzero(accesses[stream])
    controls = [instruction.control for instruction in instructions]
    boards = (None if control is None else control.write_scoreboard for control in controls)
    board = np.array([-1 if number is None else number for number in boards])
    raised, awaited = board[stream[issued]], issued.copy()
    for number in distinct(raised[raised >= 0]).tolist():
        waits = np.array([control is not None and number in control.wait for control in controls])
        places = np.append(np.flatnonzero(waits[stream]), len(stream))
        own = raised == number
        awaited[own] = places[np.searchsorted(places, issued[own], side="right").clip(max=len(places) - 1)]
    return AccessOrder(issued, awaited)


@dataclass(frozen=True)
class Loaded:
    """Sectors that loads request from L1, (m,) each.

    sector : its number. resident : number of the blocks that the SM has at that time. rank : position in time when
    warps     keep step. hit : L1 has it, or has requested it. when : number of the access among those of its warp.
    """

    sector: Ints
    resident: Ints
    rank: Ints
    hit: NDArray[np.bool_]
    when: Ints


def answered_with(x: Loaded, of: AccessOrder) -> Ints:
    """For each loaded sector the place of the sector that answers it: its own, or that of a miss under way, (m,)."""
    result = np.arange(len(x.sector))
    if not x.hit.any() or not len(of.issued):
        return result
    order = order_by(x.resident, x.sector, x.rank)
    begins = np.flatnonzero(begins_of_groups(order, x.resident, x.sector))
    first = np.repeat(begins, np.diff(np.append(begins, len(order))))
    miss = np.maximum.accumulate(np.where(x.hit[order], -1, np.arange(len(order))))
    at = np.minimum(x.when, len(of.issued) - 1)
    filled = miss >= first
    own, fill = order[filled], order[miss[filled]]
    under_way = of.issued[at[own]] < of.awaited[at[fill]]
    result[own[under_way]] = fill[under_way]
    return result
