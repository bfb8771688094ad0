"""How far to trust an answer: expected error, what widens the interval, what was assumed."""

import re
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from warpbound.report.formatting import capital, listed, resource_words
from warpbound.result.kernel import KernelResult
from warpbound.result.quantities import CLOCK_UNDER_LOAD, OWN_ERROR

MEANING = {  # uncertainties that no measurement of the board alone would remove
    CLOCK_UNDER_LOAD: " `--clock MHZ` sets the one that the board holds.",
    OWN_ERROR: " That is how far measured launches with the same bottleneck were off,"
    " on other boards and of other kernels.",
}
# Prefixes of notes that hold for every kernel on a board; all other notes are about one answer.
ROUTINE = (
    "the boost clock: the power of ", "values of ", "timing parameters scaled from ", "time by flow balance",
    "bottleneck and what-ifs are those of",
    "counts and traffic ", "memory traffic of ", "registers lie in ", "the hot code of ", "no launch given: ",
    "branches: the longer side", "every sector of global memory that an ", "sectors and bank conflicts follow from ",
    "cycles between instructions by the table of ", "pairs are not marked", "of that table, ",
    "stored pieces of lines ",
)  # fmt: skip
IN_VERDICT = ("the code alone: ", "sm_")  # prefixes of notes that the verdict replaces by its own words
CONTENTS = " depend on the contents of "
ZEROS = re.compile("taken as 0; (branches|addresses)")  # in a note about contents that nobody gave and that decide
IDLE_CONTENTS = re.compile("unknown contents of .* taken as 0")  # a whole note: contents that decide nothing
FEW_LANES = re.compile(r"values decide which lanes .* differ by 0(\.\d+)? % at most.*")  # a whole note: below 1 %
UNGIVEN = "not given: it is taken as 0"  # in a note about a variable that nobody gave


def confidence(entry: KernelResult) -> RenderableType:
    """Expected error, the widest uncertainty, everything that was assumed."""
    assumed = entry.confidence.assumed
    lines = [Text(expected_error(entry)), *([Text(_uncertainty(entry))] if entry.doubts else [])]
    lines += [Text("Assumed:")] if assumed else []
    lines += [Text(f"- {note}", "dim") for note in assumed]
    return Group(*lines, *(Text(f"- {words}", "red") for words in _unknown_opcodes(entry)))


def expected_error(entry: KernelResult) -> str:
    """Mean error over measured launches with the same bottleneck."""
    own = entry.confidence
    if own.expected_error is None:
        return "No expected error: no launch with this bottleneck was measured on this board."
    inside = 100 * (own.interval_coverage or 0.0)
    return (
        f"Expected error {100 * own.expected_error:.1f} %: the mean over {own.judged_launches} measured launches on "
        f"this board bound by {resource_words(entry.bottleneck)}; {inside:.0f} % of them lie in "
        "their interval."
    )


def widest(entry: KernelResult) -> str:
    """The largest contribution to the interval."""
    first = entry.doubts[0]
    origin = ", taken from relatives" if first.assumed else ""
    return f"Most of the interval comes from {first.parameter} ({100 * first.relative:.1f} % of the time{origin})"


def _uncertainty(entry: KernelResult) -> str:
    """The largest source of uncertainty, and the measurement that would reduce it."""
    first = entry.doubts[0]
    sentence = f"{widest(entry)}.{MEANING.get(first.parameter, '')}"
    best = next((doubt for doubt in entry.doubts if doubt.measured_by), None)
    if best is None:
        return sentence
    how = f"`warpbound measure --only {best.measured_by}`"
    if best is first:
        return f"{sentence} Measuring it ({how}) would shrink the interval most."
    return f"{sentence} Of what can be measured, {best.parameter} ({how}) would shrink it most."


def threats(entry: KernelResult) -> list[Text]:
    """Reasons why this answer may be wrong, the most important first: missing input, unknown code, every note that is
    not routine, and the data for which the time holds."""
    notes = [note for note in entry.confidence.assumed if not (_is_routine(note) or note.startswith(IN_VERDICT))]
    of_contents = [note for note in notes if CONTENTS in note]
    first = [note for note in notes if ZEROS.search(note) or UNGIVEN in note]
    others = [note for note in notes if note not in of_contents and note not in first]
    return [
        *(Text(f"{capital(words)}.", "red") for words in _unknown_opcodes(entry)),
        *(Text(f"{capital(note)}.", "yellow") for note in others),
        *_contents(of_contents),
    ]


def _contents(notes: Sequence[str]) -> list[Text]:
    """One sentence on all arrays whose contents decide how the kernel runs."""
    if not notes:
        return []
    what = [word for word in ("branches", "addresses") if any(word in note for note in notes)]
    names = [note.rpartition(CONTENTS)[2] for note in notes]
    words = f"{capital(listed(what))} depend on the contents of {listed(names)}: with other contents the time changes."
    return [Text(words, "yellow")]


def routine_notes(entry: KernelResult) -> int:
    """Number of notes that hold for any kernel on the board."""
    return sum(_is_routine(note) for note in entry.confidence.assumed)


def _is_routine(note: str) -> bool:
    return note.startswith(ROUTINE) or any(form.fullmatch(note) for form in (IDLE_CONTENTS, FEW_LANES))


def unknown_inputs(entry: KernelResult) -> list[Text]:
    """The contents that were read and not given; shown before the time that depends on them."""
    assumed = entry.confidence.assumed
    texts = [Text(f"{capital(note)}.", "bold red") for note in assumed if UNGIVEN in note]
    for what in ("branches", "addresses"):
        notes = [note for note in assumed if (match := ZEROS.search(note)) and match[1] == what]
        if names := [note.partition(" read")[0].removeprefix("unknown ") for note in notes]:
            words = (
                f"This is the time for zeros: {listed(names)} decide {what} and were not given. Give them "
                "(fill or file in the launch file, --arg NAME=@FILE.npy) before you rely on it."
            )
            texts.append(Text(words, "bold red"))
    return texts


def _unknown_opcodes(entry: KernelResult) -> list[str]:
    names = ", ".join(entry.confidence.unknown_opcodes)
    return [f"unknown opcodes, counted for issue only: {names}"] if names else []
