"""What the text report shows, as HTML: the same tables and sentences, walked instead of printed.

A view that is added to the report for terminals thus stands in the HTML report too.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Literal

from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Bar, Columns, Fitting, kinds

_CLASSES = ("bold", "dim", "red", "yellow", "green", "cyan", "italic")


def as_html(part: RenderableType) -> Markup:
    """The renderables that the report is made of; everything in them is escaped."""
    if isinstance(part, Group):
        return Markup("").join(as_html(inner) for inner in part.renderables)
    if isinstance(part, Padding):
        return as_html(part.renderable)
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Text):
        return _paragraph(part)
    if isinstance(part, Fitting):
        return _table(part.table)
    if isinstance(part, Columns):  # the page has a figure of it
        return Markup("")
    if isinstance(part, str):
        return _paragraph(Text.from_markup(part))
    return _preformatted(part)


def _paragraph(text: Text) -> Markup:
    if not text.plain.strip():
        return Markup("")
    lines = [
        Markup("<p{}>{}</p>").format(_class(str(text.style), line.plain.startswith("- ") and "item"), _spans(line))
        for line in text.split("\n")
        if line.plain.strip()
    ]
    return Markup("\n").join(lines)


def _spans(text: Text) -> Markup:
    """Words with their styles: bold, dim and colours become classes."""
    styles = [""] * len(text.plain)
    for span in text.spans:
        for at in range(span.start, min(span.end, len(styles))):
            styles[at] = f"{styles[at]} {span.style}".strip()
    runs = groupby(zip(text.plain, styles, strict=True), key=lambda pair: pair[1])
    return Markup("").join(_run("".join(letter for letter, _ in letters), style) for style, letters in runs)


def _run(words: str, style: str) -> Markup:
    kind = _class(style)
    return Markup("<span{}>{}</span>").format(kind, words) if kind else Markup("{}").format(words)


def _class(style: str, further: str | Literal[False] = "") -> Markup:
    names = [name for name in _CLASSES if name in style.split()] + ([further] if further else [])
    return Markup(' class="{}"').format(" ".join(names)) if names else Markup("")


def _table(table: Table) -> Markup:
    columns = [list(column.cells) for column in table.columns]
    headers = [Markup("{}").format(_plain(column.header)) for column in table.columns]
    numeric = [f"{kind}{_drawn(column)}" for kind, column in zip(kinds(table), columns, strict=True)]
    rows = list(zip(*columns, strict=True)) if columns else []
    head = _head(headers, numeric) if table.show_header and any(headers) else Markup("")
    body = Markup("\n").join(_row(cells, numeric, row) for cells, row in zip(rows, table.rows, strict=True))
    return Markup('<div class="scroll" tabindex="0"><table>{}<tbody>\n{}\n</tbody></table></div>').format(head, body)


def _drawn(cells: list[RenderableType]) -> str:
    """Of columns in which blanks before the words say where these stand."""
    return " drawn" if any(not isinstance(cell, Bar) and _plain(cell).startswith(" ") for cell in cells) else ""


def _head(headers: list[Markup], kinds: list[str]) -> Markup:
    cells = Markup("").join(
        Markup('<th scope="col" class="{}">{}</th>').format(kind, text) if text else Markup("<td></td>")
        for text, kind in zip(headers, kinds, strict=True)
    )
    return Markup("<thead><tr>{}</tr></thead>").format(cells)


def _row(cells: tuple[RenderableType, ...], kinds: list[str], row: Any) -> Markup:
    inner = Markup("").join(
        Markup('<td class="{}">{}</td>').format(kind, _cell(cell)) for cell, kind in zip(cells, kinds, strict=True)
    )
    return Markup("<tr{}>{}</tr>").format(_class(str(row.style or "")), inner)


def _cell(cell: RenderableType) -> Markup:
    if isinstance(cell, Bar):
        return Markup('<span class="bar" style="width:{}%"></span>').format(f"{100 * min(1.0, cell.share):.0f}")
    return _spans(cell) if isinstance(cell, Text) else Markup("{}").format(_plain(cell))


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _preformatted(part: RenderableType) -> Markup:
    """Anything else, as a terminal of a hundred columns would show it."""
    lines = Markup("\n").join(_lines(part))
    return Markup("<pre>{}</pre>").format(lines)


def _lines(part: RenderableType) -> Iterator[str]:
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(part)
    yield from (line.rstrip() for line in captured.get().splitlines())
