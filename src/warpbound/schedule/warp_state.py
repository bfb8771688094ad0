"""State of one warp: issue times, scoreboards and stall cycles.

Models   in-order issue; a wait for every raise of an awaited scoreboard, or for all but the youngest n; results
         without a scoreboard of their own covered by the next raise of the same queue; queues whose unit takes
         one instruction at a time. Scoreboards are whatever a Step names: numbers of control words, or registers.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from warpbound.program.instruction import Instruction
from warpbound.schedule.records import CAUSES, Phase, Place, Wait

Board = int | str
_FIXED = (("fixed", 1.0),)


class _Raise(NamedTuple):
    """One raise of a scoreboard: until when, by which position, and the loads that it covers."""

    until: float
    position: int
    loads: tuple[int, ...]

    def moved(self, places: int, cycles: float) -> "_Raise":
        """The same raise this many positions and cycles further on."""
        return _Raise(self.until + cycles, self.position + places, tuple(at + places for at in self.loads))


class Step(NamedTuple):
    """Effect of one instruction on its warp.

    gaps : cycles until the next one may issue; several where it depends on the loads under way (see Wait).
    issuing, cause_cycles : of these, attributed to issue and to the causes of the Wait; idle : the cause of the others.
    end : cycles that count where nothing follows. awaited : (scoreboard, raises that may stay).
    writes, source_board : scoreboards raised until the result is there, until the sources are read; forgets : those
    whose earlier raises nobody waits for any more. branch_gap : the gap where the next one is not the one behind.
    varies : whether there is a second gap at all.
    """

    gaps: tuple[float, ...]
    issuing: float
    cause_cycles: float
    end: float
    awaited: tuple[tuple[Board, int], ...]
    writes: tuple[Board, ...]
    source_board: Board | None = None
    forgets: tuple[Board, ...] = ()
    branch_gap: float | None = None
    varies: bool = False
    idle: tuple[tuple[str, float], ...] = _FIXED


class Warp:
    """The warp's state and its records: next free issue cycle, scoreboards, queues; one entry per position."""

    def __init__(
        self, instructions: Sequence[Instruction], waits: Sequence[Wait], step: Callable[[Instruction, Wait], Step]
    ) -> None:
        self.instructions, self.waits, self.read_step = instructions, waits, step
        self.steps: dict[int, Step] = {}
        self.free = 0.0
        self.up: dict[Board, list[_Raise]] = {}
        self.uncovered: dict[str, _Raise] = {}  # queue -> its results without a scoreboard
        self.taken: dict[str, float] = {}  # queue -> cycle from which its unit is free
        self.open_loads: list[int] = []
        self.closed_before = 0  # position from which loads are in no phase yet
        self.stream: list[int] = []
        self.issue: list[float] = []
        self.longer: dict[int, float] = {}  # position -> cycles that its gap is longer than the plain one
        self.waited: list[float] = []
        self.producer: list[int] = []
        self.phases: list[Phase] = []
        self.starts: list[float] = []  # per run: the cycle from which its first instruction may issue
        self.began: list[int] = []  # per run: its first position
        self.closed: list[int] = []  # per run: phases closed before it

    def run(self, stream: Sequence[int], following: int | None = None) -> None:
        """Issue `stream` after all that has been issued; `following` is the index of what comes behind it."""
        self.starts.append(self.free)
        self.began.append(len(self.issue))
        self.closed.append(len(self.phases))
        last = len(stream) - 1
        for place, index in enumerate(stream):
            step = self.steps.get(index) or self.step(index)
            position, issue, holder = len(self.issue), self.free, -1
            if step.awaited:
                issue, holder = self._blocked(step.awaited)
            self.stream.append(index)
            self.issue.append(issue)
            self.waited.append(issue - self.free)
            self.producer.append(holder)
            self.free = issue + step.gaps[0]
            if step.varies:
                self._lengthen(step, index, stream[place + 1] if place < last else following)
            wait = self.waits[index]
            if wait.queue or wait.loads or step.writes:
                self._produce(step, wait, position)
            if step.source_board is not None:
                self.up.setdefault(step.source_board, []).append(_Raise(issue + wait.source_wait, position, ()))

    def _lengthen(self, step: Step, index: int, after: int | None) -> None:
        """Correction of the issue gap: fewer or more cycles, by the loads in flight or a taken branch."""
        gap = step.gaps[min(len(self.open_loads), len(step.gaps) - 1)]
        if step.branch_gap is not None and after not in (None, index + 1):
            gap = step.branch_gap
        self.hold_until(self.free + gap - step.gaps[0])

    def hold_until(self, cycle: float) -> None:
        """Stall the warp until others reach the same point."""
        last = len(self.issue) - 1
        self.longer[last] = self.longer.get(last, 0.0) + cycle - self.free
        self.free = cycle

    def step(self, index: int) -> Step:
        """The effect of the instruction at this index; read once."""
        cached = self.steps.get(index)
        if cached is None:
            cached = self.steps[index] = self.read_step(self.instructions[index], self.waits[index])
        return cached

    @property
    def end(self) -> float:
        """Cycle at which the stream has ended."""
        return self.issue[-1] + self.step(self.stream[-1]).end if self.issue else 0.0

    def _blocked(self, awaited: tuple[tuple[Board, int], ...]) -> tuple[float, int]:
        """Cycle at which these scoreboards let the next instruction issue, and the position it waits for (-1: none)."""
        until, holder, loaded = self.free, -1, self.free
        reached = False
        for board, left_open in awaited:
            raised = self.up.get(board)
            if not raised:
                continue
            cut = len(raised) - left_open
            if cut <= 0:
                continue
            for up in raised[:cut]:
                if up.until > until:
                    until, holder = up.until, up.position
                if up.loads:
                    loaded = max(loaded, up.until)
                    reached = reached or up.loads[-1] >= self.closed_before
            del raised[:cut]
        if reached:
            self.phases.append(Phase(tuple(self.open_loads), loaded - self.free))
            self.open_loads = []
            self.closed_before = len(self.issue)
        return until, holder

    def _produce(self, step: Step, wait: Wait, position: int) -> None:
        """A result on its way: on a scoreboard, with those it covers, or waiting to be covered."""
        start = max(self.issue[position], self.taken.get(wait.queue, 0.0))
        if wait.busy:
            self.taken[wait.queue] = start + wait.busy
        up = _Raise(start + wait.write, position, (position,) if wait.loads else ())
        if wait.loads:
            self.open_loads.append(position)
        uncovered = self.uncovered.pop(wait.queue, None) if wait.queue else None
        if uncovered is not None:
            later = up if up.until >= uncovered.until else uncovered
            up = later._replace(loads=uncovered.loads + up.loads)
        for board in step.forgets:
            self.up.pop(board, None)
        for board in step.writes:
            self.up.setdefault(board, []).append(up)
        if wait.queue and not step.writes:
            self.uncovered[wait.queue] = up

    def state(self) -> object:
        """All that decides the following issue times, relative to the next free cycle: equal states, equal futures."""
        awaited = {board for step in self.steps.values() for board, _ in step.awaited}
        row = max((len(step.gaps) for step in self.steps.values()), default=1)
        pending = ((str(board), [up for up in raised if up.until > self.free]) for board, raised in self.up.items())
        return (
            tuple(sorted((board, tuple(map(self._ahead, raised))) for board, raised in pending if raised)),
            min(len(self.open_loads), row - 1),
            tuple(sorted((queue, self._ahead(up)) for queue, up in self.uncovered.items() if up.until > self.free)),
            tuple(sorted((queue, round(t - self.free, 6)) for queue, t in self.taken.items() if t > self.free)),
            tuple(self._oldest_open(self.up.get(board, ())) for board in sorted(awaited, key=str)),
        )

    def _ahead(self, up: _Raise) -> tuple[float, int]:
        return round(up.until - self.free, 6), len(self.issue) - up.position

    def _oldest_open(self, raised: Sequence[_Raise]) -> int:
        """Distance to the oldest load that this scoreboard covers and that belongs to no phase yet; 0: none."""
        loads = (load for up in raised for load in up.loads if load >= self.closed_before)
        return len(self.issue) - min(loads, default=len(self.issue))

    def whole_state(self) -> object:
        """The state, and all that decides the attribution of later cycles: equal ones, equal records from then on."""
        here, now = len(self.issue), self.free

        def relative(up: _Raise) -> object:
            loads = tuple((here - at, at >= self.closed_before) for at in up.loads)
            return max(0.0, round(up.until - now, 6)), here - up.position, loads

        uncovered = ((queue, relative(up)) for queue, up in self.uncovered.items() if up.until > now or up.loads)
        return (
            tuple((str(board), tuple(map(relative, self.up.get(board, ())))) for board in self._awaited()),
            tuple(here - at for at in self.open_loads),
            tuple(sorted(uncovered)),
            tuple(sorted((queue, round(t - now, 6)) for queue, t in self.taken.items() if t > now)),
        )

    def _awaited(self) -> list[Board]:
        """The scoreboards that anything issued so far waits for."""
        return sorted({board for step in self.steps.values() for board, _ in step.awaited}, key=str)

    def again(self, runs: int, times: int) -> None:
        """Repeat the last `runs` runs this many more times, all from the same whole state."""
        first, cycles = self.began[-runs], self.free - self.starts[-runs]
        moves = np.arange(1, times + 1)[:, None] * (len(self.issue) - first)
        later = np.arange(1, times + 1)[:, None] * cycles
        old, longer = self.phases[self.closed[-runs] :], [(at, x) for at, x in self.longer.items() if at >= first]
        holders = np.array(self.producer[first:], np.int64)
        self.issue += (np.array(self.issue[first:]) + later).ravel().tolist()
        self.producer += np.where(holders < 0, holders, holders + moves).ravel().tolist()
        self.waited += self.waited[first:] * times
        self.stream += self.stream[first:] * times
        shifts = list(zip(moves[:, 0].tolist(), later[:, 0].tolist(), strict=True))
        for move, _ in shifts:
            self.phases += [Phase(tuple(at + move for at in phase.loads), phase.waited) for phase in old]
            self.longer.update((at + move, x) for at, x in longer)
        self._move(first, shifts)

    def _move(self, first: int, shifts: Sequence[tuple[int, float]]) -> None:
        """Outstanding scoreboards after the turns from position `first` on are repeated at all `shifts`."""
        last, awaited = shifts[-1], set(self._awaited())
        for board, raised in self.up.items():
            if board in awaited:
                self.up[board] = [up.moved(*last) for up in raised]
            else:  # nobody waited: what was raised before stays, what is raised in every turn is there as often
                raised += [up.moved(*shift) for shift in shifts for up in raised if up.position >= first]
        self.free += last[1]
        self.uncovered = {q: up.moved(*last) if up.position >= first else up for q, up in self.uncovered.items()}
        self.taken = {queue: t + last[1] for queue, t in self.taken.items()}
        self.open_loads = [at + last[0] for at in self.open_loads]
        self.closed_before += last[0]

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

        issued = Counter(self.stream[first:])
        counts = issued - Counter(self.stream[end:])
        longer: defaultdict[int, float] = defaultdict(float)
        for position, cycles in self.longer.items():
            if first <= position < end:
                longer[self.stream[position]] += cycles
        for index, times in issued.items():
            step, before = self.steps[index], counts[index]
            issuing = before * step.issuing + (times - before) * step.end
            idle = before * (step.gaps[0] - step.issuing - step.cause_cycles) + longer[index]
            book(index, (("issue", issuing),), scale)
            book(index, step.idle, idle * scale)
            if step.cause_cycles:
                book(index, self.waits[index].causes, before * step.cause_cycles * scale)
        for position in range(first, len(self.stream)):
            if self.waited[position]:
                holder = self.stream[self.producer[position]]
                book(holder, self.waits[holder].causes, self.waited[position] * scale)
        return parts, lines

    def board_waits(self, first: int, scale: float) -> dict[str, tuple[float, float]]:
        """Number of a board -> (cycles of the latencies that depend on it and are waited for, cycles waited).

        From position `first` on, times `scale`.
        """
        whole: defaultdict[str, float] = defaultdict(float)
        waited: defaultdict[str, float] = defaultdict(float)
        for index, times in Counter(self.stream[first:]).items():
            wait, holds = self.waits[index], self.steps[index].cause_cycles
            if holds:
                whole[wait.follows] += times * wait.hold
                waited[wait.follows] += times * holds
        for position in range(first, len(self.stream)):
            if self.waited[position]:
                wait = self.waits[self.stream[self.producer[position]]]
                whole[wait.follows] += wait.write
                waited[wait.follows] += self.waited[position]
        return {name: (scale * whole[name], scale * waited[name]) for name in whole if name}


def _line(instruction: Instruction) -> Place:
    place = instruction.place
    return ("", 0) if place is None else (place.outermost.file, place.outermost.line)
