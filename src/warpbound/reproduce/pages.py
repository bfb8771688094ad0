"""Reproductions as text, as plain entries for JSON, and their figures as CSV."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.errors import InputError
from warpbound.report.figure_series import Figure
from warpbound.reproduce.item import PAPERS, Item, prose
from warpbound.reproduce.record import Change, Record
from warpbound.reproduce.reproduction import Reproduction, Row, Verdict

SHORT_AND_STYLE = {
    Verdict.AGREES: ("agrees", "green"),
    Verdict.DIGITS: ("agrees, printed digits", "green"),
    Verdict.ROUGHLY: ("agrees, roughly", "green"),
    Verdict.READ: ("agrees, as read", "green"),
    Verdict.DIFFERS: ("differs", "yellow"),
    Verdict.CONTRADICTS: ("paper contradicts itself", "yellow"),
    Verdict.STANDS_IN: ("model for experiment", "cyan"),
    Verdict.UNPRINTED: ("not printed", "dim"),
}
LONGEST_WHOLE = 24  # letters of a value that stays on one line
KINDS = {
    "agree": (Verdict.AGREES, Verdict.DIGITS, Verdict.ROUGHLY),
    "agree as read": (Verdict.READ,),
    "differ": (Verdict.DIFFERS,),
    "contradicted by the paper": (Verdict.CONTRADICTS,),
    "measured": (Verdict.STANDS_IN,),
}

def listing(all_items: Sequence[Item], record: Record) -> Iterator[RenderableType]:
    """Every item with the verdicts that are recorded."""
    for paper, citation in PAPERS.items():
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for item in all_items:
            if item.paper == paper:
                table.add_row(item.name, Text(item.title).append(f" ({tally(item, record)})", "dim"))
        yield Group(Text(paper, "bold cyan"), Text(f"  {citation}"), Padding(table, (0, 0, 1, 2)))
    yield Text("`warpbound reproduce all` computes them; `warpbound reproduce PAPER:ITEM` shows one.", "dim")


def tally(item: Item, record: Record) -> str:
    """Recorded verdict -> how many numbers of an item have it; without numbers that the paper does not print."""
    words = kinds([Verdict(str(row[0])) for row in record.get(item.key, {}).values()])
    return words or "nothing printed to compare with"


def markdown(all_items: Sequence[Item], record: Record) -> str:
    """docs/reproduce.md: all items with their recorded verdicts."""
    lines = [prose("reproduce.md")]
    for paper, citation in PAPERS.items():
        lines += [f"## `{paper}`", "", f"{citation}.", "", "| item | where | what | verdicts |", "|---|---|---|---|"]
        for item in all_items:
            if item.paper == paper:
                star = " *" if item.stand_in else ""
                lines.append(f"| `{item.name}`{star} | {item.where} | {item.title} | {tally(item, record)} |")
        lines.append("")
    return "\n".join(lines)


def page(reproduction: Reproduction) -> RenderableType:
    """The rows of one item, its notes and readings, and what its figures show."""
    item = reproduction.item
    lines = [item.title, f"{item.where} of {PAPERS[item.paper]}"]
    if item.stand_in:
        lines.append(f"Experiment not available; replaced by: {item.stand_in}.")
    if item.note:
        lines.append(item.note)
    extents = [Text(f"{figure.title}: {_extent(figure)}", "dim") for figure in reproduction.figures]
    body: list[RenderableType] = [*map(Text, lines), rows_table(reproduction.rows), *extents, Text()]
    return Group(Text(item.key, "bold cyan"), *(Padding(part, (0, 0, 0, 2)) for part in body))


def ending(reproductions: Sequence[Reproduction], changed: Sequence[Change]) -> RenderableType:
    """How many numbers have each verdict, and what changed against the record."""
    verdicts = [row.verdict for x in reproductions for row in x.rows]
    items = f"{len(reproductions)} items" if len(reproductions) > 1 else reproductions[0].item.key
    rest = verdicts.count(Verdict.UNPRINTED)
    counts = [part for part in (kinds(verdicts), f"{rest} not printed" if rest else "") if part]
    lines = [Text(f"{len(verdicts)} numbers of {items}: {', '.join(counts)}.")]
    lines += [Text(f"Changed: {change}", "red") for change in changed]
    return Group(*lines)


def entry(reproduction: Reproduction, changed: Sequence[Change]) -> dict[str, Any]:
    """One item as plain values."""
    item = reproduction.item
    return {
        "item": item.key,
        "paper": PAPERS[item.paper],
        "title": item.title,
        "where": item.where,
        "stand_in": item.stand_in or None,
        "note": item.note or None,
        "rows": [asdict(row) | {"reading": row.reading or None} for row in reproduction.rows],
        "figures": [figure_entry(figure) for figure in reproduction.figures],
        "changes": [str(change) for change in changed if change.item == item.key],
    }


def figure_entry(figure: Figure) -> dict[str, Any]:
    """A figure as plain values."""
    return {
        "title": figure.title,
        "x": asdict(figure.x),
        "y": asdict(figure.y),
        "series": [{"name": line.name, "x": line.x.tolist(), "y": line.y.tolist()} for line in figure.series],
        "source": figure.source,
    }


def item_entry(item: Item, record: Record) -> dict[str, Any]:
    """One line of the list as plain values."""
    tally = Counter(str(row[0]) for row in record.get(item.key, {}).values())
    return {"item": item.key, "title": item.title, "where": item.where, "verdicts": dict(tally)}


def as_csv(reproductions: Iterable[Reproduction]) -> str:
    """The points of all figures, one in each line. Raises InputError if there is no figure."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["item", "figure", "series", "x", "x_unit", "y", "y_unit"])
    points = 0
    for reproduction in reproductions:
        key = reproduction.item.key
        for figure in reproduction.figures:
            for series in figure.series:
                for x, y in zip(series.x.tolist(), series.y.tolist(), strict=True):
                    lines.writerow([key, figure.title, series.name, x, figure.x.unit, y, figure.y.unit])
                    points += 1
    if not points:
        raise InputError("None of these items is a figure: there are no series.", "Ask for --format json.")
    return text.getvalue()


