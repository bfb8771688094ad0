"""When one warp, alone on its SM, issues each instruction of a stream, and what it waits for.

Source   Control words as the hardware of Volta and later obeys them: stall counts, yield, scoreboards,
         wait masks (Huerta et al., MICRO 2025, sections 4 and 5, and what ptxas emits for sm_75 to sm_120).
Models   One warp: in-order issue; a wait for every raise of a scoreboard in the mask, or for all but the
         youngest n (`DEPBAR.LE`, `WARPGROUP.DEPBAR.LE`); results without a scoreboard of their own covered by
         the next raise of the same queue; queues whose unit takes one instruction at a time.
Omits    Other warps (they are the bounds' business), instruction-cache misses, register-bank conflicts,
         copies that end at an mbarrier (TMA, tcgen05), the scoreboards' limit of 63 raises.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from warpbound.program.instruction import Instruction, Operand

CAUSES = ("issue", "fixed", "shared", "constant", "l1", "l2", "dram", "barrier", "start")
_GROUPS = 6  # after SB0 to SB5: gsb0
_MOST_ITERATIONS = 64  # after which a loop that has not settled is averaged

Place = tuple[str, int]  # file and line in the kernel; ("", 0) where unknown


@dataclass(frozen=True, slots=True)
class Wait:
    """How long an instruction keeps its scoreboards up, and what such a wait is booked on.

    write, read : cycles from issue until a waiter for the result, for the sources, may issue.
    causes : (cause, fraction) pairs, fractions adding up to 1.
    queue : a result without a scoreboard is covered by the next one of its queue; empty: by none.
    busy : cycles the queue's unit is taken, before which the next one of the queue does not start.
    hold : cycles the warp itself cannot go on (a barrier).
    loads : a load from global memory, which opens or joins a load phase.
    """

    write: float = 0.0
    read: float = 0.0
    causes: tuple[tuple[str, float], ...] = (("fixed", 1.0),)
    queue: str = ""
    busy: float = 0.0
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
    lines: dict[Place, dict[str, float]]
    critical: tuple[int, ...]
    waited: tuple[float, ...]
    producer: tuple[int, ...]
    phases: tuple[Phase, ...]


def schedule(stream: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """Issue times of `stream` (indices into `instructions`); `waits` has one entry per instruction.

    Instructions without a control word (plain listings) are issued one per cycle.
    """
    warp = _Warp(instructions, waits)
    warp.run(stream)
    parts, lines = warp.booked(0, len(stream) - 1, 1.0)
    return Schedule(
        stream=tuple(stream),
        issue=tuple(warp.issue),
        cycles=warp.issue[-1] + 1.0 if stream else 0.0,
        parts=parts,
        lines=lines,
        critical=_critical(warp.producer),
        waited=tuple(warp.waited),
        producer=tuple(warp.producer),
        phases=tuple(warp.phases),
    )


def steady(body: Sequence[int], instructions: Sequence[Instruction], waits: Sequence[Wait]) -> Schedule:
    """One iteration of a loop in its steady state, from one first issue slot to the next.

    The loop runs until the warp stands as it stood one iteration ago, or several. Times, waits and the critical
    path are those of the last iteration, its first issue slot at 0; cycles, parts and lines are means over the
    iterations that repeat; phases are all of theirs. Positions are places in the body, of whichever iteration.
    """
    warp = _Warp(instructions, waits)
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
    )


def _settle(warp: "_Warp", body: Sequence[int]) -> int:
    """Run the loop until its state repeats; how many iterations make one period."""
    seen: dict[object, int] = {}
    for iteration in range(_MOST_ITERATIONS):
        state = warp.state()
        if state in seen:
            return iteration - seen[state]
        seen[state] = iteration
        warp.run(body)
    return _MOST_ITERATIONS // 2


def _critical(producer: Sequence[int]) -> tuple[int, ...]:
    path, at = [], len(producer) - 1
    while at >= 0:
        path.append(at)
        at = producer[at] if producer[at] >= 0 else at - 1
    return tuple(reversed(path))


class _Up(NamedTuple):
    """One raise of a scoreboard: until when, for which position, and the load positions it stands for."""

    until: float
    position: int
    loads: tuple[int, ...]


class _Step(NamedTuple):
    """What one instruction does to its warp, read once from control word and operands."""

    gap: float  # cycles until the next one may issue
    awaited: tuple[tuple[int, int], ...]  # (scoreboard, raises that may stay)
    write: int | None
    read: int | None


class _Warp:
    """The warp's state and its books: next free issue cycle, scoreboards, queues; one entry per position."""

    def __init__(self, instructions: Sequence[Instruction], waits: Sequence[Wait]) -> None:
        self.instructions, self.waits = instructions, waits
        self.steps: dict[int, _Step] = {}
        self.free = 0.0
        self.up: tuple[list[_Up], ...] = tuple([] for _ in range(_GROUPS + 1))
        self.uncovered: dict[str, _Up] = {}  # queue -> its results without a scoreboard
        self.taken: dict[str, float] = {}  # queue -> cycle from which its unit is free
        self.open_loads: list[int] = []
        self.closed_before = 0  # position from which loads are in no phase yet
        self.stream: list[int] = []
        self.issue: list[float] = []
        self.waited: list[float] = []
        self.producer: list[int] = []
        self.phases: list[Phase] = []
        self.starts: list[float] = []  # per run: the cycle from which its first instruction may issue
        self.closed: list[int] = []  # per run: phases closed before it

    def run(self, stream: Sequence[int]) -> None:
        """Issue `stream` after all that has been issued."""
        self.starts.append(self.free)
        self.closed.append(len(self.phases))
        for index in stream:
            step = self.steps.get(index)
            if step is None:
                step = self.steps[index] = _step(self.instructions[index], self.waits[index])
            position, issue, holder = len(self.issue), self.free, -1
            if step.awaited:
                issue, holder = self._blocked(step.awaited)
            self.stream.append(index)
            self.issue.append(issue)
            self.waited.append(issue - self.free)
            self.producer.append(holder)
            self.free = issue + step.gap
            wait = self.waits[index]
            if wait.queue or wait.loads or step.write is not None:
                self._produce(step.write, wait, position)
            if step.read is not None:
                self.up[step.read].append(_Up(issue + wait.read, position, ()))

    def _blocked(self, awaited: tuple[tuple[int, int], ...]) -> tuple[float, int]:
        """Cycle at which these scoreboards let the next instruction issue, position that holds it (-1: none)."""
        until, holder, loaded = self.free, -1, self.free
        met = False
        for board, allowed in awaited:
            raised = self.up[board]
            cut = len(raised) - allowed
            if cut <= 0:
                continue
            for up in raised[:cut]:
                if up.until > until:
                    until, holder = up.until, up.position
                if up.loads:
                    loaded = max(loaded, up.until)
                    met = met or up.loads[-1] >= self.closed_before
            del raised[:cut]
        if met:
            self.phases.append(Phase(tuple(self.open_loads), loaded - self.free))
            self.open_loads = []
            self.closed_before = len(self.issue)
        return until, holder

    def _produce(self, board: int | None, wait: Wait, position: int) -> None:
        """A result on its way: on a scoreboard, with those it covers, or waiting to be covered."""
        begun = max(self.issue[position], self.taken.get(wait.queue, 0.0))
        if wait.busy:
            self.taken[wait.queue] = begun + wait.busy
        up = _Up(begun + wait.write, position, (position,) if wait.loads else ())
        if wait.loads:
            self.open_loads.append(position)
        covered = self.uncovered.pop(wait.queue, None) if wait.queue else None
        if covered is not None:
            later = up if up.until >= covered.until else covered
            up = later._replace(loads=covered.loads + up.loads)
        if board is not None:
            self.up[board].append(up)
        elif wait.queue:
            self.uncovered[wait.queue] = up

    def state(self) -> object:
        """All that decides what comes next, relative to the next free cycle: equal states, equal futures."""
        awaited = {board for step in self.steps.values() for board, _ in step.awaited}
        return (
            tuple(tuple(self._ahead(up) for up in raised if up.until > self.free) for raised in self.up),
            tuple(sorted((queue, self._ahead(up)) for queue, up in self.uncovered.items() if up.until > self.free)),
            tuple(sorted((queue, round(t - self.free, 6)) for queue, t in self.taken.items() if t > self.free)),
            tuple(self._oldest_open(self.up[board]) for board in sorted(awaited)),
        )

    def _ahead(self, up: _Up) -> tuple[float, int]:
        return round(up.until - self.free, 6), len(self.issue) - up.position

    def _oldest_open(self, raised: Sequence[_Up]) -> int:
        """How far back the oldest load is that this scoreboard holds and that is in no phase yet; 0: none."""
        loads = (load for up in raised for load in up.loads if load >= self.closed_before)
        return len(self.issue) - min(loads, default=len(self.issue))

    def booked(self, first: int, end: int, scale: float) -> tuple[dict[str, float], dict[Place, dict[str, float]]]:
        """Cycles times `scale`, by cause, and by place and cause: of the issues and waits from position `first` on,
        and of the gaps behind those before `end`."""
        parts = dict.fromkeys(CAUSES, 0.0)
        lines: dict[Place, dict[str, float]] = {}

        def book(index: int, causes: Iterable[tuple[str, float]], cycles: float) -> None:
            place = _line(self.instructions[index])
            line = lines.get(place) or lines.setdefault(place, dict.fromkeys(CAUSES, 0.0))
            for cause, fraction in causes:
                line[cause] += cycles * fraction
                parts[cause] += cycles * fraction

        gaps = Counter(self.stream[first:end])
        for index, times in Counter(self.stream[first:]).items():
            hold = max(0.0, self.waits[index].hold - _gap(self.instructions[index]))
            stalled = self.steps[index].gap - 1.0 - hold
            book(index, (("issue", times), ("fixed", gaps[index] * stalled)), scale)
            if hold:
                book(index, self.waits[index].causes, gaps[index] * hold * scale)
        for position in range(first, len(self.stream)):
            if self.waited[position]:
                holder = self.stream[self.producer[position]]
                book(holder, self.waits[holder].causes, self.waited[position] * scale)
        return parts, lines


