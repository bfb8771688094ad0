"""When one warp, alone on its SM, issues each instruction of a stream, and what it waits for.

Source   Control words as the hardware of Volta and later obeys them: stall counts, yield, scoreboards,
         wait masks (Huerta et al., MICRO 2025, sections 4 and 5, and what ptxas emits for sm_75 to sm_120).
Models   One warp: in-order issue, one scoreboard wait per raised scoreboard, `DEPBAR` counts, results
         without a scoreboard of their own covered by the next one of the same queue.
Omits    Other warps (they are the bounds' business), instruction-cache misses, register-bank conflicts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from warpbound.program.instruction import Instruction

VISIBLE_AFTER = 2  # cycles until a scoreboard just raised is seen by a waiter
STALL_ZERO_YIELD = 46  # cycles charged for stall 0 with yield, published simulator configuration for sm_120
CAUSES = ("issue", "fixed", "shared", "constant", "l1", "l2", "dram", "barrier", "start")


@dataclass(frozen=True, slots=True)
class Wait:
    """How long an instruction keeps its scoreboards up, and what such a wait is booked on.

    write, read : cycles from issue until the result is there, until the sources have been read.
    causes : (cause, fraction) pairs, fractions adding up to 1.
    queue : instructions of one queue finish in order; empty for those of fixed latency.
    hold : cycles the warp itself cannot go on (a barrier).
    loads : a global or local load, which opens or joins a load phase.
    """

    write: float = 0.0
    read: float = 0.0
    causes: tuple[tuple[str, float], ...] = (("fixed", 1.0),)
    queue: str = ""
    hold: float = 0.0
    loads: bool = False


@dataclass(frozen=True)
class Phase:
    """Loads issued before the first wait on any of them: positions in the stream, cycles then waited."""

    loads: tuple[int, ...]
    waited: float


@dataclass(frozen=True)
class Schedule:
    """A stream with its issue times.

    stream : instruction indices in issue order. issue : cycle of each. cycles : last issue + 1.
    parts : cause -> cycles; they add up to `cycles`.
    lines : (file, line) in the kernel -> cause -> cycles; empty name where the place is unknown.
    critical : positions on the chain of waits that ends at the last instruction, in order.
    waited : cycles each position waited for a scoreboard; producer : the position that held it, -1 for none.
    phases : load phases in order.
    """

    stream: tuple[int, ...]
    issue: tuple[float, ...]
    cycles: float
    parts: dict[str, float]
    lines: dict[tuple[str, int], dict[str, float]]
    critical: tuple[int, ...]
    waited: tuple[float, ...]
    producer: tuple[int, ...]
    phases: tuple[Phase, ...]


def schedule(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """Issue times of `stream` (indices into `instructions`); `waits` has one entry per instruction.

    Instructions without a control word (plain listings) are issued one per cycle.
    """
    run = _Run(stream, instructions, waits)
    for position in range(len(stream)):
        run.step(position)
    return run.result()


def steady(body: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """One iteration of a loop in its steady state: the third of three, with waits from the one before it."""
    two, three = schedule([*body, *body], instructions, waits), schedule([*body, *body, *body], instructions, waits)
    first, before = len(two.stream), len(two.phases)
    return Schedule(
        stream=tuple(body),
        issue=tuple(t - two.cycles for t in three.issue[first:]),
        cycles=three.cycles - two.cycles,
        parts={cause: three.parts[cause] - two.parts[cause] for cause in CAUSES},
        lines={
            place: {cause: parts[cause] - two.lines.get(place, {}).get(cause, 0.0) for cause in CAUSES}
            for place, parts in three.lines.items()
        },
        critical=tuple(p - first for p in three.critical if p >= first),
        waited=three.waited[first:],
        producer=tuple(p - first if p >= 0 else -1 for p in three.producer[first:]),
        phases=tuple(Phase(tuple(p - first for p in phase.loads), phase.waited) for phase in three.phases[before:]),
    )


@dataclass(slots=True)
class _Up:
    """One raise of a scoreboard: when it ends and who raised it."""

    done: float
    position: int


class _Run:
    """The warp's state: next free issue cycle, scoreboards, queues, the books."""

    def __init__(self, stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> None:
        self.stream, self.instructions, self.waits = stream, instructions, waits
        self.now, self.free = -1.0, 0.0
        self.up: dict[int, list[_Up]] = {}
        self.uncovered: dict[str, float] = {}  # queue -> end of its results without a scoreboard
        self.async_done = 0.0  # end of all copies to shared memory so far (cp.async)
        self.open_loads: list[int] = []
        self.issue: list[float] = []
        self.waited: list[float] = []
        self.producer: list[int] = []
        self.held = 0.0  # part of the gap to the next issue that a barrier causes
        self.parts = dict.fromkeys(CAUSES, 0.0)
        self.lines: dict[tuple[str, int], dict[str, float]] = {}
        self.phases: list[Phase] = []

    def step(self, position: int) -> None:
        one = self.instructions[self.stream[position]]
        holder, until = self._blocked(one)
        issue = max(self.free, until)
        self._book(position, issue, holder)
        self.now = issue
        self._raise(position, one, self.waits[self.stream[position]], issue)

    def _blocked(self, one: Instruction) -> tuple[int, float]:
        """(position that holds this instruction back or -1, cycle until which it does)."""
        holder, until, met = -1, 0.0, False
        for board, allowed in _awaited(one):
            raised = self.up.get(board, [])
            cut = max(0, len(raised) - allowed)
            for up in raised[:cut]:
                met = met or up.position in self.open_loads
                if up.done > until:
                    holder, until = up.position, up.done
            self.up[board] = raised[cut:]
        if met:
            self.phases.append(Phase(tuple(self.open_loads), max(0.0, until - self.free)))
            self.open_loads = []
        return (holder, until) if until > self.free else (-1, until)

    def _book(self, position: int, issue: float, holder: int) -> None:
        """Put the cycles since the last issue where they belong."""
        own = self._line(position)
        own["issue"] += 1.0
        self.parts["issue"] += 1.0
        if position:
            stalled = self.free - self.now - 1.0 - self.held
            before = self._line(position - 1)
            for cause, cycles in (("fixed", stalled), ("barrier", self.held)):
                before[cause] += cycles
                self.parts[cause] += cycles
        waited = issue - self.free if holder >= 0 else 0.0
        if waited > 0.0:
            there = self._line(holder)
            for cause, fraction in self.waits[self.stream[holder]].causes:
                there[cause] += waited * fraction
                self.parts[cause] += waited * fraction
        self.issue.append(issue)
        self.waited.append(waited)
        self.producer.append(holder)

    def _line(self, position: int) -> dict[str, float]:
        place = self.instructions[self.stream[position]].place
        key = ("", 0) if place is None else (place.outermost.file, place.outermost.line)
        return self.lines.setdefault(key, dict.fromkeys(CAUSES, 0.0))

    def _raise(self, position: int, one: Instruction, wait: Wait, issue: float) -> None:
        control = one.control
        self.free = issue + _gap(one)
        self.held = max(0.0, issue + wait.hold - self.free)
        self.free += self.held
        if wait.loads:
            self.open_loads.append(position)
        done = issue + wait.write
        if one.opcode == "LDGSTS":
            self.async_done = max(self.async_done, done)
        elif one.opcode == "LDGDEPBAR":
            done = max(done, self.async_done)
        if control is None:
            return
        if control.write is not None:
            done = max(done, self.uncovered.pop(wait.queue, 0.0), issue + VISIBLE_AFTER)
            self.up.setdefault(control.write, []).append(_Up(done, position))
        elif wait.queue:
            self.uncovered[wait.queue] = max(self.uncovered.get(wait.queue, 0.0), done)
        if control.read is not None:
            ready = max(issue + wait.read, issue + VISIBLE_AFTER)
            self.up.setdefault(control.read, []).append(_Up(ready, position))

    def result(self) -> Schedule:
        critical, at = [], len(self.stream) - 1
        while at >= 0:
            critical.append(at)
            at = self.producer[at] if self.producer[at] >= 0 else at - 1
        return Schedule(
            stream=tuple(self.stream),
            issue=tuple(self.issue),
            cycles=self.now + 1.0 if self.stream else 0.0,
            parts=self.parts,
            lines=self.lines,
            critical=tuple(reversed(critical)),
            waited=tuple(self.waited),
            producer=tuple(self.producer),
            phases=tuple(self.phases),
        )


def _awaited(one: Instruction) -> list[tuple[int, int]]:
    """(scoreboard, raises that may stay) this instruction waits for, from its mask and from DEPBAR."""
    awaited = [(board, 0) for board in one.control.wait] if one.control else []
    if one.opcode == "DEPBAR":
        boards = [x for x in one.operands if x.kind == "scoreboard"]
        counts = [int(x.value) for x in one.operands if x.kind == "immediate"]
        awaited += [(x.index, counts[0] if counts else 0) for x in boards]
        awaited += [
            (int(b), 0) for x in one.operands if x.kind == "set" for b in x.text.strip("{}").split(",") if b.strip()
        ]
    return awaited


def _gap(one: Instruction) -> float:
    """Cycles before the same warp may issue again."""
    if one.control is None:
        return 1.0
    stall, yields = one.control.stall, one.control.yields
    if stall == 0 and yields:
        return float(STALL_ZERO_YIELD)
    return 2.0 if yields and stall <= 1 else float(max(1, stall))
