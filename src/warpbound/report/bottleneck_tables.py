"""The bottleneck tables: latency of one warp, bounds of the resources, stall reasons, source lines, what-ifs."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Bar, Fitting
from warpbound.report.formatting import CAUSE_WORDS, RESOURCE_WORDS, STALL_WORDS, amount, count
from warpbound.report.tables import TableStyle, ruled_table
from warpbound.result.code import SourceLine
from warpbound.result.kernel import KernelResult
from warpbound.result.what_if import WhatIf

WORTH = 0.005  # shares below this are left out of tables
WORTH_A_STALL = 0.01
MOST_LINES = 6  # source lines


def latency(entry: KernelResult) -> RenderableType:
    """Least time of one warp by cause, how its loads overlap, and the source lines that cost most of it."""
    own = entry.latency
    assert own is not None
    total = own.cycles
    rows = sorted(((c, n) for c, n in own.parts.items() if n >= WORTH * total), key=lambda row: -row[1])
    table = _grid("right", "right", "left", "left")
    for cause, cycles in rows:
        table.add_row(f"{cycles:.0f}", f"{100 * cycles / total:.0f} %", Bar(cycles / total), CAUSE_WORDS[cause])
    once = ", every loop once" if entry.loops and entry.mode == "static" else ""
    levels = ", ".join(f"{level.upper()} {cycles:.0f}" for level, cycles in own.by_level.items())
    return Group(
        Text(f"{total:.0f} cycles at least{once}.{_phases(own.load_phases)}"),
        table,
        Text(f"If one level served all global loads: {levels} cycles.", "dim"),
        Text(),
        source_lines(entry.lines[:MOST_LINES]),
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


def source_lines(rows: Sequence[SourceLine]) -> RenderableType:
    """Source lines with their cycles of one warp alone and the cause of most of these."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim")
    table.add_column("cycles", justify="right", no_wrap=True)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis", max_width=44)
    table.add_column("mostly", no_wrap=True)
    for row in rows:
        cause, cycles = max(row.parts.items(), key=lambda part: part[1])
        name = row.text or row.file.rpartition("/")[2]
        table.add_row(
            f"{row.cycles:.0f}", str(row.line) if row.line else "-", Text(name), f"{cause} {cycles:.0f}"
        )
    return Fitting(table)


def whole_kernel(entry: KernelResult) -> bool:
    """Whether the bounds are those of the whole kernel, not of a loop."""
    return (entry.scope or "").startswith("whole")


def bounds(entry: KernelResult) -> RenderableType:
    what = "per warp" if whole_kernel(entry) else f"per warp and iteration of the {entry.scope}"
    note = f"SM cycles for which each resource is busy {what}; the resource with the most cycles binds."
    return Group(Text(note, "dim"), bounds_table(entry, len(entry.bounds), ruled_table))


def bounds_table(entry: KernelResult, most: int, style: TableStyle) -> RenderableType:
    """The `most` tightest bounds: SM cycles of each resource and the share of its time in use."""
    words = ("resource", "")
    table = style(("resource", "SM cycles", "in use", ""), words, folded=words)
    for row_bound in [row_bound for row_bound in entry.bounds if row_bound.utilization >= WORTH][:most]:
        share = row_bound.utilization
        table.add_row(
            RESOURCE_WORDS[row_bound.resource],
            amount(row_bound.cycles_per_warp),
            f"{100 * share:.0f} %",
            Bar(share),
            style="bold" if row_bound.resource == entry.bottleneck else "",
        )
    return Fitting(table)


def whatifs(rows: Sequence[WhatIf]) -> RenderableType:
    """Changes of the kernel, its launch or the GPU with the speedup that each would bring."""
    if not rows:
        return Text("None of these what-ifs would gain half a per cent.")
    table = _grid("right", "left")
    for row in rows:
        table.add_row(f"{row.speedup:.2f}x", Text.assemble((row.change, "bold"), f" - {row.why}."))
    return table


def explained_whatifs(rows: Sequence[WhatIf]) -> RenderableType:
    """The same with line, interval, cost and page of each change."""
    if not rows:
        return whatifs(rows)
    table = _grid("right", "left")
    for row in rows:
        table.add_row(f"{row.speedup:.2f}x", Text.assemble((row.change, "bold"), f" - {row.why}."))
        if row.speedup_interval:
            low, high = row.speedup_interval
            where = f"line {row.line}; " if row.line else ""
            words = f"{where}{low:.2f}x to {high:.2f}x; costs {row.cost}; {row.page}"
            table.add_row("", Text(words, "dim"))
    return table


def changes_of_the_kernel(entry: KernelResult) -> list[WhatIf]:
    """The what-ifs that a programmer can act on: all but those of another clock or power limit."""
    return [whatif for whatif in entry.whatifs if "clock" not in whatif.change and "power limit" not in whatif.change]


def stalls(entry: KernelResult) -> RenderableType:
    """Where the time of a warp goes while all resident warps run, by stall reason."""
    table = _grid("right", "right", "left", "left", "left")
    for column in table.columns:
        column.no_wrap = True
    for row in entry.stalls:
        if row.share >= WORTH_A_STALL:
            share, reason = row.share, row.reason
            cells = (f"{row.cycles:.0f}", f"{100 * share:.0f} %", Bar(share, full=16), reason)
            table.add_row(*cells, Text(STALL_WORDS.get(reason, ""), "dim"))
    total = sum(row.cycles for row in entry.stalls)
    note = "Stall reasons are those of Nsight Compute; block replacement is warpbound's own."
    period = Text(f"{total:.0f} cycles from the start of a block to the start of the next one in its place.")
    return Group(period, Fitting(table), Text(note, "dim"))


def _grid(*justified: str) -> Table:
    table = Table.grid(padding=(0, 1))
    for justify in justified:
        table.add_column(justify=justify, no_wrap=justify == "right")  # type: ignore[arg-type]
    return table
