"""An answer reduced to what an agent acts on: verdict, next step, hot lines, what makes the answer uncertain."""

from warpbound.quick_dataclasses import dataclass
from warpbound.report.formatting import resource_words, seconds
from warpbound.result.kernel import KernelResult
from warpbound.result.what_if import WhatIf

MOST_CHANGES, MOST_LINES, MOST_NOTES = 3, 3, 4


@dataclass(frozen=True)
class Change:
    """A change, its predicted speed-up, and why; line, interval, cost and page as in `analyze`."""

    change: str
    speedup: float
    why: str
    mechanism: str
    line: int | None
    speedup_interval: list[float]
    cost: str
    registers: int
    shared_bytes: int
    warps_per_sm: int | None
    page: str


@dataclass(frozen=True)
class Line:
    """A source line, its share of one warp's time, and what it mostly waits for."""

    line: int
    text: str
    share: float
    mostly: str


@dataclass(frozen=True)
class Short:
    """times in us; null where the launch could not be executed."""

    kernel: str
    gpu: str
    verdict: str
    time_us: float | None
    interval_us: list[float] | None
    bottleneck: str | None
    runner_up: str | None
    warps_per_sm: int
    registers: int
    spill_bytes: int
    next_step: Change | None
    other_steps: list[Change]
    hot_lines: list[Line]
    expected_error: float | None
    threats: list[str]


def short(answer: KernelResult) -> Short:
    """The first lines of an answer."""
    changes = [change(whatif) for whatif in answer.whatifs if whatif.speedup > 1][: 1 + MOST_CHANGES]
    low_high = answer.time_interval_s
    return Short(
        kernel=answer.kernel,
        gpu=answer.gpu,
        verdict=verdict(answer),
        time_us=None if answer.time_s is None else round(1e6 * answer.time_s, 3),
        interval_us=[round(1e6 * end, 3) for end in low_high] if low_high else None,
        bottleneck=answer.bottleneck,
        runner_up=answer.runner_up,
        warps_per_sm=answer.occupancy.warps_per_sm,
        registers=answer.program.registers,
        spill_bytes=answer.program.spill_bytes_stored + answer.program.spill_bytes_loaded,
        next_step=changes[0] if changes else None,
        other_steps=changes[1:],
        hot_lines=hot_lines(answer),
        expected_error=answer.confidence.expected_error,
        threats=_threats(answer),
    )


def verdict(answer: KernelResult) -> str:
    """One sentence: the time and what binds, or why there is no time."""
    binds = f"{resource_words(answer.bottleneck)} binds" if answer.bottleneck else "nothing is known to bind"
    if answer.time_s is None:
        return f"No time: {answer.not_executed or 'give grid, block and every argument'}; from the code alone, {binds}."
    low, high = answer.time_interval_s or (answer.time_s, answer.time_s)
    return f"{seconds(answer.time_s)} ({seconds(low)} to {seconds(high)}) on {answer.gpu_name}; {binds}."


def change(whatif: WhatIf) -> Change:
    return Change(
        change=whatif.change, speedup=round(whatif.speedup, 3), why=whatif.why, mechanism=whatif.mechanism,
        line=whatif.line, speedup_interval=[round(end, 3) for end in whatif.speedup_interval or ()], cost=whatif.cost,
        registers=whatif.registers, shared_bytes=whatif.shared_bytes, warps_per_sm=whatif.warps_per_sm,
        page=whatif.page,
    )  # fmt: skip


def hot_lines(answer: KernelResult) -> list[Line]:
    """The lines that cost one warp most."""
    total = sum(line.cycles for line in answer.lines) or 1.0
    hottest = sorted(answer.lines, key=lambda line: -line.cycles)[:MOST_LINES]
    return [
        Line(
            line=line.line,
            text=line.text,
            share=round(line.cycles / total, 3),
            mostly=max(line.parts, key=lambda cause: line.parts[cause], default=""),
        )
        for line in hottest
    ]


def _threats(answer: KernelResult) -> list[str]:
    notes = [f"unknown opcode {opcode}" for opcode in answer.confidence.unknown_opcodes]
    if answer.not_executed:
        notes.append(f"not executed: {answer.not_executed}")
    return [*notes, *answer.confidence.assumed][:MOST_NOTES]
