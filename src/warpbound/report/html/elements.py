"""The text report as elements of HTML: the same tables and sentences, converted instead of printed.

So a view that is added to the text report also appears in the HTML report and on the page: `as_html` writes the
elements as markup, `page.components` makes Dash components of them. Their contents are text, never markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import groupby

from markupsafe import Markup
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from warpbound.quick_dataclasses import dataclass
from warpbound.report.charts import Bar, Columns, Fitting, kinds
from warpbound.report.figures.listing import listing
from warpbound.result.kernel import KernelResult

_STYLES = ("bold", "dim", "red", "yellow", "green", "cyan", "italic")
_SASS_HEAD = ("line", "cycle", "stall", "w", "r", "wait", "pipe", "instruction", "waits")
_SASS_NUMBERS = 3  # first columns of the SASS table, which hold numbers
SASS_LEGEND = (
    "cycle: issue along the path of one warp, * on its critical path; stall: cycles before the next instruction; "
    "w, r: scoreboard raised until the result is written, until the operands are read; wait: scoreboards awaited."
)


@dataclass(frozen=True)
class Element:
    """tag and attributes as HTML names them; width : per cent of the bar that the element is."""

    tag: str
    children: "Sequence[Element | str]" = ()
    classes: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    width: int | None = None


def elements(part: RenderableType) -> list[Element]:
    """The renderables that the report is made of."""
    if isinstance(part, Group):
        return [element for inner in part.renderables for element in elements(inner)]
    if isinstance(part, Padding):
        return elements(part.renderable)
    if isinstance(part, Fitting):
        return [_table(part.table)]
    if isinstance(part, Table):
        return [_table(part)]
    if isinstance(part, Columns):  # there is a figure of it
        return []
    if isinstance(part, str | Text):
        return _paragraphs(part if isinstance(part, Text) else Text.from_markup(part))
    return [_as_printed(part)]


def as_html(part: RenderableType) -> Markup:
    """The same as markup."""
    return markup(elements(part))


def markup(parts: Sequence[Element | str]) -> Markup:
    """Elements with all that they hold; text is escaped."""
    return Markup("\n").join(_markup(part) for part in parts)


def _markup(element: Element | str) -> Markup:
    if isinstance(element, str):
        return Markup("{}").format(element)
    by_name = {**element.attributes, "class": element.classes}
    if element.width is not None:
        by_name["style"] = f"width:{element.width}%"
    attributes = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in by_name.items() if value)
    inner = Markup("").join(_markup(child) for child in element.children)
    return Markup("<{0}{1}>{2}</{0}>").format(element.tag, attributes, inner)


def _paragraphs(text: Text) -> list[Element]:
    style = _classes(str(text.style))
    lines = [line for line in text.split("\n") if line.plain.strip()]
    return [Element("p", _spans(line), f"{style}{' item' * line.plain.startswith('- ')}".strip()) for line in lines]


def _spans(text: Text) -> list[Element | str]:
    """Words with their styles: bold, dim and colours become classes."""
    styles = [""] * len(text.plain)
    for span in text.spans:
        for at in range(span.start, min(span.end, len(styles))):
            styles[at] = f"{styles[at]} {span.style}".strip()
    runs = groupby(zip(text.plain, styles, strict=True), key=lambda pair: pair[1])
    return [_run("".join(letter for letter, _ in letters), _classes(style)) for style, letters in runs]


def _run(words: str, classes: str) -> Element | str:
    return Element("span", (words,), classes) if classes else words


def _classes(style: str) -> str:
    return " ".join(name for name in _STYLES if name in style.split())


def _table(table: Table) -> Element:
    columns = [list(column.cells) for column in table.columns]
    headers = [_plain(column.header) for column in table.columns]
    kind = [f"{kind}{_aligned(column)}" for kind, column in zip(kinds(table), columns, strict=True)]
    body = [
        Element("tr", [_cell(cell, own) for cell, own in zip(cells, kind, strict=True)], _classes(str(row.style or "")))
        for cells, row in zip(zip(*columns, strict=True), table.rows, strict=True)
    ]
    head = [_heading(words, own) for words, own in zip(headers, kind, strict=True)]
    return _scrolling(head if table.show_header and any(headers) else [], body)


def _scrolling(head: Sequence[Element], body: Sequence[Element], further: str = "", **attributes: str) -> Element:
    """A table that scrolls where the window is narrow."""
    heads = [Element("thead", [Element("tr", head)])] if head else []
    table = Element("table", [*heads, Element("tbody", body)])
    return Element("div", (table,), f"scroll {further}".strip(), {"tabindex": "0", **attributes})


def _aligned(cells: list[RenderableType]) -> str:
    """Of columns whose words are placed by blanks before them."""
    return " drawn" if any(not isinstance(cell, Bar) and _plain(cell).startswith(" ") for cell in cells) else ""


def _heading(words: str, kind: str) -> Element:
    return Element("th", (words,), kind, {"scope": "col"}) if words else Element("td")


def _cell(cell: RenderableType, kind: str) -> Element:
    if isinstance(cell, Bar):
        return Element("td", (Element("span", (), "bar", width=round(100 * min(1.0, cell.share))),), kind)
    return Element("td", _spans(cell) if isinstance(cell, Text) else (_plain(cell),), kind)


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)


def _as_printed(part: RenderableType) -> Element:
    """Anything else, as a terminal of a hundred columns would show it."""
    console = Console(width=100, force_terminal=False)
    with console.capture() as captured:
        console.print(part)
    return Element("pre", ("\n".join(line.rstrip() for line in captured.get().splitlines()),))


def sass_listing(entry: KernelResult) -> list[Element]:
    """SASS of an entry with its timing, a row for each instruction and for each source line where it changes."""
    body: list[Element] = []
    for row in listing(entry.sass or (), entry.lines):
        if row.source:
            code = Element("td", (Element("code", (row.source,)),), "", {"colspan": str(len(_SASS_HEAD) - 1)})
            body.append(Element("tr", (Element("td", (row.line,), "number"), code), "source-line"))
        mark = (Element("span", ("*",), "mark", {"title": "on the critical path"}),) if row.critical else ()
        numbers = [Element("td", cell, "number") for cell in ((row.line,), (row.cycle, *mark), (row.stall,))]
        words = [Element("td", (word,)) for word in (row.write, row.read, row.wait, row.pipe)]
        code = Element("td", (Element("code", (Element("span", (row.address,), "address"), f" {row.text}")),))
        classes = f"{'critical' * row.critical} {'dim' * (not row.reached)}".strip()
        body.append(Element("tr", [*numbers, *words, code, Element("td", (row.waits_for,))], classes))
    head = [_heading(name, "number" if at < _SASS_NUMBERS else "") for at, name in enumerate(_SASS_HEAD)]
    spoken = {"role": "region", "aria-label": "Machine code"}
    return [Element("p", (SASS_LEGEND,), "dim"), _scrolling(head, body, "listing", **spoken)]
