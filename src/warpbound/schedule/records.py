"""Inputs and results of a schedule."""

from collections.abc import Sequence
from dataclasses import field

from warpbound.quick_dataclasses import dataclass
from warpbound.result.quantities import CAUSES as CAUSES

Place = tuple[str, int]  # file and line in the kernel; ("", 0) where unknown


@dataclass(frozen=True, slots=True)
class Wait:
    """How long an instruction keeps its scoreboards raised, and the stall reasons of a wait for it.

    write, source_wait : cycles from issue until a waiter for the result, for the sources, may issue.
    causes : (cause, fraction) pairs, fractions adding up to 1.
    queue : a result without a scoreboard is covered by the next one of its queue; empty: by none.
    busy : cycles the queue's unit is taken, before which the next one of the queue does not start.
    hold : cycles for which the warp itself cannot continue (a barrier).
    loads : a load from global memory, which opens or joins a load phase.
    follows : number of a board that the latency goes with (isa.latency_classes); empty where it is memory's own.
    late : the result comes later than the control words assume: instructions that read its registers wait for them.

    For machines and listings without control words:
    gaps : cycles until the warp may issue its next instruction (ILP latency); of a load several, behind the first,
    second, ... of those under way at once, the last one for all further ones. 0: the next one goes with it.
    branch_gap : the same where the next instruction is not the one behind it, as after a branch; None: no other.
    """

    write: float = 0.0
    source_wait: float = 0.0
    causes: tuple[tuple[str, float], ...] = (("fixed", 1.0),)
    queue: str = ""
    busy: float = 0.0
    hold: float = 0.0
    loads: bool = False
    gaps: tuple[float, ...] = (1.0,)
    branch_gap: float | None = None
    follows: str = ""
    late: bool = False


@dataclass(frozen=True)
class Phase:
    """Loads issued before the first wait on any of them: positions in the stream, cycles then waited."""

    loads: tuple[int, ...]
    waited: float


@dataclass(frozen=True)
class IssueTimes:
    """When one warp, alone on its SM, issues each instruction of a stream, and what it waits for; as in `Schedule`.

    cycles : of the stream.
    """

    issue: Sequence[float]
    cycles: float
    waited: Sequence[float]
    producer: Sequence[int]
    phases: Sequence[Phase]


@dataclass(frozen=True)
class Schedule:
    """A stream with its issue times.

    stream : instruction indices in issue order. issue : cycle of each. cycles : from the first issue to where the
    next instruction could issue; with control words last issue + 1.
    parts : cause -> cycles; they add up to `cycles`.
    lines : (file, line) in the kernel -> cause -> cycles; empty name where the place is unknown.
    critical : positions on the chain of waits that ends at the last instruction, in order.
    waited : cycles each position waited for a scoreboard; producer : the position that held it, -1 for none.
    phases : load phases in order. board_waits : number of a board -> (cycles of the latencies that were waited for
    and follow it, of these those waited).
    times : by which the whole path is longer than the stream, its start; cycles, parts and lines are of the whole.
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
    board_waits: dict[str, tuple[float, float]] = field(default_factory=dict)
    times: float = 1.0

    @property
    def issue_times(self) -> IssueTimes:
        """Of the stream, without the causes of stalls."""
        return IssueTimes(self.issue, self.cycles / self.times, self.waited, self.producer, self.phases)

    @property
    def issue_slots(self) -> int:
        """Cycles in which an instruction issues: those that issue in pairs share one."""
        return len(set(self.issue))
