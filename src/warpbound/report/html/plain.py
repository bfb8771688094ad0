"""What stands in the HTML page of any text report: its parts one below the other, each with its figures."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.console import RenderableType

from warpbound.report.figures.picture import Drawable
from warpbound.report.html.contents import Add, Column, Section
from warpbound.report.html.elements import as_html


class Part(NamedTuple):
    """A heading, what the terminal shows under it, and figures."""

    title: str
    body: Iterable[RenderableType]
    figures: Sequence[Drawable] = ()


def contents(title: str, how_to_read: str, parts: Sequence[Part], add: Add) -> dict[str, Any]:
    """What the template fills in; `add` numbers a figure of the page."""
    sections = tuple(_section(number, part, add) for number, part in enumerate(parts, 1))
    column = Column("parts", title, "", sections[:1], sections[1:])
    return {"title": title, "how_to_read": how_to_read, "comparison": None, "together": (), "columns": [column]}


def _section(number: int, part: Part, add: Add) -> Section:
    body = Markup("\n").join(as_html(renderable) for renderable in part.body)
    return Section(f"part-{number}", part.title, "", body, tuple(add(picture) for picture in part.figures))
