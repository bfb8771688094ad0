"""Pictures of items as files: SVG one by one, or a page of Markdown with its pictures in a folder of the same name."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from warpbound.errors import CommandError, InputError
from warpbound.report.figures import svg
from warpbound.reproduce.item import PAPERS, Item, prose
from warpbound.reproduce.pages import kinds
from warpbound.reproduce.pictures import PaperPicture
from warpbound.reproduce.reproduction import Reproduction

ENDINGS = (".html", ".svg", ".md")


class ItemPictures(NamedTuple):
    """A reproduced item, and those of its pictures that were requested."""

    reproduction: Reproduction
    pictures: Sequence[PaperPicture]


def refuse(out: str) -> None:
    """Raises CommandError for an ending that no picture is written in."""
    if Path(out).suffix not in ENDINGS:
        raise CommandError(
            f"--show writes {', '.join(ENDINGS)}, not {Path(out).name}.",
            "For PNG write .html and use the camera above the picture.",
        )


def write(items: Sequence[ItemPictures], out: Path) -> list[Path]:
    """The files that are written: OUT.svg (numbered if several), or OUT.md and its pictures.

    Raises InputError where a file cannot be written.
    """
    every = [shown.picture for item in items for shown in item.pictures]
    if out.suffix == ".svg":
        names = [out] if len(every) == 1 else [out.with_stem(f"{out.stem}-{n}") for n in range(1, len(every) + 1)]
        return [_write(path, svg(picture)) for path, picture in zip(names, every, strict=True)]
    folder = out.with_suffix("")
    files = [_write(folder / name, text) for name, text in pictures(items).items()]
    return [_write(out, page(items, folder.name)), *files]


def pictures(items: Sequence[ItemPictures]) -> dict[str, str]:
    """File name -> SVG."""
    return {
        _name(x.reproduction.item, n): svg(shown.picture) for x in items for n, shown in enumerate(x.pictures, 1)
    }


def page(items: Sequence[ItemPictures], folder: str) -> str:
    """The page, paper by paper."""
    parts = [prose("gallery.md")]
    for paper, own in groupby(items, key=lambda x: x.reproduction.item.paper):
        parts.append(f"## {PAPERS[paper]}\n")
        parts += [section(x, folder) for x in own]
    return "\n".join(parts)


def section(pictures_of_item: ItemPictures, folder: str) -> str:
    """One item: its place in the paper, the verdict, its pictures with the figure that each is."""
    reproduction, every = pictures_of_item
    item = reproduction.item
    lines = [f"### {item.title}", "", f"`{item.key}`: {item.where}. Verdicts: {_verdicts(reproduction)}."]
    if item.stand_in:
        lines.append(f"In place of the experiment: {item.stand_in}.")
    for number, shown in enumerate(every, 1):
        words = f"{shown.figure}: {shown.picture.title}"
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
