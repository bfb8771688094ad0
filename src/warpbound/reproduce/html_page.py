"""Reproductions as one HTML file that opens offline: the rows of every item, and its figures drawn."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from warpbound.report.figures.picture import Drawable
from warpbound.report.html import Figures, filled, needed
from warpbound.reproduce.gallery import ItemPictures
from warpbound.reproduce.item import PAPERS
from warpbound.reproduce.pages import rows_table
from warpbound.reproduce.pictures import PaperPicture

HOW_TO_READ = (
    "Each table has the paper's value as it is printed, ours, and what the difference means; experiments that are not "
    "at hand are stood in for by a model or a simulation, named above the table. Lines are computed, never digitised."
)


def html(items: Sequence[ItemPictures], command: str) -> str:
    """The whole file. Raises WarpboundError where the extra is missing."""
    needed("jinja2")
    from warpbound.report.html.contents import Column

    figures = Figures()
    sections = tuple(_section(item, figures) for item in items)
    papers = list(dict.fromkeys(x.reproduction.item.paper for x in items))
    title = items[0].reproduction.item.key if len(items) == 1 else ", ".join(papers)
    column = Column("items", title, "; ".join(PAPERS[paper] for paper in papers), sections[:1], sections[1:])
    parts = {"title": title, "how_to_read": HOW_TO_READ, "comparison": None, "together": (), "columns": [column]}
    return filled(parts, figures, command)


def _section(pictures_of_item: ItemPictures, figures: Figures) -> Any:
    from warpbound.report.html.contents import Section
    from warpbound.report.html.elements import as_html

    reproduction, pictures = pictures_of_item
    item = reproduction.item
    words = [f"{item.where}."]
    words += [f"Experiment not available; in its place: {item.stand_in}."] if item.stand_in else []
    words += [item.note] if item.note else []
    numbers = tuple(figures.add(_with_number(shown)) for shown in pictures)
    key = item.key.replace(":", "-").replace(".", "-")
    return Section(key, f"{item.name}: {item.title}", " ".join(words), as_html(rows_table(reproduction.rows)), numbers)


def _with_number(shown: PaperPicture) -> Drawable:
    """Its title begins with the paper's number."""
    return replace(shown.picture, title=f"{shown.figure}: {shown.picture.title}")
