"""A goal backwards: the least change that reaches a time, or why none can; and the parts of the time."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from warpbound.advice import sensitivity, slack
from warpbound.advice.certificate import certificate
from warpbound.advice.gap import parts
from warpbound.advice.sensitivity import Timed
from warpbound.advice.slack import Slack
from warpbound.analysis.answer import result_of, reworked, work_of
from warpbound.analysis.case import Case, checked_case
from warpbound.analysis.settings import Settings
from warpbound.analysis.static import Work
from warpbound.analysis.sustained_clock import settled
from warpbound.analysis.timing import times_of
from warpbound.errors import CommandError, InputError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program
from warpbound.result.goal import Goal, InstructionSlack, LineSlack, Share
from warpbound.result.kernel import KernelResult
from warpbound.schedule import Place

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
MOST_PAIRS = 5
CAUSES = {"dram": "dram", "l2": "l2", "l1": "l1", "shared": "shared", "lsu": "l1"}  # resource -> cause of a line's wait


@dataclass(frozen=True)
class Target:
    """One of: a gain, a time in s, a share of what the certificate allows."""

    words: str
    gain: float | None = None
    time_s: float | None = None
    share: float | None = None

    def seconds(self, now_s: float, least_s: float) -> float:
        """The time to reach."""
        if self.gain is not None:
            return now_s / self.gain
        if self.share is not None:
            return least_s / self.share
        return self.time_s or 0.0


def parse_target(words: str) -> Target:
    """`1.5x`, `80us` or `90%`. Raises CommandError for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)\s*(x|%|s|ms|us|ns)", words.strip())
    value = float(match[1]) if match else 0.0
    if match is None or value <= 0 or (match[2] == "x" and value < 1) or (match[2] == "%" and value > 100):
        raise CommandError(f"--target {words!r} is not a goal.", "Write a gain (1.5x), a time (80us) or a share (90%).")
    if match[2] == "x":
        return Target(words, gain=value)
    if match[2] == "%":
        return Target(words, share=value / 100)
    return Target(words, time_s=value * UNITS[match[2]])


def with_goal(
    program: Program, board: Gpu, launch: Launch | None, settings: Settings, target: Target
) -> tuple[KernelResult, Goal]:
    """The answer of `analyze`, with the goal. Raises what `analyze` raises; InputError without a time."""
    case = checked_case(program, board, launch, settings)
    case, work = settled(case, work_of(case), reworked)
    entry = result_of(case, work)
    if entry.time_s is None or work.whole.warps is None:
        why = (entry.not_executed or "no launch is given").rstrip(".")
        reason = f"{program.title} has no time, so no goal can be judged: {why}."
        raise InputError(reason, "Give the launch and a value for each parameter (--arg or --launch).")
    return entry, goal(case, work, entry, target)


def goal(case: Case, work: Work, entry: KernelResult, target: Target) -> Goal:
    """The goal of a launch that has a time."""
    assert entry.time_s is not None
    least = certificate(case, work)
    cycles = {row.resource: row.cycles_per_warp for row in entry.bounds}
    x = Timed(work.whole, case.place, partial(times_of, case, work), entry.time_s, cycles)
    time_s = target.seconds(entry.time_s, least.time_s)
    changes = [] if time_s < least.time_s or entry.time_s <= time_s else sensitivity.least_changes(x, time_s)
    shares, resources, lines = sensitivity.shares(x), sensitivity.slack(x), slack.of_lines(x)
    return Goal(
        target=target.words, target_s=time_s, reached=entry.time_s <= time_s, forbidden=time_s < least.time_s,
        certificate=least, share_of_certificate=least.time_s / entry.time_s,
        gap=parts(x, least), changes=changes,
        shares=[
            Share(resource=name, time_s=share_s, slack=resources.get(name))
            for name, share_s in sorted(shares.items(), key=lambda item: -item[1])
        ],
        interactions=sensitivity.interactions(x)[:MOST_PAIRS],
        lines=_line_slack(lines), instructions=_instruction_slack(case, work, lines),
        critical_line=_critical_line(entry),
    )  # fmt: skip


def _line_slack(lines: Mapping[Place, Slack]) -> list[LineSlack]:
    return [
        LineSlack(file=file, line=line, cycles=each.cycles, slack=each.times, more_cycles=each.more)
        for (file, line), each in lines.items()
    ]


def _instruction_slack(case: Case, work: Work, lines: Mapping[Place, Slack]) -> list[InstructionSlack]:
    code = case.program.instructions
    return [
        InstructionSlack(
            address=code[index].address, text=code[index].text, line=place.outermost.line, cycles=each.cycles,
            slack=each.times,
        )
        for index, each in slack.of_instructions(code, work.schedule, lines).items()
        if (place := code[index].place)
    ]  # fmt: skip


def _critical_line(entry: KernelResult) -> int | None:
    """The source line where a warp spends most on what binds; None where lines are not known."""
    rows = [row for row in entry.lines if row.line]
    cause = CAUSES.get(entry.bottleneck or "", "")
    waiting = [row for row in rows if row.parts.get(cause, 0.0) > 0]
    if waiting:
        return max(waiting, key=lambda row: row.parts[cause]).line
    return rows[0].line if rows else None
