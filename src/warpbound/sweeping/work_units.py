"""Cuts a plan into units of work: a few tunings of one kernel on all boards of one architecture.

A unit compiles each tuning once and executes each sample of blocks once. Its key is a digest of everything that decides
its answers, so that a resumed sweep knows which answers it has.
"""

import hashlib
from collections.abc import Iterator
from importlib.metadata import version

import msgspec

from warpbound.analysis.sweeps.tunings import Tuning
from warpbound.machine import Gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.sweeping.plan import Plan, Subject

PER_UNIT = 6  # tunings; their machine code is read by one call of nvdisasm


@dataclass(frozen=True)
class WorkUnit:
    """first : number of its first point in the sweep; points : how many it has."""

    key: str
    first: int
    points: int
    subject: Subject
    tunings: tuple[Tuning, ...]
    boards: tuple[Gpu, ...]


def work_units(plan: Plan) -> list[WorkUnit]:
    """The units of a plan, in the order of their points."""
    return list(_units(plan))


def _units(plan: Plan) -> Iterator[WorkUnit]:
    by_arch: dict[int, list[Gpu]] = {}
    for board in plan.boards:
        by_arch.setdefault(board.arch, []).append(board)
    first = 0
    for subject in plan.subjects:
        for boards in by_arch.values():
            for at in range(0, len(subject.tunings), PER_UNIT):
                some = subject.tunings[at : at + PER_UNIT]
                points = len(some) * len(boards) * plan.points_per_configuration
                yield WorkUnit(_key(plan, subject, some, boards, first), first, points, subject, some, tuple(boards))
                first += points


def _key(plan: Plan, subject: Subject, some: tuple[Tuning, ...], boards: list[Gpu], first: int) -> str:
    launch_file = subject.tunings[0].launch
    parts = [
        version("warpbound"), str(first), subject.source.read_text(encoding="utf-8", errors="replace"),
        subject.launch_name, repr(launch_file), repr(subject.kernel), repr(subject.options.defines),
        repr(subject.options.extra), repr([(dict(tuning.macros), repr(tuning.launch)) for tuning in some]),
        repr(plan.axes), repr(plan.settings), repr(sorted(plan.prices.items())),
        *(msgspec.json.encode([board.key, {n: [q.value, q.unit] for n, q in board.parameters.items()}]).decode()
          for board in boards),
    ]  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
