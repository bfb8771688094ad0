"""Slack of lines and instructions: how much longer each may take alone before the launch takes FELT times as long.

Source   the float of an activity in the critical path method, J. E. Kelley, M. R. Walker, 1959, with the predicted time
         of the launch in place of a project's end.
Models   More cycles on the path of every warp, of the causes that the line has now. Warps that hide them for each other
         give a line slack even where it lies on a warp's critical path.
Omits    More demand on a resource by more instructions: that is a resource's slack (levers).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warpbound.advice.sensitivity import FELT, Timed
from warpbound.program.instruction import Instruction
from warpbound.schedule import Place, Schedule
from warpbound.workload import Workload

MOST = 10.0   # times the path of a warp: a larger slack counts as unlimited
ROUNDS = 12   # rounds of bisection: to MOST / 4096 of the path
SHOWN = 8     # lines and instructions, those that cost a warp most


@dataclass(frozen=True)
class Slack:
    """cycles : that it costs a warp. more : cycles that it may cost beyond; None where there is no end."""

    cycles: float
    more: float | None

    @property
    def times(self) -> float | None:
        """How many times as long it may take."""
        return None if self.more is None else 1.0 + self.more / self.cycles


def of_lines(x: Timed) -> dict[Place, Slack]:
    """The lines that cost a warp most, the most expensive first."""
    every = x.work.lines_by_cause
    dearest = sorted(every, key=lambda place: -sum(every[place].values()))[:SHOWN]
    rows = {place: every[place] for place in dearest if place[1] and sum(every[place].values()) > 0}
    return {place: Slack(sum(rows[place].values()), more) for place, more in _more(x, rows)}


def of_instructions(
    instructions: Sequence[Instruction], path: Schedule, lines: Mapping[Place, Slack]
) -> dict[int, Slack]:
    """Instructions of these lines by their place in the code, the most expensive first.

    A wait before an instruction issues counts as its own; it may take as many more cycles as its line.
    """
    cycles: dict[int, float] = {}
    before = 0.0
    for index, issue in zip(path.stream, path.issue, strict=True):
        cycles[index] = cycles.get(index, 0.0) + issue - before
        before = issue
    places = {index: _place(instructions[index]) for index in cycles}
    positions = [index for index in cycles if cycles[index] > 0 and places[index] in lines]
    dearest = sorted(positions, key=lambda index: -cycles[index])[:SHOWN]
    return {index: Slack(cycles[index], lines[places[index]].more) for index in dearest}


def _place(instruction: Instruction) -> Place:
    place = instruction.place.outermost if instruction.place else None
    return (place.file, place.line) if place else ("", 0)


def _more(x: Timed, rows: Mapping[Place, Mapping[str, float]]) -> Iterator[tuple[Place, float | None]]:
    """How many more cycles each line may take until the time is FELT times as long: all lines are bisected at once."""
    most = MOST * x.work.latency
    low, high = dict.fromkeys(rows, 0.0), dict.fromkeys(rows, most)
    endless = {place for place, felt in _felt(x, rows, high).items() if not felt}
    for _ in range(ROUNDS):
        middle = {place: (low[place] + high[place]) / 2 for place in rows}
        for place, felt in _felt(x, rows, middle).items():
            (high if felt else low)[place] = middle[place]
    return ((place, None if place in endless else low[place]) for place in rows)


def _felt(x: Timed, rows: Mapping[Place, Mapping[str, float]], more: Mapping[Place, float]) -> dict[Place, bool]:
    """Whether the time is FELT times as long if each line alone takes this many more cycles."""
    times = x.times([longer(x.work, parts, more[place]) for place, parts in rows.items()])
    return {place: time_s > FELT * x.time_s for place, time_s in zip(rows, times, strict=True)}


def longer(work: Workload, parts: Mapping[str, float], cycles: float) -> Workload:
    """The work with this many more cycles on a warp's path, divided among the causes of these parts."""
    whole = sum(parts.values())
    more = {cause: own + cycles * parts.get(cause, 0.0) / whole for cause, own in work.parts.items()}
    return replace(work, latency=work.latency + cycles, parts=more)