def _line(one: Instruction) -> Place:
    place = one.place
    return ("", 0) if place is None else (place.outermost.file, place.outermost.line)


def _step(one: Instruction, wait: Wait) -> _Step:
    control = one.control
    asynchronous = one.opcode.endswith("GMMA") and any(_is_group(x) for x in one.operands)
    return _Step(
        gap=max(_gap(one), wait.hold),
        awaited=_awaited(one),
        write=_GROUPS if asynchronous else control.write if control else None,
        read=control.read if control else None,
    )


def _is_group(operand: Operand) -> bool:
    """gsb0, the scoreboard of a warpgroup's matrix products."""
    return operand.kind == "scoreboard" and operand.text.startswith("gsb")


def _counts(one: Instruction) -> bool:
    """Whether it waits until no more than so many raises of a scoreboard are left."""
    return one.opcode == "DEPBAR" or "DEPBAR" in one.modifiers


def _awaited(one: Instruction) -> tuple[tuple[int, int], ...]:
    """(scoreboard, raises that may stay) this instruction waits for, from its mask and as a DEPBAR."""
    awaited = dict.fromkeys(one.control.wait, 0) if one.control and one.control.wait else {}
    if _counts(one):
        counts = [int(x.value) for x in one.operands if x.kind == "immediate"]
        for operand in one.operands:
            if operand.kind == "scoreboard":
                board = _GROUPS if _is_group(operand) else operand.index
                awaited.setdefault(board, counts[0] if counts else 0)
            elif operand.kind == "set":
                awaited |= dict.fromkeys(map(int, re.findall(r"\d+", operand.text)), 0)
    return tuple(awaited.items())


def _gap(one: Instruction) -> float:
    """Cycles before the same warp may issue again, by the control word alone."""
    if one.control is None:
        return 1.0
    return 2.0 if one.control.yields and one.control.stall <= 1 else float(max(1, one.control.stall))
