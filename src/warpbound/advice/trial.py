"""Variants tried: each compiled and predicted; those that are faster executed beside the original.

Models   A variant counts only if the compared blocks write the same bytes, or differ by rounding where it may round.
Omits    Combinations of more than two variants.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from msgspec.structs import replace as replace_fields

from warpbound.advice import equal_results
from warpbound.advice.candidates import candidates
from warpbound.advice.combinations import COMBINED, joined
from warpbound.advice.equal_results import Arrays, Verdict
from warpbound.advice.promises import promises
from warpbound.advice.variant import EXACT, Question, Variant, difference
from warpbound.analysis import answer_cache
from warpbound.analysis.case import checked_case
from warpbound.analysis.launch_time import LaunchTime, launch_time
from warpbound.analysis.review import RESOLUTION, digest
from warpbound.analysis.settings import Settings
from warpbound.errors import InputError, WarpboundError
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.program import Program, programs
from warpbound.program.compile_commands import with_build
from warpbound.result.advice import Compared, Cost, TriedChange, TriedKernel

WORTH = 1.005  # gains below this are none
PAGE = "docs/advice.md#{}"
Progress = Callable[[Iterable[tuple[str, Variant]]], Iterable[Variant]]


@dataclass(frozen=True)
class Original:
    """The original kernel: its program, its time and the results of its blocks.

    results : of the blocks that were executed, by their numbers; filled as variants need them.
    """

    question: Question
    program: Program
    board: Gpu
    settings: Settings
    time: LaunchTime
    launch: Launch  # with contents for all float arrays
    results: dict[tuple[int, ...], Arrays] = field(default_factory=dict)


@dataclass(frozen=True)
class Trials:
    """The answer, and the source of each change that has one, by its unified diff."""

    entry: TriedKernel
    texts: dict[str, str]


def tried(question: Question, board: Gpu, settings: Settings, progress: Progress) -> Trials:
    """Every candidate judged, the largest gain with sound results first.

    progress : takes titles and variants and gives the variants, as `with_progress` does. Raises what `analyze` raises,
    and InputError where the launch has no time: then nothing can be judged.
    """
    if not board.board:
        raise InputError(f"{board.name} is an architecture, not a board: it has no times.", "Name a board.")
    program = compiled(question, board)
    entry = answer_cache.answer(program, board, question.launch, settings)
    if entry.time_s is None or entry.time_interval_s is None or entry.bottleneck is None:
        why = (entry.not_executed or "its trip counts are not known").rstrip(".")
        reason = f"{program.title} has no time: {why}."
        raise InputError(reason, "Give the launch and a value for each parameter (--arg or --launch).")
    low, high = entry.time_interval_s
    residency = checked_case(program, board, question.launch, settings).residency
    now = LaunchTime(residency.blocks_per_sm, residency.warps_per_sm, entry.time_s, (low, high), entry.bottleneck)
    launch = equal_results.comparable(question.launch)
    original = Original(question, program, board, settings, now, launch)
    variants = candidates(question, program, board, entry, residency)
    rows = _judged(original, progress, variants)
    pairs = _combined(original, rows, variants)
    rows += _judged(original, progress, pairs)
    variants += pairs
    blocks = equal_results.chosen_blocks(program, launch.grid)
    after = _results(original, tuple(blocks))
    changed = equal_results.bytes_written(equal_results.at_start(program, launch), after)
    rows = rows if changed else [_unproved(row) for row in rows]
    count = launch.grid[0] * launch.grid[1] * launch.grid[2]
    answer = TriedKernel(
        kernel=program.title, gpu=board.key, gpu_name=board.name, source=question.path.as_posix(), time_s=entry.time_s,
        time_interval_s=[low, high], bottleneck=entry.bottleneck, cost=_cost(program, question.launch, now),
        compared=Compared(blocks=len(blocks), of_blocks=count, bytes=changed),
        tried=sorted(rows, key=_rank), promises=promises(entry.whatifs, rows),
    )  # fmt: skip
    texts = {_apply(question, each): each.question.text for each in variants if each.place == "source"}
    return Trials(answer, texts)


def compiled(question: Question, board: Gpu) -> Program:
    """The one kernel of a question. Raises InputError where it does not compile or several kernels fit."""
    own, options = question, with_build(question.options, question.path)
    outputs = programs(own.text, board, own.kernel, replace(options, include=(own.path.parent, *options.include)))
    if len(outputs) > 1:
        names = ", ".join(each.title for each in outputs)
        raise InputError(f"{own.path} holds {len(outputs)} kernels ({names}).", "Name one with --kernel.")
    return outputs[0]


def _judged(original: Original, progress: Progress, variants: list[Variant]) -> list[TriedChange]:
    """One row per variant whose machine code or launch is not that of another one."""
    identities: set[tuple[object, ...]] = {_identity(original.program, original.question.launch)}
    rows = []
    for variant in progress((variant.change, variant) for variant in variants):
        try:
            program = compiled(variant.question, original.board)
            if (same := _identity(program, variant.question.launch)) in identities:
                continue
            identities.add(same)
            rows.append(_row(original, variant, program))
        except WarpboundError as error:
            rows.append(_refused(original, variant, str(error)))
    return rows


def _combined(original: Original, rows: list[TriedChange], variants: list[Variant]) -> list[Variant]:
    """The best sound change together with each of the next ones."""
    best = [row for row in sorted(rows, key=_rank) if row.outcome in ("equal", "rounding")]
    gains = {row.change: row.speedup for row in best if row.speedup is not None}
    by_change = {each.change: each for each in variants}
    sound = [by_change[change] for change in gains]
    if len(sound) < 2:
        return []
    first = next((each for each in sound if each.place in COMBINED), sound[0])
    program = compiled(first.question, original.board)
    return list(joined(sound, gains, program, original.board, original.settings))


def _identity(program: Program, launch: Launch) -> tuple[object, ...]:
    code = digest(program), program.registers, program.shared_bytes
    return (*code, launch.grid, launch.block, launch.cluster, launch.smem, launch.carveout, launch.persist)


def _row(original: Original, variant: Variant, program: Program) -> TriedChange:
    """A variant with its time; executed and compared where it is faster."""
    launch, now = variant.question.launch, original.time
    time = launch_time(program, original.board, launch, original.settings)
    if time.time_s is None or now.time_s is None or time.interval_s is None:
        return _refused(original, variant, f"No time: {time.why_not}.")
    speedup = now.time_s / time.time_s
    verdict = Verdict("untested") if speedup < WORTH else _verdict(original, variant, program)
    if verdict.outcome == "rounding" and variant.exactness == EXACT:
        reason = f"results differ by {verdict.error:.2g} of the largest one, which this change must not"
        verdict = Verdict("different", verdict.error, reason)
    return replace_fields(
        _refused(original, variant, ""),
        outcome=verdict.outcome, error=verdict.error if verdict.outcome in ("rounding", "different") else None,
        reason=verdict.reason, speedup=speedup,
        speedup_interval=[speedup / (1 + RESOLUTION), speedup * (1 + RESOLUTION)],
        time_s=time.time_s, time_interval_s=list(time.interval_s), bottleneck=time.bottleneck,
        cost=_cost(program, launch, time),
    )  # fmt: skip


def _refused(original: Original, variant: Variant, reason: str) -> TriedChange:
    """A variant without a time."""
    return TriedChange(
        mechanism=variant.mechanism, change=variant.change, place=variant.place, line=variant.line, outcome="refused",
        error=None, reason=reason or None, speedup=None, speedup_interval=None, time_s=None, time_interval_s=None,
        bottleneck=None, cost=None, apply=_apply(original.question, variant),
        page=PAGE.format(variant.mechanism.replace(" ", "-")),
    )  # fmt: skip


def _apply(question: Question, variant: Variant) -> str:
    """The option and the difference of the source that make a variant."""
    diff = difference(question, variant.question)
    return "\n".join(part for part in (variant.apply, diff) if part)


def _unproved(row: TriedChange) -> TriedChange:
    """A row for a kernel whose results the launch does not contain."""
    if row.outcome not in ("equal", "rounding"):
        return row
    return replace_fields(row, outcome="different", error=None, reason=equal_results.UNSEEN)


def _verdict(original: Original, variant: Variant, program: Program) -> Verdict:
    """The variant executed beside the original, in blocks of both that cover the same threads."""
    before, after = original.launch, equal_results.comparable(variant.question.launch)
    blocks = equal_results.chosen_blocks(original.program, before.grid)
    if variant.place == "launch" or variant.per_thread > 1:
        x, y, z = after.block
        elements = replace(after, block=(x * variant.per_thread, y, z))
        blocks, others = equal_results.covering(blocks, before, elements)
    else:
        others = blocks
    try:
        return equal_results.compared(_results(original, tuple(blocks)), equal_results.results(program, after, others))
    except WarpboundError as error:
        return Verdict("different", reason=str(error))


def _results(original: Original, blocks: tuple[int, ...]) -> Arrays:
    if blocks not in original.results:
        original.results[blocks] = equal_results.results(original.program, original.launch, blocks)
    return original.results[blocks]


def _cost(program: Program, launch: Launch, time: LaunchTime) -> Cost:
    return Cost(
        registers=program.registers, shared_bytes=program.shared_bytes + launch.smem, spill_bytes=sum(program.spills),
        warps_per_sm=time.warps_per_sm,
    )  # fmt: skip


def _rank(row: TriedChange) -> tuple[bool, float]:
    """Sound results first, then by gain."""
    return row.outcome not in ("equal", "rounding"), -(row.speedup or 0.0)
