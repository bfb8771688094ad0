"""The same block with warps that only ask for copies, where warps that multiply ask for them.

Source   our own.
Models   Each new warp asks in the order of one that asked. Where that one learned at an mbarrier that a stage is free,
         the new one waits there instead; where a barrier of the block told it, the multiplying warps arrive there,
         without a wait, and the new warp waits for them. The multiplying warps execute neither the requests nor these
         waits.
Omits    A loop of the new warp: its instructions are those that only the asking warp issued.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.quick_dataclasses import dataclass
from warpbound.workload.pipeline_stages import Ring
from warpbound.workload.pipelined_block import Phase, events_in_order

OWN = -1  # the barrier at which multiplying warps signal that they are done with a stage
NONE = frozenset[int]()

Step = tuple[int, Event | None]  # an instruction, and what it does at mbarriers


@dataclass(frozen=True)
class Instructions:
    """Indices of the instructions that wait for the whole block, that multiply, and that store to shared memory."""

    block_barriers: frozenset[int]
    products: frozenset[int]
    shared_stores: frozenset[int]


@dataclass(frozen=True)
class _Block:
    """asking : warps that ask for copies. taking : warps that wait for them. full : barriers of stages. frees : phases
    whose end tells an asking warp that a stage is free. requests : instructions that ask for copies. alone :
    instructions that only asking warps execute."""

    steps: Sequence[list[Step]]
    asking: tuple[int, ...]
    taking: tuple[int, ...]
    full: frozenset[int]
    frees: frozenset[Phase]
    requests: frozenset[int]
    alone: frozenset[int]
    code: Instructions


@dataclass(frozen=True)
class _Span:
    """From the first to the last request of a warp: the place behind the last barrier of the block before the first,
    the place behind the last; how many barriers of the block are before the first and the last."""

    begin: int
    end: int
    first: int
    last: int


def with_copy_warps(mbarrier_log: MbarrierLog, rings: Sequence[Ring], code: Instructions) -> MbarrierLog | None:
    """One warp more for each that asks and takes; None where copies have warps of their own, for clusters, and where
    threads write shared memory between the barriers that a copy warp makes superfluous."""
    block = _block(mbarrier_log, rings, code)
    if block is None or len(set(mbarrier_log.blocks)) > 1:
        return None
    spans = {warp: _span(block, warp) for warp in block.asking}
    own = [_copying(block, warp, span) for warp, span in spans.items()]
    arrival = next((at for steps in own for at, event in steps if _requests(event, block.full)), None)
    arriving = arrival if any(OWN in _tested(steps) for steps in own) else None
    between = min(span.first for span in spans.values()), max(span.last for span in spans.values())
    rest = [list(steps) for steps in block.steps]
    for warp in block.taking:
        steps = _multiplying(block, warp, (spans.get(warp), *between), arriving)
        if steps is None:
            return None
        rest[warp] = steps
    return _log(mbarrier_log, [*rest, *own])


def _block(mbarrier_log: MbarrierLog, rings: Sequence[Ring], code: Instructions) -> _Block | None:
    """The warps of a block by what they do; None if no warp asks for copies, or if an asking warp waits for none."""
    full = frozenset(barrier for ring in rings for barrier in ring.barriers)
    asking = _warps(mbarrier_log, full, Kind.COPY)
    taking = _warps(mbarrier_log, full, Kind.TEST)
    if not asking or not set(asking) <= set(taking):
        return None
    steps = [_steps(mbarrier_log, warp) for warp in range(len(mbarrier_log.blocks))]
    code_of = [set(s.tolist()) - off for s, off in zip(mbarrier_log.streams, mbarrier_log.off, strict=True)]
    others = [code_of[warp] for warp in taking if warp not in asking]
    alone = set[int]().union(*(code_of[warp] for warp in asking)).difference(*others) if others else set[int]()
    requests = frozenset(at for warp in asking for at, event in steps[warp] if _requests(event, full))
    frees = frozenset(phase for ring in rings for fill in ring.fills for phase in fill.freed_by if phase[0] not in full)
    return _Block(steps, asking, taking, full, frees, requests, frozenset(alone), code)


def _warps(mbarrier_log: MbarrierLog, full: frozenset[int], kind: Kind) -> tuple[int, ...]:
    """The warps with events of this kind at these barriers."""

    def meets(events: dict[int, list[Event]]) -> bool:
        return any(event.kind is kind and _of(event, full) for own in events.values() for event in own)

    return tuple(warp for warp, events in enumerate(mbarrier_log.events) if meets(events))


def _of(event: Event, barriers: frozenset[int]) -> bool:
    """Whether an event affects only these barriers."""
    return bool(event.barriers) and all(barrier in barriers for barrier, _ in event.barriers)


def _steps(mbarrier_log: MbarrierLog, warp: int) -> list[Step]:
    stream, events = mbarrier_log.streams[warp], mbarrier_log.events[warp]
    by_place = {place: event for place, _, event in events_in_order(stream, events)}
    return [(at, by_place.get(place)) for place, at in enumerate(stream.tolist())]


def _requests(event: Event | None, full: frozenset[int]) -> bool:
    """A copy into a stage, or the arrival that gives the number of bytes to come."""
    return event is not None and event.kind in (Kind.COPY, Kind.ARRIVAL) and _of(event, full)


def _span(block: _Block, warp: int) -> _Span:
    steps = block.steps[warp]
    places = [place for place, (_, event) in enumerate(steps) if _requests(event, block.full)]
    bars = [place for place, (at, _) in enumerate(steps) if at in block.code.block_barriers]
    before = [bar for bar in bars if bar < places[0]]
    return _Span(before[-1] + 1 if before else 0, places[-1] + 1, len(before), sum(bar < places[-1] for bar in bars))


def _asking_places(block: _Block, warp: int, span: _Span) -> set[int]:
    """Places of the requests, and of what only an asking warp executes right before one."""
    result, before = set[int](), list[int]()
    for place, (at, event) in enumerate(block.steps[warp][span.begin : span.end], span.begin):
        if _requests(event, block.full):
            result.update(before, (place,))
        if event is not None or at in block.code.block_barriers or at in block.code.products:
            before = []
        elif at in block.alone:
            before.append(place)
    return result


def _copying(block: _Block, warp: int, span: _Span) -> list[Step]:
    """The steps of the new warp, which asks for the copies instead of this warp."""
    steps, asking = block.steps[warp], _asking_places(block, warp, span)
    test = next(at for at, event in steps if event is not None and event.kind is Kind.TEST)
    result: list[Step] = [(at, None) for at, _ in steps[: span.begin]]
    barriers = waited = 0
    for place, (at, event) in enumerate(steps[span.begin : span.end], span.begin):
        if at in block.code.block_barriers:
            barriers += 1
        elif _frees(event, block):
            result.append((at, event))
            waited = barriers
        elif place in asking:
            if _requests(event, block.full) and barriers > waited:
                result.append((test, Event(Kind.TEST, ((OWN, barriers),))))
                waited = barriers
            result.append((at, event))
    return result


def _frees(event: Event | None, block: _Block) -> bool:
    if event is None or event.kind is not Kind.TEST:
        return False
    return bool(event.barriers) and block.frees.issuperset(event.barriers)


def _tested(steps: Sequence[Step]) -> set[int]:
    tests = [event for _, event in steps if event is not None and event.kind is Kind.TEST]
    return {barrier for test in tests for barrier, _ in test.barriers}


def _multiplying(
    block: _Block, warp: int, between: tuple[_Span | None, int, int], arrival: int | None
) -> list[Step] | None:
    """A warp without requests and the barriers of the block between them; None where these guard data of threads.

    between : the warp's own requests, barriers of the block before the first and before the last request of all.
    arrival : the instruction by which it signals that it is done with a stage.
    """
    span, first, last = between
    asking, barriers, result = _asking_places(block, warp, span) if span else set[int](), 0, list[Step]()
    for place, (at, event) in enumerate(block.steps[warp]):
        within = first <= barriers < last
        if at in block.code.block_barriers:
            if not within:
                result.append((at, event))
            elif arrival is not None:
                result.append((arrival, Event(Kind.ARRIVAL, ((OWN, barriers - first),))))
            barriers += 1
        elif within and at in block.code.shared_stores:
            return None
        elif not (place in asking or at in block.requests or _frees(event, block)):
            result.append((at, event))
    return result


def _log(mbarrier_log: MbarrierLog, warps: Sequence[Sequence[Step]]) -> MbarrierLog:
    more = len(warps) - len(mbarrier_log.blocks)
    events: list[dict[int, list[Event]]] = []
    for steps in warps:
        own: defaultdict[int, list[Event]] = defaultdict(list)
        for at, event in steps:
            if event is not None:
                own[at].append(event)
        events.append(dict(own))
    return MbarrierLog(
        (*mbarrier_log.blocks, *[mbarrier_log.blocks[0]] * more),
        tuple(np.array([at for at, _ in steps], np.int32) for steps in warps), tuple(events),
        (*mbarrier_log.off, *[NONE] * more),
    )  # fmt: skip
