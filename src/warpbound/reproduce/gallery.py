"""Pictures of items as files: SVG one by one, a page of Markdown with a folder of pictures, or one HTML file."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from warpbound.errors import CommandError, InputError
from warpbound.report.figures import svg
from warpbound.report.figures.picture import Drawable
from warpbound.report.html import Figures, filled, needed
from warpbound.reproduce.item import PAPERS, Item, prose
from warpbound.reproduce.pages import kinds, rows_table
from warpbound.reproduce.pictures import PaperPicture
from warpbound.reproduce.reproduction import Reproduction

ENDINGS = (".html", ".svg", ".md")


HOW_TO_READ = (
    "Each table has the paper's value as it is printed, ours, and what the difference means; experiments that are not "
    "available are replaced by a model or a simulation, named above the table. A value in brackets follows from the "
    "paper's words or a figure and is not printed. Lines are computed, never digitised."
)


class ItemPictures(NamedTuple):
    """A reproduced item, and those of its pictures that were requested."""

    reproduction: Reproduction
    pictures: Sequence[PaperPicture]


def refuse(out: str) -> None:
    """Raises CommandError if no picture can be written in a file with this ending."""
    if Path(out).suffix not in ENDINGS:
        raise CommandError(
            f"--show writes {', '.join(ENDINGS)}, not {Path(out).name}.",
            "For PNG write .html and use the camera above the picture.",
        )


def write(items: Sequence[ItemPictures], out: Path) -> list[Path]:
    """Write OUT.svg (numbered files if there are several pictures), or OUT.md and its pictures; their names.

    Raises InputError where a file cannot be written.
    """
    every = [paper_picture.picture for item in items for paper_picture in item.pictures]
    if out.suffix == ".svg":
        names = [out] if len(every) == 1 else [out.with_stem(f"{out.stem}-{n}") for n in range(1, len(every) + 1)]
        return [_write(path, svg(picture)) for path, picture in zip(names, every, strict=True)]
    folder = out.with_suffix("")
    files = [_write(folder / name, text) for name, text in pictures(items).items()]
    return [_write(out, page(items, folder.name)), *files]


def pictures(items: Sequence[ItemPictures]) -> dict[str, str]:
    """File name -> SVG."""
    return {
        _name(x.reproduction.item, n): svg(paper_picture.picture)
        for x in items
        for n, paper_picture in enumerate(x.pictures, 1)
    }


def page(items: Sequence[ItemPictures], folder: str) -> str:
    """The page, paper by paper."""
    parts = [prose("gallery.md")]
    for paper, own in groupby(items, key=lambda x: x.reproduction.item.paper):
        parts.append(f"## {PAPERS[paper]}\n")
        parts += [section(x, folder) for x in own]
    return "\n".join(parts)


def section(pictures_of_item: ItemPictures, folder: str) -> str:
    """One item: its place in the paper, the verdict, its pictures, each with the number of its figure."""
    reproduction, every = pictures_of_item
    item = reproduction.item
    lines = [f"### {item.title}", "", f"`{item.key}`: {item.where}. Verdicts: {_verdicts(reproduction)}."]
    if item.stand_in:
        lines.append(f"Instead of the experiment: {item.stand_in}.")
    for number, paper_picture in enumerate(every, 1):
        words = f"{paper_picture.figure}: {paper_picture.picture.title}"
        lines += ["", f"**{words}**", "", f"![{words}]({folder}/{_name(item, number)})"]
    return "\n".join([*lines, ""])


def _verdicts(reproduction: Reproduction) -> str:
    return kinds([row.verdict for row in reproduction.rows]) or "nothing printed to compare with"


def _name(item: Item, number: int) -> str:
    return f"{item.paper}-{item.name}-{number}.svg"


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Choose another -o.") from error
    return path


# ---------------------------------------------------------------- one HTML file


def html(items: Sequence[ItemPictures], command: str) -> str:
    """The whole file. Raises WarpboundError where the extra is missing."""
    needed("jinja2")
    from warpbound.report.html.contents import Column

    figures = Figures()
    sections = tuple(_html_section(item, figures) for item in items)
    papers = list(dict.fromkeys(x.reproduction.item.paper for x in items))
    title = items[0].reproduction.item.key if len(items) == 1 else ", ".join(papers)
    column = Column("items", title, "; ".join(PAPERS[paper] for paper in papers), sections[:1], sections[1:])
    parts = {"title": title, "how_to_read": HOW_TO_READ, "comparison": None, "together": (), "columns": [column]}
    return filled(parts, figures, command)


def _html_section(pictures_of_item: ItemPictures, figures: Figures) -> Any:
    from warpbound.report.html.contents import Section
    from warpbound.report.html.elements import as_html

    reproduction, pictures = pictures_of_item
    item = reproduction.item
    words = [f"{item.where}."]
    words += [f"Experiment not available; replaced by: {item.stand_in}."] if item.stand_in else []
    words += [item.note] if item.note else []
    numbers = tuple(figures.add(_with_number(paper_picture)) for paper_picture in pictures)
    key = item.key.replace(":", "-").replace(".", "-")
    return Section(key, f"{item.name}: {item.title}", " ".join(words), as_html(rows_table(reproduction.rows)), numbers)


def _with_number(paper_picture: PaperPicture) -> Drawable:
    """The picture, with the number of the paper's figure in front of its title."""
    return replace(paper_picture.picture, title=f"{paper_picture.figure}: {paper_picture.picture.title}")
