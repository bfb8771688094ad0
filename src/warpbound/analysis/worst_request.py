"""A request of the memory instruction that wastes most sectors or wavefronts, for a map of sectors or banks."""

import numpy as np

from warpbound.analysis.case import Case
from warpbound.analysis.static import Work
from warpbound.program.registers import lane_bytes
from warpbound.result.figures import Request

BANK_WORD_B = 4  # a bank map is of requests of 4 bytes per lane


def requests(case: Case, work: Work) -> dict[str, Request]:
    """Space -> the first request of its most wasteful instruction; without those that were not executed."""
    by_space = {space: _most_wasteful(case, work, space) for space in ("global", "shared")}
    return {space: request for space, request in by_space.items() if request is not None}


def _most_wasteful(case: Case, work: Work, space: str) -> Request | None:
    if work.sample_run is None:
        return None
    instructions = case.program.instructions
    waste = {
        index: access.sectors / access.ideal_sectors
        if space == "global"
        else access.wavefronts / access.ideal_wavefronts
        for (index, where), access in work.accesses().items()
        if where == space and (access.ideal_sectors if space == "global" else access.ideal_wavefronts)
    }
    for index in sorted(waste, key=lambda index: (-waste[index], index)):
        instruction, lanes = instructions[index], _first(work, space, index)
        if lanes is None or (space == "shared" and lane_bytes(instruction) != BANK_WORD_B):
            continue
        return Request(
            address=instruction.address,
            line=instruction.place.outermost.line if instruction.place else None,
            opcode=instruction.opcode,
            bytes_per_lane=lane_bytes(instruction),
            addresses=lanes,
        )
    return None


def _first(work: Work, space: str, index: int) -> list[int] | None:
    """Byte addresses of the lanes, from the first on, of the first request whose leading lanes are all active."""
    own = work.sample_run[0].accesses.get(space) if work.sample_run else None
    if own is None:
        return None
    for row in np.flatnonzero(own.instruction == index).tolist():
        single = own.rows(slice(row, row + 1))
        active = single.active[0]
        count = int(active.sum())
        if count and active[:count].all():
            return [int(address) for address in single.addresses[0, :count]]
    return None
