"""The report's words and tables as Dash components: text stays text, nothing is taken for markup."""

from itertools import groupby
from typing import Any

from dash import html
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.report.charts import Bar, Columns, Fitting, kinds
from warpbound.report.figures import listing

_STYLES = ("bold", "dim", "red", "yellow", "green", "cyan", "italic")
HEAD = ("line", "cycle", "stall", "w", "r", "wait", "pipe", "instruction", "waits")


def shown(part: RenderableType) -> list[Any]:
    """The renderables that the report is made of."""
    if isinstance(part, Group):
        return [one for inner in part.renderables for one in shown(inner)]
    if isinstance(part, Padding):
        return shown(part.renderable)
    if isinstance(part, Fitting):
        return [_table(part.table)]
    if isinstance(part, Table):
        return [_table(part)]
    if isinstance(part, Columns):  # the page has a figure of it
        return []
    return _paragraphs(part if isinstance(part, Text) else Text.from_markup(str(part)))


def _paragraphs(text: Text) -> list[Any]:
    style = _class(str(text.style))
    return [html.P(_spans(line), className=style) for line in text.split("\n") if line.plain.strip()]


def _spans(text: Text) -> list[Any]:
    styles = [""] * len(text.plain)
    for span in text.spans:
        for at in range(span.start, min(span.end, len(styles))):
            styles[at] = f"{styles[at]} {span.style}".strip()
    runs = groupby(zip(text.plain, styles, strict=True), key=lambda pair: pair[1])
    return [_run("".join(letter for letter, _ in letters), _class(style)) for style, letters in runs]


def _run(words: str, style: str) -> Any:
    return html.Span(words, className=style) if style else words


def _class(style: str) -> str:
    return " ".join(name for name in _STYLES if name in style.split())


def _table(table: Table) -> Any:
    held = kinds(table)
    heads = [_plain(column.header) for column in table.columns]
    columns = [list(column.cells) for column in table.columns]
    rows = list(zip(*columns, strict=True)) if columns else []
    head = html.Thead(html.Tr([_head(text, kind) for text, kind in zip(heads, held, strict=True)]))
    body = [
        html.Tr(
            [html.Td(_cell(cell), className=kind) for cell, kind in zip(cells, held, strict=True)],
            className=_class(str(row.style or "")),
        )
        for cells, row in zip(rows, table.rows, strict=True)
    ]
    parts = [head] if table.show_header and any(heads) else []
    return html.Div(html.Table([*parts, html.Tbody(body)]), className="scroll", tabIndex="0")


def _head(text: str, kind: str) -> Any:
    return html.Th(text, scope="col", className=kind) if text else html.Td()


def _cell(cell: RenderableType) -> Any:
    if isinstance(cell, Bar):
        return html.Span(className="bar", style={"width": f"{100 * min(1.0, cell.share):.0f}%"})
    return _spans(cell) if isinstance(cell, Text) else _plain(cell)


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def annotated(entry: dict[str, Any]) -> Any:
    """SASS of an entry with its timing."""
    rows: list[Any] = []
    for row in listing(entry["sass"], entry["lines"]):
        if row.source:
            source = [html.Td(row.line, className="number"), html.Td(html.Code(row.source), colSpan=8)]
            rows.append(html.Tr(source, className="source-line"))
        cycle = row.cycle + ("*" if row.critical else "")
        cells = [html.Td(cell) for cell in (row.line, cycle, row.stall, row.write, row.read, row.wait, row.pipe)]
        code = html.Code([html.Span(row.address + " ", className="address"), row.text])
        state = "critical" if row.critical else "" if row.reached else "dim"
        rows.append(html.Tr([*cells, html.Td(code), html.Td(row.waits_for)], className=state))
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in HEAD]))
    legend = (
        "cycle: issue along the path of one warp, * on its critical path; stall: cycles before the next instruction; "
        "w, r: scoreboard raised until the result is written, until the operands are read; wait: scoreboards awaited."
    )
    spoken: Any = {"role": "region", "aria-label": "Machine code"}
    table = html.Div(html.Table([head, html.Tbody(rows)]), className="scroll listing", tabIndex="0", **spoken)
    return html.Div([html.P(legend, className="dim"), table])
