"""The one line of global memory that atomics update most often in a launch.

Source   that steps of a line follow each other, not those of an address: published histograms of 256 bins (corpus
         `histograms`). Steps, in units of one addition of an integer: of a float, 8.4 million to one address in 13.6 ms
         on an RTX 3090 (`reductions-elsewhere`), 3.0 times as long as of integers on an RTX 3080 and 3060 Ti, 0.539 ns;
         of a sector, at least 5.0: 16 whole lines side by side take 10.8 ns each on the same two (`counts-of-zeros`).
         Four lanes of a warp on one address take four steps on an RTX 2060 (the same tables @982511d), so where one
         sector alone is updated there is no such least.
Models   an atomic instruction takes steps at each sector that it touches: one for each lane on the address that most
         lanes share, three if it adds floats; at least five if several sectors of the line are updated. Blocks between
         the first and the last sampled block that touch a line touch it as often as the sampled blocks among them, all
         others never: a line that one block touches is its own, a line that all touch is shared by all.
Omits    lines that share one slice of L2; blocks before and behind the sampled ones that touch a line.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate import Trace
from warpbound.program import Program
from warpbound.program.instruction import Instruction
from warpbound.workload.dynamic import Sample

_FLOATS = ("F16", "F32", "F64", "BF16")  # as modifiers begin: F32x4
FLOAT_STEPS, SECTOR_STEPS = 3, 5
_SECTOR, _LINE = np.uint64(5), np.uint64(2)  # shifts: bytes to sectors, sectors to lines


def hottest_updates(program: Program, trace: Trace, sample: Sample) -> float:
    """Atomic steps on that line by the whole launch."""
    accesses = trace.accesses.get("global")
    atomic = [index for index, instruction in enumerate(program.instructions) if instruction.traits.is_global_atomic]
    if accesses is None or not atomic:
        return 0.0
    atomics = np.flatnonzero(np.isin(accesses.instruction, atomic))
    block = trace.warps[accesses.warp[atomics], 0]
    own = accesses.rows(atomics)
    row, lane = np.nonzero(own.active)
    if not len(row):
        return 0.0
    each = np.array([_of_one_lane(instruction) for instruction in program.instructions])[accesses.instruction[atomics]]
    row, sector, count = steps(row, own.addresses[row, lane], each)
    which, several = _lines(sector)
    count = np.where(several, np.maximum(count, SECTOR_STEPS), count)
    return float(of_spans(which, block[row], count, sample).max())


def _lines(sector: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The number of each access's line, and whether several of its sectors are updated."""
    _, which = np.unique(sector >> _LINE, return_inverse=True)
    _, first = np.unique(sector, return_index=True)
    sectors = np.bincount(which[first])
    return which, sectors[which] > 1


def of_spans(
    which: NDArray[np.int64], block: NDArray[np.int64], count: NDArray[np.int64], sample: Sample
) -> NDArray[np.float64]:
    """Steps of each line by all blocks between the first and the last sampled one that touches it, (lines,).

    which, block, count : line, block and steps of each access, (n,).
    """
    lines, order = which.max() + 1, np.argsort(sample.blocks)
    blocks, before = sample.blocks[order], np.append(0.0, np.cumsum(sample.weights[order]))
    at = np.searchsorted(blocks, block)
    first, last = np.full(lines, len(blocks)), np.zeros(lines, np.int64)
    np.minimum.at(first, which, at)
    np.maximum.at(last, which, at)
    stand_for = before[last + 1] - before[first]
    trace = np.bincount(which, sample.weights[order][at] * count)
    return np.asarray(trace * (blocks[last] - blocks[first] + 1) / stand_for)


def _of_one_lane(instruction: Instruction) -> int:
    return FLOAT_STEPS if any(word.startswith(_FLOATS) for word in instruction.modifiers) else 1


def steps(
    row: NDArray[np.int64], address: NDArray[np.uint64], each: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]:
    """Row, sector and number of steps of each sector that an instruction (a row) touches, if it were the only one.

    row, address : of each lane that is on, (lanes,). each : steps of one lane of each row, (rows,).
    """
    order = np.lexsort((address, row))
    row, address = row[order], address[order]
    new = np.append(True, (np.diff(row) != 0) | (np.diff(address) != 0))  # the first lane of each row and address
    first = np.flatnonzero(new)
    lanes = np.diff(np.append(first, len(row)))
    row, sector = row[first], address[first] >> _SECTOR
    begins = np.flatnonzero(np.append(True, (np.diff(row) != 0) | (np.diff(sector) != 0)))
    return row[begins], sector[begins], np.maximum.reduceat(lanes, begins) * each[row[begins]]
