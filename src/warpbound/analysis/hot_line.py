"""The one line of global memory that atomics update most often in a launch.

Source   published histograms of 256 bins: their 32 atomics a warp on eight lines take as long as one after the other on
         each line do, not on each address (corpus `histograms`).
Models   an atomic instruction asks for a step of each sector that it touches, and for as many more as lanes of it share
         one address; the steps of a line follow each other. Blocks between the first and the last sampled one that
         touch a line touch it as often as the sampled ones among them do, the others never: a line that one alone
         touches is its own, one that all touch is everybody's.
Omits    lines that share one slice of L2; blocks that were not sampled before and behind those that touch a line.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import Trace
from warpbound.program import Program
from warpbound.workload.dynamic import Sample

_ATOMICS = frozenset({"ATOM", "ATOMG", "RED", "REDG"})
_SECTOR, _LINE = np.uint64(5), np.uint64(2)  # shifts: bytes to sectors, sectors to lines


def hottest_updates(program: Program, seen: Trace, chosen: Sample) -> float:
    """Steps on that line by the whole launch."""
    accesses = seen.accesses.get("global")
    atomic = [index for index, one in enumerate(program.instructions) if one.opcode in _ATOMICS]
    if accesses is None or not atomic:
        return 0.0
    mine = np.flatnonzero(np.isin(accesses.instruction, atomic))
    block = seen.warps[accesses.warp[mine], 0]
    row, lane = np.nonzero(accesses.active[mine])
    if not len(row):
        return 0.0
    row, line, count = steps(row, accesses.addresses[mine][row, lane])
    _, which = np.unique(line, return_inverse=True)
    return float(of_spans(which, block[row], count, chosen).max())


def of_spans(
    which: NDArray[np.int64], block: NDArray[np.int64], count: NDArray[np.int64], chosen: Sample
) -> NDArray[np.float64]:
    """Steps of each line by all blocks between the first and the last sampled one that touches it, (lines,).

    which, block, count : line, block and steps of each access, (n,).
    """
    lines, order = which.max() + 1, np.argsort(chosen.blocks)
    blocks, before = chosen.blocks[order], np.append(0.0, np.cumsum(chosen.weights[order]))
    at = np.searchsorted(blocks, block)
    first, last = np.full(lines, len(blocks)), np.zeros(lines, np.int64)
    np.minimum.at(first, which, at)
    np.maximum.at(last, which, at)
    stand_for = before[last + 1] - before[first]
    seen = np.bincount(which, chosen.weights[order][at] * count)
    return np.asarray(seen * (blocks[last] - blocks[first] + 1) / stand_for)


def steps(
    row: NDArray[np.int64], address: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Row, line and number of steps of each sector that an instruction (a row) touches.

    row, address : of each lane that is on, (lanes,). A sector takes as many steps as lanes want one of its addresses,
    the most wanted one.
    """
    order = np.lexsort((address, row))
    row, address = row[order], address[order]
    new = np.append(True, (np.diff(row) != 0) | (np.diff(address) != 0))  # the first lane of each row and address
    first = np.flatnonzero(new)
    lanes = np.diff(np.append(first, len(row)))
    row, sector = row[first], address[first] >> _SECTOR
    begins = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(sector) != 0)))
    return row[begins], sector[begins] >> _LINE, np.maximum.reduceat(lanes, begins)
