"""Issue times of one warp, alone on its SM, for a stream of instructions, and the causes of its stalls.

Models   One warp: in-order issue; a wait for every raise of a scoreboard in the mask, or for all but the
         youngest n (`DEPBAR.LE`, `WARPGROUP.DEPBAR.LE`); results without a scoreboard of their own covered by
         the next raise of the same queue; queues whose unit takes one instruction at a time. Where a program has
         control words these give the waits (`control_words`), else its registers do (`dependences`).
Omits    Other warps (the bounds contain these), instruction-cache misses, register-bank conflicts,
         copies that end at an mbarrier (TMA, tcgen05), the scoreboards' limit of 63 raises.
"""

from collections.abc import Sequence
from itertools import pairwise

from warpbound.program.instruction import Instruction
from warpbound.schedule import control_words, dependences, repeated_streams
from warpbound.schedule.records import CAUSES, IssueTimes, Phase, Place, Schedule, Wait
from warpbound.schedule.warp_state import Warp

__all__ = [
    "CAUSES", "IssueTimes", "Phase", "Place", "Schedule", "Wait", "duration", "issue_times", "schedule", "steady",
    "together", "warp_of",
]  # fmt: skip

_MOST_ITERATIONS = 64  # iterations after which a loop that has not settled is averaged


def warp_of(instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Warp:
    """A warp that has issued nothing yet."""
    has_control_words = any(instruction.control is not None for instruction in instructions)
    return Warp(instructions, waits, control_words.reading(waits) if has_control_words else dependences.step)


def schedule(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """Issue times of `stream` (indices into `instructions`); `waits` has one entry per instruction.

    Where no instruction has a control word, each waits for the registers that it reads.
    """
    warp = warp_of(instructions, waits)
    repeated_streams.run(warp, stream)
    return _schedule_of(warp, stream)


def issue_times(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> IssueTimes:
    """The issue times of `schedule` alone, in half the time."""
    warp = warp_of(instructions, waits)
    repeated_streams.run(warp, stream)
    return IssueTimes(warp.issue, warp.end, warp.waited, warp.producer, warp.phases)


def duration(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> float:
    """The cycles of `schedule` alone."""
    warp = warp_of(instructions, waits)
    repeated_streams.run(warp, stream)
    return warp.end


def together(
    streams: Sequence[Sequence[int]], instructions: Sequence[Instruction], waits: Sequence[Wait]
) -> tuple[Schedule, ...]:
    """The warps of one block, each alone except at barriers (BAR), which none passes before all have arrived.

    A warp whose stream has ended is waited for no more.
    """
    warps = [warp_of(instructions, waits) for _ in streams]
    parts = [_between_barriers(stream, instructions, waits) for stream in streams]
    for turn in range(max(map(len, parts), default=0)):
        arrived = []
        for warp, own in zip(warps, parts, strict=True):
            if turn < len(own):
                warp.run(own[turn])
            if turn + 1 < len(own):
                arrived.append(warp)
        released = max((warp.free for warp in arrived), default=0.0)
        for warp in arrived:
            warp.hold_until(released)
    return tuple(_schedule_of(warp, stream) for warp, stream in zip(warps, streams, strict=True))


def _between_barriers(
    stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]
) -> list[Sequence[int]]:
    stops = [instructions[index].traits.is_block_barrier and waits[index].hold > 0 for index in stream]
    ends = [place + 1 for place, stop in enumerate(stops) if stop]
    return [stream[first:last] for first, last in pairwise([0, *ends, len(stream)])]


def _schedule_of(warp: Warp, stream: Sequence[int]) -> Schedule:
    parts, lines = warp.booked(0, len(stream) - 1, 1.0)
    return Schedule(
        stream=tuple(stream),
        issue=tuple(warp.issue),
        cycles=warp.end,
        parts=parts,
        lines=lines,
        critical=_critical(warp.producer),
        waited=tuple(warp.waited),
        producer=tuple(warp.producer),
        phases=tuple(warp.phases),
        board_waits=warp.board_waits(0, 1.0),
    )


def steady(body: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """One iteration of a loop in its steady state, from one first issue slot to the next.

    The loop runs until the state of the warp repeats that of one iteration ago, or several. Times, waits and the
    critical path are those of the last iteration, its first issue slot at 0; cycles, parts and lines are means over the
    iterations that repeat; phases are those of all of them. Positions are places in the body, of whichever iteration.
    """
    warp = warp_of(instructions, waits)
    period = _settle(warp, body)
    size, end = len(body), len(warp.issue)
    last = end - size
    parts, lines = warp.booked(end - period * size, end, 1.0 / period)
    return Schedule(
        stream=tuple(body),
        issue=tuple(t - warp.starts[-1] for t in warp.issue[last:]),
        cycles=(warp.free - warp.starts[-period]) / period,
        parts=parts,
        lines=lines,
        critical=tuple(p - last for p in _critical(warp.producer) if p >= last),
        waited=tuple(warp.waited[last:]),
        producer=tuple(p % size if p >= 0 else -1 for p in warp.producer[last:]),
        phases=tuple(
            Phase(tuple(p % size for p in phase.loads), phase.waited) for phase in warp.phases[warp.closed[-period] :]
        ),
        board_waits=warp.board_waits(end - period * size, 1.0 / period),
    )


def _settle(warp: Warp, body: Sequence[int]) -> int:
    """Run the loop until its state repeats; how many iterations make one period."""
    states: dict[object, int] = {}
    for iteration in range(_MOST_ITERATIONS):
        state = warp.state()
        if state in states:
            return iteration - states[state]
        states[state] = iteration
        warp.run(body, body[0] if body else None)
    return _MOST_ITERATIONS // 2


def _critical(producer: Sequence[int]) -> tuple[int, ...]:
    path, at = [], len(producer) - 1
    while at >= 0:
        path.append(at)
        at = producer[at] if producer[at] >= 0 else at - 1
    return tuple(reversed(path))