def rows_table(rows: Sequence[Row]) -> Table:
    """A table with one row for each number."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("what", overflow="fold")
    words = [str(word) for row in rows for word in (row.printed or "", row.ours)]
    whole = max(map(len, words), default=0) <= LONGEST_WHOLE
    for column in ("paper", "ours", "off"):
        table.add_column(column, justify="right", no_wrap=whole or column == "off", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for row in rows:
        verdict = Text(*SHORT_AND_STYLE[row.verdict])
        if row.reading:
            verdict.append(f": {row.reading}", "dim")
        name = Text(row.what)
        if row.unit != "1":
            name.append(f" [{row.unit}]", "dim")
        cell = f"({row.printed})" if row.read else row.printed or "-"
        table.add_row(name, cell, _ours(row.ours), _off(row.difference), verdict)
    return table


def kinds(verdicts: Sequence[Verdict]) -> str:
    """How many verdicts of each kind, in words; without numbers that the paper does not print."""
    totals = {word: sum(map(verdicts.count, kind)) for word, kind in KINDS.items()}
    return ", ".join(f"{total} {word}" for word, total in totals.items() if total)


def _ours(value: float | str) -> str:
    if isinstance(value, str):
        return value
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        return f"{value:.4g}"
    return f"{value:.6g}" if size < 1e5 else f"{value:.0f}"


def _off(difference: float | None) -> str:
    if difference is None:
        return ""
    return "0" if abs(difference) < 1e-9 else f"{100 * difference:+.2g} %"


def _extent(figure: Figure) -> str:
    points = sum(len(line.x) for line in figure.series)
    return f"{figure.y.label} against {figure.x.label}, {len(figure.series)} series, {points} points (--format csv)"
