"""The best change tried and the next ones together: each made to the source that the best one left.

Omits    More than two at once, and changes of the launch, whose blocks cover other threads.
"""

from collections.abc import Iterator, Mapping, Sequence

from warpbound.advice.candidates import candidates
from warpbound.advice.variant import EXACT, ROUNDED, Variant
from warpbound.analysis import answer_cache
from warpbound.analysis.case import checked_case
from warpbound.analysis.settings import Settings
from warpbound.machine import Gpu
from warpbound.program import Program

COMBINATIONS, ALONE = "combinations", " (alone "
COMBINED = ("source", "option")  # what may change in both
MOST = 3                         # changes that join the best one


def joined(
    best: Sequence[Variant], gains: Mapping[str, float], program: Program, board: Gpu, settings: Settings
) -> Iterator[Variant]:
    """The best of some sound variants with each of the next ones that is of another mechanism.

    best : in the order of their gains, each with its gain by its change. program : of the first.
    """
    fitting = [each for each in best if each.place in COMBINED]
    if not fitting:
        return
    first, *others = fitting
    partners = {each.change for each in others if each.mechanism != first.mechanism}
    if not partners:
        return
    entry = answer_cache.answer(program, board, first.question.launch, settings)
    residency = checked_case(program, board, first.question.launch, settings).residency
    then = [each for each in candidates(first.question, program, board, entry, residency) if each.change in partners]
    for second in then[:MOST]:
        yield _both(first, second, gains)


def _both(first: Variant, second: Variant, gains: Mapping[str, float]) -> Variant:
    alone = f"{gains[first.change]:.2f}x and {gains[second.change]:.2f}x"
    return Variant(
        mechanism=COMBINATIONS,
        change=f"{first.change}; and {second.change}{ALONE}{alone})",
        place="source" if "source" in (first.place, second.place) else "option",
        question=second.question,
        exactness=EXACT if first.exactness == second.exactness == EXACT else ROUNDED,
        line=first.line or second.line,
        apply=" ".join(word for word in (first.apply, second.apply) if word),
        per_thread=first.per_thread * second.per_thread,
    )
