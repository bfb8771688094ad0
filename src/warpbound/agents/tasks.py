"""The work of the server's tools, as functions of plain values; they run in a separate process with a time limit."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from warpbound.agents.claims import Verdict, check
from warpbound.agents.questions import Question, answer, kernels_of, launch_of
from warpbound.agents.result_checks import Checked, run_and_check
from warpbound.agents.short_answers import Change, Short, change, short
from warpbound.analysis import answer_cache
from warpbound.analysis.review import resolved_difference
from warpbound.analysis.sweeps.ranking import Answer, ranked, ranking_of
from warpbound.analysis.sweeps.tunings import Shape
from warpbound.errors import CommandError
from warpbound.quick_dataclasses import dataclass
from warpbound.report.formatting import seconds
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal


@dataclass(frozen=True)
class Kernel:
    """One kernel as compiled; bytes per block or thread."""

    name: str
    registers: int
    shared_bytes: int
    local_bytes: int
    spill_bytes: int
    instructions: int
    parameters: list[str]


@dataclass(frozen=True)
class Comparison:
    """gain > 1: the second is faster. decided : on one board as `diff` decides; else by intervals apart."""

    before: Short
    after: Short
    gain: float | None
    decided: bool
    summary: str


@dataclass(frozen=True)
class Ranked:
    """One tuning; error where it has no time."""

    macros: dict[str, str]
    time_us: float | None
    bottleneck: str | None
    error: str | None


@dataclass(frozen=True)
class Space:
    """Values of macros; grid, block and where are expressions of them, such as "4096/TILE,1"."""

    macros: dict[str, list[int]]
    grid: str
    block: str
    where: str | None = None


def compile_kernels(question: Question) -> list[Kernel]:
    return [
        Kernel(
            name=program.title, registers=program.registers, shared_bytes=program.shared_bytes,
            local_bytes=program.local_bytes, spill_bytes=sum(program.spills), instructions=len(program.instructions),
            parameters=[parameter.name or str(order) for order, parameter in enumerate(program.parameters)],
        )
        for program in kernels_of(question)
    ]  # fmt: skip


def analyze(question: Question) -> Short:
    return short(answer(question))


def what_if(question: Question) -> list[Change]:
    return [change(whatif) for whatif in answer(question).whatifs]


def compare(before: Question, after: Question) -> Comparison:
    first, second = answer(before), answer(after)
    gain = first.time_s / second.time_s if first.time_s and second.time_s else None
    if gain is None:
        summary, is_certain = "One of the two has no time.", False
    else:
        times = f"{seconds(first.time_s)} before, {seconds(second.time_s)} after"
        doubt = _doubt(first, second, gain)
        summary, is_certain = f"{gain:.2f}x: {times}{doubt and f'; {doubt}'}.", not doubt
    return Comparison(
        before=short(first), after=short(second), gain=gain and round(gain, 4), decided=is_certain, summary=summary
    )


def _doubt(first: KernelResult, second: KernelResult, gain: float) -> str:
    """Why a gain is not decided; "" if it is. On one board both times share the model's errors."""
    if first.gpu != second.gpu:
        (low, high), (least, most) = first.time_interval_s or (0.0, 0.0), second.time_interval_s or (0.0, 0.0)
        return "" if low > most or least > high else "the intervals overlap"
    resolved = resolved_difference(*(each.sample.sampling_error if each.sample else None for each in (first, second)))
    return "" if abs(1 / gain - 1) > resolved else f"within what the model resolves ({100 * resolved:.1f} %)"


def rank_tunings(question: Question, space: Space, top: int) -> list[Ranked]:
    """The fastest tunings."""
    if not Path(question.source).is_file():
        raise CommandError("Only tunings of a file can be ranked.", "Give its path as the source.")
    base = launch_of(Question(**{**question.__dict__, "grid": [1], "block": [1]}))
    if base is None:
        raise CommandError("Nothing can be ranked without arguments.", "Give args.")
    shape = Shape(space.grid, space.block, None, space.where)
    ranking = ranking_of(question.source, question.gpu, space.macros, base, shape, question.kernel)
    answers = ranked(replace(ranking, analysis=answer_cache.time_alone))
    return [_ranked(answer) for answer in answers[:top]]


def _ranked(answer: Answer) -> Ranked:
    macros = answer.defines if isinstance(answer.defines, dict) else {}
    if isinstance(answer, Refusal):
        return Ranked(macros, None, None, answer.error.reason)
    return Ranked(macros, None if answer.time_s is None else round(1e6 * answer.time_s, 3), answer.bottleneck, None)


def check_claim(gpu: str, rate: float, unit: str, type_: str, question: Question | None) -> Verdict:
    return check(gpu, rate, unit, type_, None if question is None else answer(question))


def check_values(question: Question, references: Mapping[str, str], tolerance: float) -> list[Checked]:
    return run_and_check(question, references, tolerance)
