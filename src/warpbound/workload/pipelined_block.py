"""The warps of one block, or of one cluster, as a pipeline: they synchronise at mbarriers while copies are under way.

Source   our own; events at mbarriers are recorded while the block is executed (emulate.mbarrier_log).
Models   each warp in order, as alone; a test of an mbarrier holds it until all arrivals and bytes of the phase are
         there; the copy engine of an SM takes copies in order, one after the other, and each arrives a latency later;
         it asks for a row of a box, or 128 bytes of it, at most once per cycle;
         warps of one sub-core share its tensor core. At barriers of the block (BAR) its warps meet.
Omits    issue slots that several warps want; copies back to global memory.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from warpbound.emulate.mbarrier_log import Event, Kind, MbarrierLog
from warpbound.identity_cache import remember
from warpbound.quick_dataclasses import dataclass
from warpbound.schedule.warp_clock import Parts, WarpClock
from warpbound.workload.block_meetings import with_meetings

MOST_ISSUED = 400_000  # instructions of all warps together, after which the part simulated so far represents the rest
COPIES, PRODUCTS = "async", "products"  # queues of copies by threads (LDGSTS) and of tcgen05, which arrivals may follow

Indices = NDArray[np.int32]  # of instructions
INDEX_B = 4
Phase = tuple[int, int]  # barrier, number of its phase


@dataclass(frozen=True)
class CopyEngine:
    """Copy engine of one SM, in its cycles.

    gap : from one copy to the next, at least. cycles_per_byte, latency : by the instruction that copies.
    """

    gap: float
    cycles_per_byte: dict[int, float]
    latency: dict[int, float]


@dataclass(frozen=True)
class Fill:
    """Copies that end in one phase of a barrier: when the first was asked for, all had arrived, and a warp went on.

    start, landed, use : cycles; taken is inf where nobody tested. freed : when the space was free before it was
    asked for; freed_by : the phases ended of the barrier that signalled it. copies : instruction that asked -> bytes.
    warp : that asked.
    """

    phase: Phase
    start: float
    landed: float
    use: float
    freed: float
    freed_by: tuple[Phase, ...]
    copies: dict[int, int]
    warp: int

    @property
    def size_B(self) -> int:
        return sum(self.copies.values())


@dataclass(frozen=True)
class Timeline:
    """One block or cluster from its start to its end.

    cycles : until its last warp ends, or to where the recording was cut. waited : for each warp, instruction that tests
    -> cycles that it was held there, by what ended the wait. fills : in the order asked for. engine_busy : cycles, the
    busiest SM's. longest : the warp that issues most, its stream without tests in vain, and its cycles. whole : whether
    all was issued. phase_ends : cycle at which each phase ended. ends : of each warp. This one and `longest` are
    without the waits for other warps at barriers of the block.
    """

    cycles: float
    waited: tuple[dict[int, dict[Kind, float]], ...]
    fills: tuple[Fill, ...]
    engine_busy: float
    longest: tuple[int, tuple[int, ...], float]
    whole: bool
    phase_ends: dict[Phase, float]
    ends: tuple[float, ...]

    def held(self, warp: int) -> float:
        """Cycles that a warp was held."""
        return sum(sum(by.values()) for by in self.waited[warp].values())


@dataclass(frozen=True)
class _Part:
    """Instructions that a warp issues in a row, then an event: a test before which it stops, or what it did last."""

    stream: bytes
    at: int = -1
    event: Event | None = None


@dataclass
class _Filling:
    """A fill that is under way. warp : the warp of the barrier's own block that asked for it; -1 before one has."""

    start: float
    freed: float = 0.0
    freed_by: tuple[Phase, ...] = ()
    warp: int = -1
    copies: dict[int, int] = field(default_factory=dict)
    use: float = float("inf")


def timeline(mbarrier_log: MbarrierLog, code: Sequence[Parts], engine: CopyEngine, sub_cores: int) -> Timeline | None:
    """The pipeline's timeline; None if warps wait for events that were not recorded. code : of the kernel, by warp."""
    meetings = with_meetings(mbarrier_log, code[0].instructions) if code else mbarrier_log.events
    for events in (meetings, mbarrier_log.events):  # without meetings, where they are not as with_meetings assumes
        run = _Run(replace(mbarrier_log, events=events), code, engine, sub_cores)
        if run.to_end():
            return run.timeline()
    return None


