"""Accesses that a register would save: a loop stores to one address in each iteration, as a sum in memory does.

Models   Every store of a warp but its last at the same addresses, and every load there once it has stored, is saved.
Omits    Kernels with barriers, and addresses that another warp of the sample loads: others may wait for those stores.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from warpbound.analysis.block_loads import plain_accesses
from warpbound.emulate.trace import Accesses
from warpbound.memory.sorted_order import groups, order_and_begins
from warpbound.program import Program
from warpbound.whatif import Repeated
from warpbound.workload import Memory, Workload

if TYPE_CHECKING:
    from warpbound.analysis.static import SampleRun

WORTH = 0.05  # share of the accesses of global memory that must be saved
OFTEN = 0.05  # share of the most frequent saved store, from which on another store belongs to the loop
FIRST = 4096  # rows that are looked at first
WORD = np.uint64(2)  # shift: bytes to words of 4


def repeated_stores(program: Program, run: "SampleRun", work: Workload) -> Repeated | None:
    """What a register would save one warp; None where that is next to nothing."""
    trace, _, traffic = run
    accesses, warps = trace.accesses.get("global"), work.warps
    if accesses is None or not warps or round(work.barriers) > 0:
        return None
    stores = plain_accesses(program, "store")
    own = np.flatnonzero(np.isin(accesses.instruction, stores))
    if not _again(accesses, own[:FIRST]).any():
        return None
    saved = own[_again(accesses, own)]
    loads = np.flatnonzero(np.isin(accesses.instruction, plain_accesses(program, "load")))
    if not len(saved) or _read_by_others(accesses, saved, loads):
        return None
    loads = loads[_known(accesses, loads, saved)]
    size = len(program.instructions)
    rows = np.concatenate([saved, loads])
    count = np.bincount(accesses.instruction[rows], minlength=size)
    share = count / np.maximum(1, np.bincount(accesses.instruction, minlength=size))
    by = traffic.by_instruction
    each = share * by.requests / warps
    if each.sum() < WORTH * by.requests.sum() / warps:
        return None
    storing = np.isin(np.arange(size), stores)
    counts = np.bincount(accesses.instruction[saved], minlength=size)
    often = np.flatnonzero(counts > OFTEN * counts.max()).tolist()
    lines = {place.outermost.line for i in often if (place := program.instructions[i].place) is not None}
    rounds = round(counts.sum() / counts.max())
    return Repeated(_saved(run, share / warps, storing), float(each.sum()), rounds, tuple(sorted(lines)))


def _keys(accesses: Accesses, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Warp, pattern and base of each row, (n,) each: rows with equal ones have the same addresses."""
    warp, pattern, base = accesses.warp[rows], accesses.pattern[rows], accesses.base[rows]
    return warp.astype(np.int64), pattern.astype(np.int64), base.view(np.int64)


def _again(accesses: Accesses, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows a later one of the same warp repeats, (n,)."""
    order, begins = order_and_begins(*_keys(accesses, rows))
    same = np.zeros(len(rows), np.bool_)
    same[order[:-1]] = ~begins[1:]
    return same


def _known(accesses: Accesses, loads: NDArray[np.int64], saved: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which loads read what the same warp has stored before, (n,)."""
    number = groups(*_keys(accesses, np.concatenate([saved, loads])))
    first = np.full(number.max(initial=-1) + 1, len(accesses.base))  # store of each group
    first[number[: len(saved)][::-1]] = saved[::-1]
    return np.asarray(first[number[len(saved) :]] < loads)


def _read_by_others(accesses: Accesses, saved: NDArray[np.int64], loads: NDArray[np.int64]) -> bool:
    """Whether a warp's first lane loads a word that another warp stores to again and again."""
    order, begins = order_and_begins(*_keys(accesses, saved))
    stored = accesses.rows(saved[np.sort(order[begins])])  # of equal rows the first
    row, lane = np.nonzero(stored.active)
    word, which = np.unique(stored.addresses[row, lane] >> WORD, return_index=True)
    owner, loaded = stored.warp[row[which]], _first_lanes(accesses, loads) >> WORD
    at = np.minimum(np.searchsorted(word, loaded), len(word) - 1)
    return bool(((word[at] == loaded) & (owner[at] != accesses.warp[loads])).any())


def _first_lanes(accesses: Accesses, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Address of the first lane that takes part in each row, (n,)."""
    patterns = accesses.patterns
    offset = patterns.offsets[np.arange(len(patterns.active)), patterns.active.argmax(axis=1)]
    return np.asarray(accesses.base[rows] + offset[accesses.pattern[rows]], np.uint64)


def _saved(run: "SampleRun", share: NDArray[np.float64], storing: NDArray[np.bool_]) -> Memory:
    """Traffic of these shares of each instruction."""
    by = run[2].by_instruction
    stores, loads = share * storing, share * ~storing
    return Memory(
        global_store_requests=float(stores @ by.requests), global_load_requests=float(loads @ by.requests),
        l1_sectors_store=float(stores @ by.sectors), l1_sectors_load=float(loads @ by.sectors),
        ideal_sectors=float(share @ by.ideal_sectors), l1_wavefronts=float(share @ by.l1_wavefronts),
        l1_narrow=float(share @ by.l1_narrow), store_pieces=float(share @ by.store_pieces),
        l2_sectors_written=float(stores @ by.sectors),
        l2_sectors_read=float(loads @ by.sectors_from[:, 1:].sum(axis=1)),
    )  # fmt: skip
