"""How long a block stays on an SM that runs no other block.

Source   our own; the joins are the extreme value of exponential tails, measured in streaming kernels whose blocks are
         replaced only when their last warp ends.
Models   start and end of the block; the time until its stores have left; the path of one warp; the last of n
         independent lines, or of B warps, which comes ln n or ln B spreads later; a pipe that serves the block's warps
         one after another, and if it is the bottleneck, its whole work after one wait for memory. Pieces between
         barriers run one after the other if their work is known; else the work is spread evenly over them.
Omits    tails that are not exponential; divergence within a phase.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.records import OTHERS

ONE_BARRIER = 2.0  # joins: the barrier, and the end


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
    rounds: Real = 0.0      #     load phases of warps that no barrier holds: they may take turns       [1]
    farther: Real = 0.0     #     last line of a phase, where it alone comes from DRAM              [s]
    exposed_shares: tuple[float, ...] = ()  # of `memory`, beside OTHERS warps that take turns; empty: all is hidden
    pieces: tuple["Block", ...] = ()  # the same from barrier to barrier, without start and store; empty: not known
    copies: Real = 0.0      #     by the copy engine, that the path waits for one after the other      [1]


def residence(x: Block) -> NDArray[np.float64]:
    """Time from the start of a block to the start of the one that replaces it, s."""
    return np.asarray(x.start + x.store + sum(map(_lasts, _pieces(x)), np.zeros(())))


def in_step(x: Block, busy: Sequence[Real], others: Real = 0.0) -> NDArray[np.float64]:
    """Residence while all blocks of an SM are between the same two barriers at the same time, s.

    Blocks that begin together share the pipes evenly, reach each barrier together, end together, and are replaced
    together: while they load, nothing is computed. This holds for blocks of one barrier, and for those that load again
    and again in a loop with barriers. Others drift apart, such as trees of several barriers after one load: the result
    is then 0, as it is if pieces are not known.
    Warps that wait for loads several times between two barriers take turns, too: the instructions between a load and
    the wait for it hide as much of the latency as all warps need for them; the rest is added to the tightest pipe's
    time.
    busy : for each piece, time that the resident blocks keep its tightest pipe busy, s. others : warps beside one that
    are resident on a sub-core.
    """
    again = any(np.any(np.greater(piece.load_joins, 1.0)) for piece in x.pieces)
    if not x.pieces or not (again or np.all(np.equal(x.joins, ONE_BARRIER))):
        return np.zeros(())
    shared = tuple(replace(piece, busy=of_all) for piece, of_all in zip(x.pieces, busy, strict=True))
    lasts = (np.maximum(_lasts(piece), piece.busy + _unhidden(piece, others)) for piece in shared)
    return np.asarray(x.start + x.store + sum(lasts, np.zeros(())))


def _unhidden(x: Block, others: Real) -> NDArray[np.float64]:
    """Waits for memory that this many other warps of the sub-core do not hide, s."""
    return np.asarray(np.multiply(x.memory, np.interp(others, OTHERS, x.exposed_shares) if x.exposed_shares else 0.0))


def taking_turns(x: Block, pipes: Real) -> NDArray[np.float64]:
    """Residence while the warps of an SM compute together and then wait for their loads together, s.

    Warps that execute the same code take turns at the pipes, end together and so wait together, iteration by iteration.
    pipes : time that the resident blocks keep the tightest pipe of the sub-cores busy, s. 0 for blocks with barriers,
    whose pieces do the same, and for those that wait for loads once: blocks that end at different times stay apart.
    """
    return np.where(np.greater(x.rounds, 1.0), x.start + x.store + x.memory + pipes, 0.0)


def last_warp_delay(x: Block) -> NDArray[np.float64]:
    """Delay of the last warp relative to one warp alone, summed over the joins, s."""
    return sum(map(_delay, _pieces(x)), np.zeros(()))


def pipe_contention(x: Block) -> NDArray[np.float64]:
    """The part of `last_warp_delay` in which other warps of the block occupy the tightest pipe, s."""
    return sum((np.minimum(_delay(piece), _contention(piece) * piece.joins) for piece in _pieces(x)), np.zeros(()))


def slowest_warp_lag(x: Block) -> NDArray[np.float64]:
    """How much longer the slowest warp's path is than a typical warp's, summed over the pieces, s."""
    slowest = sum((piece.memory + piece.compute for piece in _pieces(x)), np.zeros(()))
    return np.asarray(np.maximum(0.0, slowest - x.memory - x.compute))


def without_pipes(x: Block) -> Block:
    """The block if no warp waited for others on the SM."""
    return replace(x, busy=0.0, pieces=tuple(replace(piece, busy=0.0) for piece in x.pieces))


def _pieces(x: Block) -> tuple[Block, ...]:
    return x.pieces or (x,)


def _lasts(x: Block) -> NDArray[np.float64]:
    path = x.memory + x.compute + np.multiply(x.spread, x.own_lines) + _delay(x)
    return np.asarray(np.maximum(path, x.busy + x.memory / x.segments))


def _delay(x: Block) -> NDArray[np.float64]:
    last_load, contention = np.multiply(x.spread, np.log(x.warps)) + x.farther, _contention(x)
    after_loads = x.load_joins * np.maximum(last_load, contention)
    return np.asarray(after_loads + np.subtract(x.joins, x.load_joins) * contention)


def _contention(x: Block) -> NDArray[np.float64]:
    """The part of `pipe_contention` of each join."""
    return np.asarray(np.maximum(0.0, np.subtract(x.busy, x.compute)) / x.segments)


def lead(x: Block) -> NDArray[np.float64]:
    """Part of a residence in which a block does not use the bottleneck resource, s.

    Start, store and one wait for memory; the other waits of a long path fall between its own requests.
    """
    waits = x.memory + np.multiply(x.spread, x.own_lines + x.load_joins * np.log(x.warps)) + x.load_joins * x.farther
    return np.asarray(x.start + x.store + waits / np.maximum(x.segments, x.copies))
