"""Reproductions as one HTML file that opens offline: the rows of every item, and its figures drawn."""

from collections.abc import Sequence
from typing import Any

from warpbound.report.html import Figures, filled, needed
from warpbound.reproduce.item import PAPERS
from warpbound.reproduce.pages import rows_table
from warpbound.reproduce.running import Reproduction

HOW_TO_READ = (
    "Each table has the paper's value as it is printed, ours, and what the difference means; experiments that are not "
    "at hand are stood in for by a model or a simulation, named above the table. Lines are computed, never digitised."
)


def html(found: Sequence[Reproduction], command: str) -> str:
    """The whole file. Raises WarpboundError where the extra is missing."""
    needed("jinja2")
    from warpbound.report.html.contents import Column

    figures = Figures()
    sections = tuple(_section(one, figures) for one in found)
    papers = list(dict.fromkeys(one.item.paper for one in found))
    title = found[0].item.key if len(found) == 1 else ", ".join(papers)
    column = Column("items", title, "; ".join(PAPERS[paper] for paper in papers), sections[:1], sections[1:])
    parts = {"title": title, "how_to_read": HOW_TO_READ, "comparison": None, "together": (), "columns": [column]}
    return filled(parts, figures, command)


def _section(one: Reproduction, figures: Figures) -> Any:
    from warpbound.report.figures import recorded
    from warpbound.report.html.contents import Section
    from warpbound.report.html.tables import as_html

    item = one.item
    said = [f"{item.where}."]
    said += [f"Experiment not available; in its place: {item.stand_in}."] if item.stand_in else []
    said += [item.note] if item.note else []
    drawn = tuple(figures.add(recorded(figure)) for figure in one.figures)
    key = item.key.replace(":", "-").replace(".", "-")
    return Section(key, f"{item.name}: {item.title}", " ".join(said), as_html(rows_table(one.rows)), drawn)
