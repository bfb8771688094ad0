"""Pipelines of a block: stages that copies fill in turn, their mean states, and the block with other stages.

Source   our own.
Models   barriers that copies of the same source line fill belong together; each is a stage. A stage is under way from
         the request to the last byte, has landed until a warp goes on that waited for it, is in use until the warp that
         refills it learns that it is free, then free.
Omits    what a stage does before its first and after its last fill.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.pipelined_block import Fill, Phase, Timeline


@dataclass(frozen=True)
class Ring:
    """Stages that are filled in turn: their barriers in order, their fills in the order asked for."""

    barriers: tuple[int, ...]
    fills: tuple[Fill, ...]

    @property
    def stages(self) -> int:
        return len(self.barriers)

    @property
    def size_B(self) -> int:
        """Bytes of one stage."""
        return max(fill.size_B for fill in self.fills)


@dataclass(frozen=True)
class Occupied:
    """Mean number of stages that are under way, have landed, are in use and free."""

    under_way: float
    landed: float
    in_use: float
    free: float


def rings(course: Timeline, group: Callable[[int], object]) -> tuple[Ring, ...]:
    """Stages that are filled more than once, of the block that copies first; group : of an instruction that copies."""
    parts: list[tuple[set[object], list[Fill]]] = []
    for fill in course.fills:
        own, fills = {("barrier", fill.phase[0]), *map(group, fill.copies)}, [fill]
        for part in [part for part in parts if part[0] & own]:
            own, fills = own | part[0], part[1] + fills
            parts.remove(part)
        parts.append((own, fills))
    all_rings = [_ring(fills) for _, fills in parts]
    return tuple(ring for ring in all_rings if len(ring.fills) > ring.stages)


def _ring(fills: Sequence[Fill]) -> Ring:
    """Of the first warp that requests copies only: blocks of a cluster do the same."""
    own = [fill for fill in fills if fill.warp == fills[0].warp]
    return Ring(tuple(dict.fromkeys(fill.phase[0] for fill in own)), tuple(own))


def occupied(ring: Ring) -> Occupied:
    """How long each stage is in which state between its first request and its last refill."""
    total, span = [0.0, 0.0, 0.0, 0.0], 0.0
    for barrier in ring.barriers:
        fills = [fill for fill in ring.fills if fill.phase[0] == barrier]
        for fill, following in zip(fills, fills[1:], strict=False):
            freed = min(max(following.freed, fill.landed), following.start) if following.freed_by else following.start
            used_from = min(max(fill.use, fill.landed), freed)
            moments = [fill.start, fill.landed, used_from, freed, following.start]
            for place in range(4):
                total[place] += max(0.0, moments[place + 1] - moments[place])
            span += following.start - fill.start
    return Occupied(*(ring.stages * part / span for part in total)) if span else Occupied(0.0, 0.0, 0.0, 0.0)


def with_stages(mbarrier_log: MbarrierLog, ring: Ring, stages: int) -> MbarrierLog | None:
    """The same block with this many stages: a refill waits for the stage of as many fills ago. None where the warp that
    copies does not wait for each stage at a barrier of its own."""
    releases = _releases(ring)
    if releases is None:
        return None
    number = {barrier: place for place, barrier in enumerate(releases)}
    more = stages - ring.stages

    def earlier_phase(phase: Phase) -> Phase:
        before = (phase[1] - 1) * ring.stages + number[phase[0]] - more
        return (releases[before % ring.stages], before // ring.stages + 1) if before >= 0 else (releases[0], 0)

    def waits_earlier(event: Event) -> Event:
        if event.kind is not Kind.TEST or not all(barrier in number for barrier, _ in event.barriers):
            return event
        return replace(event, barriers=tuple(map(earlier_phase, event.barriers)))

    copier = ring.fills[0].warp
    own = {at: list(map(waits_earlier, events)) for at, events in mbarrier_log.events[copier].items()}
    others = mbarrier_log.events
    return replace(mbarrier_log, events=(*others[:copier], own, *others[copier + 1 :]))


def _releases(ring: Ring) -> tuple[int, ...] | None:
    """The barrier that signals that each stage is free, in the order of the stages."""
    phases = [fill.freed_by[0] if len(fill.freed_by) == 1 else None for fill in ring.fills]
    first = [phase[0] for phase in phases[: ring.stages] if phase is not None]
    in_turn = (
        [(first[i % ring.stages], i // ring.stages) for i in range(len(phases))] if len(first) == ring.stages else []
    )
    return tuple(first) if in_turn == phases and len(set(first)) == ring.stages else None
