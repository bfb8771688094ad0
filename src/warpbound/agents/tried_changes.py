"""Tries changes of a kernel for an agent: gain, cost, whether the results are equal, the difference to apply."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from warpbound.advice.trial import tried
from warpbound.advice.variant import Question as Kernel
from warpbound.advice.variant import Variant
from warpbound.agents.questions import Question, board_of, file_of, launch_of, options_of
from warpbound.analysis.settings import Settings
from warpbound.errors import CommandError
from warpbound.program.source_files import read_text
from warpbound.quick_dataclasses import dataclass
from warpbound.result.advice import Cost, TriedChange

UNNAMED = Path("kernel.cu")  # file name in the differences of a source that is given as text


@dataclass(frozen=True)
class Resources:
    """What a thread, a block and an SM hold; bytes of spills are stored and loaded."""

    registers: int
    shared_bytes: int
    spill_bytes: int
    warps_per_sm: int


@dataclass(frozen=True)
class TriedVariant:
    """One change. gain > 1 is faster. results : "equal" (every byte), "rounding" (off by `error`, relative to the
    largest result of an array), "different", "untested" (no gain, so not executed), "refused" (`reason` states why).

    option : words for the command line or the launch. diff : of the source, unified; "" where it stays.
    """

    change: str
    mechanism: str
    line: int | None
    gain: float | None
    gain_interval: list[float] | None
    time_us: float | None
    results: Literal["equal", "rounding", "different", "untested", "refused"]
    error: float | None
    reason: str | None
    cost: Resources | None
    option: str
    diff: str
    page: str


@dataclass(frozen=True)
class Promised:
    """The predicted gain of less demand on a resource, and the gain of the best change of that kind that was tried."""

    change: str
    promised: float
    obtained: float | None
    by: str | None


@dataclass(frozen=True)
class TriedChanges:
    """The unchanged kernel and the changes tried, sound ones first, by gain. not_tried : those left when time ran
    out."""

    kernel: str
    gpu: str
    time_us: float
    interval_us: list[float]
    bottleneck: str
    cost: Resources
    compared_blocks: int
    changes: list[TriedVariant]
    promises: list[Promised]
    not_tried: list[str]


class Deadline:
    """Yields variants until the time is over; keeps the names of the others."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self.left: list[str] = []

    def __call__(self, steps: Iterable[tuple[str, Variant]]) -> Iterator[Variant]:
        for change, variant in steps:
            if time.monotonic() > self._end:
                self.left.append(change)
            else:
                yield variant


def try_changes(question: Question, top: int, seconds: float) -> TriedChanges:
    """The best `top` of the changes that compile within this many seconds, and what became of the others.

    CommandError without a launch; InputError where the kernel has no time.
    """
    launch = launch_of(question)
    if launch is None:
        raise CommandError("Trying changes needs a launch.", "Give grid, block and args.")
    path = file_of(question.source)
    text = question.source if path is None else read_text(path)
    kernel = Kernel(path or UNNAMED, text, question.kernel or launch.kernel, options_of(question), launch)
    deadline = Deadline(seconds)
    entry = tried(kernel, board_of(question), Settings(cache=question.cache), deadline).entry
    low, high = entry.time_interval_s
    return TriedChanges(
        kernel=entry.kernel, gpu=entry.gpu, time_us=_us(entry.time_s), interval_us=[_us(low), _us(high)],
        bottleneck=entry.bottleneck, cost=_resources(entry.cost), compared_blocks=entry.compared.blocks,
        changes=[_variant(row) for row in entry.tried[:top]],
        promises=[
            Promised(change=each.change, promised=round(each.speedup, 3), by=each.by,
                     obtained=None if each.obtained is None else round(each.obtained, 3))
            for each in entry.promises[:top]
        ],
        not_tried=deadline.left,
    )  # fmt: skip


def _variant(row: TriedChange) -> TriedVariant:
    option, diff = _option_and_diff(row.apply)
    return TriedVariant(
        change=row.change, mechanism=row.mechanism, line=row.line, gain=None if row.speedup is None else
        round(row.speedup, 4), time_us=None if row.time_s is None else _us(row.time_s), results=row.outcome,
        gain_interval=row.speedup_interval and [round(end, 4) for end in row.speedup_interval], error=row.error,
        reason=row.reason, cost=None if row.cost is None else _resources(row.cost), option=option, diff=diff,
        page=row.page,
    )  # fmt: skip


def _option_and_diff(apply: str) -> tuple[str, str]:
    """The option and the difference of the source that make a change."""
    if apply.startswith("--- "):
        return "", apply
    option, _, diff = apply.partition("\n")
    return option, diff


def _resources(cost: Cost) -> Resources:
    return Resources(cost.registers, cost.shared_bytes, cost.spill_bytes, cost.warps_per_sm)


def _us(time_s: float) -> float:
    return round(1e6 * time_s, 3)
