"""Sectors that an iteration touches again, from the code's address arithmetic: DRAM sends these only once.

Source   our own; the lecture notes on interval analysis count data that way.
Models   Accesses of one kind (loads, or stores) whose addresses differ by a number that the code gives, within one
         iteration; the iteration before, where the innermost loop moves the address by a number of bytes.
Omits    Evictions between two such accesses; reuse between warps; loads of stored data.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

import numpy as np
from numpy.typing import NDArray

from warpbound.distinct_values import begins, distinct
from warpbound.memory.address_arithmetic import Address
from warpbound.memory.address_registers import Threads
from warpbound.memory.affine import Form
from warpbound.memory.static_lane_addresses import rows
from warpbound.program.instruction import Instruction
from warpbound.program.registers import lane_bytes

SECTOR_B = 32
MOST_ROWS = 64  # warps and alignments that are looked at, evenly spread
NEAR = 1 << 16  # bytes: accesses farther apart, or loops that move farther, share no sector
Place = tuple[int, str]
Rows = NDArray[np.int64]  # sectors of the lanes, (rows, lanes)


def first_touches(
    instructions: Sequence[Instruction], addresses: Mapping[Place, Address], threads: Threads
) -> dict[Place, float]:
    """Share of the sectors of each global load and store that nothing touched before it; all others are absent."""
    groups: dict[tuple[object, ...], list[Place]] = defaultdict(list)
    for place in sorted(addresses):
        kind, form = instructions[place[0]].traits.kind, addresses[place].form
        if place[1] == "global" and kind in ("load", "copy", "store") and isinstance(form, Form):
            groups[kind == "store", addresses[place].inner_step, *_base(form)].append(place)
    shares: dict[Place, float] = {}
    for places in groups.values():
        if len(places) > 1 or addresses[places[0]].inner_step:
            shares |= _of_group([instructions[index] for index, _ in places], places, addresses, threads)
    return shares


def _base(form: Form) -> tuple[object, ...]:
    """What two addresses have in common that differ by a constant per thread; hashable."""
    return tuple(sorted((name, np.asarray(words).tobytes()) for name, words in form.terms.items() if name))


def _of_group(
    own: Sequence[Instruction], places: Sequence[Place], addresses: Mapping[Place, Address], threads: Threads
) -> dict[Place, float]:
    step = gcd(*(addresses[place].step for place in places))  # so that row i of each is the same warp and alignment
    lanes = [rows(replace(addresses[place], step=step), threads) for place in places]
    picked = distinct(np.linspace(0, len(lanes[0][0]) - 1, MOST_ROWS).astype(int))
    inner_step = addresses[places[0]].inner_step
    sectors_of = [np.zeros(0, np.int64)]  # before the first access, then by each of them
    if inner_step and abs(inner_step) < NEAR:
        sectors_of = [np.concatenate([
            _sectors(lane[picked].astype(np.int64) - inner_step, active[picked], lane_bytes(instruction))
            for (lane, active), instruction in zip(lanes, own, strict=True)
        ])]  # fmt: skip
    sectors_of += [
        _sectors(lane[picked].astype(np.int64), active[picked], lane_bytes(instruction))
        for (lane, active), instruction in zip(lanes, own, strict=True)
    ]
    fresh, counts = _first_of(sectors_of)[1:], [len(sectors) for sectors in sectors_of[1:]]
    return {
        place: float(new / count) if count else 1.0 for place, new, count in zip(places, fresh, counts, strict=True)
    }


def _first_of(sectors_of: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """How many sectors each list is the first to have, (lists,)."""
    sectors = np.concatenate(sectors_of)
    order = np.argsort(sectors, kind="stable")
    first = order[begins(sectors[order])]
    lists = np.repeat(np.arange(len(sectors_of)), [len(each) for each in sectors_of])
    return np.bincount(lists[first], minlength=len(sectors_of))


def _sectors(lanes: NDArray[np.int64], active: NDArray[np.bool_], width: int) -> NDArray[np.int64]:
    """Each sector of each row once; rows are distinguished by the upper bits."""
    row = np.broadcast_to(np.arange(len(lanes), dtype=np.int64)[:, None] << 50, lanes.shape)
    spans = [(lanes + offset) // SECTOR_B + row for offset in range(0, max(width, 1), SECTOR_B // 2)]
    spans.append((lanes + width - 1) // SECTOR_B + row)
    return distinct(np.concatenate([span[active] for span in spans]))