class _Run:
    """State of the warps, of the phases of barriers, and of the copy engines."""

    def __init__(self, mbarrier_log: MbarrierLog, code: Sequence[Parts], engine: CopyEngine, sub_cores: int) -> None:
        self.engine, self.blocks = engine, mbarrier_log.blocks
        self.warps = [WarpClock(own) for own in code]
        _share_tensor_cores(self.warps, mbarrier_log.blocks, sub_cores)
        self.parts = [list(_parts(s, e)) for s, e in zip(mbarrier_log.streams, mbarrier_log.events, strict=True)]
        self.to_come: defaultdict[Phase, int] = defaultdict(int)
        for parts in self.parts:
            for part in parts:
                if part.event is not None and part.event.kind is not Kind.TEST:
                    for phase in part.event.barriers:
                        self.to_come[phase] += 1
        self.home = {
            barrier: block for block, events in zip(mbarrier_log.blocks, mbarrier_log.events, strict=True)
            for many in events.values() for each in many if each.kind is Kind.TEST for barrier, _ in each.barriers
        }  # barrier -> the block that tests it: its own
        self.place = [0] * len(self.warps)
        self.done: dict[Phase, float] = {}
        self.by: dict[Phase, Kind] = {}  # what came last
        self.parked: defaultdict[Phase, list[int]] = defaultdict(list)
        self.ready = [(0.0, number) for number in range(len(self.warps))]
        self.engine_free: dict[int, float] = defaultdict(float)
        self.engine_busy: dict[int, float] = defaultdict(float)
        self.fills: dict[Phase, _Filling] = {}
        self.freed = [0.0] * len(self.warps)  # of each warp: the end of the last phase that it tested
        self.freed_by: list[tuple[Phase, ...]] = [()] * len(self.warps)
        self.waited: list[dict[int, dict[Kind, float]]] = [{} for _ in self.warps]
        self.streams: list[list[bytes]] = [[] for _ in self.warps]  # of each warp: the parts that it has issued
        self.met: dict[int, Phase] = {}  # warp -> the meeting at which it has arrived and waits
        self.meeting = [0.0] * len(self.warps)  # of each warp: cycles that it waited for others at meetings
        self.issued = 0

    def to_end(self) -> bool:
        """Run all warps to their end, or to the end of the recording; whether they get there."""
        while self.ready and self.issued < MOST_ISSUED:
            _, number = heapq.heappop(self.ready)
            if self.place[number] < len(self.parts[number]):
                self._go(number, self.parts[number][self.place[number]])
        return self.issued >= MOST_ISSUED or not any(self.parked.values())

    def _go(self, number: int, part: _Part) -> None:
        warp = self.warps[number]
        event = part.event
        if number in self.met:
            self._go_on(number, self.met.pop(number))
            return
        if part.stream:
            warp.run(part.stream)
            self.streams[number].append(part.stream)
            self.issued += len(part.stream) // INDEX_B
        if event is not None and event.kind is Kind.TEST:
            self._test(number, part.at, event)
            return
        if event is not None:
            self._act(number, part.at, event)
        if event is not None and event.kind is Kind.MEETING:
            (self.met[number],) = event.barriers
            if self.to_come[self.met[number]]:
                self.parked[self.met[number]].append(number)
            else:
                self._go_on(number, self.met.pop(number))
            return
        self._next(number)

    def _go_on(self, number: int, meeting: Phase) -> None:
        """Behind a meeting, when the last warp is there."""
        self.meeting[number] += max(0.0, self.done[meeting] - self.warps[number].free)
        self.warps[number].hold_until(self.done[meeting])
        self._next(number)

    def _next(self, number: int) -> None:
        self.place[number] += 1
        heapq.heappush(self.ready, (self.warps[number].free, number))

    def _test(self, number: int, at: int, event: Event) -> None:
        warp = self.warps[number]
        phases = [(barrier, ended - 1) for barrier, ended in event.barriers if ended > 0]
        missing = next((phase for phase in phases if self.to_come[phase] > 0), None)
        if missing is not None:
            self.parts[number][self.place[number]] = _Part(b"", at, event)  # its instructions are issued
            self.parked[missing].append(number)
            return
        last = max((phase for phase in phases if phase in self.done), key=lambda phase: self.done[phase], default=None)
        until = self.done[last] if last else 0.0
        if last and until > warp.free:
            by = self.waited[number].setdefault(at, {})
            by[self.by[last]] = by.get(self.by[last], 0.0) + until - warp.free
            warp.hold_until(until)
        for phase in phases:
            if phase in self.fills:
                self.fills[phase].use = min(self.fills[phase].use, warp.free)
        self.freed[number], self.freed_by[number] = until, event.barriers
        self._next(number)

    def _act(self, number: int, at: int, event: Event) -> None:
        """An arrival, a copy, or an arrival after products."""
        warp = self.warps[number]
        time = warp.last
        if event.kind is Kind.COPY:
            time = self._copied(number, at, event, time)
        elif event.kind is Kind.MEETING:
            time = warp.free
        elif event.kind is Kind.PRODUCTS:
            time = max(time, warp.uncovered.get(PRODUCTS, 0.0), warp.taken.get(PRODUCTS, 0.0))
        elif COPIES in warp.uncovered:
            time = max(time, warp.uncovered[COPIES])
        for phase in event.barriers:
            if time >= self.done.get(phase, 0.0):
                self.done[phase], self.by[phase] = time, event.kind
            self.to_come[phase] -= 1
            if not self.to_come[phase]:
                for other in self.parked.pop(phase, ()):
                    heapq.heappush(self.ready, (self.warps[other].free, other))

    def _copied(self, number: int, at: int, event: Event, time: float) -> float:
        """When the bytes are there."""
        block, engine = self.blocks[number], self.engine
        moving = max(event.size_B * engine.cycles_per_byte[at], float(event.requests))
        start, busy = max(time, self.engine_free[block]), max(engine.gap, moving)
        self.engine_free[block] = start + busy
        self.engine_busy[block] += busy
        for phase in event.barriers:
            fill = self.fills.setdefault(phase, _Filling(time))
            fill.copies[at] = fill.copies.get(at, 0) + event.size_B
            if fill.warp < 0 and self.home.get(phase[0], block) == block:
                fill.warp, fill.freed, fill.freed_by = number, self.freed[number], self.freed_by[number]
        return start + moving + engine.latency[at]

    def timeline(self) -> Timeline:
        streams = [b"".join(parts) for parts in self.streams]
        own = [warp.free - waited for warp, waited in zip(self.warps, self.meeting, strict=True)]
        longest = max(range(len(streams)), key=lambda number: len(streams[number]))
        ended = [
            Fill(phase, x.start, self.done[phase], x.use, x.freed, x.freed_by, x.copies, x.warp)
            for phase, x in self.fills.items() if x.warp >= 0
        ]
        return Timeline(
            cycles=max((warp.free for warp in self.warps), default=0.0),
            waited=tuple(self.waited),
            fills=tuple(sorted(ended, key=lambda fill: fill.start)),
            engine_busy=max(self.engine_busy.values(), default=0.0),
            longest=(longest, tuple(np.frombuffer(streams[longest], np.int32).tolist()), own[longest]),
            whole=self.issued < MOST_ISSUED,
            phase_ends=self.done,
            ends=tuple(own),
        )


