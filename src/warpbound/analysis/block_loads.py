"""Repeated loads of a block: sectors that it loads again, and loads of a warp after its own store.

Source   our own.
Models   One sampled block represents all, and its first accesses represent the others.
Omits    Sectors that other blocks load; stores that another warp, or an access of another width or shape, loads.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from warpbound.distinct_values import distinct
from warpbound.memory.requests import bypasses_l1, sector_list
from warpbound.program import Program

if TYPE_CHECKING:
    from warpbound.analysis.static import SampleRun

MOST = 10_000  # accesses of a block or a warp that are looked at


def distinct_sector_share(program: Program, run: "SampleRun") -> float:
    """Different sectors that a block loads, over all that its warps load; 0 where it loads nothing.

    Data copied to shared memory past L1 are on the SM already: each of their sectors counts as a different one.
    """
    trace = run[0]
    accesses = trace.accesses.get("global")
    if accesses is None or not len(trace.blocks):
        return 0.0
    of_block = trace.warps[accesses.warp, 0] == trace.blocks[len(trace.blocks) // 2]
    past_l1 = [index for index in copies(program) if bypasses_l1(program.instructions[index])]
    every = [*plain_accesses(program, "load"), *copies(program)]
    own = np.flatnonzero(of_block & np.isin(accesses.instruction, every))[:MOST]
    sectors = sector_list(accesses.rows(own))
    copied = np.isin(accesses.instruction[own], past_l1)[sectors.row]
    different = len(distinct(sectors.sector[~copied])) + np.count_nonzero(copied)
    return different / len(copied) if len(copied) else 0.0


def scattered(program: Program, run: "SampleRun", by_data: Collection[int]) -> float:
    """Sectors that gathers of a block need beyond those that would hold their bytes, over all sectors of the launch.

    by_data : the loads whose addresses follow from loaded values: no order of the lanes makes these neighbours, so each
    different sector comes once at least.
    """
    trace, _, traffic = run
    accesses, each = trace.accesses.get("global"), traffic.by_instruction
    gathers = [index for index in plain_accesses(program, "load") if index in by_data]
    whole = float(each.sectors.sum())
    if accesses is None or not gathers or not whole:
        return 0.0
    of_block = trace.warps[accesses.warp, 0] == trace.blocks[len(trace.blocks) // 2]
    own = np.flatnonzero(of_block & np.isin(accesses.instruction, gathers))[:MOST]
    sectors = sector_list(accesses.rows(own)).sector
    least = len(distinct(sectors)) / max(1, len(sectors)) * float(each.sectors[gathers].sum())
    return max(0.0, least - float(each.ideal_sectors[gathers].sum())) / whole


def copies(program: Program) -> list[int]:
    """Copies from global to shared memory."""
    return [
        index
        for index, each in enumerate(program.instructions)
        if each.traits.kind in ("copy", "bulk_copy")
        and "global" in each.traits.loads
        and "shared" in each.traits.stores
    ]


def round_trips(program: Program, run: "SampleRun") -> float:
    """Loads of a warp in sequence, each of data that it stored after the load before: a recurrence through memory."""
    trace = run[0]
    accesses = trace.accesses.get("global")
    loads, stores = plain_accesses(program, "load"), plain_accesses(program, "store")
    if accesses is None or not len(accesses.warp) or not loads or not stores:
        return 0.0
    every = np.flatnonzero(accesses.warp == accesses.warp[len(accesses.warp) // 2])
    own = every[:MOST]
    is_load, is_store = (np.isin(accesses.instruction[own], kind).tolist() for kind in (loads, stores))
    stored_at: dict[tuple[int, int], int] = {}
    trips, last = 0, -1
    for row, place in enumerate(zip(accesses.base[own].tolist(), accesses.pattern[own].tolist(), strict=True)):
        if is_load[row] and stored_at.get(place, -1) > last:
            trips, last = trips + 1, row
        elif is_store[row]:
            stored_at[place] = row
    return trips * len(every) / len(own)


def plain_accesses(program: Program, kind: str) -> list[int]:
    """Plain accesses of global memory of one kind."""
    return [
        index
        for index, each in enumerate(program.instructions)
        if "global" in each.traits.spaces and each.traits.kind == kind and not each.traits.is_global_atomic
    ]
