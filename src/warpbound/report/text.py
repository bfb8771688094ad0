"""The text report: one screen by default, or the views that are named; 80 columns are enough."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import UNSET
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from warpbound.quick_dataclasses import dataclass
from warpbound.report import bottleneck_tables, detail_tables
from warpbound.report.accesses import accesses
from warpbound.report.confidence import confidence
from warpbound.report.formatting import kernel_labels
from warpbound.report.goal import goal
from warpbound.report.pipelines import pipelines
from warpbound.report.refusals import why
from warpbound.report.side_by_side import side_by_side
from warpbound.report.summary import TITLE, shown_threats, summary
from warpbound.report.verdict import verdict
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal

VERDICTS = 4  # at most this many results get a verdict below the table
SUMMARY = "summary"  # the view that is shown where none is named


def pages(results: Sequence[KernelResult | Refusal], views: Sequence[str] = ()) -> Iterator[RenderableType]:
    """One screen of one result, or the named views of it; several results in a table, with a verdict each."""
    views = views or (SUMMARY,)
    if len(results) == 1:
        yield Report(results[0], views)
        return
    yield side_by_side(results)
    labels = kernel_labels([each.kernel or "" for each in results])
    for entry, label in zip(results, labels, strict=True) if len(results) <= VERDICTS else ():
        if not isinstance(entry, Refusal):
            yield Text(f"{label} on {entry.gpu_name} ({entry.program.source})", style=TITLE)
            notes = shown_threats(entry) if SUMMARY in views else []
            yield Padding(Group(verdict(entry), *notes), (0, 0, 1, 2))


@dataclass(frozen=True)
class View:
    """A part of the report: its title, what it shows of an entry, and whether the entry has anything for it."""

    title: str
    show: Callable[[KernelResult], RenderableType]
    has: Callable[[KernelResult], Any] = bool


@dataclass(frozen=True)
class Report:
    """One entry of `results`, to be printed by a Rich console: the named views that it has something for."""

    entry: KernelResult | Refusal
    views: Sequence[str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        entry = self.entry
        if isinstance(entry, Refusal):
            name = entry.kernel or "-"
            yield Text.assemble((f"{name} on {entry.gpu}: ", "bold"), why(entry))
            return
        yield Text(headline(entry), style=TITLE)
        yield Padding(Text(subline(entry), style="dim"), (0, 0, 1, 2))
        for name, view in VIEWS.items():
            if name not in self.views or not view.has(entry):
                continue
            if name == SUMMARY:
                yield view.show(entry)
                continue
            yield Text(view.title, style=TITLE)
            yield Padding(view.show(entry), (0, 0, 1, 2))
        if SUMMARY in self.views:
            yield Text(f"More: {', '.join(self._others(entry))} (--views NAME,... or all).", "dim")

    def _others(self, entry: KernelResult) -> list[str]:
        """Views that would show more of this entry; annotated SASS exists only on request."""
        return [name for name in DETAILS if name not in self.views and (name == "sass" or VIEWS[name].has(entry))]


def headline(entry: KernelResult) -> str:
    """What the answer is about."""
    return f"{entry.kernel} on {entry.gpu_name}"


def subline(entry: KernelResult) -> str:
    """Where it came from: file, code, launch, clock, mode."""
    program, launch = entry.program, entry.launch
    words = [program.source, f"code for {program.arch}"]
    if entry.compiler and entry.compiler.name != "nvrtc":
        words[1] += f" by {entry.compiler.name} {entry.compiler.release}"
    if launch:
        words += [f"grid {_size(launch.grid)}", f"block {_size(launch.block)}"]
        if launch.smem:
            words.append(f"{launch.smem} B dynamic shared")
    if entry.clock_MHz:
        words.append(f"{entry.clock_MHz:.0f} MHz")
    return ", ".join([*words, entry.mode])


def _size(dims: Sequence[int]) -> str:
    sizes = list(dims)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " x ".join(str(n) for n in sizes)


def _timed(entry: KernelResult) -> bool:
    return entry.latency is not None


VIEWS: dict[str, View] = {
    SUMMARY: View("Summary", summary),
    "verdict": View("Verdict", verdict),
    "latency": View("Why: one warp alone", bottleneck_tables.latency, _timed),
    "bounds": View("Why: what each resource allows", bottleneck_tables.bounds, _timed),
    "stalls": View("Where a warp's time goes", bottleneck_tables.stalls, lambda entry: entry.stalls),
    "pipelines": View("Pipelines: stages filled by copies", pipelines, lambda entry: entry.pipelines),
    "goal": View("The way to the goal", goal, lambda entry: entry.goal is not UNSET),
    "whatifs": View("What to do first", lambda entry: bottleneck_tables.explained_whatifs(entry.whatifs), _timed),
    "occupancy": View("Occupancy", detail_tables.occupancy),
    "kernel": View("Kernel", detail_tables.kernel),
    "loops": View("Loops, per iteration and warp", detail_tables.loops, lambda entry: entry.loops),
    "accesses": View("Memory accesses, by source line", accesses, lambda entry: entry.accesses),
    "memory": View(
        "Memory traffic, whole launch",
        detail_tables.memory,
        lambda entry: entry.memory.global_load_requests is not None,
    ),
    "sass": View(
        "SASS along the path of one warp",
        lambda entry: detail_tables.sass(entry.sass or ()),
        lambda entry: entry.sass,
    ),
    "models": View("The models of the papers", detail_tables.models, lambda entry: entry.models),
    "confidence": View("How far to trust this", confidence),
}
DETAILS = tuple(name for name in VIEWS if name != SUMMARY)  # what `all` represents