def _share_tensor_cores(warps: Sequence[WarpClock], blocks: Sequence[int], sub_cores: int) -> None:
    """Warps of one sub-core of one SM take turns at its units."""
    own: dict[tuple[int, int], dict[str, float]] = {}
    position: defaultdict[int, int] = defaultdict(int)
    for warp, block in zip(warps, blocks, strict=True):
        warp.taken = own.setdefault((block, position[block] % sub_cores), {})
        position[block] += 1


@remember(64)
def _parts(stream: Indices, events: dict[int, list[Event]]) -> list[_Part]:
    """The stream cut before each test that succeeds and behind every other event; tries that failed are left out."""
    parts, start, left_out = list[_Part](), 0, False
    for place, at, event in events_in_order(stream, events):
        tests = event.kind in (Kind.TEST, Kind.RETRY, Kind.MEETING)
        if tests and left_out:
            start, left_out = place, False
        if event.kind is Kind.RETRY:
            parts.append(_Part(stream[start:place].tobytes()))
            left_out = True
        elif not left_out:
            end = place if tests else place + 1
            parts.append(_Part(stream[start:end].tobytes(), at, event))
            start = end
    return [*parts, _Part(stream[start:].tobytes())] if not left_out else parts


def events_in_order(stream: Indices, events: dict[int, list[Event]]) -> Iterator[tuple[int, int, Event]]:
    """Position in the stream, instruction and event of each event in order."""
    to_come = {at: iter(many) for at, many in events.items()}
    places = np.flatnonzero(np.isin(stream, list(events)))
    for place, at in zip(places.tolist(), stream[places].tolist(), strict=True):
        event = next(to_come[at], None)
        if event is not None:
            yield place, at, event
