"""The report a person reads: verdict, why, what to do, then the tables; 80 columns are enough."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.analysis.entries import Entry
from warpbound.report import detail_tables
from warpbound.report.accesses import accesses
from warpbound.report.charts import Bar, Fitting
from warpbound.report.formatting import CAUSE_WORDS, RESOURCE_WORDS, amount, count
from warpbound.report.side_by_side import side_by_side
from warpbound.report.verdict import verdict

VERDICTS = 4  # of so many results at most the verdicts follow the table
WORTH = 0.005  # shares below this are left out of pictures


def pages(results: Sequence[Entry], views: Sequence[str] = ()) -> Iterator[RenderableType]:
    """One result in full, or the named views of it; several results in a table, with a verdict each."""
    if len(results) == 1:
        yield Report(results[0], tuple(views))
        return
    yield side_by_side(results)
    for entry in results if len(results) <= VERDICTS else ():
        if "error" not in entry:
            yield Text(f"{headline(entry)} ({entry['program']['source']})", style="bold cyan")
            yield Padding(verdict(entry), (0, 0, 1, 2))


class Report:
    """One entry of `results`, to be printed by a Rich console: every view it has something for, or those named."""

    def __init__(self, entry: Entry, views: tuple[str, ...] = ()) -> None:
        self.entry = entry
        self.views = views or tuple(VIEWS)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if "error" in self.entry:
            yield _refusal(self.entry)
            return
        yield Text(headline(self.entry), style="bold cyan")
        yield Padding(Text(subline(self.entry), style="dim"), (0, 0, 1, 2))
        for name in self.views:
            view = VIEWS[name]
            if view.has(self.entry):
                yield Text(view.title, style="bold cyan")
                yield Padding(view.show(self.entry), (0, 0, 1, 2))


@dataclass(frozen=True)
class View:
    """A part of the report: its title, what it shows of an entry, and whether the entry has anything for it."""

    title: str
    show: Callable[[Entry], RenderableType]
    has: Callable[[Entry], Any] = bool


def _refusal(entry: Entry) -> Text:
    error = entry["error"]
    return Text.assemble((f"{entry['kernel'] or '-'} on {entry['gpu']}: ", "bold"), error["reason"], " ", error["hint"])


def headline(entry: Entry) -> str:
    """What the answer is about."""
    return f"{entry['kernel']} on {entry['gpu_name']}"


def subline(entry: Entry) -> str:
    """Where it came from: file, code, launch, clock, mode."""
    program, launch = entry["program"], entry["launch"]
    words = [program["source"], f"code for {program['arch']}"]
    if launch:
        words += [f"grid {_size(launch['grid'])}", f"block {_size(launch['block'])}"]
        if launch["smem"]:
            words.append(f"{launch['smem']} B dynamic shared")
    if entry["clock_MHz"]:
        words.append(f"{entry['clock_MHz']:.0f} MHz")
    return ", ".join([*words, entry["mode"]])


def _size(dims: Sequence[int]) -> str:
    kept = list(dims)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(str(n) for n in kept)


def _latency(entry: Entry) -> RenderableType:
    latency = entry["latency"]
    total = latency["cycles"]
    rows = sorted(((c, n) for c, n in latency["parts"].items() if n >= WORTH * total), key=lambda row: -row[1])
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    table.add_column()
    for cause, cycles in rows:
        table.add_row(f"{cycles:.0f}", f"{100 * cycles / total:.0f} %", Bar(cycles / total), CAUSE_WORDS[cause])
    levels = latency["by_level"]
    loads = _phases(latency["load_phases"])
    served = ", ".join(f"{level.upper()} {cycles:.0f}" for level, cycles in levels.items())
    return Group(
        Text(f"{total:.0f} cycles at least{_once(entry)}.{loads}"),
        table,
        Text(f"If all global loads were served by one level: {served} cycles.", "dim"),
    )


def _phases(phases: Sequence[int]) -> str:
    if not phases:
        return ""
    waits = f" {count(len(phases), 'wait')} for global loads"
    if len(phases) == 1:
        return f"{waits}, {phases[0]} in flight."
    if len(set(phases)) == 1:
        return f"{waits}, {phases[0]} in flight each."
    return f"{waits}, {min(phases)} to {max(phases)} in flight."


def _once(entry: Entry) -> str:
    return ", every loop once" if entry["loops"] and entry["mode"] == "static" else ""


def _lines(entry: Entry) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis", max_width=44)
    table.add_column("mostly", no_wrap=True)
    for row in entry["lines"][:6]:
        cause, cycles = max(row["parts"].items(), key=lambda part: part[1])
        name = row["text"] or row["file"].rpartition("/")[2]
        table.add_row(
            f"{row['cycles']:.0f}", str(row["line"]) if row["line"] else "-", Text(name), f"{cause} {cycles:.0f}"
        )
    return Fitting(table)


def _bounds(entry: Entry) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    for name in ("resource", "SM cycles", "in use", ""):
        number = name in ("SM cycles", "in use")
        table.add_column(name, justify="right" if number else "left", no_wrap=number)
    for bound in entry["bounds"]:
        used = bound["utilization"]
        if used < WORTH:
            continue
        style = "bold" if bound["resource"] == entry["bottleneck"] else ""
        table.add_row(
            RESOURCE_WORDS[bound["resource"]],
            amount(bound["cycles_per_warp"]),
            f"{100 * used:.0f} %",
            Bar(used),
            style=style,
        )
    what = "per warp" if entry["scope"].startswith("whole") else f"per warp and iteration of the {entry['scope']}"
    said = f"For how many cycles of its SM each resource is taken, {what}; the largest binds."
    return Group(Text(said, "dim"), Fitting(table))


def _whatifs(entry: Entry) -> RenderableType:
    if not entry["whatifs"]:
        return Text("None of the changes tried here would help by half a per cent.")
    table = Table.grid(padding=(0, 1))
    table.add_column(justify="right")
    table.add_column()
    for whatif in entry["whatifs"]:
        table.add_row(f"{whatif['speedup']:.2f}x", Text.assemble((whatif["change"], "bold"), f" - {whatif['why']}."))
    return table


def _timed(entry: Entry) -> bool:
    return entry["latency"] is not None


VIEWS: dict[str, View] = {
    "verdict": View("Verdict", verdict),
    "latency": View("Why: one warp alone", lambda entry: Group(_latency(entry), Text(), _lines(entry)), _timed),
    "bounds": View("Why: what each resource allows", _bounds, _timed),
    "stalls": View("Where a warp's time goes", detail_tables.stalls, lambda entry: entry["stalls"]),
    "whatifs": View("What to do first", _whatifs, _timed),
    "occupancy": View("Occupancy", detail_tables.occupancy),
    "kernel": View("Kernel", detail_tables.kernel),
    "loops": View("Loops, per iteration and warp", detail_tables.loops, lambda entry: entry["loops"]),
    "accesses": View("Memory accesses, by source line", accesses, lambda entry: entry.get("accesses")),
    "memory": View(
        "Memory traffic, whole launch",
        detail_tables.memory,
        lambda entry: entry["memory"]["global_load_requests"] is not None,
    ),
    "sass": View(
        "SASS along the path of one warp",
        lambda entry: detail_tables.sass(entry["sass"]),
        lambda entry: entry.get("sass"),
    ),
    "models": View("The models of the papers", detail_tables.models, lambda entry: entry["models"]),
    "confidence": View("How far to trust this", detail_tables.confidence),
}
