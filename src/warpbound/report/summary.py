"""The first screen: time, what threatens it, what binds, hot source lines, best changes, trust, where to read on."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warpbound.report import detail_tables
from warpbound.report.bottleneck_tables import bounds_table, changes_of_the_kernel, source_lines, whatifs, whole_kernel
from warpbound.report.confidence import expected_error, routine_notes, threats, unknown_inputs, widest
from warpbound.report.formatting import capital, count
from warpbound.report.pipelines import sentences
from warpbound.report.tables import open_table
from warpbound.report.verdict import classes, latency_hiding, no_time, tightest, time
from warpbound.result.code import SourceLine
from warpbound.result.kernel import KernelResult, Loop

MOST_THREATS, MOST_BOUNDS, MOST_LINES, MOST_LOOPS, MOST_CHANGES = 3, 4, 4, 5, 3
HOT = 0.1  # share of a warp's cycles below which a source line is left out
TITLE = "bold cyan"


def summary(entry: KernelResult) -> RenderableType:
    """About one screen."""
    parts: list[RenderableType] = []
    for title, body in _sections(entry):
        parts += [Text(title, TITLE)] if title else []
        parts.append(Padding(body, (0, 0, 1, 2)))
    return Group(*parts)


def _sections(entry: KernelResult) -> Iterator[tuple[str, RenderableType]]:
    has_time = entry.time_s is not None
    yield "", Group(*_verdict(entry))
    if entry.goal is not UNSET:  # its own view shows what binds, the expensive lines and what to change
        return
    if entry.latency is None:
        yield "Occupancy", Group(*_occupancy(entry))
        return
    unit = "warp" if whole_kernel(entry) else "warp and iteration"
    yield f"What binds, SM cycles per {unit}", bounds_table(entry, MOST_BOUNDS, open_table)
    if not has_time:
        yield "Occupancy", Group(*_occupancy(entry))
        if entry.loops:
            yield "Loops with the most latency", detail_tables.loops_table(_heaviest(entry.loops), open_table)
    fewer = bool(threats(entry) or unknown_inputs(entry))  # the notes beside the time take their place
    if has_time and (hot := _hot_lines(entry)):
        piped = bool(sentences(entry))  # and a pipeline takes a line more
        yield "Hot source lines, cycles of one warp alone", source_lines(hot[: MOST_LINES - fewer - piped])
    yield "Best changes", whatifs(changes_of_the_kernel(entry)[: MOST_CHANGES - fewer])
    yield "Trust", Group(*_trust(entry))


def _verdict(entry: KernelResult) -> list[Text]:
    notes = shown_threats(entry)
    if entry.bottleneck is None:
        return [no_time(entry), *notes]
    if entry.time_s is not None:
        return [*unknown_inputs(entry), time(entry), *classes(entry), *notes, tightest(entry), latency_hiding(entry),
                *sentences(entry)]  # fmt: skip
    return [no_time(entry), *notes, tightest(entry), latency_hiding(entry)]


def shown_threats(entry: KernelResult) -> list[Text]:
    """The most important reasons why this answer may be wrong."""
    notes = threats(entry)
    more = [Text(f"{len(notes) - MOST_THREATS} more: --views confidence", "dim")] if len(notes) > MOST_THREATS else []
    return [*notes[:MOST_THREATS], *more]


def _occupancy(entry: KernelResult) -> Iterator[Text]:
    yield detail_tables.occupancy_sentence(entry)
    if entry.occupancy.next_step:
        yield Text(entry.occupancy.next_step)
    notes = (note for note in entry.confidence.assumed if note.startswith("no launch given"))
    yield from (Text(f"{capital(note)}.", "dim") for note in notes)


def _hot_lines(entry: KernelResult) -> list[SourceLine]:
    least = HOT * entry.latency.cycles if entry.latency else 0.0
    return [row for row in entry.lines if row.line and row.cycles >= least]


def _heaviest(loops: Sequence[Loop]) -> list[Loop]:
    """The loops that cost most, in program order, without their parts between barriers."""
    cost = [loop.cycles_per_warp or loop.latency_cycles for loop in loops]
    heaviest = sorted(range(len(loops)), key=lambda index: -cost[index])[:MOST_LOOPS]
    return [replace(loops[index], intervals=[]) for index in sorted(heaviest)]


def _trust(entry: KernelResult) -> Iterator[Text]:
    if entry.time_s is None:
        yield Text("Bounds come from the code alone: counts, caches and waiting need a launch with its arguments.")
    else:
        yield Text(expected_error(entry))
        if entry.doubts:
            yield Text(f"{widest(entry)}.")
    routine = routine_notes(entry)
    if routine:
        yield Text(f"Board and method: {count(routine, 'assumption')} (--views confidence).", "dim")
