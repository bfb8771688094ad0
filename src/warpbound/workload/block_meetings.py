"""Barriers of a block (BAR) at which its recorded warps meet, as events of a pipeline.

Models   The k-th execution by each warp that uses a barrier is its k-th meeting, which ends when the last one arrives.
Omits    Barriers whose number or count is in a register, and those that some of their warps use more often than others:
         warps that alternate between arriving and waiting.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.program.instruction import Instruction

WARP = 32
BARRIERS = 16  # of a block

Events = dict[int, list[Event]]  # by instruction, in order
_Use = tuple[int, int | None]  # number of a barrier, threads that it counts; None: all of the block


def with_meetings(mbarrier_log: MbarrierLog, instructions: Sequence[Instruction]) -> tuple[Events, ...]:
    """The events of each warp; each meeting at a block barrier adds an arrival at a barrier with a negative number."""
    uses = {at: use for at, each in enumerate(instructions) if (use := _use(each)) is not None}
    events = [dict(own) for own in mbarrier_log.events]
    warps_of: defaultdict[tuple[int, _Use], dict[int, list[int]]] = defaultdict(dict)
    for warp, (block, stream) in enumerate(zip(mbarrier_log.blocks, mbarrier_log.streams, strict=True)):
        at_barriers = [at for at in uses if at not in mbarrier_log.off[warp]]
        for at in stream[np.isin(stream, at_barriers)].tolist():
            warps_of[block, uses[at]].setdefault(warp, []).append(at)
    for (block, (number, threads)), barriers in warps_of.items():
        taking_part = mbarrier_log.blocks.count(block) if threads is None else threads // WARP
        if len(barriers) == taking_part and len(set(map(len, barriers.values()))) == 1:
            for warp, places in barriers.items():
                for meeting, at in enumerate(places):
                    event = Event(Kind.MEETING, ((-1 - block * BARRIERS - number, meeting),))
                    events[warp].setdefault(at, []).append(event)
    return tuple(events)


def _use(instruction: Instruction) -> _Use | None:
    if not instruction.traits.is_block_barrier or "ARV" in instruction.modifiers or instruction.skipped:
        return None
    operands = [x for x in instruction.operands if x.kind != "predicate"]
    if not operands or any(x.kind != "immediate" for x in operands):
        return None
    threads = int(operands[1].value) if len(operands) > 1 else None
    return int(operands[0].value), threads
