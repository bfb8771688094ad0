"""Waits at mbarriers that stop a whole block like __syncthreads: all work before one precedes all work after it.

Source   our own.
Models   A barrier that ends one phase, which each warp of the block waits for once: for the last products, before their
         sums are stored. A warp that does not wait for it has ended by then.
Omits    barriers whose phases are waited for in turn, and those at which some warps wait while others work.
"""

from collections import defaultdict
from collections.abc import Iterator

from warpbound.emulate.mbarrier_log import Kind, MbarrierLog
from warpbound.workload.pipelined_block import Timeline, events_in_order

Tests = dict[int, list[tuple[int, int]]]  # barrier -> (warp, position) of each test that succeeded


def joint_waits(mbarrier_log: MbarrierLog, course: Timeline) -> tuple[tuple[int, ...], ...]:
    """For each warp the positions directly after such waits, ascending, as many in each warp.

    The end of its stream for a warp that has ended. None where the blocks of a cluster do not have equally many.
    """
    positions: list[tuple[int, ...]] = [()] * len(mbarrier_log.blocks)
    if not course.whole:
        return tuple(positions)
    once = _tested_once(mbarrier_log)
    for block in set(mbarrier_log.blocks):
        warps = [warp for warp, own in enumerate(mbarrier_log.blocks) if own == block]
        for _, behind in sorted(_joins(mbarrier_log, course, warps, once)):
            for warp in warps:
                positions[warp] += (behind.get(warp, len(mbarrier_log.streams[warp])),)
    alike = len(set(map(len, positions))) == 1
    return tuple(positions) if alike else tuple(() for _ in positions)


def _tested_once(mbarrier_log: MbarrierLog) -> Tests:
    """The barriers of which only the first phase is waited for, at most once by each warp."""
    tests: Tests = defaultdict(list)
    later = set[int]()
    for warp, (stream, events) in enumerate(zip(mbarrier_log.streams, mbarrier_log.events, strict=True)):
        for place, _, event in events_in_order(stream, events):
            for barrier, ended in event.barriers if event.kind is Kind.TEST else ():
                if ended != 1 or any(warp == other for other, _ in tests[barrier]):
                    later.add(barrier)
                tests[barrier].append((warp, place))
    return {barrier: own for barrier, own in tests.items() if barrier not in later}


def _joins(
    mbarrier_log: MbarrierLog, course: Timeline, warps: list[int], once: Tests
) -> Iterator[tuple[float, dict[int, int]]]:
    """Of one block: when the wait is over, and the position behind it of each warp that waits."""
    for barrier, tests in once.items():
        behind = {warp: place + 1 for warp, place in tests}
        ended = course.phase_ends.get((barrier, 0))
        if ended is None or not behind.keys() <= set(warps):
            continue
        if all(warp in behind or course.ends[warp] <= ended for warp in warps):
            yield ended, behind
